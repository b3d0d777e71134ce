"""Project → the data set of the panel layout."""

from pathlib import Path
from typing import Any, Final

from potato_bridge.converters.argilla import fields
from potato_bridge.converters.argilla.guidelines import guidelines
from potato_bridge.converters.argilla.limits import check_settings
from potato_bridge.converters.argilla.panel.question import PanelQuestion
from potato_bridge.converters.argilla.panel.questions import asked_schemes, native_name
from potato_bridge.converters.argilla.panel.template import template as make_template
from potato_bridge.converters.argilla.plan import Extent, FieldPlan, PropertyPlan, QuestionPlan, Settings
from potato_bridge.converters.argilla.tell import tell
from potato_bridge.converters.view.page import reviews_code, trace_display
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model import Project
from potato_bridge.model.project import Scheme
from potato_bridge.notices import Notices

_ANSWER: Final = QuestionPlan(
    fields.ANSWER,
    "Answer (written by the panel)",
    {"type": "text", "use_markdown": False},
    "The panel writes it while you work. Only where the panel says that it cannot: paste what it shows.",
    required=True,
)
PROPERTIES: Final = (
    PropertyPlan(fields.TRACE, "Item", {"type": "terms"}),
    PropertyPlan(fields.TOTAL, "Steps", {"type": "integer"}),
)


def build_settings(
    project: Project, notices: Notices, *, extent: Extent | None = None, template: Path | None = None
) -> Settings:
    """See `layouts.Converter`."""
    schemes = asked_schemes(project)
    tell(project, [(scheme, question.notices(scheme)) for scheme, question in schemes], notices)
    natives: list[QuestionPlan] = []
    lines: dict[str, int | None] = {}
    for scheme, question in schemes:
        for suffix, plan in question.natives(scheme).items():
            name = native_name(scheme, suffix)
            natives.append(QuestionPlan(name, plan.title, plan.settings, plan.description, plan.required))
            lines[name] = scheme.line
    panel = FieldPlan(
        fields.PANEL,
        "Trace",
        {"type": "custom", "template": make_template(_config(project), template), "advanced_mode": True},
    )
    sections = [
        (storable(scheme.description or question.description or scheme.name), question.guidelines(scheme))
        for scheme, question in schemes
    ]
    settings = Settings(
        layout="panel",
        fields=[panel],
        questions=[_ANSWER, *natives],
        properties=PROPERTIES,
        guidelines=guidelines(project, sections, notices),
        min_submitted=project.overlap,
    )
    check_settings(project, settings, lines)
    return settings


def _settings(project: Project, scheme: Scheme, question: PanelQuestion[Any]) -> dict[str, Any]:
    try:
        return question.settings(scheme)
    except InputError as error:
        place = f"{project.config}{f':{scheme.line}' if scheme.line else ''}"
        raise InputError(f"{place}: {scheme.name}: {error.message}", hint=error.hint) from error


def _config(project: Project) -> dict[str, Any]:
    """What the script gets for all records."""
    schemes, display = asked_schemes(project), trace_display(project)
    return {
        "v": 1,
        "answer": fields.ANSWER,
        "panel": fields.PANEL,
        "shows_steps": any(question.shows_steps(scheme) for scheme, question in schemes),
        "folds_steps": reviews_code(project),
        "step_numbers": display.show_step_numbers,
        "terminal": display.terminal_theme,
        "schemes": [
            {
                "name": scheme.name,
                "widget": question.widget,
                "description": storable(scheme.description or question.description or scheme.name),
                "required": scheme.required,
                **_settings(project, scheme, question),
            }
            for scheme, question in schemes
            if question.widget
        ],
    }

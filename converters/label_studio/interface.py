"""Project → interface: the label config, the instructions, and what Label Studio's free edition cannot do of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from markupsafe import Markup, escape

from potato_bridge.converters.label_studio import fields, templates, validate
from potato_bridge.converters.label_studio.question import Must, Question
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.converters.view.page import is_text_field, reviews_code, steps_field, trace_display
from potato_bridge.converters.view.text import storable
from potato_bridge.model import ProcessReward, Project
from potato_bridge.model.project import Scheme
from potato_bridge.notices import Notices

Asked: TypeAlias = list[tuple[Scheme, Question[Any]]]


@dataclass(frozen=True, slots=True)
class Interface:
    """What a Label Studio project is made of.

    Attributes:
        label_config: XML.
        instruction: HTML, for the project's instructions.
        control: Name of the first scheme's control; with the index flag where each step has one.
    """

    label_config: str
    instruction: str
    control: str

    @property
    def controls(self) -> validate.ControlNames:
        """Names of all controls, a team's own included."""
        return validate.control_names(self.label_config)


def build_interface(project: Project, notices: Notices, template: Path | None = None) -> Interface:
    """Makes the interface of a project: one page for all schemes that Label Studio can ask for, in their order.

    Args:
        project: The project.
        notices: Gets what the interface cannot do of what the config asks.
        template: A label config template of the team's own; None: the package's.

    Raises:
        InputError: The project has no scheme that has an interface; or the template is not as it must be.
    """
    schemes = asked(project)
    _notices(project, schemes, notices)
    questions = [_variables(scheme, question) for scheme, question in schemes]
    musts = [must for scheme, question in schemes for must in question.musts(scheme)]
    variables = {
        "questions": questions,
        "q": questions[0],
        "display": trace_display(project),
        "shows_files": shows_files(project),
        "shows_trace": shows_trace(project, schemes),
        "patterns": _patterns(musts),
    }
    rendered = templates.render_label_config(templates.PAGE, template, variables)
    validate.check(rendered, musts, [key for scheme, question in schemes for key in question.repeats(scheme)])
    instruction = "".join(_instruction(scheme, question) for scheme, question in schemes)
    return Interface(storable(rendered.text), instruction, musts[0].name)


def _patterns(musts: Iterable[Must]) -> list[str]:
    # Of text boxes the server does not ask whether they are there.
    repeated = (must.name for must in musts if fields.INDEX in must.name and must.kind != "TextArea")
    return [name.replace(fields.INDEX, "[0-9]+") for name in repeated]


def _variables(scheme: Scheme, question: Question[Any]) -> dict[str, Any]:
    return {
        "template": question.template,
        "style": question.style,
        "control": fields.control_name(scheme),
        "description": scheme.description or question.description,
        "required": scheme.required,
        "card": False,
        "conditions": [],
        **question.variables(scheme),
    }


def shows_files(project: Project) -> bool:
    """Whether the page lists the files that the agent touched."""
    # A review has a list of its own, which leads to each file.
    return steps_field(project) is not None and trace_display(project).show_file_tree and not reviews_code(project)


def shows_trace(project: Project, schemes: Asked) -> bool:
    """Whether the page shows the trace by itself: where there is one, and no question shows its steps."""
    there = project.steps_key() is not None
    return there and not any(question.shows_trace(scheme) for scheme, question in schemes)


def _notices(project: Project, schemes: Asked, notices: Notices) -> None:
    for scheme, question in schemes:
        control = fields.control_name(scheme)
        wanted = {
            **question.notices(scheme),
            "control-renamed": (
                control != scheme.name,
                f"{scheme.name!r} cannot be the name of a control in Label Studio, where it is {control!r}; records "
                "keep the scheme's name",
            ),
        }
        for code, (is_wanted, message) in wanted.items():
            if is_wanted:
                notices.add(code, message, _place(project, scheme.line, scheme.name))
    if project.overlap > 1:
        message = "'max_annotations_per_item' is not used: Label Studio's free edition shows every task to everybody"
        notices.add("unused-key", message, str(project.config.name))
    names = {scheme.name for scheme, _ in schemes}
    for other in project.schemes:
        # Of a type that has no interface at all, the reader of the config has said so already.
        if other.name not in names and isinstance(other, ProcessReward):
            message = f"the scheme {other.name!r} is not asked for: one process_reward scheme is, the first"
            notices.add("scheme-not-asked", message, _place(project, other.line, other.name))
    shown = steps_field(project)
    for field in project.fields:
        if field is not shown and not is_text_field(field, project):
            message = f"the display field {field.key!r} ({field.type}) is not shown: only texts and one trace are"
            notices.add("field-not-shown", message, _place(project, field.line, field.key))


def _place(project: Project, line: int | None, what: str) -> str:
    return f"{project.config.name}{f':{line}' if line else ''} {what}"


def _instruction(scheme: Scheme, question: Question[Any]) -> str:
    # Label Studio takes styles out, and its pages show lists without marks and paragraphs without space.
    points = "".join(f"<p>• {line}</p>" for line in question.instruction(scheme))
    return f"<h3>{_html(scheme.description or scheme.name)}</h3>{points}"


def _html(text: str) -> Markup:
    return escape(storable(text))

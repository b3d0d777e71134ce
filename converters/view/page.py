"""What of an item a page shows beside the questions: the texts above, and how its trace is shown."""

import json

from potato_bridge.converters.view.clip import clip
from potato_bridge.converters.view.parts import Clip
from potato_bridge.model import CodeReviewScheme, Item, Project
from potato_bridge.model.project import DisplayField, TraceDisplay


def reviews_code(project: Project) -> bool:
    """Whether the change is reviewed: then it is what the page is about, and the steps are folded away."""
    return any(isinstance(scheme, CodeReviewScheme) for scheme in project.schemes)


def trace_display(project: Project) -> TraceDisplay:
    """How the steps are shown: as the display of the field that holds them says, else by the defaults."""
    field = steps_field(project)
    return field.trace if field is not None and field.trace is not None else TraceDisplay()


def steps_field(project: Project) -> DisplayField | None:
    """The display field that holds the rated steps; else the first that shows a trace."""
    key = project.steps_key()
    return next((f for f in project.fields if f.key == key and f.trace is not None), project.trace_field())


def is_text_field(field: DisplayField, project: Project) -> bool:
    """Whether a display field is shown as text above the steps."""
    return field.trace is None and (field.key == project.text_key or field.type in ("text", "plain_text", "markdown"))


def texts_above(project: Project, item: Item, display: TraceDisplay) -> tuple[str, list[tuple[str, Clip]]]:
    """The label of the task's text, and the other text fields of the display with their labels."""
    label, shown = "Task", []
    for field in project.fields:
        if not is_text_field(field, project):
            continue
        if field.key == project.text_key:
            label = field.label or label
        elif item.data.get(field.key) not in (None, ""):
            value = item.data[field.key]
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
            shown.append((field.label or field.key, clip(text, fold_after(display))))
    return label, shown


def fold_after(display: TraceDisplay) -> int | None:
    """Lines of a text that are seen at once; None: all."""
    return display.max_output_lines if display.collapse_long_outputs else None

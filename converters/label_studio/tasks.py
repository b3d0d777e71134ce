"""Item and trace → a Label Studio task."""

import json
from collections.abc import Mapping
from typing import Any, Final

from potato_bridge.converters.label_studio import fields, prefill, templates
from potato_bridge.converters.label_studio.clip import clip
from potato_bridge.converters.label_studio.files import touched_files
from potato_bridge.converters.label_studio.interface import (
    is_text_field,
    reviews_code,
    shows_files,
    shows_trace,
    trace_display,
)
from potato_bridge.converters.label_studio.pictures import LoadImage, Pictures, files_under
from potato_bridge.converters.label_studio.question import Subject
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.converters.label_studio.text import storable
from potato_bridge.converters.label_studio.view import Clip
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Project, Trace
from potato_bridge.model.project import TraceDisplay
from potato_bridge.model.trace import ImageBlock
from potato_bridge.notices import Notices

#: Hexadecimal digits of the hash of one part of what answers are about.
_DIGITS: Final = 16


def build_task(
    project: Project, item: Item, trace: Trace, notices: Notices, *, load_image: LoadImage | None = None
) -> dict[str, Any]:
    """Makes the task of an item.

    Args:
        project: The project.
        item: The item.
        trace: The item's trace: `trace.task.text` is shown above its steps.
        notices: Gets what the page cannot show.
        load_image: Reads a picture that the trace names; None: from the files below `task_dir`.

    Returns:
        `{"data": {…}, "meta": {"potato_bridge": {"id", "hash", "steps_hash", "total_steps", "schema"}}}`. The hashes
        are SHA-256, in hexadecimal, as canonical JSON: of the data, and of the parts of it that answers are about.
        "about" holds, by scheme, what is needed to read an answer once that part has changed, where something is.
        Where boxes have text when they are opened, it is in "predictions", whose hash is "prelabels_hash".

    Raises:
        InputError: Label Studio cannot store the item's id.
    """
    schemes, display, where = asked(project), trace_display(project), f"item {item.id}"
    if storable(item.id) != item.id:
        raise InputError(
            f"{item.file}{f':{item.line}' if item.line else ''}: Label Studio cannot store the id {item.id!r}",
            hint="Take NUL characters and lone surrogates out of the id.",
        )
    pictures = Pictures(load_image or files_under(project.task_dir), notices, where)
    subject = Subject(project, item, trace, display, pictures, notices, where)
    total = len(trace.ratable())
    if total == 0 and project.process_reward() is not None:
        notices.add("no-steps", "the item has no step to rate; its annotators can only skip it", where)
    macros: Any = templates.cards()
    data: dict[str, Any] = {fields.MARKER: item.id, fields.TASK_TEXT: storable(trace.task.text or "")}
    attached = [pictures.draw(block) for block in trace.task.attachments if isinstance(block, ImageBlock)]
    label, shown = _texts(project, item, display)
    data[fields.TASK_HTML] = _html(macros.task(label, clip(trace.task.text or "", _fold(display)), shown, attached))
    if shows_files(project):
        data[fields.FILES_HTML] = _html(macros.files(touched_files(trace)))
    if shows_trace(project, schemes):
        data[fields.TRACE_HTML] = _html(macros.trace(subject.cards, display.show_step_numbers, reviews_code(project)))
    for scheme, question in schemes:
        data |= question.data(scheme, subject)
    about = {scheme.name: question.about(scheme, data) for scheme, question in schemes}
    meta: dict[str, Any] = {
        "id": item.id,
        "hash": prefill.canonical_hash(data),
        "steps_hash": steps_hash(project, data),
        "total_steps": total,
        "schema": fields.TASK_SCHEMA,
    }
    if about := {name: value for name, value in about.items() if value is not None}:
        meta["about"] = about
    task: dict[str, Any] = {"data": data, "meta": {fields.META: meta}}
    prefill.add_predictions(task, prefill.predictions(project, data), only_boxes=True)
    return task


def steps_hash(project: Project, data: Mapping[str, Any]) -> str | None:
    """What answers are about in a task's data: `key:hash` for each part, with spaces; None where a part is missing."""
    keys = [key for scheme, question in asked(project) for key in question.subject(scheme)]
    parts = [f"{key}:{prefill.canonical_hash(data[key])[:_DIGITS]}" for key in dict.fromkeys(keys) if key in data]
    return " ".join(parts) if len(parts) == len(set(keys)) else None


def same_steps(one: str | None, other: str | None) -> bool:
    """Whether answers to one state are about the other, too: a scheme that only one of them has changes nothing."""
    if one is None or other is None:
        return False
    known, now = _parts(one), _parts(other)
    return all(now.get(key, found) == found for key, found in known.items())


def with_steps_of(old: str | None, new: str | None) -> str | None:
    """The parts of a state, and those that only an earlier one had: its scheme may come back."""
    if old is None or new is None:
        return new
    return " ".join(f"{key}:{found}" for key, found in (_parts(old) | _parts(new)).items())


def _parts(noted: str) -> dict[str, str]:
    return {key: found for key, _, found in (part.rpartition(":") for part in noted.split())}


def _texts(project: Project, item: Item, display: TraceDisplay) -> tuple[str, list[tuple[str, Clip]]]:
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
            shown.append((field.label or field.key, clip(text, _fold(display))))
    return label, shown


def _fold(display: TraceDisplay) -> int | None:
    return display.max_output_lines if display.collapse_long_outputs else None


def _html(value: object) -> str:
    # Jinja's macros give Markup, a str that only templates need.
    return storable(str(value))

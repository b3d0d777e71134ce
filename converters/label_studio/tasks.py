"""Item and trace → a Label Studio task."""

from collections.abc import Mapping
from typing import Any

from potato_bridge.converters.fingerprint import canonical_hash, hash_of_parts
from potato_bridge.converters.label_studio import fields, prefill, templates
from potato_bridge.converters.label_studio.interface import shows_files, shows_trace
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.converters.view.clip import clip
from potato_bridge.converters.view.files import touched_files
from potato_bridge.converters.view.page import fold_after, reviews_code, texts_above, trace_display
from potato_bridge.converters.view.pictures import LoadImage, Pictures, files_under
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Project, Trace
from potato_bridge.model.trace import ImageBlock
from potato_bridge.notices import Notices


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
    label, shown = texts_above(project, item, display)
    data[fields.TASK_HTML] = _html(
        macros.task(label, clip(trace.task.text or "", fold_after(display)), shown, attached)
    )
    if shows_files(project):
        data[fields.FILES_HTML] = _html(macros.files(touched_files(trace)))
    if shows_trace(project, schemes):
        data[fields.TRACE_HTML] = _html(macros.trace(subject.cards, display.show_step_numbers, reviews_code(project)))
    for scheme, question in schemes:
        data |= question.data(scheme, subject)
    about = {scheme.name: question.about(scheme, data) for scheme, question in schemes}
    meta: dict[str, Any] = {
        "id": item.id,
        "hash": canonical_hash(data),
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
    """What answers are about in a task's data, see `hash_of_parts`."""
    return hash_of_parts(data, (key for scheme, question in asked(project) for key in question.subject(scheme)))


def _html(value: object) -> str:
    # Jinja's macros give Markup, a str that only templates need.
    return storable(str(value))

"""Item and trace → the record of the panel layout."""

from collections.abc import Mapping
from typing import Any

from potato_bridge.converters.argilla import fields
from potato_bridge.converters.argilla.panel.payload import plain_list, to_plain
from potato_bridge.converters.argilla.panel.questions import asked_schemes
from potato_bridge.converters.argilla.plan import RecordPlan
from potato_bridge.converters.fingerprint import canonical_hash, hash_of_parts
from potato_bridge.converters.view.clip import clip
from potato_bridge.converters.view.files import touched_files
from potato_bridge.converters.view.page import fold_after, steps_field, texts_above, trace_display
from potato_bridge.converters.view.pictures import LoadImage, Pictures, files_under
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.model import Item, Project, Trace
from potato_bridge.model.trace import ImageBlock
from potato_bridge.notices import Notices

_STEPS = "steps"


def build_records(
    project: Project, item: Item, trace: Trace, notices: Notices, *, load_image: LoadImage | None = None
) -> list[RecordPlan]:
    """See `layouts.Converter`."""
    where, display = f"item {item.id}", trace_display(project)
    pictures = Pictures(load_image or files_under(project.task_dir), notices, where)
    subject = Subject(project, item, trace, display, pictures, notices, where)
    schemes = asked_schemes(project)
    total = len(trace.ratable())
    if total == 0 and project.process_reward() is not None:
        notices.add("no-steps", "the item has no step to rate; its annotators can only discard it", where)
    data = {scheme.name: question.data(scheme, subject) for scheme, question in schemes}
    label, shown = texts_above(project, item, display)
    attached = [pictures.draw(block) for block in trace.task.attachments if isinstance(block, ImageBlock)]
    payload: dict[str, Any] = {
        "v": 1,
        "task": {"label": storable(label), "text": to_plain(clip(trace.task.text or "", fold_after(display)))},
        "texts": [{"label": storable(name), "text": to_plain(text)} for name, text in shown],
        "attachments": plain_list(attached),
        "schemes": data,
    }
    if steps_field(project) is not None and display.show_file_tree:
        payload["files"] = plain_list(touched_files(trace))
    # An editor of steps has its own cards.
    if project.steps_key() is not None and not _edits_only(project):
        payload["cards"] = plain_list(subject.cards)
    subjects: dict[str, Any] = {}
    for scheme, question in schemes:
        about = question.subject(scheme, data[scheme.name])
        # Of a scheme that has no part of its own, the steps are what it is about.
        subjects[fields.question_name(scheme)] = payload.get("cards") if about is None else about
    notes = {scheme.name: question.about(scheme, data[scheme.name]) for scheme, question in schemes}
    values = {fields.PANEL: {fields.B64: fields.to_base64(payload)}}
    visible = {fields.TRACE: fields.safe(item.id), fields.TOTAL: total}
    meta: dict[str, Any] = {
        "id": item.id,
        "hash": canonical_hash([values, visible]),
        "steps_hash": hash_of_parts(subjects, subjects),
        "total_steps": total,
        "schema": fields.RECORD_SCHEMA,
    }
    if noted := {name: value for name, value in notes.items() if value is not None}:
        meta["about"] = noted
    return [RecordPlan(fields.safe(item.id), values, {**visible, **fields.write_meta(meta)}, meta)]


def _edits_only(project: Project) -> bool:
    widgets = {question.widget for scheme, question in asked_schemes(project) if question.shows_steps(scheme)}
    return widgets == {"trajectory_edit"}


def payload_of(record_fields: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of a record, decoded; empty where it has none."""
    panel = record_fields.get(fields.PANEL)
    found = fields.from_base64(panel.get(fields.B64)) if isinstance(panel, Mapping) else None
    return found if isinstance(found, dict) else {}

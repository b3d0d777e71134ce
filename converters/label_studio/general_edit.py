"""text_edit: a box that has the item's text when it is opened, and the distances that follow from what became of it."""

from collections.abc import Mapping
from typing import Any, Final

from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.question import Entries
from potato_bridge.converters.text_edit import source_of
from potato_bridge.converters.view.subject import Subject
from potato_bridge.model.general import General
from potato_bridge.model.trajectory_edit import plain_breaks

TYPE: Final = "text_edit"


def source_key(scheme: General) -> str:
    """Key of the task data with the text."""
    return fields.data_key(scheme, "source")


def data(scheme: General, subject: Subject) -> dict[str, str]:
    """The text as it is."""
    text = subject.item.data.get(scheme.field)
    if not isinstance(text, str) or not text:
        message = f"the item has no text in the field {scheme.field!r}: there is nothing to edit"
        subject.notices.add("no-source-text", message, subject.where)
    return {source_key(scheme): source_of(subject.item.data, scheme.field)}


def source(scheme: General, task: Mapping[str, Any]) -> str:
    """The text in a task."""
    text = task.get(source_key(scheme))
    return text if isinstance(text, str) else ""


def prefill(scheme: General, task: Mapping[str, Any]) -> Entries:
    """The text in its box."""
    text = plain_breaks(source(scheme, task))
    if not text:
        return []
    control = fields.control_name(scheme)
    return [{"from_name": control, "to_name": fields.TASK_OBJECT, "type": "textarea", "value": {"text": [text]}}]

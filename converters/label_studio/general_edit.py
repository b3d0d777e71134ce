"""text_edit: a box that has the item's text when it is opened, and the distances that follow from what became of it."""

from collections.abc import Mapping
from typing import Any, Final

from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.question import Entries, Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.general import General
from potato_bridge.model.trajectory_edit import FinalEdit, breaks_of, plain_breaks

TYPE: Final = "text_edit"
_KEYS: Final = ("edited_text", "original_text", "edit_distance_chars", "edit_distance_words")


def source_key(scheme: General) -> str:
    """Key of the task data with the text."""
    return fields.data_key(scheme, "source")


def data(scheme: General, subject: Subject) -> dict[str, str]:
    """The text as it is."""
    text = subject.item.data.get(scheme.field)
    if not isinstance(text, str) or not text:
        message = f"the item has no text in the field {scheme.field!r}: there is nothing to edit"
        subject.notices.add("no-source-text", message, subject.where)
    return {source_key(scheme): storable(text) if isinstance(text, str) else ""}


def _source(scheme: General, task: Mapping[str, Any]) -> str:
    text = task.get(source_key(scheme))
    return text if isinstance(text, str) else ""


def prefill(scheme: General, task: Mapping[str, Any]) -> Entries:
    """The text in its box."""
    text = plain_breaks(_source(scheme, task))
    if not text:
        return []
    control = fields.control_name(scheme)
    return [{"from_name": control, "to_name": fields.TASK_OBJECT, "type": "textarea", "value": {"text": [text]}}]


def to_value(scheme: General, task: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The canonical value of an edited text."""
    original = _source(scheme, task)
    # A box has one kind of line breaks.
    same = plain_breaks(text) == plain_breaks(original)
    found = FinalEdit(original_text=original, edited_text=original if same else breaks_of(original, text)).to_json()
    return {key: found[key] for key in _KEYS}


def to_text(scheme: General, task: Mapping[str, Any], value: Any) -> str:
    """The inverse of `to_value`.

    Raises:
        InputError: It is no such value, or is about another text.
    """
    texts = [value.get(key) for key in _KEYS[:2]] if isinstance(value, Mapping) else []
    if len(texts) != 2 or not all(isinstance(text, str) for text in texts):
        raise InputError(f"expected {{edited_text, original_text}}, found {value!r}")
    edited, original = map(str, texts)
    if plain_breaks(storable(original)) != plain_breaks(_source(scheme, task)):
        raise InputError("the original is another text now", hint="The item changed after it was annotated.")
    return plain_breaks(edited)

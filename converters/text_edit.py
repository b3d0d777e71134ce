"""text_edit: what became of an item's text, and the distances that follow from it."""

from collections.abc import Mapping
from typing import Any, Final

from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.trajectory_edit import FinalEdit, breaks_of, plain_breaks

_KEYS: Final = ("edited_text", "original_text", "edit_distance_chars", "edit_distance_words")


def source_of(item: Mapping[str, Any], field: str) -> str:
    """The text as annotators find it; empty where there is none."""
    text = item.get(field)
    return storable(text) if isinstance(text, str) else ""


def value_of_edit(original: str, text: str) -> dict[str, Any]:
    """The canonical value of an edited text."""
    # A box has one kind of line breaks.
    same = plain_breaks(text) == plain_breaks(original)
    found = FinalEdit(original_text=original, edited_text=original if same else breaks_of(original, text)).to_json()
    return {key: found[key] for key in _KEYS}


def text_of_edit(original: str, value: Any) -> str:
    """The inverse of `value_of_edit`.

    Raises:
        InputError: It is no such value, or is about another text.
    """
    texts = [value.get(key) for key in _KEYS[:2]] if isinstance(value, Mapping) else []
    if len(texts) != 2 or not all(isinstance(text, str) for text in texts):
        raise InputError(f"expected {{edited_text, original_text}}, found {value!r}")
    edited, before = map(str, texts)
    if plain_breaks(storable(before)) != plain_breaks(original):
        raise InputError("the original is another text now", hint="The item changed after it was annotated.")
    return plain_breaks(edited)

"""extractive_qa as Potato stores it ↔ the value in a record: `{answer_text, start, end, unanswerable}`.

Potato's page counts UTF-16 code units of the passage, and takes white space off the ends of the answer, but not out of
its `start`. A record counts code points, and its text is what stands there.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Final

import msgspec

from potato_bridge.errors import InputError
from potato_bridge.model import Flag
from potato_bridge.model.general import General

TYPE: Final = "extractive_qa"
UNANSWERABLE: Final[dict[str, Any]] = {"answer_text": "", "start": -1, "end": -1, "unanswerable": True}
_KEYS: Final = ("answer_text", "start", "end", "unanswerable")


def passage_of(scheme: General, texts: Mapping[str, Any]) -> str:
    """The passage of an item: the first of the scheme's fields that has a text; empty: none has."""
    found = (texts.get(key) for key in scheme.fields)
    return next((text for text in found if isinstance(text, str) and text), "")


def read_stored_answer(scheme: General, blob: Any, texts: Mapping[str, Any] | None) -> tuple[Any, list[Flag]]:
    """The value of a stored blob, and what is wrong with it.

    Args:
        scheme: The scheme.
        blob: As stored, decoded.
        texts: Item field → its text; None: the item is not known, and the blob is kept as it is.

    Raises:
        InputError: It is no such blob.
    """
    if not isinstance(blob, dict):
        raise InputError(f"expected {{{', '.join(_KEYS)}}}, found {type(blob).__name__}")
    if texts is None:
        return blob, []
    more = {key: value for key, value in blob.items() if key not in _KEYS}
    if blob.get("unanswerable") is True:
        return {**UNANSWERABLE, **more}, []
    place = _place(passage_of(scheme, texts), blob)
    if place is None:
        message = f"{blob.get('answer_text')!r} is not in the passage at {blob.get('start')!r} to {blob.get('end')!r}"
        return blob, [Flag(code="span-text-mismatch", message=message, scheme=scheme.name)]
    start, end = place
    text = passage_of(scheme, texts)[start:end]
    return {"answer_text": text, "start": start, "end": end, "unanswerable": False, **more}, []


def write_stored_answer(scheme: General, value: Any, texts: Mapping[str, Any] | None) -> str | None:
    """The inverse, as JSON; None: it is no such value, or the passage has another text there."""
    if not isinstance(value, dict):
        return None
    more = {key: one for key, one in value.items() if key not in _KEYS}
    if value.get("unanswerable") is True:
        return msgspec.json.encode({**UNANSWERABLE, **more}).decode()
    start, end, text = value.get("start"), value.get("end"), value.get("answer_text")
    passage = passage_of(scheme, texts or {})
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(passage):
        return None
    # An answer of white space alone is none to Potato's page.
    if not isinstance(text, str) or not text.strip() or _plain(passage[start:end]) != _plain(text):
        return None
    units = _units(passage)
    made = {"answer_text": passage[start:end], "start": units[start], "end": units[end], "unanswerable": False}
    return msgspec.json.encode({**made, **more}).decode()


def _place(passage: str, blob: Mapping[str, Any]) -> tuple[int, int] | None:
    """Where an answer stands, in code points; None: its text is not there."""
    start, text = blob.get("start"), blob.get("answer_text")
    if type(start) is not int or not isinstance(text, str) or not text.strip():
        return None
    points = {unit: point for point, unit in enumerate(_units(passage))}
    first = points.get(start)
    if first is None:
        return None
    if passage.startswith(text, first):
        return first, first + len(text)
    # What was marked began, or has inside, more white space than the text that the page took down.
    wanted, first = _plain(text), first + len(passage[first:]) - len(passage[first:].lstrip())
    seen = 0
    for last in range(first, len(passage)):
        if passage[last].isspace():
            continue
        if seen == len(wanted) or passage[last] != wanted[seen]:
            return None
        seen += 1
        if seen == len(wanted):
            return first, last + 1
    return None


def _units(text: str) -> list[int]:
    """Code units before each code point, and before the end."""
    return list(accumulate((2 if ord(char) > 0xFFFF else 1 for char in text), initial=0))


def _plain(text: str) -> str:
    return "".join(text.split())

"""The values of a form of the panel: JSON ↔ the values of its parts."""

from typing import Any

from potato_bridge.converters.forms import BadResultError, Part, is_number, number_of, outside, paths_of
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError


def read_form(part: Part, raw: Any) -> Any:
    """The value of a part; None: it is not answered.

    Raises:
        BadResultError: What is there is no answer.
    """
    match part.kind:
        case "text":
            if not isinstance(raw, str):
                raise BadResultError("bad-result", f"one text was expected, and it is {raw!r}")
            # A box that was cleared comes back empty.
            return raw or None
        case "number":
            return _number(part, raw)
        case "taxonomy":
            return _words(raw, [path[-1] for path in paths_of(part.taxonomy)])
        case "ranker":
            return _ranking(part, raw)
    if part.many:
        return _words(raw, [option.value for option in part.options])
    known = {storable(option.value): option.value for option in part.options}
    if not isinstance(raw, str) or raw not in known:
        raise BadResultError("unknown-label", f"{raw!r} is none of the labels")
    return number_of(known[raw]) if part.whole else known[raw]


def _number(part: Part, raw: Any) -> Any:
    if not is_number(raw):
        raise BadResultError("bad-result", f"{raw!r} is no number")
    if outside(part, raw):
        raise BadResultError("bad-result", f"{raw} is not between {part.minimum} and {part.maximum}")
    return int(raw) if isinstance(raw, float) and raw.is_integer() and abs(raw) < 2**53 else raw


def _words(raw: Any, order: list[str]) -> list[str] | None:
    if not isinstance(raw, list):
        raise BadResultError("bad-result", f"a list of labels was expected, and it is {raw!r}")
    known = {storable(word): word for word in order}
    for word in raw:
        if not isinstance(word, str) or word not in known:
            raise BadResultError("unknown-label", f"{word!r} is none of the labels")
    return sorted({known[word] for word in raw}, key=order.index) or None


def _ranking(part: Part, raw: Any) -> list[str] | None:
    words = _words(raw, [option.value for option in part.options])
    if words is None:
        return None
    if len(words) != len(part.options) or len(raw) != len(words):
        raise BadResultError("incomplete-answer", f"{len(words)} of {len(part.options)} labels are ranked")
    known = {storable(option.value): option.value for option in part.options}
    return [known[word] for word in raw]


def write_form(part: Part, value: Any) -> Any:
    """The inverse of `read_form`.

    Raises:
        InputError: The part cannot have it.
    """
    if part.whole and type(value) is int:
        value = str(value)
    raw = [storable(one) if isinstance(one, str) else one for one in value] if isinstance(value, list) else value
    raw = storable(raw) if isinstance(raw, str) else raw
    try:
        read = read_form(part, raw)
    except BadResultError as error:
        raise InputError(str(error), hint="The labels changed after it was annotated.") from error
    if read is None and value not in ("", []):
        raise InputError(f"{part.control} cannot have {value!r}")
    return raw

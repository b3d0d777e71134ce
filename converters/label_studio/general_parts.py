"""The controls that a general scheme is made of, as Label Studio has them: tags, results, and back."""

import html
from collections.abc import Mapping
from typing import Any, Final

from potato_bridge.converters.answer import values_of
from potato_bridge.converters.forms import BadResultError, Kind, Part, is_number, number_of, outside, paths_of
from potato_bridge.converters.label_studio.question import Entries
from potato_bridge.converters.view.text import attribute, storable
from potato_bridge.errors import InputError
from potato_bridge.model.general import General, Option

#: Kind → (tag, type of its results, key of their value).
TAGS: Final[dict[Kind, tuple[str, str, str]]] = {
    "choices": ("Choices", "choices", "choices"),
    "number": ("Number", "number", "number"),
    "text": ("TextArea", "textarea", "text"),
    "ranker": ("Ranker", "ranker", "ranker"),
    "taxonomy": ("Taxonomy", "taxonomy", "taxonomy"),
    "labels": ("Labels", "labels", "labels"),
}
#: The column of a Ranker that holds what was ranked; in the other one it lies until then.
RANKED: Final = "ranked"
LEFT: Final = "_"


def stored(text: str) -> str:
    """A text as it comes back from Label Studio: as an attribute of the label config can hold it."""
    return html.unescape(str(attribute(text)))


def check_options(scheme: General, part: Part) -> None:
    """Refuses options that Label Studio could not tell apart.

    Raises:
        InputError: Two have one name there.
    """
    seen: dict[str, str] = {}
    for option in part.options:
        other = seen.setdefault(stored(option.value), option.value)
        if other != option.value:
            raise InputError(
                f"{scheme.name}: the labels {other!r} and {option.value!r} look the same in Label Studio",
                hint="Take hidden characters out of them.",
            )


def read_part(part: Part, entries: Entries) -> Any:
    """The value of a part; None: it is not answered.

    Raises:
        BadResultError: What is there is no answer.
    """
    if len(entries) != 1:
        raise BadResultError("bad-result", f"one result was expected, and {len(entries)} are there")
    return _READERS[part.kind](part, entries[0])


def write_part(part: Part, value: Any) -> dict[str, Any]:
    """The result entry for a value.

    Raises:
        InputError: The part cannot have it.
    """
    _, kind, key = TAGS[part.kind]
    written = _WRITERS[part.kind](part, value)
    return {"from_name": part.control, "to_name": part.to, "type": kind, "value": {key: written}}


def _read_choices(part: Part, entry: Mapping[str, Any]) -> Any:
    chosen = values_of(entry, "choices")
    known = {stored(option.value): option.value for option in part.options}
    for text in chosen:
        if not isinstance(text, str) or text not in known:
            raise BadResultError("unknown-label", f"{text!r} is none of the labels")
    values = [known[text] for text in chosen]
    if part.many:
        order = [option.value for option in part.options]
        return sorted(set(values), key=order.index) or None
    if len(values) > 1 or (not values and "choices" not in _value(entry)):
        raise BadResultError("bad-result", f"one choice was expected, and {len(values)} are there")
    return (number_of(values[0]) if part.whole else values[0]) if values else None


def _write_choices(part: Part, value: Any) -> list[str]:
    given = value if part.many else [value]
    known = {option.value for option in part.options}
    if not isinstance(given, list):
        raise InputError(f"expected a list of labels, found {value!r}")
    texts = [str(one) if part.whole and isinstance(one, int) and not isinstance(one, bool) else one for one in given]
    for text in texts:
        if not isinstance(text, str) or text not in known:
            raise InputError(f"{text!r} is none of the labels", hint="The labels changed after it was annotated.")
    return [stored(text) for text in texts]


def _read_number(part: Part, entry: Mapping[str, Any]) -> Any:
    number = _value(entry).get("number")
    if number is None:
        return None
    if not is_number(number):
        raise BadResultError("bad-result", f"{number!r} is no number")
    if outside(part, number):
        raise BadResultError("bad-result", f"{number} is not between {part.minimum} and {part.maximum}")
    return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < 2**53 else number


def _write_number(part: Part, value: Any) -> int | float:
    if not is_number(value) or outside(part, value):
        raise InputError(f"{value!r} is no number that {part.control} can have")
    number: int | float = value
    return number


def _read_text(part: Part, entry: Mapping[str, Any]) -> Any:
    texts = values_of(entry, "text")
    if isinstance(text := _value(entry).get("text"), str):
        texts = [text]
    if len(texts) > 1 or not all(isinstance(text, str) for text in texts):
        raise BadResultError("bad-result", f"one text was expected, and {len(texts)} are there")
    # A box that was cleared comes back empty.
    return (texts[0] or None) if texts else None


def _write_text(part: Part, value: Any) -> list[str]:
    if not isinstance(value, str):
        raise InputError(f"expected a text, found {value!r}")
    return [storable(value)]


def item_id(option: Option) -> str:
    """The id of a Ranker's item. JavaScript would sort ids that are numbers, so these get a mark."""
    text = stored(option.value)
    return f"#{text}" if text.isascii() and text.isdigit() else text


def _read_ranker(part: Part, entry: Mapping[str, Any]) -> Any:
    columns = _value(entry).get("ranker")
    ranked = columns.get(RANKED) if isinstance(columns, Mapping) else None
    if not isinstance(ranked, list):
        raise BadResultError("bad-result", "a ranking was expected")
    known = {item_id(option): option.value for option in part.options}
    for item in ranked:
        if not isinstance(item, str) or item not in known:
            raise BadResultError("unknown-label", f"{item!r} is none of the labels")
    if not ranked:
        return None
    if len(ranked) != len(known) or len(set(ranked)) != len(known):
        raise BadResultError("incomplete-answer", f"{len(set(ranked))} of {len(known)} labels are ranked")
    return [known[item] for item in ranked]


def _write_ranker(part: Part, value: Any) -> dict[str, list[str]]:
    known = {option.value: item_id(option) for option in part.options}
    if not isinstance(value, list) or sorted(map(str, value)) != sorted(known):
        raise InputError(f"expected all labels in an order, found {value!r}")
    return {LEFT: [], RANKED: [known[one] for one in value]}


def _read_taxonomy(part: Part, entry: Mapping[str, Any]) -> Any:
    known = {tuple(map(stored, path)): path for path in paths_of(part.taxonomy)}
    chosen: list[str] = []
    for path in values_of(entry, "taxonomy"):
        key = tuple(path) if isinstance(path, list) and all(isinstance(word, str) for word in path) else ()
        if key not in known:
            raise BadResultError("unknown-label", f"{path!r} is none of the labels")
        chosen.append(known[key][-1])
    order = [path[-1] for path in known.values()]
    return sorted(set(chosen), key=order.index) or None


def _write_taxonomy(part: Part, value: Any) -> list[list[str]]:
    paths = {path[-1]: path for path in reversed(paths_of(part.taxonomy))}
    if not isinstance(value, list) or not all(isinstance(one, str) and one in paths for one in value):
        raise InputError(f"{value!r} is no list of labels of the taxonomy")
    return [[stored(word) for word in paths[one]] for one in value]


def _value(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    value = entry.get("value")
    return value if isinstance(value, Mapping) else {}


def _no_labels(*_: Any) -> Any:
    raise AssertionError("spans are read with their text")


_READERS: Final = {
    "choices": _read_choices,
    "number": _read_number,
    "text": _read_text,
    "ranker": _read_ranker,
    "taxonomy": _read_taxonomy,
    "labels": _no_labels,
}
_WRITERS: Final = {
    "choices": _write_choices,
    "number": _write_number,
    "text": _write_text,
    "ranker": _write_ranker,
    "taxonomy": _write_taxonomy,
    "labels": _no_labels,
}

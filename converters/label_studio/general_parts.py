"""The controls that a general scheme is made of: each is drawn, read and written by its kind."""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from potato_bridge.converters.answer import values_of
from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.question import Entries
from potato_bridge.converters.view.text import attribute, storable
from potato_bridge.errors import InputError
from potato_bridge.model.general import Branch, General, Option

Kind = Literal["choices", "number", "text", "ranker", "taxonomy", "labels"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One control.

    Attributes:
        key: What its value is in the scheme's answer.
        control: Its name in Label Studio.
        title: Heading, where the scheme has several.
        many: Whether several options may be chosen.
        layout: Of choices: `vertical`, `inline` or `select`.
        low: What stands before a scale; `high` behind it, `middle` after that.
        whole: Whether the chosen option is a whole number.
        to: Name of the object tag that it is about.
    """

    key: str
    control: str
    kind: Kind
    title: str = ""
    tooltip: str = ""
    options: Sequence[Option] = ()
    many: bool = False
    layout: str = "vertical"
    low: str = ""
    high: str = ""
    middle: str = ""
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    slider: bool = False
    lines: int = 1
    placeholder: str = ""
    whole: bool = False
    required: bool = False
    message: str = ""
    taxonomy: Sequence[Branch] = ()
    to: str = fields.TASK_OBJECT

    @property
    def tag(self) -> str:
        """The tag that draws it."""
        return TAGS[self.kind][0]

    @property
    def bounds(self) -> list[tuple[str, str]]:
        """The attributes of a number that have a value."""
        found = (("min", self.minimum), ("max", self.maximum), ("step", self.step))
        return [(name, plain_number(number)) for name, number in found if number is not None]


def plain_number(number: float) -> str:
    """A number as people write it: no `.0`."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


class BadResultError(Exception):
    """A result that is no answer; `code` is the flag's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


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
    return (_number_of(values[0]) if part.whole else values[0]) if values else None


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


def _number_of(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else text


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


def is_number(value: Any) -> bool:
    """Whether it is a number, and a finite one."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def outside(part: Part, number: float) -> bool:
    """Whether a number is beyond the least or the greatest."""
    return (part.minimum is not None and number < part.minimum) or (part.maximum is not None and number > part.maximum)


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


def paths_of(branches: Sequence[Branch], above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of all nodes of a taxonomy, from the root."""
    found: list[tuple[str, ...]] = []
    for branch in branches:
        path = (*above, branch.name)
        found += [path, *paths_of(branch.children, path)]
    return found


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

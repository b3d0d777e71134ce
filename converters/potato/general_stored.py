"""Answers of the general types as Potato stores them: `{name: value}` ↔ the value in a record, by the scheme's type.

One row for each type. Reading takes an answer only where writing gives it back: whatever else is stored is kept as it
is. Whoever calls with the name of a type alone (a scheme without its config) gets what can be told from that.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from potato_bridge.converters.potato.user_states import Entries
from potato_bridge.model.general import Branch, General
from potato_bridge.model.project import Scheme

#: The name of a text beside options.
FREE: Final = "free_response"
#: The name under which the spans of a scheme stand among its entries; Potato keeps them elsewhere in a state.
SPANS: Final = "_spans"
_SELECTED: Final = ("true", "on", "yes", "checked", "selected", "1")


@dataclass(frozen=True, slots=True)
class _Stored:
    """One type: `read` gives None where the entries are no answer of it, `write` where the value is none."""

    read: Callable[[Scheme, Entries], Any]
    write: Callable[[Scheme, Any], Entries | None]


def read_general_value(scheme: Scheme, entries: Entries) -> Any:
    """The value of entries; the entries themselves where the type has no such answer."""
    row = ROWS.get(scheme.type)
    plain = _plain(scheme, entries)
    value = row.read(scheme, plain) if row and entries else None
    # What is read must be written back equal.
    return entries if value is None or row is None or row.write(scheme, value) != plain else value


def write_general_value(scheme: Scheme, value: Any) -> Entries | None:
    """The entries for a value, the inverse of `read_general_value`; None: there is no such value."""
    row = ROWS.get(scheme.type)
    entries = row.write(scheme, value) if row else None
    return value if entries is None and isinstance(value, dict) else entries


def _plain(scheme: Scheme, entries: Entries) -> Entries:
    """Entries with one form of "chosen": Potato had several over time."""
    if scheme.type not in ("radio", "multiselect", "likert", "confidence"):
        return entries
    return {name: name if name != FREE and _is_selected(name, value) else value for name, value in entries.items()}


def _is_selected(name: str, value: Any) -> bool:
    return value == name or value is True or str(value).lower() in _SELECTED


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def number_of(text: Any) -> Any:
    """A number, where it is written as one and as nothing else; None where it is not."""
    for kind in (int, float):
        try:
            value = kind(text)
        except (TypeError, ValueError):
            continue
        if str(value) == text and math.isfinite(value):
            return value
    return None


def text_of(value: Any) -> str | None:
    """A number as it is stored; None where it is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return str(value) if is_number else None


def _whole(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else text


def _chosen(entries: Entries) -> list[str]:
    return [name for name in entries if name != FREE]


def _read_radio(_: Scheme, entries: Entries) -> Any:
    chosen = _chosen(entries)
    if len(chosen) > 1:
        return None
    option = chosen[0] if chosen else None
    return {"option": option, FREE: entries[FREE]} if FREE in entries else option


def _write_radio(_: Scheme, value: Any) -> Entries | None:
    if isinstance(value, str):
        return {value: value}
    if not isinstance(value, dict) or value.keys() != {"option", FREE}:
        return None
    option, text = value["option"], value[FREE]
    if not isinstance(text, str) or not isinstance(option, str | None):
        return None
    return {**({option: option} if option is not None else {}), FREE: text}


def _read_many(_: Scheme, entries: Entries) -> Any:
    chosen = _chosen(entries)
    return {"options": chosen, FREE: entries[FREE]} if FREE in entries else chosen


def _write_many(_: Scheme, value: Any) -> Entries | None:
    free = value if isinstance(value, dict) and value.keys() == {"options", FREE} else {}
    options = free.get("options", value)
    if not isinstance(options, list) or not all(map(_is_text, options)) or not isinstance(free.get(FREE, ""), str):
        return None
    return {**{option: option for option in options}, **({FREE: free[FREE]} if free else {})}


def _read_point(_: Scheme, entries: Entries) -> Any:
    return _whole(next(iter(entries))) if len(entries) == 1 else None


def _write_point(_: Scheme, value: Any) -> Entries | None:
    return {str(value): str(value)} if isinstance(value, str | int) and not isinstance(value, bool) else None


def _one(name: str, numeric: bool = False) -> _Stored:
    """One entry of a fixed name; an empty one stands for the scheme's own."""

    def read(scheme: Scheme, entries: Entries) -> Any:
        if entries.keys() != {name or scheme.name} or not isinstance(text := next(iter(entries.values())), str):
            return None
        number = number_of(text) if numeric else None
        return text if number is None else number

    def write(scheme: Scheme, value: Any) -> Entries | None:
        text = value if isinstance(value, str) else text_of(value)
        return None if text is None else {name or scheme.name: text}

    return _Stored(read, write)


def _labelled(numeric: bool) -> _Stored:
    """An entry for each row; numbers where the type has them."""

    def read(_: Scheme, entries: Entries) -> Any:
        if not numeric:
            return dict(entries)
        numbers = {name: number_of(text) for name, text in entries.items()}
        return None if None in numbers.values() else numbers

    def write(_: Scheme, value: Any) -> Entries | None:
        if not isinstance(value, dict):
            return None
        texts = {name: text_of(one) if numeric else one for name, one in value.items()}
        return texts if all(map(_is_text, texts.values())) else None

    return _Stored(read, write)


_TEXT_BOX: Final = _one("text_box")
_SLIDER: Final = _one("slider", numeric=True)
_BOXES: Final = _labelled(numeric=False)


def _read_text(scheme: Scheme, entries: Entries) -> Any:
    rows = isinstance(scheme, General) and scheme.rows
    return (
        None
        if rows and not all(map(_is_text, entries.values()))
        else (_BOXES.read(scheme, entries) if rows else _TEXT_BOX.read(scheme, entries))
    )


def _write_text(scheme: Scheme, value: Any) -> Entries | None:
    return _BOXES.write(scheme, value) if isinstance(value, dict) else _TEXT_BOX.write(scheme, value)


def _read_slider(scheme: Scheme, entries: Entries) -> Any:
    # With labels it is a choice.
    return _SLIDER.read(scheme, entries) if "slider" in entries else _read_radio(scheme, entries)


def _write_slider(scheme: Scheme, value: Any) -> Entries | None:
    has_labels = isinstance(scheme, General) and bool(scheme.options)
    return _write_radio(scheme, value) if has_labels else _SLIDER.write(scheme, value)


_LEVEL: Final = _one("confidence_level", numeric=True)


def _read_confidence(scheme: Scheme, entries: Entries) -> Any:
    return _LEVEL.read(scheme, entries) if "confidence_level" in entries else _read_point(scheme, entries)


def _write_confidence(scheme: Scheme, value: Any) -> Entries | None:
    is_slider = isinstance(scheme, General) and scheme.mode == "slider"
    return _LEVEL.write(scheme, value) if is_slider else _write_point(scheme, value)


def _read_pair(_: Scheme, entries: Entries) -> Any:
    if "scale_value" not in entries:
        return dict(entries)
    number = number_of(entries["scale_value"])
    return None if number is None else {**entries, "scale_value": number}


def _write_pair(_: Scheme, value: Any) -> Entries | None:
    if not isinstance(value, dict):
        return None
    return {name: one if isinstance(one, str) else text_of(one) for name, one in value.items()}


def _joined(name: str) -> _Stored:
    """Labels joined by commas, which may hold commas themselves: the scheme's own labels are looked for."""

    def read(scheme: Scheme, entries: Entries) -> Any:
        if entries.keys() != {name} or not isinstance(text := entries[name], str):
            return None
        return split_labels(text, _labels(scheme))

    def write(_: Scheme, value: Any) -> Entries | None:
        if not isinstance(value, list) or not all(map(_is_text, value)):
            return None
        return {name: ",".join(value)}

    return _Stored(read, write)


def _labels(scheme: Scheme) -> list[str]:
    if not isinstance(scheme, General):
        return []
    return [option.value for option in scheme.options] + names_of(scheme.taxonomy)


def names_of(branches: Sequence[Branch]) -> list[str]:
    """The names of all nodes of a taxonomy."""
    return [name for branch in branches for name in (branch.name, *names_of(branch.children))]


def split_labels(text: str, known: Sequence[str]) -> list[str] | None:
    """A text of labels with commas between them, as those labels, the longest first; None: they do not fit."""
    if not text:
        return []
    if not known:
        return None
    words = text.split(",")
    # From the end: whether the rest can be read at all, and how.
    found: list[list[str] | None] = [None] * len(words) + [[]]
    labels = frozenset(known)
    for start in range(len(words) - 1, -1, -1):
        for end in range(len(words), start, -1):
            rest, word = found[end], ",".join(words[start:end])
            if rest is not None and word in labels:
                found[start] = [word, *rest]
                break
    return found[0]


#: Type → how it is stored.
ROWS: Final[dict[str, _Stored]] = {
    "radio": _Stored(_read_radio, _write_radio),
    "multiselect": _Stored(_read_many, _write_many),
    "text": _Stored(_read_text, _write_text),
    "likert": _Stored(_read_point, _write_point),
    "select": _one("select-one"),
    "number": _one("number", numeric=True),
    "slider": _Stored(_read_slider, _write_slider),
    "vas": _one("", numeric=True),
    "triage": _one("decision"),
    "confidence": _Stored(_read_confidence, _write_confidence),
    "pairwise": _Stored(_read_pair, _write_pair),
    "multirate": _labelled(numeric=False),
    "semantic_differential": _labelled(numeric=True),
    "constant_sum": _labelled(numeric=True),
    "soft_label": _labelled(numeric=True),
    "ranking": _joined("rank_order"),
    "hierarchical_multiselect": _joined("selected_labels"),
}

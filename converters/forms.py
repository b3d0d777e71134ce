"""The general types as forms: which controls each has, and how its answer is put together from theirs."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from potato_bridge.converters.answer import Answer
from potato_bridge.errors import InputError
from potato_bridge.model.general import Branch, General, Option

Kind = Literal["choices", "number", "text", "ranker", "taxonomy", "labels"]

#: Keys of the one control of a plain type, and of the text beside options.
ONE: Final = ""
FREE: Final = "free_response"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One control.

    Attributes:
        key: What its value is in the scheme's answer.
        control: Its name on the server.
        title: Heading, where the scheme has several.
        many: Whether several options may be chosen.
        layout: Of choices: `vertical`, `inline` or `select`.
        low: What stands before a scale; `high` behind it, `middle` after that.
        whole: Whether the chosen option is a whole number.
        to: What it is about; empty: the item.
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
    to: str = ""

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


def is_number(value: Any) -> bool:
    """Whether it is a number, and a finite one."""
    # Of a whole number with hundreds of digits, math.isfinite can tell nothing.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def outside(part: Part, number: float) -> bool:
    """Whether a number is beyond the least or the greatest."""
    return (part.minimum is not None and number < part.minimum) or (part.maximum is not None and number > part.maximum)


def paths_of(branches: Sequence[Branch], above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of all nodes of a taxonomy, from the root."""
    found: list[tuple[str, ...]] = []
    for branch in branches:
        path = (*above, branch.name)
        found += [path, *paths_of(branch.children, path)]
    return found


def number_of(text: str) -> int | str:
    """A whole number as such, if the text is one as it is written."""
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else text


@dataclass(frozen=True, slots=True)
class Form:
    """One type.

    Attributes:
        parts: (scheme, name of its first control) → its controls.
        join: (scheme, part's key → its value, only those that are answered) → canonical value; None: no answer.
        split: (scheme, canonical value) → part's key → its value. Raises InputError.
    """

    parts: Callable[[General, str], list[Part]]
    join: Callable[[General, dict[str, Any]], Any]
    split: Callable[[General, Any], Mapping[str, Any]]


def name_of(scheme: General) -> str:
    """What the scheme is called in a message to annotators."""
    return scheme.description or scheme.name


def message_of(scheme: General, title: str = "") -> str:
    """What annotators read where an answer is missing."""
    return f"“{name_of(scheme)}” has no answer yet" + (f": {title}" if title else "") + "."


def _base(scheme: General, control: str) -> dict[str, Any]:
    return {
        "key": ONE,
        "control": control,
        "required": scheme.required,
        "message": message_of(scheme),
    }


def _row(scheme: General, control: str, number: int, row: Option) -> dict[str, Any]:
    title = row.shown.replace("\n", " – ")
    return {
        "key": row.value,
        "control": f"{control}_{number}",
        "title": title,
        "tooltip": row.tooltip or "",
        "required": scheme.required,
        "message": message_of(scheme, title),
    }


def _choices(many: bool = False, layout: str = "", whole: bool = False) -> Callable[[General, str], list[Part]]:
    def parts(scheme: General, control: str) -> list[Part]:
        look = layout or ("inline" if scheme.horizontal else "vertical")
        found = [
            Part(
                **_base(scheme, control),
                kind="choices",
                options=scheme.options,
                many=many,
                layout=look,
                low=scheme.low,
                high=scheme.high,
                whole=whole,
            )
        ]
        if scheme.free_response is not None:
            found.append(Part(key=FREE, control=f"{control}_{FREE}", kind="text", title=scheme.free_response))
        return found

    return parts


def _plain_number(scheme: General, control: str, slider: bool) -> list[Part]:
    bounds: dict[str, Any] = {"minimum": scheme.minimum, "maximum": scheme.maximum, "step": scheme.step}
    low, high = (plain_number(end) if slider and end is not None else "" for end in (scheme.minimum, scheme.maximum))
    ends = {"low": scheme.low or low, "middle": scheme.middle, "high": scheme.high or high}
    look: dict[str, Any] = {"slider": slider, **ends}
    return [Part(**_base(scheme, control), kind="number", **bounds, **look)]


def _number(slider: bool) -> Callable[[General, str], list[Part]]:
    def parts(scheme: General, control: str) -> list[Part]:
        if scheme.options:
            return _choices(whole=scheme.type == "confidence", layout="inline")(scheme, control)
        return _plain_number(scheme, control, slider)

    return parts


def _texts(scheme: General, control: str) -> list[Part]:
    look: dict[str, Any] = {"kind": "text", "lines": scheme.lines, "placeholder": scheme.placeholder}
    if not scheme.rows:
        return [Part(**_base(scheme, control), **look)]
    return [Part(**_row(scheme, control, number, row), **look) for number, row in enumerate(scheme.rows, 1)]


def _rows_of_choices(scheme: General, control: str) -> list[Part]:
    found = []
    for number, row in enumerate(scheme.rows, 1):
        base = _row(scheme, control, number, row)
        ends: dict[str, Any] = {}
        if scheme.type == "semantic_differential":
            low, high = row.shown.split("\n", 1)
            ends = {"low": low, "high": high, "whole": True}
            base["title"] = ""
        found.append(Part(**base, kind="choices", options=scheme.options, layout="inline", **ends))
    return found


def _rows_of_numbers(scheme: General, control: str) -> list[Part]:
    return [
        Part(**_row(scheme, control, number, row), kind="number", minimum=scheme.minimum, maximum=scheme.maximum)
        for number, row in enumerate(scheme.rows, 1)
    ]


def _pairwise(scheme: General, control: str) -> list[Part]:
    if scheme.mode == "scale":
        return _plain_number(scheme, control, True)
    if scheme.mode == "multi_dimension":
        return _rows_of_choices(scheme, control)
    return [Part(**_base(scheme, control), kind="choices", options=scheme.options, layout="inline")]


def _ranking(scheme: General, control: str) -> list[Part]:
    return [Part(**_base(scheme, control), kind="ranker", options=scheme.options)]


def _hierarchical(scheme: General, control: str) -> list[Part]:
    return [Part(**_base(scheme, control), kind="taxonomy", taxonomy=scheme.taxonomy, many=True)]


def _one(_: General, values: dict[str, Any]) -> Any:
    return values.get(ONE)


def _only(_: General, value: Any) -> dict[str, Any]:
    return {ONE: value}


def _join_free(key: str) -> Callable[[General, dict[str, Any]], Any]:
    def join(scheme: General, values: dict[str, Any]) -> Any:
        chosen, text = values.get(ONE), values.get(FREE)
        if text is None:
            return chosen
        return {key: chosen if chosen is not None or key == "option" else [], FREE: text}

    return join


def _split_free(key: str) -> Callable[[General, Any], Mapping[str, Any]]:
    def split(scheme: General, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            return {ONE: value}
        if not value.keys() <= {key, FREE} or not isinstance(value.get(FREE), str) or scheme.free_response is None:
            raise InputError(f"expected {{{key}, {FREE}}}, found {dict(value)!r}")
        chosen = value.get(key)
        return {**({ONE: chosen} if chosen not in (None, []) else {}), FREE: value[FREE]}

    return split


def _join_rows(scheme: General, values: dict[str, Any]) -> Any:
    return {row.value: values[row.value] for row in scheme.rows if row.value in values} or None


def _split_rows(scheme: General, value: Any) -> Mapping[str, Any]:
    known = {row.value for row in scheme.rows}
    if not isinstance(value, Mapping) or not value.keys() <= known:
        raise InputError(f"expected an object with some of {', '.join(sorted(known))}, found {value!r}")
    return value


def _join_text(scheme: General, values: dict[str, Any]) -> Any:
    return _join_rows(scheme, values) if scheme.rows else _one(scheme, values)


def _split_text(scheme: General, value: Any) -> Mapping[str, Any]:
    return _split_rows(scheme, value) if scheme.rows else _only(scheme, value)


#: Mode of a comparison → key of the answer.
_PAIR_KEYS: Final = {"binary": "selection", "scale": "scale_value"}


def _join_pair(scheme: General, values: dict[str, Any]) -> Any:
    if scheme.mode == "multi_dimension":
        return _join_rows(scheme, values)
    return {_PAIR_KEYS[scheme.mode]: values[ONE]} if ONE in values else None


def _split_pair(scheme: General, value: Any) -> Mapping[str, Any]:
    if scheme.mode == "multi_dimension":
        return _split_rows(scheme, value)
    key = _PAIR_KEYS[scheme.mode]
    if not isinstance(value, Mapping) or value.keys() != {key}:
        raise InputError(f"expected {{{key}}}, found {value!r}")
    return {ONE: value[key]}


def wrong_sum(scheme: General, values: Mapping[str, Any]) -> str:
    """What is wrong with numbers that must have a sum; empty: nothing, or they are not all there."""
    numbers = [values.get(row.value) for row in scheme.rows]
    if scheme.total is None or not all(is_number(number) for number in numbers):
        return ""
    found = sum(float(number) for number in numbers if number is not None)
    return "" if abs(found - scheme.total) < 1e-6 else f"the numbers sum to {found:g}, not to {scheme.total:g}"


def is_shown(scheme: General, answer: Answer) -> bool:
    """Whether a question was shown, as far as the answers that were read before tell."""
    for condition in scheme.conditions:
        given = answer.annotations.get(condition.scheme)
        if isinstance(given, Mapping):
            # A comparison, or options with a text beside them.
            given = next((given[key] for key in ("selection", "option", "options") if key in given), None)
        chosen = {str(one) for one in (given if isinstance(given, list) else [given]) if one is not None}
        holds = bool(chosen & set(condition.values)) if condition.values else bool(chosen)
        if holds == condition.negated:
            return False
    return True


_RADIO: Final = Form(_choices(), _join_free("option"), _split_free("option"))
_NUMBERS: Final = Form(_rows_of_numbers, _join_rows, _split_rows)
_GRID: Final = Form(_rows_of_choices, _join_rows, _split_rows)

#: Type → its form. Spans have a module of their own.
FORMS: Final[dict[str, Form]] = {
    "radio": _RADIO,
    "multiselect": Form(_choices(many=True), _join_free("options"), _split_free("options")),
    "text": Form(_texts, _join_text, _split_text),
    "likert": Form(_choices(whole=True), _one, _only),
    "select": Form(_choices(layout="select"), _one, _only),
    "number": Form(_number(False), _one, _only),
    "slider": Form(_number(True), _one, _only),
    "pairwise": Form(_pairwise, _join_pair, _split_pair),
    "confidence": Form(_number(True), _one, _only),
    "multirate": _GRID,
    "semantic_differential": _GRID,
    "constant_sum": _NUMBERS,
    "soft_label": _NUMBERS,
    "ranking": Form(_ranking, _one, _only),
    "triage": Form(_choices(), _one, _only),
    "text_edit": Form(_texts, _one, _only),
    "hierarchical_multiselect": Form(_hierarchical, _one, _only),
}

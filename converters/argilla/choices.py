"""Fixed choices as questions of Argilla: the same in both layouts."""

from collections.abc import Mapping
from typing import Any, Final

from potato_bridge.converters.argilla.fields import safe, unsafe
from potato_bridge.converters.argilla.limits import RANKED, TEXT, VALUE, fits_label, fits_rating
from potato_bridge.converters.argilla.plan import QuestionPlan
from potato_bridge.converters.forms import BadResultError, Part, number_of
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError

#: Options that are seen without a click, at least.
_VISIBLE: Final = 20


def is_native(part: Part) -> bool:
    """Whether Argilla has a question for it."""
    values = [safe(storable(option.value)) for option in part.options]
    if any(not 0 < len(value) <= VALUE for value in values) or len(set(values)) < len(values):
        return False
    if any(not 0 < len(option.shown) <= TEXT for option in part.options):
        return False
    if part.kind == "ranker":
        return RANKED[0] <= len(part.options) <= RANKED[1]
    return part.kind == "choices" and fits_label(len(part.options))


def kind_of(part: Part) -> str:
    """The type of its question."""
    if part.kind == "ranker":
        return "ranking"
    if part.many:
        return "multi_label_selection"
    return "rating" if part.whole and fits_rating([option.value for option in part.options]) else "label_selection"


def question(part: Part, title: str, description: str = "") -> QuestionPlan:
    """Its question."""
    kind = kind_of(part)
    if kind == "rating":
        settings: dict[str, Any] = {"type": kind, "options": [{"value": int(o.value)} for o in part.options]}
    else:
        options = [{"value": safe(storable(o.value)), "text": storable(o.shown)} for o in part.options]
        settings = {"type": kind, "options": options}
        if kind != "ranking" and len(options) > _VISIBLE:
            settings["visible_options"] = _VISIBLE
    notes = [description, *(f"{o.shown}: {o.tooltip}" for o in part.options if o.tooltip)]
    if part.low or part.high:
        first, last = part.options[0].shown, part.options[-1].shown
        notes.append(f"{first} = {part.low or '…'}, {last} = {part.high or '…'}")
    text = storable("\n".join(note for note in notes if note))
    return QuestionPlan(part.control, storable(title)[:500] or part.control, settings, text[:1000], part.required)


def read_choice(part: Part, value: Any) -> Any:
    """The value of a part, from that of its question; None: nothing is chosen.

    Raises:
        BadResultError: It is no answer.
    """
    known = {storable(option.value): option.value for option in part.options}

    def word(one: Any) -> str:
        text = unsafe(one) if isinstance(one, str) else str(one) if type(one) is int else None
        if text is None or text not in known:
            raise BadResultError("unknown-label", f"{one!r} is none of the labels")
        return known[text]

    if part.kind == "ranker":
        return _ranking(part, value, word)
    if part.many:
        if not isinstance(value, list):
            raise BadResultError("bad-result", f"a list of labels was expected, and it is {value!r}")
        order = [option.value for option in part.options]
        return sorted({word(one) for one in value}, key=order.index) or None
    if isinstance(value, list | dict):
        raise BadResultError("bad-result", f"one choice was expected, and it is {value!r}")
    chosen = word(value)
    return number_of(chosen) if part.whole else chosen


def _ranking(part: Part, value: Any, word: Any) -> list[str]:
    rows = value if isinstance(value, list) and all(isinstance(row, Mapping) for row in value) else None
    if rows is None:
        raise BadResultError("bad-result", f"a ranking was expected, and it is {value!r}")
    ranked = [(row.get("rank"), word(row.get("value"))) for row in rows]
    ranks = [rank for rank, _ in ranked]
    if len({label for _, label in ranked}) != len(part.options) or not all(type(rank) is int for rank in ranks):
        raise BadResultError("incomplete-answer", f"{len(ranked)} of {len(part.options)} labels are ranked")
    if len(set(ranks)) != len(ranks):
        raise BadResultError("bad-result", "two labels have one rank")
    return [label for _, label in sorted(ranked)]


def write_choice(part: Part, value: Any) -> Any:
    """The inverse of `read_choice`.

    Raises:
        InputError: The part cannot have it.
    """
    known = {option.value for option in part.options}
    given = value if part.many or part.kind == "ranker" else [value]
    if not isinstance(given, list):
        raise InputError(f"expected a list of labels, found {value!r}")
    texts = [str(one) if part.whole and type(one) is int else one for one in given]
    for text in texts:
        if not isinstance(text, str) or text not in known:
            raise InputError(f"{text!r} is none of the labels", hint="The labels changed after it was annotated.")
    words = [safe(storable(text)) for text in texts]
    if part.kind == "ranker":
        if len(set(words)) != len(known):
            raise InputError(f"expected all labels in an order, found {value!r}")
        return [{"value": word, "rank": rank} for rank, word in enumerate(words, 1)]
    if part.many:
        return words
    return int(texts[0]) if kind_of(part) == "rating" else words[0]

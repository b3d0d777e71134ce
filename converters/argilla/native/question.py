"""One scheme in the native layout: which records an item has for it, and its questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.plan import Extent, FieldPlan, QuestionPlan
from potato_bridge.converters.view.subject import Subject

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Piece:
    """One record of an item.

    Attributes:
        name: Ending of its external id; empty where the item has one record. Names sort in the order of reading.
        fields: Field name → text as it is; how it is shown is the layout's affair.
        about: What is needed to read an answer to it; JSON.
        filled: Question name → what stands in it when it is opened.
        spans: Fields whose text is marked.
    """

    name: str
    fields: Mapping[str, str]
    about: Any = None
    filled: Mapping[str, Any] = field(default_factory=dict)
    spans: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody said to one record: what it is about, and the values; None: nothing yet."""

    name: str
    about: Any
    values: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Context:
    """What all records of an item share: how many steps it had, and where an earlier state was answered."""

    total_steps: int
    earlier: bool = False


def _no(*_: Any) -> dict[str, tuple[bool, str]]:
    return {}


@dataclass(frozen=True, kw_only=True)
class NativeQuestion(Generic[S]):
    """How a scheme is asked for.

    Attributes:
        description: What is asked, where the scheme has no description.
        fields: Scheme → its fields, beside `task`.
        questions: (scheme, extent) → its questions.
        pieces: (scheme, item) → its records, in the order of reading; None: it is asked on the item's one record.
        whole: (scheme, item) → its part of the item's one record.
        guidelines: Scheme → lines of Markdown.
        notices: Scheme → notice code → (whether the config asks for it, what cannot be done).
        read: (scheme, what was said to each record, context, answer, whether it must be complete). Never raises.
        write: (scheme, the records as `Told` without values, context, canonical value) → record name → values.
    """

    description: str
    fields: Callable[[S], Sequence[FieldPlan]]
    questions: Callable[[S, Extent], Sequence[QuestionPlan]]
    pieces: Callable[[S, Subject], list[Piece]] | None = None
    whole: Callable[[S, Subject], Piece] | None = None
    guidelines: Callable[[S], Sequence[str]] = lambda _: ()
    notices: Callable[[S], dict[str, tuple[bool, str]]] = _no
    read: Callable[[S, Sequence[Told], Context, Answer, bool], None]
    write: Callable[[S, Sequence[Told], Context, Any], dict[str, dict[str, Any]]]


def text_field(name: str, title: str, *, required: bool = True) -> FieldPlan:
    """A field of text."""
    return FieldPlan(name, title, {"type": "text", "use_markdown": False}, required)


def keep(answer: Answer, scheme: Any, raw: Any, code: str, message: str) -> None:
    """Keeps what is no answer, and says why."""
    answer.controls.setdefault(scheme.name, []).append({"raw": raw})
    answer.flag(code, message[:500], scheme)

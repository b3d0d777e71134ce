"""One scheme in the panel layout: a row of the table in `questions.py`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from msgspec import UNSET

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.plan import QuestionPlan
from potato_bridge.converters.view.subject import Subject

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Seen:
    """An item as an answer to it saw it.

    Attributes:
        data: The scheme's part of the payload of the record that is there now.
        total_steps: Ratable steps of the state that was answered.
        about: Where an earlier state was answered: what the scheme's `about` noted of it; else UNSET.
    """

    data: Mapping[str, Any]
    total_steps: int
    about: Any = UNSET


@dataclass(slots=True)
class Said:
    """What an annotator said of one scheme.

    Attributes:
        panel: What its widget wrote: JSON; UNSET where it wrote nothing.
        natives: Suffix of a native question (see `PanelQuestion.natives`) → value.
    """

    panel: Any = UNSET
    natives: dict[str, Any] = field(default_factory=dict)

    @property
    def nothing(self) -> bool:
        """Whether nothing at all was said."""
        return self.panel is UNSET and not self.natives


def _nothing(*_: Any) -> Any:
    return None


@dataclass(frozen=True, kw_only=True)
class PanelQuestion(Generic[S]):
    """How a scheme is asked for.

    Attributes:
        widget: Name of the widget in `panel.js`; empty: native questions are all there is.
        description: What is asked, where the scheme has no description.
        settings: Scheme → what its widget gets for the whole data set, JSON.
        natives: Scheme → its native questions by suffix; their names are `question_name(scheme)`, then `_` and the
            suffix where that is not empty. Fixed choices only: a free text would stand in the page in the clear.
        data: (scheme, item) → what its widget gets of an item, JSON. Cards of the steps are in the payload already.
        subject: (scheme, its data) → what an answer is about: when it changes, answers are to earlier ones. None: the
            steps.
        about: (scheme, its data) → JSON that is needed to read an answer when the data has changed; None: nothing.
        notices: Scheme → notice code → (whether the config asks for it, what cannot be done).
        guidelines: Scheme → lines of Markdown.
        read: (scheme, what was seen, what was said, answer, whether it must be complete). Never raises.
        write: (scheme, what is seen, canonical value) → what an annotator says who means it. Raises InputError.
        keys: What the object that its widget writes can have; anything else in it is kept and flagged.
        shows_steps: Scheme → whether its widget shows the steps, so that the panel does not.
    """

    widget: str = ""
    description: str
    settings: Callable[[S], dict[str, Any]] = lambda _: {}
    natives: Callable[[S], dict[str, QuestionPlan]] = lambda _: {}
    data: Callable[[S, Subject], dict[str, Any]] = lambda *_: {}
    subject: Callable[[S, Mapping[str, Any]], Any] = _nothing
    about: Callable[[S, Mapping[str, Any]], Any] = _nothing
    notices: Callable[[S], dict[str, tuple[bool, str]]] = lambda _: {}
    guidelines: Callable[[S], Sequence[str]] = lambda _: ()
    read: Callable[[S, Seen, Said, Answer, bool], None]
    write: Callable[[S, Seen, Any], Said]
    keys: frozenset[str] = frozenset()
    shows_steps: Callable[[S], bool] = lambda _: False

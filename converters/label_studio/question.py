"""What a scheme is to this backend: a question on the page, with its data, its reader and its writer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, TypeVar

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.view.subject import Subject

Entries: TypeAlias = list[dict[str, Any]]

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Must:
    """A control that a label config has to have.

    Attributes:
        name: Its name, with the index flag where it is in the Repeater.
        attributes: Attribute → the value that it must have, and why.
        kind: Its tag.
        required: Whether it must be required; None: it does not matter.
    """

    name: str
    attributes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    kind: str = "Choices"
    required: bool | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task as an answer to it saw it.

    Attributes:
        data: The data that it has now.
        revision: Where the answer was given to an earlier state of it: what `push` noted of that state.
    """

    data: Mapping[str, Any]
    revision: Mapping[str, Any] | None = None


def _nothing(*_: Any) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Question(Generic[S]):
    """One row of the table in `questions.py`.

    Attributes:
        template: Name of the packaged template of its part of the page; there, `q` has the variables.
        style: Name of the packaged template of its style; empty: none.
        description: What is asked, where the scheme has no description.
        variables: Scheme → what the template gets beside `control`, `description` and `required`.
        notices: Scheme → notice code → (whether the config asks for it, what cannot be done).
        instruction: Scheme → lines of HTML.
        musts: Scheme → the controls that a changed template still has to have, the most important first.
        repeats: Scheme → keys of the task data that a Repeater must run over.
        data: (scheme, item) → its part of the task's data.
        subject: Scheme → the keys of the data that an answer is about: when they change, it is to earlier ones.
        about: (scheme, data) → JSON that is needed to read an answer when the data has changed; None: nothing.
        hides: Scheme → keys of the data that the list of tasks does not show: nobody reads them there.
        shows_trace: Scheme → whether its part of the page shows the steps.
        owns: (scheme, control) → whether the control is the scheme's.
        asks: (scheme, control of the scheme) → whether annotators answer it.
        read: (scheme, task, entries of the scheme's controls, answer, whether it must be complete). Never raises.
        write: (scheme, data, canonical value) → result entries. Raises InputError.
        prefill: (scheme, data) → result entries that an annotator finds there and changes.
        preset: Scheme → result entries that its part of the page makes by itself, but not where an annotation begins
            with a prediction: that one has to have them.
    """

    template: str
    style: str = ""
    description: str
    variables: Callable[[S], dict[str, Any]]
    notices: Callable[[S], dict[str, tuple[bool, str]]] = lambda _: {}
    instruction: Callable[[S], list[str]]
    musts: Callable[[S], Sequence[Must]]
    repeats: Callable[[S], Sequence[str]] = lambda _: ()
    data: Callable[[S, Subject], dict[str, Any]] = lambda *_: {}
    subject: Callable[[S], Sequence[str]] = lambda _: ()
    about: Callable[[S, Mapping[str, Any]], Any] = _nothing
    hides: Callable[[S], Sequence[str]] = lambda _: ()
    shows_trace: Callable[[S], bool] = lambda _: False
    owns: Callable[[S, str], bool]
    asks: Callable[[S, str], bool] = lambda *_: True
    read: Callable[[S, Task, Entries, Answer, bool], None]
    write: Callable[[S, Mapping[str, Any], Any], Entries]
    prefill: Callable[[S, Mapping[str, Any]], Entries] = lambda *_: []
    preset: Callable[[S], Entries] = lambda _: []


#: What every control of ours points to, and why.
TO_TASK: Final = {"toName": ("task", "results point to it")}

"""What a mode of process_reward is to this backend: its template, its data, its reader and its writer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from potato_bridge.converters.label_studio.answers import Answer
from potato_bridge.converters.label_studio.view import Card
from potato_bridge.model import ProcessReward
from potato_bridge.model.project import TraceDisplay

Entries: TypeAlias = list[dict[str, Any]]


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
class Mode:
    """One row of the table in `modes.py`.

    Attributes:
        template: Name of the packaged template.
        description: The question, where the scheme has none.
        variables: Scheme → what the template gets beside what all of them get.
        notices: Scheme → notice code → (whether the config asks for it, what cannot be done).
        instruction: Scheme → lines of HTML.
        musts: Scheme → the controls that a changed template still has to have, that of the reward first.
        repeats: Key of the task data that a Repeater must run over; empty: none.
        data: Cards → the data of the task beside its text and files.
        steps: Key of the data that holds the steps; its hash says whether they changed.
        total_steps: Task data → how many steps can be rated.
        owns: (scheme, control) → whether the control is the scheme's.
        asks: (scheme, control) → whether it is the scheme's, and one that annotators answer.
        read: (scheme, total, entries of the scheme's controls, answer, whether it must be complete).
        write: (scheme, total, canonical value) → result entries. Raises InputError.
    """

    template: str
    description: str
    variables: Callable[[ProcessReward], dict[str, Any]]
    notices: Callable[[ProcessReward], dict[str, tuple[bool, str]]]
    instruction: Callable[[ProcessReward], list[str]]
    musts: Callable[[ProcessReward], Sequence[Must]]
    repeats: str
    data: Callable[[list[Card], ProcessReward, TraceDisplay], dict[str, Any]]
    steps: str
    total_steps: Callable[[Mapping[str, Any]], int]
    owns: Callable[[ProcessReward, str], bool]
    asks: Callable[[ProcessReward, str], bool]
    read: Callable[[ProcessReward, int, Entries, Answer, bool], None]
    write: Callable[[ProcessReward, int, Any], Entries]

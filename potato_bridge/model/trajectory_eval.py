"""The scheme `trajectory_eval`, and its canonical value: a judgement of each step, in Potato's own form.

The score is Potato's: `max_score` less the weights of the severities, never below 0. It is null while a step is not
judged, or is wrong and has no severity: nobody has agreed to a number then.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, Final

import msgspec

from potato_bridge.errors import InputError
from potato_bridge.model.node import Node

#: The one option that says that nothing is wrong with a step; all others ask what is.
CORRECT: Final = "correct"


class ErrorType(Node):
    """A kind of error. One with subtypes is never chosen by itself."""

    name: str
    subtypes: list[str] = []


class Severity(Node):
    """How bad an error is, and what it takes off the score; the sign of the weight does not matter."""

    name: str
    weight: int


def _severities() -> list[Severity]:
    return [Severity(name=name, weight=weight) for name, weight in (("minor", -1), ("major", -5), ("critical", -10))]


class TrajectoryEval(Node, tag_field="annotation_type", tag="trajectory_eval"):
    """Judgements of steps. Its keys and their defaults are Potato's.

    Attributes:
        steps_key: The item field that holds the steps.
        step_text_key: The field of a step that is its text, where the list is not the one that is shown as the trace.
        show_score: Whether the page shows the score while it is worked on.
        required: Whether an answer without a judgement of each step is incomplete.
        line: 1-based line of the scheme in the config.
    """

    type: ClassVar[str] = "trajectory_eval"

    name: str
    description: str = ""
    steps_key: str = "steps"
    step_text_key: str = "action"
    correctness_options: list[str] = msgspec.field(default_factory=lambda: [CORRECT, "incorrect", "partially_correct"])
    error_types: list[ErrorType] = []
    severities: list[Severity] = msgspec.field(default_factory=_severities)
    show_score: bool = True
    max_score: int | float = 100
    required: bool = False
    line: int | None = None

    @property
    def errors(self) -> list[tuple[str, str]]:
        """What can be chosen as error type: (type, subtype), the subtype empty where the type has none."""
        return [(kind.name, subtype) for kind in self.error_types for subtype in (kind.subtypes or [""])]

    @property
    def wrong(self) -> list[str]:
        """The options that say that something is wrong."""
        return [option for option in self.correctness_options if option != CORRECT]


class Judgement(Node):
    """What is said of one step.

    Attributes:
        step_index: Position in the list at `steps_key`, from 0.
        correctness: None: the step is not judged.
    """

    step_index: int
    correctness: str | None = None
    error_type: str = ""
    error_subtype: str = ""
    severity: str = ""
    rationale: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether it says that something is wrong with the step."""
        return self.correctness is not None and self.correctness != CORRECT

    @property
    def says_something(self) -> bool:
        """Whether anything was said of the step."""
        return self.correctness is not None or self.marks[2:] != ["", "", "", ""]

    @property
    def marks(self) -> list[Any]:
        """Everything that was said, as plain JSON."""
        return [
            self.step_index,
            self.correctness,
            self.error_type,
            self.error_subtype,
            self.severity,
            self.rationale,
        ]

    def to_json(self) -> dict[str, Any]:
        """Canonical: what was not said is not there, the correctness excepted."""
        found: dict[str, Any] = {"step_index": self.step_index, "correctness": self.correctness}
        details = ("error_type", "error_subtype", "severity", "rationale")
        found |= {key: text for key in details if (text := getattr(self, key))}
        return {**found, **self.unknown}


def score_of(scheme: TrajectoryEval, judgements: Iterable[Judgement], asked: Iterable[int]) -> int | float | None:
    """The score; None: it is not final.

    Args:
        scheme: The scheme.
        judgements: What was said.
        asked: Positions of the steps that must be judged.
    """
    weights: dict[str, int] = {}
    for severity in scheme.severities:
        weights.setdefault(severity.name, abs(severity.weight))
    by_step = {judgement.step_index: judgement for judgement in judgements}
    score = scheme.max_score
    for judgement in by_step.values():
        if judgement.is_wrong and not judgement.severity:
            return None
        if judgement.severity and judgement.correctness != CORRECT:
            score -= weights.get(judgement.severity, 0)
    if not all(position in by_step and by_step[position].correctness is not None for position in asked):
        return None
    score = max(0, score)
    return int(score) if float(score).is_integer() else score


class Judgements(Node):
    """An answer.

    Attributes:
        steps: By position, each once.
    """

    steps: list[Judgement] = []

    def filled(self, asked: Iterable[int]) -> "Judgements":
        """The same with an entry for each step that is asked for, in their order."""
        by_step = {judgement.step_index: judgement for judgement in self.steps}
        for position in asked:
            by_step.setdefault(position, Judgement(step_index=position))
        return Judgements(steps=[by_step[position] for position in sorted(by_step)], unknown=self.unknown)

    def to_json(self, scheme: TrajectoryEval, asked: Iterable[int]) -> dict[str, Any]:
        """Canonical: the steps that are asked for, and others of which something was said; and the score."""
        asked = list(asked)
        known = set(asked)
        steps = [j for j in self.filled(asked).steps if j.step_index in known or j.says_something or j.unknown]
        score = score_of(scheme, steps, asked)
        return {
            "steps": [judgement.to_json() for judgement in steps],
            "score": score,
            "score_complete": score is not None,
            **self.unknown,
        }


def parse_trajectory_eval(value: Any) -> Judgements:
    """Reads a value: canonical, or as Potato stored it. The score is computed, never taken over.

    Raises:
        InputError: It is no such object, or a step is there twice.
    """
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {type(value).__name__}")
    if not isinstance(value.get("steps"), list):
        raise InputError("steps must be a list")
    steps: dict[int, Judgement] = {}
    for number, entry in enumerate(value["steps"]):
        # A hole that an early click of Potato's page left in its list.
        if entry is None:
            continue
        judgement = _judgement(entry, number)
        if judgement.step_index in steps:
            raise InputError(f"steps[{number}]: step {judgement.step_index} is there twice")
        steps[judgement.step_index] = judgement
    unknown = {key: item for key, item in value.items() if key not in ("steps", "score", "score_complete")}
    return Judgements(steps=list(steps.values()), unknown=unknown)


def _judgement(entry: Any, number: int) -> Judgement:
    where = f"steps[{number}]"
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object, got {type(entry).__name__}")
    index = entry.get("step_index", number)
    if not isinstance(index, int) or isinstance(index, bool):
        raise InputError(f"{where}: step_index must be a whole number, got {index!r}")
    texts: dict[str, str] = {}
    for key in ("correctness", "error_type", "error_subtype", "severity", "rationale"):
        text = entry.get(key)
        if text is not None and not isinstance(text, str):
            raise InputError(f"{where}: {key} must be text, got {type(text).__name__}")
        if text:
            texts[key] = text
    unknown = {key: item for key, item in entry.items() if key not in _KEYS}
    return Judgement(step_index=index, unknown=unknown, **texts)


_KEYS: Final = frozenset(("step_index", "correctness", "error_type", "error_subtype", "severity", "rationale"))

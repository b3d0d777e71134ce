"""The canonical values of `process_reward`, as they stand in a record.

Step numbers are 0-based over the ratable steps of the trace.
"""

import math
import re
from decimal import Decimal
from typing import Any, TypeGuard

from potato_bridge.errors import InputError
from potato_bridge.model.node import Node, from_builtins, to_builtins

_STEP = re.compile("0|[1-9][0-9]*")


class FirstError(Node):
    """A first-error answer: all steps before `first_error_step` are right, it and all after it are wrong.

    Attributes:
        first_error_step: 0-based; None where every step is correct.
        total_steps: How many ratable steps the trace has.
    """

    first_error_step: int | None
    total_steps: int

    @property
    def labels(self) -> list[int]:
        """1 for a correct step, -1 for the first wrong one and all after it; `total_steps` of them."""
        correct = self.total_steps if self.first_error_step is None else self.first_error_step
        return [1] * correct + [-1] * (self.total_steps - correct)

    def to_json(self) -> dict[str, Any]:
        """The documented form: mode, first_error_step, total_steps, labels."""
        return {
            "mode": "first_error",
            "first_error_step": self.first_error_step,
            "total_steps": self.total_steps,
            "labels": self.labels,
        }


def parse_first_error(value: Any) -> FirstError:
    """Reads a canonical first-error value and checks that it agrees with itself.

    Raises:
        InputError: Not an object of mode first_error, a step outside 0..total_steps-1, or labels that say otherwise.
    """
    if not isinstance(value, dict) or value.get("mode") != "first_error":
        raise InputError('expected an object with "mode": "first_error"')
    total, step = value.get("total_steps"), value.get("first_error_step")
    if not _is_count(total):
        raise InputError(f"total_steps must be a whole number of at least 0, got {total!r}")
    if "first_error_step" not in value:
        raise InputError("first_error_step is missing (null says that every step is correct)")
    if step is not None and not (_is_count(step) and step < total):
        raise InputError(f"first_error_step {step!r} is not among the {total} steps (0 to {total - 1})")
    parsed = FirstError(first_error_step=step, total_steps=total)
    labels = value.get("labels")
    if labels != parsed.labels:
        raise InputError(f"labels {labels!r} do not follow from first_error_step {step!r} of {total}")
    return parsed


class StepDetail(Node):
    """What was said about one step beside its score."""

    label: str | None = None
    error_category: str | None = None
    notes: str | None = None


class PerStep(Node):
    """An answer in which each step was rated by itself.

    Attributes:
        labels: The score of each ratable step; None: the step was left unrated, which is not 0.
        step_details: Step number to what was said about it.
    """

    labels: list[float | None]
    step_details: dict[int, StepDetail] = {}

    @property
    def total_steps(self) -> int:
        """How many ratable steps the trace has."""
        return len(self.labels)

    @property
    def cumulative_score(self) -> float:
        """The plain sum of the rated steps, added in decimals: 0.1 and 0.2 are 0.3."""
        return float(sum((Decimal(str(label)) for label in self.labels if label is not None), Decimal()))

    def to_json(self) -> dict[str, Any]:
        """The documented form: mode, total_steps, labels, step_details, cumulative_score."""
        return {
            "mode": "per_step",
            "total_steps": self.total_steps,
            "labels": list(self.labels),
            "step_details": {str(step): to_builtins(self.step_details[step]) for step in sorted(self.step_details)},
            "cumulative_score": self.cumulative_score,
            **self.unknown,
        }


def parse_per_step(value: Any) -> PerStep:
    """Reads a canonical per-step value and checks that it agrees with itself.

    `cumulative_score` is not compared, for the documented example has one that is not the sum of its labels.

    Raises:
        InputError: Not an object of mode per_step, labels that are not a number or null for each step, or details of
            a step that is not there.
    """
    if not isinstance(value, dict) or value.get("mode") != "per_step":
        raise InputError('expected an object with "mode": "per_step"')
    total, labels = value.get("total_steps"), value.get("labels")
    if not _is_count(total):
        raise InputError(f"total_steps must be a whole number of at least 0, got {total!r}")
    if not isinstance(labels, list) or len(labels) != total:
        raise InputError(f"labels must be a list of {total}, one for each step")
    details = value.get("step_details", {})
    if not isinstance(details, dict):
        raise InputError(f"step_details must be an object, got {type(details).__name__}")
    known = ("mode", "total_steps", "labels", "step_details", "cumulative_score")
    return PerStep(
        labels=[_score(label, step) for step, label in enumerate(labels)],
        step_details={_step(key, total): _detail(key, detail) for key, detail in details.items()},
        unknown={key: item for key, item in value.items() if key not in known},
    )


def parse(value: Any) -> FirstError | PerStep:
    """Reads a canonical value of either mode.

    Raises:
        InputError: See `parse_first_error` and `parse_per_step`.
    """
    if isinstance(value, dict) and value.get("mode") == "per_step":
        return parse_per_step(value)
    return parse_first_error(value)


def _score(label: Any, step: int) -> float | None:
    if label is None:
        return None
    if isinstance(label, int | float) and not isinstance(label, bool) and abs(label) < math.inf:
        try:
            return float(label)
        except OverflowError:
            pass
    raise InputError(f"labels[{step}] must be a number or null, got {label!r}")


def _step(key: str, total: int) -> int:
    if _STEP.fullmatch(key) is None or int(key) >= total:
        raise InputError(f"step_details has the step {key!r}, which is not among the {total} steps (0 to {total - 1})")
    return int(key)


def _detail(key: str, value: Any) -> StepDetail:
    try:
        return from_builtins(StepDetail, value)
    except InputError as error:
        raise InputError(f"step_details[{key!r}]: {error.message}") from error


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0

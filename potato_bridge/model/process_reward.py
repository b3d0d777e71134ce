"""The canonical values of `process_reward`, as they stand in a record.

Step numbers are 0-based over the ratable steps of the trace.
"""

from typing import Any, TypeGuard

from potato_bridge.errors import InputError
from potato_bridge.model.node import Node


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


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0

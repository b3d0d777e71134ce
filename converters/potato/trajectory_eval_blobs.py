"""Judgements of steps as Potato stores them ↔ the value in a record.

Potato's page has a card for each entry of the list, those of users and tools included, and its list of judgements has
the same length. A record has the steps that annotators are asked for, which are the agent's, and what else was judged.
"""

from typing import Any

import msgspec

from potato_bridge.converters.potato.step_lists import StepList
from potato_bridge.errors import InputError
from potato_bridge.model import Flag
from potato_bridge.model.trajectory_eval import Judgement, TrajectoryEval, parse_trajectory_eval


def read_judgements(
    scheme: TrajectoryEval, blob: Any, steps: StepList | None
) -> tuple[dict[str, Any] | None, list[Any] | None, list[Flag]]:
    """The value of a stored blob, its marks, and what is wrong with it; None twice: nothing is judged.

    Args:
        scheme: The scheme.
        blob: As stored, decoded.
        steps: The item's list; None: it is not known, and every stored entry counts as asked for.

    Raises:
        InputError: It is no such blob.
    """
    answer = parse_trajectory_eval(blob)
    said = [judgement for judgement in answer.steps if judgement.says_something]
    if not said:
        return None, None, []
    asked = [judgement.step_index for judgement in answer.steps] if steps is None else steps.ratable
    flags = [flag for judgement in said for flag in _flags(scheme, judgement, steps)]
    return answer.to_json(scheme, asked), sorted(judgement.marks for judgement in said), flags


def _flags(scheme: TrajectoryEval, judgement: Judgement, steps: StepList | None) -> list[Flag]:
    step = judgement.step_index + 1
    found: list[tuple[str, str]] = []
    if steps is not None and not 0 <= judgement.step_index < steps.total:
        found.append(("step-out-of-range", f"step {step} is not among the {steps.total} entries of the item"))
    severities = {severity.name for severity in scheme.severities}
    if judgement.correctness is not None and judgement.correctness not in scheme.correctness_options:
        found.append(("unknown-label", f"step {step}: {judgement.correctness!r} is none of the correctness options"))
    if judgement.error_type and (judgement.error_type, judgement.error_subtype) not in scheme.errors:
        words = " / ".join(filter(None, (judgement.error_type, judgement.error_subtype)))
        found.append(("unknown-label", f"step {step}: {words!r} is none of the error types"))
    if judgement.severity and judgement.severity not in severities:
        found.append(("unknown-label", f"step {step}: {judgement.severity!r} is none of the severities"))
    return [Flag(code=code, message=message, scheme=scheme.name) for code, message in found]


def write_judgements(scheme: TrajectoryEval, value: Any, steps: StepList) -> str:
    """The blob for a value, the inverse of `read_judgements`.

    Raises:
        InputError: It is no such value, or judges a step that the item does not have.
    """
    answer = parse_trajectory_eval(value)
    beyond = [j.step_index + 1 for j in answer.steps if not 0 <= j.step_index < steps.total]
    if beyond:
        raise InputError(f"it judges step {beyond[0]}, and the item has {steps.total}")
    made = answer.to_json(scheme, steps.ratable)
    made["steps"] = [_stored(judgement) for judgement in answer.filled(range(steps.total)).steps]
    return msgspec.json.encode(made).decode()


def _stored(judgement: Judgement) -> dict[str, Any]:
    made = judgement.to_json()
    if judgement.error_type:
        # Potato's page writes both, always.
        made["error_subtype"] = judgement.error_subtype
    return made

"""What the readers and writers of process rewards share."""

from collections.abc import Iterable, Mapping
from typing import Any

from potato_bridge.errors import InputError
from potato_bridge.model import ProcessReward
from potato_bridge.model.process_reward import StepDetail
from potato_bridge.model.project import StepLabel


def check_total(value: Mapping[str, Any], total: int) -> None:
    """Refuses a value for other steps than the task has.

    Raises:
        InputError: It counts more of them, or fewer.
    """
    if value["total_steps"] != total:
        raise InputError(
            f"it counts {value['total_steps']} steps, and the task has {total}",
            hint="The item changed after it was annotated.",
        )


def asks_category(scheme: ProcessReward) -> list[StepLabel]:
    """The labels whose error category is asked for."""
    options = scheme.per_step
    return [label for label in options.labels if label.error_category] if options.error_categories else []


def all_required(scheme: ProcessReward) -> bool:
    """Whether each step needs a label."""
    return scheme.required and scheme.per_step.require_all_steps


def steps_are(numbers: list[int]) -> str:
    """The beginning of a sentence about steps, numbered from 1."""
    if len(numbers) == 1:
        return f"step {numbers[0]} is"
    more = f" and {len(numbers) - 10} more" if len(numbers) > 10 else ""
    return f"steps {', '.join(map(str, numbers[:10]))}{more} are"


def label_of(scheme: ProcessReward, step: int, score: float | None, detail: StepDetail) -> StepLabel | None:
    """The label of a step: the one that is named, else the first with its score; None: the step is not rated.

    Raises:
        InputError: The scheme has no such label, or another score for it.
    """
    if score is None and detail.label is None:
        return None
    fitting: Iterable[StepLabel] = (
        label
        for label in scheme.per_step.labels
        if label.score == score and (detail.label is None or label.value == detail.label)
    )
    found = next(iter(fitting), None)
    if found is None:
        named = f"label {detail.label!r}" if detail.label is not None else "label"
        raise InputError(
            f"step {step + 1}: {scheme.name} has no {named} with the score {score}",
            hint="The labels of the config changed after it was annotated.",
        )
    return found

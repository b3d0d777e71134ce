"""What a model or an earlier round says of an item's steps → the canonical value, checked against the item.

Taken are the canonical value, the blob that Potato stores, and what a model writes without more: for first_error the
step, null for none, or 1 and -1 for each step; for per_step a list with a score, a label or null for each step.
"""

from typing import Any, TypeAlias

from potato_bridge.converters.potato.reward_blobs import json_of, read_blob, read_rewards
from potato_bridge.converters.potato.section import did_you_mean, show
from potato_bridge.converters.potato.step_lists import StepList
from potato_bridge.errors import InputError
from potato_bridge.model.process_reward import FirstError, PerStep, StepDetail, parse_first_error, parse_per_step
from potato_bridge.model.project import ProcessReward

#: A canonical value, and the parts of what was given that it has no place for.
Taken: TypeAlias = tuple[dict[str, Any], list[str]]


def read_value(given: Any, scheme: ProcessReward, steps: StepList) -> Taken:
    """The value that an annotator would have given who answers the same.

    Args:
        given: Of any form named above; a text that holds a JSON object or list stands for that.
        scheme: The scheme.
        steps: The item's step list: which steps are rated.

    Raises:
        InputError: It is no answer to this scheme for this item; the message says why.
    """
    if isinstance(given, str) and given.lstrip()[:1] in ("{", "["):
        given = json_of(given)
    if isinstance(given, dict) and isinstance(given.get("steps"), list):
        given = _of_blob(given, scheme, steps)
    if isinstance(given, dict) and given.get("mode") in ("first_error", "per_step") and given["mode"] != scheme.mode:
        raise InputError(f"the value is of mode {given['mode']}, and the scheme of mode {scheme.mode}")
    total = len(steps.ratable)
    return _first_error(given, scheme, total) if scheme.mode == "first_error" else _per_step(given, scheme, total)


def _of_blob(blob: dict[str, Any], scheme: ProcessReward, steps: StepList) -> dict[str, Any]:
    # What an AI suggested and nobody confirmed is no answer, but it is a pre-label.
    entries = [_confirmed(entry) if isinstance(entry, dict) else entry for entry in blob["steps"]]
    reading = read_rewards(read_blob({**blob, "steps": entries}, scheme), steps, scheme)
    if reading.flags:
        raise InputError(reading.flags[0].message)
    if reading.on_other_turn:
        raise InputError("the first error is marked on a turn that is not rated")
    if reading.value is None:
        raise InputError("no step is marked")
    return reading.value


def _confirmed(entry: dict[str, Any]) -> dict[str, Any]:
    if entry.get("source") != "ai" or entry.get("verified"):
        return entry
    suggested = entry.get("ai_reward")
    return {**entry, "verified": True, "reward": entry.get("reward") if suggested is None else suggested}


def _first_error(given: Any, scheme: ProcessReward, total: int) -> Taken:
    lost: list[str] = []
    if isinstance(given, dict):
        answer = parse_first_error(given)
        _check_count(answer.total_steps, total)
        known = ("mode", "first_error_step", "total_steps", "labels")
        lost = [f"the field {key!r}" for key in given if key not in known]
    elif isinstance(given, list):
        _check_count(len(given), total)
        numbers = [None if isinstance(label, bool) else label for label in given]
        answer = FirstError(first_error_step=numbers.index(-1) if -1 in numbers else None, total_steps=total)
        if numbers != answer.labels:
            raise InputError("the list is not 1 for each step before the first error and -1 for it and all after it")
    elif given is None or (isinstance(given, int) and not isinstance(given, bool)):
        answer = FirstError(first_error_step=given, total_steps=total)
    else:
        raise InputError(f"expected the number of the first wrong step, null or a value, found {show(given)}")
    step = answer.first_error_step
    if step is not None and not 0 <= step < total:
        raise InputError(f"step {step} is not among the {total} steps (0 to {total - 1}); null: all are correct")
    if step is None and not scheme.first_error.allow_no_error:
        raise InputError("every step is correct, and the scheme does not allow that (allow_no_error: false)")
    return answer.to_json(), lost


def _per_step(given: Any, scheme: ProcessReward, total: int) -> Taken:
    lost: list[str] = []
    if isinstance(given, dict):
        answer = parse_per_step(given)
        _check_count(answer.total_steps, total)
        lost += [f"the field {key!r}" for key in answer.unknown]
    elif isinstance(given, list):
        _check_count(len(given), total)
        answer = PerStep(labels=[_number(entry, step) for step, entry in enumerate(given)], step_details={})
        for step, entry in enumerate(given):
            if isinstance(entry, str):
                answer.step_details[step] = StepDetail(label=entry)
    else:
        raise InputError(f"expected a list with an entry for each step or a value, found {show(given)}")
    value = PerStep(labels=list(answer.labels), step_details={})
    for step in range(total):
        detail = answer.step_details.get(step, StepDetail())
        label = _label(scheme, step, answer.labels[step], detail.label, by_name=isinstance(given, list))
        if detail.error_category is not None:
            _check_category(scheme, step, label, detail.error_category)
        kept = StepDetail(label=label, error_category=detail.error_category, notes=detail.notes or None)
        if kept.notes and not scheme.per_step.allow_notes:
            lost.append("notes (the scheme has no allow_notes)")
            kept.notes = None
        lost += [f"the field {key!r} of a step" for key in detail.unknown]
        if label is not None:
            value.labels[step] = next(float(known.score) for known in scheme.per_step.labels if known.value == label)
        if kept != StepDetail():
            value.step_details[step] = kept
    if all(label is None for label in value.labels):
        raise InputError("no step is rated")
    return value.to_json(), list(dict.fromkeys(lost))


def _check_count(found: int, total: int) -> None:
    if found != total:
        raise InputError(f"it is for {found} steps, and the item has {total} to rate")


def _number(entry: Any, step: int) -> float | None:
    """The score of an entry; None where it is null or names a label."""
    if entry is None or isinstance(entry, str):
        return None
    if isinstance(entry, bool) or not isinstance(entry, int | float):
        raise InputError(f"step {step} (from 0): expected a score, a label or null, found {show(entry)}")
    try:
        return float(entry)
    except OverflowError:
        raise InputError(f"step {step} (from 0): no label has a score that large") from None


def _label(scheme: ProcessReward, step: int, score: float | None, name: str | None, *, by_name: bool) -> str | None:
    """The label that is meant; None: the step is not rated.

    Raises:
        InputError: The scheme has none such, another score for it, or several with that score.
    """
    place, labels = f"step {step} (from 0)", scheme.per_step.labels
    if name is not None:
        found = next((label for label in labels if label.value == name), None)
        if found is None:
            near = did_you_mean(name, [label.value for label in labels])
            raise InputError(f"{place}: {show(name)} is none of the labels{f'. {near}' if near else ''}")
        if not by_name and found.score != score:
            raise InputError(f"{place}: {name!r} has the score {found.score:g}, found {score}")
        return name
    if score is None:
        return None
    fitting = [label.value for label in labels if label.score == score]
    if not fitting:
        scores = ", ".join(f"{label.value} {label.score:g}" for label in labels)
        raise InputError(f"{place}: no label has the score {score} (there are {scores})")
    if len(fitting) > 1:
        raise InputError(f"{place}: the score {score:g} is that of {' and '.join(fitting)}: name the label")
    return fitting[0]


def _check_category(scheme: ProcessReward, step: int, label: str | None, category: str) -> None:
    if category not in scheme.per_step.error_categories:
        near = did_you_mean(category, scheme.per_step.error_categories)
        reason = f"{show(category)} is none of the error categories{f'. {near}' if near else ''}"
        raise InputError(f"step {step} (from 0): {reason}")
    if not any(known.value == label and known.error_category for known in scheme.per_step.labels):
        raise InputError(f"step {step} (from 0): an error category, and the label {label!r} has none")

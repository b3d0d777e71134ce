"""The JSON text that Potato's page stores for `process_reward`, and the canonical value, both ways.

A blob has one entry for each entry of the step list, turns of the user included, with a reward of 1, -1, 0 or null:

* null, and no entry at all: unmarked.
* 0: unmarked, unless the scheme has `mode: per_step` and `allow_neutral`: then neutral. A 0 that says
  `"verified": false` is unmarked there too: it is from before neutral was allowed.
* Versions up to 2.6 store `index` and `reward` only; later ones say who rated the step (`source`, `verified`). What an
  AI suggested and nobody confirmed is no answer of the annotator: unmarked, with a notice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from potato_bridge.converters.potato.step_lists import StepList
from potato_bridge.errors import InputError
from potato_bridge.model import Flag
from potato_bridge.model.process_reward import FirstError, PerStep, StepDetail
from potato_bridge.model.project import ProcessReward

#: 1 correct, -1 incorrect, 0 neutral; None: unmarked.
Reward: TypeAlias = int | None

_MODES = ("first_error", "per_step")


@dataclass(slots=True)
class Blob:
    """A stored answer.

    Attributes:
        mode: How it was given: the mode that the blob names, else the scheme's.
        rewards: By position in the step list; a position that is not there is unmarked.
        unconfirmed: How many rewards an AI suggested and nobody confirmed.
        flags: What is wrong with it; codes `invalid-reward`, `duplicate-step`.
    """

    mode: str
    rewards: dict[int, Reward] = field(default_factory=dict)
    unconfirmed: int = 0
    flags: list[Flag] = field(default_factory=list)


@dataclass(slots=True)
class Reading:
    """What a blob says in the hub's terms.

    Attributes:
        value: Canonical; None where nothing is marked. A first-error answer that does not say which step is the first
            error is kept in the form of a per-step one, with a flag.
        flags: The blob's, and `step-out-of-range`, `incomplete-answer`, `contradictory-rewards`.
        on_other_turn: The first error was marked at a turn that is not rated: the next rated one counts.
    """

    value: dict[str, Any] | None
    flags: list[Flag]
    on_other_turn: bool = False


def read_blob(stored: Any, scheme: ProcessReward) -> Blob:
    """Reads a stored blob, a JSON text or the object itself.

    Raises:
        InputError: Not such a blob at all.
    """
    value = json_of(stored)
    steps = value.get("steps") if isinstance(value, dict) else None
    if not isinstance(steps, list):
        raise InputError('expected a JSON object with a list "steps"')
    mode = value.get("mode")
    blob = Blob(mode if mode in _MODES else scheme.mode)
    neutral = allows_neutral(scheme, blob.mode)
    for order, step in enumerate(steps):
        if not isinstance(step, dict):
            blob.flags.append(_flag("invalid-reward", f"entry {order} of the steps is no object", scheme))
            continue
        position = step.get("index", order)
        if not isinstance(position, int) or isinstance(position, bool):
            blob.flags.append(_flag("invalid-reward", f"entry {order} has the index {position!r}", scheme))
            continue
        reward = step.get("reward")
        if reward is not None and (isinstance(reward, bool) or reward not in (1, 0, -1)):
            blob.flags.append(_flag("invalid-reward", f"position {position} has the reward {reward!r}", scheme))
            reward = None
        if position in blob.rewards:
            blob.flags.append(_flag("duplicate-step", f"position {position} is there twice", scheme))
        if reward == 0 and not (neutral and step.get("verified") is not False):
            reward = None
        if reward is not None and step.get("source") == "ai" and not step.get("verified"):
            blob.unconfirmed += 1
            reward = None
        blob.rewards[position] = None if reward is None else int(reward)
    return blob


def marks(blob: Blob, steps: StepList) -> list[Reward]:
    """The reward of each rated step, in order."""
    return [blob.rewards.get(position) for position in steps.ratable]


def read_rewards(blob: Blob, steps: StepList, scheme: ProcessReward) -> Reading:
    """The canonical value of a blob; rewards of turns that are not rated are dropped."""
    flags = list(blob.flags)
    # A position that is marked counts; an unmarked one beyond the end is as good as none.
    outside = sorted(
        position for position, reward in blob.rewards.items() if reward is not None and not 0 <= position < steps.total
    )
    if outside:
        message = f"position {outside[0]} is rewarded, and the item has {steps.total} (0 to {steps.total - 1})"
        flags.append(_flag("step-out-of-range", message, scheme))
    rewards = marks(blob, steps)
    if blob.mode != "first_error":
        return Reading(per_step(rewards, scheme).to_json(), flags)
    if all(reward is None for reward in rewards):
        return Reading(None, flags)
    first = rewards.index(-1) if -1 in rewards else None
    if None in rewards:
        message = f"step {rewards.index(None)} is not marked: it is not known whether it is right"
        flags.append(_flag("incomplete-answer", message, scheme))
    elif first is not None and 1 in rewards[first:]:
        message = f"step {first} is the first error, and step {rewards.index(1, first)} after it is marked correct"
        flags.append(_flag("contradictory-rewards", message, scheme))
    else:
        other = sorted(position for position, reward in blob.rewards.items() if reward == -1)
        on_other_turn = bool(other) and 0 <= other[0] < steps.total and other[0] not in steps.ratable
        value = FirstError(first_error_step=first, total_steps=len(rewards))
        return Reading(value.to_json(), flags, on_other_turn)
    return Reading(per_step(rewards, scheme).to_json(), flags)


def per_step(rewards: Sequence[Reward], scheme: ProcessReward) -> PerStep:
    """A per-step answer in which only rewards are known; a label is named where just one has that very score."""
    details = {step: detail for step, reward in enumerate(rewards) if (detail := _detail(reward, scheme)) is not None}
    return PerStep(labels=[None if reward is None else float(reward) for reward in rewards], step_details=details)


def merge(value: PerStep, rewards: Sequence[Reward], scheme: ProcessReward) -> tuple[PerStep, list[int]]:
    """An answer after the page changed it: steps whose reward is another one lose their score and details.

    Returns:
        The answer, and the numbers of those steps.
    """
    neutral = allows_neutral(scheme, "per_step")
    merged, changed = per_step(rewards, scheme), []
    for step, reward in enumerate(rewards):
        if reward_of(value.labels[step], neutral) != reward:
            changed.append(step)
            continue
        merged.labels[step] = value.labels[step]
        merged.step_details.pop(step, None)
        if step in value.step_details:
            merged.step_details[step] = value.step_details[step]
    merged.unknown = value.unknown
    return merged, changed


def write_blob(answer: FirstError | PerStep, steps: StepList, scheme: ProcessReward) -> str:
    """The blob for a value, as Potato's page writes it: each step by the sign of its score, other turns unmarked.

    Potato's page goes by the order of the entries, so there is one for each position of the list.
    """
    mode = "per_step" if isinstance(answer, PerStep) else "first_error"
    neutral = allows_neutral(scheme, mode)
    by_position = dict(zip(steps.ratable, rewards_of(answer, scheme), strict=True))
    entries = []
    for position in range(steps.total):
        reward = by_position.get(position)
        marked = reward is not None
        entries.append(
            {
                "index": position,
                # Where 0 is neutral, the page writes null for an unmarked step.
                "reward": reward if marked or neutral else 0,
                "source": "human" if marked else None,
                "verified": marked,
                "ai_reward": None,
                "ai_reasoning": "",
                "confidence": None,
            }
        )
    return msgspec.json.encode({"steps": entries, "mode": mode}).decode()


def rewards_of(answer: FirstError | PerStep, scheme: ProcessReward) -> list[Reward]:
    """What the page can hold of a value: the sign of each score."""
    if isinstance(answer, FirstError):
        return list(answer.labels)
    neutral = allows_neutral(scheme, "per_step")
    return [reward_of(label, neutral) for label in answer.labels]


def reward_of(score: float | None, neutral: bool) -> Reward:
    """The reward for a score; a score of 0 has one only where the page knows neutral."""
    if score is None or (score == 0 and not neutral):
        return None
    return 1 if score > 0 else -1 if score < 0 else 0


def allows_neutral(scheme: ProcessReward, mode: str) -> bool:
    """Whether a reward of 0 says neutral."""
    return scheme.allow_neutral and mode == "per_step"


def json_of(stored: Any) -> Any:
    """The value in a stored JSON text; anything but a text is the value itself.

    Raises:
        InputError: Not JSON.
    """
    if not isinstance(stored, str):
        return stored
    try:
        return msgspec.json.decode(stored)
    except msgspec.DecodeError as error:
        raise InputError(f"not JSON: {error}") from error


def _detail(reward: Reward, scheme: ProcessReward) -> StepDetail | None:
    names = [label.value for label in scheme.per_step.labels if reward is not None and label.score == reward]
    return StepDetail(label=names[0]) if len(names) == 1 else None


def _flag(code: str, message: str, scheme: ProcessReward) -> Flag:
    return Flag(code=code, message=message, scheme=scheme.name)

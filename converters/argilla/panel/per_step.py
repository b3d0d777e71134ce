"""Scheme process_reward, mode per_step, in the panel: buttons at each step."""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.guidelines import plain
from potato_bridge.converters.argilla.panel.question import PanelQuestion, Said, Seen
from potato_bridge.converters.argilla.panel.rewards import reward_notices
from potato_bridge.converters.rewards import all_required, asks_category, check_total, label_of, steps_are
from potato_bridge.converters.view.text import css_colour, storable
from potato_bridge.errors import InputError
from potato_bridge.model import ProcessReward
from potato_bridge.model.process_reward import PerStep, StepDetail, parse_per_step

_STEPS: Final = "steps"
_LABEL, _ERROR, _NOTES = "label", "error_category", "notes"
#: Keys of labels that have none in the config, while they last.
_DIGITS: Final = "123456789"
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,7}", re.ASCII)


def _settings(scheme: ProcessReward) -> dict[str, Any]:
    options, keys = scheme.per_step, _keys(scheme)
    asked = {label.value for label in asks_category(scheme)}
    return {
        "labels": [
            {
                "value": label.value,
                "display": storable(label.display),
                "color": str(css_colour(label.color)),
                "score": label.score,
                "error_category": label.value in asked,
                "key": keys.get(label.value, ""),
            }
            for label in options.labels
        ],
        "error_categories": list(options.error_categories),
        "require_all_steps": all_required(scheme),
        "allow_notes": options.allow_notes,
        "show_running_score": options.show_running_score,
        "keys": scheme.shortcuts.enabled,
        "next_key": scheme.shortcuts.next_step or "j",
        "prev_key": scheme.shortcuts.prev_step or "k",
    }


def _keys(scheme: ProcessReward) -> dict[str, str]:
    """Label → its key: that of the config, else the number of its place."""
    if not scheme.shortcuts.enabled:
        return {}
    given = {value: key for value, key in scheme.shortcuts.labels.items() if len(key) == 1}
    taken = {*given.values(), scheme.shortcuts.next_step or "j", scheme.shortcuts.prev_step or "k"}
    for label, digit in zip(scheme.per_step.labels, _DIGITS, strict=False):
        if label.value not in given and digit not in taken:
            given[label.value] = digit
    return given


def _guidelines(scheme: ProcessReward) -> list[str]:
    labels = ", ".join(f"“{plain(label.display)}”" for label in scheme.per_step.labels)
    lines = [
        f"Read each step and choose a label: {labels}.",
        "Entries with a dashed border (what the user, the system or a tool said) are shown and not rated.",
    ]
    if asked := asks_category(scheme):
        wording = " or ".join(f"“{plain(label.display)}”" for label in asked)
        lines.append(f"For {wording} you are also asked what kind of error it is.")
    if all_required(scheme):
        lines.append("Every step needs a label before the answer can be submitted.")
    if keys := _keys(scheme):
        shown = ", ".join(
            f"**{plain(keys[lb.value])}** {plain(lb.display)}" for lb in scheme.per_step.labels if lb.value in keys
        )
        after, before = scheme.shortcuts.next_step or "j", scheme.shortcuts.prev_step or "k"
        turns = f"**{plain(after)}** and **{plain(before)}** go from step to step"
        lines.append(f"Keys, after a click into the trace: {shown}; {turns}.")
    return lines


def _read(scheme: ProcessReward, seen: Seen, said: Said, answer: Answer, complete: bool) -> None:
    reader = _Reader(scheme, seen.total_steps, answer)
    if said.panel is not UNSET:
        reader.take(said.panel)
    rated = [label is not None for label in reader.value.labels]
    if any(rated) or reader.value.step_details:
        answer.annotations[scheme.name] = reader.value.to_json()
    if complete and scheme.required and not reader.unreadable:
        missing = [n + 1 for n, is_rated in enumerate(rated) if not is_rated and n not in reader.bad]
        if not any(rated) and not reader.bad:
            answer.flag("missing-required", "the required answer is missing", scheme)
        elif missing and scheme.per_step.require_all_steps:
            answer.flag("missing-required", f"{steps_are(missing)} not rated", scheme)


class _Reader:
    """Reads the steps of one answer; what is no answer stays in `controls`, with a flag.

    Attributes:
        bad: Steps that something was said of which is no label: they are not missing.
        unreadable: Whether nothing of the answer is one.
    """

    def __init__(self, scheme: ProcessReward, total: int, answer: Answer) -> None:
        self.value = PerStep(labels=[None] * total, step_details={})
        self.bad: set[int] = set()
        self.unreadable = False
        self._scheme, self._answer = scheme, answer
        self._labels = {label.value: label for label in scheme.per_step.labels}
        self._asked = {label.value for label in asks_category(scheme)}

    def take(self, raw: Any) -> None:
        steps = raw.get(_STEPS) if isinstance(raw, Mapping) else None
        if not isinstance(steps, Mapping):
            self.unreadable = True
            self._keep(raw, "bad-result", "the steps with their labels were expected")
            return
        for name, found in steps.items():
            number = int(name) if _NUMBER.fullmatch(name) else -1
            if not 0 <= number < len(self.value.labels):
                message = f"step {name!r}" if number < 0 else f"step {number + 1}"
                total = len(self.value.labels)
                self.bad.add(number)
                self._keep({name: found}, "step-out-of-range", f"{message} is not among the {total} steps of the item")
            elif not isinstance(found, Mapping):
                self.bad.add(number)
                self._keep({name: found}, "bad-result", f"step {number + 1}: a label was expected")
            else:
                self._step(number, found)

    def _step(self, step: int, found: Mapping[str, Any]) -> None:
        detail = StepDetail()
        label = found.get(_LABEL)
        if isinstance(label, str) and label in self._labels:
            self.value.labels[step] = float(self._labels[label].score)
            detail.label = label
        elif label is not None:
            self.bad.add(step)
            self._keep(
                {str(step): {_LABEL: label}}, "unknown-label", f"step {step + 1}: {label!r} is none of the labels"
            )
        category = found.get(_ERROR)
        if category is not None and category not in self._scheme.per_step.error_categories:
            message = f"step {step + 1}: {category!r} is none of the error categories"
            self._keep({str(step): {_ERROR: category}}, "unknown-label", message)
        elif category is not None and detail.label not in self._asked:
            message = f"step {step + 1}: an error category, and its label {detail.label!r} has none"
            self._keep({str(step): {_ERROR: category}}, "bad-result", message)
        elif category is not None:
            detail.error_category = category
        notes = found.get(_NOTES)
        if isinstance(notes, str):
            detail.notes = notes or None
        elif notes is not None:
            self._keep({str(step): {_NOTES: notes}}, "bad-result", f"step {step + 1}: notes are no text")
        if unknown := {key: found[key] for key in found.keys() - {_LABEL, _ERROR, _NOTES}}:
            names = ", ".join(sorted(unknown))[:200]
            self._keep({str(step): unknown}, "bad-result", f"step {step + 1}: the panel writes no {names}")
        if detail != StepDetail():
            self.value.step_details[step] = detail

    def _keep(self, raw: Any, code: str, message: str) -> None:
        self._answer.controls.setdefault(self._scheme.name, []).append({"raw": raw})
        self._answer.flag(code, message[:500], self._scheme)


def _write(scheme: ProcessReward, seen: Seen, value: Any) -> Said:
    parsed = parse_per_step(value)
    check_total(value, seen.total_steps)
    steps: dict[str, dict[str, str]] = {}
    for step, score in enumerate(parsed.labels):
        detail = parsed.step_details.get(step, StepDetail())
        label = label_of(scheme, step, score, detail)
        said: dict[str, str] = {_LABEL: label.value} if label is not None else {}
        if detail.error_category is not None:
            if label not in asks_category(scheme) or detail.error_category not in scheme.per_step.error_categories:
                raise InputError(f"step {step + 1}: the error category {detail.error_category!r} cannot be given there")
            said[_ERROR] = detail.error_category
        if detail.notes:
            said[_NOTES] = storable(detail.notes)
        if said:
            steps[str(step)] = said
    return Said({_STEPS: steps}) if steps else Said()


QUESTION: Final = PanelQuestion[ProcessReward](
    widget="per_step",
    description="Rate each step independently",
    settings=_settings,
    notices=reward_notices,
    guidelines=_guidelines,
    shows_steps=lambda _: True,
    keys=frozenset({_STEPS}),
    read=_read,
    write=_write,
)

"""Scheme process_reward, mode first_error, in the panel: a click on the first wrong step."""

from collections.abc import Mapping
from typing import Any, Final, cast

from msgspec import UNSET

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.guidelines import plain
from potato_bridge.converters.argilla.panel.question import PanelQuestion, Said, Seen
from potato_bridge.converters.argilla.panel.rewards import reward_notices
from potato_bridge.converters.rewards import check_total
from potato_bridge.converters.view.text import css_colour, storable
from potato_bridge.model import ProcessReward
from potato_bridge.model.process_reward import FirstError, parse_first_error

_STEP: Final = "first_error_step"


def _settings(scheme: ProcessReward) -> dict[str, Any]:
    options, texts = scheme.first_error, scheme.first_error.labels
    return {
        "colors": {
            "correct": str(css_colour(options.correct_color)),
            "error": str(css_colour(options.error_color)),
            "downstream": str(css_colour(options.downstream_color)),
            "unmarked": str(css_colour(options.unmarked_color)),
        },
        "texts": {
            "correct": storable(texts.correct),
            "first_error": storable(texts.first_error),
            "downstream": storable(texts.downstream),
            "all_correct": storable(texts.all_correct),
        },
        # Potato's own code asks for no confirmation.
        "require_confirmation": scheme.dialect != "code" and options.require_confirmation,
        "allow_no_error": options.allow_no_error,
        "show_step_content": options.show_step_content,
        "keys": scheme.shortcuts.enabled,
        "next_key": scheme.shortcuts.next_step or "j",
        "prev_key": scheme.shortcuts.prev_step or "k",
    }


def _guidelines(scheme: ProcessReward) -> list[str]:
    options = scheme.first_error
    texts = options.labels
    lines = [
        f"Read the steps from the first to the last and click the **first wrong one**. The steps before it count as "
        f"“{plain(texts.correct)}”, it counts as “{plain(texts.first_error)}”, and the steps after it as "
        f"“{plain(texts.downstream)}”.",
    ]
    if options.allow_no_error:
        lines.append(f"If nothing is wrong, click “All steps correct”: “{plain(texts.all_correct)}”.")
    lines.append("Entries with a dashed border (what the user, the system or a tool said) are shown and not rated.")
    if scheme.shortcuts.enabled:
        after, before = scheme.shortcuts.next_step or "j", scheme.shortcuts.prev_step or "k"
        lines.append(
            f"Keys, after a click into the trace: **{plain(after)}** and **{plain(before)}** go from step to step, "
            "**Enter** chooses and confirms, **1** to **9** choose a step"
            + (", **0** all steps correct." if options.allow_no_error else ".")
        )
    return lines


def _read(scheme: ProcessReward, seen: Seen, said: Said, answer: Answer, complete: bool) -> None:
    if said.panel is UNSET:
        if scheme.required and complete:
            answer.flag("missing-required", "the required answer is missing", scheme)
        return
    value, total = said.panel, seen.total_steps
    step = value.get(_STEP, UNSET) if isinstance(value, Mapping) else UNSET
    code, message = "bad-result", ""
    if step is UNSET or (step is not None and (type(step) is not int or step < 0)):
        message = f"the number of a step was expected, from 0, or null where all are correct: {str(value)[:200]!r}"
    elif step is not None and step >= total:
        code, message = "step-out-of-range", f"step {step + 1} is not among the {total} steps of the item"
    elif step is None and total == 0:
        code, message = "step-out-of-range", "the item has no steps"
    if message:
        answer.controls.setdefault(scheme.name, []).append({"raw": value})
        answer.flag(code, message, scheme)
        return
    answer.annotations[scheme.name] = FirstError(first_error_step=cast("int | None", step), total_steps=total).to_json()


def _write(scheme: ProcessReward, seen: Seen, value: Any) -> Said:
    parsed = parse_first_error(value)
    check_total(value, seen.total_steps)
    return Said({_STEP: parsed.first_error_step})


QUESTION: Final = PanelQuestion[ProcessReward](
    widget="first_error",
    description="Click the first step where the agent made a mistake",
    settings=_settings,
    notices=reward_notices,
    guidelines=_guidelines,
    shows_steps=lambda _: True,
    keys=frozenset({_STEP}),
    read=_read,
    write=_write,
)

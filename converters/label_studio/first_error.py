"""Mode first_error: one question over all steps, whose options are the steps."""

from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup, escape

from potato_bridge.converters.answer import Answer, values_of
from potato_bridge.converters.label_studio import fields, templates
from potato_bridge.converters.label_studio.question import Entries, Must, Question, Task
from potato_bridge.converters.label_studio.rewards import reward_notices, steps_then
from potato_bridge.converters.rewards import check_total
from potato_bridge.converters.view.subject import Subject
from potato_bridge.converters.view.text import storable
from potato_bridge.model import ProcessReward
from potato_bridge.model.process_reward import FirstError, parse_first_error

#: What the control of the reward must look like, and why.
_CONTROL_MUST: Final = {
    "toName": (fields.TASK_OBJECT, "results point to it"),
    "choice": ("single-radio", "one step is the first error"),
    "value": (f"${fields.OPTIONS}", "the steps come from each task"),
}


def _variables(scheme: ProcessReward) -> dict[str, Any]:
    or_none = " or “All steps correct”." if scheme.first_error.allow_no_error else "."
    return {"first_error": scheme.first_error, "required_message": f"Choose the first wrong step{or_none}"}


def _musts(scheme: ProcessReward) -> list[Must]:
    return [Must(fields.control_name(scheme), _CONTROL_MUST, required=scheme.required)]


def _notices(scheme: ProcessReward) -> dict[str, tuple[bool, str]]:
    return {
        **reward_notices(scheme),
        "no-confirmation": (
            scheme.dialect != "code" and scheme.first_error.require_confirmation,
            "require_confirmation: Label Studio's free edition cannot ask “Are you sure?”; an answer can be changed "
            "until it is submitted, and after that with Update",
        ),
        "no-shortcuts": (
            scheme.shortcuts.enabled and bool(scheme.shortcuts.next_step or scheme.shortcuts.prev_step),
            "keyboard_shortcuts: Label Studio has no keys for the next and the previous step; Tab and Shift+Tab go "
            f"from step to step, Space chooses, 1 to 9 choose a step and {fields.ALL_CORRECT_KEY} all steps correct "
            "(keys for labels belong to mode per_step)",
        ),
    }


def _instruction(scheme: ProcessReward) -> list[str]:
    options, keys = scheme.first_error, scheme.shortcuts.enabled
    lines = [
        f"Read the steps from the first to the last and click the <b>first wrong one</b>. The steps before it count as "
        f"“{_html(options.labels.correct)}”, it counts as “{_html(options.labels.first_error)}”, and the steps after "
        f"it as “{_html(options.labels.downstream)}”.",
    ]
    if options.allow_no_error:
        lines.append(
            f"If nothing is wrong, click “All steps correct” at the bottom: “{_html(options.labels.all_correct)}”."
        )
    lines.append("Entries with a dashed border (what the user, the system or a tool said) are shown and not rated.")
    lines.append(
        "Another click changes the answer. A click inside a tool call or an output does not: it is for reading."
    )
    if keys:
        also = f", <kbd>{fields.ALL_CORRECT_KEY}</kbd> for all steps correct" if options.allow_no_error else ""
        lines.append(f"Keys: <kbd>1</kbd> to <kbd>9</kbd> choose step 1 to 9{also}.")
    lines.append(
        "<kbd>Tab</kbd> goes from step to step, <kbd>Space</kbd> chooses, <kbd>Ctrl</kbd>+<kbd>Enter</kbd> submits."
    )
    return lines


def _data(scheme: ProcessReward, subject: Subject) -> dict[str, Any]:
    return {fields.OPTIONS: _options(scheme, subject)}


def _options(scheme: ProcessReward, subject: Subject) -> list[dict[str, Any]]:
    """The options of the question: the steps, the entries that are only shown, and "all steps correct"."""
    macros: Any = templates.cards()
    cards, display = subject.cards, subject.display
    keys = scheme.shortcuts.enabled
    options: list[dict[str, Any]] = []
    for position, card in enumerate(cards):
        number = card.number
        key = fields.STEP_KEYS[number] if keys and number is not None and number < len(fields.STEP_KEYS) else ""
        html = macros.option(card, display.show_step_numbers, scheme.first_error.show_step_content, key)
        option: dict[str, Any] = {
            "value": fields.turn_value(position) if number is None else fields.step_value(number),
            "html": storable(str(html)),
            "hotkey": key or fields.no_key(position),
        }
        if number is None:
            # Label Studio disables the radio: neither mouse nor keyboard chooses it.
            option["readonly"] = True
        options.append(option)
    if scheme.first_error.allow_no_error:
        key = fields.ALL_CORRECT_KEY if keys else ""
        html = storable(str(macros.all_correct(key)))
        options.append({"value": fields.ALL_CORRECT, "html": html, "hotkey": key or fields.no_key(len(cards))})
    return options


def total_options(data: Mapping[str, Any]) -> int:
    """How many steps are among the options."""
    options = data.get(fields.OPTIONS)
    if not isinstance(options, list):
        return 0
    values = (option.get("value") for option in options if isinstance(option, Mapping))
    return len({value for value in values if fields.parse_step(value) is not None})


def _owns(scheme: ProcessReward, control: str) -> bool:
    return control == fields.control_name(scheme)


def _read(scheme: ProcessReward, task: Task, entries: Entries, answer: Answer, complete: bool) -> None:
    """Reads the entries of the scheme's control: one entry with one choice is an answer."""
    total = steps_then(task, total_options(task.data))
    if not entries:
        if scheme.required and complete:
            answer.flag("missing-required", "the required answer is missing", scheme)
        return
    choices = [choice for entry in entries for choice in values_of(entry, "choices")]
    step = fields.parse_step(choices[0]) if len(choices) == 1 else None
    code, message = "bad-result", ""
    if len(entries) > 1 or len(choices) != 1:
        message = f"one choice was expected, and {len(choices)} are there in {len(entries)} entries"
    elif step is not None and step >= total:
        code = "step-out-of-range"
        message = f"{choices[0]} (shown as step {step + 1}) is not among the {total} steps of the task"
    elif step is None and choices[0] != fields.ALL_CORRECT:
        code, message = "unknown-label", f"{choices[0]!r} is no step that can be chosen"
    elif step is None and total == 0:
        code, message = "step-out-of-range", "the task has no steps"
    if message:
        answer.controls[str(entries[0]["from_name"])] = entries
        answer.flag(code, message, scheme)
        return
    answer.annotations[scheme.name] = FirstError(first_error_step=step, total_steps=total).to_json()


def _write(scheme: ProcessReward, data: Mapping[str, Any], value: Any) -> Entries:
    step = parse_first_error(value).first_error_step
    check_total(value, total_options(data))
    choice = fields.ALL_CORRECT if step is None else fields.step_value(step)
    return [
        {
            "from_name": fields.control_name(scheme),
            "to_name": fields.TASK_OBJECT,
            "type": "choices",
            "value": {"choices": [choice]},
        }
    ]


def _html(text: str) -> Markup:
    return escape(storable(text))


QUESTION: Final = Question[ProcessReward](
    template=templates.FIRST_ERROR,
    style="first_error.css.j2",
    description="Click the first step where the agent made a mistake",
    variables=_variables,
    notices=_notices,
    instruction=_instruction,
    musts=_musts,
    data=_data,
    subject=lambda _: (fields.OPTIONS,),
    shows_trace=lambda scheme: scheme.first_error.show_step_content,
    owns=_owns,
    read=_read,
    write=_write,
)

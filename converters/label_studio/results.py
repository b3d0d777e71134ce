"""Results ↔ answers. Reading never raises: what cannot be understood is kept as it is, and flagged."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.interface import rated_scheme
from potato_bridge.errors import InputError
from potato_bridge.model import Flag, ProcessReward, Project, Record
from potato_bridge.model.process_reward import FirstError, parse_first_error

#: Key in `controls` of what belongs to no control: entries without a name, or a result that is no list. No control has
#: an empty name. Each is `{"raw": value}`.
UNREADABLE: Final = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one annotation says.

    Attributes:
        annotations: Scheme name → canonical value; empty where nothing valid was answered.
        controls: Control name → its result entries, whole: those of controls that a team added, and those of the
            scheme's control that are no valid answer.
        flags: What is wrong.
    """

    annotations: dict[str, Any] = field(default_factory=dict)
    controls: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)


def read_answer(
    project: Project,
    task: Mapping[str, Any],
    annotation: Mapping[str, Any],
    *,
    controls: Container[str] | None = None,
    complete: bool = True,
) -> Answer:
    """Reads an annotation and checks it against the task that it belongs to.

    Args:
        project: The project.
        task: The task as Label Studio has it: its `data` says which steps there are.
        annotation: The annotation or draft, with its `result`.
        controls: Names of the controls in the label config (`Interface.controls`); None: any name may be a control.
        complete: False for a draft: then a missing answer is no fault. A skip has none anyway.
    """
    scheme, answer = rated_scheme(project), Answer()
    name = fields.control_name(scheme)
    mine: list[dict[str, Any]] = []
    for entry in _entries(annotation.get("result"), answer):
        control = entry.get("from_name")
        if not isinstance(control, str) or not control:
            _unreadable(answer, entry, "a result entry names no control")
        elif control == name:
            mine.append(entry)
        else:
            answer.controls.setdefault(control, []).append(entry)
            if controls is not None and control not in controls:
                _flag(answer, "unknown-control", f"the label config has no control {control!r}", None)
    skipped = bool(annotation.get("was_cancelled"))
    if mine:
        _read_first_error(scheme, task, mine, answer, skipped)
    elif scheme.required and complete and not skipped:
        _flag(answer, "missing-required", "the required answer is missing", scheme)
    return answer


def write_results(project: Project, record: Record, task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The results of a record, as an annotation or prediction of the task takes them; the inverse of `read_answer`.

    Raises:
        InputError: The record's value is none of a first error, or it counts other steps than the task has.
    """
    scheme = rated_scheme(project)
    results: list[dict[str, Any]] = []
    if scheme.name in record.annotations:
        value = parse_first_error(record.annotations[scheme.name])
        total = total_steps(task)
        if value.total_steps != total:
            raise InputError(
                f"record {record.id}: its {scheme.name} counts {value.total_steps} steps, and the task has {total}",
                hint="The item changed after it was annotated.",
            )
        step = value.first_error_step
        choice = fields.ALL_CORRECT if step is None else fields.step_value(step)
        results.append(
            {
                "from_name": fields.control_name(scheme),
                "to_name": fields.TASK_OBJECT,
                "type": "choices",
                "value": {"choices": [choice]},
            }
        )
    for control, entries in record.controls.items():
        if control != UNREADABLE:
            results += entries
    return results


def total_steps(task: Mapping[str, Any]) -> int:
    """How many steps can be chosen in a task, counted in its own data."""
    data = task.get("data")
    options = data.get(fields.OPTIONS) if isinstance(data, Mapping) else None
    if not isinstance(options, list):
        return 0
    values = (option.get("value") for option in options if isinstance(option, Mapping))
    return len({value for value in values if fields.parse_step(value) is not None})


def _entries(result: Any, answer: Answer) -> list[dict[str, Any]]:
    if not isinstance(result, list):
        if result is not None:
            _unreadable(answer, result, f"the result is no list but {type(result).__name__}")
        else:
            _flag(answer, "bad-result", "the annotation has no result", None)
        return []
    entries = []
    for entry in result:
        if isinstance(entry, dict):
            entries.append(entry)
        else:
            _unreadable(answer, entry, f"a result entry is no object but {type(entry).__name__}")
    return entries


def _read_first_error(
    scheme: ProcessReward, task: Mapping[str, Any], entries: list[dict[str, Any]], answer: Answer, skipped: bool
) -> None:
    """Reads the entries of the scheme's control: one entry with one choice is an answer."""
    total = total_steps(task)
    choices = [choice for entry in entries for choice in _choices(entry)]
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
        _flag(answer, code, message, scheme)
        return
    answer.annotations[scheme.name] = FirstError(first_error_step=step, total_steps=total).to_json()


def _choices(entry: dict[str, Any]) -> list[Any]:
    value = entry.get("value")
    choices = value.get("choices") if isinstance(value, dict) else None
    return choices if isinstance(choices, list) else []


def _unreadable(answer: Answer, raw: Any, message: str) -> None:
    answer.controls.setdefault(UNREADABLE, []).append({"raw": raw})
    _flag(answer, "bad-result", message, None)


def _flag(answer: Answer, code: str, message: str, scheme: ProcessReward | None) -> None:
    answer.flags.append(Flag(code=code, message=message, scheme=scheme.name if scheme else None))

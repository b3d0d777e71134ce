"""Results ↔ values of `trajectory_eval`.

Pages are numbered like the steps on them, from 1; a value has the position of a step in the item's list. The task's
data says which is which.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from potato_bridge.converters.answer import Answer, values_of
from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.general_parts import stored
from potato_bridge.converters.label_studio.question import Entries, Task
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.trajectory_eval import (
    Judgement,
    Judgements,
    TrajectoryEval,
    parse_trajectory_eval,
)

CORRECTNESS, ERROR, SEVERITY, RATIONALE = "correctness", "error", "severity", "rationale"
#: In the order in which they are read: whether the others can be there depends on the first.
PARTS: Final = (CORRECTNESS, ERROR, SEVERITY, RATIONALE)
_NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,8})", re.ASCII)


def control(scheme: TrajectoryEval, part: str, number: int | str) -> str:
    """The name of a control of a page; `number` may be the index flag."""
    return f"{fields.control_name(scheme)}_{part}_{number}"


def place_of(scheme: TrajectoryEval, name: str) -> tuple[str, int] | None:
    """Part and page of a control; None if it is not on a page of the scheme."""
    prefix = f"{fields.control_name(scheme)}_"
    part, _, number = name.removeprefix(prefix).rpartition("_")
    if not name.startswith(prefix) or part not in PARTS or not _NUMBER.fullmatch(number):
        return None
    return part, int(number)


def helpers(scheme: TrajectoryEval) -> tuple[str, str]:
    """The controls that ask nothing: one hides the questions of the first page, the other takes hotkeys."""
    name = fields.control_name(scheme)
    return f"{name}_numbering", f"{name}_spare"


def key(scheme: TrajectoryEval) -> str:
    """Key of the task data with the pages."""
    return fields.data_key(scheme, "pages")


def error_text(kind: str, subtype: str) -> str:
    """An error type as it is shown and chosen."""
    return f"{kind} › {subtype}" if subtype else kind


def positions(scheme: TrajectoryEval, data: Mapping[str, Any]) -> list[int]:
    """The position in the item's list of each step that is asked for."""
    pages = data.get(key(scheme))
    found = [page.get("step_index") for page in pages if isinstance(page, Mapping)] if isinstance(pages, list) else []
    return [position for position in found if isinstance(position, int)]


def about(scheme: TrajectoryEval, data: Mapping[str, Any]) -> list[int] | None:
    """What is needed to read an answer when the item has changed."""
    return positions(scheme, data) or None


def _then(scheme: TrajectoryEval, task: Task) -> list[int]:
    noted = task.revision.get("about") if task.revision is not None else None
    found = noted.get(scheme.name) if isinstance(noted, Mapping) else None
    if isinstance(found, list):
        return [position for position in found if isinstance(position, int)]
    return positions(scheme, task.data)


def read(scheme: TrajectoryEval, task: Task, entries: Entries, answer: Answer, complete: bool) -> None:
    """Reads the entries of the scheme's controls; what is no answer stays in `controls`, with a flag."""
    found: dict[str, Entries] = {}
    for entry in entries:
        found.setdefault(str(entry["from_name"]), []).append(entry)
    for name in helpers(scheme):
        found.pop(name, None)
    reader = _Reader(scheme, _then(scheme, task), answer)
    order = {part: at for at, part in enumerate(PARTS)}
    for name, own in sorted(found.items(), key=lambda pair: order[(place_of(scheme, pair[0]) or PARTS)[0]]):
        reader.read(name, own)
    said = [judgement for judgement in reader.steps if judgement.says_something]
    if said:
        answer.annotations[scheme.name] = Judgements(steps=said).to_json(scheme, reader.asked)
    if complete and scheme.required:
        reader.miss(bool(said))


class _Reader:
    def __init__(self, scheme: TrajectoryEval, asked: list[int], answer: Answer) -> None:
        self.asked = asked
        self.steps = [Judgement(step_index=position) for position in asked]
        self._scheme, self._answer = scheme, answer
        self._bad: set[int] = set()
        self._options = {stored(option): option for option in scheme.correctness_options}
        self._errors = {stored(error_text(*error)): error for error in scheme.errors}
        self._severities = {stored(severity.name): severity.name for severity in scheme.severities}

    def read(self, name: str, entries: Entries) -> None:
        part, number = place_of(self._scheme, name) or (CORRECTNESS, 0)
        texts = [text for entry in entries for text in values_of(entry, "text" if part == RATIONALE else "choices")]
        problem: tuple[str, str] | None
        if not 1 <= number <= len(self.steps):
            problem = "step-out-of-range", f"step {number} is not among the {len(self.steps)} steps of the task"
        elif len(entries) != 1 or len(texts) != 1 or not isinstance(texts[0], str):
            message = f"one {part} was expected, and {len(texts)} are there in {len(entries)} entries"
            problem = "bad-result", f"step {number}: {message}"
        else:
            problem = self._take(part, self.steps[number - 1], number, texts[0])
        if problem:
            self._answer.controls[name] = entries
            self._answer.flag(*problem, self._scheme)
            self._bad.add(number)

    def _take(self, part: str, judgement: Judgement, number: int, text: str) -> tuple[str, str] | None:
        if not text and part == RATIONALE:
            # A box that was cleared comes back empty.
            return None
        if part != CORRECTNESS and not judgement.is_wrong:
            return "bad-result", f"step {number}: a {part}, and it is not called wrong ({judgement.correctness!r})"
        if part == RATIONALE:
            judgement.rationale = text
        elif part == ERROR and text in self._errors:
            judgement.error_type, judgement.error_subtype = self._errors[text]
        elif part == SEVERITY and text in self._severities:
            judgement.severity = self._severities[text]
        elif part == CORRECTNESS and text in self._options:
            judgement.correctness = self._options[text]
        else:
            return "unknown-label", f"step {number}: {text!r} is none of the options of {part}"
        return None

    def miss(self, answered: bool) -> None:
        """Flags what is missing of a required answer."""
        if not answered and not self._bad:
            self._answer.flag("missing-required", "the required answer is missing", self._scheme)
            return
        steps = [(n, judgement) for n, judgement in enumerate(self.steps, 1) if n not in self._bad]
        unjudged = [n for n, judgement in steps if judgement.correctness is None]
        without = [n for n, judgement in steps if judgement.is_wrong and not judgement.severity]
        if unjudged:
            self._answer.flag("missing-required", f"not judged: {_steps(unjudged)}", self._scheme)
        if without and self._scheme.severities:
            self._answer.flag("missing-required", f"wrong, without a severity: {_steps(without)}", self._scheme)


def _steps(numbers: list[int]) -> str:
    more = f" and {len(numbers) - 10} more" if len(numbers) > 10 else ""
    return f"step{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers[:10]))}{more}"


def write(scheme: TrajectoryEval, data: Mapping[str, Any], value: Any) -> Entries:
    """The inverse of `read`.

    Raises:
        InputError: It is no such value, or does not fit the scheme or the task.
    """
    answer = parse_trajectory_eval(value)
    numbers = {position: number for number, position in enumerate(positions(scheme, data), 1)}
    results = preset(scheme)
    for judgement in sorted(answer.steps, key=lambda judgement: judgement.step_index):
        if not judgement.says_something:
            continue
        number = numbers.get(judgement.step_index)
        if number is None:
            raise InputError(
                f"it judges the entry {judgement.step_index}, and annotators are not asked for it",
                hint="The item changed after it was annotated, or the entry is no turn of the agent.",
            )
        _check(scheme, judgement, number)
        results.append(_entry(control(scheme, CORRECTNESS, number), "choices", stored(judgement.correctness or "")))
        if judgement.error_type:
            text = error_text(judgement.error_type, judgement.error_subtype)
            results.append(_entry(control(scheme, ERROR, number), "choices", stored(text)))
        if judgement.severity:
            results.append(_entry(control(scheme, SEVERITY, number), "choices", stored(judgement.severity)))
        if judgement.rationale:
            results.append(_entry(control(scheme, RATIONALE, number), "text", storable(judgement.rationale)))
    return results


def preset(scheme: TrajectoryEval) -> Entries:
    """What the page chooses by itself."""
    return [_entry(helpers(scheme)[0], "choices", "0")]


def _check(scheme: TrajectoryEval, judgement: Judgement, number: int) -> None:
    details = judgement.error_type or judgement.severity or judgement.rationale
    if details and not judgement.is_wrong:
        raise InputError(f"step {number}: an error is described, and the step is not called wrong")
    error = (judgement.error_type, judgement.error_subtype)
    if judgement.correctness not in scheme.correctness_options:
        raise InputError(f"step {number}: {judgement.correctness!r} is none of the correctness options")
    if error != ("", "") and error not in scheme.errors:
        raise InputError(f"step {number}: {error_text(*error)!r} is none of the error types")
    if judgement.severity and all(judgement.severity != severity.name for severity in scheme.severities):
        raise InputError(f"step {number}: {judgement.severity!r} is none of the severities")


def _entry(name: str, kind: str, text: str) -> dict[str, Any]:
    return {
        "from_name": name,
        "to_name": fields.TASK_OBJECT,
        "type": "textarea" if kind == "text" else "choices",
        "value": {kind: [text]},
    }

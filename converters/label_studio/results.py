"""Results ↔ answers. Reading never raises: what cannot be understood is kept as it is, and flagged."""

from collections.abc import Container, Mapping
from typing import Any

from potato_bridge.converters.answer import UNREADABLE, Answer
from potato_bridge.converters.label_studio.question import Entries, Task
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.errors import InputError
from potato_bridge.model import Project, Record

__all__ = ["UNREADABLE", "Answer", "read_answer", "write_results"]


def read_answer(
    project: Project,
    task: Mapping[str, Any],
    annotation: Mapping[str, Any],
    *,
    controls: Container[str] | None = None,
    complete: bool = True,
    revision: Mapping[str, Any] | None = None,
) -> Answer:
    """Reads an annotation and checks it against the task that it belongs to.

    Args:
        project: The project.
        task: The task as Label Studio has it: its `data` says which steps there are.
        annotation: The annotation or draft, with its `result`.
        controls: Names of the controls in the label config (`Interface.controls`); None: any name may be a control.
        complete: False for a draft: then a missing answer is no fault. A skip has none anyway.
        revision: What push noted of the earlier state that was answered; None: it is the one that the task has now.
    """
    schemes, answer = asked(project), Answer()
    mine: dict[str, Entries] = {}
    for entry in _entries(annotation.get("result"), answer):
        control = entry.get("from_name")
        if not isinstance(control, str) or not control:
            answer.unreadable(entry, "a result entry names no control")
            continue
        owner = next((scheme for scheme, question in schemes if question.owns(scheme, control)), None)
        if owner is not None:
            mine.setdefault(owner.name, []).append(entry)
        else:
            answer.controls.setdefault(control, []).append(entry)
            if controls is not None and control not in controls:
                answer.flag("unknown-control", f"the label config has no control {control!r}")
    complete = complete and not annotation.get("was_cancelled")
    seen = Task(_data(task), revision)
    for scheme, question in schemes:
        question.read(scheme, seen, mine.get(scheme.name, []), answer, complete)
    return answer


def write_results(project: Project, record: Record, task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The results of a record, as an annotation or prediction of the task takes them; the inverse of `read_answer`.

    Raises:
        InputError: A value is none of its scheme, or does not fit the task.
    """
    results: list[dict[str, Any]] = []
    for scheme, question in asked(project):
        if scheme.name in record.annotations:
            try:
                results += question.write(scheme, _data(task), record.annotations[scheme.name])
            except InputError as error:
                raise InputError(f"record {record.id}, {scheme.name}: {error.message}", hint=error.hint) from error
    for control, entries in record.controls.items():
        if control != UNREADABLE:
            results += entries
    return results


def _data(task: Mapping[str, Any]) -> Mapping[str, Any]:
    data = task.get("data")
    return data if isinstance(data, Mapping) else {}


def _entries(result: Any, answer: Answer) -> list[dict[str, Any]]:
    if not isinstance(result, list):
        if result is not None:
            answer.unreadable(result, f"the result is no list but {type(result).__name__}")
        else:
            answer.flag("bad-result", "the annotation has no result")
        return []
    entries = []
    for entry in result:
        if isinstance(entry, dict):
            entries.append(entry)
        else:
            answer.unreadable(entry, f"a result entry is no object but {type(entry).__name__}")
    return entries

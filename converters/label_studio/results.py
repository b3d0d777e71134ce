"""Results ↔ answers. Reading never raises: what cannot be understood is kept as it is, and flagged."""

from collections.abc import Container, Mapping
from typing import Any

from potato_bridge.converters.label_studio.answers import UNREADABLE, Answer
from potato_bridge.converters.label_studio.interface import rated_scheme
from potato_bridge.converters.label_studio.modes import mode_of
from potato_bridge.errors import InputError
from potato_bridge.model import Project, Record

__all__ = ["UNREADABLE", "Answer", "read_answer", "total_steps", "write_results"]


def read_answer(
    project: Project,
    task: Mapping[str, Any],
    annotation: Mapping[str, Any],
    *,
    controls: Container[str] | None = None,
    complete: bool = True,
    total: int | None = None,
) -> Answer:
    """Reads an annotation and checks it against the task that it belongs to.

    Args:
        project: The project.
        task: The task as Label Studio has it: its `data` says which steps there are.
        annotation: The annotation or draft, with its `result`.
        controls: Names of the controls in the label config (`Interface.controls`); None: any name may be a control.
        complete: False for a draft: then a missing answer is no fault. A skip has none anyway.
        total: How many steps the task had when the answer was given; None: as many as it has now.
    """
    scheme, answer = rated_scheme(project), Answer()
    mode = mode_of(scheme)
    mine: list[dict[str, Any]] = []
    for entry in _entries(annotation.get("result"), answer):
        control = entry.get("from_name")
        if not isinstance(control, str) or not control:
            answer.unreadable(entry, "a result entry names no control")
        elif mode.owns(scheme, control):
            mine.append(entry)
        else:
            answer.controls.setdefault(control, []).append(entry)
            if controls is not None and control not in controls:
                answer.flag("unknown-control", f"the label config has no control {control!r}")
    skipped = bool(annotation.get("was_cancelled"))
    total = total_steps(project, task) if total is None else total
    mode.read(scheme, total, mine, answer, complete and not skipped)
    return answer


def write_results(project: Project, record: Record, task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The results of a record, as an annotation or prediction of the task takes them; the inverse of `read_answer`.

    Raises:
        InputError: The record's value is none of the scheme's mode, or it counts other steps than the task has.
    """
    scheme = rated_scheme(project)
    results: list[dict[str, Any]] = []
    if scheme.name in record.annotations:
        value, total = record.annotations[scheme.name], total_steps(project, task)
        written = mode_of(scheme).write(scheme, total, value)
        if value["total_steps"] != total:
            raise InputError(
                f"record {record.id}: its {scheme.name} counts {value['total_steps']} steps, and the task has {total}",
                hint="The item changed after it was annotated.",
            )
        results += written
    for control, entries in record.controls.items():
        if control != UNREADABLE:
            results += entries
    return results


def total_steps(project: Project, task: Mapping[str, Any]) -> int:
    """How many steps can be rated in a task, counted in its own data."""
    data = task.get("data")
    return mode_of(rated_scheme(project)).total_steps(data) if isinstance(data, Mapping) else 0


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

"""What stands on the server, as the plan needs it: one row per task, without its data."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from potato_bridge.converters.fingerprint import PRELABELS_HASH
from potato_bridge.converters.label_studio.fields import MARKER, META
from potato_bridge.converters.label_studio.tasks import steps_hash
from potato_bridge.model import Project
from potato_bridge.remotes.base import RemoteTask
from potato_bridge.remotes.label_studio import LabelStudio, where

#: The fields of a row; `data` is not among them, it may be a megabyte per task.
LIGHT = ("meta", "updated_at", "total_annotations", "cancelled_annotations")
_SECOND_LOOK = 200


def bridge_meta(task: Mapping[str, Any]) -> dict[str, Any]:
    """Our part of a task's meta; empty where the task has none."""
    meta = task.get("meta")
    part = meta.get(META) if isinstance(meta, dict) else None
    return part if isinstance(part, dict) else {}


def marker_of(task: Mapping[str, Any]) -> str | None:
    """The id of our item that a task shows, by its data or, in a light listing, by its meta."""
    data = task.get("data")
    marker = data.get(MARKER) if isinstance(data, dict) else bridge_meta(task).get("id")
    return marker if isinstance(marker, str) else None


def list_tasks(
    remote: LabelStudio, project_id: int, *, after: int = 0, project: Project | None = None
) -> Iterator[RemoteTask]:
    """All tasks of a project (those with an id greater than `after`), in the order of their ids, one listing pass.

    A task without our meta is looked at again, with its data: a team may have copied it by export and import, which
    keep the marker in the data but not always the meta. With `project`, its steps are known then, so that answers to
    them stay theirs.
    """
    bare: list[RemoteTask] = []
    emptied: set[int] | None = None
    for row in remote.tasks(project_id, LIGHT, after=after):
        task = _task(row)
        if task.prelabels_hash is not None:
            # A team can delete predictions in the list of tasks.
            emptied = _without_predictions(remote, project_id) if emptied is None else emptied
            task = replace(task, prelabels_hash=None) if task.task_id in emptied else task
        if task.marker is not None:
            yield task
            continue
        bare.append(task)
        if len(bare) == _SECOND_LOOK:
            yield from _again(remote, project_id, bare, project)
            bare.clear()
    yield from _again(remote, project_id, bare, project)


def _without_predictions(remote: LabelStudio, project_id: int) -> set[int]:
    """The tasks that have none; `total_predictions` does not tell.

    Once somebody has deleted a project, Label Studio 1.23 takes no deleted prediction off that number any more, until
    it is started again.
    """
    none = [where("predictions_model_versions", "empty", True, "List")]
    return {row["id"] for row in remote.tasks(project_id, (), conditions=none)}


def _again(
    remote: LabelStudio, project_id: int, bare: list[RemoteTask], project: Project | None
) -> Iterator[RemoteTask]:
    if not bare:
        return
    # The condition spares us the data of tasks that are certainly foreign.
    marked = [where(f"data.{MARKER}", "empty", False, "String")]
    ids = [int(task.task_id) for task in bare]
    found = {
        row["id"]: (marker_of(row), steps_hash(project, row["data"]) if project else None)
        for row in remote.tasks(project_id, ("data",), conditions=marked, ids=ids)
    }
    for task in bare:
        marker, steps = found.get(task.task_id, (None, None))
        yield RemoteTask(task.task_id, marker, None, steps, task.updated_at, task.answers)


def _task(row: Mapping[str, Any]) -> RemoteTask:
    ours = bridge_meta(row)
    return RemoteTask(
        task_id=row["id"],
        marker=marker_of(row),
        hash=_text(ours.get("hash")),
        steps_hash=_text(ours.get("steps_hash")),
        updated_at=row.get("updated_at") or "",
        answers=(row.get("total_annotations") or 0) + (row.get("cancelled_annotations") or 0),
        prelabels_hash=_text(ours.get(PRELABELS_HASH)),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def missing_markers(markers: Iterable[str], tasks: Iterable[RemoteTask]) -> set[str]:
    """Those of the markers that no task has."""
    return set(markers).difference(task.marker for task in tasks if task.marker is not None)

"""The plan is a pure function: what is here, what is there, what would be done."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.remotes.base import RemoteTask
from potato_bridge.sync.plan import CreateProject, LocalItem, MarkProject, UpdateInstruction, UpdateInterface, plan
from tests.strategies import DETERMINISTIC


def task(number: int, marker: str | None, hash: str | None = "h", answers: int = 0) -> RemoteTask:
    return RemoteTask(number, marker, hash, f"s{hash}", "2026-01-01T00:00:00Z", answers)


def item(item_id: str, hash: str = "h") -> LocalItem:
    return LocalItem(item_id, hash, f"s{hash}")


def test_each_kind_of_operation() -> None:
    items = [item("new-2"), item("same"), item("changed", "h2"), item("twice"), item("new-1")]
    tasks = [
        task(1, "same"),
        task(2, "changed", "h1", answers=2),
        task(3, "twice"),
        task(4, None),
        task(5, "gone", answers=1),
        task(6, "twice", answers=1),
        task(7, None),
        task(8, "gone"),
    ]
    result = plan(items, tasks)
    assert [operation.to_json() for operation in result.operations] == [
        {"op": "create", "item_id": "new-2"},
        {"op": "create", "item_id": "new-1"},
        {"op": "update", "item_id": "changed", "task_id": 2, "answers": 2, "steps_changed": True},
        {"op": "duplicate", "item_id": "twice", "task_id": 3, "used_task_id": 6, "answers": 0},
        {"op": "orphan", "item_id": "gone", "task_id": 5, "answers": 1},
        {"op": "orphan", "item_id": "gone", "task_id": 8, "answers": 0},
        {"op": "foreign", "tasks": 2},
    ]
    assert result.unchanged == 2
    assert result.describe() == "add 2 item(s), update 1, 2 unchanged"
    assert [operation.changes for operation in result.operations] == [True] * 3 + [False] * 4


def test_only_the_text_changed() -> None:
    (update,) = plan([LocalItem("a", "h2", "s")], [RemoteTask(1, "a", "h1", "s", "", 3)]).updates
    assert not update.steps_changed
    assert update.describe() == "update a (task 1): changed"


def test_a_task_without_hash_is_updated() -> None:
    assert [u.task_id for u in plan([item("a")], [RemoteTask(7, "a", None, None, "", 0)]).updates] == [7]


def test_project_operations_come_first() -> None:
    result = plan([item("a")], [])
    result.project = [UpdateInterface(3), UpdateInstruction(3), MarkProject(3), CreateProject("x")]
    assert [operation.kind for operation in result.operations] == [
        "update-interface",
        "update-instruction",
        "mark-project",
        "create-project",
        "create",
    ]
    for operation in result.operations:
        assert operation.describe()
        json.dumps(operation.to_json())


def test_nothing_to_do() -> None:
    result = plan([item("a")], [task(1, "a"), task(2, None), task(3, "b")])
    assert not result.changes
    assert result.describe() == "nothing to do: 1 item(s) are up to date"


ids = st.sampled_from(["a", "b", "c", "d", "e"])
hashes = st.sampled_from(["1", "2"])
local_items = st.lists(st.builds(item, ids, hashes), unique_by=lambda found: found.item_id)
remote_tasks = st.lists(
    st.builds(task, st.integers(1, 50), ids | st.none(), hashes | st.none(), st.integers(0, 2)),
    unique_by=lambda found: found.task_id,
    max_size=12,
)


@DETERMINISTIC
@given(local_items, remote_tasks)
def test_everything_is_accounted_for(items: list[LocalItem], tasks: list[RemoteTask]) -> None:
    result = plan(items, tasks)
    assert len(items) == len(result.creates) + len(result.updates) + result.unchanged
    used = len(result.updates) + result.unchanged
    assert len(tasks) == used + len(result.duplicates) + len(result.orphans) + result.foreign
    touched = Counter(op.task_id for op in [*result.updates, *result.duplicates, *result.orphans])
    assert not touched or max(touched.values()) == 1
    assert plan(items, reversed(tasks)).to_json() == result.to_json()


@DETERMINISTIC
@given(local_items, remote_tasks)
def test_carrying_it_out_leaves_nothing_to_do(items: list[LocalItem], tasks: list[RemoteTask]) -> None:
    result = plan(items, tasks)
    by_id = {found.item_id: found for found in items}
    updated = {update.task_id: by_id[update.item_id] for update in result.updates}
    after = [
        RemoteTask(t.task_id, t.marker, updated[t.task_id].hash, updated[t.task_id].steps_hash, "", t.answers)
        if t.task_id in updated
        else t
        for t in tasks
    ]
    after += [
        RemoteTask(100 + n, create.item_id, by_id[create.item_id].hash, by_id[create.item_id].steps_hash, "", 0)
        for n, create in enumerate(result.creates)
    ]
    again = plan(items, after)
    assert not again.changes
    assert again.duplicates == result.duplicates

"""A pull of everything: which tasks are downloaded, and that nothing is overlooked while it runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from potato_bridge.remotes import label_studio
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio import reading
from tests.sync.world import World


def listed(world: World) -> list[str]:
    """The fields by which tasks were listed, page by page; a look at one task is no listing."""
    fields = []
    for _, path in world.transport.requests:
        params = httpx.URL(path).params
        if params.get("page_size", "1") != "1":
            conditions = json.loads(params["query"])["filters"]["items"]
            fields.append(" ".join(condition["filter"].removeprefix("filter:tasks:") for condition in conditions))
    return fields


def first_errors(world: World) -> dict[str, Any]:
    return {record.id: record.annotations["process_reward"]["first_error_step"] for record in world.records()}


def test_where_nearly_all_are_answered_none_is_listed(world: World) -> None:
    world.push()
    for number in (0, 1, 2, 3, 5, 6, 7, 8):
        world.annotate(f"trace_{number}", f"step_{number % 4}")
    world.annotate("trace_4", "step_0", was_cancelled=True)
    world.annotate("trace_9", "step_1", was_cancelled=True)
    report = world.pull()
    assert (report.mode, report.new, report.submitted, report.skipped, report.difference) == ("full", 10, 8, 2, 0)
    assert listed(world) == ["total_annotations cancelled_annotations id"]
    # What was skipped within the range came with it; the last one stands outside.
    assert world.transport.exported() == [world.task_id(f"trace_{number}") for number in range(10)]
    assert first_errors(world) == {f"trace_{number}": 0 if number == 4 else number % 4 for number in range(10)}
    assert world.pull().tasks == 0


def test_where_few_are_answered_only_those_are_downloaded(world: World) -> None:
    world.push()
    for number in (0, 9):
        world.annotate(f"trace_{number}", "step_1")
    assert world.pull().new == 2
    assert world.transport.exported() == [world.task_id("trace_0"), world.task_id("trace_9")]


def test_a_server_that_does_not_heed_the_order(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.push()
    for number in range(10):
        world.annotate(f"trace_{number}", "step_1")
    first_task = LabelStudio.first_task
    monkeypatch.setattr(
        LabelStudio,
        "first_task",
        lambda self, project, order, conditions=(): first_task(self, project, "id", conditions),
    )
    report = world.pull()
    assert (report.new, report.difference) == (10, 0)
    assert listed(world)[0] == "total_annotations id"
    assert world.pull().describe() == "nothing new; 10 submitted, 0 skipped on the server"


@pytest.mark.parametrize("answered", [(0, 1), (0, 9)], ids=["dense", "listed"])
def test_what_changes_after_its_turn_comes_with_the_next_pull(
    world: World, monkeypatch: pytest.MonkeyPatch, answered: tuple[int, int]
) -> None:
    monkeypatch.setattr(label_studio, "_EXPORT_FIRST", 1)
    monkeypatch.setattr(label_studio, "_EXPORT_IDS", 1)
    # As if the download took longer than what is listed again.
    monkeypatch.setattr(reading, "_OVERLAP", 0.0)
    world.push()
    early, late = (f"trace_{number}" for number in answered)
    first, second = world.annotate(early, "step_0"), world.annotate(late, "step_0")
    export = LabelStudio.export

    def meanwhile(self: LabelStudio, project_id: int, ids: Any) -> Iterator[dict[str, Any]]:
        for number, task in enumerate(export(self, project_id, ids)):
            yield task
            if number == 0:
                # The early one is read; the late one will be, with a newer time.
                world.change_answer(first, "step_2")
                world.change_answer(second, "step_3")

    with monkeypatch.context() as patched:
        patched.setattr(LabelStudio, "export", meanwhile)
        assert world.pull().difference == 0
    assert first_errors(world) == {early: 0, late: 3}
    assert world.pull().changed == 1
    assert first_errors(world) == {early: 2, late: 3}

"""Pre-labels on a real server: they arrive once, are changed in place, and the records say what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from potato_bridge.converters.label_studio.prefill import add_predictions
from potato_bridge.converters.label_studio.prelabels import prediction
from potato_bridge.errors import OutcomeUnknownError
from potato_bridge.model import Prelabel
from potato_bridge.model.process_reward import FirstError
from potato_bridge.notices import Notices
from potato_bridge.remotes.label_studio import LabelStudio
from tests.sync.fault_proxy import fault_proxy
from tests.sync.world import CONTROL, World, choice


class Prelabelled(World):
    """`prelabels` maps an item to model → its first wrong step."""

    prelabels: dict[str, dict[str, int | None]]

    def tasks(self, notices: Notices) -> Iterator[dict[str, Any]]:
        for task in super().tasks(notices):
            ours = task["meta"]["potato_bridge"]
            made = [
                Prelabel(item=ours["id"], annotations=value(step, ours["total_steps"]), model_version=model)
                for model, step in self.prelabels.get(ours["id"], {}).items()
            ]
            add_predictions(task, [prediction(self.project, one, task) for one in made])
            yield task

    def predictions(self, item_id: str) -> list[tuple[str, str]]:
        """(model, choice) of each prediction of an item, oldest first."""
        rows = self.server.http.get("/api/predictions/", params={"task": self.task_id(item_id)}).json()
        found = sorted(rows, key=lambda row: row["id"])
        return [(row["model_version"], row["result"][0]["value"]["choices"][0]) for row in found]

    def settings(self) -> tuple[bool, str]:
        found = self.server.http.get(f"/api/projects/{self.project_id}/").json()
        return found["show_collab_predictions"], found["model_version"]

    def configure(self, **fields: Any) -> None:
        self.server.http.patch(f"/api/projects/{self.project_id}/", json=fields).raise_for_status()


def value(step: int | None, total: int = 4) -> dict[str, Any]:
    return {CONTROL: FirstError(first_error_step=step, total_steps=total).to_json()}


@pytest.fixture
def world(label_studio, tmp_path, request) -> Iterator[Prelabelled]:
    world = Prelabelled(label_studio, tmp_path, name=request.node.name)
    world.items = {f"trace_{n}": world.items[f"trace_{n}"] for n in range(4)}
    world.prelabels = {"trace_0": {"m": 1}, "trace_1": {"m": None}}
    yield world
    world.close()


def operations(report) -> list[str]:
    return [operation.kind for operation in report.plan.operations]


def test_they_come_with_the_tasks_and_a_second_push_does_nothing(world: Prelabelled) -> None:
    assert operations(world.push(dry_run=True)) == ["create-project", *["create"] * 4]
    world.push()
    assert world.predictions("trace_0") == [("m", "step_1")]
    assert world.predictions("trace_1") == [("m", "all_correct")]
    assert world.predictions("trace_2") == []
    assert world.settings() == (True, "m")
    again = world.push()
    assert (operations(again), world.transport.writes()) == ([], [])
    assert world.codes() == set()


def test_a_changed_one_takes_the_place_of_the_old_and_of_no_other(world: Prelabelled) -> None:
    world.push()
    theirs = {"task": world.task_id("trace_0"), "model_version": "m", "result": choice("step_3")}
    world.server.http.post("/api/predictions/", json=theirs).raise_for_status()
    world.prelabels = {"trace_0": {"m": 2}, "trace_1": {"m": None}, "trace_2": {"m": 0}}
    planned = world.push(dry_run=True)
    assert [operation.to_json() for operation in planned.plan.operations] == [
        {"op": "update-prelabels", "item_id": "trace_0", "task_id": world.task_id("trace_0")},
        {"op": "update-prelabels", "item_id": "trace_2", "task_id": world.task_id("trace_2")},
    ]
    assert planned.plan.unchanged == 2
    done = world.push()
    assert done.describe() == "0 added, 0 updated, 2 unchanged, 2 with changed pre-labels"
    assert world.predictions("trace_0") == [("m", "step_2"), ("m", "step_3")]
    assert world.predictions("trace_2") == [("m", "step_0")]
    assert operations(world.push()) == []


def test_a_changed_item_keeps_its_old_ones_until_they_are_sent(world: Prelabelled) -> None:
    world.push()
    world.items["trace_0"] = ("Fix bug 0", ["other", "steps"])
    world.prelabels["trace_0"] = {"m": 0}
    assert operations(world.push()) == ["update", "update-prelabels"]
    assert world.predictions("trace_0") == [("m", "step_0")]
    assert operations(world.push()) == []
    # Without pre-labels here, those there stay, and the next push with them knows.
    world.items["trace_0"] = ("Fix bug 0", ["three", "other", "steps"])
    given, world.prelabels = world.prelabels, {}
    assert operations(world.push()) == ["update"]
    assert world.predictions("trace_0") == [("m", "step_0")]
    assert [notice.where for notice in world.notices if notice.code == "prelabel-kept"] == ["item trace_0"]
    assert operations(world.push()) == []
    assert world.codes() == set()
    world.prelabels = {"trace_1": given["trace_1"]}
    assert operations(world.push()) == []
    assert world.codes() == {"prelabel-kept"}


def test_those_that_a_team_deleted_are_sent_again(world: Prelabelled) -> None:
    # From now on the server's own counters keep deleted predictions.
    other = world.server.http.post("/api/projects/", json={"title": "to be deleted"}).json()["id"]
    task = world.server.http.post(
        f"/api/projects/{other}/import?return_task_ids=true", json=[{"data": {"a": "b"}}]
    ).json()
    made = {"task": task["task_ids"][0], "result": []}
    world.server.http.post("/api/predictions/", json=made).raise_for_status()
    world.server.http.delete(f"/api/projects/{other}/").raise_for_status()
    world.push()
    path = "/api/dm/actions"
    params = {"id": "delete_tasks_predictions", "project": world.project_id}
    body = {"selectedItems": {"all": True, "excluded": []}}
    world.server.http.post(path, params=params, json=body).raise_for_status()
    assert world.predictions("trace_0") == []
    world.push()
    assert world.predictions("trace_0") == [("m", "step_1")]
    assert operations(world.push()) == []


def test_one_model_is_shown_and_a_team_can_choose_it(world: Prelabelled) -> None:
    world.prelabels = {
        "trace_0": {"n": 1, "m": 2},
        "trace_1": {"n": 1, "m": 1},
        "trace_2": {"m": 0},
        "trace_3": {"last": 3},
    }
    world.push()
    assert world.settings() == (True, "m")
    assert world.predictions("trace_0") == [("n", "step_1"), ("m", "step_2")]
    assert [(notice.code, notice.count) for notice in world.notices] == [("prelabels-not-shown", 3)]
    world.configure(model_version="n")
    assert operations(world.push()) == []
    assert [notice.count for notice in world.notices] == [4]
    # Another model than the items have, and none.
    world.prelabels = {"trace_0": {"new": 1}}
    assert operations(world.push()) == ["update-prelabels", "show-prelabels"]
    assert world.settings() == (True, "new")
    assert world.predictions("trace_0") == [("n", "step_1"), ("m", "step_2"), ("new", "step_1")]
    world.configure(show_collab_predictions=False)
    assert operations(world.push()) == ["show-prelabels"]
    assert world.settings() == (True, "new")


def test_pre_labels_for_a_project_that_had_none(world: Prelabelled) -> None:
    given, world.prelabels = world.prelabels, {}
    world.push()
    assert world.settings() == (True, "")
    world.prelabels = given
    assert operations(world.push()) == ["update-prelabels", "update-prelabels", "show-prelabels"]
    assert world.settings() == (True, "m")
    assert operations(world.push()) == []


@pytest.mark.parametrize("fault", ["lose-answer", "504-after", "cut-body"])
def test_one_whose_answer_is_lost_is_not_sent_again(world: Prelabelled, fault: str) -> None:
    world.push()
    world.prelabels["trace_2"] = {"m": 3}
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("POST", "/api/predictions/", fault)  # type: ignore[arg-type]
        world.push(remote, project_ref=world.project_id)
    assert world.predictions("trace_2") == [("m", "step_3")]
    assert operations(world.push()) == []


@pytest.mark.parametrize("fault", ["lose-request", "504-before"])
def test_one_that_never_arrived_is_sent_by_the_next_push(world: Prelabelled, fault: str) -> None:
    world.push()
    world.prelabels["trace_2"] = {"m": 3}
    with fault_proxy(world.server.url) as proxy, LabelStudio(proxy.url, world.server.api_key) as remote:
        proxy.spoil("POST", "/api/predictions/", fault)  # type: ignore[arg-type]
        with pytest.raises(OutcomeUnknownError):
            world.push(remote, project_ref=world.project_id)
    assert world.predictions("trace_2") == []
    assert operations(world.push()) == ["update-prelabels"]
    assert world.predictions("trace_2") == [("m", "step_3")]


class Cut(Exception):
    pass


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_push_that_ended_before_the_task_said_so_is_made_up_for(
    world: Prelabelled, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.push()
    world.prelabels = {"trace_0": {"m": 2}} if method == "PATCH" else {"trace_2": {"m": 2}}
    item_id = next(iter(world.prelabels))
    with monkeypatch.context() as patched:

        def cut(*_: object) -> None:
            raise Cut

        patched.setattr(LabelStudio, "update_meta", cut)
        with pytest.raises(Cut):
            world.push()
    assert world.predictions(item_id) == [("m", "step_2")]
    # And one that arrived twice: late, when the next push had already looked.
    double = prediction(
        world.project,
        Prelabel(item=item_id, annotations=value(2), model_version="m"),
        world.on_server()[world.task_id(item_id)],
    )
    world.server.http.post("/api/predictions/", json={"task": world.task_id(item_id), **double}).raise_for_status()
    assert operations(world.push()) == ["update-prelabels"]
    assert world.predictions(item_id) == [("m", "step_2")]
    assert operations(world.push()) == []


def test_records_say_what_became_of_them_at_that_time(world: Prelabelled) -> None:
    world.push()
    # As the page sends what it was shown: the entry keeps its id and says where it is from.
    shown = world.server.http.get("/api/predictions/", params={"task": world.task_id("trace_0")}).json()[0]
    entry = {**shown["result"][0], "origin": "prediction"}
    path = f"/api/tasks/{world.task_id('trace_0')}/annotations/"
    body = {"result": [entry], "parent_prediction": shown["id"]}
    world.server.http.post(path, json=body).raise_for_status()
    world.annotate("trace_1", "all_correct")
    world.annotate("trace_2", "step_1")
    world.annotate("trace_0", None, was_cancelled=True)
    world.pull()

    def said() -> dict[tuple[str, str], tuple[dict[str, str], str | None]]:
        found = {}
        for record in world.records():
            assert record.source is not None
            found[record.id, record.status] = (dict(record.source.prelabel), record.source.model_version)
        return found

    expected = {
        ("trace_0", "submitted"): ({CONTROL: "kept"}, "m"),
        ("trace_1", "submitted"): ({CONTROL: "manual"}, "m"),
        ("trace_2", "submitted"): ({}, None),
        ("trace_0", "skipped"): ({}, None),
    }
    assert said() == expected
    # What is shown to others from now on does not change what was shown to these.
    world.prelabels = {"trace_0": {"m": 3}, "trace_1": {"new": 0}}
    world.push()
    pulled = world.pull()
    assert (pulled.new, pulled.changed, pulled.withdrawn) == (0, 0, 0)
    assert said() == expected

"""Trajectory edits from a config to Label Studio and back, with what `push` and `pull` do of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.config import read_project
from potato_bridge.export.dataset import export
from potato_bridge.notices import Notices
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio.backend import LabelStudioBackend
from potato_bridge.sync.label_studio.build import label_studio_tasks
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.potato import write_potato
from potato_bridge.sync.pull import pull
from potato_bridge.sync.push import push
from potato_bridge.sync.records import read_records
from tests.servers.label_studio import LabelStudio as Server

EXAMPLE = Path(__file__).parents[2] / "examples" / "trajectory_edit"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example, under a name of its own: the server is shared."""
    shutil.copytree(EXAMPLE, tmp_path / "example")
    config = tmp_path / "example" / "config.yaml"
    config.write_text(config.read_text().replace("Trajectory correction", f"Corrections {tmp_path.name}"))
    return tmp_path / "example"


def test_a_round(label_studio: Server, folder: Path, tmp_path: Path) -> None:
    project = read_project(folder / "config.yaml", Notices())
    interface = build_interface(project, Notices())
    remote = LabelStudio(label_studio.url, label_studio.api_key)
    records = tmp_path / "records.jsonl"
    with Ledger.beside(project.config) as ledger:
        tasks = lambda notices: label_studio_tasks(project, notices)  # noqa: E731
        backend = LabelStudioBackend(project, remote, interface, tasks)
        pushed = push(backend, ledger, notices=Notices())
        assert pushed.created == 3
        again = push(backend, ledger, notices=Notices())
        assert not again.plan.changes

        there = label_studio.http.get(f"/api/projects/{pushed.project_id}/").json()
        assert (there["show_collab_predictions"], there["model_version"]) == (True, "potato-bridge")
        listing = label_studio.http.get(f"/api/tasks/?project={pushed.project_id}&fields=all").json()["tasks"]
        by_id = {task["data"]["potato_bridge_id"]: task["id"] for task in listing}
        for item, texts in {
            "traj_101": {"corrected_trajectory_edit_0": "web_search(query='Lisbon weather now')"},
            "traj_103": {},
        }.items():
            whole = label_studio.http.get(f"/api/tasks/{by_id[item]}/").json()
            [prediction] = whole["predictions"]
            result = [
                {**entry, "value": {"text": [texts.get(entry["from_name"], entry["value"]["text"][0])]}}
                for entry in prediction["result"]
            ]
            body = {"result": result, "parent_prediction": prediction["id"]}
            label_studio.http.post(f"/api/tasks/{by_id[item]}/annotations/", json=body).raise_for_status()
        pull(backend, ledger, records, notices=Notices())
    remote.close()

    pulled = {record.id: record for record in read_records(records)}
    assert {item: record.annotations["corrected_trajectory"]["n_steps_edited"] for item, record in pulled.items()} == {
        "traj_101": 1,
        "traj_103": 0,
    }
    assert all(not record.flags and record.status == "submitted" for record in pulled.values())

    # Potato's folder gives the same records back, and they train.
    write_potato(project, records, project.output_dir, Notices())
    found = {record.id: record for record in records_from_potato(project, project.output_dir, Notices())}
    assert found == pulled
    report = export(project, records, "trajectory_correction", tmp_path / "set", notices=Notices())
    assert (report.rows, report.reasons) == (1, {"unedited": 1})


def test_boxes_have_the_texts_of_an_item_that_changed(label_studio: Server, folder: Path) -> None:
    project = read_project(folder / "config.yaml", Notices())
    interface = build_interface(project, Notices())
    remote = LabelStudio(label_studio.url, label_studio.api_key)
    traces = folder / "data" / "traces.json"
    with Ledger.beside(project.config) as ledger:
        tasks = lambda notices: label_studio_tasks(project, notices)  # noqa: E731
        backend = LabelStudioBackend(project, remote, interface, tasks)
        pushed = push(backend, ledger, notices=Notices())
        traces.write_text(traces.read_text().replace("queyr=", "qeury="))
        changed = push(backend, ledger, notices=Notices())
        assert (changed.updated, changed.prelabels) == (1, 1)
        assert not push(backend, ledger, notices=Notices()).plan.changes
    remote.close()
    listing = label_studio.http.get(f"/api/tasks/?project={pushed.project_id}&fields=all").json()["tasks"]
    [task] = [task["id"] for task in listing if "qeury=" in json.dumps(task["data"])]
    [prediction] = label_studio.http.get(f"/api/tasks/{task}/").json()["predictions"]
    assert "qeury=" in json.dumps(prediction["result"])


def test_the_example_has_the_documented_scheme() -> None:
    [scheme] = yaml.safe_load((EXAMPLE / "config.yaml").read_text())["annotation_schemes"]
    assert scheme == {
        "annotation_type": "trajectory_edit",
        "name": "corrected_trajectory",
        "description": "Fix any wrong steps, then correct the final answer",
        "steps_key": "steps",
        "step_text_key": "action",
        "editable_fields": ["action"],
        "show_diff": True,
        "show_edit_distance": True,
        "allow_reset": True,
        "require_reason_on_edit": False,
        "edit_final_answer": True,
        "final_answer_key": "final_answer",
    }
    items = json.loads((EXAMPLE / "data" / "traces.json").read_text(encoding="utf-8"))
    assert all(item["steps"] and item["final_answer"] for item in items)

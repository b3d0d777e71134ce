"""An earlier round of several schemes as pre-labels: on the server, and what the records say became of each."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import write_results
from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Record
from potato_bridge.model.trajectory_edit import StepEdit, TrajectoryEdits
from potato_bridge.notices import Notices
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio.backend import LabelStudioBackend
from potato_bridge.sync.label_studio.build import label_studio_tasks
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import pull
from potato_bridge.sync.push import push

CONFIG = """
annotation_task_name: Several {run}
task_dir: .
data_files: [items.jsonl]
item_properties: {{id_key: id, text_key: task}}
instance_display:
  fields:
    - {{key: task, type: text, span_target: true}}
    - {{key: structured_turns, type: coding_trace}}
annotation_schemes:
  - {{annotation_type: process_reward, name: reward, description: x, mode: first_error}}
  - {{annotation_type: code_review, name: review, description: x}}
  - {{annotation_type: trajectory_edit, name: fix, description: x, steps_key: structured_turns,
     editable_fields: [content]}}
  - {{annotation_type: multiselect, name: tags, description: x, labels: [slow, wrong], has_free_response: true}}
  - {{annotation_type: span, name: marks, description: x, labels: [goal]}}
  - {{annotation_type: pairwise, name: better, description: x, items_key: pair}}
  - {{annotation_type: video_annotation, name: film, description: x}}
"""
WRITE = {"tool": "Write", "input": {"file_path": "a.py", "content": "x = 1\ny = 3\n"}, "output": "ok"}
FIX = TrajectoryEdits(
    steps=[StepEdit(step_index=0, field="content", original_text="look 😀", edited_text="look twice")]
).to_json()
ANSWER: dict[str, Any] = {
    "reward": {"mode": "first_error", "first_error_step": 1, "total_steps": 2, "labels": [1, -1]},
    "review": {
        "verdict": "approve",
        "comments": [
            {"category": "bug", "file": "a.py", "line": 2, "text": "one 😀", "side": "RIGHT"},
            {"category": "style", "file": "a.py", "line": 1, "text": "two", "side": "RIGHT"},
        ],
        "file_ratings": {},
    },
    "fix": FIX,
    "tags": {"options": ["slow"], "free_response": "why"},
    "marks": [{"start": 0, "end": 3, "label": "goal", "text": "Fix", "field": "task"}],
    "better": {"selection": "A"},
}


class Study:
    def __init__(self, server, folder: Path, run: str) -> None:
        self.server, self.folder, self.records_file = server, folder, folder / "records.jsonl"
        items = [
            {
                "id": f"i{n}",
                "task": f"Fix {n}",
                "structured_turns": [
                    {"role": "assistant", "content": "look 😀", "tool_calls": []},
                    {"role": "assistant", "content": "edit", "tool_calls": [WRITE]},
                ],
                "pair": ["a", "b"],
            }
            for n in range(3)
        ]
        (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
        (folder / "config.yaml").write_text(CONFIG.format(run=run))
        self.project = read_project(folder / "config.yaml", Notices())
        self.interface = build_interface(self.project, Notices())
        self.remote = LabelStudio(server.url, server.api_key)

    def push(self, prelabels: Path | None = None):
        self.notices = Notices()
        with Ledger.beside(self.project.config) as ledger:
            tasks = lambda notices: label_studio_tasks(self.project, notices, prelabels)  # noqa: E731
            backend = LabelStudioBackend(self.project, self.remote, self.interface, tasks)
            done = push(backend, ledger, notices=self.notices)
        self.id = done.project_id
        return done

    def pull(self) -> dict[str, Record]:
        with Ledger.beside(self.project.config) as ledger:
            pull(LabelStudioBackend(self.project, self.remote), ledger, self.records_file, notices=Notices())
        lines = [json.loads(line) for line in self.records_file.read_text(encoding="utf-8").splitlines()]
        return {line["id"]: line for line in lines}

    def told(self) -> list[tuple[str, str]]:
        return [(one.code, one.message) for one in self.notices if "prelabel" in one.code]

    def task(self, item: str) -> dict[str, Any]:
        path = f"/api/projects/{self.id}/export?exportType=JSON&download_all_tasks=true"
        tasks = self.server.http.get(path).raise_for_status().json()
        [found] = [task for task in tasks if task["data"]["potato_bridge_id"] == item]
        return found

    def predictions(self, item: str) -> dict[str, dict[str, Any]]:
        found = self.server.http.get("/api/predictions/", params={"task": self.task(item)["id"]}).json()
        return {one["model_version"]: one for one in found}

    def shown(self) -> str:
        return self.server.http.get(f"/api/projects/{self.id}/").json()["model_version"]

    def answer(self, item: str, result: list[dict[str, Any]], parent: int | None = None) -> None:
        body = {"result": result, "parent_prediction": parent}
        path = f"/api/tasks/{self.task(item)['id']}/annotations/"
        self.server.http.post(path, json=body).raise_for_status()


@pytest.fixture
def study(label_studio, tmp_path, request):
    made = Study(label_studio, tmp_path, request.node.name)
    yield made
    made.remote.close()


def test_records_of_all_schemes_are_the_pre_labels_of_the_next_round(study: Study) -> None:
    # Without pre-labels, every task has the texts of its boxes.
    study.push()
    assert study.shown() == "potato-bridge"
    first = {"id": "i0", "annotator": "ann", "annotations": ANSWER}
    second = copy.deepcopy({**first, "id": "i1"})
    second["annotations"]["review"]["comments"][0]["file"] = "gone.py"
    second["annotations"]["tags"] = ["no such tag"]
    second["annotations"]["film"] = {"x": 1}
    earlier = study.folder / "round1.jsonl"
    earlier.write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
    pushed = study.push(earlier)
    assert (pushed.created, pushed.updated, pushed.prelabels) == (0, 0, 3)
    assert study.told() == [
        (
            "prelabel-not-asked",
            "pre-labels of the scheme 'film' are not used: annotators are not asked for it",
        ),
        ("bad-prelabel", "the pre-label of 'i1' is dropped: 'tags': 'no such tag' is none of the labels"),
        (
            "prelabel-part-dropped",
            "a part of the pre-label of 'i1' is dropped: review, comments[0]: the change has no file 'gone.py'",
        ),
    ]
    assert not study.push(earlier).plan.changes
    # A third item, of which nobody said anything, has its boxes from the same one.
    assert study.shown() == "ann"
    assert [set(study.predictions(f"i{n}")) for n in range(3)] == [{"potato-bridge", "ann"}] * 3

    # As the page sends it: all kept; one after another changed; from nothing.
    made = study.predictions("i0")["ann"]
    kept = [{**entry, "origin": "prediction"} for entry in made["result"]]
    study.answer("i0", kept, made["id"])
    made = study.predictions("i1")["ann"]
    changed = copy.deepcopy([{**entry, "origin": "prediction"} for entry in made["result"]])
    for entry in changed:
        if entry["from_name"] in ("better", "fix_edit_1", "review_comment"):
            key = entry["type"].replace("textarea", "text")
            entry["value"][key] = ["B" if entry["from_name"] == "better" else "another"]
            entry["origin"] = "prediction-changed"
    study.answer("i1", changed, made["id"])
    by_hand = Record(id="i2", annotator="", annotations=ANSWER)
    study.answer("i2", write_results(study.project, by_hand, study.task("i2")))

    found = study.pull()
    assert found["i0"]["annotations"] == ANSWER
    assert found["i0"]["source"]["prelabel"] == dict.fromkeys(ANSWER, "kept")
    assert found["i1"]["source"]["prelabel"] == {
        "reward": "kept",
        "review": "changed",
        "fix": "changed",
        "marks": "kept",
        "better": "changed",
    }
    assert [step["edited_text"] for step in found["i1"]["annotations"]["fix"]["steps"]] == ["look twice", "another"]
    assert found["i1"]["annotations"]["review"]["comments"] == [{**ANSWER["review"]["comments"][1], "text": "another"}]
    assert "prelabel" not in found["i2"]["source"]
    assert not any("flags" in line for item, line in found.items() if item != "i1")

    # What was pulled is good for the next round; a push without pre-labels leaves all of it as it is.
    again = study.push(study.records_file)
    assert study.told() == []
    assert again.prelabels == 3
    [annotator] = {line["annotator"] for line in found.values()}
    assert study.shown() == annotator
    assert not study.push().plan.changes
    assert study.shown() == annotator

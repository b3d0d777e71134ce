"""Several schemes on the real server: the config changes after answers, and the item does, twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import write_results
from potato_bridge.errors import RemoteError
from potato_bridge.model import Record
from potato_bridge.notices import Notices
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio.backend import LabelStudioBackend
from potato_bridge.sync.label_studio.build import label_studio_tasks
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import pull
from potato_bridge.sync.push import PushReport, push
from potato_bridge.sync.records import read_records
from tests.servers.label_studio import LabelStudio as Server
from tests.several_schemes import EDIT, FIRST_ERROR, PER_STEP, RADIO, REVIEW, SPAN, item, project

TEXTS = "{annotation_type: text, name: why}"
MORE_SPANS = "{annotation_type: span, name: more, target_field: task, labels: [q]}"


class Team:
    """A config and its project on the server."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.remote = LabelStudio(server.url, server.api_key)
        self.notices = Notices()

    def push(self, schemes: Sequence[str], found: dict[str, Any] | None = None) -> PushReport:
        self.notices = Notices()
        self.project = made = project(self.folder, schemes, found or item())
        tasks = lambda notices: label_studio_tasks(made, notices)  # noqa: E731
        with Ledger.beside(made.config) as ledger:
            backend = LabelStudioBackend(made, self.remote, build_interface(made, Notices()), tasks)
            report = push(backend, ledger, notices=self.notices)
        self.id = report.project_id
        return report

    def answer(self, **annotations: Any) -> None:
        [row] = self.server.http.get(f"/api/tasks/?project={self.id}").json()["tasks"]
        task = self.server.http.get(f"/api/tasks/{row['id']}/").json()
        named = {name.replace("_", "-"): value for name, value in annotations.items()}
        result = write_results(self.project, Record(id="t1", annotator="a", annotations=named), task)
        self.server.http.post(f"/api/tasks/{row['id']}/annotations/", json={"result": result}).raise_for_status()

    def pull(self) -> list[Record]:
        out = self.folder / "records.jsonl"
        with Ledger.beside(self.project.config) as ledger:
            pull(LabelStudioBackend(self.project, self.remote), ledger, out, notices=Notices(), full=True)
        return list(read_records(out))


@pytest.fixture
def team(label_studio: Server, tmp_path: Path) -> Iterator[Team]:
    made = Team(label_studio, tmp_path)
    yield made
    made.remote.close()


def review(value: int, verdict: str) -> dict[str, Any]:
    comment = {"category": "bug", "file": "a.py", "line": 2, "text": f"not {value}", "side": "RIGHT"}
    return {"verdict": verdict, "comments": [comment], "file_ratings": {"a.py": {"quality": 2}}}


def edit(value: int) -> dict[str, Any]:
    step = {"step_index": 0, "field": "action", "original_text": f"set y {value}", "edited_text": "stop", "reason": ""}
    return {"steps": [step], "final_answer": None}


def test_the_interface_can_change_after_answers(team: Team) -> None:
    """Also where controls that were answered stand in a Repeater, which the server does not look into."""
    schemes = [PER_STEP, REVIEW, SPAN, EDIT, RADIO]
    team.push(schemes)
    mark = {"start": 4, "end": 9, "label": "a", "text": "quick", "field": "text"}
    rewards = {"mode": "per_step", "total_steps": 2, "labels": [1.0, -1.0], "step_details": {}}
    team.answer(reward=rewards, code_review=review(3, "approve"), my_marks=[mark], my_edit=edit(3), ok="yes")
    [before] = team.pull()
    assert (before.flags, before.controls) == ([], {})
    assert set(before.annotations) == {"reward", "code-review", "my-marks", "my-edit", "ok"}
    for changed in (schemes[::-1], [*schemes, TEXTS], [*schemes, MORE_SPANS], schemes):
        assert [operation.kind for operation in team.push(changed).plan.project][:1] == ["update-interface"]
        assert "item-changed-after-answer" not in {notice.code for notice in team.notices}
        [record] = team.pull()
        assert (record.annotations, record.flags, record.controls) == (before.annotations, [], {})


def test_a_scheme_with_answers_goes(team: Team) -> None:
    team.push([FIRST_ERROR, EDIT, RADIO])
    first = {"mode": "first_error", "first_error_step": 0, "total_steps": 2, "labels": [-1, -1]}
    team.answer(reward=first, my_edit=edit(3), ok="yes")
    with pytest.raises(RemoteError, match="put them back, or push to a project of its own") as caught:
        team.push([FIRST_ERROR, EDIT])
    assert "from_name=ok" in caught.value.message
    # Of text boxes the server lets go.
    team.push([FIRST_ERROR, RADIO])
    [record] = team.pull()
    assert set(record.annotations) == {"reward", "ok"}
    assert {flag.code for flag in record.flags} == {"unknown-control"}
    assert [entry["value"]["text"] for entries in record.controls.values() for entry in entries] == [["stop"], ["stop"]]
    team.push([FIRST_ERROR, EDIT, RADIO])
    [record] = team.pull()
    assert (record.annotations["my-edit"]["n_steps_edited"], record.flags) == (1, [])


def test_each_answer_is_read_with_what_it_saw(team: Team) -> None:
    schemes = [REVIEW, SPAN, EDIT]
    for value, word in ((3, "quick"), (4, "rapid")):
        team.push(schemes, item(value, f"The {word} brown fox."))
        mark = {"start": 4, "end": 9, "label": "a", "text": word, "field": "text"}
        team.answer(code_review=review(value, "approve"), my_marks=[mark], my_edit=edit(value))
    first, second = sorted(team.pull(), key=lambda record: record.source.annotation)
    assert first.annotations["code-review"]["comments"][0].get("outdated") is True
    assert {flag.code for flag in first.flags} == {"item-changed", "span-text-mismatch", "original-changed"}
    assert (second.flags, second.controls) == ([], {})
    assert "outdated" not in second.annotations["code-review"]["comments"][0]
    team.push(schemes, item(5, "No fox."))
    for value, record in enumerate(sorted(team.pull(), key=lambda record: record.source.annotation), 3):
        [comment] = record.annotations["code-review"]["comments"]
        assert (comment["line"], comment["text"], comment["outdated"]) == (2, f"not {value}", True)
        assert record.annotations["code-review"]["file_ratings"] == {"a.py": {"quality": 2}}
        assert {flag.code for flag in record.flags} == {"item-changed", "span-text-mismatch", "original-changed"}
        assert {"my-marks", "my-edit_edit_0"} <= record.controls.keys()

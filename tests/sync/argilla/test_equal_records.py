"""The same config and items, answered alike on Label Studio and on Argilla, give equal records."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Stored
from potato_bridge.converters.label_studio.fields import MARKER
from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import write_results
from potato_bridge.model import Record, to_builtins
from potato_bridge.model.process_reward import FirstError, PerStep, StepDetail
from potato_bridge.model.trajectory_edit import StepEdit, TrajectoryEdits
from potato_bridge.notices import Notices
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio.backend import LabelStudioBackend
from potato_bridge.sync.label_studio.build import label_studio_tasks
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import pull
from potato_bridge.sync.push import push
from potato_bridge.sync.records import read_records
from tests.servers.argilla_desk import Desk
from tests.several_schemes import EDIT, FIRST_ERROR, PER_STEP, RADIO, REVIEW, SPAN, item, project

TEXT = "{annotation_type: text, name: why}"
LIKERT = "{annotation_type: likert, name: sure, size: 5}"
RANKING = "{annotation_type: ranking, name: order, labels: [a, b, c]}"
TEXTS = "The quick brown fox."
COMMENT = {
    "category": "bug",
    "file": "a.py",
    "line": 2,
    "side": "RIGHT",
    "text": "wrong </script> é😀",
    "suggestion": "y = 4",
}
WHOLE = {"category": "style", "file": "a.py", "line": None, "text": "nice"}
ANSWERS: dict[str, Any] = {
    "reward": PerStep(
        labels=[1.0, -1.0], step_details={0: StepDetail(label="correct"), 1: StepDetail(label="incorrect")}
    ).to_json(),
    "code-review": {
        "verdict": "approve",
        "comments": [COMMENT, WHOLE],
        "file_ratings": {"a.py": {"correctness": 5, "quality": 2}},
    },
    "my-marks": [{"start": 4, "end": 9, "label": "a", "text": TEXTS[4:9], "field": "text"}],
    "my-edit": TrajectoryEdits(
        steps=[StepEdit(step_index=1, field="action", original_text="stop", edited_text="go on\n\nnow")]
    ).to_json(),
    "ok": "no",
    "why": "because\nof $& </script>",
    "sure": 4,
    "order": ["c", "a", "b"],
}
#: (schemes, layouts that ask for them all)
CASES = [
    ([PER_STEP, REVIEW, SPAN, EDIT, RADIO, TEXT, LIKERT, RANKING], ["panel"]),
    ([FIRST_ERROR, RADIO, SPAN, TEXT, LIKERT, RANKING], ["panel", "native"]),
    ([PER_STEP], ["native"]),
    ([EDIT], ["native"]),
]


def said(schemes: list[str], which: int) -> dict[str, Any]:
    """What the annotator says of an item: everything, nothing but what is required, or a skip."""
    found = {name: value for name, value in ANSWERS.items() if any(f"name: {name}" in scheme for scheme in schemes)}
    if any("first_error" in scheme for scheme in schemes):
        found["reward"] = FirstError(first_error_step=[1, None, 0][which], total_steps=2).to_json()
    if which == 1:
        found = {name: value for name, value in found.items() if name in ("ok", "reward", "my-edit", "code-review")}
    return found


def plain(records: list[Record], annotator: str) -> list[dict[str, Any]]:
    rows = [to_builtins(record) for record in records]
    for row in rows:
        assert row["annotator"] == annotator
        for key in ("source", "created_at", "updated_at", "lead_time", "annotator"):
            row.pop(key, None)
    return sorted(rows, key=lambda row: row["id"])


@pytest.mark.parametrize(("schemes", "layouts"), CASES, ids=["all", "first-error", "per-step", "edit"])
def test_equal_records(label_studio, argilla, tmp_path, schemes, layouts):
    # The folder's name is the project's, and the server is shared.
    folder = tmp_path / f"equal-{CASES.index((schemes, layouts))}"
    folder.mkdir()
    made = project(folder, schemes, item(text=TEXTS))
    line = (folder / "items.jsonl").read_text()
    names = [f"t{n}" for n in range(3)]
    (folder / "items.jsonl").write_text("".join(line.replace('"t1"', f'"{name}"') for name in names))

    remote = LabelStudio(label_studio.url, label_studio.api_key)
    interface = build_interface(made, Notices())
    backend = LabelStudioBackend(made, remote, interface, lambda notices: label_studio_tasks(made, notices))
    with Ledger.beside(made.config) as ledger:
        number = push(backend, ledger, notices=Notices()).project_id
        tasks = {task["data"][MARKER]: task for task in remote.tasks(int(str(number)), ["data", "meta"])}
        for which, name in enumerate(names):
            record = Record(id=name, annotator="x", annotations=said(schemes, which))
            result = [] if which == 2 else write_results(made, record, tasks[name])
            remote.annotate(int(tasks[name]["id"]), result, skipped=which == 2)
        pull(backend, ledger, tmp_path / "ls.jsonl", notices=Notices())
    remote.close()
    expected = plain(list(read_records(tmp_path / "ls.jsonl")), label_studio.admin.email)
    assert [row["status"] for row in expected] == ["submitted", "submitted", "skipped"]

    for layout in layouts:
        desk = Desk(argilla, folder, layout=layout)
        desk.push()
        user = desk.annotator()
        there = list(desk.on_server().values())
        for which, name in enumerate(names):
            mine = [one for one in there if one["metadata"]["trace_id"] == name]
            stored = [Stored(one["external_id"], one["fields"], one["metadata"]) for one in mine]
            record = Record(id=name, annotator="x", annotations=said(schemes, which))
            written = LAYOUTS[layout].write_answer(desk.project, record, stored)
            for one in mine:
                values = {key: {"value": value} for key, value in written.get(one["external_id"], {}).items()}
                body = {"status": "discarded"} if which == 2 else {"status": "submitted", "values": values}
                path = f"/api/v1/records/{one['id']}/responses"
                argilla.client(user).post(path, json=body).raise_for_status()
        desk.records_file = tmp_path / f"{layout}.jsonl"
        desk.pull()
        assert plain(desk.records(), user.username) == expected
        assert msgspec.json.encode(expected)
        desk.close()

"""The real Potato on trajectory edits that we wrote: its page shows them, and what it stores is read and exported."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.write_output import write_annotation_output
from potato_bridge.export.dataset import export
from potato_bridge.export.options import Dialect, ExportOptions
from potato_bridge.model import Project, Record, from_builtins, to_builtins
from potato_bridge.model.trajectory_edit import FinalEdit, StepEdit, TrajectoryEdits
from potato_bridge.notices import Notices
from potato_bridge.sync.potato import potato_records
from tests.servers.annotator import new_page
from tests.servers.potato import Potato

REVIEWER = "reviewer@example.com"
CONFIG = """\
annotation_task_name: Bridge {run}
task_dir: .
data_files: [traces.jsonl]
item_properties: {{id_key: id, text_key: task_description}}
output_annotation_dir: annotation_output
require_password: false
instance_display:
  fields:
    - {{key: task_description, type: text, label: Task}}
annotation_schemes:
  - annotation_type: trajectory_edit
    name: fix
    description: Fix it
    editable_fields: [thought, action]
    edit_final_answer: true
    require_reason_on_edit: true
"""
STEPS: list[Any] = [
    {"thought": "Look 😀", "action": "web_search(queyr='x')\r\nsecond  "},
    {"action": {"tool": "go", "args": {"n": 1}}},
    "a bare step",
]
FIXED = "web_search(query='x')\r\nsecond  "
ITEM = {"id": "t1", "task_description": "Do it", "steps": STEPS, "final_answer": "It is sunny."}


def make_project(folder: Path) -> Project:
    lines = [ITEM, {**ITEM, "id": "t2"}]
    (folder / "traces.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "config.yaml").write_text(CONFIG.format(run=uuid.uuid4().hex), encoding="utf-8")
    return read_project(folder / "config.yaml", Notices())


def read(project: Project) -> dict[str, Any]:
    return {record.id: to_builtins(record) for record in records_from_potato(project, project.output_dir, Notices())}


@pytest.fixture
def sign_in(browser: Browser) -> Callable[[str], Page]:
    def enter(url: str) -> Page:
        page = new_page(browser.new_context(viewport={"width": 1280, "height": 1600}), url)
        page.goto(url)
        page.locator("input[name=email]:visible").fill(REVIEWER)
        page.locator("input[name=email]:visible").press("Enter")
        page.locator(".trajedit-textarea").first.wait_for()
        return page

    return enter


def go_on(page: Page) -> None:
    """Next, which saves."""
    page.locator("#next-btn").click()
    page.wait_for_function("document.getElementById('instance_id')?.value === 't2'")


def pulled() -> Record:
    value = TrajectoryEdits(
        steps=[
            StepEdit(
                step_index=0, field="action", original_text=STEPS[0]["action"], edited_text=FIXED, reason="a typo"
            ),
            StepEdit(step_index=2, field="action", original_text="a bare step", edited_text="", reason="no use"),
        ],
        final_answer=FinalEdit(original_text="It is sunny.", edited_text="It is 19 °C 😀."),
    ).to_json()
    source = {"backend": "label_studio", "project": 1, "task": 2, "annotation": 3}
    record = from_builtins(
        Record, {"id": "t1", "annotator": REVIEWER, "annotations": {"fix": value}, "source": source, "lead_time": 9.5}
    )
    return record


def test_to_look_at_a_pulled_answer_changes_nothing(
    tmp_path: Path, potato: Potato, sign_in: Callable[[str], Page]
) -> None:
    project, record = make_project(tmp_path), pulled()
    write_annotation_output(project, [record], project.output_dir, Notices())
    with potato.serving(project.config) as url:
        page = sign_in(url)
        boxes = page.locator(".trajedit-textarea")
        texts = [box.input_value() for box in boxes.all()]
        assert texts[:2] == ["Look 😀", FIXED.replace("\r\n", "\n")]
        # Potato hands objects to its page with their keys in order: the text is not the item's, the value is.
        assert texts[2] == '{"args":{"n":1},"tool":"go"}'
        assert texts[-1] == "It is 19 °C 😀." and "" in texts
        assert page.locator("#fix-n-edited").inner_text() == "3"
        assert page.locator(".trajedit-reason").nth(1).input_value() == "a typo"
        go_on(page)
    assert read(project)["t1"] == to_builtins(record)


def test_what_the_page_changes_counts_and_is_exported(
    tmp_path: Path, potato: Potato, sign_in: Callable[[str], Page]
) -> None:
    project = make_project(tmp_path)
    write_annotation_output(project, [pulled()], project.output_dir, Notices())
    with potato.serving(project.config) as url:
        page = sign_in(url)
        expect(page.locator("#fix-n-edited")).to_have_text("3")
        page.locator('.trajedit-textarea[data-step="0"][data-field="thought"]').fill("Look closer")
        page.locator('.trajedit-reason[data-step="0"][data-field="thought"]').fill("why")
        page.locator('.trajedit-textarea[data-step="1"]').fill('{"tool": "go", "args": {"n": 2}}')
        page.locator('.trajedit-reason[data-step="1"]').fill("two")
        expect(page.locator("#fix-n-edited")).to_have_text("5")
        go_on(page)

    changed = read(project)["t1"]
    edits = {(e["step_index"], e["field"]): e for e in changed["annotations"]["fix"]["steps"] if e["edited"]}
    assert changed["source"] == {"backend": "potato"} and "flags" not in changed
    assert edits[0, "thought"]["reason"] == "why" and edits[0, "action"]["reason"] == "a typo"

    with potato_records(project, project.output_dir, Notices()) as records:
        options = ExportOptions(dialect=Dialect.POTATO)
        report = export(project, records, "trajectory_correction", tmp_path / "out", options, Notices())
    assert (report.rows, report.reasons) == (1, {})
    [row] = (tmp_path / "out" / "trajectory_dpo.jsonl").read_text(encoding="utf-8").splitlines()
    pair = json.loads(row)
    assert pair["rejected"] == {"task": "Do it", "steps": STEPS, "final_answer": "It is sunny."}
    # Potato's page knows newlines only; the item's line breaks, and the kind of its values, stay.
    assert pair["chosen"] == {
        "task": "Do it",
        "steps": [
            {"thought": "Look closer", "action": FIXED},
            {"action": {"tool": "go", "args": {"n": 2}}},
            "",
        ],
        "final_answer": "It is 19 °C 😀.",
    }

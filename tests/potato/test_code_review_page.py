"""Code reviews that we wrote, on the page of the real Potato, and back."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.write_output import write_annotation_output
from potato_bridge.model import Record, from_builtins, to_builtins
from potato_bridge.notices import Notices
from tests.servers.annotator import new_page
from tests.servers.potato import Potato

CONFIG = f"""\
annotation_task_name: Bridge review {uuid.uuid4().hex}
task_dir: .
data_files: [data/traces.jsonl]
item_properties: {{id_key: id, text_key: task_description}}
output_annotation_dir: annotation_output
require_password: false
instance_display:
  fields:
    - {{key: structured_turns, type: coding_trace, label: Trace}}
annotation_schemes:
  - annotation_type: code_review
    name: review
    description: Review the change
"""
EDIT = {
    "tool": "Edit",
    "input": {"file_path": "src/a.py", "old_string": "x = 1", "new_string": "x = 2"},
    "output": "ok",
}
TURNS = [
    {"role": "user", "content": "Fix it.", "tool_calls": []},
    {"role": "assistant", "content": "I edit.", "tool_calls": [EDIT]},
]
VALUE: dict[str, Any] = {
    "verdict": "request_changes",
    "comments": [
        {
            "category": "bug",
            "file": "src/a.py",
            "line": 42,
            "text": "Off by one <b>&amp; 😀",
            "side": "RIGHT",
            "start_line": 40,
            "start_side": "LEFT",
            "severity": "major",
            "suggestion": "    x = 3\n",
        },
        {"category": "style", "file": "src/a.py", "line": None, "text": "whole file"},
    ],
    "file_ratings": {"src/a.py": {"correctness": 3, "quality": 2}},
    "summary": "Needs work",
}


def test_the_page_shows_the_comments_and_keeps_what_it_does_not_know(
    tmp_path: Path, potato: Potato, browser: Browser
) -> None:
    (tmp_path / "data").mkdir()
    items = [{"id": item, "task_description": item, "structured_turns": TURNS} for item in ("t1", "t2")]
    (tmp_path / "data" / "traces.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    (tmp_path / "config.yaml").write_text(CONFIG)
    project = read_project(tmp_path / "config.yaml", Notices())
    record = from_builtins(Record, {"id": "t1", "annotator": "ann", "annotations": {"review": VALUE}})
    write_annotation_output(project, [record], project.output_dir, Notices())

    def read() -> Record:
        (found,) = records_from_potato(project, project.output_dir, Notices())
        return found

    context = browser.new_context(viewport={"width": 1280, "height": 1600})
    with potato.serving(project.config) as url:
        page = new_page(context, url)
        page.goto(url)
        page.locator("input[name=email]:visible").fill("ann")
        page.locator("input[name=email]:visible").press("Enter")
        cards = page.locator(".cr-comments-list .cr-comment-card")
        cards.nth(1).wait_for()
        assert [card.locator(".cr-comment-text").input_value() for card in cards.all()] == [
            "Off by one <b>&amp; 😀",
            "whole file",
        ]
        assert to_builtins(read()) == to_builtins(record)

        cards.nth(1).locator(".cr-comment-text").fill("changed on the page")
        page.locator(".cr-verdict-group input[value=approve]").check(force=True)
        page.locator("#next-btn").click()
        page.wait_for_function("document.getElementById('instance_id')?.value === 't2'")
    context.close()

    first, second = VALUE["comments"]
    assert read().annotations["review"] == {
        **VALUE,
        "verdict": "approve",
        "comments": [first, {**second, "text": "changed on the page"}],
    }

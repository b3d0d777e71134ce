"""trajectory_edit in the panel where each change needs a reason, on the real Argilla."""

from __future__ import annotations

import json

import pytest

from tests.servers.annotator import errors
from tests.servers.argilla_desk import Desk, is_changed, open_panel, submit_button
from tests.servers.argilla_pages import discard, save_draft, submit

ITEM = {
    "id": "one",
    "task_description": "Warm?",
    "steps": [
        {"action": "first line\r\nsecond line", "observation": "red \x1b[31m and \u202e back"},
        {"action": {"tool": "look", "args": {"n": 1}}},
    ],
    "final_answer": "Yes",
}


@pytest.fixture
def desk(argilla, tmp_path):
    found = Desk(argilla, tmp_path, "trajectory_edit")
    config = tmp_path / "config.yaml"
    config.write_text(config.read_text().replace("require_reason_on_edit: false", "require_reason_on_edit: true"))
    (tmp_path / "data" / "traces.json").write_text(json.dumps([ITEM]))
    found.read()
    found.push()
    yield found
    found.close()


def test_a_change_needs_its_reason(desk, argilla_page):
    ann = desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    boxes, reasons = frame.locator("textarea.edit"), frame.locator("textarea.reason")
    assert frame.locator("small", has_text="JSON").count() == 1
    assert frame.locator(".hidden-char").all_inner_texts() == ["U+202E"]
    assert not reasons.nth(0).is_visible()

    # Words that were put in are shown beside those that were taken out, while one writes.
    boxes.nth(0).fill("first line\nother line")
    field = frame.locator(".field").nth(0)
    field.locator("pre.words ins", has_text="other").wait_for()
    assert field.locator("pre.words del").all_inner_texts() == ["second"]
    assert field.locator(".counts").inner_text() == "6 characters, 1 word changed"
    assert "a reason for the change in step 1, action" in frame.locator(".status").inner_text()
    assert not submit_button(page).is_enabled()
    save_draft(page)
    edit = {"step": 0, "field": "action", "text": "first line\nother line"}
    assert desk.said("one", ann) == {"status": "draft", "answer": {"corrected_trajectory": {"edits": [edit]}}}

    frame = open_panel(page, desk.dataset, status="draft")
    assert not submit_button(page).is_enabled()
    reasons.nth(0).fill("It was the </script> $& other")
    assert submit_button(page).is_enabled()
    submit(page)
    edit["reason"] = "It was the </script> $& other"
    assert desk.said("one", ann) == {"status": "submitted", "answer": {"corrected_trajectory": {"edits": [edit]}}}

    # Taken back to the original, with its line breaks of Windows, it is no change; without its reason nothing is left.
    frame = open_panel(page, desk.dataset, status="submitted")
    assert reasons.nth(0).input_value() == "It was the </script> $& other"
    assert not is_changed(page)
    frame.locator("button.reset").nth(0).click()
    assert boxes.nth(0).input_value() == "first line\nsecond line"
    assert is_changed(page)
    reasons.nth(0).fill("")
    submit(page)
    assert desk.said("one", ann) == {"status": "submitted", "answer": {"corrected_trajectory": {"edits": []}}}
    open_panel(page, desk.dataset, status="submitted")
    discard(page)
    desk.pull()
    assert [record.status for record in desk.records()] == ["skipped"]
    assert errors(page) == []

"""trajectory_edit and code_review in the panel, on the real Argilla."""

from __future__ import annotations

import json
import time

import pytest

from tests.servers.annotator import errors
from tests.servers.argilla_desk import Desk, is_changed, open_panel, shot, submit_button
from tests.servers.argilla_pages import discard, save_draft, submit


@pytest.fixture
def desk(argilla, tmp_path, request):
    found = Desk(argilla, tmp_path, request.param)
    found.push()
    yield found
    found.close()


@pytest.mark.parametrize("desk", ["trajectory_edit"], indirect=True)
def test_steps_are_corrected(desk, argilla_page):
    item = "traj_101"
    desk.keep_only(item)
    ann, bob = desk.annotator(), desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    boxes = frame.locator("textarea.edit")
    before = [boxes.nth(n).input_value() for n in range(boxes.count())]
    # What needs no correction can be submitted as it is.
    assert submit_button(page).is_enabled()
    boxes.nth(0).fill("web_search(query='Lisbon weather now')")
    field = frame.locator(".field").nth(0)
    field.locator("pre.words ins").first.wait_for()
    assert field.locator(".counts").inner_text() == "2 characters, 1 word changed"
    shot(page, "argilla-trajectory-edit")
    boxes.nth(1).fill("something else")
    frame.locator(".field").nth(1).locator("button.reset").click()
    assert boxes.nth(1).input_value() == before[1]
    save_draft(page)
    edits = [{"step": 0, "field": "action", "text": "web_search(query='Lisbon weather now')"}]
    assert desk.said(item, ann) == {"status": "draft", "answer": {"corrected_trajectory": {"edits": edits}}}
    frame = open_panel(page, desk.dataset, status="draft")
    assert frame.locator("textarea.edit").nth(0).input_value() == "web_search(query='Lisbon weather now')"
    frame.locator("textarea.edit").last.fill("It is </script> $& 20 °C.")
    submit(page)
    frame = open_panel(page, desk.dataset, status="submitted")
    assert frame.locator("textarea.edit").last.input_value() == "It is </script> $& 20 °C."
    assert not is_changed(page)
    frame.locator("textarea.edit").last.fill("It is 21 °C.")
    submit(page)
    other = argilla_page(bob)
    open_panel(other, desk.dataset)
    submit(other)
    desk.pull()
    mine, theirs = sorted(desk.records(), key=lambda record: record.annotator == bob.username)
    value = mine.annotations["corrected_trajectory"]
    [edit] = value["steps"]
    assert (edit["step_index"], edit["field"], edit["original_text"]) == (0, "action", before[0])
    assert edit["edited_text"] == "web_search(query='Lisbon weather now')"
    assert value["final_answer"]["edited_text"] == "It is 21 °C."
    assert theirs.annotations["corrected_trajectory"]["n_steps_edited"] == 0
    assert errors(page) == errors(other) == []


@pytest.mark.parametrize("desk", ["code_review"], indirect=True)
def test_a_change_is_reviewed(desk, argilla_page):
    item = sorted(desk.on_server())[0]
    desk.keep_only(item)
    ann = desk.annotator()
    page = argilla_page(ann)
    frame = open_panel(page, desk.dataset)
    added = frame.locator(".lines .row.a")
    path = frame.locator("details.file").first.get_attribute("data-file")
    number = int(added.nth(0).locator("i").nth(1).inner_text().rstrip("+"))
    added.nth(0).locator("i.number").nth(1).click()
    form = frame.locator(".comment-form")
    form.locator("button.category[data-category=bug]").click()
    form.locator("textarea.words").fill("Why is an empty list no list of one empty token?")
    shot(page, "argilla-code-review", added.nth(0))
    form.locator("textarea.words").fill("Boom </script> $& here")
    assert "a comment is not saved yet" in frame.locator(".status").inner_text()
    form.locator("button.suggest").click()
    line = added.nth(0).locator("span").inner_text()[1:]
    assert form.locator("textarea.code").input_value() == line
    form.locator("textarea.code").fill("pass")
    form.locator("button.save-comment").click()
    # A second one, on the file as a whole, then taken out again.
    frame.locator("button.comment-file").first.click()
    form.locator("button.category[data-category=praise]").click()
    form.locator("textarea.words").fill("Nice file")
    form.locator("button.save-comment").click()
    frame.locator(".rating[data-dimension=correctness] button[data-value='4']").first.click()
    page.get_by_text("Request changes").click()
    save_draft(page)
    comment = {
        "category": "bug",
        "file": path,
        "line": number,
        "side": "RIGHT",
        "text": "Boom </script> $& here",
        "suggestion": "pass",
    }
    whole = {"category": "praise", "file": path, "line": None, "text": "Nice file"}
    said = desk.said(item, ann)
    assert said["answer"]["review"] == {"comments": [comment, whole], "file_ratings": {path: {"correctness": 4}}}
    assert (said["status"], said["review_verdict"]) == ("draft", "request_changes")
    frame = open_panel(page, desk.dataset, status="draft")
    comments = frame.locator(".comment")
    assert comments.count() == 2
    comments.filter(has_text="Nice file").locator("button.delete-comment").click()
    comments.filter(has_text="Boom").locator("button.edit-comment").click()
    frame.locator(".comment-form textarea.words").fill("Boom, again")
    frame.locator(".comment-form button.save-comment").click()
    submit(page)
    open_panel(page, desk.dataset, status="submitted")
    assert not is_changed(page)
    desk.pull()
    [record] = desk.records()
    assert record.annotations["review"] == {
        "verdict": "request_changes",
        "comments": [{**comment, "text": "Boom, again"}],
        "file_ratings": {path: {"correctness": 4}},
    }
    # Edited after it was submitted; and somebody else, who has only a verdict.
    frame = open_panel(page, desk.dataset, status="submitted")
    frame.locator(".rating[data-dimension=quality] button[data-value='2']").first.click()
    submit(page)
    bob = desk.annotator()
    other = argilla_page(bob)
    assert open_panel(other, desk.dataset).locator(".comment").count() == 0
    other.get_by_text("Approve").click()
    submit(other)
    desk.pull()
    found = {one.annotator: one.annotations["review"] for one in desk.records()}
    assert found[ann.username]["file_ratings"] == {path: {"correctness": 4, "quality": 2}}
    assert found[bob.username] == {"verdict": "approve", "comments": [], "file_ratings": {}}
    discard(page)
    desk.pull()
    assert {one.annotator: one.status for one in desk.records()} == {ann.username: "skipped", bob.username: "submitted"}
    assert errors(page) == errors(other) == []


def test_a_large_change_comes_in_time(argilla, tmp_path, argilla_page):
    desk = Desk(argilla, tmp_path, "code_review")
    content = "".join(f"value_{n} = {n}\n" for n in range(5000))
    call = {"tool": "Write", "input": {"file_path": "big.py", "content": content}, "output": "File created"}
    turn = {"role": "assistant", "content": "I write it.", "tool_calls": [call]}
    item = {"id": "big", "task_description": "Write it", "structured_turns": [turn]}
    next((tmp_path / "data").iterdir()).write_text(json.dumps(item) + "\n")
    desk.push()
    page = argilla_page(desk.annotator())
    began = time.monotonic()
    frame = open_panel(page, desk.dataset)
    opened = time.monotonic() - began
    rows = frame.locator(".lines .row.a").count()
    number = frame.locator(".lines .row.a i.number:nth-child(2)").nth(30)
    taken = number.evaluate(
        """button => new Promise(done => { const began = performance.now(); button.click();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))); })"""
    )
    print(f"{rows} lines in Argilla's panel: open {opened:.1f} s, a click {taken:.0f} ms")
    assert rows == 5000
    desk.close()

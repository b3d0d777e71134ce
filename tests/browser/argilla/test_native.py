"""The native layout on the real Argilla: Argilla's own questions, in the order of the link that push prints."""

from __future__ import annotations

import pytest

from tests.servers.annotator import errors
from tests.servers.argilla_desk import Desk, shot
from tests.servers.argilla_pages import discard, open_records, save_draft, submit


@pytest.fixture
def desk(argilla, tmp_path, request):
    found = Desk(argilla, tmp_path, request.param, layout="native")
    found.report = found.push()
    yield found
    found.close()


def one_item(desk: Desk) -> str:
    """Keeps the records of the first item; gives its id."""
    first = sorted(desk.on_server())[0].split("/")[0]
    ids = [record["id"] for name, record in desk.on_server().items() if name.split("/")[0] != first]
    desk.remote.delete_records(desk.dataset, ids)
    return first


def sort_of(desk: Desk) -> str:
    return str(desk.report.project_url).split("sort=")[1]


def choose(page, *words: str) -> None:
    for word in words:
        page.locator("label").filter(has_text=word).first.click()


@pytest.mark.parametrize("desk", ["per_step"], indirect=True)
def test_steps_one_by_one(desk, argilla_page):
    item = one_item(desk)
    ann, bob = desk.annotator(), desk.annotator()
    page = argilla_page(ann)
    open_records(page, desk.dataset, sort=sort_of(desk))
    for n, word in enumerate(["Correct", "Incorrect", "Correct", "Correct", "Recovery from Error"]):
        page.get_by_text(f"Step {n + 1}", exact=False).first.wait_for()
        choose(page, word)
        if n == 2:
            # Put aside: the item is not whole yet.
            save_draft(page)
            report = desk.pull()
            assert "answer-in-part" in desk.codes() and report.new == 0
            open_records(page, desk.dataset, sort=sort_of(desk))
        else:
            submit(page)
    open_records(page, desk.dataset, status="draft", sort=sort_of(desk))
    submit(page)
    desk.pull()
    [record] = desk.records()
    assert (record.id, record.annotator, record.status) == (item, ann.username, "submitted")
    assert record.annotations["process_reward"]["labels"] == [1.0, -1.0, 1.0, 1.0, 0.25]
    # Opened again and changed.
    open_records(page, desk.dataset, status="submitted", sort=sort_of(desk))
    choose(page, "Unnecessary")
    submit(page)
    other = argilla_page(bob)
    open_records(other, desk.dataset, sort=sort_of(desk))
    for _ in range(5):
        discard(other)
    desk.pull()
    mine, theirs = sorted(desk.records(), key=lambda one: one.annotator == bob.username)
    assert mine.annotations["process_reward"]["labels"] == [-0.5, -1.0, 1.0, 1.0, 0.25]
    assert (theirs.status, theirs.annotations) == ("skipped", {})
    assert errors(page) == errors(other) == []


@pytest.mark.parametrize("desk", ["first_error"], indirect=True)
def test_the_first_error_by_its_number(desk, argilla_page):
    item = one_item(desk)
    ann, bob = desk.annotator(), desk.annotator()
    page, other = argilla_page(ann), argilla_page(bob)
    open_records(page, desk.dataset)
    choose(page, "Step 2")
    save_draft(page)
    open_records(page, desk.dataset, status="draft")
    submit(page)
    open_records(page, desk.dataset, status="submitted")
    choose(page, "Step 3")
    submit(page)
    open_records(other, desk.dataset)
    choose(other, "All steps correct")
    submit(other)
    desk.pull()
    found = {one.annotator: one.annotations["process_reward"]["first_error_step"] for one in desk.records()}
    assert ({one.id for one in desk.records()}, found) == ({item}, {ann.username: 2, bob.username: None})
    open_records(other, desk.dataset, status="submitted")
    discard(other)
    desk.pull()
    assert {one.annotator: one.status for one in desk.records()} == {ann.username: "submitted", bob.username: "skipped"}
    assert errors(page) == errors(other) == []


@pytest.mark.parametrize("desk", ["trajectory_edit"], indirect=True)
def test_texts_are_corrected_in_their_boxes(desk, argilla_page):
    item = one_item(desk)
    names = sorted(desk.on_server())
    ann, bob = desk.annotator(), desk.annotator()
    page, other = argilla_page(ann), argilla_page(bob)
    open_records(page, desk.dataset, sort=sort_of(desk))
    box = page.locator("[contenteditable=true]").first
    before = box.inner_text()
    box.fill("another </script> $& action")
    save_draft(page)
    open_records(page, desk.dataset, status="draft", sort=sort_of(desk))
    assert page.locator("[contenteditable=true]").first.inner_text() == "another </script> $& action"
    submit(page)
    open_records(page, desk.dataset, sort=sort_of(desk))
    for _ in names[1:]:
        submit(page)
    open_records(page, desk.dataset, status="submitted", sort=sort_of(desk))
    page.locator("[contenteditable=true]").first.fill("a third action")
    submit(page)
    open_records(other, desk.dataset, sort=sort_of(desk))
    for _ in names:
        discard(other)
    desk.pull()
    mine, theirs = sorted(desk.records(), key=lambda one: one.annotator == bob.username)
    value = mine.annotations["corrected_trajectory"]
    edits = [(edit["step_index"], edit["original_text"], edit["edited_text"]) for edit in value["steps"]]
    assert (mine.id, edits, value["final_answer"]) == (item, [(0, before, "a third action")], None)
    assert (theirs.status, mine.flags) == ("skipped", [])
    assert errors(page) == errors(other) == []


@pytest.mark.parametrize("desk", ["code_review"], indirect=True)
def test_files_are_reviewed_one_by_one(desk, argilla_page):
    item = one_item(desk)
    names = sorted(desk.on_server())
    ann, bob = desk.annotator(), desk.annotator()
    page, other = argilla_page(ann), argilla_page(bob)
    open_records(page, desk.dataset, sort=sort_of(desk))
    shown = page.locator("pre").last.inner_text()
    path = shown.split(":")[0]
    line = next(row for row in shown.split("\n") if row[13:14] == "+")
    number = int(line[6:12])
    page.locator("[contenteditable=true]").first.fill(f"{number}: bug: strip() is lost for the first token")
    shot(page, "argilla-native")
    page.locator("[contenteditable=true]").first.fill(f"{number}: bug: Boom </script> here")
    page.locator("label[for=review_rating_1_4]").click()
    save_draft(page)
    open_records(page, desk.dataset, status="draft", sort=sort_of(desk))
    page.locator("[contenteditable=true]").first.fill(f"{number}: bug: Boom, again")
    submit(page)
    open_records(page, desk.dataset, sort=sort_of(desk))
    for _ in names[1:-1]:
        submit(page)
    choose(page, "Request changes")
    submit(page)
    open_records(other, desk.dataset, sort=sort_of(desk))
    for _ in names:
        discard(other)
    desk.pull()
    mine, theirs = sorted(desk.records(), key=lambda one: one.annotator == bob.username)
    assert (mine.id, mine.flags, theirs.status) == (item, [], "skipped")
    assert mine.annotations["review"] == {
        "verdict": "request_changes",
        "comments": [{"category": "bug", "file": path, "line": number, "side": "RIGHT", "text": "Boom, again"}],
        "file_ratings": {path: {"correctness": 4}},
    }
    # Opened again, and changed.
    open_records(page, desk.dataset, status="submitted", sort=sort_of(desk))
    page.locator("[contenteditable=true]").first.fill("file: praise: Nice")
    submit(page)
    desk.pull()
    [mine] = [one for one in desk.records() if one.annotator == ann.username]
    assert mine.annotations["review"]["comments"] == [
        {"category": "praise", "file": path, "line": None, "text": "Nice"}
    ]
    assert errors(page) == errors(other) == []

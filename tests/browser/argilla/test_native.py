"""The native layout on the real Argilla: no script, Argilla's own questions, in the order of the link that push prints."""

from __future__ import annotations

import pytest

from tests.servers.annotator import errors
from tests.servers.argilla_desk import Desk
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
        page.locator("label, .inputs-area label, .label-text").filter(has_text=word).first.click()


def text_of(page, title: str):
    return page.locator(".wrapper, [class*=question]").filter(has_text=title).locator("[contenteditable=true]").last


@pytest.mark.parametrize("desk", ["per_step"], indirect=True)
def test_steps_one_by_one(desk, argilla_page):
    item = one_item(desk)
    ann, bob = desk.annotator(), desk.annotator()
    page = argilla_page(ann)
    open_records(page, desk.dataset, sort=sort_of(desk))
    seen = []
    for n, word in enumerate(["Correct", "Incorrect", "Correct", "Correct", "Recovery from Error"]):
        page.get_by_text(f"Step {n + 1}", exact=False).first.wait_for()
        seen.append(n)
        if n == 0:
            page.screenshot(path="/tmp/native_step.png")
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

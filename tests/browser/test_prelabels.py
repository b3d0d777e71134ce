"""Pre-labels of an earlier round as annotators meet them: comments of a review on their lines, to be changed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.prefill import add_predictions
from potato_bridge.converters.label_studio.prelabel_fit import fit, fitting
from potato_bridge.converters.label_studio.prelabels import became_of, fingerprint, prediction
from potato_bridge.converters.label_studio.results import read_answer
from potato_bridge.model import Prelabel
from potato_bridge.notices import Notices
from tests.browser.test_code_review import comment, line, newest_first, select, verdict
from tests.converters.label_studio import reviews
from tests.servers.annotator import add_view, errors, open_task, submit

PARSER = {"file": "src/parser.py"}
REVIEW = {
    "verdict": "request_changes",
    "comments": [
        {"category": "bug", **PARSER, "line": 41, "text": "throws <b>&amp; $5 {{idx}} 😀", "side": "RIGHT"},
        {
            "category": "logic",
            **PARSER,
            "line": 41,
            "text": "the old side",
            "side": "LEFT",
            "severity": "major",
            "suggestion": "    x = 1\n",
        },
        {"category": "style", **PARSER, "line": 999, "text": "lost its line", "side": "RIGHT", "outdated": True},
        {
            "category": "performance",
            **PARSER,
            "line": 45,
            "text": "a range,\nin two lines",
            "side": "RIGHT",
            "start_line": 41,
            "start_side": "RIGHT",
        },
        {"category": "praise", "file": "tests/test_parser.py", "line": 2, "text": "nice", "side": "RIGHT"},
    ],
    "file_ratings": {"src/parser.py": {"correctness": 3, "quality": 2}},
}
GONE = {"category": "bug", "file": "gone/since.py", "line": 3, "text": "x", "side": "RIGHT"}


@pytest.fixture
def desk(label_studio):
    """The project, its task and the prediction in it, on the server, once for each who answers."""
    project = reviews.project()
    task = reviews.task(reviews.PARSER + reviews.TESTS, project)
    value = {**REVIEW, "comments": [GONE, *REVIEW["comments"]]}
    prelabel = Prelabel(item="trace_042", annotations={"review": value}, model_version="ann@example.com")
    fitted = fit(project, prelabel, task)
    assert fitted.annotations == {"review": REVIEW}
    assert fitted.parts == ["review, comments[0]: the change has no file 'gone/since.py'"]
    made = prediction(project, fitting(prelabel, fitted), task)
    add_predictions(task, [made])
    body = {
        "title": "earlier round",
        "label_config": build_interface(project, Notices()).label_config,
        "show_collab_predictions": True,
    }
    http = label_studio.http
    number = http.post("/api/projects/", json=body).raise_for_status().json()["id"]
    add_view(http, number, project)
    answer = http.post(f"/api/projects/{number}/import?return_task_ids=true", json=[task] * 3).raise_for_status()
    tasks = answer.json()["task_ids"]
    http.patch(f"/api/projects/{number}/", json={"model_version": "ann@example.com"}).raise_for_status()
    [there] = http.get("/api/predictions/", params={"task": tasks[0]}).json()
    assert fingerprint(there) == fingerprint(made) is not None

    class Desk:
        def open(self, page, task: int) -> None:
            open_task(page, number, tasks[task])
            page.wait_for_selector(".pb-changed .htx-highlight")

        def answer(self, task: int):
            """The review that is stored, as `pull` reads it; what became of the pre-label, and whose it is."""
            # An export has the copy of what was shown.
            exported = http.get(f"/api/projects/{number}/export?exportType=JSON").raise_for_status().json()
            [stored] = [one for one in exported if one["id"] == tasks[task]]
            [annotation] = stored["annotations"]
            answer = read_answer(project, stored, annotation)
            assert (answer.flags, answer.controls) == ([], {})
            became, version = became_of(project, stored, annotation, answer, None)
            return answer.annotations["review"], became["review"], version

    return Desk()


def test_comments_of_an_earlier_round(desk, annotator_page) -> None:
    page = annotator_page()

    # Each stands on its line, and nothing is lost when it is submitted as it is.
    desk.open(page, 0)
    for file, row in ((0, 3), (0, 1), (0, 7), (1, 1)):
        expect(line(page, file, row).locator(".htx-highlight")).not_to_have_count(0)
    expect(line(page, 0, 9).locator(".htx-highlight")).to_have_count(0)
    submit(page)
    assert desk.answer(0) == (REVIEW, "kept", "ann@example.com")

    # One is changed, one deleted, one added.
    desk.open(page, 1)
    select(page, line(page, 0, 1))
    page.get_by_text("the old side", exact=True).last.click()
    page.locator("textarea:focus").fill("another text")
    page.locator("textarea:focus").blur()
    page.keyboard.press("Escape")
    select(page, line(page, 1, 1))
    page.keyboard.press("Backspace")
    expect(line(page, 1, 1).locator(".htx-highlight")).to_have_count(0)
    newest_first(page)
    comment(page, line(page, 0, 9), "1", "one more")
    submit(page)
    comments = [dict(one) for one in REVIEW["comments"][:-1]]
    comments[1]["text"] = "another text"
    comments.append({"category": "bug", **PARSER, "line": 91, "text": "one more", "side": "LEFT"})
    assert desk.answer(1) == ({**REVIEW, "comments": comments}, "changed", "ann@example.com")

    # Beside it, from nothing.
    desk.open(page, 2)
    page.click("[aria-label='Create an annotation']")
    expect(page.locator(".pb-changed .htx-highlight")).to_have_count(0)
    comment(page, line(page, 0, 3), "1", "mine")
    verdict(page, "Approve")
    submit(page)
    mine = {"category": "bug", **PARSER, "line": 41, "text": "mine", "side": "RIGHT"}
    value = {"verdict": "approve", "comments": [mine], "file_ratings": {}}
    assert desk.answer(2) == (value, "manual", "ann@example.com")
    assert errors(page) == []

"""The code-review interface as a reviewer meets it: real Label Studio, real Chromium, mouse and keyboard.

With POTATO_BRIDGE_SCREENSHOTS set, the picture of the documentation is made again.
"""

from __future__ import annotations

import os
import time

import pytest
from playwright.sync_api import expect

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.questions import hidden_data
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.label_studio.task_list import task_list_view
from potato_bridge.model import Record
from potato_bridge.notices import Notices
from potato_bridge.sync.label_studio.build import label_studio_tasks
from tests.browser.reviewing import (
    DRAWN,
    boxes,
    category,
    comment,
    line,
    name,
    newest_first,
    rate,
    ready,
    select,
    severity,
    verdict,
    write,
)
from tests.converters.label_studio import reviews
from tests.servers.annotator import errors, open_task, submit, update

HOSTILE = "<script>window.__pwned=1</script><img src=x onerror=window.__pwned=1>$& $5 {{idx}} </section></div>'\"`"


class Desk:
    """The documented project on the server, with a task for each run."""

    def __init__(self, label_studio, project, tasks) -> None:
        self.server, self.project = label_studio, project
        self.interface = build_interface(project, Notices())
        http = label_studio.http
        body = {"title": "code review", "label_config": self.interface.label_config}
        self.id = http.post("/api/projects/", json=body).raise_for_status().json()["id"]
        view = {"project": self.id, "data": task_list_view(hides=hidden_data(project))}
        http.post("/api/dm/views/", json=view).raise_for_status()
        answer = http.post(f"/api/projects/{self.id}/import?return_task_ids=true", json=tasks)
        self.tasks = answer.raise_for_status().json()["task_ids"]

    def open(self, page, task: int = 0) -> float:
        """Opens a task; returns the seconds until it can be worked with."""
        start = time.perf_counter()
        open_task(page, self.id, self.tasks[task])
        ready(page)
        return time.perf_counter() - start

    def answer(self, task: int = 0):
        """What is stored for a task, as `pull` reads it."""
        [*_, answer] = self.answers(task)
        return answer

    def answers(self, task: int = 0):
        stored = self.server.http.get(f"/api/tasks/{self.tasks[task]}/").raise_for_status().json()
        answers = sorted(stored["annotations"], key=lambda annotation: annotation["id"])
        controls = self.interface.controls
        return [read_answer(self.project, stored, answer, controls=controls) for answer in answers]


@pytest.fixture
def desk(label_studio):
    def make(*patches, **options):
        project = reviews.project(**options)
        tasks = [reviews.task(patch, project) for patch in patches]
        return Desk(label_studio, project, tasks or list(label_studio_tasks(project, Notices())))

    return make


@pytest.fixture
def shot():
    def take(page, name: str) -> None:
        if os.environ.get("POTATO_BRIDGE_SCREENSHOTS"):
            path = reviews.ROOT / "docs" / "images" / f"{name}.png"
            page.screenshot(path=path)
            assert path.stat().st_size < 200_000, f"{path} is too large for the repository"

    return take


def test_files_of_every_kind(desk, annotator_page):
    """Comments on lines, and all exports of them, are made in tests/cli/test_code_review_loop.py."""
    made, page = desk(reviews.PARSER + reviews.TESTS + reviews.OTHERS), annotator_page(width=1440)
    made.open(page)
    assert page.locator(".pb-toc .pb-path").all_inner_texts() == [
        "src/parser.py",
        "tests/test_parser.py",
        "old/name.py → new/name.py",
        "run.sh",
        "logo.png",
        "gone.txt",
    ]
    comment(page, line(page, 5, 0), "8", "bye!")
    comment(page, line(page, 0, 5), "5", "a blank context line")
    below = page.locator(".pb-changed").nth(5)
    expect(below).not_to_be_in_viewport()
    page.locator(".pb-toc label").nth(5).click()
    expect(below).to_be_in_viewport()
    comment(page, name(page, 2), "1", "why this name?")
    comment(page, name(page, 4), "6", "why a new logo?")
    rate(page, 5, 0, 5)
    verdict(page, "Approve")
    submit(page)
    answer = made.answer()
    assert (answer.flags, answer.controls) == ([], {})
    assert answer.annotations["review"] == {
        "verdict": "approve",
        "comments": [
            {"category": "praise", "file": "gone.txt", "line": 1, "text": "bye!", "side": "LEFT"},
            {
                "category": "style",
                "file": "src/parser.py",
                "line": 43,
                "text": "a blank context line",
                "side": "RIGHT",
            },
            {"category": "bug", "file": "new/name.py", "line": None, "text": "why this name?"},
            {"category": "suggestion", "file": "logo.png", "line": None, "text": "why a new logo?"},
        ],
        "file_ratings": {"gone.txt": {"correctness": 5}},
    }
    assert errors(page) == []


def test_what_looks_like_a_review_on_github(desk, annotator_page, shot):
    made, page = desk(), annotator_page(width=1440, height=1000)
    made.open(page)
    comment(page, line(page, 0, 3), "1", "This will throw IndexError when the tokens list is empty")
    comment(page, line(page, 0, 11), "5", "Variable name 'x' is not descriptive")
    select(page, line(page, 0, 3))
    severity(page, "Major")
    page.mouse.move(5, 5)
    shot(page, "code-review")
    texts = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor].map(c => +c.match(/[0-9.]+/)[0])"
    page.evaluate("document.documentElement.setAttribute('data-color-scheme', 'dark')")
    text, _ = line(page, 0, 0).evaluate(texts)
    _, paper = page.locator(".pb-changed").first.evaluate(texts)
    assert text - paper > 150
    assert errors(page) == []


def test_an_earlier_round_is_there_to_be_changed(desk, annotator_page):
    """Comments that we write are shown as such, and come back untouched: also what the page cannot say."""
    made, page = desk(reviews.PARSER + reviews.TESTS), annotator_page()
    value = {
        "verdict": "comment_only",
        "comments": [
            {"category": "bug", "file": "src/parser.py", "line": 41, "text": "a\r\n b\n😀 ", "side": "RIGHT"},
            {"category": "logic", "file": "src/parser.py", "line": 40, "text": "old side", "side": "LEFT"},
            {"category": "style", "file": "src/parser.py", "line": 999, "text": "gone", "outdated": True, "x": [1]},
            {
                "category": "style",
                "file": "src/parser.py",
                "line": 45,
                "text": "range",
                "side": "RIGHT",
                "start_line": 41,
                "start_side": "LEFT",
                "severity": "minor",
                "suggestion": "    x = 1\r\n\ty = 2\n",
            },
            {"category": "praise", "file": "tests/test_parser.py", "line": None, "text": "whole file"},
        ],
        "file_ratings": {"tests/test_parser.py": {"quality": 4}},
    }
    record = Record(id="trace_042", annotator="a", annotations={"review": value})
    stored = made.server.http.get(f"/api/tasks/{made.tasks[0]}/").raise_for_status().json()
    body = {"result": write_results(made.project, record, stored)}
    made.server.http.post(f"/api/tasks/{made.tasks[0]}/annotations/", json=body).raise_for_status()
    made.open(page)
    expect(line(page, 0, 3).locator(".htx-highlight")).not_to_have_count(0)
    expect(line(page, 0, 7).locator(".htx-highlight")).not_to_have_count(0)
    newest_first(page)
    comment(page, line(page, 0, 9), "1", "one more")
    update(page)
    answer = made.answer()
    more = {"category": "bug", "file": "src/parser.py", "line": 91, "text": "one more", "side": "LEFT"}
    assert (answer.flags, answer.controls) == ([], {})
    assert answer.annotations["review"] == {**value, "comments": [*value["comments"], more]}
    assert errors(page) == []


def test_a_hostile_change_breaks_nothing(desk, annotator_page):
    patch = (
        "diff --git a/../../etc/passwd b/../../etc/passwd\n--- a/../../etc/passwd\n+++ b/../../etc/passwd\n"
        f"@@ -1,2 +1,3 @@ {HOSTILE}\n {HOSTILE}\n-{HOSTILE * 3}\n+{'x' * 300_000}\n+{HOSTILE}\n"
        f"--- a/{HOSTILE}\n+++ b/{HOSTILE}\n@@ -1 +1 @@\n-a\n+\u202eb\x1b[31m\x00\n"
    )
    made, page = desk(patch), annotator_page()
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    made.open(page)
    assert page.locator(".pb-changed").count() == 2
    assert page.locator(".pb-review script, .pb-review img, .pb-review iframe, .pb-review style").count() == 0
    assert page.locator(".pb-rated").count() == 2
    assert line(page, 0, 0).text_content() == "\u2063" + HOSTILE
    comment(page, line(page, 0, 2), "1", HOSTILE)
    comment(page, line(page, 1, 1), "1", "b")
    rate(page, 1, 0, 1)
    verdict(page, "Comment only")
    submit(page)
    answer = made.answer()
    assert answer.flags == []
    found = answer.annotations["review"]
    assert found["comments"][0] == {
        "category": "bug",
        "file": "../../etc/passwd",
        "line": 2,
        "text": HOSTILE,
        "side": "RIGHT",
    }
    assert list(found["file_ratings"]) == [found["comments"][1]["file"]]
    assert page.evaluate("window.__pwned") is None
    assert dialogs == []
    assert errors(page) == []


def test_a_long_change(desk, annotator_page):
    page = annotator_page()
    made = desk(reviews.long_patch(20), reviews.long_patch(5_000, files=10))
    made.open(page)  # Without what only the very first page of a browser takes.
    opened: dict[int, list[float]] = {0: [], 1: []}
    for task in (0, 1, 0, 1):
        page.goto("about:blank")
        opened[task].append(made.open(page, task))
    target = line(page, 9, 40)
    target.scroll_into_view_if_needed()
    category(page, "1")
    start = time.perf_counter()
    target.locator("b").click()
    expect(boxes(page)).to_have_count(1)
    page.evaluate(DRAWN)
    made_in = time.perf_counter() - start
    write(page, "here")
    verdict(page, "Approve")
    submit(page)
    [found] = made.answer(1).annotations["review"]["comments"]
    assert (found["file"], found["text"]) == ("src/module_9.py", "here")
    shown = "; ".join(f"{n} lines: open {', '.join(f'{t:.2f}' for t in opened[i])} s" for i, n in ((0, 20), (1, 5_000)))
    print(f"\n{shown}; a comment among 5,000: {made_in:.2f} s")
    # 20 lines open in two seconds where nothing else runs.
    busy = max(1.0, min(opened[0]) / 2)
    assert min(opened[1]) < 6 * busy
    assert made_in < 1.5 * busy

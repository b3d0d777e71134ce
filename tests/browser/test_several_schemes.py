"""Several schemes on one page: real Label Studio, real Chromium, mouse and keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.prefill import MODEL_VERSION
from potato_bridge.converters.label_studio.results import Answer, read_answer
from potato_bridge.notices import Notices
from potato_bridge.sync.label_studio.build import label_studio_tasks
from tests.browser import reviewing
from tests.servers.annotator import add_view, errors, open_task, press, submit, update
from tests.several_schemes import EDIT, FIRST_ERROR, PER_STEP, RADIO, REVIEW, SECOND, SPAN, item, project

TEXT = "{annotation_type: text, name: why, description: Why, required: true, rows: 3}"
#: What has the focus, and how far the page is turned down.
PLACE = "[document.activeElement.tagName, document.querySelector('.lsf-main-content').scrollTop]"
OUTSIDE = """() => {
  const edge = document.querySelector(".pb").getBoundingClientRect().right + 2;
  return [...document.querySelectorAll(".pb *")].filter(e => e.offsetParent && e.getBoundingClientRect().right > edge)
    .map(e => e.className.toString());
}"""


class Desk:
    """The config on the server, with the task of its one item."""

    def __init__(self, label_studio, folder: Path, schemes: list[str]) -> None:
        self.project, self.http = project(folder, schemes, item()), label_studio.http
        self.interface = build_interface(self.project, Notices())
        body = {
            "title": "several",
            "label_config": self.interface.label_config,
            "show_collab_predictions": True,
            "model_version": MODEL_VERSION,
        }
        self.id = self.http.post("/api/projects/", json=body).raise_for_status().json()["id"]
        add_view(self.http, self.id, self.project)
        tasks = list(label_studio_tasks(self.project, Notices()))
        made = self.http.post(f"/api/projects/{self.id}/import?return_task_ids=true", json=tasks).raise_for_status()
        [self.task] = made.json()["task_ids"]

    def open(self, page: Page) -> None:
        open_task(page, self.id, self.task)
        expect(page.locator(".pb-question").first).to_be_visible()
        page.evaluate(reviewing.DRAWN)

    def answer(self) -> Answer:
        """The one answer, as `pull` reads it."""
        stored = self.http.get(f"/api/tasks/{self.task}/").raise_for_status().json()
        [annotation] = stored["annotations"]
        return read_answer(self.project, stored, annotation, controls=self.interface.controls)


@pytest.fixture
def desk(label_studio, tmp_path):
    return lambda *schemes: Desk(label_studio, tmp_path, list(schemes))


def scheme(page: Page, title: str) -> Locator:
    return page.locator(".pb-scheme", has=page.locator("h3", has_text=re.compile(f"^{title}")))


def refused(page: Page, message: str) -> None:
    page.locator("[data-testid=bottombar-submit-button]").click()
    expect(page.get_by_text(message)).to_be_visible()
    page.get_by_role("button", name="OK").click()
    expect(page.get_by_text(message)).to_have_count(0)


def comment(page: Page, part: Locator, category: str, row: int, text: str) -> None:
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    part.locator(".pb-categories").get_by_text(category, exact=True).click()
    part.locator(".pb-changed .pb-l").nth(row).locator("b").click()
    reviewing.write(page, text)


def test_each_scheme_has_its_answer(desk, annotator_page):
    made, page = desk(RADIO, REVIEW, FIRST_ERROR, SECOND, SPAN, EDIT, TEXT), annotator_page()
    made.open(page)
    assert page.evaluate(OUTSIDE) == []
    first, second = scheme(page, "First review"), scheme(page, "Second review")
    refused(page, "“Fine” has no answer yet.")
    scheme(page, "Fine").get_by_text("no", exact=True).click()
    refused(page, "Choose a verdict for “First review”.")
    first.get_by_text("Request changes", exact=True).click()
    refused(page, "Choose the first wrong step")
    # The steps have the keys, wherever they stand.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("2")
    expect(page.locator(".pb-steps .ant-radio-checked")).to_have_count(1)
    expect(page.locator(".pb-categories .lsf-label_selected")).to_have_count(0)
    expect(page.locator(".pb-categories .lsf-label__hotkey:visible")).to_have_count(0)
    refused(page, "Choose a verdict for “Second review”.")
    second.get_by_text("Bad", exact=True).click()
    comment(page, first, "bug", 1, "in the first")
    comment(page, second, "style", 2, "in the second")
    first.locator(".ant-rate").first.locator("li").nth(2).click()
    second.locator(".ant-rate").nth(1).locator("li").nth(4).click()
    refused(page, "“Why” has no answer yet.")
    scheme(page, "Why").locator("textarea").fill("All in all")
    page.locator(".pb-edit .pb-right textarea").first.fill("set y to three")
    submit(page)

    place = {"file": "a.py", "side": "RIGHT"}
    expected = {
        "ok": "no",
        "code-review": {
            "verdict": "request_changes",
            "comments": [{"category": "bug", "line": 2, "text": "in the first", **place}],
            "file_ratings": {"a.py": {"correctness": 3}},
        },
        "reward": {"mode": "first_error", "first_error_step": 1, "total_steps": 2, "labels": [1, -1]},
        "second": {
            "verdict": "bad",
            "comments": [{"category": "style", "line": 3, "text": "in the second", **place}],
            "file_ratings": {"a.py": {"quality": 5}},
        },
        "why": "All in all",
    }
    found = made.answer()
    [edit] = found.annotations.pop("my-edit")["steps"]
    assert (edit["step_index"], edit["edited_text"]) == (0, "set y to three")
    assert (found.annotations, found.flags, found.controls) == (expected, [], {})

    made.open(page)
    scheme(page, "Fine").get_by_text("yes", exact=True).click()
    update(page)
    found = made.answer()
    assert found.annotations.pop("my-edit")["steps"] == [edit]
    assert (found.annotations, found.flags, found.controls) == ({**expected, "ok": "yes"}, [], {})
    assert errors(page) == []


def test_a_page_with_filled_boxes_opens_at_its_top(desk, annotator_page):
    """Label Studio gives the last filled box the focus: the first key would be an edit that nobody wanted."""
    made, page = desk(FIRST_ERROR, EDIT, TEXT), annotator_page(height=600)
    for again in (False, True):
        made.open(page)
        expect(page.locator(".pb-edit textarea").first).to_have_value("set y 3")
        assert page.evaluate(PLACE) == ["BODY", 0]
        page.keyboard.press("2" if again else "1")
        expect(page.locator(".pb-steps input[name=step_1]" if again else "input[name=step_0]")).to_be_checked()
        if not again:
            scheme(page, "Why").locator("textarea").fill("because")
            submit(page)
    update(page)
    found = made.answer()
    assert found.annotations["reward"]["first_error_step"] == 1
    assert (found.annotations["my-edit"]["n_steps_edited"], found.annotations["why"]) == (0, "because")
    # Every box is reached with Tab.
    page.locator(".pb-edit .pb-right textarea").first.click()
    page.keyboard.press("Tab")
    expect(page.locator(".pb-edit .pb-right textarea").nth(1)).to_be_focused()


def test_pages_of_steps_beside_filled_boxes(desk, annotator_page):
    keys = RADIO.replace("required: true", "required: true, sequential_key_binding: true")
    made, page = desk(PER_STEP, EDIT, keys), annotator_page(height=1400)
    made.open(page)
    # Nothing is asked before the first step, and no turning of pages where there are none.
    expect(page.locator(".pb-page")).to_be_visible()
    expect(page.locator(".pb-rating:visible")).to_have_count(0)
    expect(page.locator(".lsf-pagination:visible")).to_have_count(1)
    press(page, "2", ".pb-box .ant-radio-wrapper-checked")
    for _ in range(2):
        page.locator(".pb-question").first.click()
        page.keyboard.press("Alt+ArrowRight")
        page.locator(".pb-rating:visible").get_by_text("Correct", exact=True).click()
    submit(page)
    found = made.answer()
    assert (found.annotations["reward"]["labels"], found.flags, found.controls) == ([1.0, 1.0], [], {})
    assert found.annotations["ok"] == "no"
    assert errors(page) == []

"""Judgements of steps and a question about a passage: real Label Studio, real Chromium, mouse and keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.prefill import MODEL_VERSION
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.model import Record
from potato_bridge.notices import Notices
from potato_bridge.sync.label_studio.build import label_studio_tasks
from tests.browser.test_general import PLACES
from tests.converters.label_studio.judged_page import ANSWERS, RATIONALE, make_project
from tests.servers.annotator import add_view, errors, open_task, submit, update

DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


class Desk:
    """The project on the server, and the page of its first item."""

    def __init__(self, label_studio, project, page) -> None:
        self.project, self.page, self.http = project, page, label_studio.http
        self.interface = build_interface(project, Notices())
        body = {
            "title": "judged",
            "label_config": self.interface.label_config,
            "show_collab_predictions": True,
            "model_version": MODEL_VERSION,
        }
        self.id = self.http.post("/api/projects/", json=body).raise_for_status().json()["id"]
        add_view(self.http, self.id, self.project)
        tasks = list(label_studio_tasks(project, Notices()))
        answer = self.http.post(f"/api/projects/{self.id}/import?return_task_ids=true", json=tasks)
        self.task = answer.raise_for_status().json()["task_ids"][0]

    def open(self) -> None:
        open_task(self.page, self.id, self.task)
        self.page.wait_for_selector(".pb-judged .pb-cards")
        self.page.evaluate(DRAWN)

    def stored(self) -> dict:
        return self.http.get(f"/api/tasks/{self.task}/").raise_for_status().json()

    def answer(self):
        [annotation] = self.stored()["annotations"]
        return read_answer(self.project, self.stored(), annotation, controls=self.interface.controls)

    def turn(self, number: int) -> None:
        """Turns to the page of a step with the keyboard: again, if nothing happened."""
        name = self.page.locator(".pb-judged .pb-step .pb-name")
        for _ in range(40):
            shown = int((name.text_content() or "").removeprefix("Step ") or 0) if name.count() else 0
            if shown == number:
                return
            self.page.keyboard.press("Alt+ArrowLeft" if shown > number else "Alt+ArrowRight")
            self.page.evaluate(DRAWN)
        raise AssertionError(f"no page of step {number}")

    def choose(self, text: str) -> None:
        self.page.locator(".pb-judge .ant-radio-wrapper", has_text=re.compile(rf"^{text}")).click()
        expect(self.page.locator(".pb-judge .ant-radio-wrapper-checked", has_text=re.compile(text))).to_have_count(1)

    def pick(self, text: str) -> None:
        self.page.locator(".pb-judge .lsf-choices_layout_select button").click()
        self.page.get_by_role("option", name=text, exact=True).click()
        expect(self.page.get_by_role("option", name=text)).to_have_count(0)

    def leave(self) -> None:
        self.page.locator(".pb-question").first.click()

    def mark(self, lines: tuple[int, int], start: int, end: int) -> None:
        first = self.page.evaluate(PLACES, [lines[0], start, start + 1])
        last = self.page.evaluate(PLACES, [lines[1], end - 1, end])
        self.page.mouse.move(first[0], first[1])
        self.page.mouse.down()
        self.page.mouse.move(last[2] - 20, last[3], steps=4)
        self.page.mouse.move(last[2], last[3], steps=4)
        self.page.mouse.up()
        expect(self.page.locator(".pb-labels .htx-highlight").first).to_be_visible()
        self.page.keyboard.press("Escape")


def test_steps_are_judged_and_a_passage_is_marked(label_studio, annotator_page, tmp_path):
    desk = Desk(label_studio, make_project(tmp_path, "page"), annotator_page(height=1800))
    page = desk.page
    desk.open()
    expect(page.locator(".pb-judge")).to_be_hidden()
    desk.turn(1)
    # Keys that Label Studio gives to options without one would answer on every page.
    for key in "1234567890qwertasdfgzxcvb":
        page.keyboard.press(key)
    assert page.locator(".pb-judge .ant-radio-wrapper-checked").count() == 0
    # What is wrong is asked only where something is.
    expect(page.locator(".pb-judge textarea")).to_be_hidden()
    desk.choose("Correct")
    expect(page.locator(".pb-judge textarea")).to_be_hidden()
    page.locator("[data-testid=bottombar-submit-button]").click()
    expect(page.get_by_text("Step 2 is not judged yet").first).to_be_visible()
    page.get_by_role("button", name="OK").click()

    desk.turn(2)
    assert page.locator(".pb-judge .ant-radio-wrapper-checked").count() == 0
    desk.choose("Incorrect")
    desk.turn(3)
    assert page.locator(".pb-judged .pb-turn").count() == 1
    desk.choose("Partially Correct")
    desk.pick("reasoning")
    desk.choose("minor")
    page.locator("[data-testid=bottombar-submit-button]").click()
    expect(page.get_by_text("Step 2 is wrong: how bad is it?").first).to_be_visible()
    page.get_by_role("button", name="OK").click()
    assert desk.stored()["annotations"] == []
    desk.turn(2)
    desk.pick('tool <b> & $5 › wrong "args"'.replace("$5", "$\u20605"))
    desk.choose("very bad")
    page.locator(".pb-judge textarea").first.fill(RATIONALE)
    desk.leave()
    expect(page.locator(".pb-box .pb-tasktext")).to_have_text("Where <b>?")
    page.locator(".pb-box").get_by_text("Answer", exact=True).click()
    desk.mark((0, 1), 7, 13)
    submit(page)
    found = desk.answer()
    assert (found.flags, found.controls) == ([], {})
    assert found.annotations == ANSWERS
    assert errors(page) == []

    # Of a step that turns out to be right, what was said before is not submitted.
    desk.turn(2)
    desk.choose("Correct")
    update(page)
    found = desk.answer()
    assert found.flags == []
    assert found.annotations["judge"]["steps"][1] == {"step_index": 2, "correctness": "correct"}
    assert found.annotations["judge"]["score"] == 9


def test_an_answer_of_ours_is_shown(label_studio, annotator_page, tmp_path):
    desk = Desk(label_studio, make_project(tmp_path, "page"), annotator_page(height=1800))
    page = desk.page
    record = Record(id="i1", annotator="a", annotations=ANSWERS)
    results = write_results(desk.project, record, desk.stored())
    desk.http.post(f"/api/tasks/{desk.task}/annotations/", json={"result": results}).raise_for_status()
    assert desk.answer().annotations == ANSWERS
    desk.open()
    expect(page.locator(".pb-judge")).to_be_hidden()
    desk.turn(2)
    chosen = page.locator(".pb-judge .ant-radio-wrapper-checked")
    assert chosen.all_inner_texts() == ["Incorrect", "very bad (-5)"]
    expect(page.locator(".pb-judge .lsf-choices_layout_select button")).to_contain_text('wrong "args"')
    assert page.locator(".pb-judge textarea").first.input_value() == RATIONALE
    marks = page.locator(".pb-labels .htx-highlight")
    assert "".join(marks.all_inner_texts()).replace("\n", "") == "catsat <b>on</b>"
    # Looked at and sent again, it is the same answer.
    page.locator(".pb-box").get_by_text("Unanswerable", exact=True).click()
    page.locator(".pb-box").get_by_text("Unanswerable", exact=True).click()
    update(page)
    assert desk.answer().annotations == ANSWERS


def test_it_cannot_be_answered(label_studio, annotator_page, tmp_path):
    desk = Desk(label_studio, make_project(tmp_path, "page"), annotator_page(height=1800))
    desk.open()
    for number in (1, 2, 3):
        desk.turn(number)
        desk.choose("Correct")
    desk.page.locator(".pb-box").get_by_text("Unanswerable", exact=True).click()
    submit(desk.page)
    unanswerable = {"answer_text": "", "start": -1, "end": -1, "unanswerable": True}
    found = desk.answer()
    assert (found.annotations["answer"], found.annotations["judge"]["score"], found.flags) == (unanswerable, 10, [])

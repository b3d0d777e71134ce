"""Schemes of the general types on one page: real Label Studio, real Chromium, mouse and keyboard.

With POTATO_BRIDGE_SCREENSHOTS set, the picture of the documentation is made again.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from playwright.sync_api import expect

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.prefill import MODEL_VERSION
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.model import Record
from potato_bridge.notices import Notices
from potato_bridge.sync.label_studio.build import label_studio_tasks
from tests.converters.label_studio.general_page import ANSWERS, make_project
from tests.servers.annotator import add_view, errors, open_task, submit

ROOT = Path(__file__).resolve().parents[2]
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
#: The middles of the first and the last character of a part of one line of the marked text.
PLACES = """([line, start, end]) => {
  const lines = document.querySelectorAll(".pb-labels .lsf-richtext__line");
  const text = document.createTreeWalker(lines[line], NodeFilter.SHOW_TEXT).nextNode();
  const range = document.createRange();
  range.setStart(text, start);
  range.setEnd(text, end);
  const boxes = range.getClientRects(), first = boxes[0], last = boxes[boxes.length - 1];
  return [first.left + 0.5, first.top + first.height / 2, last.right - 0.5, last.top + last.height / 2];
}"""


class Form:
    """The page in the hands of an annotator."""

    def __init__(self, page) -> None:
        self.page = page

    def card(self, description: str):
        title = self.page.locator("h3", has_text=re.compile(f"^{re.escape(description)}"))
        return self.page.locator(".pb-box", has=title)

    def click(self, description: str, text: str) -> None:
        self.card(description).get_by_text(text, exact=True).click()

    def choose(self, description: str, number: int) -> None:
        self.card(description).locator("input[type=radio]").nth(number).click()

    def fill(self, description: str, text: str, number: int = 0) -> None:
        box = self.card(description).locator("textarea, .lsf-text-area input, input[type=number]").nth(number)
        box.fill(text)

    def slide(self, description: str, to: int) -> None:
        """Moves a slider with the arrow keys, whatever place it starts from."""
        slider = self.card(description).locator("input[type=range]")
        slider.focus()
        self.page.keyboard.press("ArrowRight")
        while (at := int(slider.input_value())) != to:
            self.page.keyboard.press("ArrowLeft" if at > to else "ArrowRight")
            expect(slider).not_to_have_value(str(at))

    def leave(self) -> None:
        """Takes the focus out of a box: keys are the page's then."""
        self.page.locator(".pb-question").first.click()

    def mark(self, line: int, start: int, end: int) -> None:
        marks = self.page.locator(".pb-labels .htx-highlight")
        before = marks.count()
        x, y, last_x, last_y = self.page.evaluate(PLACES, [line, start, end])
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move((x + last_x) / 2, last_y, steps=4)
        self.page.mouse.move(last_x, last_y, steps=4)
        self.page.mouse.up()
        expect(marks).not_to_have_count(before)
        self.page.keyboard.press("Escape")

    def rank(self, description: str, name: str) -> None:
        """Moves a label into the other column by keyboard, as screen readers say how."""
        item = self.card(description).locator(f"[data-ranker-id='{name}']")
        ranked = self.card(description).locator("[data-rbd-droppable-id=ranked]")
        expect(item).to_have_count(1)
        item.focus()
        self.page.keyboard.press("Space")
        said = self.page.locator("[id^=rbd-announcement]").first
        expect(said).to_contain_text("lifted")
        self.page.keyboard.press("ArrowRight")
        expect(said).to_contain_text("moved")
        self.page.keyboard.press("Space")
        expect(ranked.locator(f"[data-ranker-id='{name}']")).to_have_count(1)


def test_every_type_on_one_page(label_studio, annotator_page, tmp_path):
    project = make_project(tmp_path, "page")
    interface = build_interface(project, Notices())
    http = label_studio.http
    body = {
        "title": "general",
        "label_config": interface.label_config,
        "show_collab_predictions": True,
        "model_version": MODEL_VERSION,
    }
    made = http.post("/api/projects/", json=body).raise_for_status().json()["id"]
    add_view(http, made, project)
    tasks = list(label_studio_tasks(project, Notices()))
    answer = http.post(f"/api/projects/{made}/import?return_task_ids=true", json=tasks).raise_for_status()
    task = answer.json()["task_ids"][0]

    def stored() -> dict:
        return http.get(f"/api/tasks/{task}/").raise_for_status().json()

    page = annotator_page(height=3400)
    open_task(page, made, task)
    page.evaluate(DRAWN)
    form = Form(page)

    # Nothing is answered by opening the page; what is required is asked for by its name.
    page.locator("[data-testid=bottombar-submit-button]").click()
    expect(page.get_by_text("has no answer yet").first).to_be_visible()
    page.get_by_role("button", name="OK").click()
    assert stored()["annotations"] == []
    assert (
        page.locator(".pb-required .pb-question h3").first.evaluate("e => getComputedStyle(e, '::after').content")
        == '" *"'
    )
    # Keys of other options do nothing: Label Studio would give out q, w, e … itself.
    for key in "567890qwertasdfgzxcvb":
        page.keyboard.press(key)
    assert page.locator(".pb-box .ant-radio-checked, .pb-box .ant-checkbox-checked").count() == 0

    page.keyboard.press("n")
    form.fill("How does it", "free 😀")
    form.click("Topics", "taste, smell")
    form.click("Topics", "price")
    form.fill("Why", "because <b> & $5\nline 2")
    form.fill("Two boxes", "only second", 1)
    form.choose("Quality", 3)
    form.click("Agree", "agree")
    expect(form.card("Which language")).to_be_hidden()
    form.card("Language").locator("button").first.click()
    page.get_by_role("option", name="other").click()
    expect(form.card("Which language")).to_be_visible()
    form.fill("Which language", "Latin")
    form.fill("How many", "7")
    form.slide("How sure", 55)
    form.leave()
    page.keyboard.press("p")
    form.mark(1, 0, 3)
    form.click("Mark", "thing")
    form.mark(0, 7, 18)
    form.click("Mark", "thing")
    # The family is one sign of eight code units.
    form.mark(3, 0, 12)
    form.click("Which is better", "No preference")
    form.slide("By how much", -1)
    form.choose("In what", 0)
    form.choose("In what", 3)
    form.choose("Confidence", 3)
    form.choose("Rate each", 1)
    form.choose("Feel", 6)
    form.choose("Feel", 7)
    for number, points in enumerate(("3", "7")):
        form.fill("Share", points, number)
    for number, points in enumerate(("60", "40")):
        form.fill("Soft", points, number)
    for name in ("#1", "speed", "style"):
        form.rank("Rank", name)
    form.leave()
    page.keyboard.press("j")
    form.fill("Correct it", "n <i>")
    form.card("Kinds").locator(".ant-select-selector").click()
    page.locator(".ant-select-tree-switcher").first.click()
    page.locator(".ant-select-tree-treenode", has_text="Slow").locator(".ant-select-tree-checkbox").click()
    page.keyboard.press("Escape")
    form.leave()
    if os.environ.get("POTATO_BRIDGE_SCREENSHOTS"):
        picture = ROOT / "docs" / "images" / "general.png"
        page.screenshot(path=picture, clip={"x": 240, "y": 95, "width": 720, "height": 1900})
        assert picture.stat().st_size < 200_000
    submit(page)

    [annotation] = stored()["annotations"]
    found = read_answer(project, stored(), annotation, controls=interface.controls)
    assert (found.flags, found.controls) == ([], {})
    ranked = found.annotations.pop("order")
    assert found.annotations == {name: value for name, value in ANSWERS.items() if name != "order"}
    # Each label came in at the place where the keyboard put it.
    assert sorted(ranked) == sorted(ANSWERS["order"])
    assert errors(page) == []

    # The same answers, written to the server by us, are the same marks on the page, and read back the same.
    record = Record(id="i1", annotator="a", annotations=ANSWERS)
    results = write_results(project, record, stored())
    http.delete(f"/api/annotations/{annotation['id']}/").raise_for_status()
    http.post(f"/api/tasks/{task}/annotations/", json={"result": results}).raise_for_status()
    open_task(page, made, task)
    marks = page.locator(".pb-labels .htx-highlight")
    expect(marks).to_have_count(3)
    assert marks.all_inner_texts() == ["soup <b>was", "Ann", "Zoë 👩‍👩‍👧"]
    assert form.card("Quality").locator(".ant-radio-checked input").get_attribute("name") == "4"
    assert form.card("How many").locator("input").input_value() == "7"
    titles = form.card("Rank").locator("[data-rbd-droppable-id=ranked] h5").all_inner_texts()
    assert titles == ANSWERS["order"]
    [again] = stored()["annotations"]
    assert read_answer(project, stored(), again).annotations == ANSWERS

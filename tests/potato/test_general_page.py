"""The real Potato on answers of the general types that we wrote: its page shows them, and gives them back unchanged."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.sidecar import SIDECAR
from potato_bridge.converters.potato.write_output import write_annotation_output
from potato_bridge.model import Project, Record
from potato_bridge.notices import Notices
from tests.converters.label_studio.general_page import ANSWERS, make_project
from tests.servers.annotator import new_page
from tests.servers.potato import Potato

#: Whether each mark lies over the first letter of its word, all of them at one moment: the page moves while it loads.
MARKED = """words => {
  const marks = document.querySelectorAll("#span-overlays-text .span-highlight-segment");
  const first = word => {
    const texts = document.createTreeWalker(document.querySelector("#text-content-text"), NodeFilter.SHOW_TEXT);
    for (let node; (node = texts.nextNode()); ) {
      const at = node.textContent.indexOf(word);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      return range.getBoundingClientRect();
    }
  };
  return marks.length === words.length && words.every((word, number) => {
    const letter = first(word), mark = marks[number].getBoundingClientRect();
    const x = letter.left + letter.width / 2, y = letter.top + letter.height / 2;
    return mark.left <= x && x <= mark.right && mark.top <= y && y <= mark.bottom;
  });
}"""


def read(project: Project) -> dict[str, Any]:
    (record,) = [r for r in records_from_potato(project, project.output_dir, Notices()) if r.id == "i1"]
    assert record.flags == []
    return record.annotations


def checked(page: Page, scheme: str) -> list[str | None]:
    inputs = page.locator(f"form#{scheme} input:is([type=radio], [type=checkbox]):checked")
    return [box.get_attribute("value") for box in inputs.all()]


def test_the_page_shows_every_answer_and_keeps_it(tmp_path: Path, potato: Potato, browser: Browser) -> None:
    project = make_project(tmp_path, uuid.uuid4().hex)
    notices = Notices()
    written = Record(id="i1", annotator="ann", annotations=ANSWERS)
    assert write_annotation_output(project, [written], project.output_dir, notices).written == 1
    assert list(notices) == []
    # From the state alone.
    (project.output_dir / "ann" / SIDECAR).unlink()
    assert read(project) == ANSWERS

    context = browser.new_context(viewport={"width": 1280, "height": 1600})
    with potato.serving(project.config) as url:
        page = new_page(context, url)
        page.goto(url)
        page.locator("input[name=email]:visible").fill("ann")
        page.locator("input[name=email]:visible").press("Enter")
        page.locator("form#sentiment").wait_for()
        page.wait_for_function("document.querySelector('form#sentiment input:checked')")
        page.wait_for_function(MARKED, arg=["soup", "Ann", "Zoë"])
        assert checked(page, "sentiment") == ["emoji 😀"]
        assert checked(page, "topics") == ["price", "taste, smell"]
        assert checked(page, "quality") == ["4"]
        assert page.locator("form#why textarea").input_value() == ANSWERS["why"]
        assert page.locator("form#lang select").input_value() == "other"
        assert page.locator("form#count input").input_value() == "7"
        assert page.locator("form#sure input[type=range]").input_value() == "55"
        page.locator("#next-btn").click()
        page.wait_for_function("document.getElementById('instance_id')?.value === 'i2'")
    context.close()
    assert read(project) == ANSWERS

"""The real Potato on judgements of steps and answers in a passage: its page shows ours, and what it stores is read."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.sidecar import SIDECAR
from potato_bridge.converters.potato.user_states import STATE
from potato_bridge.converters.potato.write_output import write_annotation_output
from potato_bridge.model import Project, Record
from potato_bridge.notices import Notices
from tests.converters.label_studio.judged_page import ANSWERS, RATIONALE, make_project
from tests.servers.annotator import new_page
from tests.servers.potato import Potato

#: Marks a part of the passage, as a mouse does; the places are those of the browser.
MARK = """([start, end]) => {
  const passage = document.getElementById("answer-passage"), text = passage.firstChild, range = document.createRange();
  range.setStart(text, start);
  range.setEnd(text, end);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  passage.dispatchEvent(new MouseEvent("mouseup", {bubbles: true}));
}"""


def read(project: Project) -> dict[str, Any]:
    (record,) = [r for r in records_from_potato(project, project.output_dir, Notices()) if r.id == "i1"]
    assert record.flags == []
    return record.annotations


def stored(project: Project, scheme: str) -> dict[str, Any]:
    """What Potato's state holds of a scheme."""
    state = json.loads((project.output_dir / "ann" / STATE).read_text(encoding="utf-8"))
    entries = state["instance_id_to_label_to_value"]["i1"]
    [value] = [value for label, value in entries if label == {"schema": scheme, "name": scheme}]
    found: dict[str, Any] = json.loads(value)
    return found


@pytest.fixture
def sign_in(browser: Browser) -> Callable[[str], Page]:
    def enter(url: str) -> Page:
        page = new_page(browser.new_context(viewport={"width": 1280, "height": 1600}), url)
        page.goto(url)
        page.locator("input[name=email]:visible").fill("ann")
        page.locator("input[name=email]:visible").press("Enter")
        page.locator(".traj-step-card").nth(4).wait_for()
        # Where it restores an answer late, Potato takes the passage for HTML: <b> is gone then.
        expect(page.locator("#answer-passage")).to_contain_text("Zoë left.")
        return page

    return enter


def go_on(page: Page) -> None:
    """Next, which saves."""
    page.locator("#next-btn").click()
    page.wait_for_function("document.getElementById('instance_id')?.value === 'i2'")


def click(page: Page, step: int, text: str) -> None:
    page.locator(f'.traj-step-card[data-step-index="{step}"] .traj-correctness-btn[data-value="{text}"]').click()


def test_the_page_shows_what_we_wrote_and_keeps_it(
    tmp_path: Path, potato: Potato, sign_in: Callable[[str], Page]
) -> None:
    project = make_project(tmp_path, uuid.uuid4().hex)
    notices = Notices()
    written = Record(id="i1", annotator="ann", annotations=ANSWERS)
    assert write_annotation_output(project, [written], project.output_dir, notices).written == 1
    assert list(notices) == []
    # From the state alone.
    (project.output_dir / "ann" / SIDECAR).unlink()
    assert read(project) == ANSWERS

    with potato.serving(project.config) as url:
        page = sign_in(url)
        chosen = page.locator(".traj-correctness-btn.selected")
        expect(chosen).to_have_count(3)
        assert [button.get_attribute("data-value") for button in chosen.all()] == [
            "correct",
            "incorrect",
            "partially_correct",
        ]
        second = page.locator('.traj-step-card[data-step-index="2"]')
        assert second.locator(".traj-error-type").input_value() == 'tool <b> & $5::wrong "args"'
        assert second.locator("input:checked").get_attribute("value") == "very bad"
        assert second.locator(".traj-rationale").input_value() == RATIONALE
        assert page.locator("#judge-score-value").inner_text() == "4"
        expect(page.locator("#answer-answer-text")).to_have_text(ANSWERS["answer"]["answer_text"])
        # The page wants a judgement of each turn, also of those of the user.
        click(page, 0, "correct")
        click(page, 3, "correct")
        go_on(page)
    blob = stored(project, "judge")
    assert (blob["score"], blob["score_complete"]) == (4, True)
    changed = read(project)
    assert changed["answer"] == ANSWERS["answer"]
    steps = [{"step_index": 0, "correctness": "correct"}, *ANSWERS["judge"]["steps"]]
    steps.insert(3, {"step_index": 3, "correctness": "correct"})
    assert changed["judge"] == {**ANSWERS["judge"], "steps": steps}


def test_what_the_page_stores_is_read(tmp_path: Path, potato: Potato, sign_in: Callable[[str], Page]) -> None:
    project = make_project(tmp_path, uuid.uuid4().hex)
    with potato.serving(project.config) as url:
        page = sign_in(url)
        for step in range(5):
            click(page, step, "incorrect" if step == 4 else "correct")
        last = page.locator('.traj-step-card[data-step-index="4"]')
        last.locator(".traj-error-type").select_option("reasoning")
        last.locator("input[value='very bad']").check()
        last.locator(".traj-rationale").fill("why")
        assert page.locator("#judge-score-value").inner_text() == "5"
        # Places in UTF-16 code units, with white space around.
        page.evaluate(MARK, [10, 24])
        go_on(page)
    blob = stored(project, "judge")
    assert (blob["score"], blob["score_complete"], len(blob["steps"])) == (5, True, 5)
    said = {"error_type": "reasoning", "severity": "very bad", "rationale": "why"}
    steps = [{"step_index": step, "correctness": "correct"} for step in range(4)]
    annotations = read(project)
    assert annotations["judge"] == {
        "steps": [*steps, {"step_index": 4, "correctness": "incorrect", **said}],
        "score": 5,
        "score_complete": True,
    }
    assert annotations["answer"] == {"answer_text": "sat <b>on</b>", "start": 10, "end": 23, "unanswerable": False}

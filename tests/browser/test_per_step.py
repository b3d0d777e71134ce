"""The per-step interface as an annotator meets it: real Label Studio, real Chromium, mouse and keyboard.

With POTATO_BRIDGE_SCREENSHOTS set, the pictures of the documentation are made again.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.per_step import MANY_STEPS
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.label_studio.task_list import task_list_view
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Record
from potato_bridge.model.trace import Result
from potato_bridge.notices import Notices
from tests.converters.label_studio import samples
from tests.servers.annotator import errors, open_task, submit, update

ROOT = Path(__file__).resolve().parents[2]
NOTES = "line one 😀\nline two <b>&amp; & $5 {{idx}}"
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


class Desk:
    """The documented per-step project on the server."""

    def __init__(self, label_studio, traces, load_image=lambda _: None) -> None:
        self.server, self.notices = label_studio, Notices()
        self.project = read_project(ROOT / "examples" / "per_step" / "config.yaml", self.notices)
        self.interface = build_interface(self.project, self.notices)
        http = label_studio.http
        body = {"title": "per step", "label_config": self.interface.label_config}
        self.id = http.post("/api/projects/", json=body).raise_for_status().json()["id"]
        http.post("/api/dm/views/", json={"project": self.id, "data": task_list_view()}).raise_for_status()
        tasks = [build_task(self.project, samples.item(t), t, self.notices, load_image=load_image) for t in traces]
        answer = http.post(f"/api/projects/{self.id}/import?return_task_ids=true", json=tasks)
        self.tasks = answer.raise_for_status().json()["task_ids"]

    def open(self, page, task: int = 0) -> float:
        """Opens a task; returns the seconds until it can be worked with."""
        start = time.perf_counter()
        open_task(page, self.id, self.tasks[task])
        page.wait_for_selector(".pb-page .pb-cards")
        page.evaluate(DRAWN)
        return time.perf_counter() - start

    def stored(self, task: int = 0) -> dict:
        return self.server.http.get(f"/api/tasks/{self.tasks[task]}/").raise_for_status().json()

    def answers(self, task: int = 0) -> list:
        """What is stored for a task, as `pull` reads it."""
        stored, controls = self.stored(task), self.interface.controls
        return [read_answer(self.project, stored, answer, controls=controls) for answer in stored["annotations"]]


@pytest.fixture
def desk(label_studio):
    return lambda *traces, **more: Desk(label_studio, traces, **more)


@pytest.fixture
def shot():
    def take(page, name: str) -> None:
        if os.environ.get("POTATO_BRIDGE_SCREENSHOTS"):
            path = ROOT / "docs" / "images" / f"{name}.png"
            page.screenshot(path=path)
            assert path.stat().st_size < 200_000, f"{path} is too large for the repository"

    return take


def turn(page, number: int) -> None:
    """Turns to the page of a step with the keyboard, as an annotator does: again, if nothing happened."""
    name = page.locator(".pb-page .pb-step .pb-name")
    for _ in range(40):
        # It has no inner text while the page is being drawn.
        shown = int((name.text_content() or "").removeprefix("Step ") or 0) if name.count() else 0
        if shown == number:
            return
        page.keyboard.press("Alt+ArrowLeft" if shown > number else "Alt+ArrowRight")
        page.evaluate(DRAWN)
    raise AssertionError(f"no page of step {number}: {page.url}")


def press_with_alt(page, key: str) -> None:
    """Alt and a key as a keyboard sends them, with the text of the key: that is what access keys look at."""
    session = page.context.new_cdp_session(page)
    code = {"key": key, "code": f"Digit{key}", "windowsVirtualKeyCode": ord(key), "modifiers": 1}
    session.send("Input.dispatchKeyEvent", {"type": "keyDown", "text": key, "unmodifiedText": key, **code})
    session.send("Input.dispatchKeyEvent", {"type": "keyUp", **code})
    session.detach()


def choose(page, display: str) -> None:
    page.locator(".pb-rating .pb-choice", has_text=re.compile(rf"^{display}")).click()
    expect(page.locator(".pb-rating .ant-radio-wrapper-checked")).to_have_text(re.compile(display))


def categorise(page, category: str) -> None:
    page.locator(".pb-rating .lsf-choices_layout_select button").click()
    page.get_by_role("option", name=category).click()
    expect(page.get_by_role("option", name=category)).to_have_count(0)


def note(page, text: str) -> None:
    page.locator(".pb-rating textarea").first.fill(text)
    # What is in the box is stored when another place gets the focus, or with Submit.
    page.locator(".pb-question").click()


def value(answer):
    return answer.annotations["process_reward"]


def test_mouse_and_keyboard_on_a_coding_trace(desk, annotator_page, shot):
    made, page = desk(samples.coding_trace()), annotator_page()
    made.open(page)
    assert page.locator(".pb-page .pb-turn").count() == 2
    expect(page.locator(".pb-page .pb-rating")).to_be_hidden()

    turn(page, 1)
    # Keys that Label Studio gives to options without one would answer on every page.
    for key in "1234567890qwertasdfgzxcvb":
        page.keyboard.press(key)
    assert page.locator(".pb-rating .ant-radio-wrapper-checked").count() == 0
    press_with_alt(page, "1")
    expect(page.locator(".pb-rating .ant-radio-wrapper-checked")).to_have_text(re.compile("^Correct"))
    assert page.locator(".pb-step").evaluate("e => getComputedStyle(e).borderLeftColor") == "rgb(34, 197, 94)"

    turn(page, 2)
    assert page.locator(".pb-rating .ant-radio-wrapper-checked").count() == 0
    choose(page, "Incorrect")
    categorise(page, "Logic error")
    shot(page, "per-step")
    turn(page, 3)
    choose(page, "Incorrect")
    categorise(page, "Correct tool, wrong arguments")
    choose(page, "Correct")
    expect(page.locator(".pb-rating .lsf-choices_layout_select")).to_be_hidden()
    note(page, NOTES)
    turn(page, 4)
    assert page.locator(".pb-page .pb-turn").count() == 1
    # Tab goes from label to label, Space chooses.
    page.locator(".pb-question").click()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name || ''") == "recovery":
            page.keyboard.press("Space")
            break
    expect(page.locator(".pb-rating .ant-radio-wrapper-checked")).to_have_text(re.compile("^Recovery"))
    turn(page, 6)
    choose(page, "Partially Correct")
    turn(page, 7)
    choose(page, "Unnecessary")

    page.locator("[data-testid=bottombar-submit-button]").click()
    expect(page.get_by_text("Step 5 is not rated yet. Turn to its page and choose a label.")).to_be_visible()
    shot(page, "per-step-refused")
    page.get_by_role("button", name="OK").click()
    assert made.answers() == []
    turn(page, 5)
    choose(page, "Correct")
    submit(page)

    [answer] = made.answers()
    assert (answer.flags, answer.controls) == ([], {})
    assert value(answer) == {
        "mode": "per_step",
        "total_steps": 7,
        "labels": [1.0, -1.0, 1.0, 0.25, 1.0, 0.5, -0.5],
        "step_details": {
            "0": {"label": "correct"},
            "1": {"label": "incorrect", "error_category": "Logic error"},
            "2": {"label": "correct", "notes": NOTES},
            "3": {"label": "recovery"},
            "4": {"label": "correct"},
            "5": {"label": "partially_correct"},
            "6": {"label": "unnecessary"},
        },
        "cumulative_score": 2.25,
    }
    turn(page, 2)
    choose(page, "Correct")
    update(page)
    [answer] = made.answers()
    assert value(answer)["step_details"]["1"] == {"label": "correct"}
    assert value(answer)["cumulative_score"] == 4.25
    assert errors(page) == []

    # The same answer, written to the server by us, reads back the same.
    record = Record(id="x", annotator="a", annotations=answer.annotations)
    body = {"result": write_results(made.project, record, made.stored())}
    made.server.http.post(f"/api/tasks/{made.tasks[0]}/annotations/", json=body).raise_for_status()
    first, second = made.answers()
    assert (first.annotations, second.flags) == (second.annotations, [])


def plain_trace():
    """Thought, action and observation, as agents without tool calls have them."""
    steps = [samples.agent(text=f"Thought {n}: look\n\n# not a heading <b>bold</b> *not italic*") for n in range(3)]
    for n, made in enumerate(steps):
        made.observations = [Result(text=f"observed {n}\n\n- no list item")]
    return samples.trace(steps, trace_id="plain")


@pytest.mark.parametrize("kind", ["web", "plain"])
def test_other_traces(desk, annotator_page, shot, kind):
    trace = samples.web_trace() if kind == "web" else plain_trace()
    total = len(trace.ratable())
    made, page = desk(trace, load_image={"shots/one.png": samples.png()}.get), annotator_page()
    made.open(page)
    turn(page, 1)
    if kind == "web":
        box = page.locator(".pb-page svg.pb-picture").bounding_box()
        assert box["width"] > 300
        shot(page, "per-step-web-agent")
    else:
        # Nothing of a trace is read as Markdown.
        text = page.locator(".pb-page .pb-prose .pb-pre").text_content()
        assert text == "Thought 0: look\n\n# not a heading <b>bold</b> *not italic*"
        assert page.locator(".pb-page h1, .pb-page li, .pb-page em, .pb-page b").count() == 0
    choose(page, "Incorrect")
    categorise(page, "Hallucinated information")
    note(page, NOTES)
    for number in range(2, total + 1):
        turn(page, number)
        press_with_alt(page, "1")
        expect(page.locator(".pb-rating .ant-radio-wrapper-checked")).to_have_text(re.compile("^Correct"))
    submit(page)
    [answer] = made.answers()
    assert (answer.flags, answer.controls) == ([], {})
    assert value(answer)["labels"] == [-1.0, *[1.0] * (total - 1)]
    expected = {"label": "incorrect", "error_category": "Hallucinated information", "notes": NOTES}
    assert value(answer)["step_details"]["0"] == expected
    assert errors(page) == []


def test_a_hostile_trace_runs_nothing(desk, annotator_page):
    made, page = desk(samples.hostile_trace()), annotator_page()
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    made.open(page)
    for number in (1, 2):
        turn(page, number)
        assert page.locator(".pb-page script, .pb-page iframe, .pb-page style, .pb-page a").count() == 0
    assert page.evaluate("window.__pwned") is None
    assert dialogs == []
    expect(page.locator("[data-testid=bottombar-submit-button]")).to_be_visible()


def test_many_steps(desk, annotator_page):
    page = annotator_page()
    sizes = (100, MANY_STEPS, 500)
    made = [desk(samples.long_trace(n)) for n in (20, *sizes)]
    made[0].open(page)  # Without what only the very first page of a browser takes.
    opened: dict[int, list[float]] = {}
    for size, project in zip((20, *sizes), made, strict=True):
        for _ in range(1 if size == 500 else 2):
            # Without what it takes to leave the page before.
            page.goto("about:blank")
            opened.setdefault(size, []).append(project.open(page))
    turn(page, 1)
    start = time.perf_counter()
    choose(page, "Correct")
    page.evaluate(DRAWN)
    click = time.perf_counter() - start
    shown = "; ".join(f"{n} steps: open {', '.join(f'{t:.2f}' for t in times)} s" for n, times in opened.items())
    print(f"\n{shown}; a click among 500: {click:.2f} s")
    # 20 steps open in two seconds where nothing else runs: what the machine does beside is none of the page's doing.
    busy = max(1.0, min(opened[20]) / 2)
    assert min(opened[100]) < 5 * busy
    # No step takes longer for there being many: three times the steps, three times the time, with a quarter for noise.
    # Above MANY_STEPS there is a notice; the figures are printed.
    assert min(opened[MANY_STEPS]) < 1.25 * MANY_STEPS / 100 * min(opened[100])

"""The first-error interface as an annotator meets it: real Label Studio, real Chromium, mouse and keyboard.

With POTATO_BRIDGE_SCREENSHOTS set, the pictures of the documentation are made again.
"""

from __future__ import annotations

import base64
import os
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.label_studio.task_list import task_list_view
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.model import Record
from potato_bridge.model.trace import ImageBlock
from potato_bridge.notices import Notices
from tests.converters.label_studio import samples
from tests.servers.annotator import errors, open_stream, open_task, press, skip, submit, update

ROOT = Path(__file__).resolve().parents[2]
PACKAGED = ROOT / "label_configs" / "label_studio" / "page.xml.j2"

UNMARKED, CORRECT, ERROR, DOWNSTREAM = "rgb(107, 114, 128)", "rgb(34, 197, 94)", "rgb(239, 68, 68)", "rgb(249, 115, 22)"
# What a step looks like: the colour of its edge, and the word that says the same.
STATES = """() => [...document.querySelectorAll(".pb-steps .pb-step, .pb-steps .pb-all")].map(card => [
  getComputedStyle(card).borderLeftColor,
  getComputedStyle(card.querySelector(".pb-state"), "::after").content.replaceAll('"', ""),
])"""
# Two frames after it was asked, everything that was pending has been drawn.
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


class Desk:
    """One project on the server, and a page that shows its first task."""

    def __init__(self, label_studio, project, traces, template=None, load_image=lambda _: None) -> None:
        self.server, self.project, self.notices = label_studio, project, Notices()
        self.interface = build_interface(project, self.notices, template)
        body = {"title": "first error", "label_config": self.interface.label_config}
        http = label_studio.http
        self.id = http.post("/api/projects/", json=body).raise_for_status().json()["id"]
        http.post("/api/dm/views/", json={"project": self.id, "data": task_list_view()}).raise_for_status()
        tasks = [build_task(project, samples.item(t), t, self.notices, load_image=load_image) for t in traces]
        answer = http.post(f"/api/projects/{self.id}/import?return_task_ids=true", json=tasks)
        self.tasks = answer.raise_for_status().json()["task_ids"]

    def open(self, page, task: int = 0) -> float:
        """Opens a task; returns the seconds until it can be worked with."""
        start = time.perf_counter()
        open_task(page, self.id, self.tasks[task])
        page.wait_for_selector(".pb-steps .pb-card")
        page.evaluate(DRAWN)
        return time.perf_counter() - start

    def answers(self, task: int = 0) -> list:
        """What is stored for a task, as `pull` reads it."""
        stored = self.server.http.get(f"/api/tasks/{self.tasks[task]}/").raise_for_status().json()
        controls = self.interface.controls
        return [read_answer(self.project, stored, answer, controls=controls) for answer in stored["annotations"]]


@pytest.fixture
def desk(label_studio):
    def make(traces=None, *, scheme=None, display=None, **more) -> Desk:
        return Desk(label_studio, samples.project(scheme, display), traces or [samples.coding_trace()], **more)

    return make


@pytest.fixture
def shot():
    def take(page, name: str) -> None:
        if os.environ.get("POTATO_BRIDGE_SCREENSHOTS"):
            path = ROOT / "docs" / "images" / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=path)
            assert path.stat().st_size < 200_000, f"{path} is too large for the repository"

    return take


def head(page, value: str):
    """The title bar of a card, which the annotator clicks."""
    return page.locator(f".pb-steps .lsf-choice:has(input[name={value}]) .pb-head").first


def to_middle(card) -> None:
    """Scrolls until the card stands still: cards out of sight have a guessed height until they are drawn."""
    where = None
    while where != (where := card.bounding_box()):
        card.evaluate("e => e.scrollIntoView({block: 'center'})")
        card.page.evaluate(DRAWN)


def checked(page) -> list[str]:
    return page.locator(".pb-steps .ant-radio-wrapper-checked input").evaluate_all("all => all.map(e => e.name)")


def first_error(answer):
    return answer.annotations["process_reward"]["first_error_step"]


def no_overflow(page) -> None:
    widths = page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll(".pb, .pb-steps, .pb .lsf-choices, .pb-card")]
        .filter(e => e.scrollWidth > e.clientWidth).map(e => `${e.className}: ${e.scrollWidth} in ${e.clientWidth}`)"""
    )
    assert widths == []


def test_mouse_colours_submit_edit(desk, annotator_page, shot):
    made, page = desk(), annotator_page()
    made.open(page)
    assert page.evaluate(STATES) == [[UNMARKED, ""]] * 8
    no_overflow(page)
    shot(page, "first-error-unmarked")

    head(page, "step_2").click()
    assert checked(page) == ["step_2"]
    assert page.evaluate(STATES) == [
        *[[CORRECT, "+1"]] * 2,
        [ERROR, "-1 (first error)"],
        *[[DOWNSTREAM, "-1 (downstream)"]] * 4,
        [UNMARKED, ""],
    ]
    to_middle(page.locator(".pb-steps .lsf-choice:has(input[name=step_2])"))
    shot(page, "first-error-marked")
    submit(page)
    assert [first_error(answer) for answer in made.answers()] == [2]

    head(page, "all_correct").click()
    assert page.evaluate(STATES) == [*[[CORRECT, "+1"]] * 7, [CORRECT, "+1 (all correct)"]]
    update(page)
    [answer] = made.answers()
    assert answer.annotations["process_reward"] == {
        "mode": "first_error",
        "first_error_step": None,
        "total_steps": 7,
        "labels": [1] * 7,
    }
    assert answer.flags == []
    assert errors(page) == []


def test_keyboard(desk, annotator_page):
    made, page = desk(), annotator_page()
    made.open(page)
    press(page, "3", ".pb-steps .ant-radio-wrapper-checked")
    assert checked(page) == ["step_2"]
    page.keyboard.press("a")
    assert checked(page) == ["all_correct"]
    # Tab goes from step to step, past what is only shown, and Space chooses.
    visited = []
    page.locator(".pb-question").click()
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.name || ''")
        visited.append(name)
        if name == "step_3":
            page.keyboard.press("Space")
            break
    assert [name for name in visited if name] == ["step_0", "step_1", "step_2", "step_3"]
    assert checked(page) == ["step_3"]
    with page.expect_response(
        lambda answer: answer.request.method == "POST" and re.search(r"/api/tasks/\d+/annotations", answer.url)
    ):
        page.keyboard.press("Control+Enter")
    expect(page.locator("[data-testid=bottombar-update-button]")).to_be_visible()
    assert [first_error(answer) for answer in made.answers()] == [3]


def test_only_steps_can_be_chosen(desk, annotator_page):
    made, page = desk(), annotator_page()
    made.open(page)
    for value in ("turn_0", "turn_1", "turn_5"):
        head(page, value).click(force=True)
        page.locator(f".lsf-choice:has(input[name={value}]) .pb-body").click(force=True)
        assert page.locator(f"input[name={value}]").is_disabled()
    # Label Studio gives these keys to options that have none.
    for key in "0qwetsdfgzxcvbyiopjklnm":
        page.keyboard.press(key)
    assert checked(page) == []
    assert page.evaluate(STATES) == [[UNMARKED, ""]] * 8
    # The answer is required.
    page.locator("[data-testid=bottombar-submit-button]").click()
    expect(page.get_by_text("Choose the first wrong step or “All steps correct”.")).to_be_visible()
    assert made.answers() == []


def test_reading_an_output_does_not_answer(desk, annotator_page):
    made, page = desk([samples.long_trace(6, 80)]), annotator_page()
    made.open(page)
    card = page.locator(".pb-steps .lsf-choice").first
    card.locator(".pb-terminal").click(position={"x": 200, "y": 60})
    folded = card.locator(".pb-more .pb-pre")
    expect(folded).to_be_hidden()
    card.locator(".pb-more summary").click()
    expect(folded).to_be_visible()
    card.locator(".pb-reasoning summary").click()
    expect(card.locator(".pb-reasoning .pb-pre")).to_be_hidden()
    assert checked(page) == []
    no_overflow(page)


def test_skip(desk, annotator_page):
    made, page = desk(), annotator_page()
    assert open_stream(page, made.id) == made.tasks[0]
    page.wait_for_selector(".pb-steps .pb-card")
    assert skip(page)["was_cancelled"] is True
    [answer] = made.answers()
    assert (answer.annotations, answer.controls, answer.flags) == ({}, {}, [])


def test_colours_and_texts_of_the_config(desk, annotator_page):
    options = {
        "correct_color": "#010203",
        "error_color": "purple",
        "downstream_color": "#040506",
        "unmarked_color": "#070809",
    }
    made, page = desk(scheme={"first_error": {**options, "allow_no_error": False}}), annotator_page()
    made.open(page)
    assert page.evaluate(STATES) == [["rgb(7, 8, 9)", ""]] * 7
    head(page, "step_6").click()
    assert [colour for colour, _ in page.evaluate(STATES)] == [*["rgb(1, 2, 3)"] * 6, "rgb(128, 0, 128)"]
    head(page, "step_0").click()
    assert [colour for colour, _ in page.evaluate(STATES)] == ["rgb(128, 0, 128)", *["rgb(4, 5, 6)"] * 6]


def test_diffs_unified_and_side_by_side(desk, annotator_page, shot):
    unified, split = desk(), desk(display={"diff_view": "split", "terminal_theme": "light"})
    page = annotator_page()
    unified.open(page)
    diff = page.locator(".lsf-choice:has(input[name=step_2]) .pb-diff")
    diff.scroll_into_view_if_needed()
    added, deleted = diff.locator(".pb-ra").first, diff.locator(".pb-rd").first
    colour = "e => getComputedStyle(e).backgroundColor"
    assert added.evaluate(colour) == "rgba(46, 160, 67, 0.17)"
    assert deleted.evaluate(colour) == "rgba(248, 81, 73, 0.15)"
    assert deleted.text_content() == "-    head = tokens[0]"
    expect(deleted).to_be_visible()
    assert added.evaluate("e => getComputedStyle(e, '::after').content") == '"42"'
    terminal = page.locator(".lsf-choice:has(input[name=step_0]) .pb-terminal")
    assert terminal.evaluate(colour) == "rgb(28, 33, 40)"

    split.open(page)
    cells = page.locator(".lsf-choice:has(input[name=step_2]) .pb-split tr:nth-child(3) td")
    cells.first.scroll_into_view_if_needed()
    left, right = cells.nth(0).bounding_box(), cells.nth(1).bounding_box()
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"] + 1
    assert (cells.nth(0).text_content()[:5], cells.nth(1).text_content()[:5]) == ("-    ", "+    ")
    assert page.locator(".pb-terminal").first.evaluate(colour) == "rgb(246, 248, 250)"
    no_overflow(page)
    shot(page, "first-error-split")


@pytest.mark.parametrize("content", [True, False])
def test_a_hostile_trace_runs_nothing_and_hides_nothing(desk, annotator_page, content):
    scheme = {"description": samples.HOSTILE, "first_error": {"show_step_content": content}}
    made, page = desk([samples.hostile_trace()], scheme=scheme), annotator_page()
    dialogs, requests = [], []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    made.open(page)
    no_overflow(page)
    for summary in page.locator(".pb-steps summary").all():
        summary.scroll_into_view_if_needed()
    head(page, "step_0").click()
    assert page.locator(".pb-hidden", has_text="U+202E").count() > 0
    assert page.evaluate("window.__pwned") is None
    assert dialogs == []
    assert errors(page) == []
    assert [url for url in requests if url.endswith(("/x", "javascript:"))] == []
    expect(page.locator("[data-testid=bottombar-submit-button]")).to_be_visible()
    submit(page)
    assert [first_error(answer) for answer in made.answers()] == [0]
    exported = made.server.http.get(f"/api/projects/{made.id}/export?exportType=JSON").raise_for_status().json()
    assert [task["data"]["potato_bridge_id"] for task in exported] == ["hostile <b>$5"]


def test_500_steps(desk, annotator_page):
    traces = [samples.long_trace(500) for _ in range(4)]
    made, page = desk(traces), annotator_page()
    made.open(page)  # Without what only the very first page of a browser takes.
    opened, first, later, submitted = [], [], [], []
    for task in (1, 2, 3):
        opened.append(made.open(page, task))
        for step in (250, 3, 499):
            # Label Studio draws every option again when the first answer is given, and only then.
            (first if step == 250 else later).append(click_time(page, step))
            assert [colour for colour, _ in page.evaluate(STATES)] == [
                *[CORRECT] * step,
                ERROR,
                *[DOWNSTREAM] * (499 - step),
                UNMARKED,
            ]
        start = time.perf_counter()
        submit(page)
        submitted.append(time.perf_counter() - start)
        assert [first_error(answer) for answer in made.answers(task)] == [499]
    figures = {"open": opened, "first click": first, "later clicks": later, "submit": submitted}
    shown = "; ".join(f"{name} {', '.join(f'{t:.2f}' for t in times)} s" for name, times in figures.items())
    print(f"\n500 steps: {shown}")
    # The best of three: what else the machine does is none of the page's doing.
    assert min(opened) < 5
    assert min(first) < 0.5
    assert min(later) < 0.5


def click_time(page, step: int) -> float:
    """Seconds from a click on a step to the picture that shows its answer."""
    to_middle(head(page, f"step_{step}"))
    box = head(page, f"step_{step}").bounding_box()
    start = time.perf_counter()
    page.mouse.click(box["x"] + 100, box["y"] + 10)
    page.evaluate(DRAWN)
    return time.perf_counter() - start


def test_a_giant_output_does_not_hold_up_the_page(desk, annotator_page):
    giant = samples.long_trace(40, 20_000)  # 1.3 MB in each of 32 outputs.
    made, page = desk([giant]), annotator_page()
    opened = made.open(page)
    print(f"\n40 steps with outputs of 1.3 MB: open {opened:.2f} s")
    assert opened < 5
    assert page.locator(".pb-cut").first.text_content().endswith("lines are not shown …")
    assert [notice.code for notice in made.notices] == ["no-confirmation", "output-cut"]


def test_screenshots_of_a_web_agent(desk, annotator_page, shot):
    picture = samples.png(640, 400)
    trace = samples.web_trace()
    inline = "data:image/png;base64," + base64.b64encode(samples.png(120, 80)).decode()
    trace.steps[2].blocks.append(ImageBlock(uri=inline, alt="the result"))
    made = desk([trace], load_image={"shots/one.png": picture}.get)
    page = annotator_page()
    made.open(page)
    shown = page.locator(".pb-steps svg.pb-picture")
    assert shown.count() == 2
    expect(page.get_by_role("img", name="the shop")).to_be_visible()
    box = shown.first.bounding_box()
    assert (box["width"] > 500, round(box["width"] / box["height"], 1)) == (True, 1.6)
    # The picture itself is there, not only its place: it has its two colours.
    pixels = base64.b64encode(shown.first.screenshot()).decode()
    seen = page.evaluate(
        """async png => {
          const image = await createImageBitmap(await (await fetch("data:image/png;base64," + png)).blob());
          const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
          context.drawImage(image, 0, 0);
          const data = context.getImageData(0, 0, image.width, image.height).data, seen = {};
          for (let i = 0; i < data.length; i += 4) {
            const colour = data.slice(i, i + 3).join();
            seen[colour] = (seen[colour] || 0) + 1;
          }
          return Object.entries(seen).sort((a, b) => b[1] - a[1]).slice(0, 2).map(e => e[0]).sort();
        }""",
        pixels,
    )
    assert seen == ["240,200,60", "30,90,200"]
    expect(page.get_by_text("missing.png (not shown: there is no such file under task_dir)")).to_be_visible()
    assert ("image-not-shown", 1) in [(notice.code, notice.count) for notice in made.notices]
    no_overflow(page)
    shot(page, "first-error-web-agent")


def test_titles_with_the_trace_above(desk, annotator_page):
    made, page = desk(scheme={"first_error": {"show_step_content": False}}), annotator_page()
    made.open(page)
    expect(page.locator(".pb-trace .pb-terminal").first).to_be_visible()
    assert page.locator(".pb-steps .pb-body").count() == 0
    head(page, "step_4").click()
    assert [colour for colour, _ in page.evaluate(STATES)][3:6] == [CORRECT, ERROR, DOWNSTREAM]
    no_overflow(page)


def test_a_template_of_a_team(desk, annotator_page, tmp_path):
    own = '<TextArea name="why" toName="task" rows="2" placeholder="Why?"/></View>'
    template = tmp_path / "team.xml.j2"
    template.write_text(own.join(PACKAGED.read_text(encoding="utf-8").rsplit("</View>", 1)), encoding="utf-8")
    made, page = desk(template=template), annotator_page()
    made.open(page)
    head(page, "step_1").click()
    page.get_by_placeholder("Why?").fill("it is <wrong> & 😀")
    page.keyboard.press("Tab")
    submit(page)
    [answer] = made.answers()
    [entry] = answer.controls["why"]
    assert (first_error(answer), entry["value"], answer.flags) == (1, {"text": ["it is <wrong> & 😀"]}, [])

    # The same answer, written to the server by us, reads back the same.
    task = made.server.http.get(f"/api/tasks/{made.tasks[0]}/").json()
    record = Record(id="x", annotator="a", annotations=answer.annotations, controls=answer.controls)
    body = {"result": write_results(made.project, record, task)}
    made.server.http.post(f"/api/tasks/{made.tasks[0]}/annotations/", json=body).raise_for_status()
    first, second = made.answers()
    assert (first.annotations, first.controls) == (second.annotations, second.controls)


def test_dark_mode(desk, annotator_page):
    made, page = desk(), annotator_page()
    made.open(page)
    page.evaluate("document.documentElement.setAttribute('data-color-scheme', 'dark')")
    head(page, "step_1").click()
    text, paper = page.locator(".pb-steps .pb-step").first.evaluate(
        "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor].map(c => +c.match(/[0-9]+/)[0])"
    )
    assert text - paper > 150
    assert page.evaluate(STATES)[1] == [ERROR, "-1 (first error)"]

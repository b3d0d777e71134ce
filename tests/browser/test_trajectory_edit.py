"""Trajectory edits as an annotator meets them: real Label Studio, real Chromium, mouse and keyboard.

With POTATO_BRIDGE_SCREENSHOTS set, the pictures of the documentation are made again.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.prefill import MODEL_VERSION
from potato_bridge.converters.label_studio.questions import hidden_data
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.label_studio.task_list import task_list_view
from potato_bridge.converters.label_studio.trajectory_edit import MANY_FIELDS, ON_ONE_PAGE
from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Record
from potato_bridge.model.trajectory_edit import FinalEdit, StepEdit, TrajectoryEdits
from potato_bridge.notices import Notices
from potato_bridge.sync.label_studio.build import label_studio_tasks
from tests.browser.correcting import DRAWN, box, explain, ready, write
from tests.converters.label_studio.samples import HOSTILE
from tests.servers.annotator import errors, open_task, submit, update

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """\
annotation_task_name: Corrections
task_dir: .
data_files: [data.jsonl]
item_properties: {id_key: id, text_key: task_description}
instance_display:
  fields:
    - {key: task_description, type: text, label: Task}
    - {key: steps, type: agent_trace}
annotation_schemes:
  - annotation_type: trajectory_edit
    name: corrected-trajectory
    description: Fix any wrong steps, then correct the final answer
    edit_final_answer: true
"""
#: What a text box, or somebody who compares carelessly, would change.
TRICKY = [
    "first\r\nsecond  \r\n\tthird 😀 $5 $steps {{idx}} <b>&amp;\r\n",
    "  spaces around  ",
    "\n\nblank lines\n\n",
    "tab\tand \u00a0 space\u200b, e\u0301 and é",
    "",
]


class Desk:
    """A project with trajectory edits on the server, as `push` sets it up."""

    def __init__(self, label_studio, folder: Path, items: list[dict[str, Any]], config: str = CONFIG) -> None:
        (folder / "config.yaml").write_text(config, encoding="utf-8")
        lines = "".join(json.dumps(item) + "\n" for item in items)
        (folder / "data.jsonl").write_text(lines, encoding="utf-8", newline="")
        self.server, notices = label_studio, Notices()
        self.project = read_project(folder / "config.yaml", notices)
        self.interface = build_interface(self.project, notices)
        http = label_studio.http
        body = {
            "title": "corrections",
            "label_config": self.interface.label_config,
            "show_collab_predictions": True,
            "model_version": MODEL_VERSION,
        }
        self.id = http.post("/api/projects/", json=body).raise_for_status().json()["id"]
        view = task_list_view(hides=hidden_data(self.project))
        http.post("/api/dm/views/", json={"project": self.id, "data": view}).raise_for_status()
        self.local = list(label_studio_tasks(self.project, notices))
        answer = http.post(f"/api/projects/{self.id}/import?return_task_ids=true", json=self.local)
        self.tasks = answer.raise_for_status().json()["task_ids"]

    def open(self, page, task: int = 0) -> float:
        """Opens a task; returns the seconds until it can be worked with."""
        start = time.perf_counter()
        open_task(page, self.id, self.tasks[task])
        ready(page)
        return time.perf_counter() - start

    def stored(self, task: int = 0) -> dict:
        return self.server.http.get(f"/api/tasks/{self.tasks[task]}/").raise_for_status().json()

    def answers(self, task: int = 0) -> list:
        """What is stored for a task, as `pull` reads it."""
        stored, controls = self.stored(task), self.interface.controls
        return [read_answer(self.project, stored, answer, controls=controls) for answer in stored["annotations"]]


@pytest.fixture
def desk(label_studio, tmp_path):
    return lambda items, **more: Desk(label_studio, tmp_path, items, **more)


@pytest.fixture
def shot():
    def take(page, name: str) -> None:
        if os.environ.get("POTATO_BRIDGE_SCREENSHOTS"):
            path = ROOT / "docs" / "images" / f"{name}.png"
            page.screenshot(path=path)
            assert path.stat().st_size < 200_000, f"{path} is too large for the repository"

    return take


def example(name: str = "trajectory_edit") -> list[dict[str, Any]]:
    return json.loads((ROOT / "examples" / name / "data" / "traces.json").read_text(encoding="utf-8"))


def test_what_an_edit_looks_like(desk, annotator_page, shot):
    """All edits, and what is exported of them, are made in tests/cli/test_trajectory_edit_loop.py."""
    item = example()[0]
    made, page = desk([item]), annotator_page()
    made.open(page)
    # The originals stand beside boxes that hold copies of them.
    originals = [step["action"] for step in item["steps"]] + [item["final_answer"]]
    assert page.locator(".pb-originaltext").all_text_contents() == originals
    for number, text in enumerate(originals):
        expect(box(page, number)).to_have_value(text)
    left, right = page.locator(".pb-left").first.bounding_box(), page.locator(".pb-right").first.bounding_box()
    assert left["x"] + left["width"] <= right["x"] and abs(left["width"] - right["width"]) < 2
    font = "e => getComputedStyle(e).fontFamily"
    assert "monospace" in box(page, 0).evaluate(font) and "monospace" in page.locator(
        ".pb-originaltext"
    ).first.evaluate(font)
    write(page, 0, "web_search(query='Lisbon weather now')")
    write(page, 2, "")
    shot(page, "trajectory-edit")
    submit(page)

    # Opened again, the edits are there; what is taken back is no edit any more.
    made.open(page)
    expect(box(page, 0)).to_have_value("web_search(query='Lisbon weather now')")
    expect(box(page, 2)).to_have_value("")
    write(page, 0, originals[0])
    write(page, 2, originals[2])
    update(page)
    [answer] = made.answers()
    nothing = {"steps": [], "final_answer": None, "n_steps_edited": 0, "total_edit_distance": 0}
    assert (answer.flags, answer.controls, answer.annotations) == ([], {}, {"corrected-trajectory": nothing})
    assert errors(page) == []

    # An answer that we write to the server reads back the same.
    edits = TrajectoryEdits(
        steps=[StepEdit(step_index=2, field="action", original_text="finish()", edited_text="")],
        final_answer=FinalEdit(original_text="It is sunny.", edited_text="It is 19 °C.\nWith light rain 😀."),
    ).to_json()
    record = Record(id="x", annotator="a", annotations={"corrected-trajectory": edits})
    body = {"result": write_results(made.project, record, made.stored())}
    made.server.http.post(f"/api/tasks/{made.tasks[0]}/annotations/", json=body).raise_for_status()
    assert made.answers()[1].annotations == record.annotations


def test_untouched_texts_stay_as_they_are(desk, annotator_page):
    steps = [{"action": text} for text in TRICKY]
    made, page = (
        desk([{"id": "a", "task_description": "Do", "steps": steps, "final_answer": "x\r\ny"}]),
        annotator_page(),
    )
    made.open(page)
    submit(page)
    [answer] = made.answers()
    assert (answer.flags, answer.controls) == ([], {})
    nothing = {"steps": [], "final_answer": None, "n_steps_edited": 0, "total_edit_distance": 0}
    assert answer.annotations == {"corrected-trajectory": nothing}

    # A box in which something was typed and taken out again.
    made.open(page)
    box(page, 0).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("x")
    page.keyboard.press("Backspace")
    write(page, 1, "  spaces around  !")
    write(page, 4, "not empty")
    update(page)
    [answer] = made.answers()
    edits = answer.annotations["corrected-trajectory"]["steps"]
    assert [(edit["step_index"], edit["original_text"], edit["edited_text"]) for edit in edits] == [
        (1, "  spaces around  ", "  spaces around  !"),
        (4, "", "not empty"),
    ]
    # One word more, and the line breaks of Windows stay.
    write(page, 0, TRICKY[0].replace("\r\n", "\n") + "fourth")
    update(page)
    [answer] = made.answers()
    edit = answer.annotations["corrected-trajectory"]["steps"][0]
    assert (edit["edited_text"], edit["edit_distance_chars"]) == (TRICKY[0] + "fourth", 6)
    assert errors(page) == []


def test_reasons_json_and_several_fields(desk, annotator_page, shot):
    scheme = "    require_reason_on_edit: true\n    editable_fields: [thought, action]\n"
    made, page = desk(example()[:2], config=CONFIG + scheme), annotator_page()
    made.open(page, 1)
    assert page.locator(".pb-fieldname").all_text_contents() == ["thought", "action"] * 2
    action = {"tool": "search_rooms", "args": {"capacity": 2, "time": "14:00"}}
    expect(box(page, 1)).to_have_value(json.dumps(action, separators=(",", ":")))
    write(page, 1, json.dumps({**action, "args": {"capacity": 3, "time": "14:00"}}))
    explain(page, 1, "three people")
    write(page, 3, '{"tool": "book_room"')
    shot(page, "trajectory-edit-reasons")
    submit(page)
    [answer] = made.answers(1)
    first, second = answer.annotations["corrected-trajectory"]["steps"]
    assert (first["step_index"], first["field"], first["reason"]) == (0, "action", "three people")
    assert json.loads(first["edited_text"])["args"]["capacity"] == 3
    assert (second["step_index"], second["edited_text"], second["reason"]) == (1, '{"tool": "book_room"', "")
    assert [flag.code for flag in answer.flags] == ["invalid-json", "missing-required"]
    assert errors(page) == []


def test_a_hostile_trace_runs_nothing(desk, annotator_page):
    text = HOSTILE.replace("\x00", "").replace("\ud83d", "")
    steps = [{"thought": text, "action": text, "observation": text}, text]
    item = {"id": "h", "task_description": text, "steps": steps, "final_answer": text}
    made, page = desk([item]), annotator_page()
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    made.open(page)
    for number in range(3):
        expect(box(page, number)).to_have_value(text)
    assert page.locator(".pb-edit script, .pb-edit iframe, .pb-edit style, .pb-edit a, .pb-edit img").count() == 0
    write(page, 0, text + "\n" + text)
    submit(page)
    assert page.evaluate("window.__pwned") is None
    assert dialogs == []
    [answer] = made.answers()
    assert (answer.flags, answer.controls) == ([], {})
    [edit] = answer.annotations["corrected-trajectory"]["steps"]
    assert (edit["original_text"], edit["edited_text"]) == (text, text + "\n" + text)


def long_item(number: int) -> dict[str, Any]:
    steps = [
        {"thought": f"Thought {n}: look further", "action": f"run('make {n}')", "observation": "line\n" * 20}
        for n in range(number)
    ]
    return {"id": f"long {number}", "task_description": "Do", "steps": steps, "final_answer": "Done."}


def turn_to(page, step: int) -> None:
    """Turns to the page of a step with the keyboard: again, if nothing happened."""
    name = page.locator(".pb-edit .pb-step .pb-name")
    for _ in range(10 * step):
        shown = int((name.text_content() or "").removeprefix("Step ") or 0)
        if shown == step:
            return
        # The box of a page has the focus when it is opened; in a box the keys belong to the text.
        page.locator(".pb-question").first.click()
        page.keyboard.press("Alt+ArrowLeft" if shown > step else "Alt+ArrowRight")
        page.evaluate(DRAWN)
    raise AssertionError(f"no page of step {step}: {page.url}")


def test_a_long_trace_has_pages(desk, annotator_page):
    page = annotator_page()
    sizes = (20, ON_ONE_PAGE, 100, MANY_FIELDS)
    made = desk([long_item(size) for size in sizes])
    made.open(page)  # Without what only the very first page of a browser takes.
    opened: dict[int, float] = {}
    for task, size in enumerate(sizes):
        page.goto("about:blank")
        opened[size] = made.open(page, task)
        on_page = size if size <= ON_ONE_PAGE else 1
        assert page.locator(".pb-edit .pb-right textarea").count() == on_page + 1
    page.goto("about:blank")
    made.open(page, 2)
    turn_to(page, 3)
    expect(box(page, 0)).to_have_value("run('make 2')")
    write(page, 0, "run('make all')")
    turn_to(page, 4)
    expect(box(page, 0)).to_have_value("run('make 3')")
    write(page, 1, "Done!")
    start = time.perf_counter()
    submit(page)
    shown = "; ".join(f"{n} steps: open {seconds:.2f} s" for n, seconds in opened.items())
    print(f"\n{shown}; submit of 100: {time.perf_counter() - start:.2f} s")
    [answer] = made.answers(2)
    assert (answer.flags, answer.controls) == ([], {})
    value = answer.annotations["corrected-trajectory"]
    assert [(edit["step_index"], edit["edited_text"]) for edit in value["steps"]] == [(2, "run('make all')")]
    assert value["final_answer"]["edited_text"] == "Done!"
    assert errors(page) == []
    # 20 steps open in two seconds where nothing else runs: what the machine does beside is none of the page's doing.
    busy = max(1.0, opened[20] / 2)
    assert opened[100] < 5 * busy
    assert opened[MANY_FIELDS] < 10 * busy

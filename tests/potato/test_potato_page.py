"""The real Potato on an `annotation_output` that we wrote: its page, its exporter, and the way back."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.write_output import write_annotation_output
from potato_bridge.model import Project, Record, from_builtins, to_builtins
from potato_bridge.notices import Notices
from tests.servers.annotator import new_page
from tests.servers.potato import Potato

REVIEWER = "reviewer 1@example.com"
#: What Potato's own rule for names of folders makes of it.
LOGIN = "reviewer_1@example.com"

# The task's name is new in each run: Potato keeps the pages it made by that name.
CONFIG = """\
annotation_task_name: Bridge {run}
task_dir: .
data_files: [data/traces.jsonl]
item_properties: {{id_key: id, text_key: task_description}}
output_annotation_dir: annotation_output
require_password: false
instance_display:
  fields:
    - {{key: task_description, type: text, label: Task}}
    - {{key: structured_turns, type: coding_trace, label: Trace}}
annotation_schemes:
  - annotation_type: process_reward
    name: step_rewards
    description: Rate the steps
    steps_key: structured_turns
{scheme}
  - {{annotation_type: radio, name: quality, description: How good, labels: [good, poor]}}
{users}
"""
FIVE_LABELS = """\
    mode: per_step
    per_step:
      allow_notes: true
      error_categories: {enabled: true, categories: [Logic error, Other]}
      labels:
        - {value: correct, display: Correct, color: "#22c55e", score: 1.0}
        - {value: partially_correct, display: Partially, color: "#eab308", score: 0.5}
        - {value: incorrect, display: Incorrect, color: "#ef4444", score: -1.0}
"""
TURNS = [
    {"role": "user", "content": "The parser drops the last line.", "tool_calls": []},
    *(
        {
            "role": "assistant",
            "content": f"Step of position {position}.",
            "tool_calls": [
                {"tool": "Bash", "input": {"command": f"make {position}"}, "output": "ok", "output_type": "terminal"}
            ],
        }
        for position in range(1, 5)
    ),
]
#: Another user's work, as an older Potato left it: with keys of that version, and without the copies for exporters.
BOB = {
    "user_id": "bob",
    "max_assignments": -1,
    "instance_id_ordering": ["t1", "t2"],
    "current_instance_index": 0,
    "current_phase_and_page": ["annotation", None],
    "completed_phase_and_pages": [],
    "instance_id_to_label_to_value": {
        "t1": [
            [
                {"schema": "step_rewards", "name": "step_rewards"},
                json.dumps({"steps": [{"index": n, "reward": 1 if n < 4 else -1} for n in range(5)]}),
            ],
            [{"schema": "quality", "name": "good"}, "good"],
        ]
    },
    "instance_id_to_span_to_value": {},
    "phase_to_page_to_label_to_value": {},
    "phase_to_page_to_span_to_value": {},
}


def make_project(folder: Path, scheme: str, users: str) -> Project:
    (folder / "data").mkdir()
    items = [{"id": item, "task_description": f"Task {item}", "structured_turns": TURNS} for item in ("t1", "t2")]
    (folder / "data" / "traces.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    config = CONFIG.format(run=uuid.uuid4().hex, scheme=scheme, users=users)
    (folder / "config.yaml").write_text(config)
    bob = folder / "annotation_output" / "bob" / "user_state.json"
    bob.parent.mkdir(parents=True)
    bob.write_text(json.dumps(BOB, indent=2))
    return read_project(folder / "config.yaml", Notices())


def pulled(value: dict[str, Any]) -> Record:
    source = {"backend": "label_studio", "project": 1, "task": 2, "annotation": 3}
    record = {"id": "t1", "annotator": REVIEWER, "annotations": {"step_rewards": value}, "source": source}
    return from_builtins(Record, {**record, "lead_time": 93.4, "created_at": "2026-01-01T00:00:00Z"})


def read(project: Project) -> dict[tuple[str, str], Any]:
    records = records_from_potato(project, project.output_dir, Notices())
    return {(record.annotator, record.id): to_builtins(record) for record in records}


@pytest.fixture
def sign_in(browser: Browser) -> Iterator[Callable[[str, str], Page]]:
    contexts = []

    def enter(url: str, user: str) -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 1600})
        contexts.append(context)
        page = new_page(context, url)
        page.goto(url)
        page.locator("input[name=email]:visible").fill(user)
        page.locator("input[name=email]:visible").press("Enter")
        page.locator(".prm-step-card").first.wait_for()
        return page

    yield enter
    for context in contexts:
        context.close()


def shown(page: Page) -> dict[int, str]:
    """Position to how its card looks: correct, incorrect or unmarked; only what the pressed button says too."""
    looks = {}
    for card in page.locator(".prm-step-card").all():
        classes = set((card.get_attribute("class") or "").split())
        (look,) = classes & {"prm-correct", "prm-incorrect", "prm-neutral", "prm-unmarked"}
        pressed = card.locator(".prm-btn.selected")
        buttons = [set((button.get_attribute("class") or "").split()) for button in pressed.all()]
        look = look.removeprefix("prm-")
        assert ([f"prm-btn-{look}" in button for button in buttons] or [look == "unmarked"]) == [True]
        looks[int(card.get_attribute("data-step-index") or -1)] = look
    return looks


def press(page: Page, position: int, button: str) -> None:
    page.locator(f'.prm-step-card[data-step-index="{position}"] .prm-btn-{button}').click()


def go_on(page: Page) -> None:
    """Next, which saves."""
    page.locator("#next-btn").click()
    page.wait_for_function("document.getElementById('instance_id')?.value === 't2'")


def exported(potato: Potato, project: Project, out: Path) -> dict[str, list[int]]:
    """What Potato's own exporter makes of the folder: annotator to rewards."""
    done = potato.export(project.config, "coding_eval", out)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (out / "prm_training_data.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["instance_id"] for row in rows} == {"t1"}
    return {row["annotator"]: [step["reward"] for step in row["steps"]] for row in rows}


def test_per_step_on_cards(tmp_path: Path, potato: Potato, sign_in: Callable[[str, str], Page]) -> None:
    project = make_project(tmp_path, FIVE_LABELS, "")
    details = {
        "0": {"label": "correct"},
        "1": {"label": "partially_correct", "error_category": "Other", "notes": "half\n😀 <b>&"},
        "2": {"label": "incorrect", "error_category": "Logic error", "notes": "no </script>"},
    }
    labels = [1.0, 0.5, -1.0, None]
    value = {"mode": "per_step", "total_steps": 4, "labels": labels, "step_details": details, "cumulative_score": 0.5}
    before = read(project)[("bob", "t1")]
    report = write_annotation_output(project, [pulled(value)], project.output_dir, Notices())
    assert report.users == [LOGIN]
    assert exported(potato, project, tmp_path / "before") == {LOGIN: [0, 1, 1, -1, 0]}

    with potato.serving(project.config) as url:
        page = sign_in(url, LOGIN)
        assert shown(page) == {0: "unmarked", 1: "correct", 2: "correct", 3: "incorrect", 4: "unmarked"}
        assert read(project)[(REVIEWER, "t1")] == to_builtins(pulled(value))
        press(page, 4, "correct")
        press(page, 1, "incorrect")
        assert shown(page) == {0: "unmarked", 1: "incorrect", 2: "correct", 3: "incorrect", 4: "correct"}
        go_on(page)

        page = sign_in(url, "bob")
        assert shown(page) == {0: "correct", 1: "correct", 2: "correct", 3: "correct", 4: "incorrect"}
        assert page.locator("input[type=radio]:checked").get_attribute("value") == "good"

    record = read(project)[(REVIEWER, "t1")]
    del details["0"]
    assert record["annotations"]["step_rewards"] == {
        **value,
        "labels": [-1.0, 0.5, -1.0, 1.0],
        "step_details": {"0": {"label": "incorrect"}, **details, "3": {"label": "correct"}},
        "cumulative_score": -0.5,
    }
    assert record["source"] == {"backend": "potato"}
    assert read(project)[("bob", "t1")]["annotations"] == before["annotations"]

    # The next pull leaves the reviewer's change alone, and the exporters' copy as it is.
    report = write_annotation_output(project, [pulled(value)], project.output_dir, Notices())
    assert (report.kept, report.written) == (1, 0)
    assert read(project)[(REVIEWER, "t1")]["annotations"] == record["annotations"]
    assert set(exported(potato, project, tmp_path / "after")) == {LOGIN}


def test_first_error_in_the_trace_of_a_closed_study(
    tmp_path: Path, potato: Potato, sign_in: Callable[[str, str], Page]
) -> None:
    scheme = "    mode: first_error\n    inline_with_trace: true"
    project = make_project(tmp_path, scheme, "user_config: {allow_all_users: false, users: [bob]}")
    value = {"mode": "first_error", "first_error_step": 1, "total_steps": 4, "labels": [1, -1, -1, -1]}
    report = write_annotation_output(project, [pulled(value)], project.output_dir, Notices())
    # Without this line Potato lets nobody in under that name.
    assert tmp_path / "user_config.json" in report.files

    with potato.serving(project.config) as url:
        page = sign_in(url, LOGIN)
        # The user's turn has no buttons here.
        assert shown(page) == {1: "correct", 2: "incorrect", 3: "incorrect", 4: "incorrect"}
        # The page's own rule: the cross of a wrong step clears all, and pressed again it moves the first error there.
        press(page, 4, "incorrect")
        assert set(shown(page).values()) == {"unmarked"}
        press(page, 4, "incorrect")
        assert shown(page) == {1: "correct", 2: "correct", 3: "correct", 4: "incorrect"}
        go_on(page)
        page = sign_in(url, "bob")
        assert shown(page) == {1: "correct", 2: "correct", 3: "correct", 4: "incorrect"}

    records = read(project)
    moved = {**value, "first_error_step": 3, "labels": [1, 1, 1, -1]}
    assert records[(REVIEWER, "t1")]["annotations"] == {"step_rewards": moved}
    assert records[("bob", "t1")]["annotations"] == {"step_rewards": moved, "quality": "good"}
    assert set(exported(potato, project, tmp_path / "out")) == {LOGIN}


def test_a_missing_potato_fails_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tests.servers.potato import installed_potato

    monkeypatch.setenv("POTATO_BRIDGE_TEST_POTATO", str(tmp_path / "none"))
    with pytest.raises(pytest.fail.Exception, match="make test"):
        installed_potato(tmp_path)

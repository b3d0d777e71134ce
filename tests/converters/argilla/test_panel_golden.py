"""What the panel's data sets and records are, word for word: the contract with `panel.js`, written by hand."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.panel.template import template
from potato_bridge.converters.argilla.plan import RecordPlan, Settings
from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.notices import Notices
from tests.several_schemes import EDIT, RADIO, REVIEW, project

PANEL = LAYOUTS["panel"]
TURNS = [{"role": "user", "content": "Please."}, {"role": "assistant", "content": "Done."}]
ITEM = {"id": "t 1", "task": "Fix a.py.", "turns": TURNS}


def made(folder: Path, schemes: list[str], item: dict[str, Any] | None = None) -> tuple[Settings, RecordPlan]:
    found = project(folder, schemes, item or ITEM)
    [read] = read_items(found, Notices())
    [record] = PANEL.build_records(found, read, to_trace(read, found, Notices()), Notices())
    return PANEL.build_settings(found, Notices()), record


def config_of(settings: Settings) -> Any:
    """What the script of a data set is told."""
    text = settings.fields[0].settings["template"]
    return next(
        found for word in re.findall(r"[A-Za-z0-9+/]{80,}={0,2}", text) if "schemes" in (found := decoded(word))
    )


def decoded(text: str) -> Any:
    return json.loads(base64.b64decode(text))


def payload_of(record: RecordPlan) -> Any:
    return decoded(record.fields["panel"]["b64"])


def sha256(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def clip(text: str) -> dict[str, Any]:
    return {"head": text, "more_lines": 0, "cut_lines": 0, "cut_chars": 0}


def test_first_error(tmp_path):
    settings, record = made(
        tmp_path,
        [
            "{annotation_type: process_reward, name: reward, mode: first_error, steps_key: turns, description: Look, "
            "required: true, first_error: {correct_color: '#0a0', error_color: red, downstream_color: gray, "
            "unmarked_color: '#ffffff', require_confirmation: true, allow_no_error: false, show_step_content: false, "
            "labels: {correct: fine, first_error: <b>here, downstream: later, all_correct: all}}}"
        ],
    )
    assert config_of(settings) == {
        "v": 1,
        "answer": "answer",
        "panel": "panel",
        "shows_steps": True,
        "folds_steps": False,
        "step_numbers": True,
        "terminal": "dark",
        "schemes": [
            {
                "name": "reward",
                "widget": "first_error",
                "description": "Look",
                "required": True,
                "colors": {"correct": "#0a0", "error": "red", "downstream": "gray", "unmarked": "#ffffff"},
                "texts": {
                    "correct": "fine",
                    "first_error": "<b>here",
                    "downstream": "later",
                    "all_correct": "all",
                },
                "require_confirmation": True,
                "allow_no_error": False,
                "show_step_content": False,
                "keys": True,
                "next_key": "j",
                "prev_key": "k",
            }
        ],
    }
    # A text of the config is shown as it is, not as Markdown.
    assert "it counts as “\\<b\\>here”" in settings.guidelines
    assert "All steps correct" not in settings.guidelines
    cards = [
        {"role": "User", "parts": [{"kind": "prose", "text": clip("Please.")}], "summary": "Please."},
        {"number": 0, "role": "Assistant", "parts": [{"kind": "prose", "text": clip("Done.")}], "summary": "Done."},
    ]
    assert payload_of(record) == {
        "v": 1,
        "task": {"label": "Task", "text": clip("Fix a.py.")},
        "texts": [],
        "attachments": [],
        "files": [],
        "cards": cards,
        "schemes": {"reward": {}},
    }
    assert record.external_id == "t 1" and record.suggestions == ()
    visible = {"trace_id": "t 1", "total_steps": 1}
    assert record.metadata == {**visible, "potato_bridge": record.metadata["potato_bridge"]}
    assert decoded(record.metadata["potato_bridge"]) == record.meta
    assert record.meta == {
        "id": "t 1",
        "hash": sha256([record.fields, visible]),
        "steps_hash": f"reward:{sha256(cards)[:16]}",
        "total_steps": 1,
        "schema": 1,
    }


def test_per_step(tmp_path):
    settings, _ = made(
        tmp_path,
        [
            "{annotation_type: process_reward, name: reward, mode: per_step, steps_key: turns, required: true, "
            "keyboard_shortcuts: {enabled: true, correct: c, next_step: n}, per_step: {labels: ["
            "{value: correct, display: Good, color: '#00ff00', score: 1}, "
            "{value: incorrect, display: Bad, color: red, score: -1, error_category: true}, "
            "{value: unnecessary, display: Idle, color: gray, score: 0.5}], "
            "error_categories: {enabled: true, categories: [tool, logic]}, require_all_steps: true, "
            "allow_notes: true, show_running_score: true}}"
        ],
    )
    [scheme] = config_of(settings)["schemes"]
    assert scheme == {
        "name": "reward",
        "widget": "per_step",
        "description": "Rate each step independently",
        "required": True,
        "labels": [
            {
                "value": "correct",
                "display": "Good",
                "color": "#00ff00",
                "score": 1.0,
                "error_category": False,
                "key": "c",
            },
            {"value": "incorrect", "display": "Bad", "color": "red", "score": -1.0, "error_category": True, "key": "2"},
            {
                "value": "unnecessary",
                "display": "Idle",
                "color": "gray",
                "score": 0.5,
                "error_category": False,
                "key": "4",
            },
        ],
        "error_categories": ["tool", "logic"],
        "require_all_steps": True,
        "allow_notes": True,
        "show_running_score": True,
        "keys": True,
        "next_key": "n",
        "prev_key": "k",
    }
    assert "For “Bad” you are also asked what kind of error it is." in settings.guidelines
    assert "**c** Good, **2** Bad, **4** Idle; **n** and **k** go" in settings.guidelines


def test_trajectory_edit(tmp_path):
    settings, record = made(
        tmp_path,
        [EDIT.replace("}", ", require_reason_on_edit: true, edit_final_answer: true}")],
        {**ITEM, "steps": [{"action": "set y"}], "final_answer": "42"},
    )
    [scheme] = config_of(settings)["schemes"]
    assert scheme == {
        "name": "my-edit",
        "widget": "trajectory_edit",
        "description": "Correct the steps of the agent",
        "required": False,
        "show_diff": True,
        "show_edit_distance": True,
        "allow_reset": True,
        "require_reason_on_edit": True,
        "edit_final_answer": True,
    }
    data = payload_of(record)["schemes"]["my-edit"]
    final = {"step": None, "field": None, "text": "42"}
    assert data["originals"] == [{"step": 0, "field": "action", "text": "set y"}, final]
    assert len(data["before"]) == 2 and data["before"][1] == []
    # What an answer to this state is read with when the item has changed: the fields, and the hashes of their texts.
    assert [entry[:2] for entry in record.meta["about"]["my-edit"]] == [[0, "action"], [None, None]]


def test_the_questions_of_a_data_set(tmp_path):
    settings, _ = made(tmp_path, [REVIEW, RADIO])
    assert [question.to_json() for question in settings.questions] == [
        {
            "name": "answer",
            "title": "Answer (written by the panel)",
            "description": "The panel writes it while you work. Only where the panel says that it cannot: paste what "
            "it shows.",
            "required": True,
            "settings": {"type": "text", "use_markdown": False},
        },
        {
            "name": "code-review_verdict",
            "title": "Verdict",
            "description": "What becomes of this change?",
            "required": True,
            "settings": {
                "type": "label_selection",
                "visible_options": None,
                "options": [
                    {"value": "approve", "text": "Approve"},
                    {"value": "request_changes", "text": "Request changes"},
                    {"value": "comment_only", "text": "Comment only"},
                ],
            },
        },
        {
            "name": "ok",
            "title": "Fine",
            "description": None,
            "required": True,
            "settings": {
                "type": "label_selection",
                "options": [{"value": "yes", "text": "yes"}, {"value": "no", "text": "no"}],
            },
        },
    ]
    [field] = settings.fields
    assert (field.name, field.settings["type"], field.settings["advanced_mode"]) == ("panel", "custom", True)
    assert [found.to_json() for found in settings.properties] == [
        {"name": "trace_id", "title": "Item", "settings": {"type": "terms"}, "visible_for_annotators": True},
        {"name": "total_steps", "title": "Steps", "settings": {"type": "integer"}, "visible_for_annotators": True},
    ]


def test_the_page_breaks_out_of_nothing():
    """The package's own script and stylesheet hold nothing that Argilla's page or HTML would take for its own."""
    page = template({"v": 1})
    assert re.search(r"\$[&`'$<0-9]|#RECORD_OBJECT#|#TEMPLATE#|#CONFIG#|<!--", page) is None
    assert page.lower().count("</script") == page.lower().count("</style") == 1


@pytest.mark.parametrize(
    "line",
    [
        "let a = '$&';",
        "let a = '$$';",
        "let a = '$1';",
        "x = '</SCRIPT >';",
        "let a = '<!-- <script>';",
        "'#RECORD_OBJECT#';",
        "'#TEMPLATE#';",
        "node.innerHTML = text;",
        "document.write(text);",
    ],
)
def test_a_changed_script_that_would_break_the_page(tmp_path, line):
    (tmp_path / "panel.js").write_text(f"'#CONFIG#';\n{line}\n")
    with pytest.raises(InputError) as caught:
        template({}, tmp_path)
    [problem] = caught.value.problems
    assert problem.file.endswith("panel.js") and problem.line == 2


def test_a_changed_script_must_take_the_config(tmp_path):
    (tmp_path / "panel.js").write_text("let a = 1;")
    with pytest.raises(InputError, match=r"panel\.js: #CONFIG# must be there once"):
        template({}, tmp_path)
    (tmp_path / "panel.js").write_bytes(b"\xff")
    with pytest.raises(InputError, match="cannot read"):
        template({}, tmp_path)


@pytest.mark.parametrize(
    "scheme",
    [
        "{annotation_type: process_reward, name: r, steps_key: turns, mode: first_error, first_error: "
        "{error_color: 'red; background: url(x)'}}",
        "{annotation_type: process_reward, name: r, steps_key: turns, mode: per_step, per_step: {labels: "
        "[{value: correct, color: 'a(b)', score: 1}, {value: incorrect, score: -1}]}}",
        "{annotation_type: span, name: r, target_field: task, labels: [{name: a, color: 'a(b)'}]}",
    ],
)
def test_a_colour_that_is_none_is_refused(tmp_path, scheme):
    with pytest.raises(InputError, match=r"config\.yaml:11.*colour"):
        made(tmp_path, [scheme])


def test_two_schemes_cannot_have_one_question(tmp_path):
    with pytest.raises(InputError) as caught:
        made(tmp_path, [REVIEW, RADIO.replace("name: ok", "name: code-review_verdict")])
    [problem] = caught.value.problems
    assert "would both have 'code-review_verdict'" in problem.message
    assert problem.file.endswith("config.yaml") and problem.line and problem.hint == "Rename one of them."


def test_long_guidelines_are_cut_and_said(tmp_path):
    found = project(tmp_path, [RADIO.replace("Fine", "x" * 11_000)], ITEM)
    notices = Notices()
    settings = PANEL.build_settings(found, notices)
    assert len(settings.guidelines) == 10_000 and settings.guidelines.endswith("…")
    assert [notice.code for notice in notices] == ["guidelines-cut"]
    assert len(settings.questions[1].title) == 500


def test_as_many_answers_as_the_config_says(tmp_path):
    found = project(tmp_path, [RADIO], ITEM)
    config = tmp_path / "config.yaml"
    config.write_text(f"max_annotations_per_item: 3\n{config.read_text()}")
    assert PANEL.build_settings(found, Notices()).min_submitted == 1
    assert PANEL.build_settings(read_project(config, Notices()), Notices()).min_submitted == 3

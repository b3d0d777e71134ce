"""The same answer, right or wrong, is the same on both servers: values, and codes of flags."""

from __future__ import annotations

import json
from typing import Any

import pytest

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Part, Stored
from potato_bridge.converters.label_studio.results import read_answer
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.notices import Notices
from tests.several_schemes import EDIT, FIRST_ERROR, PER_STEP, item, project

RATED = PER_STEP.replace(
    "}",
    ", required: true, per_step: {labels: [{value: correct, score: 1}, {value: incorrect, score: -1, error_category: "
    "true}], error_categories: {enabled: true, categories: [logic]}, require_all_steps: true, allow_notes: true}}",
)
REASONED = EDIT.replace("}", ", require_reason_on_edit: true}")
FIRST = FIRST_ERROR.replace("}", ", required: true}")


def chosen(name: str, value: str, kind: str = "choices") -> dict[str, Any]:
    return {"from_name": name, "to_name": "task", "type": kind, "value": {"choices": [value]}}


def noted(name: str, text: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": "task", "type": "textarea", "value": {"text": [text]}}


def steps(**found: Any) -> dict[str, Any]:
    return {"reward": {"steps": {name.removeprefix("s"): said for name, said in found.items()}}}


CASES: dict[str, tuple[str, list[dict[str, Any]], dict[str, Any]]] = {
    "first error": (FIRST, [chosen("reward", "step_1")], {"reward": {"first_error_step": 1}}),
    "all correct": (FIRST, [chosen("reward", "all_correct")], {"reward": {"first_error_step": None}}),
    "no such step": (FIRST, [chosen("reward", "step_2")], {"reward": {"first_error_step": 2}}),
    "no first error": (FIRST, [], {}),
    "all steps": (
        RATED,
        [chosen("reward_label_1", "correct"), chosen("reward_label_2", "incorrect"), chosen("reward_error_2", "logic")],
        steps(s0={"label": "correct"}, s1={"label": "incorrect", "error_category": "logic"}),
    ),
    "a step is missing": (
        RATED,
        [chosen("reward_label_1", "correct"), noted("reward_notes_2", "hm")],
        steps(s0={"label": "correct"}, s1={"notes": "hm"}),
    ),
    "no step": (RATED, [], {}),
    "another label": (
        RATED,
        [chosen("reward_label_1", "correct"), chosen("reward_label_2", "nope")],
        steps(s0={"label": "correct"}, s1={"label": "nope"}),
    ),
    "another category": (
        RATED,
        [chosen("reward_label_1", "incorrect"), chosen("reward_error_1", "x"), chosen("reward_label_2", "correct")],
        steps(s0={"label": "incorrect", "error_category": "x"}, s1={"label": "correct"}),
    ),
    "a category of a right step": (
        RATED,
        [chosen("reward_label_1", "correct"), chosen("reward_error_1", "logic"), chosen("reward_label_2", "correct")],
        steps(s0={"label": "correct", "error_category": "logic"}, s1={"label": "correct"}),
    ),
    "a step too many": (
        RATED,
        [chosen(f"reward_label_{n}", "correct") for n in (1, 2, 3)],
        steps(**{f"s{n}": {"label": "correct"} for n in range(3)}),
    ),
    "only a step too many": (RATED, [chosen("reward_label_9", "correct")], steps(s8={"label": "correct"})),
    "an edit": (
        EDIT,
        [noted("my-edit_edit_0", "set y 4"), noted("my-edit_edit_1", "stop")],
        {"my-edit": {"edits": [{"step": 0, "field": "action", "text": "set y 4"}]}},
    ),
    "no edit": (
        EDIT,
        [noted("my-edit_edit_0", "set y 3"), noted("my-edit_edit_1", "stop")],
        {"my-edit": {"edits": []}},
    ),
    "an edit without a reason": (
        REASONED,
        [noted("my-edit_edit_0", "set y 4"), noted("my-edit_edit_1", "go"), noted("my-edit_reason_1", "late")],
        {
            "my-edit": {
                "edits": [
                    {"step": 0, "field": "action", "text": "set y 4"},
                    {"step": 1, "field": "action", "text": "go", "reason": "late"},
                ]
            }
        },
    ),
    "an edit of nothing": (
        EDIT,
        [noted("my-edit_edit_0", "set y 3"), noted("my-edit_edit_7", "x")],
        {"my-edit": {"edits": [{"step": 7, "field": "action", "text": "x"}]}},
    ),
    "no trajectory": (EDIT.replace("}", ", required: true}"), [], {}),
}


@pytest.mark.parametrize(("scheme", "results", "panel"), CASES.values(), ids=CASES)
def test_both_servers_say_the_same(tmp_path, scheme, results, panel):
    made = project(tmp_path, [scheme], item())
    [found] = read_items(made, Notices())
    trace = to_trace(found, made, Notices())
    one = read_answer(made, build_task(made, found, trace, Notices()), {"result": results})
    [record] = LAYOUTS["panel"].build_records(made, found, trace, Notices())
    text = json.dumps({"v": 1, "complete": True, "schemes": panel})
    stored = Stored(record.external_id, record.fields, record.metadata)
    other = LAYOUTS["panel"].read_answer(made, [Part(stored, {"answer": text} if panel else {})])
    assert other.annotations == one.annotations
    assert [flag.code for flag in other.flags] == [flag.code for flag in one.flags]
    assert bool(other.controls) == bool(one.controls)

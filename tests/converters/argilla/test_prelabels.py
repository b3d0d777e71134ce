"""Pre-labels as suggestions: what fits is shown, the rest is named; and what became of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Layout, Part, RecordPlan, Stored
from potato_bridge.converters.argilla.prelabels import agent_of, became_of, suggestions
from potato_bridge.converters.fingerprint import PRELABELS_HASH
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.model import Prelabel, Project
from potato_bridge.notices import Notices
from tests.several_schemes import EDIT, PER_STEP, RADIO, REVIEW, SPAN, item, project
from tests.strategies import DETERMINISTIC, texts

#: argilla_server.api.schemas.v1.suggestions.AGENT_REGEX of 2.8.
AGENT = re.compile(r"[a-zA-Z0-9-_:\.\/\s]*[a-zA-Z0-9][a-zA-Z0-9-_:\.\/\s]*")
TEXT = "{annotation_type: text, name: why}"
MANY = "{annotation_type: multiselect, name: many, labels: [a, b]}"
RATED = {
    "mode": "per_step",
    "total_steps": 2,
    "labels": [1, -1],
    "step_details": {"0": {"label": "correct"}, "1": {"label": "incorrect"}},
}


def records(made: Project, layout: Layout = "panel") -> list[RecordPlan]:
    [found] = read_items(made, Notices())
    return LAYOUTS[layout].build_records(made, found, to_trace(found, made, Notices()), Notices())


def given_to(made: Project, annotations: dict[str, Any], layout: Layout = "panel", **more: Any) -> Any:
    found = Prelabel(**{"item": "t1", "annotations": annotations, "model_version": "m", **more})
    return suggestions(made, layout, found, records(made, layout))


def suggested(plans: list[RecordPlan]) -> list[Part]:
    return [
        Part(
            Stored(plan.external_id, plan.fields, plan.metadata), {one.question: one.value for one in plan.suggestions}
        )
        for plan in plans
    ]


@DETERMINISTIC
@given(texts)
def test_the_name_of_a_model_is_one_for_argilla(text):
    for name in (text, f"model {text}", text * 40):
        agent = agent_of(name)
        assert agent is None or (AGENT.fullmatch(agent) and len(agent) <= 200 and agent.isascii())


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("gpt-4.1:2025/a b", "gpt-4.1:2025/a b"),
        ("modèle α", "mod_le _"),
        (" m ", "m"),
        ("a\u2028b\nc", "a_b_c"),
        ("模型", None),
        ("--", None),
        ("", None),
        ("x" * 300, "x" * 200),
    ],
)
def test_names_of_models(name, agent):
    assert agent_of(name) == agent


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ok", "maybe"),
        ("many", ["a", "z"]),
        ("many", []),
        ("why", ""),
        ("why", 7),
        ("reward", {**RATED, "total_steps": 3, "labels": [1, 1, 1]}),
        ("reward", {**RATED, "labels": [0.25, -1]}),
        ("reward", {"mode": "per_step", "total_steps": 2, "labels": [None, None]}),
        ("reward", "correct"),
        ("code-review", {"verdict": "never", "comments": [], "file_ratings": {}}),
        ("code-review", {"comments": [{"category": "bug", "file": "b.py", "line": 1, "text": "x"}]}),
        ("my-edit", {"steps": [{"step_index": 0, "field": "action", "original_text": "other", "edited_text": "x"}]}),
    ],
)
def test_what_does_not_fit_is_left_out_alone(tmp_path, name, value):
    made = project(tmp_path, [PER_STEP, REVIEW, EDIT, RADIO, MANY, TEXT], item())
    other = {"ok": "yes"} if name != "ok" else {"why": "because"}
    [plan], dropped, _ = given_to(made, {name: value, **other})
    assert [scheme for scheme, _ in dropped] == [name] and dropped[0][1]
    read = LAYOUTS["panel"].read_answer(made, suggested([plan]), complete=False)
    assert read.annotations == other
    # With nothing that fits, a record is as it was.
    plans, dropped, _ = given_to(made, {name: value})
    assert plans == records(made) and len(dropped) == 1


def test_labels_may_leave_their_names_out(tmp_path):
    made = project(tmp_path, [PER_STEP], item())
    plans, dropped, _ = given_to(made, {"reward": {"mode": "per_step", "total_steps": 2, "labels": [1, -1]}})
    assert dropped == []
    read = LAYOUTS["panel"].read_answer(made, suggested(plans)).annotations["reward"]
    assert (read["labels"], read["step_details"]) == (RATED["labels"], RATED["step_details"])


@pytest.mark.parametrize(("score", "shown"), [(None, None), (0, 0), (0.5, 0.5), (1, 1), (-0.1, None), (1.5, None)])
def test_the_score_where_argilla_takes_one(tmp_path, score, shown):
    made = project(tmp_path, [RADIO, MANY], item())
    [plan], _, _ = given_to(made, {"ok": "yes", "many": ["a"]}, score=score)
    # A list of labels would need a score for each.
    assert {one.question: one.score for one in plan.suggestions} == {"answer": shown, "ok": shown, "many": None}


def test_another_pre_label_has_another_hash_and_the_item_the_same(tmp_path):
    made = project(tmp_path, [RADIO], item())
    [bare] = records(made)
    plans = [
        given_to(made, {"ok": word}, **more)[0][0] for word, more in (("yes", {}), ("no", {}), ("yes", {"score": 1}))
    ]
    assert len({plan.meta[PRELABELS_HASH] for plan in plans}) == 3
    assert {plan.meta["hash"] for plan in plans} == {bare.meta["hash"]} and PRELABELS_HASH not in bare.meta
    assert plans == [given_to(made, {"ok": w}, **m)[0][0] for w, m in (("yes", {}), ("no", {}), ("yes", {"score": 1}))]


def test_what_became_of_them(tmp_path):
    made = project(tmp_path, [PER_STEP, RADIO, MANY], item())
    plans, _, _ = given_to(made, {"reward": RATED, "ok": "yes"})
    parts = suggested(plans)
    read = LAYOUTS["panel"].read_answer(made, parts)
    assert became_of(made, "panel", read, parts) == {"reward": "kept", "ok": "kept"}
    read.annotations["ok"], read.annotations["many"] = "no", ["a"]
    assert became_of(made, "panel", read, parts) == {"reward": "kept", "ok": "changed"}
    del read.annotations["reward"]
    assert became_of(made, "panel", read, parts)["reward"] == "changed"
    assert became_of(made, "panel", read, suggested(records(made))) == {}


def test_originals_in_boxes_are_nobodys_pre_label(tmp_path):
    """Without a script the boxes are filled by suggestions, too."""
    made = project(tmp_path, [EDIT], item())
    edit = {"step_index": 0, "field": "action", "original_text": "set y 3", "edited_text": "set y 4"}
    boxes = records(made, "native")
    assert any(plan.suggestions for plan in boxes)
    assert became_of(made, "native", LAYOUTS["native"].read_answer(made, suggested(boxes)), suggested(boxes)) == {}
    plans, dropped, _ = given_to(made, {"my-edit": {"steps": [edit]}}, "native")
    assert dropped == []
    parts = suggested(plans)
    assert became_of(made, "native", LAYOUTS["native"].read_answer(made, parts), parts) == {"my-edit": "kept"}
    untouched = LAYOUTS["native"].read_answer(made, suggested(boxes))
    assert became_of(made, "native", untouched, parts) == {"my-edit": "changed"}


def test_of_a_value_with_parts_the_wrong_ones_are_dropped_alone(tmp_path):
    made = project(tmp_path, [REVIEW, EDIT, SPAN], item())
    comment = {"category": "bug", "file": "a.py", "line": 2, "side": "RIGHT", "text": "x"}
    review = {"verdict": None, "comments": [comment, {**comment, "file": "gone.py"}], "file_ratings": {}}
    edit = {"step_index": 0, "field": "action", "original_text": "set y 3", "edited_text": "go"}
    edits = {"steps": [edit, {**edit, "step_index": 7}]}
    span = {"start": 0, "end": 3, "label": "a", "field": "text"}
    spans = [span, {**span, "label": "gone"}]
    [plan], dropped, lost = given_to(made, {"code-review": review, "my-edit": edits, "my-marks": spans})
    assert dropped == []
    assert [reason.split(":")[0] for reason in lost] == [
        "code-review, comments[1]",
        "my-edit, steps[1]",
        "my-marks, [1]",
    ]
    read = LAYOUTS["panel"].read_answer(made, suggested([plan]), complete=False).annotations
    assert read["code-review"]["comments"] == [comment]
    assert [one["edited_text"] for one in read["my-edit"]["steps"]] == ["go"]
    assert [one["start"] for one in read["my-marks"]] == [0]

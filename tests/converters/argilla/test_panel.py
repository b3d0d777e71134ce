"""The panel layout: settings, records, and answers ↔ responses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.argilla import fields
from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.panel.records import payload_of
from potato_bridge.converters.argilla.plan import Part, RecordPlan, Stored
from potato_bridge.converters.argilla.prelabels import became_of, suggestions
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Prelabel, Project, Record
from potato_bridge.model.process_reward import FirstError, PerStep, StepDetail
from potato_bridge.model.trajectory_edit import FinalEdit, StepEdit, TrajectoryEdits
from potato_bridge.notices import Notices
from tests.converters.label_studio import general_samples as samples
from tests.several_schemes import EDIT, FIRST_ERROR, PER_STEP, RADIO, REVIEW, SPAN, item, project
from tests.strategies import DETERMINISTIC, json_values, texts

PANEL = LAYOUTS["panel"]
HOSTILE = "</script><script>parent.pwned=1</script> $& $$ $` $' <img src=x onerror=alert(1)> \u2028\u2029"


def record_of(made: Project, found: Item, notices: Notices | None = None) -> RecordPlan:
    told = notices or Notices()
    [plan] = PANEL.build_records(made, found, to_trace(found, made, told), told)
    return plan


def stored(plan: RecordPlan) -> Stored:
    return Stored(plan.external_id, plan.fields, plan.metadata)


def back(made: Project, plan: RecordPlan, annotations: dict[str, Any], **more: Any) -> Any:
    said = Record(id="x", annotator="a", annotations=annotations)
    [values] = PANEL.write_answer(made, said, [stored(plan)]).values()
    return PANEL.read_answer(made, [Part(stored(plan), values)], **more)


# --- the general types: the same values as on Label Studio ------------------------------------------------------------


@pytest.mark.parametrize(("text", "results", "value", "saved"), samples.CASES, ids=samples.IDS)
def test_every_general_type(tmp_path, text, results, value, saved):
    made = samples.project(tmp_path, samples.scheme(text))
    plan = record_of(made, samples.item())
    answer = back(made, plan, {"s": value})
    assert (answer.annotations, answer.flags, answer.controls) == ({"s": value}, [], {})
    PANEL.build_settings(made, Notices())


@pytest.mark.parametrize(("text", "results", "value", "saved"), samples.CASES, ids=samples.IDS)
def test_no_answer_is_never_a_value(tmp_path, text, results, value, saved):
    asked = samples.project(tmp_path, samples.scheme(text, label_requirement="{required: true}"))
    plan = record_of(asked, samples.item())
    nothing = [Part(stored(plan), {"answer": '{"v":1,"complete":true,"schemes":{}}'})]
    answer = PANEL.read_answer(asked, nothing)
    assert (answer.annotations, [flag.code for flag in answer.flags]) == ({}, ["missing-required"])
    assert PANEL.read_answer(asked, nothing, complete=False).flags == []
    assert PANEL.read_answer(asked, [Part(stored(plan), None)], complete=False).annotations == {}


@pytest.mark.parametrize(("text", "results", "value", "saved"), samples.CASES, ids=samples.IDS)
@pytest.mark.parametrize("wrong", [None, True, 10**9, "nope", ["nope"], {"nope": 1}, [{"start": 0, "end": 99}]])
def test_a_value_of_another_kind_is_refused(tmp_path, text, results, value, saved, wrong):
    if text.startswith("text") and wrong == "nope" and "labels" not in text:
        return
    made = samples.project(tmp_path, samples.scheme(text))
    with pytest.raises(InputError, match=r"record x, s: "):
        back(made, record_of(made, samples.item()), {"s": wrong})


# --- the four interfaces ----------------------------------------------------------------------------------------------

EVERY = [PER_STEP, REVIEW, SPAN, EDIT, RADIO]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    made = project(tmp_path_factory.mktemp("whole"), EVERY, item())
    [found] = read_items(made, Notices())
    return made, record_of(made, found)


def details(labels):
    return st.builds(lambda label, notes: (label, notes or None), st.sampled_from(labels), st.none() | texts)


@st.composite
def answers(draw: st.DrawFn, made: Project) -> dict[str, Any]:
    reward, review, marks, edit, _ = made.schemes
    found: dict[str, Any] = {}
    said = draw(st.lists(st.none() | st.sampled_from(reward.per_step.labels), min_size=2, max_size=2))
    if any(said):
        value = PerStep(labels=[label.score if label else None for label in said])
        for n, label in enumerate(said):
            if label:
                value.step_details[n] = StepDetail(label=label.value)
        found["reward"] = value.to_json()
    comment = st.fixed_dictionaries(
        {
            "category": st.sampled_from([category.name for category in review.comment_categories]),
            "file": st.just("a.py"),
            "text": texts.filter(str.strip),
        },
        optional={"suggestion": texts.filter(bool)},
    )
    comments = [
        {**one, **draw(st.sampled_from([{"line": None}, {"line": 2, "side": "RIGHT"}]))}
        for one in draw(st.lists(comment, max_size=3))
    ]
    found["code-review"] = {
        "verdict": draw(st.sampled_from(review.verdict_options)),
        "comments": comments,
        "file_ratings": draw(st.sampled_from([{}, {"a.py": {review.file_rating_dimensions[0]: 4}}])),
    }
    start = draw(st.integers(0, 10))
    end = draw(st.integers(start + 1, 20))
    text = "The quick brown fox."
    if draw(st.booleans()):
        found[marks.name] = [{"start": start, "end": end, "label": "a", "text": text[start:end], "field": "text"}]
    new = draw(texts)
    steps = [StepEdit(step_index=0, field="action", original_text="set y 3", edited_text=new.replace("\r", ""))]
    found[edit.name] = TrajectoryEdits(steps=[one for one in steps if one.edited]).to_json()
    found["ok"] = draw(st.sampled_from(["yes", "no"]))
    return found


@DETERMINISTIC
@given(st.data())
def test_all_schemes_read_back_equal(whole, data):
    made, plan = whole
    value = data.draw(answers(made))
    answer = back(made, plan, value)
    assert answer.annotations == value
    assert answer.controls == {} and {flag.code for flag in answer.flags} <= {"missing-required"}


@DETERMINISTIC
@given(st.integers(-1, 1))
def test_first_error_reads_back_equal(tmp_path_factory, step):
    made = project(tmp_path_factory.mktemp("first"), [FIRST_ERROR], item())
    [found] = read_items(made, Notices())
    value = FirstError(first_error_step=None if step < 0 else step, total_steps=2).to_json()
    assert back(made, record_of(made, found), {"reward": value}).annotations == {"reward": value}


@DETERMINISTIC
@given(
    st.dictionaries(st.sampled_from(["reward", "code-review", "my-marks", "my-edit", "ok", "x"]), json_values),
    texts,
    json_values,
)
def test_reading_never_raises_and_loses_nothing(whole, raw, text, native):
    made, plan = whole
    for panel in (json.dumps({"v": 1, "schemes": raw}), text, native):
        answer = PANEL.read_answer(made, [Part(stored(plan), {"answer": panel, "ok": native, "other": native})])
        assert answer.flags
        assert answer.controls["other"] == [{"raw": native}]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ({"reward": {"steps": {"7": {"label": "correct"}}}}, "step-out-of-range"),
        ({"reward": {"steps": {"0": {"label": "nope"}}}}, "unknown-label"),
        ({"reward": {"steps": {"0": {"label": "correct", "error_category": "nope"}}}}, "unknown-label"),
        ({"reward": 7}, "bad-result"),
        (
            {"code-review": {"comments": [{"file": "b.py", "line": 1, "text": "x", "category": "bug"}]}},
            "comment-not-placed",
        ),
        ({"code-review": {"comments": [{"file": "a.py", "line": 1, "text": "x", "category": "?"}]}}, "unknown-label"),
        (
            {"code-review": {"comments": [{"file": "a.py", "line": 1, "text": " ", "category": "bug"}]}},
            "comment-without-text",
        ),
        ({"code-review": {"file_ratings": {"a.py": {"quality": 9}}}}, "bad-result"),
        ({"code-review": {"file_ratings": {"b.py": {"quality": 3}}}}, "file-out-of-range"),
        ({"my-edit": {"edits": [{"step": 9, "field": "action", "text": "x"}]}}, "step-out-of-range"),
        ({"my-edit": {"edits": [{"step": 0, "field": "action", "text": 7}]}}, "bad-result"),
        ({"my-marks": {"spans": [{"start": 0, "end": 99, "label": "a", "field": "text"}]}}, "bad-result"),
        ({"my-marks": {"spans": [{"start": 0, "end": 3, "label": "z", "field": "text"}]}}, "unknown-label"),
        ({"gone": 1}, "unknown-control"),
    ],
)
def test_what_is_no_answer_has_a_flag(whole, raw, code):
    made, plan = whole
    text = json.dumps({"v": 1, "schemes": raw})
    answer = PANEL.read_answer(made, [Part(stored(plan), {"answer": text})], complete=False)
    assert [flag.code for flag in answer.flags] == [code]


def test_missing_steps_are_named(tmp_path):
    made = project(
        tmp_path,
        [PER_STEP.replace("}", ", per_step: {require_all_steps: true}, label_requirement: {required: true}}")],
        item(),
    )
    [found] = read_items(made, Notices())
    plan = record_of(made, found)
    text = json.dumps({"v": 1, "schemes": {"reward": {"steps": {"0": {"label": "correct"}}}}})
    answer = PANEL.read_answer(made, [Part(stored(plan), {"answer": text})])
    assert [(flag.code, flag.message) for flag in answer.flags] == [("missing-required", "step 2 is not rated")]


# --- what stands in a record ------------------------------------------------------------------------------------------


def test_nothing_of_a_trace_stands_in_the_clear(tmp_path):
    bad = {**item(text=HOSTILE), "id": HOSTILE, "task": HOSTILE}
    bad["turns"][1]["content"] = HOSTILE
    made = project(
        tmp_path, [PER_STEP, REVIEW, f"{{annotation_type: radio, name: m, labels: [{json.dumps(HOSTILE)}, b]}}"], bad
    )
    [found] = read_items(made, Notices())
    plan = record_of(made, found)
    settings = PANEL.build_settings(made, Notices())
    values = [option["value"] for question in settings.questions for option in question.settings.get("options", ())]
    answer = PANEL.write_answer(
        made,
        Record(
            id="x",
            annotator="a",
            annotations={
                "m": HOSTILE,
                "code-review": {
                    "verdict": "approve",
                    "comments": [{"category": "bug", "file": "a.py", "line": None, "text": HOSTILE}],
                    "file_ratings": {},
                },
            },
        ),
        [stored(plan)],
    )
    shown = json.dumps([plan.external_id, plan.fields, plan.metadata, answer, values], ensure_ascii=False)
    assert not set("<>$&\u2028\u2029") & set(shown)
    assert fields.unsafe(plan.external_id) == HOSTILE
    assert payload_of(plan.fields)["task"]["text"]["head"] == HOSTILE
    template = settings.fields[0].settings["template"]
    assert template.count("</script>") == 1 and HOSTILE not in template


def test_hashes_tell_a_look_from_the_steps(tmp_path):
    def build(folder, found):
        folder.mkdir()
        made = project(folder, [PER_STEP], found)
        [one] = read_items(made, Notices())
        return record_of(made, one).meta

    first = build(tmp_path / "a", item())
    reworded = build(tmp_path / "b", {**item(), "task": "Other words"})
    changed = build(tmp_path / "c", item(value=4))
    assert first["hash"] != reworded["hash"] and first["steps_hash"] == reworded["steps_hash"]
    assert first["steps_hash"] != changed["steps_hash"]
    assert first["total_steps"] == 2


def test_an_answer_to_an_earlier_state(tmp_path):
    made = project(tmp_path, [REVIEW, EDIT], item())
    [found] = read_items(made, Notices())
    then = record_of(made, found)
    comment = {"category": "bug", "file": "a.py", "line": 2, "side": "RIGHT", "text": "wrong"}
    said = {"code-review": {"verdict": "approve", "comments": [comment], "file_ratings": {}}}
    edits = TrajectoryEdits(steps=[StepEdit(step_index=0, field="action", original_text="set y 3", edited_text="x")])
    record = Record(id="x", annotator="a", annotations={**said, "my-edit": edits.to_json()})
    [values] = PANEL.write_answer(made, record, [stored(then)]).values()
    made = project(tmp_path, [REVIEW, EDIT], item(value=4))
    [found] = read_items(made, Notices())
    now = record_of(made, found)
    answer = PANEL.read_answer(made, [Part(stored(now), values)], revision=then.meta)
    assert answer.annotations["code-review"]["comments"] == [{**comment, "outdated": True}]
    assert answer.annotations["my-edit"]["steps"] == []
    assert [flag.code for flag in answer.flags] == ["original-changed"]


def test_json_that_was_edited_must_stay_json(tmp_path):
    found = {**item(), "steps": [{"action": {"tool": "x"}}]}
    made = project(tmp_path, [EDIT], found)
    [one] = read_items(made, Notices())
    plan = record_of(made, one)
    text = json.dumps({"v": 1, "schemes": {"my-edit": {"edits": [{"step": 0, "field": "action", "text": "{"}]}}})
    answer = PANEL.read_answer(made, [Part(stored(plan), {"answer": text})])
    assert [flag.code for flag in answer.flags] == ["invalid-json"]


# --- settings ---------------------------------------------------------------------------------------------------------


def test_the_data_set_of_a_review(tmp_path):
    made = project(tmp_path, [REVIEW, RADIO], item())
    settings = PANEL.build_settings(made, Notices())
    assert [(q.name, q.settings["type"], q.required) for q in settings.questions] == [
        ("answer", "text", True),
        ("code-review_verdict", "label_selection", True),
        ("ok", "label_selection", True),
    ]
    verdicts = [(option["value"], option["text"]) for option in settings.questions[1].settings["options"]]
    assert verdicts == [
        ("approve", "Approve"),
        ("request_changes", "Request changes"),
        ("comment_only", "Comment only"),
    ]
    assert [prop.name for prop in settings.properties] == ["trace_id", "total_steps"]
    assert settings.guidelines.startswith("### First review\n- To comment on a line")
    assert settings.min_submitted == 1


def test_what_argilla_cannot_hold_is_refused_with_its_line(tmp_path):
    made = project(tmp_path, [RADIO, REVIEW.replace("}", f", verdict_options: [a, {'y' * 201}]}}")], item())
    with pytest.raises(InputError) as caught:
        PANEL.build_settings(made, Notices())
    assert "longer than Argilla takes" in str(caught.value) and "config.yaml:12" in str(caught.value)
    # More options than a question has, or longer ones, or only one: then it is a form of the panel.
    many = ", ".join(f"o{n}" for n in range(501))
    for labels in (many, "one", f"a, {'y' * 201}"):
        made = project(tmp_path, [f"{{annotation_type: radio, name: big, labels: [{labels}]}}"], item())
        assert [q.name for q in PANEL.build_settings(made, Notices()).questions] == ["answer"]


def test_a_changed_script_is_used_and_checked(tmp_path):
    made = project(tmp_path, [RADIO], item())
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "panel.css").write_text("body { color: red }")
    template = PANEL.build_settings(made, Notices(), template=folder).fields[0].settings["template"]
    assert template.startswith("<style>body { color: red }</style>")
    (folder / "panel.css").write_text("body { }\na { content: '$&' }\n</style>")
    with pytest.raises(InputError) as caught:
        PANEL.build_settings(made, Notices(), template=folder)
    assert "panel.css:2" in str(caught.value) and "panel.css:3" in str(caught.value)
    with pytest.raises(InputError, match="no such folder"):
        PANEL.build_settings(made, Notices(), template=tmp_path / "gone")


def test_what_is_not_asked_is_named(tmp_path):
    made = project(
        tmp_path,
        [
            RADIO,
            PER_STEP,
            FIRST_ERROR.replace("name: reward", "name: other"),
            "{annotation_type: trajectory_eval, name: t, steps_key: turns}",
        ],
        item(),
    )
    notices = Notices()
    PANEL.build_settings(made, notices)
    assert [notice.code for notice in notices if "not-asked" in notice.code] == ["scheme-not-asked"] * 2
    assert PANEL.asked(made) == ["ok", "reward"]


# --- pre-labels -------------------------------------------------------------------------------------------------------


def test_pre_labels_are_suggestions_and_what_became_of_them(whole):
    made, plan = whole
    value = PerStep(
        labels=[1.0, -1.0], step_details={0: StepDetail(label="correct"), 1: StepDetail(label="incorrect")}
    ).to_json()
    prelabel = Prelabel(item="t1", annotations={"reward": value, "ok": "maybe"}, model_version="model/α 1", score=0.5)
    [made_plan], dropped, _ = suggestions(made, "panel", prelabel, [plan])
    assert [name for name, _ in dropped] == ["ok"]
    [one] = made_plan.suggestions
    assert (one.question, one.agent, one.score) == ("answer", "model/_ 1", 0.5)
    assert made_plan.meta["prelabels_hash"] and made_plan.meta["hash"] == plan.meta["hash"]
    suggested = [Part(stored(made_plan), {"answer": one.value})]
    same = PANEL.read_answer(made, suggested)
    assert became_of(made, "panel", same, suggested) == {"reward": "kept"}
    other = back(made, made_plan, {"reward": _one_step()})
    assert became_of(made, "panel", other, suggested) == {"reward": "changed"}


def _one_step() -> dict[str, Any]:
    return PerStep(labels=[1.0, None], step_details={0: StepDetail(label="correct")}).to_json()


def test_distances_of_a_final_answer(tmp_path):
    found = {**item(), "final_answer": "a b"}
    made = project(tmp_path, [EDIT.replace("}", ", edit_final_answer: true}")], found)
    [one] = read_items(made, Notices())
    value = TrajectoryEdits(final_answer=FinalEdit(original_text="a b", edited_text="a c")).to_json()
    assert back(made, record_of(made, one), {"my-edit": value}).annotations == {"my-edit": value}

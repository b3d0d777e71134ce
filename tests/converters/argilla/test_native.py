"""The native layout: records of an item, and answers ↔ the responses to them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.native.questions import question_of
from potato_bridge.converters.argilla.plan import Extent, Part, RecordPlan, Stored
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.model import Project, Record
from potato_bridge.model.process_reward import FirstError, PerStep, StepDetail
from potato_bridge.model.trajectory_edit import StepEdit, TrajectoryEdits
from potato_bridge.notices import Notices
from tests.converters.label_studio import general_samples as samples
from tests.several_schemes import EDIT, FIRST_ERROR, PER_STEP, RADIO, REVIEW, item, project
from tests.strategies import DETERMINISTIC, json_values, texts

NATIVE = LAYOUTS["native"]
LABELS = (
    "{value: correct, display: C, color: green, score: 1.0}, {value: incorrect, display: I, color: red, score: -1.0}"
)
CATEGORIES = "error_categories: {enabled: true, categories: [logic, syntax]}"
FULL = PER_STEP.replace(
    "}",
    f", per_step: {{labels: [{LABELS}], {CATEGORIES}, allow_notes: true, require_all_steps: true}}, "
    "label_requirement: {required: true}}",
)


def built(folder, schemes, found=None):
    made = project(folder, schemes, found or item())
    [one] = read_items(made, Notices())
    return made, NATIVE.build_records(made, one, to_trace(one, made, Notices()), Notices())


def stored(plan: RecordPlan) -> Stored:
    return Stored(plan.external_id, plan.fields, plan.metadata)


def back(made: Project, plans: list[RecordPlan], annotations: dict[str, Any], **more: Any) -> Any:
    said = Record(id="x", annotator="a", annotations=annotations)
    written = NATIVE.write_answer(made, said, [stored(plan) for plan in plans])
    parts = [Part(stored(plan), written.get(plan.external_id)) for plan in plans]
    return NATIVE.read_answer(made, parts, **more)


def test_the_records_of_steps(tmp_path):
    made, plans = built(tmp_path, [FULL])
    assert [plan.external_id for plan in plans] == ["t1/step/0000", "t1/step/0001"]
    assert [plan.metadata["step_index"] for plan in plans] == [0, 1]
    assert plans[0].metadata["trace_id"] == "t1" and plans[0].metadata["total_steps"] == 2
    assert "Step 1" in plans[0].fields["step"] and "I set y to 3." in plans[0].fields["step"]
    assert "Please." in plans[0].fields["before"] and "I set y to 3." in plans[1].fields["before"]
    settings = NATIVE.build_settings(made, Notices())
    assert [(q.name, q.settings["type"], q.required) for q in settings.questions] == [
        ("reward", "label_selection", True),
        ("reward_error_category", "label_selection", False),
        ("reward_notes", "text", False),
    ]
    assert settings.sort == "metadata.trace_id.asc~metadata.step_index.asc"


@st.composite
def rated(draw: st.DrawFn) -> dict[str, Any]:
    scores = {"correct": 1.0, "incorrect": -1.0}
    said = draw(st.lists(st.sampled_from(["correct", "incorrect", None]), min_size=2, max_size=2))
    value = PerStep(labels=[scores[label] if label else None for label in said])
    for n, label in enumerate(said):
        if label:
            category = draw(st.sampled_from([None, "logic"])) if label == "incorrect" else None
            notes = draw(st.none() | texts.filter(bool))
            value.step_details[n] = StepDetail(label=label, error_category=category, notes=notes)
    return value.to_json()


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    return built(tmp_path_factory.mktemp("steps"), [FULL])


@DETERMINISTIC
@given(rated())
def test_ratings_of_steps_read_back_equal(steps, value):
    made, plans = steps
    answer = back(made, plans, {"reward": value})
    if value["step_details"]:
        assert answer.annotations == {"reward": value}
    missing = [n + 1 for n, label in enumerate(value["labels"]) if label is None]
    assert [flag.code for flag in answer.flags] == (["missing-required"] if missing else [])


def test_first_errors_read_back_equal(tmp_path):
    made, plans = built(tmp_path, [FIRST_ERROR, RADIO])
    assert [plan.external_id for plan in plans] == ["t1"]
    for step in (None, 0, 1):
        value = {"reward": FirstError(first_error_step=step, total_steps=2).to_json(), "ok": "yes"}
        assert back(made, plans, value).annotations == value
    settings = NATIVE.build_settings(made, Notices(), extent=Extent(steps=60))
    assert len(settings.questions[0].settings["options"]) == 101
    wrong = NATIVE.read_answer(made, [Part(stored(plans[0]), {"reward": "7", "ok": "yes"})])
    assert [flag.code for flag in wrong.flags] == ["step-out-of-range"]
    with pytest.raises(InputError, match="an item has 501 steps"):
        NATIVE.build_settings(made, Notices(), extent=Extent(steps=501))


@DETERMINISTIC
@given(texts, texts)
def test_edits_read_back_equal(tmp_path_factory, one, why):
    made, plans = built(tmp_path_factory.mktemp("edit"), [EDIT])
    assert [plan.external_id for plan in plans] == ["t1/edit/0000", "t1/edit/0001"]
    assert [[(s.question, s.value) for s in plan.suggestions] for plan in plans] == [
        [("my-edit", "set y 3")],
        [("my-edit", "stop")],
    ]
    text = one.replace("\r", "")
    edits = [StepEdit(step_index=0, field="action", original_text="set y 3", edited_text=text)]
    value = TrajectoryEdits(steps=[edit for edit in edits if edit.edited]).to_json()
    assert back(made, plans, {"my-edit": value}).annotations == {"my-edit": value}


COMMENT = st.fixed_dictionaries(
    {
        "category": st.sampled_from(["bug", "style"]),
        "file": st.just("a.py"),
        "text": texts.map(lambda text: " ".join(text.split())).filter(bool),
        "line": st.just(None),
    }
)
PLACES = [{}, {"line": 2, "side": "RIGHT"}, {"line": 3, "side": "RIGHT", "start_line": 1, "start_side": "RIGHT"}]


@DETERMINISTIC
@given(
    st.lists(st.tuples(COMMENT, st.sampled_from(PLACES)), max_size=3), st.sampled_from([{}, {"a.py": {"quality": 4}}])
)
def test_reviews_read_back_equal(tmp_path_factory, comments, ratings):
    made, plans = built(tmp_path_factory.mktemp("review"), [REVIEW])
    assert [plan.external_id for plan in plans] == ["t1/file/0000", "t1/review"]
    value = {
        "verdict": "request_changes",
        "comments": [{**comment, **place} for comment, place in comments],
        "file_ratings": ratings,
    }
    answer = back(made, plans, {"code-review": value})
    assert (answer.annotations, answer.flags) == ({"code-review": value}, [])


def test_the_syntax_of_comments(tmp_path):
    made, plans = built(tmp_path, [REVIEW.replace("}", ", severity_levels: [minor, major]}")])
    lines = ["2: bug/major: wrong: really", "  and more", "", "file : praise : nice", "1-3:style: x", "9: bug: gone"]
    box = "\n".join([*lines, "nonsense", "2: ?: hm"])
    parts = [
        Part(stored(plans[0]), {"code-review_comments": box, "code-review_verdict": "none"}),
        Part(stored(plans[1]), {"code-review_verdict": "approve"}),
    ]
    answer = NATIVE.read_answer(made, parts)
    review = answer.annotations["code-review"]
    right = {"file": "a.py", "side": "RIGHT"}
    assert review["comments"] == [
        {**right, "category": "bug", "severity": "major", "line": 2, "text": "wrong: really\n and more"},
        {"category": "praise", "file": "a.py", "line": None, "text": "nice"},
        {**right, "category": "style", "line": 3, "text": "x", "start_line": 1, "start_side": "RIGHT"},
        {**right, "category": "?", "line": 2, "text": "hm"},
    ]
    assert sorted(flag.code for flag in answer.flags) == ["bad-result", "comment-not-placed", "unknown-label"]
    assert {"raw": {"file": "a.py", "comment": "nonsense"}} in answer.controls["code-review"]
    nobody = [Part(stored(plan), {"code-review_verdict": "none"}) for plan in plans]
    assert [flag.code for flag in NATIVE.read_answer(made, nobody).flags] == ["missing-required"]


def test_a_category_may_have_a_colon_or_a_slash(tmp_path):
    categories = ", comment_categories: [bug, bug/race, 'perf: slow'], severity_levels: [minor]}"
    made, plans = built(tmp_path, [REVIEW.replace("}", categories)])
    lines = [
        "2: bug/race: one",
        "2: bug/minor: two",
        "2: bug/race/minor: three",
        "2: perf: slow: four",
        "2: bug: slow: five",
    ]
    parts = [
        Part(stored(plans[0]), {"code-review_comments": "\n".join(lines), "code-review_verdict": "none"}),
        Part(stored(plans[1]), {"code-review_verdict": "approve"}),
    ]
    answer = NATIVE.read_answer(made, parts)
    told = [
        (one["category"], one.get("severity"), one["text"]) for one in answer.annotations["code-review"]["comments"]
    ]
    assert told == [
        ("bug/race", None, "one"),
        ("bug", "minor", "two"),
        ("bug/race", "minor", "three"),
        ("perf: slow", None, "four"),
        ("bug", None, "slow: five"),
    ]
    assert answer.flags == []
    assert back(made, plans, answer.annotations).annotations == answer.annotations


@pytest.mark.parametrize(("text", "results", "value", "saved"), samples.CASES, ids=samples.IDS)
def test_general_types_are_asked_or_named(tmp_path, text, results, value, saved):
    made = samples.project(tmp_path, samples.scheme(text))
    if question_of(made.schemes[0]) is None:
        with pytest.raises(InputError, match="without the panel"):
            NATIVE.asked(made)
        return
    found = samples.item()
    plans = NATIVE.build_records(made, found, to_trace(found, made, Notices()), Notices())
    answer = back(made, plans, {"s": value})
    assert (answer.annotations, answer.flags) == ({"s": value}, [])
    NATIVE.build_settings(made, Notices())


def test_one_scheme_that_splits_an_item_is_asked_alone(tmp_path):
    made = project(tmp_path, [RADIO, PER_STEP, REVIEW], item())
    assert NATIVE.asked(made) == ["reward"]
    notices = Notices()
    NATIVE.build_settings(made, notices)
    assert [notice.where.split()[-1] for notice in notices if notice.code == "scheme-not-asked"] == [
        "ok",
        "code-review",
    ]


@DETERMINISTIC
@given(
    st.dictionaries(st.sampled_from(["reward", "reward_notes", "code-review_comments", "x"]), json_values),
    st.sampled_from([FULL, REVIEW, EDIT]),
)
def test_reading_never_raises(tmp_path_factory, values, scheme):
    made, plans = built(tmp_path_factory.mktemp("any"), [scheme])
    NATIVE.read_answer(made, [Part(stored(plan), values) for plan in plans])
    NATIVE.read_answer(made, [Part(Stored("a", {}, {}), values)])


def test_texts_are_escaped(tmp_path):
    _, plans = built(tmp_path, [FULL], {**item(), "task": "<img src=x onerror=alert(1)> & </script>"})
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; &lt;/script&gt;" in plans[0].fields["task"]
    assert "<img" not in str(plans[0].fields)

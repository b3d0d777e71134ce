"""Answers that no panel wrote are kept and flagged; what would break Argilla's page stands nowhere in the clear."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.argilla.fields import from_base64, to_base64
from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Part, RecordPlan, Stored
from potato_bridge.converters.argilla.prelabels import suggestions
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.model import Prelabel, Project, Record, decode, encode
from potato_bridge.notices import Notices
from tests.several_schemes import EDIT, FIRST_ERROR, PER_STEP, RADIO, REVIEW, SPAN, item, project
from tests.strategies import DETERMINISTIC, json_values, texts

PANEL = LAYOUTS["panel"]
#: What Argilla's page or a browser takes for its own, one of each.
HOSTILE = [
    "</script>",
    "<!--<script>",
    "<img src=x onerror=alert(1)>",
    "$&",
    "$$",
    "$`",
    "$'",
    "$1",
    "&lt;",
    "\u2028\u2029",
]
NUMBER = "{annotation_type: number, name: n}"
SUM = "{annotation_type: constant_sum, name: sum, labels: [a, b], total: 100}"
EVERY = [PER_STEP, REVIEW, SPAN, EDIT, RADIO, NUMBER, SUM]


def record_of(made: Project) -> RecordPlan:
    [found] = read_items(made, Notices())
    [plan] = PANEL.build_records(made, found, to_trace(found, made, Notices()), Notices())
    return plan


def stored(plan: RecordPlan) -> Stored:
    return Stored(plan.external_id, plan.fields, plan.metadata)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    made = project(tmp_path_factory.mktemp("whole"), EVERY, item())
    return made, record_of(made)


def read(made: Project, plan: RecordPlan, text: Any, **more: Any) -> Record:
    """The answer as it stands in a file of records, read again."""
    answer = PANEL.read_answer(made, [Part(stored(plan), {"answer": text})], **more)
    record = Record(
        id="x", annotator="a", annotations=answer.annotations, controls=answer.controls, flags=list(answer.flags)
    )
    return decode(Record, encode(record))


def schemes(**raw: Any) -> str:
    return json.dumps({"v": 1, "schemes": raw})


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[]",
        "7",
        '"x"',
        "{}",
        '{"v": 1}',
        '{"v": 1, "schemes": []}',
        '{"v": 2, "schemes": {"ok": 1}}',
        '{"v": 1, "schemes": {"n": {"values": {"": NaN}}}}',
        '{"v": 1, "schemes": {"n": {"values": {"": 1e999}}}}',
        f'{{"v": 1, "schemes": {{"n": {"9" * 5000}}}}}',
        f'{{"v": 1, "schemes": {{"reward": {"[" * 60}{"]" * 60}}}}}',
        "[" * 100_000,
    ],
)
def test_a_text_that_is_no_answer_is_kept_as_it_is(whole, text):
    record = read(*whole, text, complete=False)
    assert record.annotations == {}
    assert record.controls == {"answer": [{"raw": text}]}
    assert [flag.code for flag in record.flags] == ["bad-result"]


@pytest.mark.parametrize("text", [7, ["x"], {"v": 1}, True])
def test_an_answer_that_is_no_text_is_kept_as_it_is(whole, text):
    assert read(*whole, text, complete=False).controls == {"answer": [{"raw": text}]}


def test_what_no_file_can_hold_is_replaced(whole):
    steps = {"0": {"label": "correct", "notes": "a\ud800b\0c"}, "\udfff": {}}
    record = read(*whole, schemes(reward={"steps": steps}), complete=False)
    assert record.annotations["reward"]["step_details"]["0"]["notes"] == "a\ufffdb\ufffdc"
    assert record.controls == {"reward": [{"raw": {"\ufffd": {}}}]}


@pytest.mark.parametrize("number", [10**400, -(10**400), 10**4000])
def test_a_number_beyond_all_measure_is_no_answer(whole, number):
    record = read(*whole, schemes(n={"values": {"": number}}, sum={"values": {"a": number, "b": 1}}), complete=False)
    assert "n" not in record.annotations and "a" not in record.annotations.get("sum", {})
    assert [flag.code for flag in record.flags] == ["bad-result", "bad-result"]


@DETERMINISTIC
@given(
    st.dictionaries(
        st.sampled_from(["reward", "code-review", "my-marks", "my-edit", "n", "sum", "ok"]),
        st.dictionaries(
            st.sampled_from(
                ["steps", "comments", "file_ratings", "summary", "spans", "edits", "final_answer", "values", "x"]
            ),
            json_values
            | st.lists(st.dictionaries(st.sampled_from(["step", "field", "text", "reason", "line"]), json_values))
            | st.dictionaries(st.sampled_from(["0", "1", "2", "-1", "a.py", ""]), json_values),
            max_size=3,
        ),
        max_size=3,
    ),
    st.booleans(),
)
def test_no_answer_stops_a_pull(whole, raw, complete):
    """Whatever it says, it can be written into a file; and what is in no annotation is in the controls, with a flag."""
    record = read(*whole, schemes(**raw), complete=complete)
    for name, value in raw.items():
        if any(value.values()) and name not in record.annotations:
            assert record.controls[name] and name in {flag.scheme for flag in record.flags}


@pytest.mark.parametrize(
    ("raw", "codes"),
    [
        # One fault has one flag: a step that something was said of is not missing, too.
        ({"steps": {"0": {"label": "correct"}, "1": {"label": "nope"}}}, ["unknown-label"]),
        ({"steps": {"0": {"label": "correct"}, "1": "nope"}}, ["bad-result"]),
        ({"steps": {"9": {"label": "correct"}}}, ["step-out-of-range", "missing-required"]),
        ({"steps": {"01": {"label": "correct"}, "1": {"label": "correct"}}}, ["step-out-of-range", "missing-required"]),
        ({"steps": {"0": {"notes": "why"}, "1": {"label": "correct"}}}, ["missing-required"]),
        ({"steps": {"0": {"label": "correct", "notes": 7}, "1": {"label": "correct"}}}, ["bad-result"]),
        (7, ["bad-result"]),
        ({}, ["bad-result"]),
        ({"steps": {}}, ["missing-required"]),
    ],
)
def test_labels_that_are_missing_or_wrong(tmp_path, raw, codes):
    scheme = PER_STEP.replace("}", ", per_step: {require_all_steps: true}, label_requirement: {required: true}}")
    made = project(tmp_path, [scheme], item())
    record = read(made, record_of(made), schemes(reward=raw))
    assert [flag.code for flag in record.flags] == codes


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ({"first_error_step": 2}, "step-out-of-range"),
        ({"first_error_step": -1}, "bad-result"),
        ({"first_error_step": True}, "bad-result"),
        ({"first_error_step": 1.0}, "bad-result"),
        ({"first_error_step": "1"}, "bad-result"),
        ({}, "bad-result"),
        (None, "bad-result"),
    ],
)
def test_a_first_error_that_is_none(tmp_path, raw, code):
    made = project(tmp_path, [FIRST_ERROR], item())
    record = read(made, record_of(made), schemes(reward=raw))
    assert ([flag.code for flag in record.flags], record.controls) == ([code], {"reward": [{"raw": raw}]})


def test_no_error_was_a_choice_when_it_was_chosen(tmp_path):
    """The config may have taken it away since, as on Label Studio."""
    made = project(tmp_path, [FIRST_ERROR.replace("}", ", first_error: {allow_no_error: false}}")], item())
    record = read(made, record_of(made), schemes(reward={"first_error_step": None}))
    assert (record.annotations["reward"]["first_error_step"], record.flags) == (None, [])


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("reward", {"steps": {"0": {"label": "correct"}}}),
        ("code-review", {"comments": [], "summary": "fine"}),
        ("my-marks", {"spans": [{"start": 0, "end": 3, "label": "a", "field": "text"}]}),
        ("my-edit", {"edits": []}),
        ("n", {"values": {"": 1}}),
    ],
)
def test_what_nobody_reads_is_kept(whole, name, known):
    record = read(*whole, schemes(**{name: known | {"more": [1]}}), complete=False)
    assert name in record.annotations
    assert record.controls == {name: [{"raw": {"more": [1]}}]}
    assert [flag.code for flag in record.flags] == ["bad-result"]


def test_a_scheme_that_has_a_question_of_its_own_is_not_read_from_the_panel(whole):
    record = read(*whole, schemes(ok={"values": {"": "yes"}}), complete=False)
    assert (record.annotations, record.controls) == ({}, {"ok": [{"raw": {"values": {"": "yes"}}}]})


def test_two_texts_for_one_box(whole):
    edits = [{"step": 0, "field": "action", "text": text} for text in ("one", "two")]
    edits.append({"step": False, "field": "action", "text": "three"})
    record = read(*whole, schemes(**{"my-edit": {"edits": edits}}), complete=False)
    assert [step["edited_text"] for step in record.annotations["my-edit"]["steps"]] == ["one"]
    assert [flag.code for flag in record.flags] == ["bad-result", "step-out-of-range"]
    assert record.controls == {"my-edit": [{"raw": edits[1]}, {"raw": edits[2]}]}


@pytest.mark.parametrize("scheme", [FIRST_ERROR, PER_STEP])
def test_an_answer_to_fewer_steps(tmp_path, scheme):
    """The item has more steps now; the answer says what it said of those it saw."""
    made = project(tmp_path, [scheme], item())
    then = record_of(made)
    longer = item()
    longer["turns"] = [*longer["turns"], {"role": "assistant", "content": "More."}]
    made = project(tmp_path, [scheme], longer)
    now = record_of(made)
    assert (then.meta["total_steps"], now.meta["total_steps"]) == (2, 3)
    raw = {"first_error_step": None} if scheme is FIRST_ERROR else {"steps": {"1": {"label": "correct"}}}
    assert read(made, now, schemes(reward=raw), revision=then.meta).annotations["reward"]["total_steps"] == 2
    assert read(made, now, schemes(reward=raw)).annotations["reward"]["total_steps"] == 3
    late = {"first_error_step": 2} if scheme is FIRST_ERROR else {"steps": {"2": {"label": "correct"}}}
    record = read(made, now, schemes(reward=late), revision=then.meta, complete=False)
    assert [flag.code for flag in record.flags] == ["step-out-of-range"]


@pytest.mark.parametrize("value", [{"id": "a\ud800b"}, ["\udfff", "é😀\0"], {"n": 10**30}, None, 0.5])
def test_what_is_put_into_a_record_comes_back(value):
    assert from_base64(to_base64(value)) == value


@pytest.mark.parametrize("text", [None, 7, "", "no base64", "eyI=", "/w==", "[" * 9])
def test_what_is_no_value_is_none(text):
    assert from_base64(text) is None


# --- records ----------------------------------------------------------------------------------------------------------


def in_the_clear(plan: RecordPlan) -> str:
    """The record as Argilla puts it into its page."""
    shown = [[one.question, one.value, one.agent] for one in plan.suggestions]
    return json.dumps([plan.external_id, plan.fields, plan.metadata, shown], ensure_ascii=False)


def with_prelabel(made: Project, text: str) -> RecordPlan:
    """The record of an item and a pre-label that have a text in every place."""
    value = {
        "reward": {
            "mode": "per_step",
            "total_steps": 2,
            "labels": [1, None],
            "step_details": {"0": {"label": "correct", "notes": text}},
        },
        "code-review": {
            "verdict": "approve",
            "comments": [
                {"category": "bug", "file": "a.py", "line": 2, "side": "RIGHT", "text": text, "suggestion": text}
            ],
            "file_ratings": {},
        },
        "my-edit": {
            "steps": [{"step_index": 0, "field": "action", "original_text": f"set y {text}", "edited_text": text}]
        },
        "m": text,
        "many": [text],
    }
    found = Prelabel(item="t1", annotations=value, model_version=f"model{text}")
    [plan], dropped, _ = suggestions(made, "panel", found, [record_of(made)])
    assert dropped == []
    assert sorted(one.question for one in plan.suggestions) == ["answer", "code-review_verdict", "m", "many"]
    return plan


@DETERMINISTIC
@given(st.sampled_from(HOSTILE), texts.filter(str.strip))
def test_no_text_of_an_item_or_a_pre_label_stands_in_a_record(tmp_path_factory, hostile, more):
    text = f"{hostile}{more.strip()}".replace("\r", "")
    bad = {**item(value=text, text=text), "id": f"t{text}", "task": text}
    label = '"' + "".join(f"\\U{ord(char):08x}" for char in text) + '"'
    made = project(
        tmp_path_factory.mktemp("bad"),
        [
            PER_STEP.replace("}", ", per_step: {allow_notes: true}}"),
            REVIEW,
            EDIT,
            f"{{annotation_type: radio, name: m, labels: [{label}, b]}}",
            f"{{annotation_type: multiselect, name: many, labels: [{label}, b]}}",
        ],
        bad,
    )
    plan = with_prelabel(made, text)
    assert not set("<>$&\u2028\u2029") & set(in_the_clear(plan))
    # And all of it comes back.
    values = {one.question: one.value for one in plan.suggestions}
    read_back = PANEL.read_answer(made, [Part(stored(plan), values)]).annotations
    assert read_back["m"] == text and read_back["many"] == [text]
    assert read_back["reward"]["step_details"]["0"]["notes"] == text
    assert read_back["code-review"]["comments"][0]["text"] == text

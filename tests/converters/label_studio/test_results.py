from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.results import UNREADABLE, read_answer, write_results
from potato_bridge.errors import InputError
from potato_bridge.model import Record
from potato_bridge.model.process_reward import FirstError
from tests.converters.label_studio import samples
from tests.strategies import DETERMINISTIC, json_objects

PROJECT = samples.project()
ENTRY = {"from_name": "process_reward", "to_name": "task", "type": "choices", "value": {"choices": ["step_4"]}}


def task(steps: int, turns: int = 2):
    values = (
        [fields.turn_value(n) for n in range(turns)] + [fields.step_value(n) for n in range(steps)] + ["all_correct"]
    )
    return {"data": {"step_options": [{"value": value, "html": ""} for value in values]}}


def read(result, steps: int = 8, **more):
    return read_answer(PROJECT, task(steps), {"result": result}, **more)


def codes(answer):
    return [(flag.code, flag.scheme) for flag in answer.flags]


def chosen(*choices):
    return {**ENTRY, "value": {"choices": list(choices)}}


def test_the_documented_value():
    answer = read([{**ENTRY, "id": "QE5n1OiaGQ", "origin": "manual"}])
    assert answer.annotations == {
        "process_reward": {
            "mode": "first_error",
            "first_error_step": 4,
            "total_steps": 8,
            "labels": [1, 1, 1, 1, -1, -1, -1, -1],
        }
    }
    assert (answer.controls, answer.flags) == ({}, [])


@pytest.mark.parametrize(
    ("choice", "step", "labels"),
    [("step_0", 0, [-1, -1, -1]), ("step_2", 2, [1, 1, -1]), ("all_correct", None, [1, 1, 1])],
)
def test_first_last_and_none(choice, step, labels):
    value = read([chosen(choice)], 3).annotations["process_reward"]
    assert (value["first_error_step"], value["labels"]) == (step, labels)


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ([chosen("step_8")], "step-out-of-range"),
        ([chosen("turn_1")], "unknown-label"),
        ([chosen("step_04")], "unknown-label"),
        ([chosen("step_-1")], "unknown-label"),
        ([chosen("Step 4")], "unknown-label"),
        ([chosen(4)], "unknown-label"),
        ([chosen(["step_4"])], "unknown-label"),
        ([chosen("step_1", "step_4")], "bad-result"),
        ([chosen()], "bad-result"),
        ([chosen("step_1"), chosen("step_4")], "bad-result"),
        ([{**ENTRY, "value": None}], "bad-result"),
        ([{**ENTRY, "value": {"text": ["step_4"]}, "type": "textarea"}], "bad-result"),
    ],
)
def test_what_is_no_answer_is_kept_and_flagged(result, code):
    answer = read(result)
    assert answer.annotations == {}
    assert answer.controls == {"process_reward": result}
    assert codes(answer) == [(code, "process_reward")]


def test_a_message_has_both_numbers():
    [flag] = read([chosen("step_8")]).flags
    assert flag.message == "step_8 (shown as step 9) is not among the 8 steps of the task"


def test_a_task_without_steps():
    assert codes(read([chosen("all_correct")], 0)) == [("step-out-of-range", "process_reward")]


@pytest.mark.parametrize(
    ("result", "raw", "flags"),
    [
        (None, None, ["bad-result", "missing-required"]),
        ("step_4", "step_4", ["bad-result", "missing-required"]),
        ({"choices": []}, {"choices": []}, ["bad-result", "missing-required"]),
        ([7], 7, ["bad-result", "missing-required"]),
        ([{"value": {}}], {"value": {}}, ["bad-result", "missing-required"]),
        ([{"from_name": ["x"]}], {"from_name": ["x"]}, ["bad-result", "missing-required"]),
    ],
)
def test_results_that_are_none(result, raw, flags):
    answer = read(result)
    assert [code for code, _ in codes(answer)] == flags
    assert answer.controls == ({} if raw is None else {UNREADABLE: [{"raw": raw}]})


def test_a_missing_answer_is_a_fault_only_of_a_finished_annotation():
    assert codes(read([])) == [("missing-required", "process_reward")]
    assert codes(read([], complete=False)) == []
    assert read_answer(PROJECT, task(8), {"result": [], "was_cancelled": True}).flags == []
    optional = samples.project({"required": False})
    assert read_answer(optional, task(8), {"result": []}).flags == []


def test_controls_of_a_team_are_kept_whole():
    why = {"id": "a1", "from_name": "why", "to_name": "task", "type": "textarea", "value": {"text": ["é 😀\n<b>"]}}
    stars = {"id": "b2", "from_name": "stars", "to_name": "task", "type": "rating", "value": {"rating": 3}}
    answer = read([stars, ENTRY, why], controls={"process_reward", "why"})
    assert answer.controls == {"stars": [stars], "why": [why]}
    assert answer.annotations["process_reward"]["first_error_step"] == 4
    assert codes(answer) == [("unknown-control", None)]
    assert read([stars, ENTRY, why]).flags == []


def test_a_scheme_with_a_name_that_no_control_can_have():
    project = samples.project({"name": "Step rewards"})
    answer = read_answer(project, task(8), {"result": [{**ENTRY, "from_name": "Step_rewards"}]})
    assert list(answer.annotations) == ["Step rewards"]
    record = Record(id="x", annotator="a", annotations=answer.annotations)
    assert write_results(project, record, task(8)) == [{**ENTRY, "from_name": "Step_rewards"}]


@pytest.mark.parametrize("data", [None, {}, {"step_options": None}, {"step_options": ["step_1", {"value": []}, {}]}])
def test_a_task_that_is_not_ours_has_no_steps(data):
    answer = read_answer(PROJECT, {"data": data}, {"result": [ENTRY]})
    assert [flag.code for flag in answer.flags] == ["step-out-of-range"]


def test_results_are_only_written_for_the_steps_that_were_counted():
    record = Record(
        id="x", annotator="a", annotations={"process_reward": FirstError(first_error_step=1, total_steps=3).to_json()}
    )
    with pytest.raises(InputError, match="counts 3 steps, and the task has 8"):
        write_results(PROJECT, record, task(8))


def test_a_real_export():
    """What a real server has stored for a hand-made config: the entry is the same, its control has another name."""
    sample = Path(__file__).parent / "first_error_export.json"
    [exported] = json.loads(sample.read_text(encoding="utf-8"))
    project = samples.project({"name": "first_error"})
    exported["data"]["step_options"] = exported["data"].pop("first_error_options")
    answer = read_answer(project, exported, exported["annotations"][0], controls={"first_error"})
    assert answer.annotations == {"first_error": FirstError(first_error_step=4, total_steps=8).to_json()}
    assert answer.flags == []


@st.composite
def records(draw) -> tuple[Record, int]:
    """A record, and how many steps its task has."""
    steps = draw(st.integers(1, 40))
    annotations = {}
    if draw(st.booleans()):
        step = draw(st.none() | st.integers(0, steps - 1))
        annotations["process_reward"] = FirstError(first_error_step=step, total_steps=steps).to_json()
    names = st.text(min_size=1, max_size=12).filter(lambda name: name != "process_reward")
    controls = {
        name: [{**entry, "from_name": name} for entry in entries]
        for name, entries in draw(
            st.dictionaries(names, st.lists(json_objects, min_size=1, max_size=3), max_size=3)
        ).items()
    }
    return Record(id="x", annotator="a", annotations=annotations, controls=controls), steps


@DETERMINISTIC
@given(records())
def test_record_to_results_to_record_is_the_identity(made):
    record, steps = made
    results = write_results(PROJECT, record, task(steps))
    answer = read_answer(PROJECT, task(steps), {"result": json.loads(json.dumps(results))})
    assert answer.annotations == record.annotations
    assert answer.controls == record.controls
    assert codes(answer) == ([] if record.annotations else [("missing-required", "process_reward")])


@DETERMINISTIC
@given(json_objects, st.lists(json_objects | st.none() | st.integers(), max_size=4))
def test_reading_never_raises(odd_task, entries):
    for result in (entries, odd_task, [{**ENTRY, **odd_task}], [{**ENTRY, "value": odd_task}]):
        read_answer(PROJECT, {"data": odd_task}, {"result": result})
        read(result)

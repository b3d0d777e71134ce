"""Pre-labels as Label Studio's predictions, and what an annotation says became of them.

The annotations are as 1.23.2 stores them when they are made in a browser (tests/browser/test_prelabels.py).
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.label_studio.prefill import add_predictions
from potato_bridge.converters.label_studio.prelabels import became_of, fingerprint, prediction
from potato_bridge.converters.label_studio.results import read_answer
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.potato.prelabel_values import read_value
from potato_bridge.converters.potato.step_lists import StepList
from potato_bridge.errors import InputError
from potato_bridge.model import Prelabel, ProcessReward, Project
from potato_bridge.notices import Notices
from tests.converters.label_studio import samples
from tests.converters.label_studio.test_per_step import answers, documented
from tests.converters.label_studio.test_per_step import task as paged_task
from tests.converters.label_studio.test_trajectory_edit import STEPS, make, task_of
from tests.strategies import DETERMINISTIC

FIRST, EACH = samples.project(), documented()
NAME = "process_reward"
TASK = {"data": {"step_options": [{"value": f"step_{step}", "html": ""} for step in range(3)]}}
VALUE = {"mode": "first_error", "first_error_step": 1, "total_steps": 3, "labels": [1, -1, -1]}


def prelabel(value: Any, **more: Any) -> Prelabel:
    return Prelabel(item="a", annotations={NAME: value}, **more)


def test_a_prediction_of_a_first_error() -> None:
    made = prediction(FIRST, prelabel(VALUE, model_version="m\0", score=0.5), TASK)
    assert {**made, "result": ...} == {"model_version": "m\ufffd", "score": 0.5, "result": ...}
    [entry] = made["result"]
    assert re.fullmatch("pb[0-9a-f]{16}n0", entry.pop("id"))
    assert entry == {"from_name": NAME, "to_name": "task", "type": "choices", "value": {"choices": ["step_1"]}}
    assert "score" not in prediction(FIRST, prelabel(VALUE), TASK)


def test_ours_are_told_apart() -> None:
    given_ones = [
        prelabel(VALUE),
        prelabel(VALUE, model_version="m"),
        prelabel(VALUE, score=0.5),
        prelabel({**VALUE, "first_error_step": 2, "labels": [1, 1, -1]}),
    ]
    names = {fingerprint(prediction(FIRST, one, TASK)) for one in given_ones}
    assert len(names) == 4 and None not in names
    assert fingerprint(prediction(FIRST, prelabel(VALUE, place="other:9"), TASK)) in names
    for foreign in ({}, {"result": None}, {"result": []}, {"result": [{"id": "x"}]}, {"result": [{}]}, {"result": [7]}):
        assert fingerprint(foreign) is None
    mixed = [*prediction(FIRST, given_ones[0], TASK)["result"], *prediction(FIRST, given_ones[1], TASK)["result"]]
    assert fingerprint({"result": mixed}) is None


def test_a_value_of_other_steps_is_refused() -> None:
    with pytest.raises(InputError, match="counts 2 steps, and the task has 3"):
        prediction(FIRST, prelabel({**VALUE, "total_steps": 2, "labels": [1, -1]}), TASK)


def test_the_hash_of_the_data_does_not_change() -> None:
    trace = samples.coding_trace()
    bare = build_task(FIRST, samples.item(trace), trace, Notices())
    task = copy.deepcopy(bare)
    add_predictions(task, [])
    assert task == bare
    total = task["meta"]["potato_bridge"]["total_steps"]
    value = {"mode": "first_error", "first_error_step": None, "total_steps": total, "labels": [1] * total}
    made = prediction(FIRST, prelabel(value), task)
    add_predictions(task, [made])
    ours = task["meta"]["potato_bridge"]
    assert re.fullmatch("[0-9a-f]{64}", ours.pop("prelabels_hash"))
    assert task.pop("predictions") == [made]
    assert task == bare


# --- what became of them --------------------------------------------------------------------------------------------


def annotation(shown: dict[str, Any], result: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"result": result, "prediction": {"id": 7, **shown}, "parent_prediction": 7, "was_cancelled": False, **more}


def outcome(project: Project, task: dict[str, Any], made: dict[str, Any]) -> tuple[str | None, str | None]:
    found, version = became_of(project, task, made, read_answer(project, task, made), None)
    return found.get(NAME), version


def entry(result: list[dict[str, Any]], origin: str, *choices: str) -> list[dict[str, Any]]:
    changed = copy.deepcopy(result)
    changed[0]["origin"] = origin
    if choices:
        changed[0]["value"]["choices"] = list(choices)
    return changed


def test_what_became_of_a_first_error() -> None:
    shown = prediction(FIRST, prelabel(VALUE, model_version="m"), TASK)
    result = shown["result"]
    assert outcome(FIRST, TASK, annotation(shown, entry(result, "prediction"))) == ("kept", "m")
    assert outcome(FIRST, TASK, annotation(shown, entry(result, "prediction-changed", "step_2"))) == ("changed", "m")
    # Another step, and then the one of before.
    assert outcome(FIRST, TASK, annotation(shown, entry(result, "prediction-changed"))) == ("kept", "m")
    # A fresh annotation beside the pre-label, with the same answer and with another one.
    by_hand = {"parent_prediction": None}
    assert outcome(FIRST, TASK, annotation(shown, entry(result, "manual"), **by_hand)) == ("manual", "m")
    assert outcome(FIRST, TASK, annotation(shown, entry(result, "manual", "step_2"), **by_hand)) == ("manual", "m")
    # All taken out; and nothing put in.
    assert outcome(FIRST, TASK, annotation(shown, [])) == ("changed", "m")
    assert outcome(FIRST, TASK, annotation(shown, [], **by_hand)) == ("manual", "m")
    # The prediction was deleted since.
    assert outcome(FIRST, TASK, annotation(shown, entry(result, "prediction"), **by_hand)) == ("kept", "m")


def test_begun_from_the_pre_label_of_another_model() -> None:
    shown = prediction(FIRST, prelabel(VALUE, model_version="m"), TASK)
    other = {"parent_prediction": 8}
    assert outcome(FIRST, TASK, annotation(shown, entry(shown["result"], "prediction", "step_2"), **other)) == (
        "kept",
        None,
    )
    changed = entry(shown["result"], "prediction-changed")
    assert outcome(FIRST, TASK, annotation(shown, changed, **other)) == ("changed", None)


@pytest.mark.parametrize(
    "more",
    [
        {"prediction": {}},
        {"prediction": None},
        {"prediction": {"result": "x"}},
        {"prediction": {"id": 7, "result": [{"from_name": "why", "type": "textarea", "value": {"text": ["x"]}}]}},
        {"was_cancelled": True},
    ],
)
def test_nothing_is_said_where_no_pre_label_was_shown(more: dict[str, Any]) -> None:
    shown = prediction(FIRST, prelabel(VALUE), TASK)
    assert outcome(FIRST, TASK, annotation(shown, entry(shown["result"], "manual"), **more)) == (None, None)


def test_what_became_of_rated_steps() -> None:
    value = {
        "mode": "per_step",
        "total_steps": 3,
        "labels": [1.0, -1.0, None],
        "step_details": {"0": {"label": "correct"}, "1": {"label": "incorrect", "error_category": "Logic error"}},
    }
    task = paged_task(3)
    shown = prediction(EACH, prelabel(value), task)
    named = {found["from_name"]: {**found, "origin": "prediction"} for found in shown["result"]}
    assert list(named) == [
        "process_reward_numbering",
        "process_reward_label_1",
        "process_reward_label_2",
        "process_reward_error_2",
    ]
    third = {**named["process_reward_label_1"], "from_name": "process_reward_label_3", "id": "Qw", "origin": "manual"}

    def became(*result: dict[str, Any], **more: Any) -> str | None:
        return outcome(EACH, task, annotation(shown, list(result), **more))[0]

    assert became(*named.values()) == "kept"
    assert became(*named.values(), third) == "changed"
    # A category that was taken out leaves no mark of it.
    assert became(*(found for name, found in named.items() if "error" not in name)) == "changed"
    # The hidden control is in each annotation, whoever made it.
    by_hand = [{**found, "origin": "manual"} for found in named.values()]
    by_hand[0]["origin"] = "prediction"
    assert became(*by_hand) == "manual"
    assert became(by_hand[0], parent_prediction=7) == "changed"


@DETERMINISTIC
@given(answers(), st.sampled_from([None, 0.25]), st.booleans())
def test_value_to_pre_label_to_results_to_record_is_the_identity(made, score, as_json) -> None:
    project, value = made
    scheme, total = project.process_reward(), value.total_steps
    task, steps = paged_task(total), StepList(total, tuple(range(total)))
    stored = value.to_json()
    if all(label is None for label in value.labels):
        with pytest.raises(InputError, match="no step is rated"):
            read_value(stored, scheme, steps)
        return
    read, lost = read_value(json.dumps(stored) if as_json else stored, scheme, steps)
    assert (read, lost) == (stored, [])
    shown = prediction(project, Prelabel(item="x", annotations={scheme.name: read}, score=score), task)
    result = [{**found, "origin": "prediction"} for found in json.loads(json.dumps(shown["result"]))]
    answer = read_answer(project, task, {"result": result[::-1]}, complete=False)
    assert (answer.annotations, answer.controls, answer.flags) == ({scheme.name: stored}, {}, [])
    found, _ = became_of(project, task, annotation(shown, result), answer, None)
    assert found == {scheme.name: "kept"}


@DETERMINISTIC
@given(st.integers(1, 12), st.data())
def test_a_first_error_comes_back_as_it_was(total, data) -> None:
    step = data.draw(st.none() | st.integers(0, total - 1))
    task = {"data": {"step_options": [{"value": f"step_{number}"} for number in range(total)]}}
    read, _ = read_value(step, FIRST.process_reward(), StepList(total, tuple(range(total))))
    shown = prediction(FIRST, prelabel(read), task)
    answer = read_answer(FIRST, task, {"result": shown["result"]})
    assert answer.annotations == {NAME: read}
    assert read["first_error_step"] == step


def test_boxes_are_filled_beside_a_prelabel_and_are_none() -> None:
    """Annotators start from one prediction of a task: it holds the pre-label, and the texts of the boxes."""
    project, _ = make()
    project.schemes.append(ProcessReward(name=NAME, steps_key="steps"))
    task = task_of(project, STEPS)
    [boxes] = task["predictions"]
    steps = len(STEPS)
    value = {"mode": "first_error", "first_error_step": 1, "total_steps": steps, "labels": [1, *[-1] * (steps - 1)]}
    made = prediction(project, prelabel(value, model_version="m"), task)
    texts = [{key: entry[key] for key in ("from_name", "value")} for entry in boxes["result"]]
    assert [{key: entry[key] for key in ("from_name", "value")} for entry in made["result"][1:]] == texts
    annotation = {
        "result": [{**entry, "origin": "prediction"} for entry in made["result"]],
        "prediction": {"id": 1, **made},
        "parent_prediction": 1,
    }
    answer = read_answer(project, task, annotation)
    assert set(answer.annotations) == {"fix", NAME}
    assert became_of(project, task, annotation, answer, None) == ({NAME: "kept"}, "m")
    # Boxes alone are nobody's pre-label.
    annotation["prediction"] = {"id": 1, **boxes}
    assert became_of(project, task, annotation, answer, None) == ({}, None)

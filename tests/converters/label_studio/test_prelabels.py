"""Pre-labels as Label Studio's predictions, and what an annotation says became of them.

The annotations are as 1.23.2 stores them when they are made in a browser (tests/browser/test_prelabels.py).
"""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import structs

from potato_bridge.converters.label_studio.prefill import add_predictions
from potato_bridge.converters.label_studio.prelabel_fit import fit
from potato_bridge.converters.label_studio.prelabels import became_of, fingerprint, prediction
from potato_bridge.converters.label_studio.results import read_answer
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.potato.prelabel_schemes import read_prelabel
from potato_bridge.converters.potato.prelabel_values import read_value
from potato_bridge.converters.potato.step_lists import StepList
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Prelabel, ProcessReward, Project
from potato_bridge.model.trajectory_edit import FinalEdit, StepEdit, TrajectoryEdits
from potato_bridge.notices import Notices
from tests.converters.label_studio import general_samples, reviews, samples
from tests.converters.label_studio.test_general import schemes_and_values
from tests.converters.label_studio.test_per_step import answers, documented
from tests.converters.label_studio.test_per_step import task as paged_task
from tests.converters.label_studio.test_trajectory_edit import STEPS, make, task_of
from tests.strategies import DETERMINISTIC

GENERAL = Project(
    name="p",
    config=Path("c.yaml"),
    task_dir=Path(),
    id_key="id",
    text_key="text",
    output_dir=Path(),
)
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
    assert became(*by_hand, parent_prediction=None) == "manual"
    # All taken out; and some of it made again.
    assert became(by_hand[0]) == "changed"
    assert became(*by_hand[:2]) == "changed"


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


# --- every scheme ---------------------------------------------------------------------------------------------------


def round_trip(project: Project, task: dict[str, Any], name: str, value: Any) -> Any:
    """What is read in the prediction of a value, which says that it was kept and, when it is changed, that it was."""
    fitted = fit(project, Prelabel(item="a", annotations={name: value}), task)
    assert (fitted.dropped, fitted.parts, fitted.not_asked) == ([], [], [])
    shown = prediction(project, Prelabel(item="a", annotations=fitted.annotations, model_version="m"), task)
    assert fingerprint(shown) is not None
    made = annotation(shown, [{**found, "origin": "prediction"} for found in shown["result"]])
    answer = read_answer(project, task, made, complete=False)
    assert (answer.flags, answer.controls) == ([], {})
    assert became_of(project, task, made, answer, None) == ({name: "kept"}, "m")
    answer.annotations[name] = None
    assert became_of(project, task, made, answer, None) == ({name: "changed"}, "m")
    return read_answer(project, task, made, complete=False).annotations[name]


@pytest.mark.parametrize(("text", "results", "value", "stored"), general_samples.CASES, ids=general_samples.IDS)
def test_every_general_type_from_its_value_and_from_what_potato_stores(
    tmp_path: Path, text: str, results: Any, value: Any, stored: Any
) -> None:
    project = general_samples.project(tmp_path, general_samples.scheme(text))
    item = general_samples.item()
    task = build_task(project, item, to_trace(item, project, Notices()), Notices())
    for given_value in (value, stored):
        assert read_prelabel(given_value, project.schemes[0], item, project) == (value, [])
    assert round_trip(project, task, "s", value) == value


@pytest.mark.parametrize(
    ("text", "short", "value"),
    [
        ("pairwise, items_key: pair", "A", {"selection": "A"}),
        ("pairwise, items_key: pair, mode: scale", -2, {"scale_value": -2}),
        (
            "text_edit, source_field: other",
            "New 😀",
            {"edited_text": "New 😀", "original_text": "Old 😀", "edit_distance_chars": 3, "edit_distance_words": 1},
        ),
        (
            "span, labels: [thing]",
            [{"start": 4, "end": 15, "label": "thing"}],
            [{"start": 4, "end": 15, "label": "thing", "text": "<b>soup</b>", "field": "text"}],
        ),
        ("radio, labels: ['yes', 'no'], has_free_response: true", "yes", "yes"),
        (
            "radio, labels: ['yes', 'no'], has_free_response: true",
            {"option": "yes", "free_response": "because"},
            {"option": "yes", "free_response": "because"},
        ),
    ],
)
def test_short_forms(tmp_path: Path, text: str, short: Any, value: Any) -> None:
    project = general_samples.project(tmp_path, general_samples.scheme(text))
    item = general_samples.item()
    task = build_task(project, item, to_trace(item, project, Notices()), Notices())
    read, lost = read_prelabel(short, project.schemes[0], item, project)
    assert lost == []
    assert round_trip(project, task, "s", read) == value


@pytest.mark.parametrize(
    ("text", "wrong", "reason"),
    [
        ("radio, labels: [good, poor]", "fair", "'fair' is none of the labels"),
        ("multiselect, labels: [a, b]", "a", "expected a list of labels, found 'a'"),
        ("multiselect, labels: [a, b]", [], "it says nothing"),
        ("text", "", "it says nothing"),
        ("number, min: 0, max: 10", 11, "11 is no number that s can have"),
        ("ranking, labels: [a, b]", ["a"], "expected all labels in an order, found ['a']"),
        ("span, labels: [thing]", [{"start": 0, "end": 99, "label": "thing", "field": "text"}], "the span 0 to 99"),
        (
            "text_edit, source_field: other",
            {"edited_text": "x", "original_text": "older"},
            "the original is another text now",
        ),
    ],
)
def test_a_wrong_value_is_dropped_alone(tmp_path: Path, text: str, wrong: Any, reason: str) -> None:
    other = general_samples.scheme("radio, labels: [x, y]", name="other")
    project = general_samples.project(tmp_path, general_samples.scheme(text), other)
    item = general_samples.item()
    task = build_task(project, item, to_trace(item, project, Notices()), Notices())
    fitted = fit(project, Prelabel(item="a", annotations={"s": wrong, "other": "y", "nobody": 1}), task)
    assert fitted.annotations == {"other": "y"}
    [(name, message)] = fitted.dropped
    assert name == "s" and message.startswith(reason)
    assert fitted.not_asked == ["nobody"]


REVIEW: dict[str, Any] = {
    "verdict": "approve",
    "comments": [
        {"category": "bug", "file": "src/parser.py", "line": 41, "text": "a", "side": "RIGHT", "severity": "major"},
        {"category": "style", "file": "src/parser.py", "line": 41, "text": "b", "side": "RIGHT"},
        {"category": "bug", "file": "src/parser.py", "line": 900, "text": "c", "side": "RIGHT", "outdated": True},
        {"category": "praise", "file": "tests/test_parser.py", "line": None, "text": "d"},
    ],
    "file_ratings": {"src/parser.py": {"correctness": 3}},
}


def test_the_entries_of_one_comment_have_one_id() -> None:
    project = reviews.project()
    task = reviews.task(reviews.PARSER + reviews.TESTS, project)
    assert round_trip(project, task, "review", REVIEW) == REVIEW
    shown = prediction(project, Prelabel(item="a", annotations={"review": REVIEW}), task)
    ids: dict[str, list[str]] = {}
    for found in shown["result"]:
        ids.setdefault(found["id"], []).append(found["from_name"].removeprefix("review_"))
    assert list(ids.values()) == [
        ["category", "comment", "severity"],
        ["category", "comment"],
        ["category", "comment"],
        ["category", "comment"],
        ["rating_correctness_0"],
        ["verdict"],
    ]


def test_what_the_change_has_no_place_for_is_left_out_alone() -> None:
    project = reviews.project()
    task = reviews.task(reviews.PARSER, project)
    fitted = fit(project, Prelabel(item="a", annotations={"review": REVIEW}), task)
    assert fitted.annotations == {"review": {**REVIEW, "comments": REVIEW["comments"][:3]}}
    assert fitted.parts == ["review, comments[3]: the change has no file 'tests/test_parser.py'"]
    nothing = {"verdict": None, "comments": REVIEW["comments"][3:], "file_ratings": {"x": {"correctness": 1}}}
    fitted = fit(project, Prelabel(item="a", annotations={"review": nothing}), task)
    assert (fitted.annotations, fitted.parts) == ({}, [])
    assert fitted.dropped == [("review", "comments[0]: the change has no file 'tests/test_parser.py'")]


@pytest.mark.parametrize("form", ["value", "text", "short"])
def test_corrections_of_an_earlier_round(form: str) -> None:
    project, task = make()
    item = Item(id="a", data={"id": "a", "steps": STEPS, "final_answer": "It is so."}, file="items.jsonl")
    edit = StepEdit(step_index=0, field="action", original_text="look(x)", edited_text="look(y)")
    final = FinalEdit(original_text="It is so.", edited_text="It is not.")
    value = TrajectoryEdits(steps=[edit], final_answer=final).to_json()
    short = {"steps": [{"step_index": 0, "edited_text": "look(y)"}], "final_answer": "It is not."}
    given_value = {"value": value, "text": json.dumps(value), "short": short}[form]
    assert read_prelabel(given_value, project.schemes[0], item, project) == (value, [])
    assert round_trip(project, task, "fix", value) == value
    shown = prediction(project, Prelabel(item="a", annotations={"fix": value}), task)
    # All other boxes are filled.
    [boxes] = task["predictions"]
    assert [found["from_name"] for found in shown["result"]] == [found["from_name"] for found in boxes["result"]]
    changed = [
        found["value"] for found in shown["result"] if found["value"] not in [b["value"] for b in boxes["result"]]
    ]
    assert changed == [{"text": ["look(y)"]}, {"text": ["It is not."]}]


def test_a_correction_of_what_changed_is_left_out_alone() -> None:
    project, task = make()
    good = StepEdit(step_index=0, field="action", original_text="look(x)", edited_text="look(y)")
    old = StepEdit(step_index=2, field="action", original_text="older", edited_text="y")
    gone = StepEdit(step_index=9, field="action", original_text="x", edited_text="y")
    fitted = fit(
        project, Prelabel(item="a", annotations={"fix": TrajectoryEdits(steps=[old, good, gone]).to_json()}), task
    )
    assert fitted.annotations == {"fix": TrajectoryEdits(steps=[good]).to_json()}
    assert [part.split(": ")[0] for part in fitted.parts] == ["fix, steps[1]", "fix, steps[2]"]


def test_spans_of_another_text_are_left_out_alone(tmp_path: Path) -> None:
    project = general_samples.project(tmp_path, general_samples.scheme("span, labels: [thing]"))
    item = general_samples.item()
    task = build_task(project, item, to_trace(item, project, Notices()), Notices())
    good = {"start": 4, "end": 15, "label": "thing", "text": "<b>soup</b>", "field": "text"}
    fitted = fit(project, Prelabel(item="a", annotations={"s": [{**good, "text": "<b>cake</b>"}, good]}), task)
    assert fitted.annotations == {"s": [good]}
    assert len(fitted.parts) == 1


@DETERMINISTIC
@given(schemes_and_values())
def test_any_value_of_a_general_type_comes_back(made) -> None:
    scheme, value = made
    # A text that stands in its box anyway is nobody's pre-label.
    assume(scheme.type != "text_edit" or value["edited_text"] != value["original_text"])
    project, item = structs.replace(GENERAL, schemes=[scheme]), general_samples.item()
    task = build_task(project, item, to_trace(item, project, Notices()), Notices())
    read, lost = read_prelabel(value, scheme, item, project)
    assert (read, lost) == (value, [])
    assert round_trip(project, task, scheme.name, read) == value


def test_each_scheme_has_its_own_and_one_answer_was_begun_once(tmp_path: Path) -> None:
    """Of what was begun from a pre-label, a part that was made anew is changed: it is not from nothing."""
    schemes = [general_samples.scheme("radio, labels: [x, y]", name=name) for name in ("one", "two")]
    project = general_samples.project(tmp_path, *schemes)
    item = general_samples.item()
    task = build_task(project, item, to_trace(item, project, Notices()), Notices())
    shown = prediction(project, Prelabel(item="a", annotations={"one": "x", "two": "x"}, model_version="m"), task)
    kept, anew = copy.deepcopy(shown["result"])
    kept["origin"], anew["origin"], anew["value"] = "prediction", "manual", {"choices": ["y"]}
    for parent in (7, None):
        made = annotation(shown, [kept, anew], parent_prediction=parent)
        answer = read_answer(project, task, made)
        assert became_of(project, task, made, answer, None) == ({"one": "kept", "two": "changed"}, "m")
    made = annotation(shown, [{**kept, "origin": "manual"}, anew], parent_prediction=None)
    found, _ = became_of(project, task, made, read_answer(project, task, made), None)
    assert found == {"one": "manual", "two": "manual"}

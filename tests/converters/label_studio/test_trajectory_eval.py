"""Judgements of steps: config, results, records and what Potato stores, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.label_studio.trajectory_eval import MANY_STEPS
from potato_bridge.converters.label_studio.trajectory_eval_answers import error_text
from potato_bridge.converters.label_studio.validate import elements
from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.step_lists import StepList
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.converters.potato.trajectory_eval_blobs import read_judgements, write_judgements
from potato_bridge.converters.potato.write_output import write_annotation_output
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Project, Record
from potato_bridge.model.project import DisplayField, TraceDisplay
from potato_bridge.model.trajectory_eval import ErrorType, Severity, TrajectoryEval
from potato_bridge.notices import Notices
from tests.converters.label_studio.general_samples import entry
from tests.converters.label_studio.judged_page import ANSWERS, CONFIG, RATIONALE, STEPS, make_project
from tests.converters.potato_output.helpers import entry as label_entry
from tests.converters.potato_output.helpers import write_state
from tests.strategies import DETERMINISTIC

#: Positions of the agent's turns in STEPS.
ASKED = [1, 2, 4]


def scheme(**more: Any) -> TrajectoryEval:
    options = {
        "name": "judge",
        "error_types": [ErrorType(name="tool", subtypes=["args", "wrong tool"]), ErrorType(name="logic")],
        "severities": [Severity(name="minor", weight=-1), Severity(name="major", weight=5)],
    }
    return TrajectoryEval(**{**options, **more})


def project(made: TrajectoryEval | None = None, shown: str = "steps") -> Project:
    return Project(
        name="Judged",
        config=Path("/project/config.yaml"),
        task_dir=Path("/project"),
        id_key="id",
        text_key="task",
        output_dir=Path("/project/output"),
        fields=[DisplayField(key=shown, type="agent_trace", trace=TraceDisplay())],
        schemes=[made or scheme()],
    )


def task_of(made: Project, notices: Notices | None = None, **data: Any) -> dict[str, Any]:
    item = Item(id="a", data={"id": "a", "task": "Do it", "steps": STEPS, **data}, file="items.jsonl")
    found = notices if notices is not None else Notices()
    return build_task(made, item, to_trace(item, made, found), found)


def answer_to(made: Project, results: list[dict[str, Any]], **more: Any) -> Any:
    controls = build_interface(made, Notices()).controls
    return read_answer(made, task_of(made), {"result": results}, controls=controls, **more)


def choice(part: str, page: int, value: str) -> dict[str, Any]:
    return entry(f"judge_{part}_{page}", "text" if part == "rationale" else "choices", [value])


RESULTS = [
    choice("correctness", 1, "correct"),
    choice("correctness", 2, "incorrect"),
    choice("error", 2, "tool › args"),
    choice("severity", 2, "major"),
    choice("rationale", 2, RATIONALE),
    choice("correctness", 3, "partially_correct"),
    choice("severity", 3, "minor"),
]
VALUE = {
    "steps": [
        {"step_index": 1, "correctness": "correct"},
        {
            "step_index": 2,
            "correctness": "incorrect",
            "error_type": "tool",
            "error_subtype": "args",
            "severity": "major",
            "rationale": RATIONALE,
        },
        {"step_index": 4, "correctness": "partially_correct", "severity": "minor"},
    ],
    "score": 94,
    "score_complete": True,
}
#: As Potato's page writes it, of the same answer: an entry for each turn, both parts of an error type.
STORED = {
    "steps": [
        {"step_index": 0, "correctness": None},
        *VALUE["steps"][:2],
        {"step_index": 3, "correctness": None},
        VALUE["steps"][2],
    ],
    "score": 94,
    "score_complete": True,
}
LIST = StepList(5, (1, 2, 4))


def test_an_answer_in_all_three_forms() -> None:
    made = project()
    answer = answer_to(made, [entry("judge_numbering", "choices", ["0"]), *RESULTS])
    assert (answer.annotations, answer.flags, answer.controls) == ({"judge": VALUE}, [], {})
    record = Record(id="a", annotator="a", annotations={"judge": VALUE})
    assert write_results(made, record, task_of(made)) == [entry("judge_numbering", "choices", ["0"]), *RESULTS]
    assert json.loads(write_judgements(scheme(), VALUE, LIST)) == STORED
    value, _, flags = read_judgements(scheme(), STORED, LIST)
    assert (value, flags) == (VALUE, [])


def test_what_is_asked_with_which_controls() -> None:
    found = elements(build_interface(project(scheme(required=True)), Notices()).label_config)
    by_name = {e.attributes["name"]: e.attributes for e in found if "name" in e.attributes}
    assert by_name["judge_correctness_{{idx}}"]["required"] == "true"
    details = [by_name[f"judge_{part}_{{{{idx}}}}"] for part in ("error", "severity")]
    for attributes in details:
        assert attributes["visibleWhen"] == "choice-selected"
        assert attributes["whenTagName"] == "judge_correctness_{{idx}}"
        assert attributes["whenChoiceValue"] == "incorrect,partially_correct"
    values = [e.attributes.get("value") for e in found if e.tag == "Choice"]
    assert [error_text("tool", "args"), error_text("tool", "wrong tool"), "logic"] == [
        v for v in values if v in ("tool › args", "tool › wrong tool", "logic", "tool")
    ]
    (repeater,) = [e.attributes for e in found if e.tag == "Repeater"]
    assert (repeater["on"], repeater["mode"]) == ("$judge_pages", "pagination")


def test_a_page_for_each_turn_of_the_agent() -> None:
    pages = task_of(project())["data"]["judge_pages"]
    assert [page.get("step_index") for page in pages] == [None, *ASKED]
    assert "Find it &lt;script&gt;" in pages[0]["html"] and "third step" in pages[3]["html"]
    # What was said before a step is read with it.
    assert "Go on" in pages[3]["html"]


@pytest.mark.parametrize(
    ("results", "score", "flags"),
    [
        ([], None, [("missing-required", "the required answer is missing")]),
        (RESULTS[:5], None, [("missing-required", "not judged: step 3")]),
        ([*RESULTS[:6]], None, [("missing-required", "wrong, without a severity: step 3")]),
        ([choice("correctness", n, "correct") for n in (1, 2, 3)], 100, []),
        (RESULTS, 94, []),
    ],
)
def test_what_is_missing_has_no_score(results: Any, score: Any, flags: Any) -> None:
    made = project(scheme(required=True))
    answer = answer_to(made, results)
    value = answer.annotations.get("judge", {})
    assert (value.get("score"), value.get("score_complete", False)) == (score, score is not None)
    assert [(flag.code, flag.message) for flag in answer.flags] == flags
    assert answer_to(made, results, complete=False).flags == []
    assert answer_to(project(), results).flags == []


def test_an_unjudged_step_is_null_and_never_zero() -> None:
    value = answer_to(project(), [RESULTS[0]]).annotations["judge"]
    assert value == {
        "steps": [
            {"step_index": 1, "correctness": "correct"},
            {"step_index": 2, "correctness": None},
            {"step_index": 4, "correctness": None},
        ],
        "score": None,
        "score_complete": False,
    }


def test_the_score_ends_at_zero() -> None:
    made = scheme(max_score=7.5)
    assert answer_to(project(made), RESULTS).annotations["judge"]["score"] == 1.5
    made.max_score = 5
    assert answer_to(project(made), RESULTS).annotations["judge"]["score"] == 0


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (choice("correctness", 1, "nope"), "unknown-label"),
        (choice("correctness", 9, "correct"), "step-out-of-range"),
        (choice("correctness", 0, "correct"), "step-out-of-range"),
        (choice("severity", 1, "major"), "bad-result"),
        (choice("rationale", 3, "x"), "bad-result"),
        (entry("judge_correctness_1", "choices", []), "bad-result"),
        (entry("judge_correctness_1", "choices", ["correct", "incorrect"]), "bad-result"),
        ({**RESULTS[0], "value": None}, "bad-result"),
        ({**RESULTS[0], "value": {"choices": [7]}}, "bad-result"),
    ],
)
def test_a_result_that_is_no_answer_is_kept(wrong: dict[str, Any], code: str) -> None:
    answer = answer_to(project(), [choice("correctness", 2, "correct"), wrong])
    assert [flag.code for flag in answer.flags] == [code]
    assert answer.controls == {wrong["from_name"]: [wrong]}
    assert answer.annotations["judge"]["steps"][1] == {"step_index": 2, "correctness": "correct"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "expected an object"),
        ({"steps": 1}, "steps must be a list"),
        ({"steps": [{"step_index": True}]}, "must be a whole number"),
        ({"steps": [{"step_index": 1}, {"step_index": 1}]}, "is there twice"),
        ({"steps": [{"step_index": 0, "correctness": "correct"}]}, "annotators are not asked for it"),
        ({"steps": [{"step_index": 1, "correctness": "gone"}]}, "'gone' is none of the correctness options"),
        ({"steps": [{"step_index": 1, "correctness": "incorrect", "severity": "x"}]}, "none of the severities"),
        ({"steps": [{"step_index": 1, "correctness": "incorrect", "error_type": "tool"}]}, "none of the error types"),
        ({"steps": [{"step_index": 1, "correctness": "correct", "severity": "major"}]}, "is not called wrong"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(value: Any, message: str) -> None:
    made = project()
    with pytest.raises(InputError, match=message):
        write_results(made, Record(id="a", annotator="a", annotations={"judge": value}), task_of(made))


def test_an_answer_to_an_earlier_list_of_steps() -> None:
    made = project()
    before = task_of(made)
    assert before["meta"]["potato_bridge"]["about"] == {"judge": ASKED}
    now = task_of(made, steps=["one"])
    answer = read_answer(made, now, {"result": RESULTS}, revision=before["meta"]["potato_bridge"])
    assert (answer.annotations, answer.flags) == ({"judge": VALUE}, [])
    late = read_answer(made, now, {"result": RESULTS})
    assert {flag.code for flag in late.flags} == {"step-out-of-range"}


def test_steps_of_another_list_than_the_trace() -> None:
    made = project(scheme(steps_key="plan"), shown="steps")
    plan = ["look", {"action": "go <b>"}, {"other": 1}]
    data = task_of(made, plan=plan)["data"]
    pages = data["judge_pages"]
    assert [page.get("step_index") for page in pages] == [None, 0, 1, 2]
    assert "third step" in pages[0]["html"] and "Step 2" in pages[2]["html"] and "go &lt;b&gt;" in pages[2]["html"]
    assert "&#34;other&#34;: 1" in pages[3]["html"]


def test_notices() -> None:
    notices = Notices()
    build_interface(project(), notices)
    task_of(project(), notices, steps=[{"role": "user", "content": "x"}])
    task_of(project(), notices, steps=["x"] * (MANY_STEPS + 1))
    assert [notice.code for notice in notices] == ["no-running-score", "no-steps", "many-steps"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correctness_options": ["correct", "not, quite"]}, "has a comma"),
        ({"error_types": [ErrorType(name="a", subtypes=["b"]), ErrorType(name="a › b")]}, "look the same"),
    ],
)
def test_options_that_label_studio_cannot_tell_apart(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_interface(project(scheme(**options)), Notices())


# --- configs ---------------------------------------------------------------------------------------------------------


def test_a_config(tmp_path: Path) -> None:
    made = make_project(tmp_path, "x")
    found = made.schemes[0]
    assert isinstance(found, TrajectoryEval)
    assert (found.errors, found.max_score, found.required) == (
        [("tool <b> & $5", 'wrong "args"'), ("tool <b> & $5", "wrong tool"), ("reasoning", "")],
        10,
        True,
    )
    assert [(s.name, s.weight) for s in found.severities] == [("minor", -1), ("very bad", -5)]
    assert made.steps_key() == "steps"


def test_the_steps_are_checked_and_shown_without_a_display(tmp_path: Path) -> None:
    config = CONFIG.replace("    - {{key: steps, type: agent_trace, label: Steps}}\n", "")
    made = make_project(tmp_path, "x", config.replace("name: judge\n", "name: judge\n    steps_key: turns\n"))
    assert made.steps_key() == "turns"
    with pytest.raises(InputError) as caught:
        list(records_from_potato(made, tmp_path, Notices()))
    assert any("turns" in str(problem) for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("severities: [{name: a}]", "weight is missing"),
        ("severities: [{name: a, weight: 1.5}]", "expected a whole number"),
        ("severities: [{name: a, weight: 1}, {name: a, weight: 2}]", "'a' stands twice"),
        ("severities: [a]", "expected a mapping"),
        ("error_types: [a, a]", "'a' stands twice"),
        ("error_types: ['a::b']", "has a '::'"),
        ("error_types: [{subtypes: [x]}]", "name is missing"),
        ("error_types: [[x]]", "expected text or a mapping"),
        ("correctness_options: []", "the list is empty"),
        ("max_score: -1", "expected a number of at least 0"),
        ("max_score: many", "expected a number"),
    ],
)
def test_configs_that_are_wrong(tmp_path: Path, line: str, message: str) -> None:
    key = line.partition(":")[0]
    kept = [text for text in CONFIG.split("\n") if not text.strip().startswith(f"{key}:")]
    config = "\n".join(kept).replace(
        "name: judge\n", f"name: judge\n    {line}\n".replace("{", "{{").replace("}", "}}")
    )
    with pytest.raises(InputError) as caught:
        make_project(tmp_path, "x", config)
    assert any(message in problem.message and problem.line for problem in caught.value.problems)


# --- what Potato stores ----------------------------------------------------------------------------------------------


def read_one(made: Project, blob: Any) -> Record:
    text = blob if isinstance(blob, str) else json.dumps(blob)
    write_state(made.output_dir, "ann", {"i1": [label_entry("judge", text, "judge")]})
    (record,) = list(records_from_potato(made, made.output_dir, Notices()))
    return record


@pytest.mark.parametrize(
    ("blob", "steps", "codes"),
    [
        # Holes, and a judgement of the user's turn.
        (
            {"steps": [{"correctness": "correct"}, None, {"step_index": 2, "correctness": "correct"}]},
            [(0, "correct"), (1, None), (2, "correct"), (4, None)],
            [],
        ),
        (
            {"steps": [{"step_index": 9, "correctness": "correct"}]},
            [(1, None), (2, None), (4, None), (9, "correct")],
            ["step-out-of-range"],
        ),
        ({"steps": [{"step_index": 1, "correctness": "gone"}]}, [(1, "gone"), (2, None), (4, None)], ["unknown-label"]),
    ],
)
def test_what_the_page_can_leave(tmp_path: Path, blob: Any, steps: Any, codes: Any) -> None:
    record = read_one(make_project(tmp_path, "x"), blob)
    found = record.annotations["judge"]
    assert [(step["step_index"], step["correctness"]) for step in found["steps"]] == steps
    assert (found["score"], [flag.code for flag in record.flags]) == (None, codes)


def test_a_page_that_was_only_looked_at_is_no_answer(tmp_path: Path) -> None:
    made = make_project(tmp_path, "x")
    blob = {"steps": [{"step_index": 0, "correctness": None}], "score": None, "score_complete": False}
    write_state(made.output_dir, "ann", {"i1": [label_entry("judge", json.dumps(blob), "judge")]})
    assert list(records_from_potato(made, made.output_dir, Notices())) == []


def test_a_blob_that_is_none_is_kept(tmp_path: Path) -> None:
    record = read_one(make_project(tmp_path, "x"), '{"steps": 7}')
    assert record.annotations == {"judge": {"judge": '{"steps": 7}'}}
    assert [flag.code for flag in record.flags] == ["unreadable-answer"]


def test_an_item_that_is_gone(tmp_path: Path) -> None:
    made = make_project(tmp_path, "x")
    blob = {"steps": [{"step_index": 0, "correctness": None}, {"step_index": 1, "correctness": "correct"}]}
    write_state(made.output_dir, "ann", {"gone": [label_entry("judge", json.dumps(blob), "judge")]})
    (record,) = list(records_from_potato(made, made.output_dir, Notices()))
    assert [flag.code for flag in record.flags] == ["unknown-item"]
    assert record.annotations["judge"]["steps"] == blob["steps"]


def test_what_does_not_fit_the_item_is_not_written(tmp_path: Path) -> None:
    made, notices = make_project(tmp_path, "x"), Notices()
    value = {"steps": [{"step_index": 7, "correctness": "correct"}]}
    record = Record(id="i1", annotator="ann", annotations={"judge": value})
    assert write_annotation_output(made, [record], made.output_dir, notices).written == 0
    assert [notice.code for notice in notices] == ["value-not-written"]


def test_written_twice_it_is_unchanged(tmp_path: Path) -> None:
    made = make_project(tmp_path, "x")
    record = Record(id="i1", annotator="ann", annotations=ANSWERS)
    assert write_annotation_output(made, [record], made.output_dir, Notices()).written == 1
    assert write_annotation_output(made, [record], made.output_dir, Notices()).unchanged == 1


# --- any answer ------------------------------------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=6) | st.sampled_from(
    ["a b", "$5", "<b>&", 'q"q', "1", "😀", "{{x}}", "›", "correct"]
)
names = st.lists(
    words.filter(lambda w: "::" not in w and " › " not in w and "," not in w), min_size=1, max_size=4, unique=True
)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)


@st.composite
def schemes_and_values(draw: st.DrawFn) -> tuple[TrajectoryEval, dict[str, Any], StepList]:
    made = TrajectoryEval(
        name=draw(st.sampled_from(["judge", "my-judge", "judge 😀"])),
        correctness_options=draw(names),
        error_types=[ErrorType(name=name, subtypes=draw(names | st.just([]))) for name in draw(names)],
        severities=[Severity(name=name, weight=draw(st.integers(-9, 9))) for name in draw(names)],
        max_score=draw(st.integers(0, 30)),
    )
    turns = draw(st.lists(st.booleans(), min_size=1, max_size=6).filter(any))
    asked = [position for position, turn in enumerate(turns) if turn]
    steps: list[dict[str, Any]] = []
    for position in asked:
        step: dict[str, Any] = {"step_index": position, "correctness": draw(st.sampled_from(made.correctness_options))}
        if step["correctness"] != "correct":
            error = draw(st.sampled_from(["", *made.errors]))
            step |= dict(zip(("error_type", "error_subtype"), filter(None, error), strict=False))
            step |= {"severity": severity} if (severity := draw(st.sampled_from(["", *made.severities]))) else {}
            if severity:
                step["severity"] = severity.name
            if draw(st.booleans()):
                step["rationale"] = draw(texts)
        if not draw(st.integers(0, 3)):
            step = {"step_index": position, "correctness": None}
        steps.append(step)
    weights = {severity.name: abs(severity.weight) for severity in made.severities}
    complete = all(s["correctness"] and (s["correctness"] == "correct" or "severity" in s) for s in steps)
    score = max(0, made.max_score - sum(weights.get(s.get("severity", ""), 0) for s in steps))
    value = {"steps": steps, "score": score if complete else None, "score_complete": complete}
    return made, value, StepList(len(turns), tuple(asked))


@DETERMINISTIC
@given(schemes_and_values())
def test_any_answer_goes_out_and_comes_back(found: tuple[TrajectoryEval, dict[str, Any], StepList]) -> None:
    made, value, steps = found
    if not any(step["correctness"] for step in value["steps"]):
        return
    whole = project(made)
    entries = [
        {"role": "assistant" if position in steps.ratable else "user", "content": f"turn {position}"}
        for position in range(steps.total)
    ]
    task = task_of(whole, steps=entries)
    results = write_results(whole, Record(id="a", annotator="a", annotations={made.name: value}), task)
    controls = build_interface(whole, Notices()).controls
    answer = read_answer(whole, task, {"result": results}, controls=controls)
    assert (answer.annotations, answer.flags, answer.controls) == ({made.name: value}, [], {})
    blob = json.loads(write_judgements(made, value, steps))
    assert len(blob["steps"]) == steps.total
    back, _, flags = read_judgements(made, blob, steps)
    assert (back, flags) == (value, [])

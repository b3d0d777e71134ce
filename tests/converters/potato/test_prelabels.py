"""Pre-labels: where they are read, which forms a value has, and what is dropped with which reason."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.potato.prelabel_values import read_value
from potato_bridge.converters.potato.prelabels import SHOWN, Prelabels
from potato_bridge.converters.potato.step_lists import StepList
from potato_bridge.errors import InputError
from potato_bridge.model import Item, OtherScheme, ProcessReward, Project
from potato_bridge.model.project import FirstErrorOptions, PerStepOptions, PreAnnotation, StepLabel
from potato_bridge.notices import Notices
from tests.converters.potato.helpers import problems_of, read
from tests.strategies import DETERMINISTIC, json_values

FIRST = ProcessReward(name="process_reward", mode="first_error", steps_key="steps")
LABELS = [
    StepLabel(value="correct", display="Correct", color="green", score=1.0, error_category=False),
    StepLabel(value="incorrect", display="Incorrect", color="red", score=-1.0, error_category=True),
    StepLabel(value="wasteful", display="Wasteful", color="red", score=-0.5, error_category=False),
    StepLabel(value="detour", display="Detour", color="red", score=-0.5, error_category=False),
]
EACH = ProcessReward(
    name="process_reward",
    mode="per_step",
    steps_key="steps",
    per_step=PerStepOptions(labels=LABELS, error_categories=["Logic error", "Other"], allow_notes=True),
)
THREE = StepList(3, (0, 1, 2))
#: A conversation of which the user's turn is not rated.
TURNS = StepList(4, (1, 2, 3))


def first(step: int | None, *labels: int) -> dict[str, Any]:
    return {"mode": "first_error", "first_error_step": step, "total_steps": len(labels), "labels": list(labels)}


def each(*labels: float | None, total: float, **details: dict[str, str]) -> dict[str, Any]:
    steps = {key.removeprefix("s"): detail for key, detail in details.items()}
    return {
        "mode": "per_step",
        "total_steps": len(labels),
        "labels": list(labels),
        "step_details": steps,
        "cumulative_score": total,
    }


def blob(mode: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"steps": [{"index": index, **step} for index, step in enumerate(steps)], "mode": mode}


HUMAN = {"source": "human", "verified": True}
#: As Potato stores what its AI suggested and nobody has confirmed.
AI = {"source": "ai", "verified": False}


@pytest.mark.parametrize(
    ("given_value", "steps", "expected"),
    [
        (1, THREE, first(1, 1, -1, -1)),
        (0, THREE, first(0, -1, -1, -1)),
        (None, THREE, first(None, 1, 1, 1)),
        ([1, 1, -1], THREE, first(2, 1, 1, -1)),
        ([1.0, 1.0, 1.0], THREE, first(None, 1, 1, 1)),
        (first(2, 1, 1, -1), THREE, first(2, 1, 1, -1)),
        (json.dumps(first(2, 1, 1, -1)), THREE, first(2, 1, 1, -1)),
        # Potato counts the user's turn; a record does not.
        (
            blob("first_error", {"reward": 0}, *({"reward": r, **HUMAN} for r in (1, -1, -1))),
            TURNS,
            first(1, 1, -1, -1),
        ),
        (
            json.dumps(blob("first_error", *({"reward": r, "ai_reward": r, **AI} for r in (1, -1, -1)))),
            THREE,
            first(1, 1, -1, -1),
        ),
    ],
)
def test_a_first_error(given_value: Any, steps: StepList, expected: dict[str, Any]) -> None:
    assert read_value(given_value, FIRST, steps) == (expected, [])


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ([1, -1.0, None], each(1.0, -1.0, None, total=0.0, s0={"label": "correct"}, s1={"label": "incorrect"})),
        (
            ["correct", "detour", None],
            each(1.0, -0.5, None, total=0.5, s0={"label": "correct"}, s1={"label": "detour"}),
        ),
        (
            {"mode": "per_step", "total_steps": 3, "labels": [None, None, 1.0], "step_details": {}},
            each(None, None, 1.0, total=1.0, s2={"label": "correct"}),
        ),
        (
            blob("per_step", {"reward": 1, **HUMAN}, {"reward": 0}, {"reward": None, "ai_reward": -1, **AI}),
            each(1.0, None, -1.0, total=0.0, s0={"label": "correct"}, s2={"label": "incorrect"}),
        ),
    ],
)
def test_a_value_for_each_step(given_value: Any, expected: dict[str, Any]) -> None:
    assert read_value(given_value, EACH, THREE) == (expected, [])


def test_a_whole_value_keeps_its_categories_and_notes() -> None:
    value = each(
        1.0,
        -1.0,
        None,
        total=0.0,
        s0={"label": "correct", "notes": "<script>\u202e $& {{idx}}"},
        s1={"label": "incorrect", "error_category": "Logic error"},
    )
    assert read_value(value, EACH, THREE) == (value, [])


def test_what_has_no_place_is_named() -> None:
    silent = ProcessReward(name="r", mode="per_step", per_step=PerStepOptions(labels=LABELS))
    given_value = {
        **each(1.0, 1.0, total=2.0, s0={"label": "correct", "notes": "why", "confidence": "high"}),
        "model": "m",
    }
    assert read_value(given_value, silent, StepList(2, (0, 1))) == (
        each(1.0, 1.0, total=2.0, s0={"label": "correct"}, s1={"label": "correct"}),
        ["the field 'model'", "notes (the scheme has no allow_notes)", "the field 'confidence' of a step"],
    )
    assert read_value({**first(0, -1, -1), "why": 1}, FIRST, StepList(2, (0, 1)))[1] == ["the field 'why'"]


@pytest.mark.parametrize(
    ("given_value", "scheme", "reason"),
    [
        (3, FIRST, "step 3 is not among the 3 steps (0 to 2); null: all are correct"),
        (-1, FIRST, "step -1 is not among the 3 steps (0 to 2); null: all are correct"),
        (True, FIRST, "expected the number of the first wrong step, null or a value, found true"),
        (1.0, FIRST, "expected the number of the first wrong step, null or a value, found 1.0"),
        ("1", FIRST, "expected the number of the first wrong step, null or a value, found '1'"),
        (math.nan, FIRST, "expected the number of the first wrong step, null or a value, found nan"),
        ([1, -1], FIRST, "it is for 2 steps, and the item has 3 to rate"),
        ([1, -1, 1], FIRST, "the list is not 1 for each step before the first error and -1 for it and all after it"),
        ([1, 0, -1], FIRST, "the list is not 1 for each step before the first error and -1 for it and all after it"),
        ([True, -1, -1], FIRST, "the list is not 1 for each step before"),
        (first(1, 1, -1), FIRST, "it is for 2 steps, and the item has 3 to rate"),
        ({"mode": "first_error"}, FIRST, "total_steps must be a whole number"),
        ({}, FIRST, 'expected an object with "mode": "first_error"'),
        (each(1.0, total=1.0), FIRST, "the value is of mode per_step, and the scheme of mode first_error"),
        ("[1", FIRST, "not JSON"),
        (blob("first_error", {"reward": 1}, {"reward": 0}, {"reward": -1}), FIRST, "step 1 is not marked"),
        (blob("first_error", {"reward": 0}, {"reward": 0}), FIRST, "no step is marked"),
        (blob("first_error", *[{"reward": -1}] * 4), FIRST, "position 3 is rewarded, and the item has 3 (0 to 2)"),
        (blob("per_step", {"reward": 7}), EACH, "position 0 has the reward 7"),
        (first(1, 1, -1, -1), EACH, "the value is of mode first_error, and the scheme of mode per_step"),
        ([1, 1], EACH, "it is for 2 steps, and the item has 3 to rate"),
        ([1, 1, 1, 1], EACH, "it is for 4 steps, and the item has 3 to rate"),
        ([1, math.nan, 1], EACH, "step 1 (from 0): no label has the score nan (there are correct 1, incorrect -1"),
        ([1, 10**400, 1], EACH, "step 1 (from 0): no label has a score that large"),
        ([1, 0.9, 1], EACH, "step 1 (from 0): no label has the score 0.9"),
        ([1, -0.5, 1], EACH, "step 1 (from 0): the score -0.5 is that of wasteful and detour: name the label"),
        ([1, True, 1], EACH, "step 1 (from 0): expected a score, a label or null, found true"),
        ([1, [1], 1], EACH, "step 1 (from 0): expected a score, a label or null, found a list"),
        ([1, "corect", 1], EACH, "step 1 (from 0): 'corect' is none of the labels. Did you mean 'correct'?"),
        ([None, None, None], EACH, "no step is rated"),
        (None, EACH, "expected a list with an entry for each step or a value, found nothing"),
        (4, EACH, "expected a list with an entry for each step or a value, found 4"),
        (
            each(1.0, 1.0, -0.5, total=1.5, s1={"label": "incorrect"}),
            EACH,
            "step 1 (from 0): 'incorrect' has the score -1, found 1.0",
        ),
        (
            each(1.0, 1.0, 1.0, total=3.0, s1={"label": "correct", "error_category": "Other"}),
            EACH,
            "step 1 (from 0): an error category, and the label 'correct' has none",
        ),
        (
            each(1.0, -1.0, 1.0, total=1.0, s1={"label": "incorrect", "error_category": "Othr"}),
            EACH,
            "step 1 (from 0): 'Othr' is none of the error categories. Did you mean 'Other'?",
        ),
        (
            each(1.0, 1.0, 1.0, total=3.0, s3={"label": "correct"}),
            EACH,
            "step_details has the step '3', which is not among the 3 steps (0 to 2)",
        ),
        (each(1.0, 1.0, 1.0, total=3.0, s0={"notes": 7}), EACH, "step_details['0']"),
    ],
)
def test_what_is_no_value_says_why(given_value: Any, scheme: ProcessReward, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        read_value(given_value, scheme, THREE)
    assert caught.value.message.startswith(reason)


def test_all_correct_where_that_is_no_answer() -> None:
    strict = ProcessReward(name="r", first_error=FirstErrorOptions(allow_no_error=False))
    assert read_value(2, strict, THREE)[0] == first(2, 1, 1, -1)
    with pytest.raises(InputError, match="allow_no_error: false"):
        read_value(None, strict, THREE)


@DETERMINISTIC
@given(json_values, st.sampled_from([FIRST, EACH]), st.integers(0, 4))
def test_any_value_is_read_or_refused(value: Any, scheme: ProcessReward, total: int) -> None:
    for tried in (value, {"mode": scheme.mode, "total_steps": total, "labels": value}, {"steps": [value]}, [value]):
        try:
            read_value(tried, scheme, StepList(total, tuple(range(total))))
        except InputError as error:
            assert error.message


# --- where they come from -------------------------------------------------------------------------------------------


class Study:
    """Items of three steps, and a folder for files of pre-labels."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.notices = folder, Notices()
        other = OtherScheme(name="quality", type="radio")
        self.project = Project(
            name="p",
            config=folder / "config.yaml",
            task_dir=folder,
            id_key="id",
            text_key="task",
            output_dir=folder / "out",
            schemes=[FIRST, other],
        )

    def file(self, *lines: Any, name: str = "pre.jsonl") -> Path:
        path = self.folder / name
        path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
        return path

    def item(self, item_id: str = "a", **fields: Any) -> Item:
        data = {"id": item_id, "task": "t", "steps": ["x", "y", "z"], **fields}
        return Item(id=item_id, data=data, file="data.jsonl", line=7)

    def of(self, file: Path | None, *items: Item) -> list[tuple[str, str, float | None, int | None]]:
        """Item, model, score and step of each pre-label."""
        self.notices = Notices()
        with Prelabels(self.project, file, self.notices) as prelabels:
            found = [prelabel for item in items or (self.item(),) for prelabel in prelabels.of(item)]
            prelabels.finish()
        return [(p.item, p.model_version, p.score, p.annotations["process_reward"]["first_error_step"]) for p in found]

    def told(self) -> list[tuple[str, str, str]]:
        return [(notice.code, notice.where, notice.message) for notice in self.notices]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        {"id": "a", "process_reward": 1},
        {"instance_id": "a", "process_reward": 1},
        {"id": "a", "annotations": {"process_reward": 1}},
        {"id": "a", "predictions": {"process_reward": 1}},
    ],
)
def test_the_forms_of_a_line(study: Study, line: dict[str, Any]) -> None:
    assert study.of(study.file(line)) == [("a", "potato-bridge", None, 1)]
    assert study.of(study.file({**line, "model_version": "m", "score": 1})) == [("a", "m", 1.0, 1)]
    assert study.told() == []


def test_records_of_an_earlier_round(study: Study) -> None:
    record = {
        "id": "a",
        "annotator": "ann@example.com",
        "annotations": {"process_reward": first(2, 1, 1, -1)},
        "status": "submitted",
        "created_at": "2026-11-30T22:15:16Z",
        "updated_at": "2026-11-30T22:15:16Z",
        "lead_time": 9.5,
        "source": {"backend": "label_studio", "project": 7, "task": 311, "annotation": 905},
        "schema": 1,
    }
    ben = {**record, "annotator": "ben@example.com", "annotations": {"process_reward": first(None, 1, 1, 1)}}
    skipped = {**record, "annotator": "eve@example.com", "status": "skipped", "annotations": {}}
    assert study.of(study.file(record, ben, skipped)) == [
        ("a", "ann@example.com", None, 2),
        ("a", "ben@example.com", None, None),
    ]
    assert study.told() == [
        (
            "prelabel-not-submitted",
            "pre.jsonl:3",
            "lines of status 'skipped' are no answers and give no pre-label",
        )
    ]
    study.of(study.file({**record, "controls": {}, "flags": []}, {**ben, "controls": {"why": [1]}}))
    assert study.told() == [("prelabel-part-dropped", "pre.jsonl:2", "'controls' of pre-labels is not used")]


def test_the_file_of_the_command_line_then_the_field_then_the_file_of_the_config(study: Study) -> None:
    config = study.file(*({"id": name, "process_reward": 2} for name in "abc"), name="config.jsonl")
    study.project.pre_annotation = PreAnnotation(field="guess", predictions_file=config)
    items = [
        study.item("a", guess={"process_reward": 1}),
        study.item("b", guess={"process_reward": 1}),
        study.item("c"),
    ]
    named = study.file({"id": "a", "process_reward": 0})
    assert [step for *_, step in study.of(named, *items)] == [0, 1, 2]
    assert [step for *_, step in study.of(None, *items)] == [1, 1, 2]
    assert study.told() == []
    study.project.pre_annotation = None
    assert [step for *_, step in study.of(None, *items)] == []


def test_the_field_of_a_table_is_json(study: Study) -> None:
    study.project.pre_annotation = PreAnnotation(field="guess")
    assert study.of(None, study.item(guess='{"process_reward": 1}')) == [("a", "potato-bridge", None, 1)]
    assert study.of(None, study.item(guess="none")) == []
    assert study.told() == [
        (
            "bad-prelabel",
            "data.jsonl:7 guess",
            "the pre-label of 'a' is dropped: expected an object of scheme names and values, found 'none'",
        )
    ]


def test_a_bad_one_is_dropped_with_its_place_and_reason_and_the_others_go_on(study: Study) -> None:
    file = study.file(
        {"id": "a", "process_reward": 5},
        {"id": "b", "process_reward": 1},
        {"id": "nobody\u202e", "process_reward": 1},
        {"id": "a", "process_rewards": 1, "model_version": "m1"},
        {"id": "a", "process_reward": 1, "model_version": 2},
        '{"id": "a", "process_reward": 1, "model_version": "m2", "score": NaN}',
        '{"id": "a", "process_reward": NaN, "model_version": "m3"}',
        {"id": "a", "annotations": [1], "model_version": "m4"},
        {"id": "a", "model_version": "m5"},
        {"id": "a", "process_reward": 1, "quality": "good", "model_version": "m6"},
        {"id": "a", "process_reward": 2, "model_version": "m6"},
        {"id": 12, "process_reward": 1},
    )
    found = study.of(file, study.item("a"), study.item("b"), study.item("12"))
    assert found == [("a", "m6", None, 1), ("b", "potato-bridge", None, 1), ("12", "potato-bridge", None, 1)]
    dropped = "the pre-label of 'a' is dropped: "
    assert study.told() == [
        (
            "bad-prelabel",
            "pre.jsonl:1",
            dropped + "'process_reward': step 5 is not among the 3 steps (0 to 2); null: all are correct",
        ),
        (
            "bad-prelabel",
            "pre.jsonl:4",
            dropped + "'process_rewards': the config has no scheme of that name. Did you mean 'process_reward'?",
        ),
        ("bad-prelabel", "pre.jsonl:5", dropped + "model_version: expected a name, found 2"),
        ("bad-prelabel", "pre.jsonl:6", dropped + "score: expected a number, found nan"),
        (
            "bad-prelabel",
            "pre.jsonl:7",
            dropped + "'process_reward': expected the number of the first wrong step, null or a value, found nan",
        ),
        (
            "bad-prelabel",
            "pre.jsonl:8",
            dropped + "annotations: expected an object of scheme names and values, found a list",
        ),
        ("bad-prelabel", "pre.jsonl:9", dropped + "it has no value"),
        (
            "prelabel-not-asked",
            "pre.jsonl:10",
            "pre-labels of the scheme 'quality' are not used: annotators are not asked for it",
        ),
        ("bad-prelabel", "pre.jsonl:11", dropped + "'m6' has one already, at pre.jsonl:10"),
        ("bad-prelabel", "pre.jsonl:3", "the pre-label of 'nobody\\u202e' is dropped: no item has that id"),
    ]


def test_many_bad_ones_are_counted(study: Study) -> None:
    study.of(study.file(*({"id": f"x{n}", "process_reward": 1} for n in range(SHOWN + 30))))
    notices = list(study.notices)
    assert len(notices) == SHOWN + 1
    assert sum(notice.count for notice in notices) == SHOWN + 30


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"id": "a", "process_reward": 1}\n{"id": "a",', "pre.jsonl:2: not JSON"),
        (b"[1]\n", "pre.jsonl:1: expected a JSON object, found a list"),
        (b'\n{"process_reward": 1}\n', "pre.jsonl:2: there is no id, which is text or a whole number"),
        (b'{"id": 1.5}\n', "pre.jsonl:1: there is no id"),
        (b'{\n"id": "a"}\n', "pre.jsonl:1: not JSON"),
        (b'{"id": "\xff"}\n', "pre.jsonl:1: the file is not UTF-8: byte 8 of the line (0xff)"),
        ('{"id": "a"}\n'.encode("utf-16"), "pre.jsonl:1: the file looks like UTF-16"),
        (b'{"id": ' + b"1" * 5000 + b"}\n", "pre.jsonl:1: not JSON that can be read"),
        (b'{"id": ' + b"[" * 100_000 + b"\n", "pre.jsonl:1: not JSON that can be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(study: Study, content: bytes, problem: str) -> None:
    path = study.folder / "pre.jsonl"
    path.write_bytes(content)
    found = problems_of(lambda: study.of(path))
    assert str(found[0]).startswith(problem)


def test_a_byte_order_mark_and_other_line_ends(study: Study) -> None:
    path = study.folder / "pre.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "process_reward": 1}\r\n\r\n{"id": "b", "process_reward": 2}')
    assert [step for *_, step in study.of(path, study.item("b"), study.item("a"))] == [2, 1]


def test_a_missing_file_is_an_error(study: Study) -> None:
    with pytest.raises(InputError, match=r"cannot read pre\.jsonl: No such file"):
        study.of(study.folder / "pre.jsonl")


# --- the config -----------------------------------------------------------------------------------------------------

CONFIG = """
annotation_task_name: p
data_files: [data/traces.jsonl]
item_properties: {id_key: id, text_key: task}
annotation_schemes: [{annotation_type: process_reward, name: r, mode: first_error, steps_key: steps}]
"""


def test_the_config_says_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "pre.jsonl").touch()
    project, notices = read(tmp_path, CONFIG + "pre_annotation: {enabled: true, predictions_file: pre.jsonl}\n")
    assert project.pre_annotation == PreAnnotation(field="predictions", predictions_file=tmp_path / "pre.jsonl")
    assert list(notices) == []
    project, _ = read(tmp_path, CONFIG + "pre_annotation: {enabled: true, field: guess}\n")
    assert project.pre_annotation == PreAnnotation(field="guess")


def test_what_the_config_asks_for_and_does_not_get(tmp_path: Path) -> None:
    block = """
pre_annotation:
  enabled: true
  allow_modification: false
  show_confidence: true
  highlight_low_confidence: 0.7
  colour: red
"""
    _, notices = read(tmp_path, CONFIG + block)
    assert [(notice.code, notice.where.rpartition(" ")[2]) for notice in notices] == [
        ("unused-key", "pre_annotation.allow_modification"),
        ("unused-key", "pre_annotation.show_confidence"),
        ("unused-key", "pre_annotation.highlight_low_confidence"),
        ("unknown-key", "pre_annotation.colour"),
    ]
    project, notices = read(tmp_path, CONFIG + "pre_annotation: {field: guess, show_confidence: false}\n")
    assert project.pre_annotation is None
    assert [notice.code for notice in notices] == ["prelabels-off"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("7", "expected a mapping, found 7"),
        ("{enabled: 1}", "expected true or false, found 1"),
        ("{enabled: true, predictions_file: no.jsonl}", "there is no file no.jsonl"),
        ("{enabled: true, predictions_file: ../no.jsonl}", "../no.jsonl lies outside of task_dir"),
        ("{enabled: true, predictions_file: data}", "data is a folder"),
        ("{enabled: true, predictions_file: config.yaml}", "config.yaml is not JSON Lines by its name"),
    ],
)
def test_a_wrong_block_is_a_problem(tmp_path: Path, value: str, message: str) -> None:
    found = problems_of(lambda: read(tmp_path, CONFIG + f"pre_annotation: {value}\n"))
    assert found[0].message.startswith(message)
    assert found[0].path.startswith("pre_annotation")

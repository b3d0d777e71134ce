"""Rows of target prm, piece by piece: which labels, which steps, which reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from potato_bridge.errors import InputError, UsageError
from potato_bridge.export.options import ExportOptions, Neutral, Unrated
from potato_bridge.export.prm import Prm
from potato_bridge.export.rows import LeftOut, Reason, Row
from potato_bridge.model import Item, OtherScheme, ProcessReward, Record, from_builtins
from potato_bridge.model.process_reward import parse
from potato_bridge.notices import Notices
from tests.export.helpers import first_error, item, make_project, per_step, record


def outcome(
    tmp_path: Path, value: Any, data: dict[str, Any] | None = None, notices: Notices | None = None, **options: Any
) -> Row | LeftOut:
    data = data or item("t1", 4)
    project = make_project(tmp_path, [data])
    target = Prm(project, ExportOptions(**options), notices if notices is not None else Notices())
    case = target.case(Item(id="t1", data=data, file="items.jsonl", line=1))
    return target.row(case, from_builtins(Record, record("t1", "a", value)))


def row(tmp_path: Path, value: Any, **options: Any) -> Row:
    made = outcome(tmp_path, value, **options)
    assert not isinstance(made, LeftOut), made
    return made


def reason(tmp_path: Path, value: Any, **options: Any) -> Reason:
    made = outcome(tmp_path, value, **options)
    assert isinstance(made, LeftOut), made
    return made.reason


@pytest.mark.parametrize(
    ("neutral", "labels", "step_ids", "error"),
    [
        (Neutral.FALSE, [True, False, True, False], ["0", "1", "2", "3"], 1),
        (Neutral.TRUE, [True, True, True, False], ["0", "1", "2", "3"], 3),
        (Neutral.DROP, [True, True, False], ["0", "2", "3"], 2),
    ],
)
def test_a_neutral_step(tmp_path: Path, neutral: Neutral, labels: list[bool], step_ids: list[str], error: int) -> None:
    notices = Notices()
    made = row(tmp_path, per_step(1.0, 0, 0.25, -0.5), neutral=neutral, notices=notices)
    assert made["labels"] == labels
    assert made["step_ids"] == step_ids
    assert made["completions"] == [f"Step {number} of t1" for number in step_ids]
    assert made["first_error"] == error
    assert len(made["scores"]) == len(labels)
    assert [notice.code for notice in notices] == (["neutral-dropped"] if neutral is Neutral.DROP else [])


def test_an_unrated_step_is_not_zero(tmp_path: Path) -> None:
    notices = Notices()
    made = row(tmp_path, per_step(1, -1, None, 1), notices=notices)
    assert (made["labels"], made["scores"]) == ([True, False], [1.0, -1.0])
    assert [(notice.code, notice.where, notice.count) for notice in notices] == [("unrated-cut", "item t1", 2)]
    assert reason(tmp_path, per_step(1, -1, None, 1), unrated=Unrated.DROP_ROW) is Reason.UNRATED_STEP
    assert row(tmp_path, per_step(1, -1, 1, 1), unrated=Unrated.DROP_ROW)["labels"] == [True, False, True, True]


def test_rows_with_nothing_in_them(tmp_path: Path) -> None:
    assert reason(tmp_path, per_step(None, 1, 1, 1)) is Reason.NO_RATED_STEPS
    assert reason(tmp_path, per_step(0, 0, 0, 0), neutral=Neutral.DROP) is Reason.NO_RATED_STEPS


def test_labels_are_booleans_and_scores_floats(tmp_path: Path) -> None:
    made = row(tmp_path, first_error(1, 4))
    assert [type(label) for label in made["labels"]] == [bool] * 4
    assert [type(score) for score in made["scores"]] == [float] * 4


def test_the_prompt_is_needed_and_verbatim(tmp_path: Path) -> None:
    data = {**item("t1", 4), "task": "  spaces\nand lines  "}
    assert row(tmp_path, first_error(None, 4), data=data)["prompt"] == "  spaces\nand lines  "
    assert reason(tmp_path, first_error(None, 4), data={**data, "task": " \n"}) is Reason.NO_PROMPT


def test_a_step_without_text_is_noticed(tmp_path: Path) -> None:
    notices = Notices()
    data = {**item("t1"), "steps": ["one", "", "three", ""]}
    assert row(tmp_path, first_error(None, 4), data=data, notices=notices)["completions"] == ["one", "", "three", ""]
    assert [(notice.code, notice.count) for notice in notices] == [("empty-step-text", 2)]


def test_observations_only_where_asked_for(tmp_path: Path) -> None:
    data = {**item("t1"), "steps": [{"thought": "Think.", "action": "act", "observation": "seen"}]}
    assert row(tmp_path, first_error(None, 1), data=data)["completions"] == ["Think.\nact"]
    assert row(tmp_path, first_error(None, 1), data=data, observations=True)["completions"] == ["Think.\nact\nseen"]


@pytest.mark.parametrize(
    "value",
    [
        "first_error",
        [],
        {},
        {"mode": "other", "labels": []},
        {"mode": "first_error", "total_steps": 1, "labels": [1]},
        {"mode": "first_error", "first_error_step": 0, "total_steps": 1, "labels": [1]},
        {"mode": "per_step", "total_steps": 2, "labels": [1.0]},
        {"mode": "per_step", "total_steps": True, "labels": [1.0]},
        {"mode": "per_step", "labels": [1.0]},
        {"mode": "per_step", "total_steps": 1, "labels": [True]},
        {"mode": "per_step", "total_steps": 1, "labels": ["1"]},
        {"mode": "per_step", "total_steps": 1, "labels": [float("inf")]},
        {"mode": "per_step", "total_steps": 1, "labels": [float("nan")]},
        {"mode": "per_step", "total_steps": 1, "labels": [10**400]},
    ],
)
def test_values_that_contradict_themselves(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError):
        parse(value)
    assert reason(tmp_path, value) is Reason.INVALID_VALUE


def test_which_scheme(tmp_path: Path) -> None:
    schemes = [
        OtherScheme(name="overall", type="radio"),
        ProcessReward(name="first", steps_key="steps"),
        ProcessReward(name="second", steps_key="steps"),
    ]
    project = make_project(tmp_path, [item("t1")], schemes)
    notices = Notices()
    assert Prm(project, ExportOptions(), notices).scheme == "first"
    assert [notice.code for notice in notices] == ["several-schemes"]
    assert Prm(project, ExportOptions(scheme="second"), Notices()).scheme == "second"
    with pytest.raises(UsageError, match="'overall'") as error:
        Prm(project, ExportOptions(scheme="overall"), Notices())
    assert error.value.hint == "There is: first, second."
    with pytest.raises(InputError, match="no scheme of type process_reward"):
        Prm(make_project(tmp_path, [item("t1")], schemes[:1]), ExportOptions(), Notices())

"""The canonical per_step value: what is read, what is refused, and the sum."""

from __future__ import annotations

from typing import Any

import pytest

from potato_bridge.errors import InputError
from potato_bridge.model.process_reward import FirstError, PerStep, StepDetail, parse, parse_per_step

DOCUMENTED: dict[str, Any] = {
    "mode": "per_step",
    "total_steps": 6,
    "labels": [1.0, 1.0, -1.0, 0.25, 1.0, 1.0],
    "step_details": {
        "2": {"label": "incorrect", "error_category": "Wrong tool selected", "notes": "…"},
        "3": {"label": "recovery", "of_later": [1]},
    },
    "cumulative_score": 2.75,
}


def test_the_documented_value_has_the_right_sum() -> None:
    value = parse_per_step(DOCUMENTED)
    assert value.step_details[2] == StepDetail(label="incorrect", error_category="Wrong tool selected", notes="…")
    assert value.to_json() == {**DOCUMENTED, "cumulative_score": 3.25}
    assert list(value.to_json()) == list(DOCUMENTED)


@pytest.mark.parametrize(
    ("labels", "total"),
    [([], 0.0), ([None, None], 0.0), ([0.1, 0.2], 0.3), ([1, None, -1], 0.0), ([0.1] * 10, 1.0), ([1e16, 0.5], 1e16)],
)
def test_sums_are_made_in_decimals(labels: list[Any], total: float) -> None:
    assert PerStep(labels=labels).cumulative_score == total


def test_unrated_is_not_zero() -> None:
    value = parse_per_step({"mode": "per_step", "total_steps": 3, "labels": [0, None, 1]})
    assert value.labels == [0.0, None, 1.0]
    assert value.to_json()["labels"] == [0.0, None, 1.0]


def test_either_mode_and_unknown_fields() -> None:
    first = FirstError(first_error_step=1, total_steps=2)
    assert parse(first.to_json()) == first
    assert parse({**DOCUMENTED, "by": "x"}).to_json()["by"] == "x"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mode": "first_error"}, "per_step"),
        ({"total_steps": True}, "total_steps must be a whole number"),
        ({"total_steps": 5}, "labels must be a list of 5"),
        ({"labels": None}, "labels must be a list of 6"),
        ({"labels": [1, 1, "1", 1, 1, 1]}, r"labels\[2\] must be a number or null"),
        ({"labels": [1, True, 1, 1, 1, 1]}, r"labels\[1\]"),
        ({"labels": [1, float("nan"), 1, 1, 1, 1]}, r"labels\[1\]"),
        ({"labels": [1, 10**400, 1, 1, 1, 1]}, r"labels\[1\]"),
        ({"step_details": []}, "step_details must be an object"),
        ({"step_details": {"6": {}}}, r"'6', which is not among the 6 steps"),
        ({"step_details": {"-1": {}}}, "'-1'"),
        ({"step_details": {"01": {}}}, "'01'"),
        ({"step_details": {"1": 7}}, r"step_details\['1'\]"),
        ({"step_details": {"1": {"notes": 7}}}, "notes"),
    ],
)
def test_what_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_per_step({**DOCUMENTED, **change})

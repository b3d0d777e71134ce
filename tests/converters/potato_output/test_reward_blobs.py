"""What each version of Potato's process_reward blob says. The steps of an item are positions 1, 2 and 3 of five."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.converters.potato_output.helpers import (
    blob,
    codes,
    entry,
    first_error,
    make_project,
    per_step,
    read_all,
    read_one,
    scheme,
    write_state,
)

HUMAN = {"source": "human", "verified": True, "ai_reward": None, "ai_reasoning": "", "confidence": None}
NOBODY = {"source": None, "verified": False, "ai_reward": None, "ai_reasoning": "", "confidence": None}


def steps(*rewards: tuple[Any, dict[str, Any]], mode: str = "per_step") -> str:
    entries = [{"index": index, "reward": reward, **more} for index, (reward, more) in enumerate(rewards)]
    return json.dumps({"steps": entries, "mode": mode})


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        # Cards: the user's turn is a card too, and the cascade marks it.
        (blob(1, 1, 1, -1, -1), first_error(2)),
        # Inside the trace: the user's turns carry no buttons, and the cascade marks them all the same.
        (blob(1, 1, 1, 1, 1), first_error(None)),
        (blob(0, 1, 1, 1, 0), first_error(None)),
        (blob(1, -1, -1, -1, -1), first_error(0)),
        (steps(*[(1, HUMAN)] * 2, *[(-1, HUMAN)] * 3, mode="first_error"), first_error(1)),
        # Without a mode the scheme's counts; the order of entries does not, their index does.
        (blob(1, 1, -1, -1, -1, mode=None), first_error(1)),
        (json.dumps({"steps": [{"index": 5 - n, "reward": 1 if n > 3 else -1} for n in range(1, 6)]}), first_error(1)),
        # What was never marked, or cleared, is no answer.
        (blob(0, 0, 0, 0, 0), None),
        (blob(None, None, None, None, None), None),
        (blob(1, 0, 0, 0, 1), None),
    ],
)
def test_first_error(tmp_path: Path, stored: str, value: Any) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": [entry("rewards", stored), entry("yes", "yes", "ok")]})
    (record,), _ = read_all(project)
    assert record.annotations.get("rewards") == value
    assert record.flags == []


@pytest.mark.parametrize(
    ("stored", "code", "labels"),
    [
        (blob(1, 1, 1, 0, 0), "incomplete-answer", [1.0, 1.0, None]),
        (blob(0, 0, 0, -1, 0), "incomplete-answer", [None, None, -1.0]),
        (blob(1, 1), "incomplete-answer", [1.0, None, None]),
        (blob(1, 1, -1, 1, -1), "contradictory-rewards", [1.0, -1.0, 1.0]),
    ],
)
def test_a_first_error_answer_that_is_not_certain(tmp_path: Path, stored: str, code: str, labels: list[Any]) -> None:
    """Half of an answer is not "all correct": it is kept in the form in which nothing is added to it, with a flag."""
    record = read_one(make_project(tmp_path), entry("rewards", stored))
    assert record.annotations["rewards"]["mode"] == "per_step"
    assert record.annotations["rewards"]["labels"] == labels
    assert [(flag.code, flag.scheme) for flag in record.flags] == [(code, "rewards")]


PLAIN, NEUTRAL = scheme("per_step"), scheme("per_step", allow_neutral=True)


@pytest.mark.parametrize(
    ("kind", "stored", "labels"),
    [
        # Up to 2.6: index and reward only. 0 is unmarked, or neutral where the scheme has that.
        (PLAIN, blob(0, 1, -1, 0, 0, mode="per_step"), [1.0, -1.0, None]),
        (NEUTRAL, blob(0, 1, -1, 0, 0, mode="per_step"), [1.0, -1.0, 0.0]),
        (PLAIN, blob(1, 1, None, 1, 1, mode="per_step"), [1.0, None, 1.0]),
        # 2.12: who rated it. Unmarked is 0, or null where 0 is neutral.
        (PLAIN, steps((0, NOBODY), (1, HUMAN), (-1, HUMAN), (0, NOBODY), (0, NOBODY)), [1.0, -1.0, None]),
        (NEUTRAL, steps((None, NOBODY), (0, HUMAN), (None, NOBODY), (1, HUMAN), (None, NOBODY)), [0.0, None, 1.0]),
        # Neutral was allowed after the answer was given: that 0 was nobody's judgement.
        (NEUTRAL, steps((0, NOBODY), (1, HUMAN), (0, NOBODY), (0, HUMAN), (0, NOBODY)), [1.0, None, 0.0]),
        # 0 has no meaning in a scheme without neutral, whoever stored it.
        (PLAIN, steps((0, HUMAN), (1, HUMAN), (0, HUMAN), (0, HUMAN), (0, HUMAN)), [1.0, None, None]),
        # Fewer entries than steps, and numbers that say 1 in another way.
        (PLAIN, blob(0, 1.0, -1.0, mode="per_step"), [1.0, -1.0, None]),
        (PLAIN, blob(0, 0, 0, 0, 0, mode="per_step"), [None, None, None]),
    ],
)
def test_per_step(tmp_path: Path, kind: Any, stored: str, labels: list[float | None]) -> None:
    project = make_project(tmp_path, kind)
    write_state(project.output_dir, "ann", {"a": [entry("rewards", stored)]})
    (record,), _ = read_all(project)
    value = record.annotations["rewards"]
    assert (value["mode"], value["total_steps"], value["labels"]) == ("per_step", 3, labels)
    names = {1.0: "correct", -1.0: "incorrect"}
    assert value["step_details"] == {
        str(step): {"label": names[label]} for step, label in enumerate(labels) if label in names
    }
    assert record.flags == []


def test_the_blob_says_in_which_mode_it_was_given(tmp_path: Path) -> None:
    record = read_one(make_project(tmp_path, scheme("per_step")), entry("rewards", blob(1, 1, -1, -1, -1)))
    assert record.annotations["rewards"] == first_error(1)


def test_a_suggestion_of_an_ai_counts_once_it_is_confirmed(tmp_path: Path) -> None:
    waiting = {"source": "ai", "verified": False, "ai_reward": 1, "confidence": 0.4}
    confirmed = {**waiting, "verified": True}
    project = make_project(tmp_path, PLAIN)
    stored = steps((0, NOBODY), (1, waiting), (1, confirmed), (-1, {**HUMAN, "ai_reward": 1}), (0, NOBODY))
    write_state(project.output_dir, "ann", {"a": [entry("rewards", stored)]})
    (record,), notices = read_all(project)
    assert record.annotations["rewards"]["labels"] == [None, 1.0, -1.0]
    assert codes(notices) == ["ai-unconfirmed"]


def test_the_first_error_at_a_turn_of_the_user(tmp_path: Path) -> None:
    """Cards offer that. What the steps are is clear all the same."""
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {"a": [entry("rewards", blob(-1, -1, -1, -1, -1))]})
    (record,), notices = read_all(project)
    assert record.annotations["rewards"] == first_error(0)
    assert codes(notices) == ["error-on-other-turn"]


@pytest.mark.parametrize(
    ("stored", "code"),
    [
        (blob(1, 1, 1, 1, 1, 1), "step-out-of-range"),
        (json.dumps({"steps": [{"index": -1, "reward": 1}, {"index": 2, "reward": -1}]}), "step-out-of-range"),
        (blob(1, 1, 1, 2, 1), "invalid-reward"),
        (blob(1, 1, 1, "1", 1), "invalid-reward"),
        (blob(1, 1, 1, True, 1), "invalid-reward"),
        (blob(1, 1, 1, 0.5, 1), "invalid-reward"),
        (json.dumps({"steps": [{"index": "1", "reward": 1}]}), "invalid-reward"),
        (json.dumps({"steps": [1, 2]}), "invalid-reward"),
        (json.dumps({"steps": [{"index": 1, "reward": 1}, {"index": 1, "reward": -1}]}), "duplicate-step"),
        ("{", "unreadable-answer"),
        ("[]", "unreadable-answer"),
        ('{"verdict":"approve"}', "unreadable-answer"),
    ],
)
def test_what_makes_no_sense_is_kept_and_flagged(tmp_path: Path, stored: str, code: str) -> None:
    record = read_one(make_project(tmp_path, scheme("per_step")), entry("rewards", stored))
    assert code in [flag.code for flag in record.flags]
    assert record.annotations["rewards"] is not None


def test_unmarked_positions_beyond_the_end_are_nothing(tmp_path: Path) -> None:
    record = read_one(make_project(tmp_path), entry("rewards", blob(1, 1, 1, -1, -1, 0, None)))
    assert (record.annotations["rewards"], record.flags) == (first_error(2), [])


@pytest.mark.parametrize(
    "entries",
    [
        [entry("rewards", blob(1, 1, 1, -1, -1)), entry("label", blob(1, 1, 1, -1, -1))],
        [entry("rewards", blob(1, 1, 1, -1, -1)), entry("label", "{")],
        [entry("label", blob(1, 1, 1, -1, -1))],
        [entry("rewards", ""), entry("label", blob(1, 1, 1, -1, -1))],
        [entry("note", "x"), entry("anything", blob(1, 1, 1, -1, -1))],
        [entry("rewards", json.loads(blob(1, 1, 1, -1, -1)))],
    ],
)
def test_the_blob_under_any_label_name(tmp_path: Path, entries: list[Any]) -> None:
    assert read_one(make_project(tmp_path), *entries).annotations["rewards"] == first_error(2)


def test_an_older_copy_for_the_exporters_does_not_count(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    entries = [entry("label", blob(1, 1, -1, -1, -1)), entry("rewards", blob(1, 1, 1, -1, -1))]
    write_state(project.output_dir, "ann", {"a": entries})
    (record,), notices = read_all(project)
    assert record.annotations["rewards"] == first_error(2)
    assert codes(notices) == ["stale-copy"]


def test_the_scheme_decides_and_not_the_looks(tmp_path: Path) -> None:
    """A blob with steps under a scheme of another type is no reward (Potato's own exporter takes it for one)."""
    from tests.converters.potato_output.helpers import other

    project = make_project(tmp_path, scheme(), other("trajectory_edit", "fix"))
    edit = {"steps": [{"step_index": 0, "field": "action", "edited": True, "reward": 1}]}
    record = read_one(project, entry("fix", json.dumps(edit), "fix"))
    assert record.annotations == {"fix": edit}


def test_per_step_value_has_the_plain_sum(tmp_path: Path) -> None:
    record = read_one(make_project(tmp_path, PLAIN), entry("rewards", blob(0, 1, 1, -1, 0, mode="per_step")))
    details = {"0": {"label": "correct"}, "1": {"label": "correct"}, "2": {"label": "incorrect"}}
    assert record.annotations["rewards"] == per_step(1.0, 1.0, -1.0, details=details)

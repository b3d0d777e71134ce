"""Targets dpo and reward: what pairs there are, what they hold, and why a record is in none. All rows by hand."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import datasets
import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.errors import InputError, UsageError
from potato_bridge.export.dataset import export
from potato_bridge.export.options import ExportOptions, ExportReport, TraceScore
from potato_bridge.model import Project
from potato_bridge.model.general import General, Option
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices
from tests.export.helpers import first_error, make_project, per_step, read_lines, record, write_lines
from tests.strategies import DETERMINISTIC


def trace(item_id: str, task: str, *steps: str, **fields: Any) -> dict[str, Any]:
    return {"id": item_id, "task": task, "steps": list(steps), **fields}


def run(
    project: Project, records: list[dict[str, Any]], out: Path, target: str = "dpo", **options: Any
) -> ExportReport:
    file = write_lines(project.task_dir / "records.jsonl", records)
    return export(project, file, target, out, ExportOptions(**options), Notices())


def rows(out: Path, target: str = "dpo") -> list[dict[str, Any]]:
    # A cache of its own: `datasets` takes a folder that was written again for the old one.
    with TemporaryDirectory() as cache:
        found = datasets.load_dataset(str(out), target, split="train", cache_dir=cache, keep_in_memory=True)
    return [dict(row) for row in found]


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def reasons(out: Path) -> dict[tuple[str, str], str]:
    return {(line["id"], line["annotator"]): line["reason"] for line in read_lines(out / "ledger.jsonl")}


# --- by rewards -------------------------------------------------------------------------------------------------------


def test_a_pair_of_traces(tmp_path: Path) -> None:
    project = make_project(
        tmp_path, [trace("a", "Fix it", "a0", "a1"), trace("b", "Fix it", "b0", "b1"), trace("c", "Other", "c0")]
    )
    source = {"backend": "label_studio", "project": 7, "task": 1, "annotation": 9}
    records = [
        record("a", "ann", per_step(0.7, 0.0), source=source),
        record("b", "ann", per_step(0.1, 0.1)),
        record("c", "ann", per_step(1.0)),
    ]
    report = run(project, records, tmp_path / "out", min_score_gap=Decimal("0.5"))
    nowhere = {"annotator": "ann", "backend": None, "project": None, "task": None, "annotation": None}
    assert rows(tmp_path / "out") == [
        {
            "prompt": [user("Fix it")],
            "chosen": [assistant("a0\n\na1")],
            "rejected": [assistant("b0\n\nb1")],
            "scheme": "process_reward",
            "group": None,
            # In floats 0.7 - 0.2 is 0.49999999999999994.
            "score_gap": 0.5,
            "chosen_score": 0.7,
            "rejected_score": 0.2,
            "chosen_id": "a",
            "rejected_id": "b",
            "chosen_answers": [
                {"annotator": "ann", "backend": "label_studio", "project": "7", "task": "1", "annotation": "9"}
            ],
            "rejected_answers": [nowhere],
        }
    ]
    assert (report.records_in, report.records_out, report.rows, report.reasons) == (3, 2, 1, {"only-trace": 1})
    assert reasons(tmp_path / "out") == {("c", "ann"): "only-trace"}
    card = (tmp_path / "out" / "README.md").read_text()
    assert "differ by 0.5 or more" in card and "have 1.00 times the characters" in card


def test_the_documented_lines(tmp_path: Path) -> None:
    project = make_project(tmp_path, [trace("a", "Fix it", "a0", "a1"), trace("b", "Fix it", "b0", "b1")])
    records = [record("a", "ann", first_error(1, 2)), record("b", "ann", first_error(None, 2))]
    run(project, records, tmp_path / "dpo_pairs.jsonl")
    assert (tmp_path / "dpo_pairs.jsonl").read_text() == (
        '{"prompt":"Fix it","chosen":[{"role":"assistant","content":"b0"},{"role":"assistant","content":"b1"}],'
        '"rejected":[{"role":"assistant","content":"a0"},{"role":"assistant","content":"a1"}]}\n'
    )


def test_which_traces_pair(tmp_path: Path) -> None:
    """Scores 3, 2, 2, 0: five pairs; equal ones never; the largest gaps first, then the items' order."""
    project = make_project(tmp_path, [trace(name, "T", name) for name in "abcd"])
    records = [record(name, "ann", per_step(score)) for name, score in zip("abcd", (0.0, 2.0, 3.0, 2.0), strict=True)]

    def pairs(**options: Any) -> list[tuple[str, str]]:
        run(project, records, tmp_path / "out", **options)
        return [(row["chosen_id"], row["rejected_id"]) for row in rows(tmp_path / "out")]

    assert pairs() == [("c", "a"), ("b", "a"), ("d", "a"), ("c", "b"), ("c", "d")]
    # That much is enough, and a hair more is too much.
    assert pairs(min_score_gap=Decimal("2")) == [("c", "a"), ("b", "a"), ("d", "a")]
    assert pairs(min_score_gap=Decimal("2.0000000001")) == [("c", "a")]
    assert reasons(tmp_path / "out") == {("b", "ann"): "no-gap", ("d", "ann"): "no-gap"}
    assert pairs(max_pairs=2) == [("c", "a"), ("b", "a")]
    assert reasons(tmp_path / "out") == {("d", "ann"): "over-max-pairs"}
    with pytest.raises(InputError, match="there is no row to export"):
        run(project, records, tmp_path / "none", min_score_gap=Decimal("3.5"))


def test_which_task(tmp_path: Path) -> None:
    project = make_project(
        tmp_path,
        [
            trace("a", "T", "a", task_id="1"),
            # The same text, and another task.
            trace("b", "T", "b", task_id="2"),
            # The name of a task is no text of one.
            trace("c", "1", "c"),
            trace("d", "T", "d", task_id="1", instance_id="9"),
            trace("e", "T", "e", instance_id="9"),
            trace("f", "T", "f", instance_id="9"),
            # The same task, asked with other words.
            trace("g", "T!", "g", task_id="1"),
        ],
    )
    records = [record(name, "ann", per_step(float(number))) for number, name in enumerate("abcdefg")]
    run(project, records, tmp_path / "out")
    found = [(row["chosen_id"], row["rejected_id"], row["group"]) for row in rows(tmp_path / "out")]
    assert found == [("d", "a", "1"), ("f", "e", "9")]
    assert reasons(tmp_path / "out") == {(name, "ann"): "only-trace" for name in "bcg"}
    run(project, records, tmp_path / "out", group_by="instance_id")
    found = [(row["chosen_id"], row["rejected_id"], row["group"]) for row in rows(tmp_path / "out")]
    # Those without one go by their texts. Tasks in the order of their first trace, the largest gaps first.
    assert found == [("b", "a", None), ("f", "d", "9"), ("f", "e", "9"), ("e", "d", "9")]


def test_several_answers_are_one_score_and_the_same_texts_one_trace(tmp_path: Path) -> None:
    project = make_project(tmp_path, [trace("a", "T", "x"), trace("b", "T", "y"), trace("same", "T", "x")])
    records = [
        record("a", "ann", per_step(1.0)),
        record("a", "ben", per_step(0.0)),
        record("b", "ann", per_step(0.75)),
        record("same", "cy", per_step(0.5)),
    ]
    report = run(project, records, tmp_path / "out")
    [row] = rows(tmp_path / "out")
    assert (row["chosen_id"], row["rejected_id"], row["score_gap"]) == ("b", "a", 0.25)
    assert [one["annotator"] for one in row["rejected_answers"]] == ["ann", "ben", "cy"]
    assert (report.records_out, report.rows, report.annotators) == (4, 1, 3)


def test_unrated_is_not_zero_and_a_mean_does_not_favour_length(tmp_path: Path) -> None:
    project = make_project(tmp_path, [trace("a", "T", "a0", "a1", "a2"), trace("b", "T", "b0"), trace("c", "T", "c0")])
    records = [
        record("a", "ann", per_step(0.5, None, 0.5)),
        record("b", "ann", per_step(0.75)),
        record("c", "ann", per_step(None)),
    ]
    run(project, records, tmp_path / "out")
    assert [(row["chosen_id"], row["chosen_score"]) for row in rows(tmp_path / "out")] == [("a", 1.0)]
    run(project, records, tmp_path / "out", trace_score=TraceScore.MEAN)
    assert [(row["chosen_id"], row["rejected_score"]) for row in rows(tmp_path / "out")] == [("b", 0.5)]
    assert reasons(tmp_path / "out") == {("c", "ann"): "no-rated-steps"}


@DETERMINISTIC
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(-20, 20)), min_size=1, max_size=7),
    st.integers(0, 15),
    st.none() | st.integers(1, 3),
)
def test_pairs_are_those_of_the_rule(
    tmp_path_factory: pytest.TempPathFactory, traces: list[tuple[int, int]], gap: int, most: int | None
) -> None:
    """Against the rule as a sentence: same task, better by the gap at least, most of a task; each once."""
    folder = tmp_path_factory.mktemp("pairs")
    project = make_project(folder, [trace(f"t{n}", f"task {task}", f"s{n}") for n, (task, _) in enumerate(traces)])
    records = [record(f"t{n}", "ann", per_step(score / 10)) for n, (_, score) in enumerate(traces)]
    report = run(project, records, folder / "x.jsonl", min_score_gap=Decimal(gap) / 10, max_pairs=most)
    found = [(line["chosen"][0]["content"], line["rejected"][0]["content"]) for line in read_lines(folder / "x.jsonl")]
    wanted: dict[int, list[int]] = {}
    for n, (task, score) in enumerate(traces):
        for m, (other, less) in enumerate(traces):
            if n != m and task == other and score > less and score - less >= gap:
                wanted.setdefault(task, []).append(score - less)
                assert most is not None or (f"s{n}", f"s{m}") in found
    by_name = {f"s{n}": pair for n, pair in enumerate(traces)}
    for task, gaps in wanted.items():
        mine = [by_name[a][1] - by_name[b][1] for a, b in found if by_name[a][0] == by_name[b][0] == task]
        assert mine == sorted(gaps, reverse=True)[: most or len(gaps)]
    assert len(set(found)) == len(found) == sum(min(most or len(gaps), len(gaps)) for gaps in wanted.values())
    assert report.records_in == report.records_out + sum(report.reasons.values())


# --- by corrections ---------------------------------------------------------------------------------------------------


def corrected(*steps: dict[str, Any], final: dict[str, Any] | None = None) -> dict[str, Any]:
    value: dict[str, Any] = {"steps": list(steps)}
    return value if final is None else {**value, "final_answer": final}


def change(number: int, old: str, new: str, field: str = "action") -> dict[str, Any]:
    return {"step_index": number, "field": field, "original_text": old, "edited_text": new, "edited": True}


def fixing(tmp_path: Path) -> Project:
    steps = [
        {"thought": "Look.", "action": "ls", "observation": "a.py"},
        {"thought": "Change.", "action": "sed"},
        {"action": "run", "observation": "1 failed"},
    ]
    item = {"id": "a", "task": "Fix it", "steps": steps, "final_answer": "Done"}
    return make_project(tmp_path, [item], [TrajectoryEdit(name="fix", steps_key="steps")])


def test_each_corrected_step_is_a_pair_after_the_run_as_it_went(tmp_path: Path) -> None:
    project = fixing(tmp_path)
    value = corrected(
        change(0, "ls", "ls -a"),
        change(2, "run", "pytest"),
        final={"original_text": "Done", "edited_text": "Not done", "edited": True},
    )
    report = run(project, [{"id": "a", "annotator": "ann", "annotations": {"fix": value}}], tmp_path / "out")
    about = {
        "scheme": "fix",
        "id": "a",
        "annotator": "ann",
        **dict.fromkeys(("backend", "project", "task", "annotation")),
    }
    assert rows(tmp_path / "out") == [
        {
            "prompt": [user("Fix it")],
            "chosen": [assistant("Look.\nls -a")],
            "rejected": [assistant("Look.\nls")],
            "step_index": 0,
            **about,
        },
        {
            # What was observed is what it was before the correction; step 1 has no observation, so its turn goes on.
            "prompt": [user("Fix it"), assistant("Look.\nls"), user("a.py")],
            "chosen": [assistant("Change.\nsed\n\npytest")],
            "rejected": [assistant("Change.\nsed\n\nrun")],
            "step_index": 2,
            **about,
        },
        {
            "prompt": [
                user("Fix it"),
                assistant("Look.\nls"),
                user("a.py"),
                assistant("Change.\nsed\n\nrun"),
                user("1 failed"),
            ],
            "chosen": [assistant("Not done")],
            "rejected": [assistant("Done")],
            "step_index": None,
            **about,
        },
    ]
    assert (report.records_out, report.rows) == (1, 3)


def test_corrections_that_give_no_pair(tmp_path: Path) -> None:
    project = fixing(tmp_path)
    values = {
        "nothing": corrected(),
        "aside": corrected(change(0, "a.py", "b.py", "observation")),
        "emptied": corrected(change(2, "run", "")),
        "stale": corrected(change(0, "cat", "ls -a")),
        "good": corrected(change(0, "ls", "ls -a")),
    }
    records = [{"id": "a", "annotator": name, "annotations": {"fix": value}} for name, value in values.items()]
    run(project, records, tmp_path / "out")
    assert {name: reason for (_, name), reason in reasons(tmp_path / "out").items()} == {
        "nothing": "unedited",
        "aside": "edit-not-in-text",
        "emptied": "no-completion",
        "stale": "original-changed",
    }


# --- by comparisons ---------------------------------------------------------------------------------------------------


def comparing(tmp_path: Path, **fields: Any) -> Project:
    scheme = General(name="better", type="pairwise", field="answers", options=[Option(value="A")], **fields)
    items = [
        {"id": "a", "task": "Say it", "answers": ["one", "two"]},
        {"id": "same", "task": "Say it", "answers": ["one", "one"]},
        {"id": "none", "task": "Say it"},
    ]
    return make_project(tmp_path, items, [scheme])


def said(item: str, name: str, value: Any) -> dict[str, Any]:
    return {"id": item, "annotator": name, "annotations": {"better": value}}


def test_comparisons(tmp_path: Path) -> None:
    project = comparing(tmp_path, mode="binary")
    records = [
        said("a", "first", {"selection": "A"}),
        said("a", "second", {"selection": "B"}),
        said("a", "tie", {"selection": "tie"}),
        said("a", "odd", {"selection": "C"}),
        said("same", "x", {"selection": "A"}),
        said("none", "x", {"selection": "A"}),
    ]
    run(project, records, tmp_path / "out")
    first, second = rows(tmp_path / "out")
    assert (first["prompt"], first["chosen"], first["rejected"]) == (
        [user("Say it")],
        [assistant("one")],
        [assistant("two")],
    )
    assert (second["chosen"], second["rejected"]) == (first["rejected"], first["chosen"])
    assert reasons(tmp_path / "out") == {
        ("a", "tie"): "tie",
        ("a", "odd"): "invalid-value",
        ("same", "x"): "same-text",
        ("none", "x"): "no-pair",
    }
    # Of two words nobody says by how much one is better: a margin would be made up.
    run(project, records, tmp_path / "reward", "reward")
    assert "margin" not in rows(tmp_path / "reward", "reward")[0]
    with pytest.raises(InputError, match="compares in several respects"):
        run(comparing(tmp_path, mode="multi_dimension"), records, tmp_path / "other")


def test_margins(tmp_path: Path) -> None:
    project = comparing(tmp_path, mode="scale", minimum=-3, maximum=3)
    records = [said("a", "x", {"scale_value": -2}), said("a", "y", {"scale_value": 0}), said("a", "z", {})]
    run(project, records, tmp_path / "out", "reward")
    [row] = rows(tmp_path / "out", "reward")
    assert (row["chosen"], row["margin"], row["preference"]) == ([assistant("one")], 2.0, 2.0)
    assert reasons(tmp_path / "out") == {("a", "y"): "tie", ("a", "z"): "invalid-value"}
    project = make_project(tmp_path, [trace("a", "T", "x"), trace("b", "T", "y")])
    run(project, [record("a", "n", per_step(0.5)), record("b", "n", per_step(1.0))], tmp_path / "gap", "reward")
    [row] = rows(tmp_path / "gap", "reward")
    assert (row["chosen_id"], row["margin"]) == ("b", 0.5)


def test_which_scheme(tmp_path: Path) -> None:
    fix, better = TrajectoryEdit(name="fix", steps_key="steps"), General(name="better", type="pairwise", field="x")
    project = make_project(tmp_path, [{"id": "a", "task": "T", "x": ["1", "2"], "steps": ["s"]}], [fix, better])
    notices = Notices()
    file = write_lines(tmp_path / "records.jsonl", [said("a", "n", {"selection": "B"})])
    export(project, file, "dpo", tmp_path / "x.jsonl", ExportOptions(scheme="better"), notices)
    assert json.loads((tmp_path / "x.jsonl").read_text())["chosen"] == [assistant("2")]
    export(project, file, "dpo", tmp_path / "y.jsonl", ExportOptions(), notices)
    assert "several-schemes" in {notice.code for notice in notices}
    with pytest.raises(UsageError, match="dpo cannot be made of 'else'"):
        export(project, file, "dpo", tmp_path / "z.jsonl", ExportOptions(scheme="else"), notices)
    project.schemes = []
    with pytest.raises(InputError, match="no scheme that prefers one answer to another"):
        export(project, file, "dpo", tmp_path / "z.jsonl", ExportOptions(), notices)

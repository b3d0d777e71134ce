"""Targets sft, kto and swebench: whole runs, and what annotators say of them. All rows by hand."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import datasets
import pytest

from potato_bridge.errors import InputError, UsageError
from potato_bridge.export.dataset import export
from potato_bridge.export.options import ExportOptions, ExportReport, Words
from potato_bridge.model import CodeReviewScheme, ProcessReward, Project
from potato_bridge.model.general import General, Option
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices
from tests.export.helpers import first_error, make_project, per_step, read_lines, record, write_lines

OUTCOME = General(
    name="outcome", type="radio", options=[Option(value=word) for word in ("success", "partial", "failure")]
)
NOWHERE = dict.fromkeys(("backend", "project", "task", "annotation"))


def run(project: Project, records: list[dict[str, Any]], out: Path, target: str, **options: Any) -> ExportReport:
    file = write_lines(project.task_dir / "records.jsonl", records)
    return export(project, file, target, out, ExportOptions(**options), Notices())


def rows(out: Path, target: str) -> list[dict[str, Any]]:
    with TemporaryDirectory() as cache:
        found = datasets.load_dataset(str(out), target, split="train", cache_dir=cache, keep_in_memory=True)
    return [dict(row) for row in found]


def reasons(out: Path) -> dict[tuple[str, str], str]:
    return {(line["id"], line["annotator"]): line["reason"] for line in read_lines(out / "ledger.jsonl")}


def message(role: str, content: str | None, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_call_id": None, "tool_calls": None, **fields}


def said(item: str, annotator: str, scheme: str, value: Any) -> dict[str, Any]:
    return {"id": item, "annotator": annotator, "annotations": {scheme: value}}


# --- sft --------------------------------------------------------------------------------------------------------------


def call(call_id: str, name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    return {"call_id": call_id, "tool": name, "input": arguments, **fields}


def coding(tmp_path: Path, *turns: dict[str, Any], **fields: Any) -> Project:
    scheme = ProcessReward(name="process_reward", steps_key="turns")
    item = {"id": "a", "task": "Fix it", "turns": list(turns), **fields}
    return make_project(tmp_path, [item], [scheme])


def test_an_approved_run(tmp_path: Path) -> None:
    project = coding(
        tmp_path,
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                call("c1", "Bash", {"command": "ls", "timeout": 5}, output="a.py"),
                call("c2", "Read", {"file_path": "a.py"}, output=""),
            ],
        },
        {"role": "assistant", "content": "And", "tool_calls": [call("c3", "Bash", {})]},
        {"role": "assistant", "content": "Done."},
        tools=[{"type": "function", "function": {"name": "Bash", "parameters": {"x": None}}}],
    )
    report = run(project, [record("a", "ann", first_error(None, 3))], tmp_path / "out", "sft")

    def made(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}

    calls = [made("c1", "Bash", {"command": "ls", "timeout": 5}), made("c2", "Read", {"file_path": "a.py"})]
    assert rows(tmp_path / "out", "sft") == [
        {
            "messages": [
                message("user", "Fix it"),
                message("assistant", "I look.", tool_calls=calls),
                message("tool", "a.py", tool_call_id="c1"),
                # An empty result is one; that of c3 was not recorded, and nothing stands for it.
                message("tool", "", tool_call_id="c2"),
                message("assistant", "And\n\nDone.", tool_calls=[made("c3", "Bash", {})]),
            ],
            "tools": [{"type": "function", "function": {"name": "Bash", "parameters": {"x": None}}}],
            "id": "a",
            "annotator": "ann",
            "scheme": "process_reward",
            **NOWHERE,
        }
    ]
    assert report.rows == 1
    card = (tmp_path / "out" / "README.md").read_text()
    assert "every step was rated above 0 in `process_reward`" in card and "assistant_only_loss=True" in card
    run(project, [record("a", "ann", first_error(None, 3))], tmp_path / "sft.jsonl", "sft")
    [line] = read_lines(tmp_path / "sft.jsonl")
    assert line["messages"][1] == {"role": "assistant", "content": "I look.", "tool_calls": calls}
    assert line["tools"][0]["function"]["name"] == "Bash" and line.keys() == {"messages", "tools"}


def test_users_turns_stand_where_they_stood(tmp_path: Path) -> None:
    project = coding(
        tmp_path,
        {"role": "user", "content": "Please fix it"},
        {"role": "assistant", "content": "How?"},
        {"role": "user", "content": "Well"},
        {"role": "assistant", "content": "Done."},
    )
    run(project, [record("a", "ann", first_error(None, 2))], tmp_path / "out", "sft")
    [row] = rows(tmp_path / "out", "sft")
    assert [(one["role"], one["content"]) for one in row["messages"]] == [
        ("user", "Please fix it"),
        ("assistant", "How?"),
        ("user", "Well"),
        ("assistant", "Done."),
    ]
    assert row["tools"] is None


def test_which_runs_are_approved(tmp_path: Path) -> None:
    items = [{"id": name, "task": "T", "steps": ["one", "two"]} for name in "abcdef"]
    project = make_project(tmp_path, items)
    records = [
        record("a", "n", first_error(None, 2)),
        record("b", "n", first_error(1, 2)),
        record("c", "n", per_step(1.0, 0.5)),
        record("d", "n", per_step(1.0, 0.0)),
        record("e", "n", per_step(1.0, None)),
        record("f", "n", per_step(None, -1.0)),
    ]
    run(project, records, tmp_path / "out", "sft")
    assert [row["id"] for row in rows(tmp_path / "out", "sft")] == ["a", "c"]
    # Not every step was rated: nobody says that it is good.
    assert {key[0]: reason for key, reason in reasons(tmp_path / "out").items()} == {
        "b": "not-approved",
        "d": "not-approved",
        "e": "undecided",
        "f": "not-approved",
    }


def test_arguments_that_are_no_json_are_not_trained(tmp_path: Path) -> None:
    """As a text they would be quoted a second time, and trained so without a word."""
    project = coding(tmp_path, {"role": "assistant", "content": "x", "tool_calls": [call("c", "Bash", "{not json")]})
    with pytest.raises(InputError, match="there is no row to export") as error:
        run(project, [record("a", "n", first_error(None, 1))], tmp_path / "out", "sft")
    assert "the arguments of Bash in step 0 are no JSON" in str(error.value)


def test_a_corrected_run(tmp_path: Path) -> None:
    steps = [{"thought": "Look.", "action": "ls", "observation": "a.py"}, {"action": "rm"}]
    item = {"id": "a", "task": "Fix it", "steps": steps, "final_answer": "Done"}
    # The first scheme that gives runs is taken.
    schemes = [TrajectoryEdit(name="fix", steps_key="steps"), ProcessReward(name="rewards", steps_key="steps")]
    project = make_project(tmp_path, [item], schemes)
    edit = {"step_index": 1, "field": "action", "original_text": "rm", "edited_text": "sed", "edited": True}
    final = {"original_text": "Done", "edited_text": "Fixed", "edited": True}
    records = [
        said("a", "ann", "fix", {"steps": [edit], "final_answer": final}),
        said("a", "ben", "fix", {"steps": []}),
    ]
    run(project, records, tmp_path / "out", "sft")
    [row] = rows(tmp_path / "out", "sft")
    assert row["messages"] == [
        message("user", "Fix it"),
        message("assistant", "Look.\nls"),
        message("user", "a.py"),
        message("assistant", "sed\n\nFixed"),
    ]
    assert reasons(tmp_path / "out") == {("a", "ben"): "unedited"}


def test_words_of_any_scheme(tmp_path: Path) -> None:
    items = [{"id": name, "task": "T", "steps": [name]} for name in "abcd"]
    many = General(name="tags", type="multiselect", options=[Option(value="good"), Option(value="bad")])
    scale = General(name="scale", type="likert", options=[])
    project = make_project(
        tmp_path,
        items,
        [
            OUTCOME,
            many,
            scale,
            CodeReviewScheme(name="review", verdict_options=["ok"]),
            ProcessReward(name="p", steps_key="steps"),
        ],
    )
    answers = {
        "a": {"outcome": "success", "tags": ["good", "bad"], "scale": 4, "review": {"verdict": "ok", "comments": []}},
        "b": {"outcome": {"option": "partial", "free_response": "x"}, "tags": ["bad"], "scale": 5.0},
        "c": {"outcome": "failure", "tags": [], "scale": 3},
        "d": {"outcome": {"option": None, "free_response": "?"}},
    }
    records = [{"id": name, "annotator": "n", "annotations": value} for name, value in answers.items()]

    def approved(scheme: str, *values: str) -> list[str]:
        run(project, records, tmp_path / "x.jsonl", "sft", approved=Words(scheme, values))
        return [line["messages"][1]["content"] for line in read_lines(tmp_path / "x.jsonl")]

    assert approved("outcome", "success", "partial") == ["a", "b"]
    assert approved("tags", "good") == ["a"]
    assert approved("scale", "4", "5") == ["a", "b"]
    assert approved("review", "ok") == ["a"]
    with pytest.raises(UsageError, match="outcome has no value 'succes'") as error:
        approved("outcome", "succes")
    assert error.value.hint == "It has: success, partial, failure."
    with pytest.raises(UsageError, match="there is no scheme 'else'"):
        approved("else", "x")
    with pytest.raises(UsageError, match="nothing says which answers to outcome mean yes"):
        run(project, records, tmp_path / "x.jsonl", "sft", scheme="outcome")
    project.schemes = [OUTCOME]
    with pytest.raises(InputError, match="says by itself which traces are good"):
        run(project, records, tmp_path / "x.jsonl", "sft")


# --- kto --------------------------------------------------------------------------------------------------------------


def test_kto(tmp_path: Path) -> None:
    items = [{"id": name, "task": "T", "steps": [f"{name}0", f"{name}1"]} for name in "abc"]
    project = make_project(tmp_path, items)
    records = [
        record("a", "n", first_error(None, 2)),
        record("b", "n", first_error(0, 2)),
        record("c", "n", per_step(1.0, None)),
    ]
    run(project, records, tmp_path / "out", "kto")
    about = {"annotator": "n", "scheme": "process_reward", **NOWHERE}
    assert rows(tmp_path / "out", "kto") == [
        {
            "prompt": [{"role": "user", "content": "T"}],
            "completion": [{"role": "assistant", "content": f"{name}0\n\n{name}1"}],
            "label": label,
            "id": name,
            **about,
        }
        for name, label in (("a", True), ("b", False))
    ]
    assert reasons(tmp_path / "out") == {("c", "n"): "undecided"}
    assert "1 rows are wanted, 1 are not." in (tmp_path / "out" / "README.md").read_text()
    run(project, records[:1], tmp_path / "one", "kto")
    assert "One of the two is missing" in (tmp_path / "one" / "README.md").read_text()


# --- swebench ---------------------------------------------------------------------------------------------------------


def submitted(item: str, **fields: Any) -> dict[str, Any]:
    return {"id": item, "task": "T", "steps": ["x"], **fields}


def test_swebench(tmp_path: Path) -> None:
    gold = {"patch": "the solution"}
    items = [
        submitted("run-1", instance_id="a__b-1", agent_model="m", final_patch="diff 1\n", **gold),
        submitted("a__b-2", model_name_or_path="n", model_patch=""),
        submitted("a__b-3", model="m", final_patch="diff 3\n"),
        submitted("a__b-4", model="m", final_patch="diff 4\n"),
        submitted("no instance", model="m", final_patch="d"),
        submitted("a__b-5", final_patch="d"),
        submitted("a__b-6", model="m", **gold),
    ]
    project = make_project(tmp_path, items, [OUTCOME])
    records = [
        said("run-1", "ann", "outcome", "success"),
        said("run-1", "ben", "outcome", "success"),
        said("run-1", "cy", "outcome", "failure"),
        said("a__b-2", "ann", "outcome", "partial"),
        said("a__b-3", "ann", "outcome", "success"),
        said("a__b-3", "ben", "outcome", "failure"),
        said("a__b-4", "ann", "outcome", {"option": None, "free_response": "?"}),
        *(said(item, "ann", "outcome", "success") for item in ("no instance", "a__b-5", "a__b-6")),
    ]
    words = Words("outcome", ("success",))
    report = run(
        project, records, tmp_path / "results.json", "swebench", resolved=words, ledger=tmp_path / "left.jsonl"
    )
    expected = [
        {"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": "diff 1\n", "resolved": True},
        {"instance_id": "a__b-2", "model_name_or_path": "n", "model_patch": "", "resolved": False},
        # One says yes and one says no; one says neither.
        {"instance_id": "a__b-3", "model_name_or_path": "m", "model_patch": "diff 3\n", "resolved": None},
        {"instance_id": "a__b-4", "model_name_or_path": "m", "model_patch": "diff 4\n", "resolved": None},
    ]
    assert json.loads((tmp_path / "results.json").read_text()) == expected
    assert {line["id"]: line["reason"] for line in read_lines(tmp_path / "left.jsonl")} == {
        "no instance": "no-instance",
        "a__b-5": "no-model",
        "a__b-6": "no-patch",
    }
    assert (report.records_in, report.records_out, report.rows) == (10, 7, 4)
    # The harness gets no verdict.
    run(project, records, tmp_path / "predictions.jsonl", "swebench", resolved=words)
    predictions = read_lines(tmp_path / "predictions.jsonl")
    assert predictions == [{key: row[key] for key in row if key != "resolved"} for row in expected]
    run(project, records, tmp_path / "out", "swebench", resolved=words)
    first, *_ = rows(tmp_path / "out", "swebench")
    assert (first["human_resolved"], first["votes_resolved"], first["votes_unresolved"], first["id"]) == (
        True,
        2,
        1,
        "run-1",
    )
    # Nobody was asked: unknown, which is not unresolved.
    run(project, records, tmp_path / "results.json", "swebench")
    assert [row["resolved"] for row in json.loads((tmp_path / "results.json").read_text())] == [None] * 4

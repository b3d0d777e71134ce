"""OpenHands V0: three generations of histories, in rows and alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.inputs import file_source
from potato_bridge.converters.traces.openhands import READER
from potato_bridge.converters.traces.reader import Report
from potato_bridge.model.trace import Trace
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, lines, mutated, read, read_one, source_of
from tests.strategies import DETERMINISTIC

ASK = {"action": "message", "content": "Fix </script> it"}
RUN = {"action": "run", "command": "ls", "thought": "I look.", "keep_prompt": True}
SAW = {"observation": "run", "content": "a.py", "command": "ls", "exit_code": 2}
END = {"action": "finish", "thought": "Done.", "outputs": {}}
FLAT = [ASK, RUN, SAW, END]
PAIRS = [[ASK, {"observation": "null", "content": ""}], [RUN, SAW], [END, {"observation": "null", "content": ""}]]


def called(call_id: str, response: str = "r1") -> dict[str, Any]:
    calls = [
        {"id": one, "function": {"name": "execute_bash", "arguments": json.dumps({"command": one})}}
        for one in ("c1", "c2")
    ]
    answer = {
        "id": response,
        "model": "gpt",
        "usage": {"prompt_tokens": 4},
        "choices": [{"message": {"tool_calls": calls}}],
    }
    return {"tool_call_id": call_id, "function_name": "execute_bash", "model_response": answer}


def event(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": f"2026-01-01T00:00:0{number}", "source": "agent", **fields}


EVENTS = [
    event(0, action="system", args={"content": "You are", "tools": [{"x": 1}]}),
    event(1, source="user", action="message", args={"content": "Fix </script> it"}),
    event(2, source="user", action="recall", args={}),
    event(3, action="run", args={"command": "?", "thought": "I look."}, tool_call_metadata=called("c1")),
    event(4, action="run", args={"command": "?", "thought": ""}, tool_call_metadata=called("c2")),
    event(5, observation="run", cause=4, content="two", extras={"metadata": {"exit_code": 0}}),
    event(6, observation="error", cause=3, content="one"),
    event(7, action="message", args={"content": "Done."}),
]
ROW: dict[str, Any] = {
    "instance_id": "a__b-1",
    "instance": {"problem_statement": "It fails", "repo": "a/b", "base_commit": "abc", "patch": "gold"},
    "metadata": {"llm_config": {"model": "m"}, "git_commit": "g"},
    "history": EVENTS,
    "metrics": {"accumulated_cost": 0.5},
    "test_result": {"git_patch": "diff --git a/a b/a\n", "report": {"resolved": True}},
}


@pytest.mark.parametrize("history", [FLAT, PAIRS], ids=["flat", "pairs"])
def test_the_older_generations(history: list[Any]) -> None:
    trace = read_one(READER, json.dumps(history).encode())
    assert [(step.kind, step.text()) for step in trace.steps] == [
        ("user", "Fix </script> it"),
        ("agent", "I look."),
        ("agent", "Done."),
    ]
    first, last = trace.ratable()
    [call] = first.tool_calls
    assert (call.name, call.family, call.arguments) == ("run", "shell", {"command": "ls"})
    assert call.result is not None
    assert (call.result.text, call.result.exit_code, call.result.is_error) == ("a.py", 2, True)
    assert last.flags.terminal and calls_of(last) == [("finish", None)]
    assert trace.source.records is not None and trace.source.records.read == len(history)


def test_events_with_causes_and_responses() -> None:
    trace = read_one(READER, lines([ROW]))
    assert [(step.kind, step.text()) for step in trace.steps] == [
        ("system", "You are"),
        ("user", "Fix </script> it"),
        ("agent", "I look."),
        ("agent", "Done."),
    ]
    step = trace.steps[2]
    # Both actions are of one response; what the model wrote is taken, and each result is of its cause.
    assert step.step_id == "r1" and [call.arguments for call in step.tool_calls] == [
        {"command": "c1"},
        {"command": "c2"},
    ]
    assert calls_of(step) == [("execute_bash", "one"), ("execute_bash", "two")]
    assert [call.result.is_error for call in step.tool_calls if call.result] == [True, False]
    assert step.usage is not None and step.usage.input == 4 and step.clock == "naive"
    assert trace.outcome is not None and trace.outcome.resolved is True
    assert trace.final_patch is not None and trace.final_patch.text == "diff --git a/a b/a\n"
    assert (trace.task.id, trace.task.text, trace.task.repo) == ("a__b-1", "It fails", "a/b")
    assert (trace.agent.model, trace.agent.version, trace.cost_usd) == ("m", "g", 0.5)
    counts = trace.source.records
    assert counts is not None and (counts.read, counts.mapped, counts.events) == (8, 7, 1)


def test_a_failed_edit_looks_like_one_that_went_well() -> None:
    edit = {"old_content": "a", "new_content": "b", "path": "x"}
    made = [
        ASK,
        event(1, action="edit", args={"path": "x"}),
        event(2, observation="edit", cause=1, content="ERROR: no", extras=edit),
    ]
    trace = read_one(READER, json.dumps({"trajectory": made}).encode())
    result = trace.steps[1].tool_calls[0].result
    assert result is not None and result.is_error is True
    assert [loss.code for loss in trace.source.losses] == ["original-file"]


def test_rows_of_another_kind_and_other_lists() -> None:
    report = Report()
    assert len(list(READER.read(source_of(lines([ROW, {"x": 1}]) + b"{cut"), report))) == 1
    assert report.skipped == {"no history of OpenHands": 1} and len(report.bad) == 1
    for other in ([{"action": "x", "observation": "y", "response": "z"}], [{"role": "user"}], []):
        assert READER.score(source_of(json.dumps(other).encode())) == 0


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_in_a_row(given_data: st.DataObject) -> None:
    row = mutated(given_data, ROW)
    for trace in READER.read(source_of(lines([row])), Report()):
        check_counts(trace)
        assert trace.source.records is not None and trace.source.records.read == len(row["history"])


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
def test_real_rows() -> None:
    """Golden, read by hand; counts by the raw rows."""
    path = CORPUS / "openhands" / "resolver_output.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    traces: list[Trace] = read(READER, path)
    for row, trace in zip(rows, traces, strict=True):
        check_counts(trace)
        actions = [one for one in row["history"] if "action" in one]
        calls = [call for step in trace.steps for call in step.tool_calls]
        assert len(calls) == sum(one["action"] != "message" for one in actions)
        assert sum(call.result is not None for call in calls) == sum("observation" in one for one in row["history"])
        assert trace.source.records is not None and trace.source.records.read == len(row["history"])
        assert trace.final_patch is not None and trace.final_patch.crlf_stripped
        assert trace.outcome is not None and trace.outcome.resolved is None
        assert trace.outcome.raw["success"] is True
    first = traces[0]
    assert first.task.id == "neubig__pr-viewer-5" and len(first.ratable()) == 4
    assert first.ratable()[0].text().startswith("Certainly! I'll add the MIT license to the repository in /workspace.")
    assert first.ratable()[0].tool_calls[0].arguments == {"command": "touch LICENSE"}
    assert first.ratable()[-1].flags.terminal and first.cost_usd == 0.070713
    others = [one for one in CORPUS.rglob("*") if one.is_file() and one != path]
    assert [one.name for one in others if READER.score(file_source(one))] == []

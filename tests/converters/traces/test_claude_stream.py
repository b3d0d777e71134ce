"""The stream of Claude's Agent SDK."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.claude_code import READER as SESSIONS
from potato_bridge.converters.traces.claude_stream import READER
from potato_bridge.converters.traces.inputs import file_source
from potato_bridge.converters.traces.reader import Report
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, lines, mutated, read, read_one, source_of
from tests.strategies import DETERMINISTIC

INIT = {
    "type": "system",
    "subtype": "init",
    "session_id": "s",
    "model": "claude-x",
    "cwd": "/repo",
    "claude_code_version": "2.1.9",
}
RESULT = {
    "type": "result",
    "subtype": "error_max_turns",
    "total_cost_usd": 0.5,
    "num_turns": 2,
    "usage": {"input_tokens": 3, "cache_creation_input_tokens": 4, "output_tokens": 5},
}


def message(kind: str, content: Any, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "session_id": "s",
        "parent_tool_use_id": parent,
        "message": {"role": kind, "content": content, **fields},
    }


def use(call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "Task", "input": arguments}


RUN = [
    INIT,
    message("user", "Do it"),
    message("assistant", [{"type": "text", "text": "First."}], id="m1"),
    {"type": "stream_event", "event": {}},
    message("assistant", [use("t", prompt="Look")], id="m1"),
    message("user", "Look", "t"),
    message("assistant", "I look.", "t", id="m2"),
    message("user", [{"type": "tool_result", "tool_use_id": "t", "content": "seen"}]),
    message("assistant", "Done.", id="m3"),
    RESULT,
]


@pytest.mark.parametrize("form", ["lines", "array"])
def test_a_run_with_a_sub_agent(form: str) -> None:
    data = lines(RUN) if form == "lines" else json.dumps(RUN).encode()
    trace = read_one(READER, data)
    assert [(step.kind, step.text()) for step in trace.steps] == [
        ("user", "Do it"),
        ("agent", "First."),
        ("agent", "Done."),
    ]
    assert calls_of(trace.steps[1]) == [("Task", "seen")]
    [child] = trace.children
    assert trace.steps[1].tool_calls[0].child_trace_id == child.trace_id == f"{trace.trace_id}:t"
    assert [step.text() for step in child.steps] == ["Look", "I look."]
    assert child.parent is not None and (child.parent.step_id, child.parent.call_id) == ("m1", "t")
    # How it ended, which is not whether the task is done.
    assert trace.outcome is not None
    assert (trace.outcome.exit_status, trace.outcome.resolved) == ("error_max_turns", None)
    assert trace.cost_usd == 0.5 and trace.usage is not None and (trace.usage.input, trace.usage.output) == (7, 5)
    assert (trace.agent.model, trace.agent.version, trace.extra["cwd"]) == ("claude-x", "2.1.9", "/repo")
    counts = trace.source.records
    assert counts is not None and (counts.read, counts.mapped, counts.events, counts.skipped) == (10, 7, 2, 1)
    assert trace.steps[1].clock == "none"


def test_two_sessions_in_a_stream() -> None:
    other = [{**one, "session_id": "o"} for one in RUN]
    first, second = read(READER, lines([*RUN, *other]))
    assert first.trace_id.startswith("s-") and second.trace_id.startswith("o-")
    assert len(first.steps) == len(second.steps) == 3
    check_counts(second)


def test_what_is_odd_is_kept() -> None:
    odd = ["x", {"type": "assistant"}, {"type": "rate_limit_event"}]
    trace = read_one(READER, lines([*RUN, *odd]) + b"{cut")
    assert len(trace.steps) == 3 and trace.extra["events"][-3:] == odd
    assert trace.source.records is not None and trace.source.records.bad == 1


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_in_a_stream_nothing_is_lost(data: st.DataObject) -> None:
    rows = mutated(data, RUN)
    traces = list(READER.read(source_of(lines(rows)), Report()))
    for trace in traces:
        check_counts(trace)
    assert sum(trace.source.records.read for trace in traces if trace.source.records) == len(rows)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
def test_a_real_run() -> None:
    """Golden, read by hand: four responses, three calls, each with a result."""
    path = CORPUS / "claude_sdk_stream" / "sample-turns.json"
    assert READER.score(file_source(path)) == 90
    trace = read_one(READER, path)
    assert [step.step_id for step in trace.steps] == [f"msg_sample12{n}" for n in (3, 4, 5, 6)]
    assert [[call.name for call in step.tool_calls] for step in trace.steps] == [
        ["Read"],
        ["Edit"],
        ["mcp__github__add_pull_request_review_comment"],
        [],
    ]
    assert calls_of(trace.steps[1])[0][1] == "File successfully edited. The debug print statement has been removed."
    assert trace.steps[3].text().startswith("Great! I've successfully completed the requested task:")
    assert trace.steps[3].flags.terminal and trace.cost_usd == 0.0347
    others = [path for path in CORPUS.rglob("*.json*") if "claude_sdk_stream" not in path.parts]
    assert [path.name for path in others if READER.score(file_source(path))] == []
    assert SESSIONS.score(file_source(path)) == 0 and READER.score(source_of(b"text")) == 0

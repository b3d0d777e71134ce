"""Traces as sessions for the Hub, by the page that describes their format."""

import json
from typing import Any

import pytest
from hypothesis import given

from potato_bridge.converters.traces.convert import Choice, Outcome, read_traces
from potato_bridge.converters.traces.write.session_trace import session_file, to_session
from potato_bridge.model.trace import (
    Agent,
    CallBlock,
    DocumentBlock,
    ImageBlock,
    ReasoningBlock,
    Result,
    Step,
    Task,
    TextBlock,
    ToolCall,
    Trace,
    TraceSource,
)
from tests.converters.traces.helpers import CORPUS
from tests.strategies import DETERMINISTIC, runs


def step(index: int, kind: Any, text: str = "", **fields: Any) -> Step:
    blocks = [TextBlock(text=text)] if text else []
    return Step(step_id=f"s{index}", index=index, kind=kind, **{"blocks": blocks, **fields})


def test_a_session() -> None:
    """Golden, by hand."""
    calls = [
        ToolCall(call_id="a", name="ls", arguments={"p": "ä"}, result=Result(text="", at="2026-01-01T00:00:02Z")),
        ToolCall(call_id="b", name="pwd", arguments_raw="{broken"),
        ToolCall(
            call_id="c",
            name="shot",
            arguments={},
            result=Result(text="x", blocks=[TextBlock(text="x"), ImageBlock(uri="data:image/png;base64,AA")]),
        ),
    ]
    said = [ReasoningBlock(text="Hm."), TextBlock(text="I look."), CallBlock(call_id="a"), TextBlock(text="$& <b>")]
    trace = Trace(
        trace_id="t",
        source=TraceSource(format="codex"),
        agent=Agent(name="codex", model="m", system_prompt="You are"),
        task=Task(id="x__y-1", text="\n  Fix it\nand that"),
        steps=[
            step(0, "user", blocks=[TextBlock(text="See"), ImageBlock(uri="a.png", alt="a cat"), DocumentBlock()]),
            step(1, "agent", blocks=said, tool_calls=calls, model="m2", started_at="2026-01-01T00:00:01.5+01:00"),
            step(2, "environment", observations=[Result(text="late")]),
            step(3, "compaction", "All so far", started_at="2026-01-01T00:00:01"),
            step(4, "agent", started_at="once"),
        ],
    )
    session = to_session(trace)
    assert session[0] == {
        "type": "session",
        "harness": "codex",
        "id": "t",
        "name": "Fix it",
        "model": "m",
        "instance_id": "x__y-1",
    }
    assert [line["type"] for line in session[1:]] == ["message"] * (len(session) - 1)
    assert [line["message"] for line in session[1:]] == [
        {"role": "system", "content": "You are"},
        {"role": "user", "content": "See\n[image a cat]\n[document]"},
        {
            "role": "assistant",
            "content": "I look.\n$& <b>",
            "reasoningContent": "Hm.",
            "toolCalls": [
                {"id": "a", "function": {"name": "ls", "arguments": '{"p": "ä"}'}},
                {"id": "b", "function": {"name": "pwd", "arguments": "{broken"}},
                {"id": "c", "function": {"name": "shot", "arguments": "{}"}},
            ],
            "timestamp": 1767222001500,
            "model": "m2",
        },
        {"role": "tool", "content": "", "timestamp": 1767225602000, "toolCallId": "a"},
        {"role": "tool", "content": "x\n[image image/png]", "toolCallId": "c"},
        {"role": "system", "content": "late"},
        # A time without a zone, and one that is none, are left out.
        {"role": "system", "content": "All so far"},
        {"role": "assistant", "content": ""},
    ]


def check(session: list[dict[str, Any]]) -> None:
    """By the tables of the page."""
    header, *lines = session
    assert header["type"] == "session" and header["harness"] and isinstance(header["id"], str)
    for line in lines:
        assert line.keys() == {"type", "message"} and line["type"] == "message"
        message = line["message"]
        assert message["role"] in ("user", "assistant", "system", "tool") and isinstance(message["content"], str)
        assert message.keys() <= {
            "role",
            "content",
            "reasoningContent",
            "toolCalls",
            "toolCallId",
            "timestamp",
            "model",
        }
        assert ("toolCallId" in message) == (message["role"] == "tool")
        assert isinstance(message.get("timestamp", 0), int)
        for call in message.get("toolCalls", ()):
            assert message["role"] == "assistant" and isinstance(call["id"], str)
            assert all(isinstance(call["function"][key], str) for key in ("name", "arguments"))


@DETERMINISTIC
@given(runs())
def test_any_trace(trace: Trace) -> None:
    session = to_session(trace)
    check(session)
    # The loader of `datasets` splits by all that Python takes for the end of a line.
    assert [json.loads(line) for line in session_file(trace).decode().splitlines()] == session


def test_ends_of_lines() -> None:
    trace = Trace(trace_id="t", steps=[step(0, "user", "a\n\r\x0b\x0c\x1c\x85\u2028\u2029\\u2028b")])
    [_, line] = session_file(trace).decode().splitlines()
    assert json.loads(line)["message"]["content"] == trace.steps[0].text()


def test_times_at_the_ends_of_the_calendar() -> None:
    times = ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59", "", "9" * 400]
    session = to_session(Trace(trace_id="t", steps=[step(i, "agent", started_at=at) for i, at in enumerate(times)]))
    assert ["timestamp" in line["message"] for line in session[1:]] == [True, True, False, False]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
def test_real_traces() -> None:
    count = 0
    for trace in read_traces([str(CORPUS)], choice=Choice(subagents=True, min_steps=0), outcome=Outcome()):
        session = to_session(trace)
        check(json.loads(json.dumps(session)))
        messages = [line["message"] for line in session[1:]]
        calls = [call for one in trace.steps for call in one.tool_calls]
        assert [call["id"] for one in messages for call in one.get("toolCalls", ())] == [one.call_id for one in calls]
        results = [one["toolCallId"] for one in messages if one["role"] == "tool"]
        assert results == [one.call_id for one in calls if one.result is not None]
        count += 1
    assert count == 39

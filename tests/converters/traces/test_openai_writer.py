"""Traces as OpenAI messages, and what is read back from them."""

import json
from typing import Any

import pytest

from potato_bridge.converters.traces.convert import Choice, Outcome, read_traces
from potato_bridge.converters.traces.openai_chat import READER
from potato_bridge.converters.traces.write.openai_messages import to_messages
from potato_bridge.model.trace import (
    Agent,
    Flags,
    ImageBlock,
    ReasoningBlock,
    Result,
    Step,
    TextBlock,
    ToolCall,
    Trace,
)
from tests.converters.traces.helpers import CORPUS, read_one


def step(kind: Any, text: str = "", calls: list[ToolCall] | None = None, **fields: Any) -> Step:
    blocks: list[Any] = [TextBlock(text=text)] if text else []
    flags = Flags(ratable=kind == "agent")
    return Step(
        step_id=text or kind, index=0, kind=kind, **{"blocks": blocks, "flags": flags, **fields}, tool_calls=calls or []
    )


def test_a_document() -> None:
    """Golden, by hand."""
    calls = [
        ToolCall(call_id="a", name="ls", arguments={"p": "ä"}, result=Result(text="x")),
        ToolCall(call_id="b", name="pwd", arguments_raw="{broken", result=None),
        ToolCall(call_id="c", name="cat", arguments={}, result=Result(text="", blocks=[ImageBlock(mime="image/png")])),
    ]
    looked = step("agent", "I look.", calls)
    looked.blocks.insert(0, ReasoningBlock(text="Hm."))
    trace = Trace(
        trace_id="t",
        agent=Agent(system_prompt="You are", tool_definitions=[{"type": "function"}]),
        steps=[
            step("user", "", blocks=[TextBlock(text="See"), ImageBlock(uri="data:image/png;base64,AA")]),
            step("agent", "shown", flags=Flags(demo=True)),
            looked,
            step("notice", "API error"),
            step("environment", observations=[Result(text="late")]),
            step("compaction", "All so far"),
            step("agent", "Done."),
        ],
    )
    assert to_messages(trace) == {
        "id": "t",
        "messages": [
            {"role": "system", "content": "You are"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "See"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
                ],
            },
            {"role": "assistant", "content": "shown"},
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "ls", "arguments": '{"p": "ä"}'}},
                    {"id": "b", "type": "function", "function": {"name": "pwd", "arguments": "{broken"}},
                    {"id": "c", "type": "function", "function": {"name": "cat", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "x"},
            {"role": "tool", "tool_call_id": "c", "content": "[image image/png]"},
            {"role": "user", "content": "late"},
            {"role": "user", "content": "All so far"},
            {"role": "assistant", "content": "Done."},
        ],
        "tools": [{"type": "function"}],
        "not_trained": [2],
        "without_result": ["b"],
    }


def said(trace: Trace) -> list[Any]:
    return [
        (
            one.text(),
            [(call.name, call.call_id, call.arguments, call.arguments_raw or None) for call in one.tool_calls],
            [call.result is None for call in one.tool_calls],
        )
        for one in trace.steps
        if one.kind == "agent"
    ]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
def test_real_traces_come_back() -> None:
    count = 0
    for trace in read_traces([str(CORPUS)], choice=Choice(subagents=True), outcome=Outcome()):
        if trace.source.format == "swebench_predictions":
            continue
        document = to_messages(trace)
        assert said(read_one(READER, json.dumps(document).encode())) == said(trace)
        count += 1
    assert count == 35

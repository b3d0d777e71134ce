"""Conversations of OpenHands' SDK: folders of events, and events one a line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.inputs import expand, file_source, folder_source
from potato_bridge.converters.traces.openhands_v1 import READER
from potato_bridge.converters.traces.reader import Report, is_one
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, lines, mutated, read_one, source_of
from tests.strategies import DETERMINISTIC


def event(number: int, kind: str, source: str = "agent", **fields: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "timestamp": f"2026-01-01T00:00:0{number}.5", "source": source, "kind": kind, **fields}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def action(number: int, call_id: str, response: str, **fields: Any) -> dict[str, Any]:
    called = {"id": call_id, "name": "terminal", "arguments": '{"command": "ls"}'}
    given = {"tool_name": "terminal", "tool_call_id": call_id, "tool_call": called, "llm_response_id": response}
    return event(number, "ActionEvent", **{**given, "thought": [], "action": {"kind": "T", "command": "ls"}, **fields})


def seen(number: int, call_id: str, said: str, **fields: Any) -> dict[str, Any]:
    observation = {"kind": "O", "content": [text(said)] if said else [], **fields}
    return event(number, "ObservationEvent", "environment", tool_call_id=call_id, observation=observation)


STATS = {
    "usage_to_metrics": {
        "default": {"model_name": "gpt", "accumulated_cost": 0.5, "accumulated_token_usage": {"prompt_tokens": 7}},
        "condenser": {"accumulated_cost": 0.25, "accumulated_token_usage": {"prompt_tokens": 1}},
    }
}
EVENTS = [
    event(0, "SystemPromptEvent", system_prompt=text("You are"), tools=[{"x": 1}]),
    event(1, "MessageEvent", "user", llm_message={"role": "user", "content": [text("Fix </script> it")]}),
    action(
        2,
        "c1",
        "r1",
        thought=[text("I look.")],
        reasoning_content="Hm.",
        thinking_blocks=[{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
        security_risk="LOW",
    ),
    action(3, "c2", "r1"),
    seen(4, "c2", "two", is_error=True, exit_code=1),
    seen(5, "c1", "", is_error=False, exit_code=0),
    event(6, "ConversationStateUpdateEvent", "environment", key="stats", value=STATS),
    action(7, "c3", "r2", action=None, tool_call=None),
    event(8, "UserRejectObservation", "user", tool_call_id="c3", rejection_reason="No"),
    event(9, "MessageEvent", llm_message={"role": "assistant", "content": [text("Done.")]}, llm_response_id="r3"),
]


def test_a_conversation() -> None:
    trace = read_one(READER, lines(EVENTS))
    assert [(step.kind, step.step_id, step.text()) for step in trace.steps] == [
        ("system", "e0", "You are"),
        ("user", "e1", "Fix </script> it"),
        ("agent", "r1", "I look."),
        ("agent", "r2", ""),
        ("agent", "r3", "Done."),
    ]
    first, second, last = trace.ratable()
    # The reasoning stands there twice, and is one.
    assert first.reasoning() == "Hm." and first.extra == {"security_risk": "LOW"}
    assert calls_of(first) == [("terminal", ""), ("terminal", "two")]
    results = [call.result for call in first.tool_calls]
    assert [(one.exit_code, one.is_error) for one in results if one] == [(0, False), (1, True)]
    assert {call.family for call in first.tool_calls} == {"shell"}
    rejected = second.tool_calls[0].result
    assert rejected is not None
    assert (rejected.text, rejected.is_error, rejected.error_kind) == ("No", True, "UserRejectObservation")
    assert second.tool_calls[0].arguments is None
    assert last.flags.terminal and first.clock == "naive" and first.started_at == "2026-01-01T00:00:02.5"
    # Each event has the sum so far.
    assert trace.usage is not None and (trace.usage.input, trace.usage.output) == (8, None)
    assert trace.cost_usd == 0.75 and trace.agent.model == "gpt" and trace.agent.tool_definitions == [{"x": 1}]
    counts = trace.source.records
    assert counts is not None and (counts.read, counts.mapped, counts.events) == (10, 9, 1)


@pytest.mark.parametrize("inner", ["", "events"])
def test_a_folder_is_one_conversation(tmp_path: Path, inner: str) -> None:
    (tmp_path / "run" / inner).mkdir(parents=True)
    for number, one in enumerate(EVENTS):
        (tmp_path / "run" / inner / f"event-{number:05}-x.json").write_text(json.dumps(one))
    (tmp_path / "run" / "base_state.json").write_text(json.dumps({"id": "conv", "agent": {"llm": {"model": "base"}}}))
    [source] = expand([str(tmp_path / "run")], is_one=is_one)
    trace = read_one(READER, source)
    assert trace.trace_id == "conv" and trace.agent.model == "base"
    assert [step.step_id for step in trace.steps] == [step.step_id for step in read_one(READER, lines(EVENTS)).steps]


def test_what_is_odd() -> None:
    rows = [*EVENTS, event(9, "NovelEvent"), event(9, "Condensation"), "x", {"id": 1}]
    trace = read_one(READER, lines(rows) + b"{cut")
    assert [(loss.code, loss.where) for loss in trace.source.losses[:3]] == [
        ("unknown-record", "NovelEvent"),
        ("unknown-record", "None"),
        ("bad-record", "line 15"),
    ]
    assert trace.source.records is not None and trace.source.records.events == 5


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_in_events_nothing_is_lost(data: st.DataObject) -> None:
    rows = mutated(data, EVENTS)
    for trace in READER.read(source_of(lines(rows)), Report()):
        check_counts(trace)
        assert trace.source.records is not None and trace.source.records.read == len(rows)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
class TestReal:
    def test_a_folder(self) -> None:
        """Golden, read by hand; counts by the raw events."""
        folder = CORPUS / "openhands_v1" / "confirmation_mode"
        events = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
        trace = read_one(READER, folder_source(folder))
        responses = {one["llm_response_id"] for one in events if "llm_response_id" in one}
        assert len(trace.ratable()) == len(responses) == 6
        calls = [call for step in trace.steps for call in step.tool_calls]
        assert len(calls) == sum(one["kind"] == "ActionEvent" for one in events) == 3
        assert [call.result and call.result.text for call in calls] == ["hello world"] * 3
        assert trace.task.text == "echo hello world"
        first, last = trace.ratable()[0], trace.ratable()[-1]
        assert first.reasoning() == "The user wants me to run a simple echo command."
        assert calls_of(first) == [("terminal", "hello world")]
        assert (last.text(), last.flags.terminal) == ("hello world", True)
        assert trace.source.records is not None and trace.source.records.read == len(events) == 13

    def test_events_one_a_line(self) -> None:
        path = CORPUS / "openhands_v1" / "goal_events.jsonl"
        events = [json.loads(line) for line in path.read_text().splitlines()]
        trace = read_one(READER, path)
        calls = [call for step in trace.steps for call in step.tool_calls]
        assert len(calls) == sum(one["kind"] == "ActionEvent" for one in events)
        loose = sum(len(step.observations) for step in trace.steps)
        results = sum(one["kind"] == "ObservationEvent" for one in events)
        assert loose + sum(call.result is not None for call in calls) == results
        assert trace.usage is not None and trace.usage.input == 107458
        assert trace.agent.model == "litellm_proxy/minimax-m2.7"

    def test_no_other_file_is_taken_for_one(self) -> None:
        others = [path for path in CORPUS.rglob("*") if path.is_file() and "openhands_v1" not in path.parts]
        others.append(CORPUS / "openhands_v1" / "llm_completion_log.json")
        assert [path.name for path in others if READER.score(file_source(path))] == []
        assert READER.score(folder_source(CORPUS / "claude_code")) == 0

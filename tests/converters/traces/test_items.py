"""Items of OpenAI's Responses API, and the stream of `codex exec`."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.codex_exec import READER as EXEC
from potato_bridge.converters.traces.inputs import file_source
from potato_bridge.converters.traces.openai_responses import READER as RESPONSES
from potato_bridge.converters.traces.reader import Report, detect
from potato_bridge.model.trace import Usage
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, lines, mutated, read, read_one, source_of
from tests.strategies import DETERMINISTIC

SENT: list[dict[str, Any]] = [
    {"role": "user", "content": "Fix </script> it"},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "g"},
    {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"},
    {"type": "function_call", "call_id": "b", "name": "pwd", "arguments": "{"},
    {"type": "function_call_output", "call_id": "b", "output": "/r"},
    {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "a.py"}]},
]
CAME: list[dict[str, Any]] = [
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "x"}},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
]
DOCUMENT = {
    "id": "resp",
    "model": "gpt",
    "instructions": "You are",
    "tools": [{"x": 1}],
    "input": SENT,
    "output": CAME,
    "usage": {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}},
}


@pytest.mark.parametrize("document", [DOCUMENT, [*SENT, *CAME]], ids=["document", "list"])
def test_items(document: Any) -> None:
    data = json.dumps(document).encode()
    assert detect(source_of(data)).name == "openai_responses"
    trace = read_one(RESPONSES, data)
    assert [(step.kind, step.text()) for step in trace.steps] == [
        ("user", "Fix </script> it"),
        ("agent", ""),
        ("agent", "Done."),
    ]
    first, last = trace.ratable()
    assert first.reasoning() == "Hm." and calls_of(first) == [("ls", "a.py"), ("pwd", "/r")]
    assert first.tool_calls[1].arguments_raw == "{"
    assert calls_of(last) == [("web_search", None)] and last.tool_calls[0].arguments == {"query": "x"}
    if document is DOCUMENT:
        assert last.usage is not None and (last.usage.input, last.usage.cache_read) == (9, 4)
        assert (trace.agent.model, trace.agent.system_prompt) == ("gpt", "You are")
        assert trace.trace_id.startswith("resp-")


def test_tokens_are_of_the_response_alone() -> None:
    usage = {"input_tokens": 9, "output_tokens": 10**400, "output_tokens_details": {"reasoning_tokens": 3}}
    trace = read_one(RESPONSES, json.dumps({**DOCUMENT, "usage": usage}).encode())
    first, last = trace.ratable()
    assert (first.step_id != "resp", first.usage, last.step_id) == (True, None, "resp")
    assert last.usage == Usage(input=9, reasoning=3)
    # The answer that was sent and the one that came are two responses, with nothing between them.
    sent = [SENT[0], CAME[1]]
    trace = read_one(RESPONSES, json.dumps({**DOCUMENT, "input": sent}).encode())
    assert [(step.text(), step.usage is None) for step in trace.ratable()] == [("Done.", True), ("Done.", False)]
    # Of several steps in one output nobody says which took how much.
    output = [SENT[2], SENT[5], *CAME]
    trace = read_one(RESPONSES, json.dumps({**DOCUMENT, "input": SENT[:1], "output": output, "usage": usage}).encode())
    assert [step.usage for step in trace.ratable()] == [None, None] and trace.usage == Usage(input=9, reasoning=3)


def test_what_a_program_says_for_the_user_and_what_a_model_refuses() -> None:
    wrapped = {"role": "user", "content": "<environment_context>\n/r\n</environment_context>"}
    no = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]}
    trace = read_one(RESPONSES, json.dumps({"input": [wrapped, SENT[0]], "output": [no]}).encode())
    assert [step.flags.meta for step in trace.steps] == [True, False, False]
    assert trace.task.text == "Fix </script> it"
    assert (trace.steps[2].text(), trace.steps[2].extra) == ("I will not.", {"refusal": True})


def test_a_question_that_is_a_text() -> None:
    trace = read_one(RESPONSES, json.dumps({"input": "Hi", "output": CAME[1:]}).encode())
    assert [step.text() for step in trace.steps] == ["Hi", "Done."] and trace.steps[1].flags.terminal


def test_rows_and_what_is_none() -> None:
    report = Report()
    assert len(list(RESPONSES.read(source_of(lines([DOCUMENT, {"x": 1}])), report))) == 1
    assert report.skipped == {"no items of a response": 1}
    for other in (
        [{"role": "user", "content": "x", "type": "message", "message": {}}],
        {"output": []},
        {"output": "x"},
    ):
        assert RESPONSES.score(source_of(json.dumps(other).encode())) == 0


def item(kind: str, number: int, **fields: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": f"i{number}", "type": kind, **fields}}


STREAM = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    item("reasoning", 0, text="Hm."),
    {"type": "item.started", "item": {"id": "i1", "type": "command_execution"}},
    item("command_execution", 1, command="ls", aggregated_output="a.py", exit_code=0, status="completed"),
    item("file_change", 2, changes=[{"path": "a.py", "kind": "update"}], status="failed"),
    item("mcp_tool_call", 3, server="s", tool="t", arguments={"a": 1}, result={"x": 1}, status="completed"),
    item("web_search", 4, query="q"),
    item("agent_message", 5, text="Done."),
    {"type": "turn.completed", "usage": {"input_tokens": 3, "cached_input_tokens": 1, "output_tokens": 2}},
]


def test_a_stream() -> None:
    assert detect(source_of(lines(STREAM))).name == "codex_exec"
    trace = read_one(EXEC, lines(STREAM))
    assert [calls_of(step) for step in trace.steps] == [
        [("shell", "a.py")],
        [("file_change", None)],
        [("mcp__s__t", '{"x": 1}')],
        [("web_search", None)],
        [],
    ]
    assert trace.steps[0].reasoning() == "Hm." and trace.steps[4].flags.terminal
    results = [step.tool_calls[0].result for step in trace.steps[:4]]
    # Of the search nothing is told, which is not that it went well.
    assert [one and one.is_error for one in results] == [False, True, False, None]
    [edit] = trace.steps[1].tool_calls[0].edits
    assert (edit.path, edit.op, edit.applied, edit.hunks) == ("a.py", "modify", False, [])
    assert trace.trace_id == "t" and trace.usage is not None and (trace.usage.input, trace.usage.output) == (3, 2)
    counts = trace.source.records
    assert counts is not None and (counts.mapped, counts.events, counts.skipped) == (7, 3, 0)


def test_two_threads_and_what_failed() -> None:
    failed = {"type": "turn.failed", "error": {"message": "no"}}
    first, second = read(EXEC, lines([*STREAM, {"type": "thread.started", "thread_id": "u"}, *STREAM[1:], failed]))
    assert (first.trace_id, second.trace_id, first.outcome) == ("t", "u", None)
    assert second.outcome is not None and second.outcome.exit_status == "turn.failed"


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_there_nothing_is_lost(data: st.DataObject) -> None:
    rows = mutated(data, STREAM)
    traces = list(EXEC.read(source_of(lines(rows)), Report()))
    assert sum(trace.source.records.read for trace in traces if trace.source.records) == len(rows)
    document = mutated(data, DOCUMENT)
    for trace in (*traces, *RESPONSES.read(source_of(lines([document])), Report())):
        check_counts(trace)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
def test_no_file_of_another_format_is_taken_for_one() -> None:
    for reader in (EXEC, RESPONSES):
        assert [one.name for one in CORPUS.rglob("*") if one.is_file() and reader.score(file_source(one))] == []

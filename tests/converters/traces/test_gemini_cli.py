"""Gemini CLI: whole sessions, the log that is no list, the stream, and raw histories."""

import codecs
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.gemini_cli import READER
from potato_bridge.converters.traces.reader import Report
from potato_bridge.model.trace import RedactedReasoningBlock, Trace, Usage
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, lines, mutated, read, read_one, source_of
from tests.strategies import DETERMINISTIC

HEAD = {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "kind": "main"}
DIFF = "Index: a.py\n====\n--- a.py\tOriginal\n+++ a.py\tWritten\n@@ -4,2 +4,2 @@\n x\n-old\n+new\n"


def at(name: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": "2026-01-01T00:00:01Z", "type": kind, "content": content, **more}


def called(name: str, tool: str, output: Any, status: str = "success", **more: Any) -> dict[str, Any]:
    result = [{"functionResponse": {"id": name, "name": tool, "response": output}}]
    return {"id": name, "name": tool, "args": {"file_path": "/w/a.py"}, "result": result, "status": status, **more}


def groups(trace: Trace) -> list[Any]:
    return [(step.kind, calls_of(step) or step.text()) for step in trace.steps]


EDIT = called("e", "replace", {"output": "done"}, resultDisplay={"fileDiff": DIFF, "fileName": "a.py"})
TOKENS = {"input": 10, "output": 2, "cached": 4, "thoughts": 3, "tool": 1, "total": 16}
SESSION: dict[str, Any] = HEAD | {
    "lastUpdated": "2026-01-01T00:01:00Z",
    "messages": [
        at("u", "user", "<b>Do</b>"),
        at(
            "g",
            "gemini",
            "I edit",
            model="gemini-x",
            tokens=TOKENS,
            thoughts=[{"subject": "Plan", "description": "Think", "timestamp": "t"}],
            toolCalls=[EDIT, called("f", "read_file", {"error": "no file"}, "error")],
        ),
        at("i", "info", "compressed"),
        at("h", "gemini", "Done"),
    ],
}
STREAM: list[dict[str, Any]] = [
    {"type": "init", "timestamp": "2026-01-01T00:00:00Z", "session_id": "s", "model": "gemini-x"},
    {"type": "message", "role": "user", "content": "Do"},
    {"type": "message", "role": "assistant", "content": "I ", "delta": True},
    {"type": "message", "role": "assistant", "content": "look", "delta": True},
    {"type": "tool_use", "tool_name": "ls", "tool_id": "a", "parameters": {"p": 1}},
    {"type": "tool_use", "tool_name": "cat", "tool_id": "b", "parameters": {}},
    {"type": "tool_result", "tool_id": "b", "status": "error", "error": {"type": "X", "message": "none"}},
    {"type": "tool_result", "tool_id": "a", "status": "success", "output": ""},
    {"type": "message", "role": "assistant", "content": "Done", "delta": True},
    {"type": "result", "status": "success", "stats": {"input_tokens": 9, "output_tokens": 2, "cached": 1}},
]
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "<session_context>x</session_context>"}]},
    {"role": "user", "parts": [{"text": "Do"}]},
    {
        "role": "model",
        "parts": [
            {"text": "Hm", "thought": True},
            {"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": "sig"},
            {"functionCall": {"name": "cat", "args": {}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "cat", "response": {"output": "C"}}},
            {"functionResponse": {"name": "ls", "response": {"output": "L"}}},
        ],
    },
    {"role": "model", "parts": [{"text": "Done"}]},
]


def test_a_whole_session() -> None:
    source = source_of(json.dumps(SESSION).encode())
    assert READER.score(source) == 90
    trace = read_one(READER, source)
    assert groups(trace) == [
        ("user", "<b>Do</b>"),
        ("agent", [("replace", "done"), ("read_file", "no file")]),
        ("notice", "compressed"),
        ("agent", "Done"),
    ]
    step = trace.steps[1]
    assert (step.step_id, step.model, step.reasoning(), step.started_at) == (
        "g",
        "gemini-x",
        "Plan\nThink",
        "2026-01-01T00:00:01Z",
    )
    assert step.usage == Usage(input=11, output=5, cache_read=4, reasoning=3)
    [edit] = step.tool_calls[0].edits
    assert (edit.path, edit.op, edit.applied, edit.origin) == ("/w/a.py", "modify", True, "fileDiff")
    assert (edit.hunks[0].old_start, edit.hunks[0].lines) == (4, [" x", "-old", "+new"])
    results = [call.result for call in step.tool_calls]
    assert [result and result.is_error for result in results] == [False, True]
    assert [step.flags.terminal for step in trace.steps] == [False, False, False, True]
    assert (trace.trace_id, trace.ended_at, trace.extra["kind"]) == ("s", "2026-01-01T00:01:00Z", "main")


def test_calls_that_were_not_run_have_no_result_and_cancelled_ones_failed() -> None:
    waits = {"id": "w", "name": "ls", "args": {}, "status": "awaiting_approval", "result": None}
    stopped = called("c", "ls", {"error": "stopped"}, "cancelled")
    shell = called("x", "run_shell_command", {"output": "Output: Exit Code: 9\nExit Code: 3\nProcess Group PGID: 7"})
    faked = called("y", "run_shell_command", {"output": "Exit Code: 9\nmore"})
    trace = read_one(READER, lines([HEAD, at("g", "gemini", "", toolCalls=[waits, stopped, shell, faked])]))
    first, *others = [call.result for call in trace.steps[0].tool_calls]
    assert first is None
    assert [(one.is_error, one.error_kind, one.exit_code) for one in others if one] == [
        (True, "cancelled", None),
        (True, None, 3),
        (False, None, None),
    ]


def test_the_log_keeps_the_first_place_and_the_last_content() -> None:
    rows = [
        HEAD,
        at("u", "user", [{"text": "Do"}]),
        at("g", "gemini", "", toolCalls=[{"id": "e", "name": "replace", "args": {}, "status": "executing"}]),
        at("v", "user", "Quick!"),
        {"$set": {"lastUpdated": "2026-01-01T00:00:09Z", "summary": "S", "messages": [at("n", "user", "copied")]}},
        at("g", "gemini", "Edited", toolCalls=[EDIT]),
    ]
    trace = read_one(READER, lines(rows))
    assert groups(trace) == [("user", "Do"), ("agent", [("replace", "done")]), ("user", "Quick!")]
    assert trace.extra["summary"] == "S" and trace.ended_at == "2026-01-01T00:00:09Z"
    counts = trace.source.records
    assert counts is not None and (counts.read, counts.mapped, counts.events, counts.skipped) == (6, 3, 2, 1)


def test_a_session_that_was_written_anew_has_its_messages_in_one_row() -> None:
    rows = [HEAD, {"$set": {"messages": [at("a", "user", "Do"), at("b", "gemini", "Yes")]}}]
    assert groups(read_one(READER, lines(rows))) == [("user", "Do"), ("agent", "Yes")]
    trace = read_one(READER, lines([*rows, at("c", "user", "More")]))
    assert groups(trace) == [("user", "Do"), ("agent", "Yes"), ("user", "More")]


def test_a_rewinding_takes_back_a_message_and_all_after_it() -> None:
    rows = [
        HEAD,
        at("u", "user", "Do"),
        at("g", "gemini", "One"),
        at("v", "user", "Wrong"),
        at("h", "gemini", "Two"),
        {"$rewindTo": "v"},
        at("w", "user", "Right"),
        {"$rewindTo": "nowhere"},
        {"$rewindTo": "v"},
    ]
    trace = read_one(READER, lines(rows))
    assert [step.text() for step in trace.steps] == ["Do", "One", "Right"]
    [branch] = trace.branches
    assert (branch.from_step_id, [step.text() for step in branch.steps]) == ("g", ["Wrong", "Two"])
    assert [(loss.code, loss.where) for loss in trace.source.losses] == [
        ("unknown-rewind", "nowhere"),
        ("unknown-rewind", "v"),
        ("rewound-steps", "g"),
    ]
    trace = read_one(READER, lines([*rows[:3], {"$rewindTo": "u"}]))
    assert trace.steps == [] and trace.branches[0].from_step_id == "u"


def test_what_was_typed_is_shown_and_what_the_program_added_is_not() -> None:
    user = at("u", "user", [{"text": "@a.py\n--- content"}], displayContent=[{"text": "@a.py"}])
    context = at("c", "user", [{"text": "<session_context>\nnow\n</session_context>"}])
    trace = read_one(READER, lines([HEAD, context, user, at("g", "gemini", "Ok")]))
    assert [step.flags.meta for step in trace.steps] == [True, False, False]
    assert trace.steps[1].text() == "@a.py" and trace.steps[1].extra["content"] == user["content"]
    assert trace.task.text == "@a.py"


def test_the_stream() -> None:
    source = source_of(lines(STREAM))
    assert READER.score(source) == 85
    trace = read_one(READER, source)
    assert groups(trace) == [("user", "Do"), ("agent", [("ls", ""), ("cat", "none")]), ("agent", "Done")]
    assert trace.steps[1].text() == "I look"
    results = [call.result for call in trace.steps[1].tool_calls]
    assert [(one.is_error, one.error_kind) for one in results if one] == [(False, None), (True, "X")]
    assert trace.usage == Usage(input=9, output=2, cache_read=1)
    assert trace.outcome is not None and (trace.outcome.exit_status, trace.outcome.resolved) == ("success", None)
    counts = trace.source.records
    assert counts is not None and (counts.read, counts.mapped, counts.events) == (10, 8, 2)
    both = read(READER, lines([*STREAM, *STREAM]))
    assert len({trace.trace_id for trace in both}) == 2
    cut = read_one(READER, lines(STREAM)[:-20])
    assert cut.source.records is not None and cut.source.records.bad == 1 and cut.usage is None


@pytest.mark.parametrize("document", [HISTORY, {"history": HISTORY, "authType": "x"}], ids=["bare", "checkpoint"])
def test_a_raw_history_pairs_by_name_and_order(document: Any) -> None:
    source = source_of(json.dumps(document).encode())
    assert READER.score(source) == 70
    trace = read_one(READER, source)
    assert [step.kind for step in trace.steps] == ["user", "user", "agent", "agent"]
    assert trace.steps[0].flags.meta and trace.task.text == "Do"
    step = trace.steps[2]
    assert calls_of(step) == [("ls", "L"), ("cat", "C")] and step.reasoning() == "Hm"
    assert RedactedReasoningBlock(data="sig", provider="google") in step.blocks
    assert step.tool_calls[0].result is not None and step.tool_calls[0].result.paired_by == "order"


def test_histories_of_one_file_have_ids_of_their_own() -> None:
    traces = read(READER, lines([{"history": HISTORY}, {"history": HISTORY}]))
    assert len({trace.trace_id for trace in traces}) == 2
    nameless = {"messages": SESSION["messages"]}
    for data in (json.dumps([nameless, nameless]).encode(), lines([nameless, nameless])):
        assert len({trace.trace_id for trace in read(READER, data)}) == 2


def test_an_unknown_record_is_kept() -> None:
    rows = [HEAD, at("u", "user", "Do"), {"type": "novel"}, 5, at("g", "gemini", "Ok")]
    trace = read_one(READER, lines(rows))
    assert trace.extra["events"] == [HEAD, {"type": "novel"}, 5]
    assert [(loss.code, loss.where) for loss in trace.source.losses] == [
        ("unknown-record", "novel"),
        ("unknown-record", "int"),
    ]


def test_any_encoding() -> None:
    text = json.dumps(SESSION)
    wanted = groups(read_one(READER, text.encode()))
    assert groups(read_one(READER, codecs.BOM_UTF8 + text.encode())) == wanted
    assert groups(read_one(READER, text.encode("utf-16"))) == wanted


@DETERMINISTIC
@given(st.data())
def test_no_value_stops_it(data: st.DataObject) -> None:
    log = [HEAD, *SESSION["messages"], {"$set": {"summary": "x"}}, {"$rewindTo": "g"}]
    rows = data.draw(st.sampled_from([log, STREAM, HISTORY, [SESSION], [{"history": HISTORY}]]))
    for packed in (lines(mutated(data, rows)), json.dumps(mutated(data, rows)).encode()):
        source = source_of(packed)
        READER.score(source)
        for trace in READER.read(source, Report()):
            check_counts(trace)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
def test_real_sessions() -> None:
    for path in sorted((CORPUS / "gemini_cli").iterdir()):
        text = path.read_text()
        rows = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
        if "messages" in rows[0]:
            rows = rows[0]["messages"]
        messages = [row for row in rows if "type" in row]
        trace = read_one(READER, path)
        assert trace.source.records is not None and trace.source.records.read == len(rows)
        assert [step.step_id for step in trace.steps] == [row["id"] for row in messages]
        calls = [(call, step) for step in trace.steps for call in step.tool_calls]
        raw = [call for row in messages for call in row.get("toolCalls", [])]
        assert [call.call_id for call, _ in calls] == [call["id"] for call in raw]
        for (call, _), value in zip(calls, raw, strict=True):
            [part] = value["result"]
            assert call.result is not None
            assert call.result.text == next(iter(part["functionResponse"]["response"].values()))
    session = read_one(READER, CORPUS / "gemini_cli" / "session-2025-10-27T19-55-981c87cb.json")
    assert (len(session.steps), len(session.ratable())) == (18, 15)
    assert session.steps[0].text().startswith("Can you make me an ai agent in python")
    assert session.steps[-1].text().startswith("I've updated `main.py`.") and session.steps[-1].flags.terminal
    pip = session.steps[11].tool_calls[0].result
    assert pip is not None and (pip.exit_code, pip.is_error) == (127, True)
    one = read_one(READER, CORPUS / "gemini_cli" / "agentcmd_tool-replace.json")
    assert one.steps[0].tool_calls[0].edits[0].hunks[0].lines == ["-Hello from Gemini CLI", "+Goodbye from Gemini CLI"]

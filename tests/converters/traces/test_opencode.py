"""OpenCode: exports, the storage of files, several responses in one message, and what was taken back."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.inputs import folder_source
from potato_bridge.converters.traces.opencode import READER
from potato_bridge.converters.traces.reader import Report
from potato_bridge.model.trace import Trace, Usage
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, mutated, read, read_one, source_of
from tests.strategies import DETERMINISTIC

DIFF = "Index: /w/a.py\n====\n--- /w/a.py\n+++ /w/a.py\n@@ -4,2 +4,2 @@\n x\n-old\n+new\n"


def tool(name: str, tool: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool", "callID": name, "tool": tool, "state": {"input": {"filePath": "/w/a.py"}, **state}}


def finish(reason: str, into: int, cost: float) -> dict[str, Any]:
    tokens = {"input": into, "output": 2, "reasoning": 1, "cache": {"read": 5, "write": 3}}
    return {"type": "step-finish", "reason": reason, "cost": cost, "tokens": tokens}


EDIT = tool(
    "e",
    "edit",
    status="completed",
    output="",
    title="a.py",
    time={"start": 1000, "end": 3000},
    metadata={"diff": DIFF, "filediff": {"file": "/w/a.py", "before": "B", "after": "A", "additions": 1}},
)
USER: dict[str, Any] = {
    "info": {"id": "msg_1", "role": "user", "time": {"created": 0}},
    "parts": [
        {"type": "text", "text": "<b>Do</b>"},
        {"type": "text", "text": "content of a file", "synthetic": True},
        {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AA", "filename": "a.png"},
    ],
}
ANSWER: dict[str, Any] = {
    "info": {
        "id": "msg_2",
        "role": "assistant",
        "modelID": "m",
        "providerID": "p",
        "cost": 0.75,
        "time": {"created": 1000, "completed": 9000},
        "tokens": {"input": 99, "output": 99, "reasoning": 0, "cache": {"read": 0, "write": 0}},
    },
    "parts": [
        {"type": "step-start"},
        {"type": "reasoning", "text": "Hm"},
        EDIT,
        tool("b", "bash", status="completed", output="no", metadata={"exit": 2}),
        tool("r", "read", status="error", error="not there"),
        tool("w", "read", status="running"),
        finish("tool-calls", 10, 0.5),
        {"type": "patch", "hash": "h", "files": ["/w/a.py"]},
        {"type": "step-start"},
        {"type": "text", "text": "Done"},
        finish("stop", 20, 0.25),
    ],
}
SESSION: dict[str, Any] = {
    "info": {"id": "ses_1", "version": "1.2", "directory": "/w", "time": {"created": 0, "updated": 9000}},
    "messages": [USER, ANSWER],
}


def made(*messages: Any, **info: Any) -> bytes:
    return json.dumps({"info": SESSION["info"] | info, "messages": list(messages)}).encode()


def groups(trace: Trace) -> list[Any]:
    return [(step.kind, calls_of(step) or step.text()) for step in trace.steps]


CALLS = [("edit", ""), ("bash", "no"), ("read", "not there"), ("read", None)]


def test_each_response_of_a_message_is_a_step() -> None:
    source = source_of(json.dumps(SESSION).encode())
    assert READER.score(source) == 90
    trace = read_one(READER, source)
    assert groups(trace) == [("user", "<b>Do</b>"), ("agent", CALLS), ("agent", "Done")]
    assert [step.step_id for step in trace.steps] == ["msg_1", "msg_2", "msg_2/1"]
    user, first, last = trace.steps
    assert user.extra["context"] == ["content of a file"] and len(user.blocks) == 2 and not user.flags.meta
    assert first.usage == Usage(input=18, output=3, cache_read=5, cache_write=3, reasoning=1)
    assert (first.stop_reason, last.stop_reason, first.reasoning(), first.model) == ("tool-calls", "stop", "Hm", "m")
    assert [part["type"] for part in first.extra["parts"]] == ["step-finish", "patch"]
    assert (trace.cost_usd, first.extra["cost_usd"], last.flags.terminal) == (0.75, 0.5, True)
    assert (trace.ended_at, last.ended_at) == ("1970-01-01T00:00:09.000Z", "1970-01-01T00:00:09.000Z")
    assert trace.extra["cwd"] == "/w" and trace.agent.version == "1.2"


def test_results_and_edits() -> None:
    trace = read_one(READER, made(ANSWER))
    edit, shell, failed, running = trace.steps[0].tool_calls
    assert running.result is None and edit.result and shell.result and failed.result
    assert [one.result and one.result.is_error for one in (edit, shell, failed)] == [False, True, True]
    assert (shell.result.exit_code, edit.result.duration_ms, edit.result.at) == (2, 2000.0, "1970-01-01T00:00:03.000Z")
    [change] = edit.edits
    assert (change.path, change.op, change.applied, change.hunks[0].new_start) == ("/w/a.py", "modify", True, 4)
    assert change.hunks[0].lines == [" x", "-old", "+new"]
    kept = edit.result.native["metadata"]["filediff"]
    assert kept == {"file": "/w/a.py", "additions": 1} and [loss.code for loss in trace.source.losses] == [
        "original-file"
    ]


def test_the_files_of_a_patch_and_arguments_without_a_diff() -> None:
    files = [
        {"filePath": "/w/n.py", "type": "add", "diff": "@@ -0,0 +1 @@\n+n\n"},
        {"filePath": "/w/o.py", "type": "move", "movePath": "/w/p.py", "diff": "@@ -1 +1 @@\n-o\n+p\n"},
    ]
    patch = tool("p", "apply_patch", status="completed", output="ok", metadata={"files": files})
    plain = tool("q", "edit", status="error", error="no")
    plain["state"]["input"] |= {"oldString": "a", "newString": "b"}
    trace = read_one(READER, made(ANSWER | {"parts": [patch, plain]}))
    calls = trace.steps[0].tool_calls
    assert [(e.op, e.old_path, e.path) for e in calls[0].edits] == [
        ("create", None, "/w/n.py"),
        ("rename", "/w/o.py", "/w/p.py"),
    ]
    assert [(e.path, e.applied, e.hunks[0].lines) for e in calls[1].edits] == [("/w/a.py", False, ["-a", "+b"])]


def test_what_never_came_has_no_tokens_and_is_not_rated() -> None:
    zeros = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    error = {"name": "APIError", "data": {"message": "overloaded"}}
    info = ANSWER["info"] | {"tokens": zeros, "error": error}
    [step] = read_one(READER, made({"info": info, "parts": []})).steps
    assert (step.kind, step.text(), step.usage, step.flags.api_error, step.flags.ratable) == (
        "notice",
        "overloaded",
        None,
        True,
        False,
    )


def test_a_summary_is_no_step_of_the_agent() -> None:
    asked = {"info": {"id": "msg_3", "role": "user"}, "parts": [{"type": "compaction", "auto": True}]}
    said = {
        "info": {"id": "msg_4", "role": "assistant", "summary": True},
        "parts": [{"type": "text", "text": "So far"}],
    }
    trace = read_one(READER, made(USER, ANSWER, asked, said))
    assert [step.kind for step in trace.steps[3:]] == ["user", "compaction"] and trace.steps[3].flags.meta
    [compaction] = trace.compactions
    assert (compaction.trigger, compaction.before_step_id, compaction.summary_step_id) == ("auto", "msg_3", "msg_4")
    assert len(trace.ratable()) == 2


def test_what_the_user_took_back_is_a_branch() -> None:
    again = deepcopy(USER)
    again["info"]["id"] = "msg_5"
    trace = read_one(READER, made(USER, ANSWER, again, revert={"messageID": "msg_5"}))
    assert len(trace.steps) == 3 and trace.branches[0].from_step_id == "msg_2/1"
    assert [step.step_id for step in trace.branches[0].steps] == ["msg_5"]


def test_unknown_messages_and_parts_are_kept() -> None:
    odd = {"info": {"id": "x", "role": "novel"}, "parts": []}
    trace = read_one(READER, made(ANSWER | {"parts": [{"type": "novel"}, 5]}, odd, 7))
    assert trace.steps[0].extra["parts"] == [{"type": "novel"}] and trace.extra["events"] == [odd, 7]
    assert [(loss.code, loss.where) for loss in trace.source.losses] == [
        ("unknown-record", "part"),
        ("unknown-record", "part of novel"),
        ("unknown-record", "message of novel"),
        ("unknown-record", "message"),
    ]


def test_two_of_one_file_have_ids_of_their_own() -> None:
    document = json.dumps({"messages": [USER, ANSWER]})
    traces = read(READER, f"{document}\n{document}\n".encode())
    assert len({trace.trace_id for trace in traces}) == 2


def test_the_storage_is_read_as_the_export(tmp_path: Path) -> None:
    def write(name: str, value: Any) -> None:
        path = tmp_path / "storage" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))

    write("session/project/ses_1.json", SESSION["info"])
    for message in SESSION["messages"]:
        name = message["info"]["id"]
        write(f"message/ses_1/{name}.json", message["info"])
        for number, part in enumerate(message["parts"]):
            write(f"part/{name}/prt_{number:03}.json", part)
    source = folder_source(tmp_path)
    assert READER.score(source) == 90
    trace = read_one(READER, source)
    assert groups(trace) == groups(read_one(READER, json.dumps(SESSION).encode()))
    assert trace.extra["cwd"] == "/w" and trace.trace_id == "ses_1"
    (tmp_path / "storage" / "part" / "msg_2" / "prt_009.json").write_text("{")
    trace = read_one(READER, folder_source(tmp_path))
    assert trace.source.records is not None and trace.source.records.bad == 1


@DETERMINISTIC
@given(st.data())
def test_no_value_stops_it(data: st.DataObject) -> None:
    source = source_of(json.dumps(mutated(data, SESSION | {"info": SESSION["info"] | {"revert": {}}})).encode())
    READER.score(source)
    for trace in READER.read(source, Report()):
        check_counts(trace)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
def test_a_real_export() -> None:
    path = CORPUS / "opencode" / "letta_tool-calls.json"
    messages = json.loads(path.read_text())["messages"]
    trace = read_one(READER, path)
    assert [step.step_id for step in trace.steps] == [message["info"]["id"] for message in messages]
    parts = [part for message in messages for part in message["parts"] if part["type"] == "tool"]
    assert [call for step in trace.steps for call in calls_of(step)] == [
        (part["tool"], part["state"]["output"]) for part in parts
    ]
    assert trace.steps[0].text() == "Inspect the project notes."
    assert trace.steps[1].text() == "I found the project plan." and trace.steps[1].usage is None
    assert trace.source.records is not None and trace.source.records.read == len(messages)

"""pi: lines of version 1, trees since version 2, what pi shows of edits, and what was paid."""

import codecs
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.pi import READER, shown_hunks
from potato_bridge.converters.traces.reader import Report
from potato_bridge.model.trace import ReasoningBlock, RedactedReasoningBlock, Trace, Usage
from tests.converters.traces.helpers import calls_of, check_counts, lines, mutated, read, read_one, source_of
from tests.strategies import DETERMINISTIC

HEAD: dict[str, Any] = {
    "type": "session",
    "version": 3,
    "id": "0198-uuid",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "cwd": "/w",
}
DIFF = "     ...\n  9 kept\n-10 old\n+10 new\n+11 more\n 11 after\n     ...\n-40 gone"


def entry(name: str, parent: str | None, kind: str = "message", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": name, "parentId": parent, "timestamp": "2026-01-01T00:00:09.000Z", **fields}


def user(name: str, parent: str | None, text: str) -> dict[str, Any]:
    return entry(name, parent, message={"role": "user", "content": text, "timestamp": 1000})


def says(name: str, parent: str | None, *content: Any, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]
    usage = {"input": 10, "output": 2, "cacheRead": 5, "cacheWrite": 3, "totalTokens": 20, "cost": {"total": 0.25}}
    message = {"role": "assistant", "content": blocks, "model": "m", "provider": "p", "usage": usage, "timestamp": 2000}
    return entry(name, parent, message=message | {"stopReason": "stop"} | more)


def call(name: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": name, "name": tool, "arguments": arguments}


def came(name: str, parent: str, call_id: str, text: str, error: bool = False, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"role": "toolResult", "toolCallId": call_id, "content": content, "isError": error, **more}
    return entry(name, parent, message=message)


THOUGHT = {"type": "thinking", "thinking": "Hm", "thinkingSignature": "sig"}
TREE: list[dict[str, Any]] = [
    HEAD,
    entry("m", None, "model_change", provider="p", modelId="m"),
    entry("t", "m", "thinking_level_change", thinkingLevel="high"),
    user("a", "t", "<b>Do</b>"),
    says(
        "b", "a", THOUGHT, call("e", "edit", path="a.py", oldText="old", newText="new"), call("x", "bash", command="x")
    ),
    came("c", "b", "x", "no\n\nCommand exited with code 3", True, toolName="bash"),
    came("d", "c", "e", "done", toolName="edit", details={"diff": DIFF, "firstChangedLine": 10}),
    says("f", "d", "Done"),
]


def groups(trace: Trace) -> list[Any]:
    return [calls_of(step) or step.text() for step in trace.steps]


def test_a_session_that_never_went_back() -> None:
    source = source_of(lines(TREE))
    assert READER.score(source) == 90
    trace = read_one(READER, source)
    assert groups(trace) == ["<b>Do</b>", [("edit", "done"), ("bash", "no\n\nCommand exited with code 3")], "Done"]
    step = trace.steps[1]
    assert step.blocks[0] == ReasoningBlock(text="Hm", signature="sig")
    assert (step.step_id, step.model, step.effort, step.stop_reason) == ("b", "m", "high", "stop")
    assert (step.started_at, step.ended_at) == ("1970-01-01T00:00:02.000Z", "2026-01-01T00:00:09.000Z")
    assert step.usage == Usage(input=18, output=2, cache_read=5, cache_write=3)
    results = [one.result for one in step.tool_calls]
    assert [(one.is_error, one.exit_code, one.paired_by) for one in results if one] == [
        (False, None, "id"),
        (True, 3, "id"),
    ]
    [edit] = step.tool_calls[0].edits
    assert (edit.path, edit.applied) == ("a.py", True)
    places = [(hunk.old_start, hunk.old_len, hunk.new_start, hunk.new_len) for hunk in edit.hunks]
    assert places == [(9, 3, 9, 4), (40, 1, None, 0)]
    assert edit.hunks[0].lines == [" kept", "-old", "+new", "+more", " after"]
    assert (trace.trace_id, trace.cost_usd, trace.extra["cwd"]) == ("0198-uuid", 0.5, "/w")
    assert trace.source.format_version == "3" and [step.flags.terminal for step in trace.steps] == [False, False, True]
    counts = trace.source.records
    assert counts is not None and (counts.read, counts.mapped, counts.events) == (8, 5, 3)


def test_the_way_to_the_last_entry_is_the_session() -> None:
    rows = [
        *TREE,
        user("g", "f", "More"),
        says("h", "g", "Wrong"),
        # It goes back before `g`, then once more, within what is left.
        entry("s", "f", "branch_summary", fromId="h", summary="It was wrong"),
        user("i", "s", "Other"),
        says("j", "i", "Left too"),
        user("k", "s", "Right"),
        says("l", "k", "Good"),
    ]
    trace = read_one(READER, lines(rows))
    assert groups(trace)[2:] == ["Done", "It was wrong", "Right", "Good"]
    assert [step.kind for step in trace.steps[2:]] == ["agent", "notice", "user", "agent"]
    assert [(branch.from_step_id, [step.text() for step in branch.steps]) for branch in trace.branches] == [
        ("f", ["More", "Wrong"]),
        ("s", ["Other", "Left too"]),
    ]
    assert [loss.code for loss in trace.source.losses] == ["rewound-steps", "rewound-steps"]
    # What was left was paid for too.
    assert trace.cost_usd == 1.25 and trace.usage is not None and trace.usage.output == 10


def test_a_label_or_another_root_moves_the_end_too() -> None:
    rows = [HEAD, user("a", None, "One"), says("b", "a", "Yes"), user("c", None, "Two"), says("d", "c", "No")]
    trace = read_one(READER, lines(rows))
    assert groups(trace) == ["Two", "No"] and [step.text() for step in trace.branches[0].steps] == ["One", "Yes"]
    trace = read_one(READER, lines([*rows, entry("e", "b", "label", targetId="b", label="good")]))
    assert groups(trace) == ["One", "Yes"]


def test_a_parent_that_is_not_there_is_the_entry_before() -> None:
    data = lines([HEAD, user("a", None, "Do"), says("b", "a", "One")]) + b"{broken\n" + lines([says("d", "c", "Two")])
    trace = read_one(READER, data)
    assert groups(trace) == ["Do", "One", "Two"] and trace.branches == []
    assert [(loss.code, loss.where) for loss in trace.source.losses] == [
        ("bad-record", "line 4"),
        ("unknown-parent", "c"),
    ]


def test_version_1_is_a_line() -> None:
    head = {key: value for key, value in HEAD.items() if key != "version"} | {"modelId": "m", "thinkingLevel": "low"}
    rows = [head, *TREE[3:]]
    plain = [{key: value for key, value in row.items() if key not in ("id", "parentId")} for row in rows[1:]]
    short = {"type": "compaction", "timestamp": "x", "summary": "So far", "tokensBefore": 9, "firstKeptEntryIndex": 2}
    trace = read_one(READER, lines([head, *plain, short]))
    assert groups(trace)[0] == "<b>Do</b>" and groups(trace)[2:] == ["Done", "So far"]
    assert (trace.steps[1].effort, trace.source.format_version, trace.agent.model) == ("low", "1", "m")
    [compaction] = trace.compactions
    assert (compaction.pre_tokens, compaction.before_step_id) == (9, trace.steps[2].step_id)
    assert trace.steps[3].kind == "compaction" and not trace.steps[3].flags.ratable


def test_what_extensions_and_the_shell_put_in_is_not_the_user_s() -> None:
    shell = {"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 1, "truncated": True}
    rows = [
        HEAD,
        entry("a", None, "custom_message", customType="x", content="Mind", display=True),
        entry(
            "b", "a", message={"role": "hookMessage", "customType": "y", "content": [{"type": "text", "text": "Hook"}]}
        ),
        entry("c", "b", message=shell),
        entry("d", "c", "custom", customType="x", data=1),
        user("e", "d", "Do"),
        entry("f", "e", "novel"),
        entry("g", "f", message={"role": "novel"}),
    ]
    trace = read_one(READER, lines(rows))
    assert groups(trace) == ["Mind", "Hook", "ls", "Do"]
    assert [step.flags.meta for step in trace.steps] == [True, True, True, False] and trace.task.text == "Do"
    [seen] = trace.steps[2].observations
    assert (seen.text, seen.exit_code, seen.is_error, seen.truncated) == ("a.py", 1, True, True)
    assert trace.extra["events"] == [HEAD, rows[4], rows[6], rows[7]]
    assert [(loss.code, loss.where) for loss in trace.source.losses] == [
        ("unknown-record", "novel"),
        ("unknown-record", "message of an unknown role"),
    ]


def test_an_answer_that_never_came_is_not_rated() -> None:
    zeros = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0}}
    rows = [
        HEAD,
        user("a", None, "Do"),
        says("b", "a", stopReason="error", errorMessage="overloaded", usage=zeros),
        says("c", "b", "Half", stopReason="aborted"),
        says("d", "c", {"type": "thinking", "thinking": "", "thinkingSignature": "s", "redacted": True}, "End"),
    ]
    trace = read_one(READER, lines(rows))
    failed, half, last = trace.steps[1:]
    assert (failed.kind, failed.usage, failed.flags.api_error, failed.text()) == ("notice", None, True, "overloaded")
    assert (half.kind, half.flags.aborted) == ("agent", True)
    assert last.blocks[0] == RedactedReasoningBlock(data="s", provider="p")


def test_a_patch_is_better_than_what_is_shown() -> None:
    patch = "--- a.py\n+++ a.py\n@@ -4 +4 @@\n-a\n+b\n"
    rows = [
        HEAD,
        says("a", None, call("e", "edit", path="a.py")),
        came("b", "a", "e", "ok", details={"diff": "-4 a", "patch": patch}),
    ]
    [edit] = read_one(READER, lines(rows)).steps[0].tool_calls[0].edits
    assert (edit.hunks[0].old_start, edit.hunks[0].lines) == (4, ["-a", "+b"])


@pytest.mark.parametrize("diff", ["(diff omitted)", "-4 a\nwords", "", "..."])
def test_what_is_no_diff_gives_no_hunks(diff: str) -> None:
    assert shown_hunks(diff) == []


def test_results_before_and_without_their_calls() -> None:
    rows = [HEAD, came("a", "x", "e", "early"), says("b", "a", call("e", "read")), came("c", "b", "z", "lost")]
    trace = read_one(READER, lines(rows))
    assert groups(trace) == [[("read", "early")], ""]
    assert trace.steps[1].kind == "environment" and trace.steps[1].observations[0].text == "lost"


def test_two_sessions_and_any_encoding() -> None:
    text = lines(TREE).decode()
    assert len(read(READER, lines([*TREE, HEAD | {"id": "other"}, user("a", None, "Hi")]))) == 2
    assert groups(read_one(READER, codecs.BOM_UTF8 + text.encode())) == groups(read_one(READER, lines(TREE)))
    assert groups(read_one(READER, text.encode("utf-16"))) == groups(read_one(READER, lines(TREE)))
    cut = read_one(READER, lines(TREE)[:-9])
    assert cut.source.records is not None and cut.source.records.bad == 1


@DETERMINISTIC
@given(st.data())
def test_no_value_stops_it(data: st.DataObject) -> None:
    rows = [*TREE, entry("s", "a", "compaction", summary="x", tokensBefore=1), user("z", "s", "Hi")]
    source = source_of(lines(mutated(data, rows)))
    READER.score(source)
    for trace in READER.read(source, Report()):
        check_counts(trace)

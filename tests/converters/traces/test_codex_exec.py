"""The stream of `codex exec --json`: when calls start, what it counts, and how it ends."""

import codecs
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.codex_exec import READER
from potato_bridge.converters.traces.reader import Report
from potato_bridge.model.trace import Trace
from tests.converters.traces.helpers import calls_of, check_counts, lines, mutated, read, read_one, source_of
from tests.strategies import DETERMINISTIC

BEGIN: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]


def of(when: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{when}", "item": {"id": name, "type": kind, **fields}}


def starts(name: str) -> dict[str, Any]:
    return of(
        "started",
        "command_execution",
        name,
        command=name,
        aggregated_output="",
        exit_code=None,
        status="in_progress",
    )


def ends(name: str, output: str = "out", code: int | None = 0, status: str = "completed") -> dict[str, Any]:
    fields = {"aggregated_output": output, "exit_code": code, "status": status}
    return of("completed", "command_execution", name, command=name, **fields)


def says(text: str) -> dict[str, Any]:
    return of("completed", "agent_message", f"m-{text}", text=text)


def used(into: int, out: int) -> dict[str, Any]:
    return {
        "type": "turn.completed",
        "usage": {"input_tokens": into, "cached_input_tokens": 0, "output_tokens": out},
    }


def groups(trace: Trace) -> list[Any]:
    return [calls_of(step) or step.text() for step in trace.steps]


def test_calls_that_run_at_once_are_one_step() -> None:
    rows = [*BEGIN, starts("a"), starts("b"), ends("b", "B"), ends("a", "A"), starts("c"), ends("c", "", 2, "failed")]
    trace = read_one(READER, lines([*rows, says("<b>Done</b>"), used(5, 1)]))
    assert groups(trace) == [[("shell", "A"), ("shell", "B")], [("shell", "")], "<b>Done</b>"]
    assert [call.call_id for call in trace.steps[0].tool_calls] == ["a", "b"]
    failed = trace.steps[1].tool_calls[0].result
    assert failed is not None and (failed.exit_code, failed.is_error, failed.paired_by) == (2, True, "id")
    assert [step.flags.terminal for step in trace.steps] == [False, False, True]
    assert trace.steps[0].refs[0].line == 3
    counts = trace.source.records
    assert counts is not None and (counts.mapped, counts.events, counts.skipped) == (7, 3, 0)


@pytest.mark.parametrize("rest", [[], [ends("a", "", None, "in_progress"), used(1, 1)]], ids=["cut off", "given up"])
def test_a_call_that_never_ended_has_no_result(rest: list[dict[str, Any]]) -> None:
    trace = read_one(READER, lines([*BEGIN, starts("a"), *rest]))
    assert groups(trace) == [[("shell", None)]] and trace.steps[0].tool_calls[0].result is None
    assert trace.steps[0].tool_calls[0].arguments == {"command": "a"}


def test_an_empty_output_is_an_output() -> None:
    assert groups(read_one(READER, lines([*BEGIN, ends("a", "")]))) == [[("shell", "")]]


def test_tokens_are_those_of_the_thread_so_far() -> None:
    rows = [*BEGIN, says("a"), used(10, 1), BEGIN[1], says("b"), used(25, 3)]
    usage = read_one(READER, lines(rows)).usage
    assert usage is not None and (usage.input, usage.output, usage.reasoning) == (25, 3, None)
    # It is resumed by another process, which counts anew, and is the same thread.
    [trace] = read(READER, lines([*rows, *BEGIN, says("c"), used(4, 4)]))
    check_counts(trace)
    assert trace.usage is not None and (trace.usage.input, trace.usage.output) == (29, 4)
    assert groups(trace) == ["a", "b", "c"]
    assert read_one(READER, lines([*BEGIN, says("a"), {"type": "turn.completed", "usage": None}])).usage is None


def test_a_plan_is_a_call_each_time_that_it_changes() -> None:
    todo, done = [{"text": "x", "completed": False}], [{"text": "x", "completed": True}]
    rows = [
        *BEGIN,
        of("started", "todo_list", "p", items=todo),
        starts("a"),
        ends("a"),
        of("updated", "todo_list", "p", items=done),
        says("Done"),
        of("completed", "todo_list", "p", items=done),
        used(1, 1),
    ]
    trace = read_one(READER, lines(rows))
    assert groups(trace) == [[("update_plan", None)], [("shell", "out")], [("update_plan", None)], "Done"]
    plans = [trace.steps[at].tool_calls[0] for at in (0, 2)]
    assert [(call.family, call.arguments) for call in plans] == [("plan", {"items": todo}), ("plan", {"items": done})]
    assert trace.steps[-1].flags.terminal and trace.source.records is not None and trace.source.records.skipped == 1
    # The one id is the plan's, and no mistake of the source.
    assert [loss.code for loss in trace.source.losses] == ["skipped-record"]


def test_what_is_no_call_is_none() -> None:
    rows = [
        *BEGIN,
        of("completed", "error", "e", message="a warning"),
        {"type": "item.plan.delta", "item_id": "p", "delta": "Fi"},
        of("completed", "plan", "p", text="First"),
        of("completed", "novel", "n", x=1),
        {"type": "request_user_input", "id": "q", "questions": []},
        {"type": "novel.row"},
    ]
    trace = read_one(READER, lines(rows))
    assert groups(trace) == ["First"]
    unknown = [loss.where for loss in trace.source.losses if loss.code == "unknown-record"]
    assert unknown == ["item of novel", "novel.row"]
    assert [row.get("item", row).get("type") for row in trace.extra["events"][2:]] == [
        "error",
        "novel",
        "request_user_input",
        "novel.row",
    ]


def test_how_a_run_ended() -> None:
    lost = {"type": "error", "message": "Reconnecting... 1/5"}
    failed = {"type": "turn.failed", "error": {"message": "no"}}

    def ended(*rows: dict[str, Any]) -> tuple[Any, bool]:
        trace = read_one(READER, lines([*BEGIN, *rows]))
        return trace.outcome and (trace.outcome.exit_status, trace.outcome.raw), trace.steps[-1].flags.terminal

    assert ended(lost, says("a"), used(1, 1)) == (None, True)
    assert ended(says("a"), lost) == (("error", "Reconnecting... 1/5"), False)
    assert ended(says("a"), lost, failed) == (("turn.failed", {"message": "no"}), False)
    assert ended(says("a"), failed, BEGIN[1], says("b"), used(1, 1)) == (None, True)


def test_what_servers_and_other_agents_gave_back() -> None:
    def served(name: str, status: str = "completed", **came: Any) -> dict[str, Any]:
        return of("completed", "mcp_tool_call", name, server="s", tool="t", arguments={"a": 1}, status=status, **came)

    text, image = {"type": "text", "text": "hi"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    rows = [
        *BEGIN,
        served("a", result={"content": [text, text], "structured_content": {"n": 1}}),
        served("b", result={"content": [text, image], "structured_content": None}),
        served("c", result={"content": [], "structured_content": {"n": 1}}),
        served("d", "failed", result=None, error={"message": "no"}),
        of(
            "completed",
            "collab_tool_call",
            "e",
            tool="spawn_agent",
            prompt="Go",
            agents_states={"u": {"status": "running"}},
            status="completed",
        ),
    ]
    trace = read_one(READER, lines(rows))
    assert [calls_of(step) for step in trace.steps] == [
        [("mcp__s__t", "hi\nhi")],
        [("mcp__s__t", "hi")],
        [("mcp__s__t", '{"n": 1}')],
        [("mcp__s__t", "no")],
        [("spawn_agent", '{"u": {"status": "running"}}')],
    ]
    results = [step.tool_calls[0].result for step in trace.steps]
    assert [one and one.is_error for one in results] == [False, False, False, True, False]
    assert results[0] is not None and results[0].native["structured_content"] == {"n": 1}
    assert results[1] is not None and [type(block).__name__ for block in results[1].blocks] == [
        "TextBlock",
        "ImageBlock",
    ]
    assert [step.tool_calls[0].family for step in trace.steps] == [*["mcp"] * 4, "agent"]
    assert trace.steps[4].tool_calls[0].arguments == {"prompt": "Go"}


def test_files_that_were_changed_and_what_in_them() -> None:
    changes = [
        {"path": "a", "kind": "update", "diff": "@@ -1 +1 @@\n-x\n+y\n"},
        {"path": "n", "kind": "add", "diff": "one\n"},
        {"path": "d", "kind": "delete"},
        {"path": None, "kind": "add"},
        "odd",
    ]
    rows = [
        *BEGIN,
        of("started", "file_change", "f", changes=changes, status="in_progress"),
        of("completed", "file_change", "f", changes=changes, status="completed"),
    ]
    [step] = read_one(READER, lines(rows)).steps
    [call] = step.tool_calls
    assert [(edit.path, edit.op, edit.applied, [hunk.lines for hunk in edit.hunks]) for edit in call.edits] == [
        ("a", "modify", True, [["-x", "+y"]]),
        ("n", "create", True, [["+one"]]),
        ("d", "delete", True, []),
    ]


def test_ids_that_come_again_and_rows_that_come_twice() -> None:
    rows = [*BEGIN, starts("a"), ends("a", "A"), BEGIN[1], starts("a"), ends("a", "B"), ends("a", "B")]
    trace = read_one(READER, lines(rows))
    assert groups(trace) == [[("shell", "A")], [("shell", "B")], [("shell", "B")]]
    assert [loss.count for loss in trace.source.losses if loss.code == "reused-call-id"] == [2]


@pytest.mark.parametrize(
    "encode",
    [
        lambda data: codecs.BOM_UTF8 + data,
        lambda data: codecs.BOM_UTF16_LE + data.decode().encode("utf-16-le"),
        lambda data: b"[" + data.strip().replace(b"\n", b",") + b"]",
    ],
    ids=["mark", "utf-16", "array"],
)
def test_other_encodings_and_an_array(encode: Any) -> None:
    source = source_of(encode(lines([*BEGIN, says("é"), used(1, 1)])))
    assert READER.score(source) == 95 and groups(read_one(READER, source)) == ["é"]


def test_one_cut_off_at_its_end() -> None:
    trace = read_one(READER, lines([*BEGIN, says("a")]) + b'{"type": "item.comp')
    assert groups(trace) == ["a"] and trace.source.records is not None and trace.source.records.bad == 1


def test_the_score() -> None:
    def score(*rows: Any) -> int:
        return READER.score(source_of(lines(rows)))

    assert score(*BEGIN) == 80 and score(*BEGIN, starts("a")) == 95
    assert score(BEGIN[1], says("a")) == 95
    # A turn alone, an item alone, a thread without a name: of anybody.
    assert [score(*rows) for rows in ([BEGIN[1]] * 2, [says("a")] * 2, [{"type": "thread.started"}] * 2)] == [0, 0, 0]
    assert score({"type": []}, {"type": {}}) == 0


ALL = [
    *BEGIN,
    starts("a"),
    of("started", "todo_list", "p", items=[{"text": "x", "completed": False}]),
    ends("a"),
    of("completed", "file_change", "f", changes=[{"path": "a", "kind": "update", "diff": "@@ -1 +1 @@\n-x"}]),
    of("completed", "mcp_tool_call", "m", server="s", tool="t", arguments={}, result={"content": [{"text": "x"}]}),
    of("updated", "todo_list", "p", items=[{"text": "x", "completed": True}]),
    says("Done"),
    of("completed", "todo_list", "p", items=[{"text": "x", "completed": True}]),
    used(3, 2),
]


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_there_nothing_is_lost(data: st.DataObject) -> None:
    rows = mutated(data, ALL)
    source = source_of(lines(rows))
    READER.score(source)
    traces = list(READER.read(source, Report()))
    for trace in traces:
        check_counts(trace)
    assert sum(trace.source.records.read for trace in traces if trace.source.records) == len(rows)

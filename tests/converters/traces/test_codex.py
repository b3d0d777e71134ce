"""Codex's rollouts, made by hand and real ones."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.codex import READER
from potato_bridge.converters.traces.inputs import file_source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.model.trace import ImageBlock, RedactedReasoningBlock
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, lines, mutated, read_one, source_of
from tests.strategies import DETERMINISTIC

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"


def row(kind: str, at: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-01-01T00:00:{at:02}.000Z", "type": kind, "payload": payload}


def item(kind: str, at: int, **fields: Any) -> dict[str, Any]:
    return row("response_item", at, **{"type": kind, **fields})


def said(role: str, text: str, at: int) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", at, role=role, content=[{"type": part, "text": text}])


def event(kind: str, at: int, **fields: Any) -> dict[str, Any]:
    return row("event_msg", at, **{"type": kind, **fields})


def tokens(at: int, last: int, total: int) -> dict[str, Any]:
    info = {"last_token_usage": {"input_tokens": last, "cached_input_tokens": 1}, "total_token_usage": {"n": total}}
    return event("token_count", at, info=info)


META = row(
    "session_meta",
    0,
    id="sess",
    cwd="/repo",
    cli_version="0.142.0",
    instructions="Be good",
    git={"commit_hash": "abc", "branch": "main", "repository_url": "u"},
)
ROLLOUT = [
    META,
    said("user", "<environment_context>\n</environment_context>", 0),
    event("user_message", 1, message="Fix it"),
    said("user", "Fix </script> it", 1),
    row("turn_context", 1, model="gpt", effort="high"),
    item("reasoning", 2, summary=[{"type": "summary_text", "text": "Hm."}], encrypted_content="gAAA"),
    said("assistant", "I look.", 2),
    item("function_call", 3, name="exec_command", arguments='{"cmd": "ls"}', call_id="c1"),
    item("function_call", 3, name="exec_command", arguments="{broken", call_id="c2"),
    event("exec_command_end", 4, call_id="c1", exit_code=2, stdout="a", stderr="e", duration={"secs": 1, "nanos": 5e5}),
    item("function_call_output", 4, call_id="c2", output="Process exited with code 0\nOutput:\nok"),
    item("function_call_output", 4, call_id="c1", output="a"),
    tokens(5, 10, 1),
    tokens(5, 10, 1),
    item("custom_tool_call", 6, name="apply_patch", input=PATCH, call_id="c3"),
    item("custom_tool_call_output", 7, call_id="c3", output='{"output": "Done", "metadata": {"exit_code": 0}}'),
    said("assistant", "Done.", 8),
    tokens(9, 20, 2),
]


def test_a_rollout() -> None:
    trace = read_one(READER, lines(ROLLOUT))
    assert [(step.kind, step.text(), step.flags.meta) for step in trace.steps] == [
        ("user", "<environment_context>\n</environment_context>", True),
        ("user", "Fix </script> it", False),
        ("agent", "I look.", False),
        ("agent", "", False),
        ("agent", "Done.", False),
    ]
    first, second, last = trace.ratable()
    assert first.reasoning() == "Hm." and isinstance(first.blocks[1], RedactedReasoningBlock)
    assert [(call.arguments, call.arguments_raw) for call in first.tool_calls] == [
        ({"cmd": "ls"}, None),
        (None, "{broken"),
    ]
    one, two = (call.result for call in first.tool_calls)
    assert one is not None and (one.text, one.exit_code, one.is_error, one.stderr) == ("a", 2, True, "e")
    assert two is not None and (two.exit_code, two.is_error) == (0, False)
    [patch] = second.tool_calls
    [edit] = patch.edits
    assert (edit.path, edit.applied, edit.hunks[0].lines) == ("a.py", True, ["-x", "+y"])
    assert patch.result is not None and patch.result.text == "Done"
    assert last.flags.terminal and not second.flags.terminal
    # Counted once, and given to the call that they were counted for.
    assert [step.usage and step.usage.input for step in trace.ratable()] == [10, None, 20]
    assert (first.model, first.effort, trace.agent.model) == ("gpt", "high", "gpt")
    assert (trace.trace_id, trace.agent.version, trace.agent.system_prompt) == ("sess", "0.142.0", "Be good")
    assert (trace.task.text, trace.task.repo, trace.task.base_commit) == ("Fix </script> it", "u", "abc")
    counts = trace.source.records
    assert counts is not None
    assert (counts.read, counts.mapped, counts.events, counts.skipped) == (len(ROLLOUT), 14, 3, 1)


def test_tokens_that_come_with_the_next_call_are_that_call_s() -> None:
    rows = [
        META,
        said("user", "Fix it", 0),
        tokens(2, 10, 1),
        item("reasoning", 2, summary=[]),
        item("function_call", 2, name="shell", arguments="{}", call_id="a"),
        item("function_call_output", 3, call_id="a", output="x"),
        tokens(4, 20, 2),
        said("assistant", "Done.", 4),
    ]
    trace = read_one(READER, lines(rows))
    assert [step.usage and step.usage.input for step in trace.ratable()] == [10, 20]


@pytest.mark.parametrize(
    "call",
    [
        item("function_call", 1, name="shell", call_id="c", arguments=json.dumps({"command": ["apply_patch", PATCH]})),
        item(
            "function_call",
            1,
            name="shell",
            call_id="c",
            arguments=json.dumps({"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"]}),
        ),
        item(
            "function_call",
            1,
            name="exec_command",
            call_id="c",
            arguments=json.dumps({"cmd": f"apply_patch '{PATCH}'"}),
        ),
        item("function_call", 1, name="apply_patch", call_id="c", arguments=json.dumps({"input": PATCH})),
        item("custom_tool_call", 1, name="apply_patch", call_id="c", input=PATCH),
        item("local_shell_call", 1, call_id="c", action={"type": "exec", "command": ["apply_patch", PATCH]}),
    ],
    ids=["argv", "heredoc", "exec_command", "function", "custom", "local_shell"],
)
def test_a_patch_in_all_its_disguises(call: dict[str, Any]) -> None:
    [made] = read_one(READER, lines([META, call])).steps[0].tool_calls
    assert [(edit.path, edit.op, edit.hunks[0].lines) for edit in made.edits] == [("a.py", "modify", ["-x", "+y"])]
    assert made.family == "edit" and made.edits[0].applied is None


def test_what_was_applied_has_line_numbers() -> None:
    changes = {
        "/r/a.py": {"type": "update", "unified_diff": "@@ -3 +3,2 @@ def f\n-x\n+y\n+z\n", "move_path": None},
        "/r/n.py": {"type": "add", "content": "one\n"},
        "/r/d.py": {"type": "delete", "content": "gone"},
        "/r/m.py": {"type": "update", "unified_diff": "", "move_path": "/r/k.py"},
    }
    rows = [
        META,
        item("custom_tool_call", 1, name="apply_patch", input=PATCH, call_id="c"),
        event("patch_apply_end", 2, call_id="c", success=True, changes=changes),
    ]
    edits = read_one(READER, lines(rows)).steps[0].tool_calls[0].edits
    assert [(edit.path, edit.op, edit.old_path, edit.applied) for edit in edits] == [
        ("/r/a.py", "modify", None, True),
        ("/r/n.py", "create", None, True),
        ("/r/d.py", "delete", None, True),
        ("/r/k.py", "rename", "/r/m.py", True),
    ]
    [hunk] = edits[0].hunks
    assert (hunk.old_start, hunk.old_len, hunk.new_start, hunk.new_len, hunk.section) == (3, 1, 3, 2, "def f")
    assert [edit.hunks[0].lines for edit in edits[:3]] == [["-x", "+y", "+z"], ["+one"], ["-gone"]]


def test_the_oldest_form() -> None:
    rows = [
        {"id": "old", "timestamp": "2025-06-01T00:00:00Z", "instructions": None, "git": {"branch": "b"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c"},
        {"record_type": "state"},
        {"type": "function_call_output", "call_id": "c", "output": '{"output": "x", "metadata": {"exit_code": 1}}'},
    ]
    source = source_of(lines(rows))
    assert READER.score(source) == 90
    trace = read_one(READER, source)
    assert (trace.trace_id, [step.kind for step in trace.steps]) == ("old", ["user", "agent"])
    assert calls_of(trace.steps[1]) == [("shell", "x")] and trace.steps[1].clock == "none"
    counts = trace.source.records
    assert counts is not None and (counts.mapped, counts.events, counts.skipped) == (3, 1, 2)


def test_a_compaction_an_abort_and_what_is_unknown() -> None:
    rows = [
        *ROLLOUT,
        row("compacted", 10, message="All so far", replacement_history=[{"type": "message"}]),
        said("assistant", "On.", 11),
        event("turn_aborted", 12, reason="interrupted"),
        row("novel", 13),
        item("novel_item", 13),
        "text",
    ]
    trace = read_one(READER, lines(rows) + b'{"cut')
    assert [step.kind for step in trace.steps[-2:]] == ["compaction", "agent"]
    assert trace.steps[-1].flags.aborted and trace.steps[-2].text() == "All so far"
    assert trace.compactions[0].summary_step_id == trace.steps[-2].step_id
    losses = {(loss.code, loss.where) for loss in trace.source.losses}
    assert losses >= {("unknown-record", "novel"), ("unknown-record", "novel_item"), ("unknown-record", "str")}
    assert trace.source.records is not None and trace.source.records.bad == 1


def test_a_code_counts_only_in_the_head_that_codex_writes() -> None:
    def code(output: str) -> int | None:
        call = item("function_call", 1, name="exec_command", arguments="{}", call_id="c")
        rows = [META, call, item("function_call_output", 2, call_id="c", output=output)]
        result = read_one(READER, lines(rows)).steps[0].tool_calls[0].result
        assert result is not None and result.text == output
        assert result.is_error is (None if result.exit_code is None else result.exit_code != 0)
        return result.exit_code

    assert code("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nx") == 2
    assert code("Exit code: -1\nWall time: 0 seconds\nTotal output lines: 9\nOutput:\nExit code: 5\n") == -1
    # It runs on; what it wrote so far says something else.
    assert code("Chunk ID: a\nProcess running with session ID 5\nOutput:\nExit code: 3\nOutput:\n") is None
    assert code("# README\nExit code: 7\n") is None and code("Exit code: 7\n") is None
    assert code(f"Exit code: {'9' * 60}\nOutput:\n") is None


@pytest.mark.parametrize(
    ("output", "ended"),
    [
        ('{"output": "x", "metadata": {"duration_seconds": HUGE}}', {}),
        ("x", {"duration": {"secs": "HUGE", "nanos": 0}}),
    ],
)
def test_numbers_that_nothing_holds(output: str, ended: dict[str, Any]) -> None:
    huge = "9" * 400
    rows = [
        META,
        item("custom_tool_call", 1, name="apply_patch", input=PATCH, call_id="c"),
        event("exec_command_end", 2, call_id="c", **ended),
        item("custom_tool_call_output", 2, call_id="c", output=output.replace("HUGE", huge)),
        event("patch_apply_end", 3, call_id="c", changes={"a.py": {"unified_diff": f"@@ -{huge * 20} +1 @@\n-x\n"}}),
    ]
    trace = read_one(READER, lines(rows).replace(b'"HUGE"', huge.encode()))
    [call] = trace.steps[0].tool_calls
    assert call.result is not None and (call.result.text, call.result.duration_ms) == ("x", None)


def test_a_hunk_keeps_lines_that_look_like_names_of_files() -> None:
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- old comment\n+++ i;\n \n"
    rows = [
        META,
        item("custom_tool_call", 1, name="apply_patch", input=PATCH, call_id="c"),
        event("patch_apply_end", 2, call_id="c", success=True, changes={"a": {"type": "update", "unified_diff": diff}}),
    ]
    [edit] = read_one(READER, lines(rows)).steps[0].tool_calls[0].edits
    assert [hunk.lines for hunk in edit.hunks] == [["--- old comment", "+++ i;", " "]]


def test_several_patches_in_one_command_and_lines_that_end_in_crlf() -> None:
    both = f"apply_patch <<'A'\n{PATCH}\nA\napply_patch <<'A'\n{PATCH.replace('a.py', 'b.py')}\nA"
    for command, paths in (
        (["bash", "-lc", both], ["a.py", "b.py"]),
        (["apply_patch", PATCH.replace("\n", "\r\n")], ["a.py"]),
    ):
        call = item("function_call", 1, name="shell", call_id="c", arguments=json.dumps({"command": command}))
        [made] = read_one(READER, lines([META, call])).steps[0].tool_calls
        assert [(edit.path, edit.hunks[0].lines) for edit in made.edits] == [(path, ["-x", "+y"]) for path in paths]


def test_a_patch_that_failed_changed_nothing() -> None:
    call = item("custom_tool_call", 1, name="apply_patch", input=PATCH, call_id="c")
    out = item("custom_tool_call_output", 3, call_id="c", output="It did not work")
    ended = event("patch_apply_end", 2, call_id="c", success=False, stdout="", stderr="no", changes={})
    unfit = item("custom_tool_call_output", 3, call_id="c", output="apply_patch verification failed: no such line")
    for rows in ([call, ended, out], [call, out, ended], [call, unfit]):
        [made] = read_one(READER, lines([META, *rows])).steps[0].tool_calls
        assert made.result is not None and made.result.is_error is True
        assert made.result.stderr == ("no" if ended in rows else None)
    assert made.edits[0].applied is False
    [untold] = read_one(READER, lines([META, call, out])).steps[0].tool_calls
    assert untold.result is not None and untold.result.is_error is None and untold.edits[0].applied is None


def test_tools_of_servers_and_those_of_codex() -> None:
    def end(call_id: str, result: Any) -> dict[str, Any]:
        return event("mcp_tool_call_end", 2, call_id=call_id, duration={"secs": 1, "nanos": 500_000_000}, result=result)

    rows = [
        META,
        *(
            item("function_call", 1, name=name, arguments="{}", call_id=name, **more)
            for name, more in (("s__a", {}), ("s__b", {}), ("s__c", {}), ("get", {"namespace": "mcp__s__"}))
        ),
        item("function_call", 1, name="write_stdin", namespace="own", arguments="{}", call_id="w"),
        end("s__a", {"Ok": {"content": [], "isError": False}}),
        end("s__b", {"Ok": {"content": [], "isError": True}}),
        end("s__c", {"Err": "no"}),
        *(item("function_call_output", 3, call_id=f"s__{name}", output="x") for name in "abc"),
    ]
    [step] = read_one(READER, lines(rows)).steps
    assert [(call.name, call.family) for call in step.tool_calls] == [
        *((f"s__{name}", "mcp") for name in "abc"),
        ("mcp__s__get", "mcp"),
        ("write_stdin", "shell"),
    ]
    results = [call.result for call in step.tool_calls]
    assert [one and (one.is_error, one.duration_ms) for one in results[:3]] == [
        (False, 1500),
        (True, 1500),
        (True, 1500),
    ]
    assert results[3:] == [None, None] and step.extra == {"namespaces": {"write_stdin": "own"}}


def test_what_ended_without_an_output_and_what_has_no_call() -> None:
    rows = [
        META,
        item("function_call", 1, name="exec_command", arguments="{}", call_id="c"),
        event("exec_command_end", 2, call_id="c", exit_code=1, stdout="a", aggregated_output="ab"),
        event("exec_command_end", 3, call_id="own", exit_code=0, stdout="the user's"),
    ]
    trace = read_one(READER, lines(rows))
    result = trace.steps[0].tool_calls[0].result
    assert result is not None and (result.text, result.exit_code, result.is_error) == ("ab", 1, True)
    # A command of the user's own.
    assert trace.extra["events"][-1] == rows[-1]


def test_an_image_that_the_model_makes() -> None:
    picture = "iVBORw0KGgo" + "A" * 300
    rows = [META, item("image_generation_call", 1, id="i", revised_prompt="cat", result=picture)]
    [step] = read_one(READER, lines(rows)).steps
    assert isinstance(step.blocks[1], ImageBlock) and step.blocks[1].uri == f"data:image/png;base64,{picture}"
    assert step.tool_calls[0].result is None


def test_tokens_of_a_call_that_left_nothing_and_totals_alone() -> None:
    trace = read_one(READER, lines([META, said("assistant", "a", 1), tokens(2, 10, 1), tokens(3, 20, 2)]))
    assert [step.usage and step.usage.input for step in trace.steps] == [10]
    assert trace.usage is not None and trace.usage.input == 30
    assert "usage-without-step" in {loss.code for loss in trace.source.losses}

    def total(at: int, count: int) -> dict[str, Any]:
        return event("token_count", at, info={"total_token_usage": {"input_tokens": count}})

    rows = [META]
    for at, count in ((1, 5), (3, 15), (5, 4)):
        # The last one has begun to count anew.
        rows += [said("user", "u", at), said("assistant", "a", at), total(at + 1, count)]
    trace = read_one(READER, lines(rows))
    assert [step.usage and step.usage.input for step in trace.ratable()] == [5, 10, 4]
    assert trace.usage is not None and (trace.usage.input, trace.usage.output) == (19, None)


def test_how_a_run_ended() -> None:
    ask, answer = said("user", "u", 1), said("assistant", "a", 2)
    done, stopped = event("task_complete", 3, last_agent_message="a"), event("turn_aborted", 3, reason="interrupted")
    failed = event("error", 3, message="no")

    def ended(*rows: dict[str, Any]) -> tuple[Any, Any, bool, bool]:
        trace = read_one(READER, lines([META, *rows]))
        last, outcome = trace.ratable()[-1], trace.outcome
        assert outcome is None or outcome.resolved is None
        return (
            outcome and outcome.exit_status,
            outcome and outcome.raw,
            last.flags.terminal,
            last.flags.aborted,
        )

    assert ended(ask, answer) == (None, None, True, False)
    assert ended(ask, answer, done) == ("task_complete", None, True, False)
    assert ended(ask, answer, failed, done) == ("error", "no", False, False)
    # The note for the model stands between the step and the event.
    assert ended(ask, answer, said("user", "<turn_aborted>", 3), stopped) == (
        "turn_aborted",
        "interrupted",
        False,
        True,
    )
    # A turn that goes on, or its like in versions that do not tell when one starts.
    assert ended(ask, answer, stopped, event("task_started", 4), said("assistant", "b", 5)) == (None, None, True, False)
    assert ended(ask, answer, failed, said("user", "on", 4), said("assistant", "b", 5)) == (None, None, True, False)
    # Nothing of the agent's was stopped.
    trace = read_one(READER, lines([META, ask, stopped]))
    assert not trace.steps[0].flags.aborted


def test_a_fork_says_what_it_was_forked_from() -> None:
    first = row("session_meta", 0, id="fork", forked_from_id="sess", parent_thread_id=3)
    trace = read_one(READER, lines([first, META, META, said("user", "u", 1)]))
    assert (trace.trace_id, trace.extra["forked_from_id"]) == ("fork", "sess") and "parent_thread_id" not in trace.extra
    assert [(loss.where, loss.count) for loss in trace.source.losses if loss.code == "another-session"] == [("sess", 2)]


def test_a_message_of_nobody() -> None:
    [step] = read_one(READER, lines([META, item("message", 1, content="x")])).steps
    assert (step.kind, step.role, step.text()) == ("system", None, "x")


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_in_a_rollout_nothing_is_lost(data: st.DataObject) -> None:
    rows = mutated(data, ROLLOUT)
    for trace in READER.read(source_of(lines(rows)), Report()):
        check_counts(trace)
        assert trace.source.records is not None and trace.source.records.read == len(rows)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
class TestReal:
    @pytest.mark.parametrize("path", sorted(CORPUS.glob("codex/*.jsonl")), ids=lambda path: path.name[:18])
    def test_counts(self, path: Path) -> None:
        rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        items = [one["payload"] for one in rows if one["type"] == "response_item"]
        kinds = Counter(one["type"] for one in items)
        calls = sum(count for kind, count in kinds.items() if kind.endswith("_call"))
        # A step begins where an item of the model follows something else.
        of_model = [
            one["type"].endswith("_call") or one["type"] == "reasoning" or one.get("role") == "assistant"
            for one in items
            if one["type"] not in ("agent_message", "ghost_snapshot")
        ]
        assert READER.score(file_source(path)) == 95
        trace = read_one(READER, path)
        found = [call for step in trace.steps for call in step.tool_calls]
        assert trace.source.records is not None and trace.source.records.read == len(rows)
        assert len(found) == calls
        loose = sum(len(step.observations) for step in trace.steps)
        outputs = sum(count for kind, count in kinds.items() if kind.endswith("_output"))
        assert loose + sum(call.result is not None for call in found) == outputs
        if "agent-sessions" not in path.name:
            # The other file is no session, but one record of each kind.
            starts = sum(this and not before for before, this in zip([False, *of_model], of_model, strict=False))
            assert len(trace.ratable()) == starts

    def test_steps_read_by_hand(self) -> None:
        trace = read_one(READER, CORPUS / "codex" / "openagents_rollout.sample.jsonl")
        first, last = trace.ratable()[0], trace.ratable()[-1]
        assert (first.text(), first.reasoning()) == (
            "Inspecting the directory.",
            "I'll inspect the working directory and read the README to summarize the repo.",
        )
        assert first.tool_calls[0].arguments == {"cmd": "pwd && ls", "workdir": "/Users/example/work"}
        result = first.tool_calls[0].result
        assert result is not None and (result.exit_code, result.is_error) == (0, False)
        assert trace.task.text == "List the files in the repo root and tell me what's there."
        assert last.flags.terminal and trace.agent.version == "0.142.0"
        long = read_one(READER, CORPUS / "codex" / "rollout-2025-09-24T20-12-23.jsonl")
        assert long.ratable()[0].reasoning() == "**Analyzing dashboard query necessity**"
        assert all(step.usage is not None for step in long.ratable())
        assert long.ratable()[0].usage is not None and long.ratable()[0].usage.input == 3587

    def test_no_other_file_is_taken_for_one(self) -> None:
        others = [path for path in CORPUS.rglob("*") if path.is_file() and "codex" not in path.parts]
        assert [path.name for path in others if READER.score(file_source(path))] == []

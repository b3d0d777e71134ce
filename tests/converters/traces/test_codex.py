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
from potato_bridge.model.trace import RedactedReasoningBlock
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

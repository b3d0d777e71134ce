"""Traces as Potato items, and what of them is read back."""

from pathlib import Path
from typing import Any

import pytest

from potato_bridge.converters.potato.text import step_text
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.converters.traces.claude_code import READER
from potato_bridge.converters.traces.write.potato import to_item
from potato_bridge.model import Item, Trace
from potato_bridge.model.trace import (
    Agent,
    Edit,
    Flags,
    Hunk,
    ImageBlock,
    Patch,
    ReasoningBlock,
    Result,
    Step,
    Task,
    TextBlock,
    ToolCall,
    TraceSource,
)
from potato_bridge.notices import Notices
from tests.converters.potato.helpers import make_project
from tests.converters.traces.helpers import CORPUS, read


def agent(step_id: str, text: str = "", calls: list[ToolCall] | None = None, **flags: bool) -> Step:
    return Step(
        step_id=step_id,
        index=0,
        blocks=[TextBlock(text=text)] if text else [],
        tool_calls=calls or [],
        flags=Flags(**({"ratable": True} | flags)),
    )


def call(name: str, family: Any, arguments: dict[str, Any] | None, **fields: Any) -> ToolCall:
    return ToolCall(call_id=f"c-{name}", name=name, family=family, arguments=arguments, **fields)


def trace_of(*steps: Step) -> Trace:
    for index, step in enumerate(steps):
        step.index = index
    return Trace(
        trace_id="t1",
        source=TraceSource(format="made", uri="made.jsonl"),
        task=Task(text="Fix it", id="repo-1", repo="a/b"),
        agent=Agent(name="A", model="m"),
        steps=list(steps),
    )


def turns(*steps: Step) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = to_item(trace_of(*steps))["structured_turns"]
    return found


def test_an_item() -> None:
    """Golden, by hand."""
    user = Step(step_id="u", index=0, kind="user", blocks=[TextBlock(text="Fix it")])
    thought = agent("a", "I look.", [call("bash", "shell", {"command": "ls"}, result=Result(text="x", exit_code=0))])
    thought.blocks.insert(0, ReasoningBlock(text="Hm."))
    trace = trace_of(
        user,
        Step(step_id="s", index=0, kind="system", blocks=[TextBlock(text="You are")]),
        agent("d", "shown before", demo=True, ratable=False),
        thought,
        agent("z", "Done."),
    )
    trace.final_patch = Patch(text="diff")
    assert to_item(trace) == {
        "id": "t1",
        "task_description": "Fix it",
        "agent_name": "A",
        "agent_model": "m",
        "instance_id": "repo-1",
        "repo": "a/b",
        "structured_turns": [
            {"role": "user", "content": "Fix it", "tool_calls": []},
            {
                "role": "assistant",
                "content": "Hm.\n\nI look.",
                "tool_calls": [
                    {
                        "tool": "Bash",
                        "input": {"command": "ls"},
                        "call_id": "c-bash",
                        "output_type": "terminal",
                        "native": {"name": "bash", "arguments": {"command": "ls"}},
                        "output": "x",
                        "exit_code": 0,
                    }
                ],
            },
            {"role": "assistant", "content": "Done.", "tool_calls": []},
        ],
        "final_patch": "diff",
        "bridge": {
            "schema": 1,
            "format": "made",
            "uri": "made.jsonl",
            "turns": [
                {"step_id": "u", "ratable": False},
                {"step_id": "a", "ratable": True},
                {"step_id": "z", "ratable": True},
            ],
            "left_out": {"system": 1, "demo": 1},
        },
    }


@pytest.mark.parametrize(
    ("made", "tool", "given"),
    [
        (call("shell", "shell", {"command": ["bash", "-lc", "ls a"]}), "Bash", {"command": "ls a"}),
        (call("shell", "shell", {"command": ["ls", "a b"]}), "Bash", {"command": "ls 'a b'"}),
        (call("exec_command", "shell", {"cmd": "ls"}), "Bash", {"command": "ls"}),
        (call("view", "read", {"path": "a.py", "limit": 3}), "Read", {"file_path": "a.py"}),
        (call("Glob", "search", {"pattern": "*.py"}), "Glob", {"pattern": "*.py"}),
        (call("search_files", "search", {"regex": "x", "path": "src"}), "Grep", {"pattern": "x", "path": "src"}),
        (call("mcp__x", "mcp", {"a": 1}), "mcp__x", {"a": 1}),
        (call("broken", "other", None, arguments_raw="{a"), "broken", "{a"),
    ],
)
def test_tools_have_the_names_that_potato_draws(made: ToolCall, tool: str, given: Any) -> None:
    [turn] = turns(agent("a", calls=[made]))
    [entry] = turn["tool_calls"]
    assert (entry["tool"], entry["input"]) == (tool, given)
    # What the agent wrote is there, too, where it is something else.
    same = made.name == tool and made.arguments == given
    assert ("native" in entry) is not same


def test_an_edit_for_each_hunk_without_the_context() -> None:
    edit = Edit(
        path="a.py",
        op="modify",
        hunks=[
            Hunk(lines=[" keep", "-old", "+new", " keep"], old_start=3, new_start=3),
            Hunk(lines=[" a", "+added", " b", "-gone", "\\ No newline at end of file"]),
        ],
    )
    patch = call("apply_patch", "edit", {"input": "…"}, edits=[edit], result=Result(text="ok", is_error=False))
    [turn] = turns(agent("a", calls=[patch]))
    first, second = turn["tool_calls"]
    assert first["input"] == {"file_path": "a.py", "old_string": "old", "new_string": "new"}
    assert second["input"] == {"file_path": "a.py", "old_string": "b\ngone", "new_string": "added\nb"}
    assert (first["output"], first["is_error"], "part" in first) == ("ok", False, False)
    assert (second["part"], "output" in second, "native" in second) == (1, False, False)


def test_other_edits() -> None:
    edits = [
        Edit(path="n.py", op="create", hunks=[Hunk(lines=["+x", "+y", "\\ No newline at end of file"])]),
        Edit(path="d.py", op="delete"),
        Edit(path="b.py", old_path="a.py", op="rename"),
    ]
    [turn] = turns(agent("a", calls=[call("apply_patch", "edit", {}, edits=edits)]))
    assert [(entry["tool"], entry["input"]) for entry in turn["tool_calls"]] == [
        ("Write", {"file_path": "n.py", "content": "x\ny"}),
        ("Delete", {"file_path": "d.py"}),
        ("Rename", {"file_path": "a.py", "new_path": "b.py"}),
    ]


def test_unknown_is_not_empty() -> None:
    made = [call("a", "other", {}), call("b", "other", {}, result=Result(text=""))]
    [turn] = turns(agent("a", calls=made))
    assert ["output" in entry for entry in turn["tool_calls"]] == [False, True]
    plain = to_item(trace_of(agent("a", calls=made[:1]), agent("b", calls=made[1:])), "steps")["steps"]
    assert plain == [
        {"thought": "", "action": "a {}"},
        {"thought": "", "action": "b {}", "observation": ""},
    ]


def test_pictures_and_loose_observations() -> None:
    seen = Result(
        text="got", blocks=[TextBlock(text="got"), ImageBlock(uri="data:image/png;base64,AA", mime="image/png")]
    )
    lost = Step(step_id="e", index=0, kind="environment", observations=[Result(text="late")])
    first, second = turns(agent("a", calls=[call("shot", "other", {}, result=seen)]), lost)
    assert first["tool_calls"][0]["output"] == "got\n[image image/png]"
    assert (second["role"], second["content"]) == ("tool", "late")


def back(trace: Trace) -> Trace:
    """The trace that a project reads in the item."""
    project = make_project(
        Path("/project"), steps_key="structured_turns", display="coding_trace", text_key="task_description"
    )
    return to_trace(Item(id=trace.trace_id, data=to_item(trace), file="items.jsonl"), project, Notices())


def kept(trace: Trace) -> list[Any]:
    """What docs/convert.md says that an item keeps of the steps that are shown."""
    shown = [
        step
        for step in trace.steps
        if step.kind not in ("system", "compaction", "notice")
        and not (step.flags.meta or step.flags.demo or step.flags.copied_context)
    ]
    return [
        (
            step.flags.ratable,
            [
                (one.name, one.call_id, one.arguments, one.arguments_raw, one.edits, one.child_trace_id)
                for one in step.tool_calls
            ],
            [
                one.result and (_without_images(one.result.text), one.result.is_error, one.result.exit_code)
                for one in step.tool_calls
            ],
        )
        for step in shown
    ]


def _without_images(text: str | None) -> str:
    """An item names the images of a result in its text."""
    return (text or "").partition("\n[image ")[0]


def check_round_trip(trace: Trace) -> None:
    found = back(trace)
    assert kept(found) == [
        (rated, [(*one[:5], None) for one in calls], results) for rated, calls, results in kept(trace)
    ]
    assert (found.trace_id, found.task.text) == (trace.trace_id, trace.task.text or "")
    assert found.agent.model == trace.agent.model
    assert (found.final_patch and found.final_patch.text) == (trace.final_patch and trace.final_patch.text)


def test_what_the_agent_wrote_comes_back_and_trains() -> None:
    edit = Edit(path="a.py", op="modify", hunks=[Hunk(lines=["-a", "+b"], old_start=1), Hunk(lines=["+c"])])
    step = agent(
        "a",
        "I patch.",
        [
            call("apply_patch", "edit", {"input": "*** Begin Patch"}, edits=[edit], result=Result(text="ok")),
            call("broken", "other", None, arguments_raw="{a", result=Result(text="", is_error=True)),
            call("exec", "shell", {"cmd": ["ls"]}),
        ],
    )
    trace = trace_of(step, agent("b", "Done.", terminal=True))
    trace.final_patch = Patch(text="diff --git a/a b/a\n")
    check_round_trip(trace)
    text = step_text(back(trace).steps[0], None)
    assert text == 'I patch.\napply_patch {"input": "*** Begin Patch"}\nbroken {a\nexec {"cmd": ["ls"]}'


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
@pytest.mark.parametrize("path", sorted(CORPUS.glob("claude_code/**/*.jsonl")), ids=lambda path: path.stem[:24])
def test_real_traces_come_back(path: Path) -> None:
    for trace in read(READER, path):
        check_round_trip(trace)

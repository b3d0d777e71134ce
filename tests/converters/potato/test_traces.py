"""Items to traces: shapes, roles, tool calls, edits; and back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from potato_bridge.converters.potato.text import step_text
from potato_bridge.converters.potato.traces import to_item, to_trace
from potato_bridge.converters.tool_edits import diff_hunks
from potato_bridge.model import Item, Trace, decode, encode
from potato_bridge.model.project import DataFile
from potato_bridge.model.trace import (
    CallBlock,
    ImageBlock,
    ReasoningBlock,
    RedactedReasoningBlock,
    Result,
    Step,
    TextBlock,
    UnknownBlock,
)
from potato_bridge.notices import Notices
from tests.converters.potato.helpers import make_project
from tests.strategies import DETERMINISTIC, items

HERE = Path("/project")


def trace_of(steps: Any, display: str | None = None, **fields: Any) -> Trace:
    item = Item(id="i", data={"id": "i", "task": "do it", "steps": steps, **fields}, file="x.jsonl", line=1)
    return to_trace(item, make_project(HERE, display=display), Notices())


def step_of(entry: Any, display: str | None = None) -> Step:
    (step,) = trace_of([entry], display).steps
    assert step.native is entry
    return step


# --- back and forth --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("display", [None, "coding_trace", "dialogue"])
def test_item_round_trip(display: str | None) -> None:
    @given(items())
    @DETERMINISTIC
    def check(item: Item) -> None:
        before = json.dumps(item.data)
        trace = to_trace(item, make_project(HERE, display=display), Notices())
        assert to_item(trace) == item.data
        # The order of the keys too; and reading changed nothing.
        assert json.dumps(to_item(trace)) == json.dumps(item.data) == before
        # Through a file and back.
        again = decode(Trace, encode(trace))
        assert again == trace
        assert json.dumps(to_item(again)) == before
        # Positions are Potato's step numbers, whatever the entries are.
        assert [step.refs[0].ordinal for step in trace.steps] == list(range(len(item.data["steps"])))
        calls = [call.call_id for step in trace.steps for call in step.tool_calls]
        assert len(calls) == len(set(calls))
        for step in trace.steps:
            assert isinstance(step_text(step, None, observations=True), str)

    check()


def test_an_item_without_steps() -> None:
    item = Item(id="i", data={"id": "i", "task": "t", "x": 1}, file="x.jsonl")
    trace = to_trace(item, make_project(HERE, steps_key=None), Notices())
    assert trace.steps == [] and trace.source.record_key is None
    assert to_item(trace) == item.data


def test_the_frame_of_a_trace() -> None:
    trace = trace_of(["a", "b"], model="gpt-5", agent_name="swe", usage={"n": 1})
    assert (trace.trace_id, trace.task.text, trace.task.text_origin) == ("i", "do it", "task")
    assert (trace.source.format, trace.source.record_key, trace.source.uri) == ("potato", "steps", "x.jsonl")
    assert (trace.agent.model, trace.agent.name) == ("gpt-5", "swe")
    assert trace.extra["item"] == {
        "id": "i", "task": "do it", "model": "gpt-5", "agent_name": "swe", "usage": {"n": 1}
    }  # fmt: skip
    assert [(step.step_id, step.index, step.refs[0].ordinal) for step in trace.steps] == [("0", 0, 0), ("1", 1, 1)]


def test_a_data_file_may_name_another_text_field() -> None:
    files = [DataFile(path=HERE / "d" / "x.jsonl", format="jsonl", text_key="title")]
    item = Item(id="i", data={"id": "i", "task": "no", "title": "yes", "steps": ["x"]}, file="d/x.jsonl")
    trace = to_trace(item, make_project(HERE, files=files), Notices())
    assert (trace.task.text, trace.task.text_origin) == ("yes", "title")


# --- who is rated ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "kind", "role"),
    [
        ({"role": "assistant", "content": "x"}, "agent", "assistant"),
        ({"content": "x", "tool_calls": []}, "agent", None),
        ({"role": "user", "content": "x"}, "user", "user"),
        ({"role": "User", "content": "x"}, "user", "User"),
        ({"role": "system", "content": "x"}, "system", "system"),
        ({"role": "developer", "content": "x"}, "system", "developer"),
        ({"role": "tool", "content": "x"}, "environment", "tool"),
        ({"role": "function", "content": "x"}, "environment", "function"),
        ({"speaker": "Agent (Action)", "text": "x"}, "agent", "Agent (Action)"),
        ({"speaker": "Environment", "text": "x"}, "environment", "Environment"),
        ({"speaker": "tool_result", "text": "x"}, "environment", "tool_result"),
        ({"speaker": "Human", "text": "x"}, "user", "Human"),
        ({"agent": "planner", "content": "x"}, "agent", "planner"),
        ({"from": "gpt", "value": "x"}, "agent", "gpt"),
        ({"from": "human", "value": "x"}, "user", "human"),
        ({"role": "bot", "content": "x"}, "agent", "bot"),
        ({"role": "", "content": "x"}, "agent", None),
        ({"role": None, "content": "x"}, "agent", None),
        ({"thought": "x", "action": "y", "observation": "z"}, "agent", None),
        ({"index": 0, "text": "x", "type": "reasoning"}, "agent", None),
        ({"step_type": "observation", "content": "x"}, "environment", None),
        ({"step_type": "action", "content": "x"}, "agent", None),
        ("a step", "agent", None),
    ],
)
def test_roles(entry: Any, kind: str, role: str | None) -> None:
    step = step_of(entry)
    assert (step.kind, step.role, step.flags.ratable) == (kind, role, kind == "agent")


def test_strings_are_read_by_the_display() -> None:
    said = ["User: hi", "Bot: hello there", "just text", "http://x: y"]
    assert [step.kind for step in trace_of(said).steps] == ["agent"] * 4
    assert [step.kind for step in trace_of(said, "coding_trace").steps] == ["user"] * 4
    steps = trace_of(said, "dialogue").steps
    assert [step.kind for step in steps] == ["user", "agent", "agent", "agent"]
    assert [step.text() for step in steps] == said


def test_structured_turns_without_a_display() -> None:
    item = Item(id="i", data={"id": "i", "task": "t", "structured_turns": ["x", {"content": "y"}]}, file="x.jsonl")
    trace = to_trace(item, make_project(HERE, steps_key="structured_turns"), Notices())
    assert [step.flags.ratable for step in trace.steps] == [False, True]


def test_ratable_steps_keep_their_place() -> None:
    turns = [{"role": "user", "content": "a"}, {"content": "b"}, {"role": "tool", "content": "c"}, {"content": "d"}]
    assert [step.step_id for step in trace_of(turns).ratable()] == ["1", "3"]


# --- shapes ----------------------------------------------------------------------------------------------------------


def test_a_potato_turn() -> None:
    step = step_of(
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning": "Where is it?",
            "tool_calls": [
                {"tool": "Read", "input": {"file_path": "a.py"}, "output": "x=1", "output_type": "code",
                 "language": "python"},
                {"tool": "Bash", "input": {"command": "pytest"}, "output": "", "exit_code": 1},
                {"tool": "Grep", "input": "x.*"},
            ],
        }
    )  # fmt: skip
    assert step.blocks == [
        ReasoningBlock(text="Where is it?"),
        TextBlock(text="I look."),
        CallBlock(call_id="0#0"),
        CallBlock(call_id="0#1"),
        CallBlock(call_id="0#2"),
    ]
    read, bash, grep = step.tool_calls
    assert (read.name, read.family, read.arguments) == ("Read", "read", {"file_path": "a.py"})
    assert read.result == Result(text="x=1", output_type="code", language="python")
    # An empty output was recorded; a missing one was not.
    assert bash.result == Result(text="", is_error=True, exit_code=1)
    assert (grep.arguments, grep.arguments_raw, grep.result) == (None, "x.*", None)


@pytest.mark.parametrize(
    ("fields", "is_error"),
    [
        ({}, None),
        ({"is_error": True}, True),
        ({"is_error": False}, False),
        ({"is_error": False, "exit_code": 1}, False),
        ({"error": "boom"}, True),
        ({"error": ""}, None),
        ({"error": None}, None),
        ({"error": False}, False),
        ({"exit_code": 0}, False),
        ({"exit_code": 2}, True),
        ({"exit_code": "2"}, None),
        ({"exit_code": True}, None),
    ],
)
def test_errors_have_three_states(fields: dict[str, Any], is_error: bool | None) -> None:
    step = step_of({"tool_calls": [{"tool": "Bash", "input": {}, "output": "x", **fields}]})
    result = step.tool_calls[0].result
    assert result is not None and result.is_error is is_error


@pytest.mark.parametrize(
    ("call", "text", "is_error"),
    [
        ({"tool": "x", "error": "boom"}, "boom", True),
        ({"tool": "x", "output": {"stdout": "a", "stderr": "b", "exit_code": 3}}, "a\nb", True),
        ({"tool": "x", "output": {"n": 1}}, '{"n": 1}', None),
        ({"tool": "x", "result": [{"type": "text", "text": "a"}, "b"]}, "a\nb", None),
        ({"tool": "x", "output": 5}, "5", None),
        ({"tool": "x", "is_error": True}, None, True),
    ],
)
def test_results(call: dict[str, Any], text: str | None, is_error: bool | None) -> None:
    result = step_of({"tool_calls": [call]}).tool_calls[0].result
    assert result is not None and (result.text, result.is_error) == (text, is_error)


def test_openai_messages() -> None:
    trace = trace_of(
        [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"b": 1, "a": "x"}'}},
                    {"id": "c2", "type": "function", "function": {"name": "get", "arguments": "{broken"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c2", "content": "no", "is_error": True},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "Sunny"}]},
            {"role": "assistant", "content": "Sunny."},
        ]
    )
    first, second = trace.steps[1].tool_calls
    assert (first.call_id, first.arguments, first.arguments_raw) == ("c1", {"b": 1, "a": "x"}, None)
    assert (second.arguments, second.arguments_raw) == (None, "{broken")
    assert first.result == Result(text="Sunny", paired_by="id")
    assert second.result == Result(text="no", paired_by="id", is_error=True)
    # The messages of the tool went to the calls: their steps stay, empty, and positions do not move.
    assert [step.flags.meta for step in trace.steps] == [False, False, True, True, False]
    assert [step.blocks for step in trace.steps[2:4]] == [[], []]
    assert [step.step_id for step in trace.ratable()] == ["1", "4"]


def test_anthropic_messages() -> None:
    trace = trace_of(
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "redacted_thinking", "data": "xx"},
                    {"type": "text", "text": "I edit."},
                    {"type": "tool_use", "id": "t1", "name": "Edit",
                     "input": {"file_path": "a", "old_string": "x", "new_string": "y"}},
                    {"type": "hologram", "n": 1},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "done", "is_error": False},
                    {"type": "text", "text": "go on"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ],
            },
        ]
    )  # fmt: skip
    agent, user = trace.steps
    assert agent.blocks == [
        ReasoningBlock(text="hm", signature="s"),
        RedactedReasoningBlock(data="xx", provider="anthropic"),
        TextBlock(text="I edit."),
        CallBlock(call_id="t1"),
        UnknownBlock(raw={"type": "hologram", "n": 1}),
    ]
    call = agent.tool_calls[0]
    assert call.result == Result(text="done", is_error=False, paired_by="id")
    # The result says that the edit took effect.
    assert [edit.applied for edit in call.edits] == [True]
    assert not user.flags.meta
    assert user.blocks == [
        TextBlock(text="go on"),
        ImageBlock(uri="data:image/png;base64,AAAA", mime="image/png"),
    ]
    assert step_text(agent, None) == (
        'hm\nI edit.\nEdit {"file_path": "a", "old_string": "x", "new_string": "y"}'
    )  # fmt: skip


def test_a_result_without_its_call_is_shown_where_it_stands() -> None:
    notices = Notices()
    data = {"id": "i", "task": "t", "steps": [{"role": "tool", "tool_call_id": "zz", "content": "x"}]}
    trace = to_trace(Item(id="i", data=data, file="x"), make_project(HERE), notices)
    assert trace.steps[0].observations == [Result(text="x")]
    assert [(notice.code, notice.where) for notice in notices] == [("unpaired-result", "item i step 0")]


def test_call_ids_that_are_used_again_are_replaced() -> None:
    call = {"id": "c", "tool": "Read", "input": {}, "output": "x"}
    first, second = trace_of([{"tool_calls": [call]}, {"tool_calls": [call]}]).steps
    assert (first.tool_calls[0].call_id, first.tool_calls[0].id_origin) == ("c", "native")
    assert (second.tool_calls[0].call_id, second.tool_calls[0].id_origin) == ("1#0", "synthesised")


def test_plain_steps() -> None:
    step = step_of({"thought": "why", "action": "ls", "observation": "a b", "error": "none of it"})
    assert step.blocks == [ReasoningBlock(text="why"), TextBlock(text="ls")]
    assert step.observations == [Result(text="a b", is_error=True)]
    step = step_of({"action": {"tool": "search", "args": {"q": "é"}}, "observations": ["a", {"n": 1}]})
    assert step.blocks == [TextBlock(text='{"tool": "search", "args": {"q": "é"}}')]
    assert [result.text for result in step.observations] == ["a", '{"n": 1}']


def test_a_plain_step_that_is_a_call() -> None:
    step = step_of({"thought": "why", "tool": "Read", "args": {"path": "a"}, "observation": "x"})
    assert step_text(step, None) == 'why\nRead {"path": "a"}'
    assert step.tool_calls[0].result == Result(text="x") and step.observations == []
    step = step_of({"action": "search", "action_input": "q"})
    assert step_text(step, None) == "search q"


def test_a_web_agents_step() -> None:
    step = step_of(
        {
            "step_index": 0,
            "screenshot_url": "shots/0.png",
            "action_type": "type",
            "element": {"tag": "input", "bbox": [1, 2]},
            "coordinates": {"x": 5, "y": 6},
            "mouse_path": [[0, 0]],
            "thought": "I search.",
            "observation": "Results.",
            "viewport": {"width": 1},
            "text": "blue",
            "scroll_direction": "",
        },
        "web_agent_trace",
    )
    assert step.blocks == [ImageBlock(uri="shots/0.png"), ReasoningBlock(text="I search."), CallBlock(call_id="0#0")]
    (call,) = step.tool_calls
    assert (call.name, call.family, call.result) == ("type", "web", None)
    assert call.arguments == {
        "element": {"tag": "input", "bbox": [1, 2]}, "coordinates": {"x": 5, "y": 6}, "text": "blue"
    }  # fmt: skip
    assert step.observations == [Result(text="Results.")]


@pytest.mark.parametrize(
    ("fields", "uris"),
    [
        ({"screenshot": "https://x/y.png"}, ["https://x/y.png"]),
        ({"screenshot": "data:image/svg+xml;utf8,<svg/>"}, ["data:image/svg+xml;utf8,<svg/>"]),
        ({"screenshot": "/9j/" + "A" * 300}, ["data:image/jpeg;base64,/9j/" + "A" * 300]),
        ({"screenshot": "/9j/a.jpg"}, ["/9j/a.jpg"]),
        ({"images": ["a.png", {"path": "b.png"}]}, ["a.png", "b.png"]),
        ({"image_url": {"url": "c.png"}}, ["c.png"]),
        ({"image": {"data": "AA", "media_type": "image/gif"}}, ["data:image/gif;base64,AA"]),
        ({"screenshot": None, "image": 5, "images": []}, []),
        ({"screenshot": ""}, []),
    ],
)
def test_images(fields: dict[str, Any], uris: list[str]) -> None:
    step = step_of({"action": "look", **fields})
    assert [block.uri for block in step.blocks if isinstance(block, ImageBlock)] == uris


def test_an_image_that_was_observed() -> None:
    (result,) = step_of({"action": "x", "observation": {"text": "a page", "screenshot": "a.png"}}).observations
    assert result.text == "a page"
    assert result.blocks == [TextBlock(text="a page"), ImageBlock(uri="a.png")]


def test_an_environments_turn_is_an_observation() -> None:
    step = step_of({"speaker": "Environment", "text": "3 results"})
    assert step.blocks == [] and step.observations == [Result(text="3 results")]


def test_a_step_of_an_unknown_shape_is_shown_as_json() -> None:
    assert step_of({"foo": 1, "bar": [True]}).text() == '{"foo": 1, "bar": [true]}'
    # A turn that says nothing says nothing.
    assert step_of({"role": "assistant"}).blocks == []
    assert step_of({"role": "assistant", "content": ""}).blocks == []


def test_big_values_are_shared() -> None:
    entry = {"content": "c" * 9, "tool_calls": [{"tool": "Write", "input": {"content": "x" * 9}, "output": "o" * 9}]}
    step = step_of(entry)
    call = step.tool_calls[0]
    assert call.arguments is entry["tool_calls"][0]["input"]  # type: ignore[index]
    assert call.result is not None and call.result.text is entry["tool_calls"][0]["output"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Bash", "shell"), ("execute_bash", "shell"), ("Read", "read"), ("GLOB", "search"), ("Edit", "edit"),
        ("Write", "write"), ("delete_file", "delete"), ("WebFetch", "web"), ("mcp__github__get", "mcp"),
        ("TodoWrite", "plan"), ("think", "think"), ("Task", "agent"), ("finish", "submit"), ("ask_user", "ask"),
        ("get_weather", "other"),
    ],
)  # fmt: skip
def test_tool_families(name: str, family: str) -> None:
    assert step_of({"tool_calls": [{"tool": name}]}).tool_calls[0].family == family


# --- edits -----------------------------------------------------------------------------------------------------------


def edits_of(name: str, arguments: Any, **fields: Any) -> list[tuple[str, str, list[list[str]]]]:
    call = step_of({"tool_calls": [{"tool": name, "input": arguments, **fields}]}).tool_calls[0]
    return [(edit.path, edit.op, [hunk.lines for hunk in edit.hunks]) for edit in call.edits]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        (
            "Edit",
            {"file_path": "a.py", "old_string": "a\nb\nc", "new_string": "a\nB\nc"},
            [("a.py", "modify", [[" a", "-b", "+B", " c"]])],
        ),
        ("Edit", {"file_path": "a", "old_string": "", "new_string": "x"}, [("a", "create", [["+x"]])]),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": ""}, [("a", "modify", [["-x"]])]),
        ("Edit", {"old_string": "x", "new_string": "y"}, []),
        ("Write", {"file_path": "a", "content": "x\ny\n"}, [("a", "create", [["+x", "+y"]])]),
        (
            "Create",
            {"path": "a", "content": "x"},
            [("a", "create", [["+x", "\\ No newline at end of file"]])],
        ),
        ("Write", {"file_path": "a", "content": ""}, [("a", "create", [])]),
        (
            "MultiEdit",
            {
                "file_path": "a",
                "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "p", "new_string": "q"}],
            },
            [("a", "modify", [["-x", "+y"], ["-p", "+q"]])],
        ),
        ("str_replace_editor", {"command": "view", "path": "a"}, []),
        (
            "str_replace_editor",
            {"command": "create", "path": "a", "file_text": "x\n"},
            [("a", "create", [["+x"]])],
        ),
        (
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"},
            [("a", "modify", [["-x", "+y"]])],
        ),
        (
            "str_replace_editor",
            {"command": "insert", "path": "a", "insert_line": 3, "new_str": "x"},
            [("a", "modify", [["+x"]])],
        ),
        ("edit_file", {"path": "a", "content": "x\n"}, [("a", "modify", [["+x"]])]),
        ("delete_file", {"path": "a"}, [("a", "delete", [])]),
        (
            "apply_patch",
            "*** Begin Patch\n*** Update File: a\n@@ def f():\n x\n-y\n+z\n*** Add File: b\n+n\n*** Delete File: c\n"
            "*** Update File: d\n*** Move to: e\n@@\n-1\n+2\n*** End Patch",
            [
                ("a", "modify", [[" x", "-y", "+z"]]),
                ("b", "create", [["+n"]]),
                ("c", "delete", []),
                ("e", "rename", [["-1", "+2"]]),
            ],
        ),
        # A blank context line without its space is a line, too.
        (
            "apply_patch",
            "*** Begin Patch\n*** Update File: a\n@@\n x\n\n-y\n+z\n*** End of File\n*** End Patch",
            [("a", "modify", [[" x", " ", "-y", "+z"]])],
        ),
        # Nothing but editing tools edits.
        ("Bash", {"command": "sed -i s/a/b/ x", "path": "x", "content": "y"}, []),
    ],
)
def test_edits(name: str, arguments: Any, expected: list[Any]) -> None:
    assert edits_of(name, arguments) == expected


@pytest.mark.parametrize(("fields", "applied"), [({}, None), ({"is_error": True}, False), ({"exit_code": 0}, True)])
def test_a_failed_edit_was_not_applied(fields: dict[str, Any], applied: bool | None) -> None:
    step = step_of({"tool_calls": [{"tool": "Write", "input": {"path": "a", "content": "x"}, "output": "", **fields}]})
    assert step.tool_calls[0].edits[0].applied is applied


def test_hunks_have_three_lines_of_context_and_no_numbers() -> None:
    old = "".join(f"{i}\n" for i in range(20))
    new = old.replace("\n5\n", "\nfive\n").replace("\n15\n", "\n")
    first, second = diff_hunks(old, new)
    assert first.lines == [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"]
    assert second.lines == [" 12", " 13", " 14", "-15", " 16", " 17", " 18"]
    assert (first.old_start, first.new_start) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a", "a\n", [" a", "+"]),
        ("a\x0cb\r", "a\x0cb", ["-a\x0cb\r", "+a\x0cb"]),
        ("a\n", "b\n", ["-a", "+b"]),
        ("x", "x", []),
    ],
)
def test_hunks_of_odd_texts(old: str, new: str, lines: list[str]) -> None:
    assert [line for hunk in diff_hunks(old, new) for line in hunk.lines] == lines


def test_a_huge_replacement_is_not_compared() -> None:
    (hunk,) = diff_hunks("a\n" * 3000, "b\n" * 3000)
    assert (hunk.lines[0], hunk.lines[-1], len(hunk.lines)) == ("-a", "+b", 6000)

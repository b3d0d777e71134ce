"""Traces and projects, made by hand, for the tests of the Label Studio interface."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

from potato_bridge.model import Item, ProcessReward, Project, Trace
from potato_bridge.model.project import DisplayField, FirstErrorOptions, TraceDisplay
from potato_bridge.model.trace import (
    Edit,
    Flags,
    Hunk,
    ImageBlock,
    ReasoningBlock,
    Result,
    Step,
    Task,
    TextBlock,
    ToolCall,
)

HOSTILE = (
    "<script>window.__pwned=1</script></script><style>button,.lsf-controls{display:none!important}</style>"
    "<img src=x onerror=\"window.__pwned=1\"><svg onload=window.__pwned=1><iframe src='javascript:window.__pwned=1'>"
    "<a href='javascript:window.__pwned=1'>x</a> $5 $steps $& $` {{idx}} {{ 7*7 }} {% raw %} --> ]]> </View> "
    "\u202ereversed\u202c \u2066isolated\u2069 \u200bzero \x00 nul \x1b[31mred\x1b[0m \ud83d half 👩‍💻 "
    "😀 \" ' ` &amp; &lt;"
)


def project(
    scheme: dict[str, Any] | None = None,
    display: dict[str, Any] | None = None,
    task_dir: Path = Path("/project"),
    **more: Any,
) -> Project:
    options = {"name": "process_reward", "description": "Click the first step where the agent made a mistake"}
    first_error = FirstErrorOptions(**(scheme or {}).pop("first_error", {}))
    return Project(
        name="Traces",
        config=task_dir / "config.yaml",
        task_dir=task_dir,
        id_key="id",
        text_key="task_description",
        output_dir=task_dir / "output",
        fields=[DisplayField(key="structured_turns", type="coding_trace", trace=TraceDisplay(**(display or {})))],
        schemes=[ProcessReward(**{**options, **(scheme or {}), "first_error": first_error})],
        **more,
    )


def item(trace: Trace) -> Item:
    return Item(id=trace.trace_id, data={"id": trace.trace_id, "task_description": trace.task.text}, file="data.json")


def trace(steps: list[Step], task: str = "Fix the failing test", trace_id: str = "trace_042") -> Trace:
    for index, step in enumerate(steps):
        step.index, step.step_id = index, str(index)
    return Trace(trace_id=trace_id, task=Task(text=task), steps=steps)


def agent(*calls: ToolCall, text: str = "", reasoning: str = "", **more: Any) -> Step:
    blocks: list[Any] = [ReasoningBlock(text=reasoning)] if reasoning else []
    if text:
        blocks.append(TextBlock(text=text))
    return Step(step_id="", index=0, blocks=blocks, tool_calls=list(calls), flags=Flags(ratable=True), **more)


def turn(kind: Any, text: str) -> Step:
    return Step(step_id="", index=0, kind=kind, role=kind, blocks=[TextBlock(text=text)])


def call(name: str, family: Any, arguments: dict[str, Any], output: str | None = None, **more: Any) -> ToolCall:
    result_fields = {k: more.pop(k) for k in ("exit_code", "is_error", "output_type", "language") if k in more}
    result = None if output is None else Result(text=output, **result_fields)
    return ToolCall(
        call_id=f"call_{name}_{id(arguments)}", name=name, family=family, arguments=arguments, result=result, **more
    )


def edit_call(path: str, lines: list[str], op: Any = "modify", start: int | None = 12) -> ToolCall:
    edit = Edit(path=path, op=op, hunks=[Hunk(lines=lines, old_start=start, new_start=start)], origin="old_new")
    arguments = {"file_path": path, "old_string": "…", "new_string": "…"}
    return call("Edit", "edit", arguments, "The file has been updated.", edits=[edit])


PYTEST = """============================= test session starts ==============================
collected 14 items

tests/test_parser.py .............F                                      [100%]

=================================== FAILURES ===================================
______________________________ test_empty_input ________________________________

    def test_empty_input():
>       assert parse("") == []
E       IndexError: list index out of range

src/parser.py:42: IndexError
=========================== short test summary info ============================
FAILED tests/test_parser.py::test_empty_input - IndexError: list index out of range
========================= 1 failed, 13 passed in 0.31s ========================="""

SOURCE = "\n".join(
    f"{n:4}\t{line}"
    for n, line in enumerate(
        (
            [
                "def parse(text):",
                "    tokens = tokenize(text)",
                "    head = tokens[0]",
                "    return [head, *rest(tokens)]",
                "",
            ]
            * 14
        ),
        30,
    )
)


def coding_trace() -> Trace:
    """A run with everything that the cards show: ten entries, seven of them rated."""
    return trace(
        [
            turn("system", "You are a coding agent. Work in /repo. Run the tests before you finish."),
            turn("user", "test_empty_input fails since yesterday. Please fix the parser, not the test."),
            agent(
                call("Bash", "shell", {"command": "python -m pytest tests/test_parser.py -q"}, PYTEST, exit_code=1),
                reasoning="I should see the failure before I read any code.\nThe user says it is test_empty_input.",
                text="I'll run the failing test first.",
            ),
            agent(
                call(
                    "Read", "read", {"file_path": "src/parser.py", "offset": 30, "limit": 70}, SOURCE, language="python"
                ),
                call(
                    "Grep", "search", {"pattern": "tokens\\[0\\]", "path": "src/"}, "src/parser.py:42\nsrc/lexer.py:9"
                ),
                text="The traceback points to `src/parser.py:42`. I read that file and look for "
                "other places that index `tokens[0]`.",
            ),
            agent(
                edit_call(
                    "src/parser.py",
                    [
                        " def parse(text):",
                        "     tokens = tokenize(text)",
                        "-    head = tokens[0]",
                        "-    return [head, *rest(tokens)]",
                        "+    if not tokens:",
                        "+        return []",
                        "+    head = tokens[0]",
                        "+    return [head, *rest(tokens)]  # a long comment that goes on and on so that it "
                        "has to wrap somewhere in a column",
                        " ",
                    ],
                    start=40,
                ),
                reasoning="An empty list of tokens means an empty result.",
                text="An empty input has no tokens, so `parse` must return an empty list.",
            ),
            turn("user", "Do not touch anything else, please."),
            agent(
                edit_call(
                    "tests/test_parser.py", ["-    assert parse('') == []", "+    assert parse('') is None"], start=None
                ),
                call(
                    "Write",
                    "write",
                    {"file_path": "NOTES.md", "content": "# Notes\n"},
                    "",
                    edits=[
                        Edit(path="NOTES.md", op="create", hunks=[Hunk(lines=["+# Notes", "+", "+- parser fixed"])])
                    ],
                ),
                text="I also adapt the test, and leave some notes.",
            ),
            agent(
                call(
                    "Bash",
                    "shell",
                    {"command": "rm src/old_parser.py && git status --short"},
                    " M src/parser.py\n D src/old_parser.py",
                    exit_code=0,
                    edits=[Edit(path="src/old_parser.py", op="delete")],
                ),
            ),
            agent(
                call(
                    "WebFetch",
                    "web",
                    {"url": "https://docs.example.com/parse", "prompt": "what does parse return?"},
                    "Request failed with status code 404",
                    is_error=True,
                ),
                text="Let me check the documentation.",
            ),
            agent(
                text="Done: `parse('')` returns an empty list and all tests pass.",
                reasoning="I did not run the tests again.",
            ),
        ],
        task="The test `test_empty_input` in tests/test_parser.py fails with an IndexError.\n\n"
        "Find out why, and fix the parser so that an empty input gives an empty list. Do not change the tests.",
    )


def hostile_trace() -> Trace:
    """Hostile text in every place where a trace has text."""
    step = agent(
        call(HOSTILE, "other", {HOSTILE: HOSTILE, "n": [HOSTILE]}, HOSTILE, is_error=True),
        call("Bash", "shell", {"command": HOSTILE}, HOSTILE + "x" * 3000, exit_code=2),
        edit_call(HOSTILE, ["-" + HOSTILE, "+" + HOSTILE, " " + "y" * 3000]),
        text=HOSTILE,
        reasoning=HOSTILE,
    )
    step.blocks.append(ImageBlock(uri="javascript:window.__pwned=1", alt=HOSTILE))
    step.blocks.append(ImageBlock(uri='https://127.0.0.1:1/x.png" onerror="window.__pwned=1', alt=HOSTILE))
    observed = agent(text="z" * 5000)
    observed.observations = [Result(text=HOSTILE, is_error=False)]
    made = trace([turn("user", HOSTILE), step, observed, turn("tool", HOSTILE)], task=HOSTILE, trace_id="hostile <b>$5")
    made.steps[0].role = HOSTILE
    return made


def long_trace(steps: int, output_lines: int = 40) -> Trace:
    """A run of many steps, of the size that coding agents have."""
    output = "\n".join(
        f"src/module_{n}/file_{n}.py:{n}: value = compute({n}, {n * 7})  # checked" for n in range(output_lines)
    )
    made = []
    for n in range(steps):
        if n % 5 == 4:
            lines = (
                [f" context {i}" for i in range(6)]
                + [f"-old line {i}" for i in range(4)]
                + [f"+new line {i}" for i in range(6)]
            )
            made.append(
                agent(
                    edit_call(f"src/module_{n}.py", lines),
                    text=f"Step {n}: I change the module.",
                    reasoning="Because it is wrong.",
                )
            )
        else:
            made.append(
                agent(
                    call("Bash", "shell", {"command": f"grep -n compute src/module_{n}"}, output, exit_code=0),
                    text=f"Step {n}: I look for uses of compute.",
                    reasoning="I need to know who calls it.\nThen I can change it.",
                )
            )
    return trace(made, trace_id=f"long_{steps}")


def png(width: int = 640, height: int = 400) -> bytes:
    """A picture of two colours that looks like nothing else on the page."""
    rows = b"".join(
        b"\0" + bytes((30, 90, 200) if (x // 40 + y // 40) % 2 else (240, 200, 60)) * 1
        if width == 1
        else b"\0"
        + b"".join(bytes((30, 90, 200)) if (x // 40 + y // 40) % 2 else bytes((240, 200, 60)) for x in range(width))
        for y in range(height)
        for x in (0,)
    )

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def web_trace() -> Trace:
    """A web agent: screenshots from a file, a URL, a data: URI, and one that is not there."""
    step = agent(call("click", "web", {"selector": "#buy"}, "clicked"), text="I click the button.")
    step.blocks.append(ImageBlock(uri="shots/one.png", alt="the shop"))
    second = agent(text="I look at the result.")
    second.observations = [Result(blocks=[ImageBlock(uri="shots/missing.png"), ImageBlock(uri="../outside.png")])]
    return trace([turn("user", "Buy a potato"), step, second], task="Buy a potato", trace_id="web_1")

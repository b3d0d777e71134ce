"""A trace as a Potato item: `structured_turns` with the tools that Potato's display draws, or plain `steps`.

A turn is a step. What an annotator does not judge and does not need is left out, and counted in `bridge.left_out`:
system prompts, demonstrations, copied context, summaries, notices, and what the program itself put into the user's
mouth. `bridge.turns` tells for each turn its step and whether it is rated.

A call is written under the name and with the fields that Potato draws (`Bash`, `Read`, `Grep`, `Glob`, `Write`, and an
`Edit` for each hunk). Where that is not what the agent wrote, `native` has the call itself, and it is this that is read
back, shown by the bridge and written into data sets; further parts of one call say so by `part`.
"""

import shlex
from collections.abc import Mapping
from typing import Any, Literal

from potato_bridge.converters.tool_calls import as_json
from potato_bridge.model.node import to_builtins
from potato_bridge.model.trace import Edit, Hunk, ImageBlock, ReasoningBlock, Result, Step, TextBlock, ToolCall, Trace

Shape = Literal["structured_turns", "steps"]

_PATHS = ("file_path", "path", "filename", "file", "target_file", "notebook_path", "absolute_path")
_COMMANDS = ("command", "cmd", "script", "bash_command")
_PATTERNS = ("pattern", "query", "regex", "glob", "search_term")


def to_item(trace: Trace, shape: Shape = "structured_turns") -> dict[str, Any]:
    """The item of a trace; it holds nothing of its sub-agents, which are items of their own.

    Args:
        trace: The trace.
        shape: `structured_turns`: turns with tool calls; `steps`: thought, action and observation as texts.
    """
    kept, left_out = [], dict[str, int]()
    for step in trace.steps:
        why = _left_out(step)
        if why is None:
            kept.append(step)
        else:
            left_out[why] = left_out.get(why, 0) + 1
    item: dict[str, Any] = {"id": trace.trace_id, "task_description": trace.task.text or ""}
    for key, value in (
        ("agent_name", trace.agent.name),
        ("agent_model", trace.agent.model),
        ("instance_id", trace.task.id),
        ("repo", trace.task.repo),
        ("base_commit", trace.task.base_commit),
    ):
        if value is not None:
            item[key] = value
    if shape == "structured_turns":
        item[shape] = [_turn(step) for step in kept]
    else:
        item[shape] = [_plain(step) for step in kept]
    if trace.final_patch is not None:
        item["final_patch"] = trace.final_patch.text
    item["bridge"] = {
        "schema": 1,
        "format": trace.source.format,
        "uri": trace.source.uri,
        "turns": [{"step_id": step.step_id, "ratable": step.flags.ratable} for step in kept],
    }
    if left_out:
        item["bridge"]["left_out"] = left_out
    if trace.final_patch is not None and trace.final_patch.origin == "replayed":
        item["bridge"]["final_patch"] = "replayed"
    return item


def _left_out(step: Step) -> str | None:
    """Why a step is no turn; None: it is one."""
    flags = step.flags
    if step.kind in ("system", "compaction", "notice"):
        return step.kind
    for why in ("demo", "copied_context", "meta"):
        if getattr(flags, why):
            return why
    return None


def _turn(step: Step) -> dict[str, Any]:
    observed = [_text_of(one) for one in step.observations]
    content = "\n\n".join(part for part in (*_said(step), *(text for text in observed if text)) if part)
    calls = [entry for call in step.tool_calls for entry in _calls(call)]
    return {"role": _role(step), "content": content, "tool_calls": calls}


def _role(step: Step) -> str:
    # The role alone says whether a turn is rated.
    if step.flags.ratable:
        return "assistant"
    return "user" if step.kind == "user" else "tool"


def _plain(step: Step) -> dict[str, Any]:
    seen = [_text_of(call.result) for call in step.tool_calls] + [_text_of(one) for one in step.observations]
    turn: dict[str, Any] = {} if step.flags.ratable else {"role": _role(step)}
    turn["thought"] = "\n\n".join(_said(step))
    turn["action"] = "\n".join(_action(call) for call in step.tool_calls)
    observation = "\n".join(text for text in seen if text)
    # What was not recorded is left out: an empty text would say that nothing came back.
    if any(text is not None for text in seen):
        turn["observation"] = observation
    return turn


def _action(call: ToolCall) -> str:
    if call.arguments is not None:
        return f"{call.name} {as_json(call.arguments)}"
    return f"{call.name} {call.arguments_raw or ''}".rstrip()


def _said(step: Step) -> list[str]:
    """The reasoning, then the text. Potato shows no text where there is a field of its own for reasoning."""
    thoughts = [block.text for block in step.blocks if isinstance(block, ReasoningBlock) and block.text]
    said = []
    for block in step.blocks:
        if isinstance(block, TextBlock) and block.text:
            said.append(block.text)
        elif isinstance(block, ImageBlock):
            said.append(_picture(block))
    return ["\n".join(part) for part in (thoughts, said) if part]


def _picture(block: ImageBlock) -> str:
    where = block.uri if block.uri and not block.uri.startswith("data:") else block.alt
    return f"[image {' '.join(part for part in (block.mime, where) if part)}]".replace(" ]", "]")


def _text_of(result: Result | None) -> str | None:
    if result is None:
        return None
    pictures = [_picture(block) for block in result.blocks if isinstance(block, ImageBlock)]
    if not pictures:
        return result.text
    return "\n".join(part for part in (result.text, *pictures) if part)


def _calls(call: ToolCall) -> list[dict[str, Any]]:
    """The entries of one call: one, or one for each hunk of its edits."""
    drawn = _drawn(call)
    entries: list[dict[str, Any]] = []
    for number, (tool, given, kind) in enumerate(drawn):
        entry: dict[str, Any] = {"tool": tool, "input": given, "call_id": call.call_id, "output_type": kind}
        if number:
            entry["part"] = number
        else:
            entry |= _native(call, tool, given) | _came_back(call)
        entries.append(entry)
    return entries


def _came_back(call: ToolCall) -> dict[str, Any]:
    result = call.result
    if result is None:
        return {}
    found: dict[str, Any] = {"output": _text_of(result) or ""}
    if result.is_error is not None:
        found["is_error"] = result.is_error
    if result.exit_code is not None:
        found["exit_code"] = result.exit_code
    return found


def _native(call: ToolCall, tool: str, given: Any) -> dict[str, Any]:
    """The call itself, where Potato's form of it does not say all."""
    if call.name == tool and call.arguments == given and not call.edits:
        return {}
    native: dict[str, Any] = {"name": call.name}
    if call.arguments is not None:
        native["arguments"] = call.arguments
    if call.arguments_raw is not None:
        native["arguments_raw"] = call.arguments_raw
    if call.edits:
        native["edits"] = to_builtins(call.edits)
    return {"native": native}


def _drawn(call: ToolCall) -> list[tuple[str, Any, str]]:
    """The call in Potato's words: tool, input, and what kind of output it has."""
    values: Mapping[str, Any] = call.arguments or {}
    path = _string(values, _PATHS)
    if call.edits:
        return [(*one, "diff") for edit in call.edits for one in _edit(edit)]
    if call.family == "shell" and (command := _command(values)) is not None:
        return [("Bash", {"command": command}, "terminal")]
    if call.family == "read" and path is not None:
        return [("Read", {"file_path": path}, "code")]
    pattern = _string(values, _PATTERNS)
    if call.family == "search" and pattern is not None:
        tool = "Glob" if "glob" in call.name.lower() or "glob" in values else "Grep"
        return [(tool, {"pattern": pattern, **({"path": path} if path is not None else {})}, "generic")]
    if call.arguments is None:
        return [(call.name, call.arguments_raw or "", "generic")]
    return [(call.name, call.arguments, "generic")]


def _edit(edit: Edit) -> list[tuple[str, dict[str, Any]]]:
    if edit.op == "delete":
        return [("Delete", {"file_path": edit.path})]
    if edit.op == "rename" and not edit.hunks:
        return [("Rename", {"file_path": edit.old_path, "new_path": edit.path})]
    if edit.op == "create":
        return [("Write", {"file_path": edit.path, "content": "".join(_side(h, "+") for h in edit.hunks)})]
    if not edit.hunks:
        return [("Edit", {"file_path": edit.path})]
    return [("Edit", {"file_path": edit.path, **_replaced(hunk)}) for hunk in edit.hunks]


def _replaced(hunk: Hunk) -> dict[str, str]:
    """The two sides of a hunk without the context around: Potato draws every old line as removed."""
    lines = hunk.lines
    first = next((n for n, line in enumerate(lines) if line[:1] in "+-" and line), 0)
    last = next((n for n in range(len(lines) - 1, -1, -1) if lines[n][:1] in "+-" and lines[n]), len(lines) - 1)
    inner = Hunk(lines=lines[first : last + 1])
    return {"old_string": _side(inner, "-").removesuffix("\n"), "new_string": _side(inner, "+").removesuffix("\n")}


def _side(hunk: Hunk, mark: str) -> str:
    text = ""
    for line in hunk.lines:
        if line.startswith("\\"):
            text = text.removesuffix("\n")
        elif line[:1] in (" ", mark):
            text += line[1:] + "\n"
    return text


def _command(values: Mapping[str, Any]) -> str | None:
    for key in _COMMANDS:
        value = values.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            # `["bash", "-lc", script]` is how a shell is asked to run a script.
            return value[2] if len(value) == 3 and value[1] in ("-lc", "-c") else shlex.join(value)
    return None


def _string(values: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((values[key] for key in keys if isinstance(values.get(key), str)), None)

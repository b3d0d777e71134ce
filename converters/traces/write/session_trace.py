"""A trace in the Session Trace Simple Format (STS-Format), which the Hugging Face Hub shows in its viewer of traces.

It is for reading: a header and messages, one JSON object a line, one file a session. It has text alone, no errors and
no sub-agents: images are named.
"""

import re
from datetime import datetime
from typing import Any

from potato_bridge.converters.tool_calls import as_json
from potato_bridge.converters.traces.write._shown import shown
from potato_bridge.model.node import encode
from potato_bridge.model.trace import Result, Step, ToolCall, Trace

_ROLES = {"agent": "assistant", "user": "user"}
_NO_ID = re.compile(r"[^a-z0-9._-]+")
#: Of a title; the text of a task may be pages.
_TITLE = 100


def to_session(trace: Trace) -> list[dict[str, Any]]:
    """The lines of a trace's file: the header, then a message of each step and of each result that was recorded.

    Args:
        trace: The trace; its sub-agents are files of their own.
    """
    agent = trace.agent
    header: dict[str, Any] = {
        "type": "session",
        # An id, as the Hub has them (`claude_code`), and not a name.
        "harness": _NO_ID.sub("_", (agent.name or "").lower()).strip("_") or trace.source.format or "unknown",
        "id": trace.trace_id,
    }
    title = next((line.strip() for line in (trace.task.text or "").splitlines() if line.strip()), None)
    for key, value in (
        ("name", title and title[:_TITLE]),
        ("model", agent.model),
        ("instance_id", trace.task.id),
    ):
        if value:
            header[key] = value
    messages: list[dict[str, Any]] = []
    if agent.system_prompt and not any(step.kind == "system" for step in trace.steps):
        messages.append({"role": "system", "content": agent.system_prompt})
    for step in trace.steps:
        messages += _messages(step)
    return [header, *({"type": "message", "message": message} for message in messages)]


def session_file(trace: Trace) -> bytes:
    """The file of a trace: JSON Lines."""
    data = b"".join(encode(line) + b"\n" for line in to_session(trace))
    # Python's `str.splitlines`, by which Hugging Face's `datasets` takes a session apart, ends lines at these, too.
    for mark in "\x85\u2028\u2029":
        data = data.replace(mark.encode(), f"\\u{ord(mark):04x}".encode())
    return data


def _messages(step: Step) -> list[dict[str, Any]]:
    text = "\n".join(part for block in step.blocks if (part := shown(block)) is not None)
    thought = step.reasoning()
    made: list[dict[str, Any]] = []
    if step.kind == "agent" or text or thought or step.tool_calls:
        # Calls that are nobody's are shown as the agent's: only an assistant's message may have them.
        role = "assistant" if step.tool_calls else _ROLES.get(step.kind, "system")
        message: dict[str, Any] = {"role": role, "content": text}
        if thought:
            message["reasoningContent"] = thought
        if step.tool_calls:
            message["toolCalls"] = [_call(call) for call in step.tool_calls]
        if (when := _millis(step.started_at)) is not None:
            message["timestamp"] = when
        if step.model:
            message["model"] = step.model
        made.append(message)
    for call in step.tool_calls:
        if call.result is not None:
            made.append(_result("tool", call.result) | {"toolCallId": call.call_id})
    return made + [_result("system", seen) for seen in step.observations]


def _call(call: ToolCall) -> dict[str, Any]:
    given = as_json(call.arguments) if call.arguments is not None else call.arguments_raw or ""
    return {"id": call.call_id, "function": {"name": call.name, "arguments": given}}


def _result(role: str, result: Result) -> dict[str, Any]:
    parts = [shown(block) for block in result.blocks] if result.blocks else [result.text]
    message: dict[str, Any] = {"role": role, "content": "\n".join(part for part in parts if part is not None)}
    if (when := _millis(result.at)) is not None:
        message["timestamp"] = when
    return message


def _millis(time: str | None) -> int | None:
    """Milliseconds since 1970; None where a time does not say where it is."""
    try:
        found = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    return round(found.timestamp() * 1000) if found.tzinfo is not None else None

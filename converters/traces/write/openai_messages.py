"""A trace as messages of OpenAI's chat completions, with tools: the form that chat templates and trainers take.

Reasoning is left out, and so are notices of the program. What a trainer must not learn from stands in `not_trained`,
and calls whose result was not recorded in `without_result`: no message is made up for them.
"""

from collections.abc import Sequence
from typing import Any

from potato_bridge.converters.tool_calls import as_json
from potato_bridge.model.trace import Block, ImageBlock, Result, Step, TextBlock, ToolCall, Trace

_ROLES = {"system": "system", "agent": "assistant"}


def to_messages(trace: Trace) -> dict[str, Any]:
    """The document of a trace: `id`, `messages`, and where there are any `tools`, `not_trained`, `without_result`.

    A step of an agent is one message with all its calls, and one of role `tool` for each result that was recorded. What
    was observed beside the calls, and summaries of a compaction, are messages of the user: that is how models see them.

    Args:
        trace: The trace; its sub-agents are documents of their own.
    """
    messages: list[dict[str, Any]] = []
    not_trained: list[int] = []
    without: list[str] = []
    prompt = trace.agent.system_prompt
    if prompt and not any(step.kind == "system" for step in trace.steps):
        messages.append({"role": "system", "content": prompt})
    for step in trace.steps:
        if step.kind == "notice":
            continue
        flags = step.flags
        if step.kind == "agent" and (flags.demo or flags.copied_context or not flags.ratable):
            not_trained.append(len(messages))
        messages += _messages(step)
        without += [call.call_id for call in step.tool_calls if call.result is None]
    document: dict[str, Any] = {"id": trace.trace_id, "messages": messages}
    for key, value in (
        ("tools", trace.agent.tool_definitions),
        ("model", trace.agent.model),
        ("instance_id", trace.task.id),
        ("not_trained", not_trained),
        ("without_result", without),
    ):
        if value:
            document[key] = value
    return document


def _messages(step: Step) -> list[dict[str, Any]]:
    content = _content(step.blocks)
    made: list[dict[str, Any]] = []
    if step.kind == "agent" or content is not None or step.tool_calls:
        message: dict[str, Any] = {"role": _ROLES.get(step.kind, "user"), "content": content}
        if step.tool_calls:
            message["tool_calls"] = [_call(call) for call in step.tool_calls]
        made.append(message)
    for call in step.tool_calls:
        if call.result is not None:
            made.append({"role": "tool", "tool_call_id": call.call_id, "content": _text(call.result)})
    for seen in step.observations:
        made.append({"role": "user", "content": _text(seen)})
    return made


def _call(call: ToolCall) -> dict[str, Any]:
    # Arguments that are no JSON are what the model wrote all the same.
    given = as_json(call.arguments) if call.arguments is not None else call.arguments_raw or ""
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": given}}


def _content(blocks: Sequence[Block]) -> str | list[dict[str, Any]] | None:
    """A text, or parts where there are images; None where nothing was said."""
    parts: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block, TextBlock):
            parts.append({"type": "text", "text": block.text})
        elif isinstance(block, ImageBlock) and block.uri is not None:
            parts.append({"type": "image_url", "image_url": {"url": block.uri}})
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts) if parts else None
    return parts


def _text(result: Result) -> str:
    """The text of a result; images have no place in a message of a tool, so that they are named."""
    images = [f"[image {block.mime or ''}]" for block in result.blocks if isinstance(block, ImageBlock)]
    return "\n".join(part for part in (result.text, *images) if part)

"""Conversations in the form of Anthropic's Messages API: content blocks with tool uses and tool results."""

from collections.abc import Iterator
from typing import Any

from potato_bridge.converters.traces import _chat, _claude
from potato_bridge.converters.traces.build import Builder
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.model.trace import Ref, Trace

_ROLES = ("system", "user", "assistant")


class AnthropicMessages:
    """The reader."""

    name = "anthropic_messages"
    title = "Anthropic messages"

    def score(self, source: Source) -> int:
        """By the blocks that OpenAI's messages do not have."""
        found = list(_chat.samples(source))
        fits = all(_chat.is_chat(messages, _ROLES) for messages in found)
        return 60 if fits and any(_chat.has_blocks(messages) for messages in found) else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each list of messages."""
        for conversation in _chat.conversations(source, report):
            yield _read(source, conversation)


def _read(source: Source, conversation: _chat.Conversation) -> Trace:
    builder = Builder(source, AnthropicMessages.name)
    for note in conversation.raw.notes:
        builder.loss(note)
    document, trace = conversation.document, builder.trace
    system = document.get("system")
    if isinstance(system, list):
        system = "\n".join(str(one["text"]) for one in system if isinstance(one, dict) and "text" in one)
    trace.agent.system_prompt = system if isinstance(system, str) and system else None
    thread = _claude.Thread(builder)
    for ordinal, message in enumerate(conversation.messages):
        _message(thread, message, Ref(ordinal=ordinal))
    _claude.end(thread)
    model, tools, instance = (document.get(key) for key in ("model", "tools", "instance_id"))
    trace.agent.model = model if isinstance(model, str) else trace.agent.model
    trace.agent.tool_definitions = tools if isinstance(tools, list) and tools else None
    trace.task.id = instance if isinstance(instance, str) else None
    native = conversation.native_id or trace.task.id or source.stem
    return builder.finish(native, conversation.digest)


def _message(thread: _claude.Thread, message: Any, ref: Ref) -> None:
    builder = thread.builder
    role = message.get("role") if isinstance(message, dict) else None
    if role not in _ROLES:
        builder.event(message)
        builder.loss("unknown-record", str(role))
        return
    builder.mapped()
    if role == "assistant":
        thread.assistant(message, ref, None)
    elif role == "user":
        thread.user(message.get("content"), ref, None)
    else:
        step = thread.user(message.get("content"), ref, None)
        if step is not None:
            step.kind, step.role = "system", role


READER = AnthropicMessages()

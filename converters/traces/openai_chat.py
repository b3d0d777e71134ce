"""Conversations in the form of OpenAI's chat completions, which many data sets and logs have."""

from collections.abc import Iterator, Mapping
from typing import Any

from potato_bridge.converters.tool_calls import as_text, read_block, read_result
from potato_bridge.converters.traces import _chat
from potato_bridge.converters.traces.build import Builder, patch_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.model.trace import Block, Outcome, ReasoningBlock, Ref, Step, TextBlock, Trace, Usage

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_REASONING = ("reasoning_content", "reasoning")


class OpenAiChat:
    """The reader."""

    name = "openai_chat"
    title = "OpenAI chat messages"

    def score(self, source: Source) -> int:
        """Low, as many formats have such messages; none where they have Anthropic's blocks."""
        found = list(_chat.samples(source))
        fits = all(_chat.is_chat(messages, _ROLES) and not _chat.has_blocks(messages) for messages in found)
        return 40 if found and fits else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each list of messages."""
        for conversation in _chat.conversations(source, report):
            yield _read(source, conversation)


def _read(source: Source, conversation: _chat.Conversation) -> Trace:
    builder = Builder(source, OpenAiChat.name)
    for note in conversation.raw.notes:
        builder.loss(note)
    document, trace = conversation.document, builder.trace
    for ordinal, message in enumerate(conversation.messages):
        _message(builder, message, Ref(ordinal=ordinal))
    _response(builder, document)
    trace.agent.model = trace.agent.model or _string(document, "model") or _string(document, "model_name")
    tools = document.get("tools")
    trace.agent.tool_definitions = tools if isinstance(tools, list) and tools else None
    trace.task.id, trace.task.repo = _string(document, "instance_id"), _string(document, "repo")
    if isinstance(patch := document.get("model_patch"), str):
        trace.final_patch = patch_of(patch, "model_patch")
        if trace.final_patch.crlf_stripped:
            builder.loss("patch-crlf")
    resolved, status = document.get("resolved"), _string(document, "exit_status")
    if isinstance(resolved, bool) or status is not None:
        trace.outcome = Outcome(
            resolved=resolved if isinstance(resolved, bool) else None, exit_status=status, origin="document"
        )
    last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
    if last is not None and all(call.family == "submit" for call in last.tool_calls):
        last.flags.terminal = True
    native = conversation.native_id or trace.task.id or source.stem
    return builder.finish(native, conversation.raw.digest())


def _message(builder: Builder, message: Any, ref: Ref) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in _ROLES:
        builder.event(message)
        builder.loss("unknown-record", str(role))
        return
    builder.mapped()
    content = message.get("content")
    if role in ("tool", "function"):
        for call_id in _ids(message):
            builder.result(call_id, read_result(content, message))
        return
    if role == "assistant":
        _answer(builder, message, ref)
        return
    step = builder.step("user" if role == "user" else "system", blocks=_blocks(content), ref=ref, role=role)
    if role != "user" and builder.trace.agent.system_prompt is None:
        builder.trace.agent.system_prompt = step.text()


def _answer(builder: Builder, message: Mapping[str, Any], ref: Ref) -> Step:
    step = builder.step("agent", _string(message, "id"), ref=ref, role="assistant")
    for key in _REASONING:
        if (thought := _string(message, key)) is not None:
            step.blocks.append(ReasoningBlock(text=thought))
            break
    step.blocks += _blocks(message.get("content"))
    if refusal := _string(message, "refusal"):
        step.blocks.append(TextBlock(text=refusal))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            builder.call(step, call)
        elif call is not None:
            builder.loss("bad-call", step.step_id, "a call that is no object is left out")
    if isinstance(old := message.get("function_call"), dict):
        builder.call(step, old)
    return step


def _response(builder: Builder, document: Mapping[str, Any]) -> None:
    """A log of one request holds the answer beside the messages: it is the last step."""
    response = document.get("response")
    choices = response.get("choices") if isinstance(response, dict) else None
    if not isinstance(response, dict) or not isinstance(choices, list) or not choices:
        return
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    builder.trace.agent.model = _string(response, "model")
    if not isinstance(message, dict):
        builder.event(response)
        return
    builder.mapped()
    step = _answer(builder, message, Ref(native_id=_string(response, "id")))
    step.stop_reason, step.model = _string(choices[0], "finish_reason"), _string(response, "model")
    usage = response.get("usage")
    if isinstance(usage, dict):
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else None
        step.usage = Usage(
            input=_count(usage.get("prompt_tokens")),
            output=_count(usage.get("completion_tokens")),
            cache_read=_count(cached),
        )
    if len(choices) > 1:
        builder.loss("other-choices", step.step_id, f"{len(choices) - 1} more answers are left out")


def _ids(message: Mapping[str, Any]) -> list[str | None]:
    found = message.get("tool_call_id", message.get("tool_call_ids"))
    ids = [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str) and one]
    return [*ids] or [None]


def _blocks(content: Any) -> list[Block]:
    if content is None or content == "":
        return []
    return [read_block(part) for part in content] if isinstance(content, list) else [TextBlock(text=as_text(content))]


def _string(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


READER = OpenAiChat()

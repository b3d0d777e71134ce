"""Conversations in the form of OpenAI's chat completions, which many data sets and logs have."""

from collections.abc import Iterator, Mapping
from typing import Any

from potato_bridge.converters.tool_calls import as_text, read_block, read_result
from potato_bridge.converters.traces import _chat
from potato_bridge.converters.traces._values import number_of
from potato_bridge.converters.traces.build import Builder, patch_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.model.trace import (
    Block,
    Outcome,
    ReasoningBlock,
    RedactedReasoningBlock,
    Ref,
    Step,
    TextBlock,
    Trace,
)

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
    return builder.finish(native, conversation.digest)


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
    content = message.get("content")
    step.blocks += _reasoning(message) + _blocks(content)
    if refusal := _string(message, "refusal"):
        step.blocks.append(TextBlock(text=refusal))
    if refusal or any(isinstance(part, dict) and part.get("type") == "refusal" for part in _parts(content)):
        step.extra["refusal"] = True
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
    response, answers = document.get("response"), _chat.answers_of(document)
    # What a proxy writes beside it is the price of this one request.
    builder.trace.cost_usd = number_of(document.get("cost", document.get("response_cost")))
    if not isinstance(response, dict) or not answers:
        return
    builder.trace.agent.model = _string(response, "model")
    if not isinstance(answers[0], dict):
        builder.event(response)
        return
    builder.mapped()
    step = _answer(builder, answers[0], Ref(native_id=_string(response, "id")))
    step.stop_reason, step.model = _string(response["choices"][0], "finish_reason"), _string(response, "model")
    if isinstance(usage := response.get("usage"), dict):
        step.usage = _chat.usage_of(usage)
    if len(answers) > 1:
        builder.loss("other-choices", step.step_id, f"{len(answers) - 1} more answers are left out")


def _reasoning(message: Mapping[str, Any]) -> list[Block]:
    """What was thought: one text, or OpenRouter's details, which say the same again and more."""
    told = next((text for key in _REASONING if (text := _string(message, key)) is not None), None)
    blocks: list[Block] = [] if told is None else [ReasoningBlock(text=told)]
    for detail in _parts(message.get("reasoning_details")):
        if not isinstance(detail, dict):
            continue
        text = _string(detail, "text") or _string(detail, "summary")
        signature, hidden = _string(detail, "signature"), _string(detail, "data")
        if hidden is not None:
            blocks.append(RedactedReasoningBlock(data=hidden, provider=_string(detail, "format")))
        elif text is not None and (told is None or text not in told):
            blocks.append(ReasoningBlock(text=text, signature=signature))
        elif signature is not None and isinstance(blocks[0], ReasoningBlock):
            blocks[0].signature = signature
    return blocks


def _ids(message: Mapping[str, Any]) -> list[str | None]:
    found = message.get("tool_call_id", message.get("tool_call_ids"))
    ids = [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str) and one]
    return [*ids] or [None]


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []


def _blocks(content: Any) -> list[Block]:
    if content is None or content == "":
        return []
    return [read_block(part) for part in content] if isinstance(content, list) else [TextBlock(text=as_text(content))]


def _string(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    return value if isinstance(value, str) and value else None


READER = OpenAiChat()

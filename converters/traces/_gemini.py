"""What the records of Gemini CLI have in common: parts of Gemini's API; and its stream and raw history."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from potato_bridge.converters.tool_calls import as_json, as_text
from potato_bridge.converters.traces._values import count_of, dict_of, string_of
from potato_bridge.converters.traces.build import Builder
from potato_bridge.model.trace import (
    Block,
    DocumentBlock,
    ImageBlock,
    Outcome,
    ReasoningBlock,
    RedactedReasoningBlock,
    Ref,
    Result,
    Step,
    TextBlock,
    UnknownBlock,
    Usage,
)

#: Text that the program, and not its user, has put into a user's message.
_HARNESS = re.compile(r"\s*<(session_context|hook_context)>.*</\1>\s*", re.S)
#: How a shell's output ends; what the command itself has printed stands before it.
_EXIT = re.compile(
    r"(?:^|\n)Exit Code: (-?\d{1,9})(?:\nSignal: [^\n]*)?(?:\nBackground PIDs: [^\n]*)?"
    r"(?:\nProcess Group PGID: [^\n]*)?\s*$"
)
_TAIL = 400


def parts_of(content: Any) -> list[Any]:
    """The parts of a content, which may be a text, a part or a list of them."""
    if isinstance(content, list):
        return content
    return [] if content is None or content == "" else [content]


def block_of(part: Any) -> Block:
    """A part that is neither a call nor a response."""
    if isinstance(part, str):
        return TextBlock(text=part)
    if not isinstance(part, dict):
        return UnknownBlock(raw=part)
    signature = string_of(part, "thoughtSignature")
    if (text := string_of(part, "text")) is not None:
        if part.get("thought") is True:
            return ReasoningBlock(text=text, signature=signature)
        return TextBlock(text=text)
    inline, file = dict_of(part, "inlineData"), dict_of(part, "fileData")
    mime = string_of(inline, "mimeType") or string_of(file, "mimeType")
    uri = string_of(file, "fileUri")
    if uri is None and mime is not None and (data := string_of(inline, "data")) is not None:
        uri = f"data:{mime};base64,{data}"
    if uri is not None:
        image = mime is not None and mime.startswith("image/")
        return ImageBlock(uri=uri, mime=mime) if image else DocumentBlock(uri=uri, mime=mime)
    return UnknownBlock(raw=part)


def speak(builder: Builder, step: Step, parts: Sequence[Any], known: frozenset[str] = frozenset()) -> None:
    """Takes the parts of a response.

    Args:
        builder: The trace in the making.
        step: The response's.
        parts: What it says and calls.
        known: Ids of calls that stand beside the parts, with their results.
    """
    for part in parts:
        call = part.get("functionCall") if isinstance(part, dict) else None
        if isinstance(part, dict) and not (part.get("thought") is True and string_of(part, "text") is not None):
            # The reasoning itself is not told; a signature stands for it.
            if (signature := string_of(part, "thoughtSignature")) is not None:
                step.blocks.append(RedactedReasoningBlock(data=signature, provider="google"))
        if isinstance(call, dict):
            if string_of(call, "id") not in known:
                builder.call(step, {"id": string_of(call, "id"), "name": call.get("name"), "args": call.get("args")})
        elif isinstance(part, dict) and isinstance(part.get("functionResponse"), dict):
            answer(builder, part)
        else:
            step.blocks.append(block_of(part))


def listen(builder: Builder, parts: Sequence[Any], ref: Ref) -> Step | None:
    """Takes the parts of a user's message.

    Returns:
        The step of what was said; None where there were only responses of tools.
    """
    said: list[Block] = []
    context: list[str] = []
    answers = 0
    for part in parts:
        if isinstance(part, dict) and isinstance(part.get("functionResponse"), dict):
            answer(builder, part)
            answers += 1
            continue
        block = block_of(part)
        if isinstance(block, TextBlock) and _HARNESS.fullmatch(block.text):
            context.append(block.text)
        else:
            said.append(block)
    if answers and not said and not context:
        return None
    step = builder.step("user", ref.native_id, ref=ref, role="user")
    if said:
        step.blocks = said
        if context:
            step.extra["context"] = context
    else:
        # Nobody typed it.
        step.blocks, step.flags.meta = [TextBlock(text=text) for text in context], bool(context)
    return step


def answer(builder: Builder, part: Mapping[str, Any]) -> None:
    """Gives a response to its call: by id, else to the oldest open call of that name."""
    response = dict_of(part, "functionResponse")
    result = result_of([part], string_of(response, "name"))
    if (call_id := string_of(response, "id")) is not None:
        builder.result(call_id, result)
        return
    name = response.get("name")
    call = next((one for one in builder.open_calls() if one.name == name), None)
    if call is None:
        builder.result(None, result)
    else:
        builder.answer(call, result, "order")


def result_of(parts: Sequence[Any], name: str | None) -> Result:
    """What came back from a tool."""
    result = Result()
    texts: list[str] = []
    others: list[Block] = []
    for part in parts:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        if not isinstance(response, dict):
            block = block_of(part)
            texts += [block.text] if isinstance(block, TextBlock) else []
            others += [] if isinstance(block, TextBlock) else [block]
            continue
        others += [block_of(one) for one in parts_of(response.get("parts"))]
        came = response.get("response")
        if not isinstance(came, dict):
            texts += [] if came is None else [as_text(came)]
            continue
        if came.get("error") not in (None, "", False):
            result.is_error = True
        key = next((key for key in ("output", "error") if came.get(key) is not None), None)
        texts.append(as_json(came) if key is None else as_text(came[key]))
        if key is not None and len(came) > 1:
            result.native = {"response": came}
    result.text = "\n".join(texts) if texts else None
    if others:
        result.blocks = [TextBlock(text=text) for text in texts] + others
    if name == "run_shell_command" and result.text is not None:
        ends = _EXIT.search(result.text[-_TAIL:])
        if ends is not None:
            result.exit_code = int(ends[1])
            result.is_error = result.exit_code != 0 or result.is_error
    return result


def timed(step: Step, row: Mapping[str, Any]) -> None:
    """Sets when a step was."""
    at = string_of(row, "timestamp")
    if at is not None:
        step.started_at, step.clock = step.started_at or at, "wall"


def end(builder: Builder) -> None:
    """The last response is the final answer where it calls no tool."""
    last = next((step for step in reversed(builder.trace.steps) if step.kind == "agent"), None)
    if last is not None and not last.tool_calls:
        last.flags.terminal = True


# --- the raw history --------------------------------------------------------------------------------------------------


def is_content(value: Any) -> bool:
    """Whether it is a content of Gemini's API."""
    return isinstance(value, dict) and value.get("role") in ("user", "model") and isinstance(value.get("parts"), list)


def contents_of(document: Any) -> list[Any] | None:
    """The contents that a document holds; None where there are none."""
    if isinstance(document, dict):
        for key in ("history", "contents"):
            found = document.get(key)
            if isinstance(found, list) and any(map(is_content, found)):
                return found
    return None


def take_contents(builder: Builder, contents: Sequence[Any]) -> None:
    """Takes a history: contents of the user, which hold responses of tools too, and of the model."""
    for ordinal, content in enumerate(contents):
        if not is_content(content):
            builder.event(content)
            builder.loss("unknown-record", "content")
            continue
        builder.mapped()
        ref = Ref(ordinal=ordinal)
        if content["role"] == "model":
            speak(builder, builder.step("agent", ref=ref, role="model"), content["parts"])
        else:
            listen(builder, content["parts"], ref)


# --- the stream -------------------------------------------------------------------------------------------------------

_STREAM = ("init", "message", "tool_use", "tool_result", "error", "result")


def is_stream(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these are records of `--output-format stream-json`."""
    begins = any(
        row.get("type") == "init" and isinstance(row.get("session_id"), str) and "subtype" not in row for row in rows
    )
    calls = any(row.get("type") == "tool_use" and "tool_name" in row and "tool_id" in row for row in rows)
    return begins or calls


class Stream:
    """One session of the stream. It has no ids of responses: a run of what the model says and calls is one."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.session: str | None = None
        self.step: Step | None = None
        self.answered = False
        self.talks = False

    def take(self, row: Any, ref: Ref, notes: Sequence[str]) -> None:
        """Takes one record."""
        kind = row.get("type") if isinstance(row, dict) else None
        if kind == "message" and row.get("role") in ("user", "assistant", "model"):
            self.builder.mapped(notes)
            self._message(row, ref)
        elif kind == "tool_use":
            self.builder.mapped(notes)
            call = {"id": string_of(row, "tool_id"), "name": row.get("tool_name"), "args": row.get("parameters")}
            self.builder.call(self._model(row, ref), call)
            self.talks = False
        elif kind == "tool_result":
            self.builder.mapped(notes)
            self.builder.result(string_of(row, "tool_id"), _streamed(row))
            self.answered, self.talks = True, False
        else:
            if kind not in _STREAM:
                self.builder.loss("unknown-record", str(kind))
            elif kind == "init":
                self.session = self.session or string_of(row, "session_id")
                self.builder.trace.agent.model = self.builder.trace.agent.model or string_of(row, "model")
                self.builder.trace.started_at = self.builder.trace.started_at or string_of(row, "timestamp")
            elif kind == "result":
                self._end(row)
            self.builder.event(row)

    def _model(self, row: Mapping[str, Any], ref: Ref) -> Step:
        if self.step is None or self.answered:
            self.step, self.answered, self.talks = self.builder.step("agent", role="assistant"), False, False
            timed(self.step, row)
            self.step.model = self.builder.trace.agent.model
        self.step.refs.append(ref)
        self.step.ended_at = string_of(row, "timestamp") or self.step.ended_at
        return self.step

    def _message(self, row: Mapping[str, Any], ref: Ref) -> None:
        parts = parts_of(row.get("content"))
        if row.get("role") == "user":
            self.step = None
            step = listen(self.builder, parts, ref)
            if step is not None:
                timed(step, row)
            return
        if row.get("delta") is not True and self.talks:
            # A message that is whole is a response of its own.
            self.step = None
        step = self._model(row, ref)
        last = step.blocks[-1] if step.blocks else None
        if self.talks and isinstance(last, TextBlock) and len(parts) == 1 and isinstance(parts[0], str):
            last.text += parts[0]
        else:
            speak(self.builder, step, parts)
        self.talks = True

    def _end(self, row: Mapping[str, Any]) -> None:
        trace, stats = self.builder.trace, dict_of(row, "stats")
        trace.ended_at = string_of(row, "timestamp") or trace.ended_at
        trace.outcome = Outcome(
            exit_status=string_of(row, "status"), origin="stream", raw=row.get("error") if "error" in row else None
        )
        used = Usage(
            input=count_of(stats, "input_tokens"),
            output=count_of(stats, "output_tokens"),
            cache_read=count_of(stats, "cached"),
        )
        if used != Usage():
            trace.usage = used


def _streamed(row: Mapping[str, Any]) -> Result:
    status, output, error = row.get("status"), row.get("output"), row.get("error")
    result = Result()
    came = error if output is None else output
    if isinstance(came, dict) and isinstance(message := came.get("message"), str):
        result.text, result.native = message, came
    elif came is not None:
        result.text = as_text(came)
    if isinstance(error, dict):
        result.error_kind = string_of(error, "type")
        result.native = error
    result.is_error = True if error is not None or status == "error" else False if status == "success" else None
    result.at = string_of(row, "timestamp")
    return result

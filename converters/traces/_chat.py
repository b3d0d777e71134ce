"""What holds lists of messages: a bare list, or documents with one, in a file, an array or JSON Lines."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from potato_bridge.converters.traces._values import count_of, dict_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import Usage

_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use")
#: Of a sample of Inspect, whose messages are of another form.
_SAMPLE = {"epoch", "target"}
_IDS = ("trace_id", "trajectory_id", "traj_id", "conversation_id", "session_id", "run_id", "id")


@dataclass(frozen=True, slots=True)
class Conversation:
    """One list of messages, and the document that it stands in (empty: it is bare).

    Attributes:
        raw: The record that it is, or the first message of an array.
        digest: Tells it from other conversations of the same id.
    """

    messages: Sequence[Any]
    document: Mapping[str, Any]
    raw: Raw
    digest: str

    @property
    def native_id(self) -> str | None:
        """The document's own id."""
        for key in _IDS:
            value = self.document.get(key)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return str(value)
        return None


def conversations(source: Source, report: Report) -> Iterator[Conversation]:
    """The conversations of a source, one at a time."""
    if source.form == "array" and _is_message(next(iter(source.head), None)):
        raws = list(source.records())
        yield Conversation([raw.value for raw in raws], {}, raws[0], raws[0].array_digest())
        return
    for raw in source.records():
        if raw.bad is not None:
            report.fail(source, raw.bad, raw.line)
        elif (messages := messages_of(raw.value)) is None:
            report.skip("no list of messages")
        else:
            yield Conversation(messages, raw.value if isinstance(raw.value, dict) else {}, raw, raw.digest())


def samples(source: Source) -> Iterator[Sequence[Any]]:
    """The lists of messages by which a source is recognised; none where a record has none."""
    if source.form == "array" and _is_message(next(iter(source.head), None)):
        yield source.head
        return
    found = [messages_of(value) for value in source.head]
    if all(messages is not None for messages in found):
        for messages, value in zip(found, source.head, strict=True):
            if messages:
                yield [*messages, *answers_of(value)[:1]]


def answers_of(document: Any) -> list[Any]:
    """The choices of a log of one request, which has its answer beside the messages: each a message, mostly one."""
    response = document.get("response") if isinstance(document, dict) else None
    choices = response.get("choices") if isinstance(response, dict) else None
    return (
        [one.get("message") if isinstance(one, dict) else None for one in (choices or ())]
        if isinstance(choices, list)
        else []
    )


def messages_of(document: Any) -> list[Any] | None:
    """The messages of a document, or of a bare list; some data sets have them as JSON in a text."""
    if isinstance(document, list):
        return document if document and all(map(_is_message, document)) else None
    if not isinstance(document, dict) or document.keys() >= _SAMPLE:
        return None
    messages = document.get("messages")
    if isinstance(messages, str) and messages.startswith("["):
        try:
            messages = json.loads(messages)
        except (ValueError, RecursionError):
            return None
    return messages if isinstance(messages, list) else None


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """The tokens of one completion; of what came from the cache each provider tells in its own place."""
    sent, came = dict_of(usage, "prompt_tokens_details"), dict_of(usage, "completion_tokens_details")
    read, written = count_of(sent, "cached_tokens"), count_of(sent, "cache_creation_tokens")
    return Usage(
        input=count_of(usage, "prompt_tokens"),
        output=count_of(usage, "completion_tokens"),
        cache_read=count_of(usage, "cache_read_input_tokens") if read is None else read,
        cache_write=count_of(usage, "cache_creation_input_tokens") if written is None else written,
        reasoning=count_of(came, "reasoning_tokens"),
    )


def has_blocks(messages: Sequence[Any]) -> bool:
    """Whether any content has blocks that only Anthropic's API has."""
    contents = [one.get("content") for one in messages if isinstance(one, dict)]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return any(isinstance(block, dict) and block.get("type") in _BLOCKS for block in blocks)


def is_chat(messages: Sequence[Any], roles: Sequence[str]) -> bool:
    """Whether all are messages of these roles, with an answer among them."""
    return all(_is_message(one) and one["role"] in roles for one in messages) and any(
        one["role"] == "assistant" for one in messages
    )


def _is_message(value: Any) -> bool:
    # Session files of agents have more around a message.
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "type" not in value

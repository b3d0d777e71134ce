"""What holds lists of messages: a bare list, or documents with one, in a file, an array or JSON Lines."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw

_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use")
#: Of a sample of Inspect, whose messages are of another form.
_SAMPLE = {"epoch", "target"}
_IDS = ("trace_id", "trajectory_id", "traj_id", "conversation_id", "session_id", "run_id", "id")


@dataclass(frozen=True, slots=True)
class Conversation:
    """One list of messages, and the document that it stands in (empty: it is bare)."""

    messages: Sequence[Any]
    document: Mapping[str, Any]
    raw: Raw

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
        yield Conversation([raw.value for raw in raws], {}, raws[0])
        return
    for raw in source.records():
        if raw.bad is not None:
            report.fail(source, raw.bad, raw.line)
        elif (messages := messages_of(raw.value)) is None:
            report.skip("no list of messages")
        else:
            yield Conversation(messages, raw.value, raw)


def samples(source: Source) -> Iterator[Sequence[Any]]:
    """The lists of messages by which a source is recognised; none where a record has none."""
    if source.form == "array" and _is_message(next(iter(source.head), None)):
        yield source.head
        return
    found = [messages_of(value) for value in source.head]
    if all(messages is not None for messages in found):
        yield from (messages for messages in found if messages)


def messages_of(document: Any) -> list[Any] | None:
    """The messages of a document; some data sets have them as JSON in a text."""
    if not isinstance(document, dict) or document.keys() >= _SAMPLE:
        return None
    messages = document.get("messages")
    if isinstance(messages, str) and messages.startswith("["):
        try:
            messages = json.loads(messages)
        except (ValueError, RecursionError):
            return None
    return messages if isinstance(messages, list) else None


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

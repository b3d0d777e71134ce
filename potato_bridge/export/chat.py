"""Messages of a chat, as preference trainers take them: text alone, and turns that alternate."""

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pyarrow

#: `{"role", "content"}` each.
Messages: TypeAlias = list[dict[str, str]]

#: Between texts that become one message.
GAP = "\n\n"


def said(role: str, text: str) -> Messages:
    """One message."""
    return [{"role": role, "content": text}]


def joined(texts: Iterable[str]) -> str:
    """The texts of steps as one message's: templates of several models refuse two messages of one role in a row."""
    return GAP.join(text for text in texts if text)


def add(messages: Messages, role: str, text: str) -> None:
    """Adds a text to a chat; to its last message where that has the role."""
    if not text:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += GAP + text
    else:
        messages += said(role, text)


def messages_type() -> "pyarrow.DataType":
    """The type of a column of messages."""
    import pyarrow

    text = pyarrow.string()
    return pyarrow.list_(pyarrow.struct([("role", text), ("content", text)]))


def check_pairs(batch: Any) -> str:
    """What a preference trainer would refuse, or train for nothing, in rows with prompt, chosen and rejected."""
    columns = [batch.column(name).to_pylist() for name in ("prompt", "chosen", "rejected")]
    for prompt, chosen, rejected in zip(*columns, strict=True):
        for messages in (prompt, chosen, rejected):
            if not messages or any(not message["role"] or not message["content"] for message in messages):
                return "a prompt, chosen or rejected has no messages, or one without text"
            roles = [message["role"] for message in messages]
            if any(first == second for first, second in pairwise(roles)):
                return "two messages of one role follow each other"
        if prompt[-1]["role"] == "assistant" or chosen[0]["role"] != "assistant" or rejected[0]["role"] != "assistant":
            return "a prompt ends with an assistant's message, or a completion begins with another's"
        if chosen == rejected:
            return "chosen and rejected are the same"
    return ""

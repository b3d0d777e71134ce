"""Items of OpenAI's Responses API, which Codex writes to its rollouts: texts, reasoning, calls, outputs."""

import json
import re
from collections.abc import Mapping
from typing import Any

from potato_bridge.converters.tool_calls import as_json, as_text, read_blocks
from potato_bridge.converters.traces._values import count_of, millis_of, string_of
from potato_bridge.model.trace import Block, ReasoningBlock, RedactedReasoningBlock, Result, TextBlock

#: Of an item's type, what it is: a call whose arguments stand in this field.
CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
    "tool_search_call": "arguments",
    "image_generation_call": "revised_prompt",
}
#: What Codex puts into the user's mouth.
HARNESS = re.compile(
    r"\s*<(?:environment_context|user_instructions|turn_aborted|permissions instructions|skill|INSTRUCTIONS|"
    r"subagent_notification|user_shell_command|system-reminder)|\s*# AGENTS\.md instructions"
)
#: Lines of the head that Codex puts before what a command wrote.
_HEAD = r"(?:(?:Chunk ID|Wall time|Original token count|Total output lines|Warning): ?[^\n]*\n)*"
#: Only in that head is an exit code Codex's: what a command wrote may say `Exit code: 1` of anything.
_EXITED = re.compile(rf"{_HEAD}(?:Process exited with code|Exit code:) (-?\d{{1,10}})\n{_HEAD}Output:")


def texts_of(content: Any) -> list[Block]:
    """The blocks of a message."""
    if isinstance(content, list):
        # An image without an address says nothing.
        return read_blocks([one for one in content if not (isinstance(one, dict) and one.get("image_url", 0) is None)])
    return [] if content is None else [TextBlock(text=as_text(content))]


def reasoning_of(item: Mapping[str, Any]) -> list[Block]:
    """What a reasoning item shows, and what it keeps to itself."""
    blocks: list[Block] = []
    for key in ("summary", "content"):
        parts = item.get(key)
        for part in parts if isinstance(parts, list) else []:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                blocks.append(ReasoningBlock(text=text))
    if (hidden := string_of(item, "encrypted_content")) is not None:
        blocks.append(RedactedReasoningBlock(data=hidden, provider="openai"))
    return blocks


def result_of(item: Mapping[str, Any]) -> Result:
    """What an output item holds; Codex writes the exit code in one of two ways."""
    output = item.get("output", item.get("tools"))
    result = Result()
    if isinstance(output, str):
        inner = _object(output)
        if inner is not None and isinstance(inner.get("output"), str):
            result.text, about = inner["output"], inner.get("metadata")
            about = about if isinstance(about, dict) else {}
            result.exit_code = count_of(about, "exit_code", least=-1 << 31)
            result.duration_ms = millis_of(about.get("duration_seconds"))
        else:
            result.text = output
            if (found := _EXITED.match(output[:1000])) is not None:
                result.exit_code = int(found[1])
    elif isinstance(output, list | dict):
        blocks = read_blocks(output if isinstance(output, list) else [output])
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        result.text = "\n".join(texts) if texts else as_json(output)
        result.blocks = blocks if any(not isinstance(block, TextBlock) for block in blocks) else []
    if result.exit_code is not None:
        result.is_error = result.exit_code != 0
    return result


def _object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

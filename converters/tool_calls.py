"""Tool calls and what came back for them, in the shapes that items have: Potato's own, OpenAI's, Anthropic's."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from potato_bridge.converters.tool_edits import read_edits
from potato_bridge.errors import InputError
from potato_bridge.model.node import from_builtins
from potato_bridge.model.trace import (
    Block,
    DocumentBlock,
    Edit,
    Family,
    ImageBlock,
    ReasoningBlock,
    RedactedReasoningBlock,
    Result,
    TextBlock,
    ToolCall,
    UnknownBlock,
)

_NAMES: dict[Family, str] = {
    "shell": """bash terminal shell run run_command execute_bash execute_command run_shell_command run_terminal_cmd
        local_shell exec exec_command cmd powershell""",
    "read": "read read_file view open open_file cat notebookread read_many_files",
    "search": """grep glob search find ls list_dir list_directory list_files search_file_content search_files
        grep_search file_search codebase_search""",
    "edit": """edit replace multiedit notebookedit str_replace str_replace_editor str_replace_based_edit_tool edit_file
        apply_patch search_replace insert replace_in_file""",
    "write": "write create write_file create_file write_to_file save_file",
    "delete": "delete delete_file remove_file rm",
    "web": """webfetch websearch web_search google_web_search web_fetch fetch browse open_url browser google
        click type scroll hover select navigate goto press""",
    "plan": "todowrite todoread update_plan exitplanmode",
    "think": "think sequentialthinking",
    "agent": "task agent delegate spawn_agent",
    "submit": "submit finish done attempt_completion final_answer",
    "ask": "askuserquestion ask_user ask_followup_question request_user_input",
}
_FAMILIES: dict[str, Family] = {name: family for family, names in _NAMES.items() for name in names.split()}
_CHANGING = frozenset(("edit", "write", "delete"))

_INPUT = ("input", "arguments", "args", "arguments_raw", "tool_input", "action_input", "parameters")
_OUTPUT = ("output", "result", "observation", "response")
_CALL_IDS = ("id", "call_id", "tool_call_id", "tool_use_id")

_HUB_KINDS = ("text", "reasoning", "redacted_reasoning", "call_ref", "image", "document", "unknown")

#: How images start that are given as bare base64.
_BASE64 = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}


def family_of(name: str) -> Family:
    """What kind of tool it is, by its name."""
    if name.startswith("mcp__"):
        return "mcp"
    return _FAMILIES.get(name.lower(), "other")


def as_json(value: Any) -> str:
    """A value as the exports write it: JSON, keys in their order."""
    return json.dumps(value, ensure_ascii=False)


def as_text(value: Any) -> str:
    """Text as it is, anything else as JSON."""
    return value if isinstance(value, str) else as_json(value)


def first(values: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The first value that is there and not null."""
    for key in keys:
        if (value := values.get(key)) is not None:
            return value
    return None


def read_call(call: Mapping[str, Any], step_id: str, position: int, taken: set[str]) -> ToolCall:
    """A tool call of any shape.

    Args:
        call: The source's own object.
        step_id: The step that it stands in.
        position: 0-based position in the step, for an id where the source has none.
        taken: Call ids of the trace so far; the new one is added.
    """
    if isinstance(native := call.get("native"), dict) and isinstance(native.get("name"), str):
        # A call that was written in the words of Potato's display, with what the agent wrote beside it.
        call = {key: value for key, value in call.items() if key not in ("tool", "input", "native")} | native
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = first(call, ("tool", "tool_name")) or first(inner, ("name",)) or (function if function else None)
    value = first(inner, _INPUT)
    arguments, raw = _read_arguments(value)
    native = first(call, _CALL_IDS)
    origin: Literal["native", "synthesised"] = "native"
    call_id = str(native) if isinstance(native, str | int) else ""
    if not call_id or call_id in taken:
        # A reused id would pair results with the wrong call.
        call_id, origin = f"{step_id}#{position}", "synthesised"
    taken.add(call_id)
    result = _result_of(call)
    name = name if isinstance(name, str) and name else "unknown"
    family = family_of(name)
    edits = _written_edits(call.get("edits"))
    if edits is None:
        edits = read_edits(name, arguments, raw, result.is_error if result else None) if family in _CHANGING else []
    return ToolCall(
        call_id=call_id,
        id_origin=origin,
        name=name,
        family=family,
        arguments=arguments,
        arguments_raw=raw,
        edits=edits,
        result=result,
    )


def _written_edits(value: Any) -> list[Edit] | None:
    """Edits that stand beside a call in the form of the hub; None where there are none."""
    if not isinstance(value, list):
        return None
    try:
        return [from_builtins(Edit, edit) for edit in value]
    except InputError:
        # `edits` may be the arguments of a tool.
        return None


def _read_arguments(value: Any) -> tuple[dict[str, Any] | None, str | None]:
    if isinstance(value, dict):
        return value, None
    if not isinstance(value, str):
        return None, None if value is None else as_json(value)
    if value.lstrip().startswith("{"):
        # OpenAI sends the object as text.
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return None, value
        if isinstance(parsed, dict):
            return parsed, None
    return None, value


def _result_of(call: Mapping[str, Any]) -> Result | None:
    """What a call object says about its own result; None where it says nothing."""
    error = call.get("error")
    output = first(call, _OUTPUT)
    if output is None and isinstance(error, str) and error:
        output = error
    if output is None and not any(call.get(key) is not None for key in ("is_error", "exit_code")):
        return None
    return read_result(output, call)


def read_result(output: Any, source: Mapping[str, Any], paired_by: Literal["id", "order"] | None = None) -> Result:
    """A result: text, a list of content blocks, or an object.

    Args:
        output: What came back.
        source: The object that it stands in, whose `is_error`, `error` and `exit_code` tell how it went.
        paired_by: How it was matched to its call.
    """
    result = Result(paired_by=paired_by)
    facts = dict(source)
    if isinstance(output, dict) and not _is_image(output):
        facts |= {key: value for key, value in output.items() if key in ("is_error", "error", "exit_code")}
        result.stdout, result.stderr = _string(output, "stdout"), _string(output, "stderr")
        text = first(output, ("text", "output", "content"))
        if isinstance(text, str):
            result.text = text
        elif result.stdout is not None or result.stderr is not None:
            result.text = "\n".join(part for part in (result.stdout, result.stderr) if part)
        else:
            result.text = as_json(output)
        result.blocks = [TextBlock(text=result.text), *images] if (images := read_images(output)) else []
        result.native = output
    elif isinstance(output, list | dict):
        blocks = read_blocks(output if isinstance(output, list) else [output])
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        result.text = "\n".join(texts) if texts else None
        if any(not isinstance(block, TextBlock) for block in blocks):
            result.blocks = blocks
    elif output is not None:
        result.text = as_text(output)
    result.is_error = _is_error(facts)
    code = facts.get("exit_code")
    result.exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    result.output_type, result.language = _string(source, "output_type"), _string(source, "language")
    result.truncated = source.get("truncated") is True
    return result


def _string(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    return value if isinstance(value, str) else None


def _is_error(facts: Mapping[str, Any]) -> bool | None:
    if isinstance(flag := facts.get("is_error"), bool):
        return flag
    error = facts.get("error")
    if isinstance(error, bool):
        return error
    if isinstance(error, str | dict) and error:
        return True
    code = facts.get("exit_code")
    return code != 0 if isinstance(code, int) and not isinstance(code, bool) else None


def read_blocks(content: list[Any]) -> list[Block]:
    """A list of content blocks, without calls and results (the caller takes those)."""
    return [read_block(entry) for entry in content]


def read_block(entry: Any) -> Block:
    """One content block; of an unknown kind it is kept as it is."""
    if isinstance(entry, str):
        return TextBlock(text=entry)
    if not isinstance(entry, dict):
        return UnknownBlock(raw=entry)
    kind = entry.get("type")
    text = entry.get("text")
    if isinstance(text, str) and kind in (None, "text", "input_text", "output_text"):
        return TextBlock(text=text)
    if kind == "refusal" and isinstance(refusal := entry.get("refusal"), str):
        return TextBlock(text=refusal)
    thinking = first(entry, ("thinking", "reasoning", "text"))
    if kind in ("thinking", "reasoning") and isinstance(thinking, str):
        return ReasoningBlock(text=thinking, signature=_string(entry, "signature"))
    if kind == "redacted_thinking" and isinstance(data := entry.get("data"), str):
        return RedactedReasoningBlock(data=data, provider="anthropic")
    if _is_image(entry) and (image := read_image(entry)) is not None:
        return image
    if kind == "document":
        document = read_image(entry)
        if document is not None:
            return DocumentBlock(uri=document.uri, mime=document.mime, title=_string(entry, "title"))
    # A malformed block of a kind that the hub has would be read as that kind from a file: it is put in a box.
    return UnknownBlock(raw={"block": entry} if kind in _HUB_KINDS else entry)


def _is_image(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") in ("image", "image_url", "input_image", "screenshot")


def read_image(value: Any) -> ImageBlock | None:
    """An image: a URL, a path, base64, or an object that holds one of them."""
    if isinstance(value, str):
        if not value:
            return None
        bare = next((kind for head, kind in _BASE64.items() if len(value) > 200 and value.startswith(head)), None)
        return ImageBlock(uri=value if bare is None else f"data:{bare};base64,{value}", mime=bare)
    if not isinstance(value, dict):
        return None
    for key in ("source", "image_url", "image"):
        if isinstance(value.get(key), dict):
            return read_image(value[key])
    mime: Any = first(value, ("media_type", "mime", "mime_type", "mimeType"))
    mime = mime if isinstance(mime, str) else None
    data = value.get("data")
    if isinstance(data, str) and mime is not None and not data.startswith("data:"):
        return ImageBlock(uri=f"data:{mime};base64,{data}", mime=mime)
    image = read_image(first(value, ("url", "uri", "path", "file", "image_url", "image", "data", "screenshot")))
    if image is not None:
        image.mime = image.mime or mime
        image.alt = _string(value, "alt") or _string(value, "caption")
    return image


#: Fields of a step or an observation that hold an image or a list of them.
IMAGE_KEYS = frozenset(
    ("screenshot", "screenshot_url", "screenshot_path", "screenshots", "image", "image_url", "images")
)


def read_images(values: Mapping[str, Any]) -> list[ImageBlock]:
    """The images that stand in fields of an object, in the order of the fields."""
    images: list[ImageBlock] = []
    if IMAGE_KEYS.isdisjoint(values):
        return images
    for key, value in values.items():
        if key in IMAGE_KEYS:
            entries = value if isinstance(value, list) else [value]
            images += [image for entry in entries if (image := read_image(entry)) is not None]
    return images

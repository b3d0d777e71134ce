"""A trace as an ATIF 1.8 trajectory, as Harbor and Terminal-Bench take it.

What ATIF has no field for stands in `extra.potato_bridge` of the trajectory and of its steps, so that the reader gives
back an equal trace. Reasoning is ATIF's own field; encrypted reasoning and signatures stand in the extra.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeGuard

from msgspec.structs import replace

from potato_bridge.converters.traces._atif_extra import KEY, keep
from potato_bridge.converters.traces.atif import plain_steps, plain_trace
from potato_bridge.converters.traces.write._shown import shown
from potato_bridge.model.node import to_builtins
from potato_bridge.model.trace import (
    Agent,
    Block,
    ImageBlock,
    ReasoningBlock,
    Result,
    Step,
    ToolCall,
    Trace,
    Usage,
)

VERSION = "ATIF-v1.8"

#: Who a step is of: ATIF knows no environment, no summaries and no notices.
_SOURCES = {"agent": "agent", "user": "user"}
_MIMES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
#: What an agent without a name or a version has, as ATIF wants both.
_UNKNOWN = "unknown"


def to_atif(trace: Trace) -> dict[str, Any]:
    """The trajectory of a trace, its sub-agents' inside.

    Args:
        trace: The trace, which is not changed; the document shares values with it.
    """
    return _document(trace, trace.trace_id)


def _document(trace: Trace, name: str) -> dict[str, Any]:
    children: dict[str, Trace] = {}
    for child in trace.children:
        # Ids of one list must differ.
        own = child.trace_id
        while own in children:
            own += "~"
        children[own] = child
    extra = trace.extra
    document: dict[str, Any] = {
        "schema_version": VERSION,
        "trajectory_id": name,
        "agent": _agent(trace.agent),
        "steps": [_step(step, ordinal, children) for ordinal, step in enumerate(trace.steps)],
        "final_metrics": _totals(trace),
    }
    for key in ("notes", "continued_trajectory_ref"):
        if isinstance(text := extra.get(key), str):
            document[key] = text
    if others := _others(extra.get("extra")):
        document["extra"] = others
    if children:
        document["subagent_trajectories"] = [_document(child, own) for own, child in children.items()]
    real = to_builtins(replace(trace, steps=[], children=[]))
    keep(document, plain_trace(document), real, steps=len(trace.steps))
    return document


def _agent(agent: Agent) -> dict[str, Any]:
    made: dict[str, Any] = {"name": agent.name or _UNKNOWN, "version": agent.version or _UNKNOWN}
    if agent.model is not None:
        made["model_name"] = agent.model
    tools = agent.tool_definitions
    if tools is not None and all(isinstance(tool, dict) for tool in tools):
        made["tool_definitions"] = tools
    if isinstance(agent.config, dict) and agent.config:
        made["extra"] = agent.config
    return made


def _totals(trace: Trace) -> dict[str, Any]:
    made: dict[str, Any] = {f"total_{key}": value for key, value in _tokens(trace.usage).items()}
    if _is_number(trace.cost_usd):
        made["total_cost_usd"] = float(trace.cost_usd)
    made["total_steps"] = len(trace.steps)
    given = trace.extra.get("final_metrics")
    if isinstance(given, dict) and isinstance(more := given.get("extra"), dict) and more:
        made["extra"] = more
    return made


def _step(step: Step, ordinal: int, children: Mapping[str, Trace]) -> dict[str, Any]:
    source = _SOURCES.get(step.kind, "system")
    made: dict[str, Any] = {"step_id": ordinal + 1, "source": source, "message": _content(step.blocks)}
    if step.started_at is not None and _is_time(step.started_at):
        made["timestamp"] = step.started_at
    results: list[dict[str, Any]] = []
    if source == "agent":
        made |= _of_agent(step)
        for call in step.tool_calls:
            started = [
                {"trajectory_id": own} for own, child in children.items() if child.trace_id == call.child_trace_id
            ]
            if call.result is not None or started:
                about = {"source_call_id": call.call_id, **_result(call.result or Result())}
                if started:
                    about["subagent_trajectory_ref"] = started + about.get("subagent_trajectory_ref", [])
                results.append(about)
    results += [_result(seen) for seen in step.observations]
    if results:
        made["observation"] = {"results": results}
    if step.flags.copied_context:
        made["is_copied_context"] = True
    if others := _others(step.extra.get("extra")):
        made["extra"] = others
    plain, _ = plain_steps(made, ordinal)
    keep(made, plain[0], to_builtins(step))
    return made


def _of_agent(step: Step) -> dict[str, Any]:
    """What only a step of an agent may have."""
    made: dict[str, Any] = {}
    if step.model is not None:
        made["model_name"] = step.model
    if step.effort is not None:
        made["reasoning_effort"] = step.effort
    if any(isinstance(block, ReasoningBlock) for block in step.blocks):
        made["reasoning_content"] = step.reasoning()
    if step.tool_calls:
        extras = step.extra.get("tool_calls")
        made["tool_calls"] = [_call(call, extras) for call in step.tool_calls]
    if metrics := _metrics(step):
        made["metrics"] = metrics
    count = step.extra.get("llm_call_count")
    # A step that no model made has neither, by the rules.
    if _is_int(count) and count >= 0 and (count or not made.keys() & {"metrics", "reasoning_content"}):
        made["llm_call_count"] = count
    return made


def _call(call: ToolCall, extras: Any) -> dict[str, Any]:
    # Arguments that are no object stand in the bridge's extra alone.
    made: dict[str, Any] = {"tool_call_id": call.call_id, "function_name": call.name, "arguments": call.arguments or {}}
    given = extras.get(call.call_id) if isinstance(extras, dict) else None
    if isinstance(given, dict) and given:
        made["extra"] = given
    return made


def _result(result: Result) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if result.blocks:
        made["content"] = _content(result.blocks)
    elif result.text is not None:
        made["content"] = result.text
    native = result.native if isinstance(result.native, dict) else {}
    given, files = native.get("extra"), native.get("subagent_trajectory_ref")
    if isinstance(given, dict) and given:
        made["extra"] = given
    if isinstance(files, list) and files and all(map(_is_file, files)):
        made["subagent_trajectory_ref"] = files
    return made


def _is_file(reference: Any) -> bool:
    """Whether it is a reference to another file, as a trajectory that was read had it."""
    return (
        isinstance(reference, dict)
        and {"trajectory_path"} <= reference.keys() <= {"trajectory_id", "trajectory_path", "session_id", "extra"}
        and all(isinstance(value, dict if key == "extra" else str) for key, value in reference.items())
    )


def _metrics(step: Step) -> dict[str, Any]:
    """The tokens, and what an ATIF source had beside them where it still belongs to these tokens."""
    tokens = _tokens(step.usage)
    given = step.extra.get("metrics")
    made: dict[str, Any] = {}
    if isinstance(given, dict):
        for key in ("cost_usd", "prompt_token_ids", "completion_token_ids", "logprobs", "extra"):
            value = given.get(key)
            if key == "cost_usd" and _is_number(value):
                made[key] = float(value)
            elif key == "logprobs" and isinstance(value, list) and all(map(_is_number, value)):
                made[key] = [float(one) for one in value]
            elif key.endswith("_ids") and isinstance(value, list) and all(map(_is_int, value)):
                made[key] = value
            elif key == "extra" and isinstance(value, dict) and value:
                made[key] = value
    return {**tokens, **made}


def _tokens(usage: Usage | None) -> dict[str, int]:
    if usage is None:
        return {}
    found = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "cached_tokens": usage.cache_read}
    return {key: value for key, value in found.items() if value is not None}


def _content(blocks: Sequence[Block]) -> str | list[dict[str, Any]]:
    """A text where one is enough; parts where there are several, or images."""
    parts = [part for block in blocks if (part := _part(block)) is not None]
    if not parts:
        return ""
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _part(block: Block) -> dict[str, Any] | None:
    """An image by its place; one without a place (embedded, or a hash alone), or of another kind, is named."""
    if isinstance(block, ImageBlock) and block.uri and not block.uri.startswith("data:"):
        mime = block.mime or _mime_of(block.uri)
        if mime in _MIMES.values():
            return {"type": "image", "source": {"media_type": mime, "path": block.uri}}
    text = shown(block)
    return None if text is None else {"type": "text", "text": text}


def _mime_of(path: str) -> str | None:
    return _MIMES.get(path.partition("?")[0].rpartition(".")[2].lower())


def _others(extra: Any) -> dict[str, Any]:
    """What other programs have put into an `extra` that was read."""
    return {key: value for key, value in extra.items() if key != KEY} if isinstance(extra, dict) else {}


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return False
    return True


def _is_int(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> TypeGuard[float]:
    # What is greater is no price and no probability, and may be no float.
    return (_is_int(value) or isinstance(value, float)) and abs(value) < 1e300

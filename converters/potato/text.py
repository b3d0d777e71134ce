"""The text of a step, as every export writes it (DESIGN §2, "Step text")."""

from potato_bridge.converters.tool_calls import as_json, as_text
from potato_bridge.model.trace import ReasoningBlock, Step, TextBlock, ToolCall


def step_text(step: Step, step_text_key: str | None, observations: bool = False) -> str:
    """The step's own text verbatim, then each tool call on a line of its own.

    Args:
        step: A step of a trace that was made from an item.
        step_text_key: The one field of the source's entry that is the text; None: the rule. An entry without that
            field falls back to the rule, as in Potato.
        observations: Whether to add what came back: the results of the calls, then what else was observed.
    """
    parts = _own_text(step, step_text_key)
    if observations:
        results = [call.result for call in step.tool_calls if call.result is not None]
        parts += [result.text for result in (*results, *step.observations) if result.text]
    return "\n".join(parts)


def _own_text(step: Step, step_text_key: str | None) -> list[str]:
    if step_text_key is not None and isinstance(step.native, dict):
        value = step.native.get(step_text_key)
        if value is not None:
            return [as_text(value)]
    return said_text(step) + [_call_text(call) for call in step.tool_calls]


def said_text(step: Step) -> list[str]:
    """What a step says beside its calls: reasoning, then text."""
    reasoning = [block.text for block in step.blocks if isinstance(block, ReasoningBlock)]
    texts = [block.text for block in step.blocks if isinstance(block, TextBlock)]
    return [part for part in (*reasoning, *texts) if part]


def _call_text(call: ToolCall) -> str:
    if call.arguments is not None:
        return f"{call.name} {as_json(call.arguments)}"
    return call.name if call.arguments_raw is None else f"{call.name} {call.arguments_raw}"

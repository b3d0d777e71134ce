"""A trace as messages with tool calls: what chat templates draw with tools, and supervised trainers mask by roles."""

from typing import TYPE_CHECKING, Any

from potato_bridge.converters.potato.text import said_text
from potato_bridge.converters.tool_calls import as_json
from potato_bridge.export.chat import GAP
from potato_bridge.export.rows import LeftOut, Reason
from potato_bridge.model.trace import Step, Trace

if TYPE_CHECKING:
    import pyarrow

_ROLES = {"system": "system", "agent": "assistant"}


def tool_messages(trace: Trace, prompt: str) -> list[dict[str, Any]] | LeftOut:
    """The messages of a run: of an agent's step one, with all its calls, and one of role `tool` for each result.

    What was observed beside calls is the user's, and so is the task where the agent begins. Messages of
    one role that follow each other are one. Tool calls are JSON texts, as the column wants them; their arguments are
    objects: a text would be quoted a second time by the template.
    """
    messages: list[dict[str, Any]] = []
    first = next((number for number, step in enumerate(trace.steps) if step.kind == "agent"), len(trace.steps))
    asked = any(step.kind == "user" and not step.flags.meta for step in trace.steps[:first])
    for number, step in enumerate(trace.steps):
        if number == first and not asked:
            _add(messages, "user", prompt)
        if step.kind == "agent" and not step.flags.ratable:
            # A demonstration, or a turn that another run has: it would be trained like the others.
            continue
        problem = _take(messages, step)
        if problem is not None:
            return problem
    if not any(message["role"] == "assistant" for message in messages):
        return LeftOut(Reason.NO_COMPLETION, "the agent neither says nor does anything")
    return messages


def _take(messages: list[dict[str, Any]], step: Step) -> LeftOut | None:
    calls = []
    for call in step.tool_calls:
        if call.arguments is None and call.arguments_raw is not None:
            message = f"the arguments of {call.name} in step {step.step_id} are no JSON: no template can write them"
            return LeftOut(Reason.INVALID_ARGUMENTS, message)
        function = {"name": call.name, "arguments": call.arguments or {}}
        calls.append(as_json({"id": call.call_id, "type": "function", "function": function}))
    _add(messages, _ROLES.get(step.kind, "user"), "\n".join(said_text(step)), calls)
    for call in step.tool_calls:
        if call.result is not None:
            messages.append({"role": "tool", "tool_call_id": call.call_id, "content": call.result.text or ""})
    for seen in step.observations:
        _add(messages, "user", seen.text or "")
    return None


def _add(messages: list[dict[str, Any]], role: str, text: str, calls: list[str] | None = None) -> None:
    if not text and not calls:
        return
    last = messages[-1] if messages else None
    if last is None or last["role"] != role:
        messages.append({"role": role, "content": text or None} | ({"tool_calls": calls} if calls else {}))
        return
    last["content"] = GAP.join(part for part in (last["content"], text) if part) or None
    if calls:
        last["tool_calls"] = [*last.get("tool_calls", ()), *calls]


def add_answer(messages: list[dict[str, Any]], text: str) -> None:
    """Adds what the agent says at the end."""
    _add(messages, "assistant", text)


def columns() -> "dict[str, pyarrow.DataType]":
    """The columns `messages` and `tools`; calls and definitions are JSON, whose keys differ from one to the next."""
    import pyarrow

    text, made = pyarrow.string(), pyarrow.list_(pyarrow.json_())
    fields = [("role", text), ("content", text), ("tool_call_id", text), ("tool_calls", made)]
    return {"messages": pyarrow.list_(pyarrow.struct(fields)), "tools": made}


def check(batch: Any) -> str:
    """What a chat template would refuse, or a trainer train for nothing, in written rows."""
    for messages in batch.column("messages").to_pylist():
        if not messages or not any(message["role"] == "assistant" for message in messages):
            return "a row has no message of an assistant"
        for message in messages:
            if message["content"] is None and not message["tool_calls"]:
                return f"a message of role {message['role']} has neither a content nor calls"
    return ""

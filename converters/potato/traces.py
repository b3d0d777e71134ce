"""Items to traces and back. One entry of the step list is one step; `native` is the entry itself, so nothing is lost.

A result that stands in a later entry (a `tool` message, a `tool_result` block) belongs to the call that its id names.
Where all of an entry went to calls that way, its step stays, empty and `meta`: positions are Potato's step numbers.
"""

from dataclasses import dataclass, field
from typing import Any

from potato_bridge.converters.potato.turns import ROLE_KEYS, Listing, Turn, listing, read_turn
from potato_bridge.converters.tool_calls import (
    IMAGE_KEYS,
    as_json,
    as_text,
    first,
    read_block,
    read_call,
    read_images,
    read_result,
)
from potato_bridge.model.project import Item, Project
from potato_bridge.model.trace import (
    Agent,
    CallBlock,
    Flags,
    Patch,
    ReasoningBlock,
    Ref,
    Result,
    Step,
    Task,
    TextBlock,
    ToolCall,
    Trace,
    TraceSource,
)
from potato_bridge.notices import Notices

_REASONING = ("reasoning", "thinking", "reasoning_content", "thought")
_CONTENT = ("content", "text", "message", "value")
_OBSERVED = ("observation", "observations", "output", "result")
#: Fields of a web agent's step that are no arguments of its action: texts shown elsewhere, and what was recorded.
_NOT_ARGUMENTS = frozenset(
    (
        *(*_REASONING, *_OBSERVED, *IMAGE_KEYS, *ROLE_KEYS),
        *("action_type", "step_index", "index", "id", "timestamp", "viewport", "mouse_path", "step_type"),
        *("is_error", "error", "exit_code", "tool_calls", "content", "message"),
    )
)
_ROLES = frozenset(ROLE_KEYS)
#: Fields by which a step is recognised; one with none of them is shown as JSON, as in Potato.
_KNOWN = frozenset((*_REASONING, *_CONTENT, *_OBSERVED, *IMAGE_KEYS, "action", "action_type", "tool", "tool_calls"))


def to_trace(item: Item, project: Project, notices: Notices) -> Trace:
    """The trace that an item holds: the list at `project.steps_key()`. Without one the trace has no steps."""
    key = project.steps_key()
    entries = item.data.get(key) if key is not None else None
    trace = Trace(
        trace_id=item.id,
        source=TraceSource(format="potato", uri=item.file),
        task=Task(id=item.id),
        agent=Agent(name=_string(item, "agent_name"), model=_string(item, "model") or _string(item, "agent_model")),
    )
    text_key = text_key_of(item, project)
    text = item.data.get(text_key)
    if isinstance(text, str):
        trace.task.text, trace.task.text_origin = text, text_key
    if key is None or not isinstance(entries, list):
        trace.extra = {"item": item.data}
        return trace
    trace.source.record_key = key
    trace.steps = _Reader(listing(project, key), notices, item.id).read(entries)
    patch = item.data.get("final_patch")
    if isinstance(item.data.get("bridge"), dict) and isinstance(patch, str):
        # An item that `convert` has made.
        trace.final_patch = Patch(text=patch)
    # The place of the list among the fields, so that they come back in their order.
    trace.extra = {
        "item": {name: value for name, value in item.data.items() if name != key},
        "steps_at": list(item.data).index(key),
    }
    return trace


def to_item(trace: Trace) -> dict[str, Any]:
    """The item that a trace was made of, equal to `item.data`, in the order of its keys."""
    fields = list(trace.extra.get("item", {}).items())
    if trace.source.record_key is not None:
        steps = [step.native for step in trace.steps]
        fields.insert(trace.extra.get("steps_at", len(fields)), (trace.source.record_key, steps))
    return dict(fields)


def text_key_of(item: Item, project: Project) -> str:
    """The field that holds the item's text: its data file may name another than the project."""
    for file in project.data_files:
        if file.text_key is not None and file.path == project.task_dir / item.file:
            return file.text_key
    return project.text_key


def _string(item: Item, key: str) -> str | None:
    value = item.data.get(key)
    return value if isinstance(value, str) else None


@dataclass
class _Reader:
    """Reads the entries of one list; knows the calls so far, for results that come later."""

    kind: Listing
    notices: Notices
    item_id: str
    call_ids: set[str] = field(default_factory=set)
    open_calls: dict[str, ToolCall] = field(default_factory=dict)

    def read(self, entries: list[Any]) -> list[Step]:
        steps = []
        for position, entry in enumerate(entries):
            turn = read_turn(entry, self.kind)
            step = Step(
                step_id=str(position),
                index=position,
                kind=turn.kind,
                role=turn.role,
                flags=Flags(ratable=turn.ratable),
                refs=[Ref(ordinal=position)],
                native=entry,
            )
            if isinstance(entry, dict):
                self._fill(step, entry, turn)
                model = entry.get("model")
                step.model = model if isinstance(model, str) else None
            elif entry is not None:
                step.blocks = [TextBlock(text=as_text(entry))]
            for call in step.tool_calls:
                if call.id_origin == "native" and call.result is None:
                    self.open_calls[call.call_id] = call
            steps.append(step)
        return steps

    def _fill(self, step: Step, entry: dict[str, Any], turn: Turn) -> None:
        step.blocks += read_images(entry)
        for key in _REASONING:
            if (reasoning := entry.get(key)) is not None:
                step.blocks.append(ReasoningBlock(text=as_text(reasoning)))
        if turn.kind == "environment":
            self._observe(step, entry)
        else:
            # What a web agent typed may stand in `text`: an argument, not its words.
            web = entry.get("action") is None and isinstance(entry.get("action_type"), str)
            self._content(step, first(entry, ("content", "message") if web else _CONTENT))
            self._action(step, entry)
        calls = entry.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                # Further parts of a call that the display draws as several.
                if not (isinstance(call.get("part"), int) and call.get("call_id") in self.call_ids):
                    self._call(step, call)
            elif call is not None:
                step.blocks.append(TextBlock(text=as_text(call)))
        if _KNOWN.isdisjoint(entry) and not entry.keys() <= _ROLES:
            step.blocks.append(TextBlock(text=as_json(entry)))

    def _call(self, step: Step, call: dict[str, Any]) -> None:
        made = read_call(call, step.step_id, len(step.tool_calls), self.call_ids)
        step.tool_calls.append(made)
        step.blocks.append(CallBlock(call_id=made.call_id))

    def _content(self, step: Step, content: Any) -> None:
        if isinstance(content, list):
            moved = [self._block(step, block) for block in content]
            step.flags.meta = any(moved) and not (step.blocks or step.observations)
        elif content is not None and content != "":
            step.blocks.append(TextBlock(text=as_text(content)))

    def _block(self, step: Step, block: Any) -> bool:
        """Reads one content block; whether it was a result that went to its call."""
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("tool_use", "tool_call"):
            self._call(step, block)
        elif kind == "tool_result":
            return self._result(step, block.get("content"), block, block.get("tool_use_id"))
        else:
            step.blocks.append(read_block(block))
        return False

    def _result(self, step: Step, output: Any, source: dict[str, Any], call_id: Any) -> bool:
        """Gives a result to the call that its id names; else it stays with the step."""
        call = self.open_calls.pop(call_id, None) if isinstance(call_id, str) else None
        if call is not None:
            call.result = read_result(output, source, "id")
            failed = call.result.is_error
            for edit in call.edits:
                edit.applied = None if failed is None else not failed
            return True
        if isinstance(call_id, str):
            message = "a result names a tool call that is not there (or has a result): it is shown where it stands"
            self.notices.add("unpaired-result", message, f"item {self.item_id} step {step.step_id}")
        step.observations.append(read_result(output, source))
        return False

    def _observe(self, step: Step, entry: dict[str, Any]) -> None:
        """A turn of a tool or an environment is an observation."""
        call_id = first(entry, ("tool_call_id", "tool_use_id"))
        content = first(entry, (*_CONTENT, *_OBSERVED))
        blocks = content if isinstance(content, list) else []
        if any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks):
            self._content(step, content)
        elif content is not None or call_id is not None:
            moved = self._result(step, content, entry, call_id)
            step.flags.meta = moved and not step.blocks

    def _action(self, step: Step, entry: dict[str, Any]) -> None:
        """What a plain step did, and what it saw then."""
        action, tool = entry.get("action"), entry.get("tool")
        consumed = False
        if isinstance(tool, str) and tool:
            # The step is itself a call; what it saw is the call's result.
            self._call(step, {key: value for key, value in entry.items() if key != "id"})
            consumed = True
        elif isinstance(action, str) and entry.get("action_input") is not None:
            self._call(step, {"tool": action, "input": entry["action_input"]})
        elif action is not None and action != "":
            step.blocks.append(TextBlock(text=as_text(action)))
        elif isinstance(kind := entry.get("action_type"), str) and kind:
            arguments = {
                key: value
                for key, value in entry.items()
                if key not in _NOT_ARGUMENTS and value not in (None, "", [], {})
            }
            self._call(step, {"tool": kind, "input": arguments})
        for key in _OBSERVED:
            if consumed or (seen := entry.get(key)) is None:
                continue
            if key == "observations" and isinstance(seen, list):
                step.observations += [self._observation(one, entry) for one in seen]
            else:
                step.observations.append(self._observation(seen, entry))

    @staticmethod
    def _observation(seen: Any, entry: dict[str, Any]) -> Result:
        facts: dict[str, Any] = {key: entry[key] for key in ("is_error", "error", "exit_code") if key in entry}
        return read_result(seen, facts)

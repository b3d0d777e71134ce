"""The stream of `codex exec --json`: threads, turns and items, each item with what came of it. It has no times.

An item that is a call is told of twice: when it starts, which is when the model asked for it, and when it is complete,
which is its result. One step is a run of items of the model up to the first result, as in a rollout.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from potato_bridge.converters.tool_calls import as_json, read_blocks
from potato_bridge.converters.traces._values import count_of, string_of
from potato_bridge.converters.traces.build import Builder
from potato_bridge.converters.traces.codex import hunks_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import (
    Edit,
    Hunk,
    Outcome,
    ReasoningBlock,
    Ref,
    Result,
    Step,
    TextBlock,
    ToolCall,
    Trace,
    Usage,
)

_OPS: dict[str, Literal["create", "modify", "delete"]] = {"add": "create", "update": "modify", "delete": "delete"}
_TURNS = ("turn.started", "turn.completed", "turn.failed", "error", "thread.started")
_ITEMS = ("item.started", "item.updated", "item.completed")
#: Items that are calls; one that is none of these, and nothing that the model says, is kept as an event.
_CALLS = ("command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search", "todo_list")
_SAID = ("agent_message", "plan")
_USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cached_input_tokens",
    "reasoning": "reasoning_output_tokens",
}


class CodexExec:
    """The reader."""

    name = "codex_exec"
    title = "Codex exec stream"

    def score(self, source: Source) -> int:
        """By the types of its records: its first ones, or a turn's with items."""
        if source.form not in ("lines", "array"):
            return 0
        rows = [row for row in source.head if isinstance(row, dict)]
        begins = any(row.get("type") == "thread.started" and string_of(row, "thread_id") is not None for row in rows)
        turns = begins or any(row.get("type") in _TURNS[:3] for row in rows)
        items = any(row.get("type") in _ITEMS and isinstance(row.get("item"), dict) for row in rows)
        return 95 if turns and items else 80 if begins else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each thread; one that is resumed goes on."""
        run: _Run | None = None
        for raw in source.records():
            other = isinstance(raw.value, dict) and raw.value.get("type") == "thread.started"
            if other and run is not None:
                other = bool(run.builder.trace.steps) and (
                    run.thread is None or string_of(raw.value, "thread_id") != run.thread
                )
            if run is None or other:
                if run is not None:
                    yield run.finish()
                run = _Run(source)
            run.take(raw)
        if run is not None:
            yield run.finish()


class _Run:
    """One thread."""

    def __init__(self, source: Source) -> None:
        self.source, self.builder = source, Builder(source, CodexExec.name)
        self.builder.trace.agent.name = "Codex"
        self.thread: str | None = None
        self.digest = ""
        self.step: Step | None = None
        self.answered = False
        self.started: dict[str, ToolCall] = {}
        self.total: dict[str, int] = {}
        self.used: dict[str, int] = {}

    def take(self, raw: Raw) -> None:
        """Takes one record."""
        row = raw.value
        if raw.bad is not None:
            self.builder.bad(raw)
            return
        # The rows of an array are one run, or several.
        self.digest = self.digest or (raw.digest() if raw.ordinal else raw.array_digest())
        kind = row.get("type") if isinstance(row, dict) else None
        item = row.get("item") if isinstance(row, dict) else None
        if kind in _ITEMS and isinstance(item, dict):
            ordinal = raw.ordinal if raw.line is None else None
            ref = Ref(line=raw.line, ordinal=ordinal, native_id=string_of(item, "id"))
            self._item(row, str(kind).removeprefix("item."), item, ref, raw)
        elif kind == "item.plan.delta":
            self.builder.skipped("a part of an item that comes whole")
        else:
            if kind not in (*_TURNS, "request_user_input"):
                self.builder.loss("unknown-record", str(kind))
            elif isinstance(row, dict):
                self._turn(str(kind), row)
            self.builder.event(row)

    def _turn(self, kind: str, row: Mapping[str, Any]) -> None:
        trace, usage = self.builder.trace, row.get("usage")
        if kind == "thread.started":
            self.thread = string_of(row, "thread_id") or self.thread
        elif kind == "turn.started":
            self.step, trace.outcome = None, None
            # Another process may count its items anew.
            self.started.clear()
        elif kind == "turn.completed":
            # An error before it was overcome, such as a connection that was lost.
            trace.outcome = None
            if isinstance(usage, dict):
                self._tokens(usage)
        elif kind in ("turn.failed", "error"):
            trace.outcome = Outcome(exit_status=kind, origin="stream", raw=row.get("error", row.get("message")))

    def _tokens(self, usage: Mapping[str, Any]) -> None:
        """Each turn tells what the thread has used so far; less than before is another count."""
        for name, key in _USAGE.items():
            if (now := count_of(usage, key)) is not None:
                before = self.total.get(name, 0)
                self.used[name] = self.used.get(name, 0) + (now - before if now >= before else now)
                self.total[name] = now

    # --- items --------------------------------------------------------------------------------------------------------

    def _item(self, row: Any, when: str, item: Mapping[str, Any], ref: Ref, raw: Raw) -> None:
        kind, text = string_of(item, "type"), string_of(item, "text")
        if kind in _CALLS:
            self._call(str(kind), when, item, ref, raw)
        elif kind == "reasoning" or kind in _SAID:
            if when != "completed":
                self.builder.skipped("a part of an item that comes whole")
                return
            self.builder.mapped(raw.notes)
            block = ReasoningBlock(text=text or "") if kind == "reasoning" else TextBlock(text=text or "")
            self._model(ref).blocks.append(block)
        else:
            if kind != "error":
                self.builder.loss("unknown-record", f"item of {kind}")
            self.builder.event(row)

    def _model(self, ref: Ref) -> Step:
        """The step that an item of the model belongs to: after a result it is another response."""
        if self.step is None or self.answered:
            self.step, self.answered = self.builder.step("agent", role="assistant"), False
        self.step.refs.append(ref)
        return self.step

    def _call(self, kind: str, when: str, item: Mapping[str, Any], ref: Ref, raw: Raw) -> None:
        key = ref.native_id or kind
        call = self.started.get(key) if when != "completed" else self.started.pop(key, None)
        native = ref.native_id
        if kind == "todo_list" and call is not None:
            if item.get("items") == (call.arguments or {}).get("items"):
                # Its end comes with that of the turn, and says what was said last.
                self.builder.skipped("an item, told again")
                return
            # Each change of the plan is a call of its own; the id is the plan's.
            call, native = None, None
        self.builder.mapped(raw.notes)
        name, given = _asked(kind, item)
        if call is None:
            call = self.builder.call(self._model(ref), {"call_id": native, "name": name, "arguments": given})
            if kind == "collab_tool_call":
                call.family = "agent"
        elif isinstance(given, dict) and any(value not in (None, "", [], {}) for value in given.values()):
            # Of some calls, such as a search, what is asked is known late.
            call.arguments, call.arguments_raw = given, None
        if kind == "file_change":
            changes = item.get("changes")
            call.family = "edit"
            call.edits = _edits(changes) if isinstance(changes, list) else call.edits
        if when != "completed":
            self.started[key] = call
            # The plan is taken up at once, and nothing is told of that.
            self.answered = self.answered or kind == "todo_list"
            return
        self.answered = True
        if (result := _result(kind, item)) is not None and call.result is None:
            self.builder.answer(call, result, "id")

    def finish(self) -> Trace:
        """The trace."""
        trace = self.builder.trace
        last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
        if last is not None and not last.tool_calls and trace.outcome is None:
            last.flags.terminal = True
        if self.used:
            trace.usage = Usage()
            for name, count in self.used.items():
                setattr(trace.usage, name, count)
        if self.thread is not None:
            return self.builder.finish(self.thread, unique=True)
        return self.builder.finish(self.source.stem, self.digest)


def _asked(kind: str, item: Mapping[str, Any]) -> tuple[str, Any]:
    """The name of the tool, and what it was asked."""
    if kind == "command_execution":
        return "shell", {"command": item.get("command")}
    if kind == "mcp_tool_call":
        return f"mcp__{item.get('server')}__{item.get('tool')}", item.get("arguments") or {}
    given = {key: value for key, value in item.items() if key not in ("id", "type", "status", "agents_states")}
    if kind == "collab_tool_call":
        return string_of(item, "tool") or kind, {key: value for key, value in given.items() if key != "tool"}
    return "update_plan" if kind == "todo_list" else kind, given


def _result(kind: str, item: Mapping[str, Any]) -> Result | None:
    """What came of a call; None where nothing is told."""
    result, status = Result(), item.get("status")
    if kind == "command_execution":
        result.text, result.exit_code = string_of(item, "aggregated_output"), count_of(item, "exit_code", -1 << 31)
        result.is_error = None if result.exit_code is None else result.exit_code != 0
    elif kind == "mcp_tool_call":
        error, came = item.get("error"), item.get("result")
        result.is_error = True if error is not None else None
        _came(result, error if came is None else came)
    elif kind == "collab_tool_call" and (states := item.get("agents_states")):
        result.text = as_json(states)
    if status in ("failed", "declined"):
        result.is_error = True
    elif status == "completed" and result.is_error is None:
        result.is_error = False
    elif status == "in_progress" and result.exit_code is None and not result.text:
        # The turn ended before it: its empty output is a default.
        return None
    told = (result.text, result.exit_code, result.is_error) != (None, None, None) or result.blocks
    return result if told else None


def _came(result: Result, came: Any) -> None:
    """What a tool of an MCP server gave back, or why it failed."""
    content = came.get("content") if isinstance(came, dict) else None
    if isinstance(content, list):
        blocks = read_blocks(content)
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        result.text = "\n".join(texts) if texts else None
        if len(texts) < len(blocks):
            result.blocks = blocks
        if came.get("structured_content") is not None:
            result.native = came
            if result.text is None and not blocks:
                result.text = as_json(came["structured_content"])
    elif isinstance(came, dict) and isinstance(message := came.get("message"), str):
        result.text = message
    elif came is not None:
        result.text = came if isinstance(came, str) else as_json(came)


def _edits(changes: list[Any]) -> list[Edit]:
    """The files of a change. Only some versions tell what was changed in them."""
    edits = []
    for change in changes:
        path = change.get("path") if isinstance(change, dict) else None
        if not isinstance(path, str):
            continue
        edit = Edit(path=path, op=_OPS.get(str(change.get("kind")), "unknown"))
        if (diff := string_of(change, "diff")) is not None:
            edit.hunks, edit.origin = hunks_of(diff), "unified"
            if not edit.hunks and diff and edit.op in ("create", "delete"):
                mark = "-" if edit.op == "delete" else "+"
                lines = [f"{mark}{line}" for line in diff.removesuffix("\n").split("\n")]
                edit.hunks, edit.origin = [Hunk(lines=lines)], "write"
        edits.append(edit)
    return edits


READER = CodexExec()

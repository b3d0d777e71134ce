"""The stream of `codex exec --json`: threads, turns and items, each item with what came of it. It has no times."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from potato_bridge.converters.tool_calls import as_json
from potato_bridge.converters.traces._values import count_of, string_of
from potato_bridge.converters.traces.build import Builder, total_usage
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import Edit, Outcome, ReasoningBlock, Ref, Result, Step, TextBlock, Trace, Usage

_OPS: dict[str, Literal["create", "modify", "delete"]] = {"add": "create", "update": "modify", "delete": "delete"}
_TURNS = ("turn.started", "turn.completed", "turn.failed", "error", "thread.started")


class CodexExec:
    """The reader."""

    name = "codex_exec"
    title = "Codex exec stream"

    def score(self, source: Source) -> int:
        """By the types of its records."""
        rows = [row for row in source.head if isinstance(row, dict)]
        kinds = [row.get("type") for row in rows]
        if source.form not in ("lines", "array") or "item.completed" not in kinds:
            return 0
        return 95 if "thread.started" in kinds or "turn.started" in kinds else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each thread."""
        run: _Run | None = None
        for raw in source.records():
            begins = isinstance(raw.value, dict) and raw.value.get("type") == "thread.started"
            if run is None or (begins and run.builder.trace.steps):
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
        self.used: list[Usage] = []

    def take(self, raw: Raw) -> None:
        """Takes one record."""
        row = raw.value
        if raw.bad is not None:
            self.builder.bad(raw)
            return
        self.digest = self.digest or raw.digest()
        kind = row.get("type") if isinstance(row, dict) else None
        item = row.get("item") if isinstance(row, dict) else None
        if kind == "item.completed" and isinstance(item, dict):
            self.builder.mapped(raw.notes)
            line = raw.line if raw.line is not None else None
            self._item(item, Ref(line=line, ordinal=None if line else raw.ordinal, native_id=string_of(item, "id")))
        elif kind in ("item.started", "item.updated"):
            self.builder.skipped("an item that comes whole")
        else:
            if kind not in _TURNS:
                self.builder.loss("unknown-record", str(kind))
            elif isinstance(row, dict):
                self._turn(str(kind), row)
            self.builder.event(row)

    def _turn(self, kind: str, row: Mapping[str, Any]) -> None:
        trace, usage = self.builder.trace, row.get("usage")
        if kind == "thread.started":
            self.thread = string_of(row, "thread_id")
        elif kind == "turn.started":
            self.step = None
        elif kind == "turn.completed" and isinstance(usage, dict):
            counts = [count_of(usage, key) for key in ("input_tokens", "output_tokens", "cached_input_tokens")]
            self.used.append(Usage(input=counts[0], output=counts[1], cache_read=counts[2]))
        elif kind in ("turn.failed", "error"):
            trace.outcome = Outcome(exit_status=kind, origin="stream", raw=row.get("error", row.get("message")))

    def _item(self, item: Mapping[str, Any], ref: Ref) -> None:
        kind, text = item.get("type"), string_of(item, "text")
        if self.step is None:
            self.step = self.builder.step("agent", role="assistant")
        step = self.step
        step.refs.append(ref)
        if kind == "reasoning":
            step.blocks.append(ReasoningBlock(text=text or ""))
        elif kind == "agent_message":
            step.blocks.append(TextBlock(text=text or ""))
        else:
            self._call(step, str(kind), item)
            # What came of it is there already: what the model says next is another response.
            self.step = None

    def _call(self, step: Step, kind: str, item: Mapping[str, Any]) -> None:
        name, result = kind, Result()
        given: dict[str, Any] = {key: value for key, value in item.items() if key not in ("id", "type", "status")}
        if kind == "command_execution":
            name, given = "shell", {"command": item.get("command")}
            result.text, result.exit_code = string_of(item, "aggregated_output"), count_of(item, "exit_code", -1 << 31)
            result.is_error = None if result.exit_code is None else result.exit_code != 0
        elif kind == "mcp_tool_call":
            name = f"mcp__{item.get('server')}__{item.get('tool')}"
            given, came = item.get("arguments") or {}, item.get("result", item.get("error"))
            result.text = None if came is None else came if isinstance(came, str) else as_json(came)
            result.is_error = True if item.get("error") is not None else None
        elif kind == "todo_list":
            name = "update_plan"
        failed = item.get("status")
        if isinstance(failed, str) and failed in ("failed", "declined"):
            result.is_error = True
        elif failed == "completed" and result.is_error is None:
            result.is_error = False
        call = self.builder.call(step, {"call_id": string_of(item, "id"), "name": name, "arguments": given})
        changes = item.get("changes")
        if kind == "file_change":
            call.family = "edit"
            for change in changes if isinstance(changes, list) else []:
                if isinstance(change, dict) and isinstance(change.get("path"), str):
                    # What was changed in it is not told.
                    call.edits.append(Edit(path=change["path"], op=_OPS.get(str(change.get("kind")), "unknown")))
        if (result.text, result.exit_code, result.is_error) != (None, None, None):
            self.builder.answer(call, result, "id")

    def finish(self) -> Trace:
        """The trace."""
        trace = self.builder.trace
        last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
        if last is not None and not last.tool_calls:
            last.flags.terminal = True
        trace.usage = total_usage(self.used) if self.used else None
        if self.thread is not None:
            return self.builder.finish(self.thread, unique=True)
        return self.builder.finish(self.source.stem, self.digest)


READER = CodexExec()

"""The stream of Claude's Agent SDK: `claude -p --output-format stream-json`, and the file of its GitHub action.

Messages as in a session file, without times; a sub-agent's messages name the call that started it.
"""

from collections.abc import Iterator
from typing import Any

from potato_bridge.converters.traces import _claude
from potato_bridge.converters.traces._values import number_of
from potato_bridge.converters.traces.build import Builder
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import Outcome, Parent, Ref, Trace

_TYPES = ("system", "assistant", "user", "result", "stream_event")


class ClaudeStream:
    """The reader."""

    name = "claude_stream"
    title = "Claude Agent SDK stream"

    def score(self, source: Source) -> int:
        """By its first record (`system`, `init`), or its last (`result`)."""
        rows = [row for row in source.head if isinstance(row, dict)]
        if source.form not in ("lines", "array") or any("parentUuid" in row for row in rows):
            return 0
        if not any(_is_message(row) for row in rows):
            return 0
        begun = any(row.get("type") == "system" and row.get("subtype") == "init" for row in rows)
        ended = any(row.get("type") == "result" and ("total_cost_usd" in row or "num_turns" in row) for row in rows)
        return 90 if begun or ended else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace for each session of the stream."""
        run: _Run | None = None
        for raw in source.records():
            row = raw.value
            begins = isinstance(row, dict) and row.get("type") == "system" and row.get("subtype") == "init"
            if run is None or (begins and run.ended_by(row)):
                if run is not None:
                    yield run.finish()
                run = _Run(source)
            run.take(raw)
        if run is not None:
            yield run.finish()


class _Run:
    """One session of a stream."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.builder = Builder(source, ClaudeStream.name)
        self.builder.trace.agent.name = "Claude Code"
        self.main = _claude.Thread(self.builder)
        self.sides: dict[str, _claude.Thread] = {}
        self.session_id: str | None = None
        self.digest = ""
        self.uuids: set[str] = set()

    def ended_by(self, row: dict[str, Any]) -> bool:
        """Whether a beginning is that of another session; a session may tell of itself again."""
        return bool(self.builder.trace.steps) and row.get("session_id") != self.session_id

    def take(self, raw: Raw) -> None:
        """Takes one record."""
        row = raw.value
        if raw.bad is not None:
            self.builder.bad(raw)
            return
        kind = row.get("type") if isinstance(row, dict) else None
        if not isinstance(row, dict) or kind not in _TYPES:
            self.builder.event(row)
            self.builder.loss("unknown-record", str(kind))
            return
        # The rows of an array are one run, or several.
        self.digest = self.digest or (raw.digest() if raw.ordinal else raw.array_digest())
        uuid = row.get("uuid")
        if isinstance(uuid, str):
            if uuid in self.uuids:
                self.builder.skipped("repeated row")
                return
            self.uuids.add(uuid)
        if self.session_id is None and isinstance(row.get("session_id"), str):
            self.session_id = row["session_id"]
        if kind == "stream_event":
            self.builder.skipped("part of a message that comes whole")
        elif kind in ("system", "result"):
            self._about(row) if kind == "system" else self._result(row)
            self.builder.event(row)
        elif _is_message(row):
            self.builder.mapped(raw.notes)
            self._message(row, raw)
        else:
            self.builder.event(row)
            self.builder.loss("unknown-record", str(kind))

    def _message(self, row: dict[str, Any], raw: Raw) -> None:
        parent, uuid = row.get("parent_tool_use_id"), row.get("uuid")
        thread = self.main if not isinstance(parent, str) else self._side(parent)
        ref = Ref(
            line=raw.line,
            ordinal=raw.ordinal if raw.line is None else None,
            native_id=uuid if isinstance(uuid, str) else None,
        )
        message = row["message"]
        if row["type"] == "assistant":
            thread.assistant(message, ref, None)
        else:
            thread.user(message["content"], ref, None, row.get("tool_use_result"), meta=row.get("isSynthetic") is True)

    def _side(self, call_id: str) -> _claude.Thread:
        if call_id not in self.sides:
            builder = Builder(self.source, ClaudeStream.name)
            builder.trace.agent.name = "Claude Code"
            self.sides[call_id] = _claude.Thread(builder)
        return self.sides[call_id]

    def _about(self, row: dict[str, Any]) -> None:
        trace = self.builder.trace
        if isinstance(model := row.get("model"), str):
            trace.agent.model = trace.agent.model or model
        if isinstance(version := row.get("claude_code_version"), str):
            trace.agent.version = trace.source.producer_version = version
        if isinstance(cwd := row.get("cwd"), str):
            trace.extra.setdefault("cwd", cwd)

    def _result(self, row: dict[str, Any]) -> None:
        trace = self.builder.trace
        cost, status = row.get("total_cost_usd"), row.get("subtype")
        if (spent := number_of(cost)) is not None:
            trace.cost_usd = spent
        trace.usage = _claude.usage_of(row.get("usage")) or trace.usage
        # That it ended well says nothing about what it was to do.
        trace.outcome = Outcome(exit_status=status if isinstance(status, str) else None, origin="result")

    def finish(self) -> Trace:
        """The trace, with those of its sub-agents."""
        _claude.end(self.main)
        name = self.session_id or self.source.stem
        trace = self.builder.finish(name, self.digest)
        starters = {call.call_id: step for step in trace.steps for call in step.tool_calls}
        for call_id, thread in self.sides.items():
            _claude.end(thread)
            child = thread.builder.finish(f"{trace.trace_id}:{call_id}", unique=True)
            step = starters.get(call_id)
            child.parent = Parent(step_id=None if step is None else step.step_id, call_id=call_id)
            for call in () if step is None else step.tool_calls:
                if call.call_id == call_id:
                    call.child_trace_id = child.trace_id
            trace.children.append(child)
        return trace


def _is_message(row: dict[str, Any]) -> bool:
    message = row.get("message")
    return (
        row.get("type") in ("assistant", "user")
        and isinstance(message, dict)
        and isinstance(message.get("content"), str | list)
    )


READER = ClaudeStream()

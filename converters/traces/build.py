"""What all readers share: steps with ids, calls with results, and the count of what was read.

Each record that a reader takes is one of four things: mapped into a step, kept as an event (`Trace.extra["events"]`),
skipped with its reason among `source.losses`, or bad. `Trace.source.records` counts them.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from potato_bridge.converters.tool_calls import read_call
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import (
    Block,
    CallBlock,
    Flags,
    Loss,
    Patch,
    RecordCounts,
    Ref,
    Result,
    Step,
    ToolCall,
    Trace,
    TraceSource,
    Usage,
)

Origin = Literal["submission", "model_patch", "git_patch"]
Kind = Literal["system", "user", "agent", "environment", "compaction", "notice"]
Paired = Literal["id", "order", "cause"]

#: A header that ends in CRLF: of a file's own CRLF, only the contents have it.
_CAPTURED = re.compile(r"^(?:diff --git |--- |\+\+\+ |@@ -).*\r$", re.M)


class Builder:
    """One trace in the making.

    Args:
        source: What is read.
        format: The reader's name.
    """

    def __init__(self, source: Source, format: str) -> None:
        self.trace = Trace(trace_id="", source=TraceSource(format=format, adapter="potato-bridge", uri=source.name))
        self.counts = RecordCounts()
        self._step_ids: set[str] = set()
        self._made = 0
        self._call_ids: set[str] = set()
        # A source may use an id again: a result belongs to the latest call of that id that has none.
        self._open: dict[str, list[ToolCall]] = {}
        # All of them, oldest first, by identity: two calls may say the same.
        self._waiting: dict[int, tuple[str, ToolCall]] = {}
        self._early: dict[str, list[tuple[Result, Step]]] = {}
        self._losses: dict[tuple[str, str | None], Loss] = {}

    # --- records ------------------------------------------------------------------------------------------------------

    def mapped(self, notes: Sequence[str] = ()) -> None:
        """A record became a step, or a part of one. `notes` are the codes of `Raw.notes`."""
        self.counts.read += 1
        self.counts.mapped += 1
        for note in notes:
            self.loss(note)

    def event(self, value: Any) -> None:
        """A record is kept beside the steps."""
        self.counts.read += 1
        self.counts.events += 1
        self.trace.extra.setdefault("events", []).append(value)

    def skipped(self, why: str) -> None:
        """A record is left out, such as a repetition of another one."""
        self.counts.read += 1
        self.counts.skipped += 1
        self.loss("skipped-record", why)

    def bad(self, raw: Raw) -> None:
        """A record could not be decoded."""
        self.counts.read += 1
        self.counts.bad += 1
        where = f"line {raw.line}" if raw.line is not None else f"record {raw.ordinal}"
        self.loss("bad-record", where, raw.bad)

    def loss(self, code: str, where: str | None = None, note: str | None = None) -> None:
        """Notes what could not be kept; equal (code, where) are counted."""
        found = self._losses.get((code, where))
        if found is None:
            found = self._losses[code, where] = Loss(code=code, where=where, count=0, note=note)
            self.trace.source.losses.append(found)
        found.count += 1

    # --- steps --------------------------------------------------------------------------------------------------------

    def step(
        self,
        kind: Kind,
        step_id: str | None = None,
        *,
        blocks: Sequence[Block] = (),
        ratable: bool | None = None,
        ref: Ref | None = None,
        role: str | None = None,
    ) -> Step:
        """A new step at the end.

        Args:
            kind: Who it is of.
            step_id: The source's own id; None: `s` and its number. One that is there already gets a number.
            blocks: What it says; calls come by `call`.
            ratable: Whether an annotator rates it; None: an agent's step is.
            ref: Where it stands in the source.
            role: The source's word for who it is of.
        """
        index = len(self.trace.steps)
        if step_id is not None and step_id in self._step_ids:
            self.loss("reused-step-id", step_id)
        # A place that was given up (a result found its call) may come again: ids never do.
        number = self._made
        self._made += 1
        name = step_id or f"s{number}"
        while name in self._step_ids:
            name = f"{step_id or 's'}~{number}"
            number += 1
        self._step_ids.add(name)
        step = Step(
            step_id=name,
            index=index,
            kind=kind,
            role=role,
            blocks=list(blocks),
            flags=Flags(ratable=kind == "agent" if ratable is None else ratable),
            refs=[ref] if ref is not None else [],
        )
        self.trace.steps.append(step)
        return step

    def call(self, step: Step, value: Mapping[str, Any]) -> ToolCall:
        """A call at the end of a step, of any shape that `tool_calls.read_call` knows."""
        call = read_call(value, step.step_id, len(step.tool_calls), self._call_ids)
        native = next((str(value[k]) for k in ("id", "call_id", "tool_call_id", "tool_use_id") if value.get(k)), None)
        if native is not None and native != call.call_id:
            self.loss("reused-call-id", native)
        step.tool_calls.append(call)
        step.blocks.append(CallBlock(call_id=call.call_id))
        if call.result is None:
            key = native or call.call_id
            if early := self._early.get(key):
                result, place = early.pop(0)
                self._give(call, result, "id")
                self.trace.steps.remove(place)
                self.loss("result-before-call", key)
            else:
                self._open.setdefault(key, []).append(call)
                self._waiting[id(call)] = key, call
        return call

    def open_calls(self) -> list[ToolCall]:
        """The calls without a result, oldest first."""
        return [call for _, call in self._waiting.values()]

    def result(self, call_id: str | None, result: Result, paired_by: Paired = "id") -> ToolCall | None:
        """Gives a result to the call of an id, or (None) to the oldest call without one.

        Without such a call it becomes a step of the environment, until the call comes.

        Returns:
            The call; None where there is none (yet).
        """
        if call_id is None:
            _, oldest = next(iter(self._waiting.values()), ("", None))
            if oldest is not None:
                self.answer(oldest, result, "order")
                return oldest
        elif named := self._open.get(call_id):
            call = named[-1]
            self.answer(call, result, paired_by)
            return call
        step = self.step("environment", ratable=False)
        step.observations.append(result)
        if call_id is not None:
            self._early.setdefault(call_id, []).append((result, step))
        self.loss("unpaired-result", call_id)
        return None

    def answer(self, call: ToolCall, result: Result, paired_by: Paired) -> None:
        """Gives a result to a call of this trace that has none."""
        key, _ = self._waiting.pop(id(call), ("", call))
        if key in self._open:
            self._open[key] = [one for one in self._open[key] if one is not call]
        self._give(call, result, paired_by)

    @staticmethod
    def _give(call: ToolCall, result: Result, paired_by: Paired) -> None:
        result.paired_by = paired_by
        call.result = result
        for edit in call.edits:
            if edit.applied is None and result.is_error is not None:
                edit.applied = not result.is_error

    # --- the end ------------------------------------------------------------------------------------------------------

    def finish(self, native: str | None, *distinct: str, unique: bool = False) -> Trace:
        """The trace, with its id.

        Args:
            native: The source's own id of the run, such as a session or an instance.
            distinct: What else tells it from other runs of that id: a model, a digest of its bytes.
            unique: Whether `native` alone never comes twice, as a UUID.
        """
        trace = self.trace
        digest = hashlib.sha256("\0".join((trace.source.format or "", native or "", *distinct)).encode()).hexdigest()
        trace.trace_id = native if native and unique else f"{native or trace.source.format}-{digest[:10]}"
        for index, step in enumerate(trace.steps):
            step.index = index
        trace.source.records = self.counts
        if trace.task.text is None:
            first = next(
                (
                    s
                    for s in trace.steps
                    if s.kind == "user" and not (s.flags.meta or s.flags.demo) and s.text().strip()
                ),
                None,
            )
            if first is not None:
                trace.task.text, trace.task.text_origin = first.text(), "first user message"
        times = [step.started_at for step in trace.steps if step.started_at]
        trace.started_at = trace.started_at or min(times, default=None)
        trace.ended_at = trace.ended_at or max(times, default=None)
        if trace.usage is None and (used := [step.usage for step in trace.steps if step.usage is not None]):
            trace.usage = total_usage(used)
        return trace


def patch_of(text: str, origin: Origin) -> Patch:
    """A final patch; one that a terminal has captured ends all its lines in CRLF, and is repaired."""
    made = text.lstrip("\n") if text.strip() else ""
    stripped = _CAPTURED.search(made) is not None
    if stripped:
        made = made.lstrip("\r\n").replace("\r\n", "\n")
    return Patch(text=made, text_raw=text if text != made else None, origin=origin, crlf_stripped=stripped)


def total_usage(used: Sequence[Usage]) -> Usage:
    """The sum; of what no part tells, None."""
    total = Usage()
    for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
        values = [value for one in used if (value := getattr(one, name)) is not None]
        setattr(total, name, sum(values) if values else None)
    return total

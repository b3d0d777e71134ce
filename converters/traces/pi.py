"""Sessions of pi: a line a message (version 1), or a tree of entries by `id` and `parentId` (since version 2).

The session is the way from the root to the last entry. What is beside it was left by going back: it is kept in
branches, each a line of entries.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from potato_bridge.converters.tool_calls import read_block, read_result
from potato_bridge.converters.traces._values import count_of, dict_of, epoch_of, millis_of, string_of
from potato_bridge.converters.traces.build import Builder, total_usage
from potato_bridge.converters.traces.codex import hunks_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import (
    Block,
    Branch,
    Compaction,
    Edit,
    Hunk,
    ReasoningBlock,
    RedactedReasoningBlock,
    Ref,
    Result,
    Step,
    TextBlock,
    ToolCall,
    Trace,
    Usage,
)

_ROLES = (
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "custom",
    "hookMessage",
    "branchSummary",
    "compactionSummary",
)
_STEPS = ("message", "custom_message", "compaction", "branch_summary")
_EVENTS = (
    "session",
    "model_change",
    "thinking_level_change",
    "custom",
    "label",
    "session_info",
    "context_transform",
    "ephemeral",
)
#: A line of the diff that pi shows: a mark, the line's number, and its text.
_LINE = re.compile(r"([ +-]) *(\d{1,9})(?: (.*))?", re.S)
_EXIT = re.compile(r"Command exited with code (\d{1,9})\s*$")


class Pi:
    """The reader."""

    name = "pi"
    title = "pi sessions"

    def score(self, source: Source) -> int:
        """By the header `session`, or by messages with pi's roles."""
        rows = [row for row in source.head if isinstance(row, dict)]
        header = any(_is_header(row) for row in rows)
        messages = [row for row in rows if _role(row) is not None and row.get("type") == "message"]
        if header:
            return 90 if messages else 60
        return 70 if any(_role(row) == "toolResult" for row in messages) else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each session; a header with another id begins another one."""
        session: _Session | None = None
        for raw in source.records():
            begins = _is_header(raw.value) and session is not None and session.begins_another(raw.value)
            if session is None or begins:
                if session is not None:
                    yield session.finish()
                session = _Session(source)
            session.take(raw)
        if session is not None:
            yield session.finish()


def _is_header(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") != "session" or not isinstance(value.get("id"), str):
        return False
    return "cwd" in value or "version" in value


def _role(row: Mapping[str, Any]) -> str | None:
    role = dict_of(row, "message").get("role")
    return role if isinstance(role, str) and role in _ROLES else None


@dataclass(slots=True)
class _Entry:
    """An entry of the tree. `step_id`: the last step on the way to it. `own`: its own step."""

    parent: int | None
    step_id: str | None = None
    own: Step | None = None
    effort: str | None = None


class _Session:
    """One session."""

    def __init__(self, source: Source) -> None:
        self.source, self.builder = source, Builder(source, Pi.name)
        self.builder.trace.agent.name = "pi"
        self.session_id: str | None = None
        self.digest = ""
        self.entries: list[_Entry] = []
        self.ids: dict[str, int] = {}
        self.costs: list[float] = []
        self.used: list[Usage] = []

    def begins_another(self, row: Mapping[str, Any]) -> bool:
        """Whether a header is that of another session."""
        return bool(self.entries) and string_of(row, "id") != self.session_id

    def take(self, raw: Raw) -> None:
        """Takes one row."""
        row, builder = raw.value, self.builder
        if raw.bad is not None:
            builder.bad(raw)
            return
        self.digest = self.digest or raw.digest()
        kind = row.get("type") if isinstance(row, dict) else None
        if _is_header(row):
            self._header(row)
            builder.event(row)
            return
        if not isinstance(row, dict) or not isinstance(kind, str):
            builder.event(row)
            builder.loss("unknown-record", type(row).__name__)
            return
        entry = self._enter(row)
        if kind in _STEPS and (kind != "message" or _role(row) is not None):
            builder.mapped(raw.notes)
            ref = Ref(line=raw.line, ordinal=raw.ordinal if raw.line is None else None)
            ref.native_id, ref.parent_id = string_of(row, "id"), string_of(row, "parentId")
            before = len(builder.trace.steps)
            step = self._step(row, kind, ref, entry)
            if step is None and len(builder.trace.steps) > before:
                # A result without its call.
                step = builder.trace.steps[-1]
            if step is not None:
                entry.own, entry.step_id = step, step.step_id
            return
        if kind == "thinking_level_change":
            entry.effort = string_of(row, "thinkingLevel") or entry.effort
        elif kind not in _EVENTS:
            builder.loss("unknown-record", kind if kind != "message" else "message of an unknown role")
        builder.event(row)

    def _enter(self, row: Mapping[str, Any]) -> _Entry:
        """Puts an entry into the tree; one without a known parent follows the one before it."""
        last = len(self.entries) - 1 if self.entries else None
        parent = row.get("parentId")
        if "parentId" in row and parent is None:
            place = None
        else:
            place = self.ids.get(parent, last) if isinstance(parent, str) else last
            if isinstance(parent, str) and parent not in self.ids and last is not None:
                self.builder.loss("unknown-parent", parent)
        entry = _Entry(place)
        above = self.entries[place] if place is not None else None
        if above is not None:
            entry.step_id, entry.effort = above.step_id, above.effort
        else:
            entry.effort = string_of(self.builder.trace.extra, "thinkingLevel")
        self.entries.append(entry)
        if (name := string_of(row, "id")) is not None:
            self.ids[name] = len(self.entries) - 1
        return entry

    def _header(self, row: Mapping[str, Any]) -> None:
        trace = self.builder.trace
        self.session_id = self.session_id or string_of(row, "id")
        version = row.get("version")
        trace.source.format_version = str(version) if isinstance(version, int) else trace.source.format_version or "1"
        trace.started_at = trace.started_at or string_of(row, "timestamp")
        trace.agent.model = trace.agent.model or string_of(row, "modelId")
        trace.agent.provider = trace.agent.provider or string_of(row, "provider")
        for key in ("cwd", "thinkingLevel", "parentSession", "branchedFrom"):
            if (value := string_of(row, key)) is not None:
                trace.extra.setdefault(key, value)

    # --- steps --------------------------------------------------------------------------------------------------------

    def _step(self, row: Mapping[str, Any], kind: str, ref: Ref, entry: _Entry) -> Step | None:
        """The step of an entry; None of a result, which is its call's."""
        message = row if kind != "message" else dict_of(row, "message")
        role = _role(row) if kind == "message" else kind
        step: Step | None = None
        if role == "assistant":
            step = self._assistant(message, ref)
            step.effort = entry.effort
        elif role == "toolResult":
            self._result(message, _at(row, message)[1])
        elif role == "bashExecution":
            step = self._shell(message, ref)
        elif role in ("compaction", "branch_summary", "branchSummary", "compactionSummary"):
            step = self._summary(message, str(role), ref, entry)
        else:
            step = self.builder.step(
                "user", ref.native_id, blocks=_blocks(message.get("content")), ref=ref, role="user"
            )
            if role != "user":
                # An extension has put it in.
                step.flags.meta, step.role = True, role
                step.extra |= {key: message[key] for key in ("customType", "details", "display") if key in message}
        if step is not None:
            step.started_at, step.ended_at = _at(row, message)
            step.clock = "wall" if step.started_at else "none"
            self._spent(step, dict_of(message, "usage"))
        return step

    def _assistant(self, message: Mapping[str, Any], ref: Ref) -> Step:
        trace = self.builder.trace
        step = self.builder.step("agent", ref.native_id, ref=ref, role="assistant")
        step.model = string_of(message, "model")
        trace.agent.model = trace.agent.model or step.model
        trace.agent.provider = trace.agent.provider or string_of(message, "provider")
        step.stop_reason = string_of(message, "stopReason")
        content = message.get("content")
        for block in content if isinstance(content, list) else _blocks(content):
            if isinstance(block, TextBlock):
                step.blocks.append(block)
            elif isinstance(block, dict) and block.get("type") == "toolCall":
                if (signature := string_of(block, "thoughtSignature")) is not None:
                    step.blocks.append(RedactedReasoningBlock(data=signature, provider=string_of(message, "provider")))
                call = {"id": string_of(block, "id"), "name": block.get("name"), "arguments": block.get("arguments")}
                self.builder.call(step, call)
            else:
                step.blocks.append(_thought(block, string_of(message, "provider")))
                if isinstance(block, dict) and (signature := string_of(block, "textSignature")) is not None:
                    step.extra.setdefault("text_signatures", []).append(signature)
        if (error := string_of(message, "errorMessage")) is not None:
            step.extra["error"] = error
        step.flags.aborted = step.stop_reason == "aborted"
        if not step.blocks and (step.flags.aborted or step.stop_reason == "error"):
            # Nothing came from the model.
            step.kind, step.flags.ratable = "notice", False
            step.flags.api_error = not step.flags.aborted
            step.blocks = [TextBlock(text=error)] if error else []
        return step

    def _shell(self, message: Mapping[str, Any], ref: Ref) -> Step:
        """A command that the user ran; the model saw what came of it."""
        blocks: list[Block] = [TextBlock(text=string_of(message, "command") or "")]
        step = self.builder.step("user", ref.native_id, blocks=blocks, ref=ref, role="bashExecution")
        step.flags.meta = True
        result = Result(text=string_of(message, "output"), exit_code=count_of(message, "exitCode", -1 << 31))
        result.is_error = None if result.exit_code is None else result.exit_code != 0
        if message.get("cancelled") is True:
            result.is_error, result.error_kind = True, "cancelled"
        result.truncated = message.get("truncated") is True
        step.observations.append(result)
        return step

    def _summary(self, message: Mapping[str, Any], role: str, ref: Ref, entry: _Entry) -> Step:
        compacts = role.startswith("compaction")
        blocks: list[Block] = [TextBlock(text=string_of(message, "summary") or "")]
        kind: Literal["compaction", "notice"] = "compaction" if compacts else "notice"
        step = self.builder.step(kind, ref.native_id, blocks=blocks, ref=ref, role=role)
        step.flags.meta = True
        about = ("fromId", "firstKeptEntryId", "firstKeptEntryIndex", "details", "fromHook")
        step.extra = {key: message[key] for key in about if key in message}
        if compacts:
            made = Compaction(before_step_id=entry.step_id, summary_step_id=step.step_id)
            made.pre_tokens = count_of(message, "tokensBefore")
            self.builder.trace.compactions.append(made)
        return step

    def _spent(self, step: Step, usage: Mapping[str, Any]) -> None:
        """What a response has used: what came from the cache is beside the input."""
        into, out = count_of(usage, "input"), count_of(usage, "output")
        read, write = count_of(usage, "cacheRead"), count_of(usage, "cacheWrite")
        if any((into, out, read, write)):
            # A response that never came has zeros.
            total = None if into is None else into + (read or 0) + (write or 0)
            step.usage = Usage(input=total, output=out, cache_read=read, cache_write=write)
            step.usage.reasoning = count_of(usage, "reasoning")
            self.used.append(step.usage)
            cost = millis_of(dict_of(usage, "cost").get("total"))
            if cost is not None:
                step.extra["cost_usd"] = cost / 1000
                self.costs.append(cost / 1000)

    # --- results ------------------------------------------------------------------------------------------------------

    def _result(self, message: Mapping[str, Any], at: str | None) -> None:
        flag = message.get("isError")
        result = read_result(message.get("content"), {"is_error": flag} if isinstance(flag, bool) else {})
        result.at = at
        details = dict_of(message, "details")
        result.native = details or message.get("details")
        result.truncated = dict_of(details, "truncation").get("truncated") is True
        if result.is_error and string_of(message, "toolName") == "bash" and result.text:
            if (ends := _EXIT.search(result.text[-200:])) is not None:
                result.exit_code = int(ends[1])
        call = self.builder.result(string_of(message, "toolCallId"), result)
        if call is not None and details:
            self._changes(call, result, details)

    def _changes(self, call: ToolCall, result: Result, details: Mapping[str, Any]) -> None:
        path, diff = string_of(call.arguments or {}, "path"), string_of(details, "diff")
        hunks = hunks_of(string_of(details, "patch") or "") or hunks_of(diff or "") or shown_hunks(diff or "")
        if path is None or not hunks:
            if diff and diff.strip():
                self.builder.loss("bad-hunk", call.call_id)
            return
        applied = None if result.is_error is None else not result.is_error
        call.edits = [Edit(path=path, op="modify", applied=applied, hunks=hunks, origin="unified")]

    # --- the tree -----------------------------------------------------------------------------------------------------

    def finish(self) -> Trace:
        """The trace."""
        trace = self.builder.trace
        self._part()
        last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
        if last is not None and not last.tool_calls:
            last.flags.terminal = True
        # What was left was paid for too.
        trace.usage = total_usage(self.used) if self.used else None
        trace.cost_usd = sum(self.costs) if self.costs else None
        if self.session_id is not None:
            return self.builder.finish(self.session_id, unique=True)
        return self.builder.finish(self.source.stem, self.digest)

    def _part(self) -> None:
        """Moves the steps that are not on the way to the last entry into branches, each a line of entries."""
        trace = self.builder.trace
        active: set[int] = set()
        at = len(self.entries) - 1 if self.entries else None
        while at is not None:
            active.add(at)
            at = self.entries[at].parent
        tails: dict[int, list[Step]] = {}
        lines: list[tuple[str | None, list[Step]]] = []
        for number, entry in enumerate(self.entries):
            if number in active:
                continue
            line = tails.pop(entry.parent, None) if entry.parent is not None else None
            if line is None:
                line = []
                lines.append((self.entries[entry.parent].step_id if entry.parent is not None else None, line))
            tails[number] = line
            if entry.own is not None:
                line.append(entry.own)
        left = {step.step_id for _, line in lines for step in line}
        if not left:
            return
        trace.steps[:] = [step for step in trace.steps if step.step_id not in left]
        trace.compactions[:] = [one for one in trace.compactions if one.summary_step_id not in left]
        for origin, line in lines:
            if line:
                # A line from the root comes from nowhere but itself.
                branch = Branch(from_step_id=origin or line[0].step_id, steps=line)
                trace.branches.append(branch)
                self.builder.loss("rewound-steps", branch.from_step_id, f"{len(line)} steps are kept as a branch")


def shown_hunks(diff: str) -> list[Hunk]:
    """The hunks of a diff as pi shows it: numbered lines; what is left out between them stands as `...`.

    Lines that are kept or removed bear the number of the old file, and those that are added that of the new one.
    """
    hunks: list[Hunk] = []
    hunk: Hunk | None = None
    for line in diff.removesuffix("\n").split("\n"):
        found = _LINE.fullmatch(line)
        if found is None:
            if line.strip() != "...":
                return []
            hunk = None
            continue
        mark, number = found[1], int(found[2])
        if hunk is None:
            hunk = Hunk(lines=[], old_len=0, new_len=0)
            hunks.append(hunk)
        old, new = hunk.old_len or 0, hunk.new_len or 0
        if mark == "+":
            hunk.new_start = number - new if hunk.new_start is None else hunk.new_start
        else:
            hunk.old_start = number - old if hunk.old_start is None else hunk.old_start
        hunk.old_len, hunk.new_len = old + (mark != "+"), new + (mark != "-")
        hunk.lines.append(f"{mark}{found[3] or ''}")
    return hunks


def _at(row: Mapping[str, Any], message: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """When a message began, and when it was written."""
    written = string_of(row, "timestamp")
    began = message.get("timestamp")
    return (began if isinstance(began, str) else epoch_of(began)) or written, written


def _thought(block: Any, provider: str | None) -> Block:
    if isinstance(block, dict) and block.get("type") == "thinking" and isinstance(block.get("thinking"), str):
        signature = string_of(block, "thinkingSignature")
        if signature is not None and block.get("redacted") is True:
            return RedactedReasoningBlock(data=signature, provider=provider)
        return ReasoningBlock(text=block["thinking"], signature=signature)
    return read_block(block)


def _blocks(content: Any) -> list[Block]:
    if isinstance(content, list):
        return [read_block(block) for block in content]
    return [] if content is None or content == "" else [read_block(content)]


READER = Pi()

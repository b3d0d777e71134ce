"""Claude Code's session files: `~/.claude/projects/<folder>/<session>.jsonl`, and the files of its sub-agents.

A row holds one content block; the rows of one response share `message.id` and repeat its usage. The order of the file
is the order of the session: parallel results are siblings in the tree of `parentUuid`, not branches. A prompt whose
parent is an earlier row is a rewind: what came in between is kept as a branch. A sub-agent is a file beside the
session (`<session>/subagents/agent-<id>.jsonl`), in older versions rows with `isSidechain` in the session itself.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from potato_bridge.converters.traces import _claude
from potato_bridge.converters.traces.build import Builder
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import Branch, Compaction, Parent, Ref, Step, ToolCall, Trace

#: Records beside the conversation.
_EVENTS = frozenset(
    """summary file-history-snapshot file-history-delta queue-operation progress attachment mode permission-mode
    ai-title custom-title agent-name agent-color agent-setting last-prompt pr-link worktree-state started result
    frame-link relocated tag task-summary content-replacement""".split()
)


class ClaudeCode:
    """The reader."""

    name = "claude_code"
    title = "Claude Code session"

    def score(self, source: Source) -> int:
        """By the envelope of its rows."""
        rows = [row for row in source.head if isinstance(row, dict)]
        if source.form != "lines" and len(rows) != 1:
            return 0
        if any(isinstance(r.get("sessionId"), str) and "parentUuid" in r and "uuid" in r for r in rows):
            return 95
        return 0

    def main_of(self, source: Source) -> str | None:
        """Of a sub-agent's file, where the session lies that it is read with."""
        parts = source.name.replace("\\", "/").split("/")
        if len(parts) > 2 and parts[-2] == "subagents" and parts[-1].startswith("agent-"):
            return f"../../{parts[-3]}.jsonl"
        return None

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """The sessions of a file: one, or one for each session that begins anew in it."""
        sessions: list[_Session] = []
        for raw in source.records():
            if not sessions or sessions[-1].ends_before(raw.value):
                sessions.append(_Session(source, Builder(source, self.name)))
            sessions[-1].take(raw)
        for session in sessions:
            yield session.finish(self, report)


@dataclass
class _Session:
    """One session, or one sub-agent's file."""

    source: Source
    builder: Builder
    session_id: str | None = None
    agent_id: str | None = None
    compaction: Compaction | None = None
    #: Row id → what it said, and the index of the last step at that time.
    messages: dict[str, Any] = field(default_factory=dict)
    uuids: dict[str, int] = field(default_factory=dict)
    children: dict[str, "_Session"] = field(default_factory=dict)
    roots: list["_Session"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.thread = _claude.Thread(self.builder)
        self.builder.trace.agent.name = "Claude Code"

    def ends_before(self, row: Any) -> bool:
        """Whether a row begins another session: other id, and no row of this one before it."""
        if not isinstance(row, dict) or row.get("type") not in ("user", "assistant"):
            return False
        other = row.get("sessionId")
        if self.session_id is None or not isinstance(other, str) or other == self.session_id:
            return False
        return row.get("parentUuid") is None and row.get("uuid") not in self.uuids and not row.get("isSidechain")

    def take(self, raw: Raw) -> None:
        """Takes one row."""
        row = raw.value
        if raw.bad is not None:
            self.builder.bad(raw)
            return
        if not isinstance(row, dict):
            self._unknown(row, type(row).__name__)
            return
        uuid, kind = row.get("uuid"), row.get("type")
        if isinstance(uuid, str):
            # A resumed session begins with a copy of the earlier one.
            if uuid in self.messages and self.messages[uuid] == row.get("message"):
                self.builder.skipped("repeated row")
                return
            if uuid in self.messages:
                self.builder.loss("reused-row-id", uuid)
            self.messages[uuid] = row.get("message")
            self.uuids[uuid] = len(self.builder.trace.steps) - 1
        if self.session_id is None and isinstance(row.get("sessionId"), str):
            self.session_id = row["sessionId"]
        message = row.get("message")
        if kind in ("user", "assistant") and isinstance(message, dict) and _has_content(message):
            self._message(row, message, raw)
        elif kind == "system":
            self._system(row)
        elif isinstance(kind, str) and kind in _EVENTS:
            self.builder.event(row)
        else:
            self._unknown(row, str(kind))

    def _unknown(self, row: Any, kind: str) -> None:
        self.builder.event(row)
        self.builder.loss("unknown-record", kind)

    def _message(self, row: Mapping[str, Any], message: Mapping[str, Any], raw: Raw) -> None:
        self._about(row)
        self.builder.mapped(raw.notes)
        place = self
        if row.get("isSidechain") and self.agent_id is None:
            place = self._side(row)
        parent = row.get("parentUuid")
        uuid, at = row.get("uuid"), row.get("timestamp")
        at = at if isinstance(at, str) else None
        ref = Ref(
            line=raw.line,
            ordinal=raw.ordinal if raw.line is None else None,
            native_id=uuid if isinstance(uuid, str) else None,
            parent_id=parent if isinstance(parent, str) else None,
        )
        if row.get("type") == "assistant":
            step: Step | None = place.thread.assistant(message, ref, at)
            if row.get("isApiErrorMessage") and step is not None:
                step.kind, step.flags.api_error, step.flags.ratable = "notice", True, False
        else:
            step = place._user(row, message, ref, at)
        if isinstance(uuid, str) and step is not None and place is self:
            self.uuids[uuid] = step.index

    def _user(self, row: Mapping[str, Any], message: Mapping[str, Any], ref: Ref, at: str | None) -> Step | None:
        meta = any(row.get(key) is True for key in ("isMeta", "isVisibleInTranscriptOnly"))
        content = message.get("content")
        results = isinstance(content, list) and any(
            isinstance(block, dict) and block.get("type") == "tool_result" for block in content
        )
        if not meta and not results:
            self._rewind(row.get("parentUuid"))
        step = self.thread.user(content, ref, at, row.get("toolUseResult"), meta=meta)
        if row.get("isCompactSummary") is True and step is not None:
            step.kind, step.flags.meta = "compaction", True
            compaction = self.compaction or Compaction()
            self.compaction = None
            compaction.summary_step_id = step.step_id
            if step.index > 0:
                compaction.before_step_id = self.builder.trace.steps[step.index - 1].step_id
            self.builder.trace.compactions.append(compaction)
        return step

    def _rewind(self, parent: Any) -> None:
        """Moves the steps after the parent of a prompt into a branch."""
        steps = self.builder.trace.steps
        if not isinstance(parent, str) or parent not in self.uuids:
            return
        at = self.uuids[parent]
        left = steps[at + 1 :]
        if at < 0 or not any(step.kind == "agent" for step in left):
            return
        del steps[at + 1 :]
        self.builder.trace.branches.append(Branch(from_step_id=steps[at].step_id, steps=left))
        self.builder.loss("rewound-steps", steps[at].step_id, f"{len(left)} steps are kept as a branch")

    def _system(self, row: dict[str, Any]) -> None:
        if row.get("subtype") == "compact_boundary":
            data = row.get("compactMetadata")
            data = data if isinstance(data, dict) else {}
            trigger, tokens = data.get("trigger"), data.get("preTokens")
            self.compaction = Compaction(
                trigger=trigger if isinstance(trigger, str) else None,
                pre_tokens=tokens if isinstance(tokens, int) else None,
            )
        self.builder.event(row)

    def _about(self, row: Mapping[str, Any]) -> None:
        trace = self.builder.trace
        if isinstance(version := row.get("version"), str):
            trace.agent.version = trace.source.producer_version = version
        for key in ("cwd", "gitBranch"):
            if isinstance(value := row.get(key), str) and key not in trace.extra:
                trace.extra[key] = value
        if self.agent_id is None and row.get("isSidechain") and isinstance(agent := row.get("agentId"), str):
            # A file of its own; rows of older versions in the session itself say no agent.
            if not self.builder.trace.steps:
                self.agent_id = agent

    def _side(self, row: Mapping[str, Any]) -> "_Session":
        """The sub-agent of an older version that a row belongs to: its rows are linked by their parents."""
        parent, uuid = row.get("parentUuid"), row.get("uuid")
        child = self.children.get(parent) if isinstance(parent, str) else None
        if child is None:
            child = _Session(self.source, Builder(self.source, ClaudeCode.name), self.session_id)
            child.agent_id = f"side-{uuid if isinstance(uuid, str) else len(self.roots)}"
            self.roots.append(child)
        if isinstance(uuid, str):
            self.children[uuid] = child
        return child

    def finish(self, reader: ClaudeCode, report: Report) -> Trace:
        """The trace, with those of its sub-agents."""
        _claude.end(self.thread)
        native = self.session_id
        if self.agent_id is not None:
            native = f"{native or self.source.stem}:{self.agent_id}"
        trace = self.builder.finish(native or self.source.stem, unique=native is not None)
        calls = [(step, call) for step in trace.steps for call in step.tool_calls]
        for child in self.roots:
            self._adopt(child.finish(reader, report), self._starter(child, calls), trace)
        for step, call in calls:
            agent = self.thread.agents.get(call.call_id)
            if agent is None:
                continue
            file = self._file_of(agent)
            found = None if file is None else next(reader.read(file, report), None)
            if found is None:
                self.builder.loss("sub-agent-not-found", agent, "its file does not lie beside the session")
            else:
                self._adopt(found, (step, call), trace)
        return trace

    def _file_of(self, agent: str) -> Source | None:
        if not agent.replace("-", "").replace("_", "").isalnum():
            return None
        name = f"agent-{agent}.jsonl"
        return self.source.beside(f"{self.source.stem}/subagents/{name}") or self.source.beside(name)

    @staticmethod
    def _starter(child: "_Session", calls: list[tuple[Step, ToolCall]]) -> tuple[Step, ToolCall] | None:
        """The call that has started a sub-agent: its prompt is the sub-agent's first message."""
        prompt = next((step.text() for step in child.builder.trace.steps if step.kind == "user"), None)
        for step, call in calls:
            if call.child_trace_id is None and (call.arguments or {}).get("prompt") == prompt is not None:
                return step, call
        return None

    @staticmethod
    def _adopt(child: Trace, starter: tuple[Step, ToolCall] | None, trace: Trace) -> None:
        if starter is None:
            child.parent = Parent()
        else:
            child.parent = Parent(step_id=starter[0].step_id, call_id=starter[1].call_id)
            starter[1].child_trace_id = child.trace_id
        trace.children.append(child)


def _has_content(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("content"), str | list)


READER = ClaudeCode()

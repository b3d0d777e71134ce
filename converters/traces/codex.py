"""Codex's rollouts (`~/.codex/sessions/…/rollout-*.jsonl`): those of 2025 with bare items, and those with envelopes.

The items of the Responses API are read (`response_item`); what the interface was told (`event_msg`) repeats them and is
used for what they lack: tokens, exit codes, applied patches. There is no id of a response: one step is a run of items
of the model up to the next output of a tool or message of a user.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from potato_bridge.converters.tool_calls import as_text, read_image
from potato_bridge.converters.tool_edits import read_edits
from potato_bridge.converters.traces._items import CALLS, HARNESS, reasoning_of, result_of, texts_of
from potato_bridge.converters.traces._values import count_of, millis_of, string_of
from potato_bridge.converters.traces.build import Builder, total_usage
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import (
    Compaction,
    Edit,
    Family,
    Hunk,
    Outcome,
    Ref,
    Result,
    Step,
    TextBlock,
    ToolCall,
    Trace,
    Usage,
)

_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "local_shell_call")
_REPEATS = ("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content")
#: What Codex answers to a patch that does not fit, without a code.
_UNFIT = "apply_patch verification failed"
#: Tools of Codex that are not known by their names.
_FAMILIES: dict[str, Family] = {
    "write_stdin": "shell",
    "view_image": "read",
    "send_input": "agent",
    "resume_agent": "agent",
    "wait_agent": "agent",
    "close_agent": "agent",
}
_PARENTS = ("forked_from_id", "parent_thread_id")
_USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cached_input_tokens",
    "cache_write": "cache_write_input_tokens",
    "reasoning": "reasoning_output_tokens",
}
_PATCH = re.compile(r"\*\*\* Begin Patch\r?\n.*?(?:\*\*\* End Patch|\Z)", re.S)
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)")
_OPS: dict[str, Literal["create", "modify", "delete"]] = {"add": "create", "update": "modify", "delete": "delete"}


class Codex:
    """The reader."""

    name = "codex"
    title = "Codex rollout"

    def score(self, source: Source) -> int:
        """By its envelopes; of the oldest form, by a first line without a type and bare items."""
        rows = [row for row in source.head if isinstance(row, dict)]
        if source.form != "lines" or not rows:
            return 0
        if any(row.get("type") in _ENVELOPES and isinstance(row.get("payload"), dict) for row in rows):
            return 95
        if "id" in rows[0] and "timestamp" in rows[0] and "type" not in rows[0]:
            return 90 if any(row.get("type") in _ITEMS or "record_type" in row for row in rows[1:]) else 0
        return 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One session."""
        run = _Run(source)
        for raw in source.records():
            run.take(raw)
        yield run.finish()


class _Run:
    """One session."""

    def __init__(self, source: Source) -> None:
        self.source, self.builder = source, Builder(source, Codex.name)
        self.session_id: str | None = None
        self.step: Step | None = None
        self.answered = False
        self.model: str | None = None
        self.effort: str | None = None
        self.digest = ""
        self.calls: dict[str, ToolCall] = {}
        self.ended: dict[str, list[Mapping[str, Any]]] = {}
        self.total: Any = None
        self.usage: tuple[str, Usage] | None = None
        self.used: list[Usage] = []
        self.builder.trace.agent.name = "Codex"

    def take(self, raw: Raw) -> None:
        """Takes one row."""
        row = raw.value
        if raw.bad is not None:
            self.builder.bad(raw)
            return
        self.digest = self.digest or raw.array_digest()
        if not isinstance(row, dict):
            self._unknown(row, type(row).__name__)
            return
        kind, payload = row.get("type"), row.get("payload")
        at = string_of(row, "timestamp") or ""
        if isinstance(payload, dict):
            if kind == "response_item":
                self._item(row, payload, at, raw)
            elif kind == "event_msg":
                self._told(row, payload, at)
            elif kind == "compacted":
                self._compacted(payload, at, raw)
            else:
                self._around(row, kind, payload)
        elif kind is None and ("record_type" in row or self.session_id is None):
            # The oldest form: its first line is about the session, and states of the program stand in between.
            if "record_type" in row:
                self.builder.skipped("state of the program")
            else:
                self._session(row)
                self.builder.event(row)
        else:
            self._item(row, row, at, raw)

    def _unknown(self, row: Any, kind: str) -> None:
        self.builder.event(row)
        self.builder.loss("unknown-record", kind)

    # --- items --------------------------------------------------------------------------------------------------------

    def _item(self, row: dict[str, Any], item: Mapping[str, Any], at: str, raw: Raw) -> None:
        kind, role = item.get("type"), item.get("role")
        ref = Ref(line=raw.line, native_id=string_of(item, "id"))
        if kind == "message" and role == "assistant":
            self._model(at, ref).blocks += texts_of(item.get("content"))
        elif kind == "message":
            self.step = None
            blocks = texts_of(item.get("content"))
            who = role if isinstance(role, str) else None
            step = self.builder.step("user" if role == "user" else "system", blocks=blocks, ref=ref, role=who)
            step.started_at, step.clock = at or None, "wall" if at else "none"
            step.flags.meta = role == "user" and HARNESS.match(step.text()) is not None
            if role == "user" and not step.flags.meta:
                # How a turn before it ended is not how the run did.
                self.builder.trace.outcome = None
        elif kind == "reasoning":
            self._model(at, ref).blocks += reasoning_of(item)
        elif isinstance(kind, str) and kind in CALLS:
            self._call(item, kind, self._model(at, ref))
        elif isinstance(kind, str) and kind.endswith("_output"):
            self._output(item, at)
        else:
            if kind in ("agent_message", "ghost_snapshot"):
                self.builder.event(row)
            else:
                self._unknown(row, str(kind))
            return
        self.builder.mapped(raw.notes)

    def _model(self, at: str, ref: Ref) -> Step:
        """The step that an item of the model belongs to."""
        if self.step is None or self.answered:
            self._settle(at)
            self.step, self.answered = self.builder.step("agent", role="assistant"), False
            self.step.started_at, self.step.clock = at or None, "wall" if at else "none"
            self.step.model, self.step.effort = self.model, self.effort
            if self.usage is not None:
                self.step.usage, self.usage = self.usage[1], None
        self.step.ended_at = at or self.step.ended_at
        self.step.refs.append(ref)
        return self.step

    def _settle(self, at: str | None) -> None:
        """Gives tokens to the step before, unless they were counted at the moment when the next one begins."""
        if self.usage is None or (at and self.usage[0] == at):
            return
        last = next((step for step in reversed(self.builder.trace.steps) if step.kind == "agent"), None)
        if last is not None and last.usage is None:
            last.usage, self.usage = self.usage[1], None

    def _call(self, item: Mapping[str, Any], kind: str, step: Step) -> None:
        name = string_of(item, "name") or kind.removesuffix("_call")
        space = string_of(item, "namespace")
        if space is not None and space.startswith("mcp__") and not name.startswith(space):
            name = space + name
        elif space is not None:
            step.extra.setdefault("namespaces", {})[name] = space
        given: dict[str, Any] = {"name": name, "arguments": item.get(CALLS[kind])}
        if (call_id := string_of(item, "call_id") or string_of(item, "id")) is not None:
            given["call_id"] = call_id
        call = self.builder.call(step, given)
        if call_id is not None:
            self.calls[call_id] = call
        if call.family == "other":
            call.family = _FAMILIES.get(name, "other")
        if kind == "image_generation_call" and (image := read_image(string_of(item, "result"))) is not None:
            # The provider made it within the response: no output follows.
            step.blocks.append(image)
        if call.family == "shell" and not call.edits:
            # A patch that a shell is asked to apply: `apply_patch <<'EOF'`.
            values = call.arguments or {}
            command = values.get("command", values.get("cmd", call.arguments_raw))
            text = "\n".join(map(str, command)) if isinstance(command, list) else as_text(command)
            if "apply_patch" in text and (found := _PATCH.findall(text)):
                call.edits = [edit for patch in found for edit in read_edits("apply_patch", None, patch, None)]
                call.family = "edit"

    def _output(self, item: Mapping[str, Any], at: str) -> None:
        self.answered = True
        result = result_of(item)
        result.at = at or None
        call_id = string_of(item, "call_id")
        for event in self.ended.pop(call_id, ()) if call_id is not None else ():
            _exit(result, event)
        call = self.calls.get(call_id) if call_id is not None else None
        if call is not None and call.family == "edit" and (result.text or "").startswith(_UNFIT):
            result.is_error = True
        self.builder.result(call_id, result)

    # --- beside the items ---------------------------------------------------------------------------------------------

    def _told(self, row: dict[str, Any], event: Mapping[str, Any], at: str) -> None:
        kind, call_id = event.get("type"), string_of(event, "call_id")
        if kind in _REPEATS:
            self.builder.skipped("an item, told again")
        elif kind == "token_count":
            self._tokens(row, event, at)
        elif kind == "exec_command_end" and call_id in self.calls:
            self.builder.mapped()
            self._ended(call_id, event)
        elif kind == "mcp_tool_call_end" and call_id in self.calls:
            self.builder.event(row)
            self.calls[call_id].family = "mcp"
            self._ended(call_id, event)
        elif kind == "patch_apply_end" and call_id is not None:
            self.builder.event(row)
            call = self.calls.get(call_id)
            changes = event.get("changes")
            if call is not None and isinstance(changes, dict):
                success = event.get("success")
                edits = [_edit(path, change, success) for path, change in changes.items() if isinstance(change, dict)]
                call.edits, call.family = edits or call.edits, "edit"
            if call is not None:
                self._ended(call_id, event)
        else:
            # A command of the user's own has no call: it is told of here alone, and kept as it is.
            self._turn(kind, event)
            self.builder.event(row)

    def _ended(self, call_id: str, event: Mapping[str, Any]) -> None:
        """What the program says of a call that ended, before or after its output is recorded."""
        result = self.calls[call_id].result
        if result is not None:
            _exit(result, event)
        else:
            self.ended.setdefault(call_id, []).append(event)

    def _turn(self, kind: Any, event: Mapping[str, Any]) -> None:
        """How a turn goes and ends; the last one's end is the run's."""
        trace = self.builder.trace
        failed = trace.outcome is not None and trace.outcome.exit_status != "task_complete"
        if kind == "task_started":
            # What the model says in another turn is another response.
            self.step, trace.outcome = None, None
        elif kind in ("turn_aborted", "error") or (kind == "task_complete" and not failed):
            why = event.get("reason", event.get("message", event.get("error")))
            trace.outcome = Outcome(exit_status=str(kind), origin="event_msg", raw=why)
        if kind == "turn_aborted":
            # The program notes it for the model, too, as a message of the user.
            last = next((step for step in reversed(trace.steps) if not step.flags.meta), None)
            if last is not None and last.kind == "agent":
                last.flags.aborted = True

    def _tokens(self, row: dict[str, Any], event: Mapping[str, Any], at: str) -> None:
        info = event.get("info")
        info = info if isinstance(info, dict) else {}
        last, total = info.get("last_token_usage"), info.get("total_token_usage")
        if not isinstance(last, dict) and isinstance(total, dict):
            last = _since(total, self.total)
        if not isinstance(last, dict) or (total is not None and total == self.total):
            # It tells of limits alone, or tells the same again.
            self.builder.event(row)
            return
        self.builder.mapped()
        self.total = total
        self._settle(None)
        self._unsettled()
        self.usage = at, Usage()
        for name, key in _USAGE.items():
            setattr(self.usage[1], name, count_of(last, key))
        self.used.append(self.usage[1])

    def _unsettled(self) -> None:
        """Tokens of a call that left no item count for the run alone."""
        if self.usage is not None:
            self.builder.loss("usage-without-step")

    def _compacted(self, payload: Mapping[str, Any], at: str, raw: Raw) -> None:
        self.builder.mapped(raw.notes)
        self.step = None
        before = self.builder.trace.steps[-1].step_id if self.builder.trace.steps else None
        step = self.builder.step("compaction", ref=Ref(line=raw.line), ratable=False)
        step.blocks = [TextBlock(text=message)] if (message := string_of(payload, "message")) else []
        step.started_at, step.clock = at or None, "wall" if at else "none"
        if (history := payload.get("replacement_history")) is not None:
            step.extra["replacement_history"] = history
        self.builder.trace.compactions.append(Compaction(before_step_id=before, summary_step_id=step.step_id))

    def _around(self, row: dict[str, Any], kind: Any, payload: Mapping[str, Any]) -> None:
        if kind == "session_meta":
            self._session(payload)
        elif kind == "turn_context":
            self.model = string_of(payload, "model") or self.model
            self.effort = string_of(payload, "effort") or self.effort
            self.builder.trace.agent.model = self.builder.trace.agent.model or self.model
            # In the first versions it follows the items of its call.
            if self.step is not None and self.step.model is None:
                self.step.model, self.step.effort = self.model, self.effort
        elif kind not in ("world_state", "inter_agent_communication_metadata"):
            self._unknown(row, str(kind))
            return
        self.builder.event(row)

    def _session(self, about: Mapping[str, Any]) -> None:
        if self.session_id is not None:
            if (other := string_of(about, "id")) is not None and other != self.session_id:
                # A fork holds what it was forked from. Where that ends is not told.
                self.builder.loss("another-session", other)
            return
        trace = self.builder.trace
        self.session_id = string_of(about, "id") or string_of(about, "session_id")
        trace.agent.version = trace.source.producer_version = string_of(about, "cli_version")
        trace.agent.provider = string_of(about, "model_provider")
        base = about.get("base_instructions")
        base = base.get("text") if isinstance(base, dict) else base
        instructions = base if isinstance(base, str) else about.get("instructions")
        trace.agent.system_prompt = instructions if isinstance(instructions, str) else None
        tools = about.get("dynamic_tools")
        trace.agent.tool_definitions = tools if isinstance(tools, list) else None
        git = about.get("git")
        git = git if isinstance(git, dict) else {}
        trace.task.repo, trace.task.base_commit = string_of(git, "repository_url"), string_of(git, "commit_hash")
        for key, value in (("cwd", about.get("cwd")), ("gitBranch", git.get("branch"))):
            if isinstance(value, str):
                trace.extra[key] = value
        trace.extra |= {key: value for key in _PARENTS if (value := string_of(about, key)) is not None}

    def finish(self) -> Trace:
        """The trace."""
        self._settle(None)
        self._unsettled()
        trace = self.builder.trace
        trace.usage = total_usage(self.used) if self.used else None
        for call_id, events in self.ended.items():
            # It ended, and its output was not recorded: what the program told of it is all there is.
            result = Result()
            for event in events:
                result.text = string_of(event, "aggregated_output") or string_of(event, "stdout") or result.text
                _exit(result, event)
            self.builder.answer(self.calls[call_id], result, "id")
        last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
        done = trace.outcome is None or trace.outcome.exit_status == "task_complete"
        if last is not None and not last.tool_calls and done:
            last.flags.terminal = True
        if self.session_id is not None:
            return self.builder.finish(self.session_id, unique=True)
        return self.builder.finish(self.source.stem, self.digest)


def _exit(result: Result, event: Mapping[str, Any]) -> None:
    """What the program says of a call that ended: of a command, a patch, or a tool of an MCP server."""
    code = count_of(event, "exit_code", least=-1 << 31)
    if code is not None:
        result.exit_code, result.is_error = code, code != 0
    success, came = event.get("success"), event.get("result")
    if isinstance(came, dict) and ("Err" in came or isinstance(came.get("Ok"), dict)):
        success = "Err" not in came and came["Ok"].get("isError") is not True
    if isinstance(success, bool) and result.is_error is None:
        result.is_error = not success
    result.stdout = string_of(event, "stdout") or result.stdout
    result.stderr = string_of(event, "stderr") or result.stderr
    if isinstance(took := event.get("duration"), dict):
        result.duration_ms = millis_of(took.get("secs"), took.get("nanos"))


def _since(total: Mapping[str, Any], before: Any) -> dict[str, int]:
    """What was used since a count of the whole, of two such counts."""
    before = before if isinstance(before, dict) else {}
    found = {}
    for key in _USAGE.values():
        if (now := count_of(total, key)) is not None:
            then = count_of(before, key) or 0
            found[key] = now - then if now >= then else now
    return found


def _edit(path: str, change: Mapping[str, Any], success: Any) -> Edit:
    kind, moved = change.get("type"), string_of(change, "move_path")
    edit = Edit(path=moved or path, op=_OPS.get(str(kind), "unknown"), origin="unified")
    edit.applied = success if isinstance(success, bool) else None
    if moved is not None and moved != path:
        edit.op, edit.old_path = "rename", path
    if (diff := string_of(change, "unified_diff")) is not None:
        edit.hunks = hunks_of(diff)
    elif (text := string_of(change, "content")) is not None:
        mark = "-" if kind == "delete" else "+"
        lines = [f"{mark}{line}" for line in text.removesuffix("\n").split("\n")] if text else []
        edit.origin, edit.hunks = "write", [Hunk(lines=lines)] if lines else []
    return edit


def hunks_of(diff: str) -> list[Hunk]:
    """The hunks of a unified diff of one file; none where it is no such diff."""
    found: list[Hunk] = []
    for line in diff.removesuffix("\n").split("\n"):
        header = _HUNK.match(line)
        if header is not None:
            old, old_len, new, new_len = (None if n is None else int(n) for n in header.groups()[:4])
            found.append(
                Hunk(
                    lines=[],
                    old_start=old,
                    old_len=1 if old_len is None else old_len,
                    new_start=new,
                    new_len=1 if new_len is None else new_len,
                    section=header[5] or None,
                )
            )
        elif found:
            # The names of the files stand before the first hunk: within one, `--- x` is the removed line `-- x`.
            found[-1].lines.append(line or " ")
    return found


READER = Codex()

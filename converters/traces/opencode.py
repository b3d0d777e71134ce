"""Sessions of OpenCode: what `opencode export` writes, and the storage of JSON files that it had before its database.

A message of the assistant holds one response of the model, or several between marks `step-start`: each is a step.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from potato_bridge.converters.tool_calls import as_text
from potato_bridge.converters.traces._values import count_of, dict_of, epoch_of, millis_of, string_of
from potato_bridge.converters.traces.build import Builder
from potato_bridge.converters.traces.codex import hunks_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import (
    Block,
    Branch,
    Compaction,
    DocumentBlock,
    Edit,
    ImageBlock,
    ReasoningBlock,
    Ref,
    Result,
    Step,
    TextBlock,
    ToolCall,
    Trace,
    Usage,
)

#: A message's file in the storage, the folders above it, its session and its own id.
_MESSAGE = re.compile(r"((?:storage/)?(?:session/)?)message/(ses_[^/]+)/(msg_[^/]+)\.json")
_MARKS = ("step-start", "step-finish", "snapshot", "patch", "retry", "agent", "subtask", "compaction")
#: The text of a file before and after an edit, beside its diff.
_WHOLE = ("before", "after")


class OpenCode:
    """The reader."""

    name = "opencode"
    title = "OpenCode sessions"

    def score(self, source: Source) -> int:
        """By messages of `info` and `parts`; of a folder, by the names of its files."""
        if source.is_folder:
            return 90 if any(map(_MESSAGE.fullmatch, source.members)) else 0
        return 90 if source.head and all(map(_is_session, source.head)) else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each session."""
        if source.is_folder:
            yield from _stored(source)
            return
        for raw in source.records():
            if raw.bad is not None:
                report.fail(source, raw.bad, raw.line)
            elif not _is_session(raw.value):
                report.skip("no session")
            else:
                session = _Session(source, raw.value.get("info"))
                for note in raw.notes:
                    session.builder.loss(note)
                for ordinal, message in enumerate(raw.value["messages"]):
                    session.take(message, ordinal)
                yield session.finish(raw.digest(), str(raw.ordinal))


def _is_session(value: Any) -> bool:
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not isinstance(value.get("info", {}), dict):
        return False
    return any(map(_is_message, messages)) or (
        not messages and str(dict_of(value, "info").get("id")).startswith("ses_")
    )


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("info"), dict) and isinstance(value.get("parts"), list)


def _stored(source: Source) -> Iterator[Trace]:
    """The sessions of a storage: a file each for a session, its messages and their parts, whose names are in order."""
    sessions: dict[tuple[str, str], list[tuple[str, str]]] = {}
    parts: dict[str, list[str]] = {}
    for name in sorted(source.members):
        if (found := _MESSAGE.fullmatch(name)) is not None:
            sessions.setdefault((found[1], found[2]), []).append((found[3], name))
        elif "part/" in name:
            parts.setdefault(name.rpartition("/")[0].rpartition("/")[2], []).append(name)
    for (_, session_id), messages in sessions.items():
        about = [name for name in source.members if name.endswith(f"/{session_id}.json") and "session" in name]
        info = next((raw.value for name in about for raw in source.members[name].records() if raw.bad is None), None)
        session = _Session(source, info if isinstance(info, dict) else {"id": session_id})
        for ordinal, (message_id, name) in enumerate(messages):
            row = session.file(source.members[name])
            if row is None:
                continue
            held = [session.file(source.members[part]) for part in parts.get(message_id, [])]
            session.take({"info": row, "parts": [part for part in held if part is not None]}, ordinal)
        yield session.finish(session_id)


class _Session:
    """One session."""

    def __init__(self, source: Source, info: Any) -> None:
        self.source, self.builder = source, Builder(source, OpenCode.name)
        self.info: dict[str, Any] = info if isinstance(info, dict) else {}
        self.costs: list[float] = []
        self.compaction: Compaction | None = None
        #: The message from which on the user has taken back all, and the first step of it.
        self.reverted = string_of(dict_of(self.info, "revert"), "messageID")
        self.left: int | None = None
        trace, times = self.builder.trace, dict_of(self.info, "time")
        trace.agent.name = "OpenCode"
        trace.agent.version = trace.source.producer_version = string_of(self.info, "version")
        trace.started_at, trace.ended_at = epoch_of(times.get("created")), epoch_of(times.get("updated"))
        if (directory := string_of(self.info, "directory")) is not None:
            trace.extra["cwd"] = directory
        if rest := {key: value for key, value in self.info.items() if key not in ("id", "directory", "version")}:
            trace.extra["session"] = rest

    def file(self, source: Source) -> Any:
        """The one value of a file of the storage; None where it is bad."""
        raw: Raw | None = next(iter(source.records()), None)
        if raw is None or raw.bad is not None:
            self.builder.bad(raw or Raw(None, 0, bad="an empty file"))
            return None
        for note in raw.notes:
            self.builder.loss(note)
        return raw.value

    def take(self, message: Any, ordinal: int) -> None:
        """Takes a message with its parts."""
        info = message["info"] if _is_message(message) else {}
        role = info.get("role")
        if role not in ("user", "assistant"):
            self.builder.event(message)
            self.builder.loss("unknown-record", f"message of {role}" if isinstance(role, str) else "message")
            return
        self.builder.mapped()
        ref = Ref(ordinal=ordinal, native_id=string_of(info, "id"), parent_id=string_of(info, "parentID"))
        if self.reverted is not None and ref.native_id == self.reverted:
            self.left = len(self.builder.trace.steps)
        parts = [part for part in message["parts"] if isinstance(part, dict)]
        if len(parts) < len(message["parts"]):
            self.builder.loss("unknown-record", "part")
        if role == "user":
            self._user(info, parts, ref)
        else:
            self._assistant(info, parts, ref)

    # --- messages -----------------------------------------------------------------------------------------------------

    def _user(self, info: Mapping[str, Any], parts: Sequence[dict[str, Any]], ref: Ref) -> None:
        said: list[Block] = []
        added: list[Block] = []
        rest: list[Any] = []
        for part in parts:
            block = self._block(part, rest)
            if block is not None:
                (added if part.get("synthetic") is True else said).append(block)
            if part.get("type") == "compaction":
                auto = part.get("auto")
                self.compaction = Compaction(
                    trigger=None if not isinstance(auto, bool) else "auto" if auto else "manual"
                )
        step = self.builder.step("user", ref.native_id, blocks=said or added, ref=ref, role="user")
        # What the program has put in, such as the text of an attached file.
        step.flags.meta = not said
        if said and added:
            step.extra["context"] = [block.text for block in added if isinstance(block, TextBlock)]
        self._about(step, info, rest)
        if self.builder.trace.agent.system_prompt is None:
            self.builder.trace.agent.system_prompt = string_of(info, "system")

    def _assistant(self, info: Mapping[str, Any], parts: Sequence[dict[str, Any]], ref: Ref) -> None:
        trace = self.builder.trace
        groups: list[list[dict[str, Any]]] = [[]]
        for part in parts:
            if part.get("type") == "step-start" and any(one.get("type") not in _MARKS[2:] for one in groups[-1]):
                groups.append([])
            groups[-1].append(part)
        system = info.get("system")
        if trace.agent.system_prompt is None and isinstance(system, list):
            trace.agent.system_prompt = "\n".join(one for one in system if isinstance(one, str)) or None
        for number, group in enumerate(groups):
            step_id = ref.native_id if not number or ref.native_id is None else f"{ref.native_id}/{number}"
            step = self.builder.step("agent", step_id, ref=ref, role="assistant")
            step.model = string_of(info, "modelID")
            trace.agent.model = trace.agent.model or step.model
            trace.agent.provider = trace.agent.provider or string_of(info, "providerID")
            rest: list[Any] = []
            for part in group:
                if part.get("type") == "tool":
                    self._tool(step, part)
                elif (block := self._block(part, rest)) is not None:
                    step.blocks.append(block)
            self._finish(step, info, group, last=number == len(groups) - 1)
            self._about(step, info if not number else {}, rest)
        if info.get("summary") is True:
            step.kind, step.flags.ratable = "compaction", False
            made = self.compaction or Compaction()
            self.compaction, made.summary_step_id = None, step.step_id
            made.before_step_id = trace.steps[step.index - 1].step_id if step.index else None
            trace.compactions.append(made)

    def _finish(self, step: Step, info: Mapping[str, Any], group: Sequence[dict[str, Any]], *, last: bool) -> None:
        """What a response has cost, and how it ended. A message tells the tokens of its last response."""
        found = [part for part in group if part.get("type") == "step-finish"]
        finish: Mapping[str, Any] = found[-1] if found else {}
        step.usage = _usage(dict_of(finish, "tokens")) or (_usage(dict_of(info, "tokens")) if last else None)
        step.stop_reason = string_of(finish, "reason") or (string_of(info, "finish") if last else None)
        if (cost := _number(finish.get("cost"))) is not None:
            step.extra["cost_usd"] = cost
        if not last:
            return
        if (cost := _number(info.get("cost"))) is not None:
            self.costs.append(cost)
        step.ended_at = epoch_of(dict_of(info, "time").get("completed"))
        error = info.get("error")
        if isinstance(error, dict) and error:
            step.extra["error"] = error
            aborted = error.get("name") == "MessageAbortedError"
            step.flags.aborted = aborted
            if not step.blocks:
                # Nothing came from the model.
                step.kind, step.flags.ratable, step.flags.api_error = "notice", False, not aborted
                step.blocks = [
                    TextBlock(text=as_text(dict_of(error, "data").get("message") or error.get("name") or ""))
                ]

    @staticmethod
    def _about(step: Step, info: Mapping[str, Any], rest: list[Any]) -> None:
        step.started_at = step.started_at or epoch_of(dict_of(info, "time").get("created"))
        step.clock = "wall" if step.started_at else "none"
        if rest:
            step.extra["parts"] = rest
        for key in ("agent", "mode"):
            if (value := string_of(info, key)) is not None:
                step.extra[key] = value

    def _block(self, part: dict[str, Any], rest: list[Any]) -> Block | None:
        """A part that says something; another one is kept in `rest`."""
        kind, text = part.get("type"), string_of(part, "text")
        if kind == "text" and text is not None:
            return TextBlock(text=text)
        if kind == "reasoning" and text is not None:
            return ReasoningBlock(text=text)
        if kind == "file" and (url := string_of(part, "url")) is not None:
            mime = string_of(part, "mime")
            if mime is not None and mime.startswith("image/"):
                return ImageBlock(uri=url, mime=mime, alt=string_of(part, "filename"))
            return DocumentBlock(uri=url, mime=mime, title=string_of(part, "filename"))
        if kind not in _MARKS:
            self.builder.loss("unknown-record", f"part of {kind}" if isinstance(kind, str) else "part")
        if kind != "step-start":
            rest.append(part)
        return None

    # --- tools --------------------------------------------------------------------------------------------------------

    def _tool(self, step: Step, part: Mapping[str, Any]) -> None:
        state = dict_of(part, "state")
        given = state.get("input")
        if not given and isinstance(raw := state.get("raw"), str) and raw:
            given = raw
        call = self.builder.call(step, {"id": string_of(part, "callID"), "name": part.get("tool"), "input": given})
        times, about = dict_of(state, "time"), dict_of(state, "metadata")
        started = epoch_of(times.get("start"))
        step.started_at = step.started_at or started
        if call.result is not None:
            return
        if isinstance(child := about.get("sessionId"), str) and call.family == "agent":
            self.builder.loss("sub-agent-not-found", child)
        status = state.get("status")
        if status not in ("completed", "error"):
            return
        failed = status == "error"
        came = state.get("error" if failed else "output")
        result = Result(text=None if came is None else as_text(came), is_error=failed)
        if (code := count_of(about, "exit", -1 << 31)) is not None:
            result.exit_code, result.is_error = code, failed or code != 0
        result.truncated = about.get("truncated") is True
        result.at = epoch_of(times.get("end"))
        if started is not None and result.at is not None:
            result.duration_ms = millis_of((times["end"] - times["start"]) / 1000)
        attached = state.get("attachments")
        blocks = (
            [self._block(one, []) for one in attached if isinstance(one, dict)] if isinstance(attached, list) else []
        )
        if found := [block for block in blocks if block is not None]:
            result.blocks = [TextBlock(text=result.text or ""), *found]
        self._changes(call, about)
        result.native = {key: state[key] for key in ("title", "time") if key in state}
        if about:
            result.native["metadata"] = self._without_files(about)
        self.builder.answer(call, result, "id")

    def _changes(self, call: ToolCall, about: Mapping[str, Any]) -> None:
        """The edits that the program recorded: of one file, of several, or one after the other."""
        given = call.arguments or {}
        several = next((v for key in ("files", "results") if isinstance(v := about.get(key), list)), [])
        found = [one for one in several if isinstance(one, dict) and isinstance(one.get("diff"), str)]
        edits: list[Edit] = []
        changes: Sequence[Mapping[str, Any]] = found or [about]
        for one in changes:
            diff = string_of(one, "diff") or string_of(one, "patch")
            path = string_of(dict_of(one, "filediff"), "file") or next(
                (v for v in (one.get("filePath"), given.get("filePath"), about.get("filepath")) if isinstance(v, str)),
                None,
            )
            if diff is None or path is None:
                continue
            hunks = hunks_of(diff)
            if not hunks:
                if "@@" in diff:
                    self.builder.loss("bad-hunk", call.call_id)
                continue
            edit = Edit(path=path, op="modify", hunks=hunks, origin="unified")
            if one.get("type") == "add" or about.get("exists") is False or _empty(hunks[0].old_start, hunks[0].old_len):
                edit.op = "create"
            elif one.get("type") == "delete":
                edit.op = "delete"
            elif (moved := string_of(one, "movePath")) is not None:
                edit.op, edit.old_path, edit.path = "rename", path, moved
            edits.append(edit)
        if edits:
            call.edits = edits

    def _without_files(self, value: Any) -> Any:
        """What is told of an edit, without the texts of whole files."""
        if isinstance(value, list):
            return [self._without_files(one) for one in value]
        if not isinstance(value, dict):
            return value
        whole = "additions" in value and any(isinstance(value.get(key), str) for key in _WHOLE)
        if whole:
            self.builder.loss("original-file")
        return {k: self._without_files(v) for k, v in value.items() if not (whole and k in _WHOLE)}

    def finish(self, *distinct: str) -> Trace:
        """The trace."""
        trace = self.builder.trace
        if self.left is not None:
            steps = trace.steps[self.left :]
            del trace.steps[self.left :]
            if steps:
                # What was taken back from the very first message on comes from nowhere but itself.
                origin = (trace.steps or steps)[-1 if trace.steps else 0].step_id
                trace.branches.append(Branch(from_step_id=origin, steps=steps))
                self.builder.loss("rewound-steps", origin, f"{len(steps)} steps are kept as a branch")
        last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
        if last is not None and not last.tool_calls:
            last.flags.terminal = True
        trace.cost_usd = sum(self.costs) if self.costs else None
        native = string_of(self.info, "id") or self.source.stem
        # The program's own ids never come twice: a later export is of the same run.
        return self.builder.finish(native, *distinct, unique=native.startswith("ses_"))


def _empty(start: int | None, length: int | None) -> bool:
    return (start, length) == (0, 0)


def _number(value: Any) -> float | None:
    seconds = millis_of(value)
    return None if seconds is None else seconds / 1000


def _usage(tokens: Mapping[str, Any]) -> Usage | None:
    """Tokens: what came from the cache is beside the input, and reasoning beside the output."""
    cache = dict_of(tokens, "cache")
    into, out, thought = (count_of(tokens, name) for name in ("input", "output", "reasoning"))
    read, write = count_of(cache, "read"), count_of(cache, "write")
    if not any((into, out, thought, read, write)):
        # A response that never came has zeros.
        return None
    return Usage(
        input=None if into is None else into + (read or 0) + (write or 0),
        output=None if out is None else out + (thought or 0),
        cache_read=read,
        cache_write=write,
        reasoning=thought,
    )


READER = OpenCode()

"""Sessions of Gemini CLI (and of Qwen Code, made from it): whole, as a log since 0.40, as a stream, as a raw history.

The log is no list: a message that is written again replaces the earlier one and keeps its place, `$set` changes what is
known of the session, and `$rewindTo` takes back a message and all after it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from potato_bridge.converters.traces import _gemini
from potato_bridge.converters.traces._values import count_of, dict_of, string_of
from potato_bridge.converters.traces.build import Builder
from potato_bridge.converters.traces.codex import hunks_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import Branch, Edit, ReasoningBlock, Ref, Result, Step, ToolCall, Trace, Usage

_MODELS = ("gemini", "qwen")
_NOTICES = ("info", "error", "warning")
#: Of a session: what has a place of its own, or is the list of its messages.
_HEADER = ("sessionId", "messages", "startTime", "lastUpdated")
_ENDED = {"success": False, "error": True, "cancelled": True}
#: A message has one of these; an answer may have been cut off before it said anything.
_KEYS = {"content", "tokens", "toolCalls"}
_FACTS = ("id", "name", "args", "result", "status", "timestamp", "renderOutputAsMarkdown")


class GeminiCli:
    """The reader."""

    name = "gemini_cli"
    title = "Gemini CLI sessions"

    def score(self, source: Source) -> int:
        """By a session's fields, by messages of type `gemini`, by the stream's rows, or by contents with `parts`."""
        rows = [row for row in source.head if isinstance(row, dict)]
        if not rows or any("parentUuid" in row for row in rows):
            return 0
        if any(_is_session(row) for row in rows) or any(_is_header(row) or _is_operation(row) for row in rows):
            return 90
        if any(_is_message(row) and row["type"] in _MODELS for row in rows):
            return 85
        if source.form in ("lines", "array") and _gemini.is_stream(rows):
            return 85
        if (source.form == "array" and all(map(_gemini.is_content, rows))) or any(map(_gemini.contents_of, rows)):
            return 70
        # One record that a user wrote tells little.
        return 40 if source.form == "object" and all(_is_message(row) and "timestamp" in row for row in rows) else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each session, stream or history; records that stand alone are one session."""
        rows = [row for row in source.head if isinstance(row, dict)]
        log = source.form == "lines" and any(_is_message(row) or _is_operation(row) for row in rows)
        if not log and any(_is_session(row) or _gemini.contents_of(row) for row in rows):
            yield from _documents(source, report)
        elif source.form == "array" and rows and all(map(_gemini.is_content, rows)):
            raws = list(source.records())
            yield _history(source, raws[0], [raw.value for raw in raws], {})
        elif _gemini.is_stream(rows):
            yield from _streams(source)
        else:
            yield from _logs(source)


def _documents(source: Source, report: Report) -> Iterator[Trace]:
    for raw in source.records():
        if raw.bad is not None:
            report.fail(source, raw.bad, raw.line)
        elif (contents := _gemini.contents_of(raw.value)) is not None:
            yield _history(source, raw, contents, raw.value)
        elif _is_session(raw.value):
            session = _Session(source)
            session.about(raw.value)
            session.digest = f"{raw.digest()} {raw.ordinal}"
            for note in raw.notes:
                session.builder.loss(note)
            for ordinal, message in enumerate(raw.value["messages"]):
                session.take(message, Ref(ordinal=ordinal))
            yield session.finish()
        else:
            report.skip("no session")


def _history(source: Source, raw: Raw, contents: list[Any], document: Mapping[str, Any]) -> Trace:
    builder = Builder(source, GeminiCli.name)
    for note in raw.notes:
        builder.loss(note)
    builder.trace.agent.name = "Gemini CLI"
    builder.trace.extra = {key: value for key, value in document.items() if value is not contents}
    _gemini.take_contents(builder, contents)
    _gemini.end(builder)
    return builder.finish(source.stem, raw.digest(), str(raw.ordinal))


def _streams(source: Source) -> Iterator[Trace]:
    run: _gemini.Stream | None = None
    digest = ""
    for raw in source.records():
        begins = isinstance(raw.value, dict) and raw.value.get("type") == "init"
        if run is None or (begins and run.builder.trace.steps):
            if run is not None:
                yield _streamed(source, run, digest)
            run, digest = _gemini.Stream(Builder(source, GeminiCli.name)), raw.digest() + str(raw.ordinal)
            run.builder.trace.agent.name = "Gemini CLI"
        if raw.bad is not None:
            run.builder.bad(raw)
        else:
            run.take(raw.value, _ref(raw), raw.notes)
    if run is not None:
        yield _streamed(source, run, digest)


def _streamed(source: Source, run: _gemini.Stream, digest: str) -> Trace:
    _gemini.end(run.builder)
    # A session that is resumed has the same id.
    return run.builder.finish(run.session or source.stem, digest)


def _logs(source: Source) -> Iterator[Trace]:
    session: _Session | None = None
    for raw in source.records():
        value = raw.value
        header = _is_header(value) or _is_session(value)
        if session is None or (header and session.begins_another(value)):
            if session is not None:
                yield session.finish()
            session = _Session(source)
        if raw.bad is not None:
            session.builder.bad(raw)
            continue
        session.digest = session.digest or raw.digest()
        for note in raw.notes:
            session.builder.loss(note)
        if header:
            session.about(value)
            session.builder.event(value)
            session.replace(value.get("messages"))
        elif _is_operation(value):
            session.operate(value)
        else:
            session.take(value, _ref(raw))
    if session is not None:
        yield session.finish()


@dataclass(slots=True)
class _Message:
    """A message at its place. `counted`: it is a record. `left`: the rewinding that took it back, by its number."""

    row: dict[str, Any]
    ref: Ref
    place: int
    counted: bool = True
    left: int | None = None


class _Session:
    """One session."""

    def __init__(self, source: Source) -> None:
        self.source, self.builder = source, Builder(source, GeminiCli.name)
        self.builder.trace.agent.name = "Gemini CLI"
        self.session_id: str | None = None
        self.digest = ""
        self.updated: str | None = None
        self.messages: list[_Message] = []
        self.places: dict[str, _Message] = {}
        self.context: list[Any] = []
        self.rewindings = 0

    def begins_another(self, row: Mapping[str, Any]) -> bool:
        """Whether a header is that of another session."""
        return self.session_id is not None and string_of(row, "sessionId") != self.session_id

    def about(self, row: Mapping[str, Any]) -> None:
        """Takes what a header or `$set` says of the session."""
        trace = self.builder.trace
        self.session_id = string_of(row, "sessionId") or self.session_id
        trace.started_at = string_of(row, "startTime") or trace.started_at
        self.updated = string_of(row, "lastUpdated") or self.updated
        trace.extra |= {key: value for key, value in row.items() if key not in _HEADER and key != "events"}

    def operate(self, row: Mapping[str, Any]) -> None:
        """Takes a row that changes what was written before."""
        self.builder.event(row)
        changed = dict_of(row, "$set")
        self.about(changed)
        self.replace(changed.get("messages"))
        if "$rewindTo" not in row:
            return
        target = row["$rewindTo"]
        found = self.places.get(target) if isinstance(target, str) else None
        if found is None or found.left is not None:
            self.builder.loss("unknown-rewind", str(target)[:200] if isinstance(target, str) else None)
            return
        for message in self.messages[found.place :]:
            if message.left is None:
                message.left = self.rewindings
        self.rewindings += 1

    def replace(self, messages: Any) -> None:
        """Takes what the model is sent from now on, with ids of its own: what was said stays said."""
        if isinstance(messages, list) and messages and not self.messages:
            self.context = messages

    def _begin(self) -> None:
        """Where a session was written anew, its messages up to there stand in one row: they are no records."""
        for ordinal, row in enumerate(self.context):
            if _is_message(row):
                self._add(row, Ref(ordinal=ordinal, native_id=string_of(row, "id")), counted=False)
            else:
                self.builder.loss("unknown-record", "message of $set")
        self.context = []

    def _add(self, row: dict[str, Any], ref: Ref, *, counted: bool = True) -> None:
        message = _Message(row, ref, len(self.messages), counted)
        self.messages.append(message)
        if ref.native_id:
            self.places[ref.native_id] = message

    def take(self, row: Any, ref: Ref) -> None:
        """Takes a message; one of an id that is there already replaces it."""
        if not _is_message(row):
            self.builder.event(row)
            kind = row.get("type") if isinstance(row, dict) else type(row).__name__
            self.builder.loss("unknown-record", kind if isinstance(kind, str) else type(kind).__name__)
            return
        if self.context:
            self._begin()
        ref.native_id = string_of(row, "id")
        earlier = self.places.get(ref.native_id) if ref.native_id else None
        if earlier is not None and earlier.left is None and earlier.row["type"] == row["type"]:
            if earlier.counted:
                self.builder.skipped("a message that is written again later")
            earlier.row, earlier.counted = row, True
            return
        self._add(row, ref)

    def finish(self) -> Trace:
        """The trace."""
        self._begin()
        left: dict[str, int] = {}
        for message in self.messages:
            if message.counted:
                self.builder.mapped()
            step = self._message(message)
            if step is not None and message.left is not None:
                left[step.step_id] = message.left
        self._part(left)
        # What a log says of its last change may be older than its last message.
        times = [self.updated, *(step.started_at for step in self.builder.trace.steps)]
        self.builder.trace.ended_at = max((at for at in times if at), default=None)
        _gemini.end(self.builder)
        if self.session_id is not None:
            return self.builder.finish(self.session_id, unique=True)
        return self.builder.finish(self.source.stem, self.digest)

    def _part(self, left: Mapping[str, int]) -> None:
        """Moves what was taken back into branches."""
        trace = self.builder.trace
        if not left:
            return
        branches: dict[int, Branch] = {}
        kept: list[Step] = []
        for step in trace.steps:
            number = left.get(step.step_id)
            if number is None:
                kept.append(step)
                continue
            if number not in branches:
                # What was taken back from the very first message on comes from nowhere but itself.
                origin = kept[-1] if kept else step
                branches[number] = Branch(from_step_id=origin.step_id, steps=[])
            branches[number].steps.append(step)
        trace.steps[:] = kept
        for _, branch in sorted(branches.items()):
            trace.branches.append(branch)
            self.builder.loss("rewound-steps", branch.from_step_id, f"{len(branch.steps)} steps are kept as a branch")

    def _message(self, message: _Message) -> Step | None:
        row, ref = message.row, message.ref
        parts = _gemini.parts_of(row.get("content"))
        step: Step | None
        if row["type"] in _MODELS:
            step = self._response(row, parts, ref)
        elif row["type"] == "user":
            step = _gemini.listen(self.builder, parts, ref)
            shown = _gemini.parts_of(row.get("displayContent"))
            if step is not None and shown:
                # What was typed; what the program has made of it is what the model saw.
                step.blocks = [_gemini.block_of(part) for part in shown]
                step.extra["content"] = row.get("content")
        else:
            blocks = [_gemini.block_of(part) for part in parts]
            step = self.builder.step("notice", ref.native_id, blocks=blocks, ref=ref, role=row["type"])
        if step is not None:
            _gemini.timed(step, row)
        return step

    def _response(self, row: Mapping[str, Any], parts: list[Any], ref: Ref) -> Step:
        step = self.builder.step("agent", ref.native_id, ref=ref, role=row["type"])
        step.model = string_of(row, "model")
        self.builder.trace.agent.model = self.builder.trace.agent.model or step.model
        if row["type"] == "qwen":
            self.builder.trace.agent.name = "Qwen Code"
        thoughts = _gemini.parts_of(row.get("thoughts"))
        for thought in thoughts:
            if isinstance(thought, dict):
                told = (string_of(thought, key) for key in ("subject", "description"))
                step.blocks.append(ReasoningBlock(text="\n".join(text for text in told if text)))
            else:
                step.blocks.append(_gemini.block_of(thought))
        times = [thought.get("timestamp") for thought in thoughts if isinstance(thought, dict)]
        if any(times):
            step.extra["thought_times"] = times
        calls = [call for call in _gemini.parts_of(row.get("toolCalls")) if isinstance(call, dict)]
        if len(calls) < len(_gemini.parts_of(row.get("toolCalls"))):
            self.builder.loss("bad-call", step.step_id, "a call that is no object is left out")
        known = frozenset(name for call in calls if (name := string_of(call, "id")) is not None)
        _gemini.speak(self.builder, step, parts, known)
        for call in calls:
            self._call(step, call)
        step.usage = _usage(dict_of(row, "tokens"))
        return step

    def _call(self, step: Step, value: Mapping[str, Any]) -> None:
        native = string_of(value, "id")
        call = self.builder.call(step, {"id": native, "name": value.get("name"), "args": value.get("args")})
        if call.result is not None:
            return
        status, came = string_of(value, "status"), _gemini.parts_of(value.get("result"))
        if status not in _ENDED and not came:
            # It was not run, or not to its end.
            return
        result = _gemini.result_of(came, call.name)
        if status is not None and status in _ENDED:
            result.is_error = _ENDED[status] or result.is_error is True
            result.error_kind = "cancelled" if status == "cancelled" else None
        result.at = string_of(value, "timestamp")
        self._shown(call, result, value)
        self.builder.answer(call, result, "id")

    def _shown(self, call: ToolCall, result: Result, value: Mapping[str, Any]) -> None:
        """What the program showed of a call; of an edit, that is its diff."""
        native = {key: one for key, one in value.items() if key not in _FACTS}
        shown = native.get("resultDisplay")
        if shown == result.text:
            native.pop("resultDisplay", None)
        elif isinstance(shown, str) and result.text is None:
            result.text = shown
        elif isinstance(shown, dict):
            if shown.get("originalContent") is not None:
                self.builder.loss("original-file")
            native["resultDisplay"] = {key: one for key, one in shown.items() if key != "originalContent"}
            if (diff := string_of(shown, "fileDiff")) is not None:
                self._edit(call, shown, diff)
        result.native = (result.native or {}) | native or None

    def _edit(self, call: ToolCall, shown: Mapping[str, Any], diff: str) -> None:
        hunks = hunks_of(diff)
        given = string_of(call.arguments or {}, "file_path")
        path = string_of(shown, "filePath") or given or string_of(shown, "fileName")
        if path is None or not hunks:
            if diff.strip() and "@@" in diff:
                self.builder.loss("bad-hunk", call.call_id)
            return
        new = shown.get("isNewFile") is True or (hunks[0].old_start, hunks[0].old_len) == (0, 0)
        by_user = [count_of(dict_of(shown, "diffStat"), f"user_{kind}_lines") for kind in ("added", "removed")]
        call.edits = [
            Edit(
                path=path,
                op="create" if new else "modify",
                user_modified=any(by_user) if by_user != [None, None] else None,
                hunks=hunks,
                origin="fileDiff",
            )
        ]


def _usage(tokens: Mapping[str, Any]) -> Usage | None:
    """Tokens: thoughts are beside the output, and what tools' results cost beside the input."""
    names = ("input", "tool", "output", "thoughts", "cached")
    into, tool, out, thoughts, cached = (count_of(tokens, name) for name in names)
    if into is None and out is None:
        return None
    return Usage(
        input=None if into is None else into + (tool or 0),
        output=None if out is None else out + (thoughts or 0),
        cache_read=cached,
        reasoning=thoughts,
    )


def _ref(raw: Raw) -> Ref:
    return Ref(line=raw.line, ordinal=raw.ordinal if raw.line is None else None)


def _is_message(value: Any) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in ("user", *_MODELS, *_NOTICES) and _KEYS & value.keys() != set()


def _is_session(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(messages := value.get("messages"), list) or not messages:
        return False
    return _is_about(value) or any(_is_message(one) and one["type"] in _MODELS for one in messages)


def _is_header(value: Any) -> bool:
    return isinstance(value, dict) and _is_about(value) and not value.get("messages")


def _is_about(value: Mapping[str, Any]) -> bool:
    known = isinstance(value.get("sessionId"), str) and ("projectHash" in value or "startTime" in value)
    return known and "type" not in value


def _is_operation(value: Any) -> bool:
    return isinstance(value, dict) and ("$set" in value or "$rewindTo" in value)


READER = GeminiCli()

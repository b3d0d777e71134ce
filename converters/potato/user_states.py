"""What Potato's server keeps of each user: `<annotation_output>/<user>/user_state.json`, as far as answers need it.

A state is mostly behavioural data (every click, ten times the size of the answers), which is skipped, not read.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from potato_bridge.errors import InputError, Problem
from potato_bridge.notices import Notices

STATE = "user_state.json"

#: The answers to one scheme as stored: label name to value. A label that is stored twice counts as it stands last.
Entries: TypeAlias = dict[str, Any]

_CURE = (
    "Restore it from a backup, or move the folder away: that user's answers are then not read, and Potato "
    "starts the user anew."
)
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Session(msgspec.Struct):
    session_start: float | None = None
    session_end: float | None = None
    total_time_ms: float | None = None


class _State(msgspec.Struct):
    user_id: str | None = None
    instance_id_to_label_to_value: dict[str, Any] = {}
    instance_id_to_span_to_value: dict[str, Any] = {}
    instance_id_to_link_to_value: dict[str, Any] = {}
    instance_id_to_event_to_value: dict[str, Any] = {}
    instance_id_to_behavioral_data: dict[str, _Session] = {}
    origin: dict[str, Any] | None = None


_DECODER = msgspec.json.Decoder(_State)


@dataclass(frozen=True, slots=True)
class Times:
    """When a user worked on an item: the last visit, RFC 3339 in UTC, and its length in seconds. None: unknown."""

    started: str | None = None
    ended: str | None = None
    seconds: float | None = None


@dataclass(slots=True)
class UserState:
    """One user's answers.

    Attributes:
        user: `user_id`, or the folder's name where the state has none.
        labels: Item id to scheme name to what is stored for it.
        spans: Item id to the spans, each as stored.
        links: Ids of items that have links or events, which are not read.
        odd: How many stored entries have no shape that Potato ever wrote.
        origin: Empty for a person; `{"kind": "machine", …}` otherwise.
    """

    user: str
    folder: Path
    labels: dict[str, dict[str, Entries]]
    spans: dict[str, list[dict[str, Any]]]
    times: dict[str, Times]
    links: list[str] = field(default_factory=list)
    odd: int = 0
    origin: dict[str, Any] = field(default_factory=dict)


def state_files(folder: Path) -> list[Path]:
    """The state files in an annotation_output, by the names of their folders; empty where it is none."""
    if not folder.is_dir():
        return []
    return sorted(path for sub in folder.iterdir() if (path := sub / STATE).is_file())


def read_states(folder: Path, notices: Notices, *, skip_corrupt: bool = False) -> Iterator[UserState]:
    """The states of all users, one in memory at a time, in the order of their folders' names.

    Args:
        folder: An `annotation_output`.
        notices: Gets what in the states could not be read.
        skip_corrupt: A corrupt file becomes a notice instead of an error.

    Raises:
        InputError: There is no state file; or, after the last good one, some are corrupt.
    """
    files = state_files(folder)
    if not files:
        raise InputError(
            f"{folder}: no <user>/{STATE} there", hint="Name the folder of the config's output_annotation_dir."
        )
    problems = []
    for path in files:
        try:
            yield read_state(path, notices)
        except InputError as error:
            problems.append(Problem(error.message, str(path), hint=error.hint))
    if problems and not skip_corrupt:
        raise InputError(f"{folder}: {len(problems)} of {len(files)} users cannot be read", problems=problems)
    for problem in problems:
        notices.add("corrupt-state", f"{problem.message}: this user's answers are left out", problem.file)


def read_state(path: Path, notices: Notices) -> UserState:
    """One state file.

    Raises:
        InputError: Not readable, not JSON, or not a state.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from error
    try:
        state = _DECODER.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        state = _lenient(loads(raw), path, notices)
    made = UserState(
        user=state.user_id or path.parent.name,
        folder=path.parent,
        labels={},
        spans={},
        times={item: _times(session) for item, session in state.instance_id_to_behavioral_data.items()},
        links=[*state.instance_id_to_link_to_value, *state.instance_id_to_event_to_value],
        origin=state.origin or {},
    )
    for item, stored in state.instance_id_to_label_to_value.items():
        made.labels[item], odd = read_entries(stored)
        made.odd += odd
    for item, stored in state.instance_id_to_span_to_value.items():
        made.spans[item], odd = read_spans(stored)
        made.odd += odd
    return made


def loads(raw: bytes) -> dict[str, Any]:
    """A state by Python's JSON reader, which takes what Potato writes and JSON forbids: NaN, lone surrogates.

    Raises:
        InputError: Not JSON, or no object.
    """
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a Potato state: {error}", hint=_CURE) from error
    if not isinstance(value, dict):
        raise InputError(f"not a Potato state: expected an object, found {type(value).__name__}", hint=_CURE)
    return value


def read_entries(stored: Any) -> tuple[dict[str, Entries], int]:
    """What is stored for one item, by scheme, and how many entries make no sense.

    Both forms are read: `[[{"schema", "name"}, value], …]`, and the older `{schema: {name: value}}`.
    """
    entries: dict[str, Entries] = {}
    odd = 0
    if isinstance(stored, dict):
        for scheme, values in stored.items():
            if isinstance(values, dict):
                entries[scheme] = values
            else:
                odd += 1
        return entries, odd
    for entry in stored if isinstance(stored, list) else [stored]:
        match entry:
            case [{"schema": str(scheme), "name": str(name)}, value]:
                entries.setdefault(scheme, {})[name] = value
            case _:
                odd += 1
    return entries, odd


def read_spans(stored: Any) -> tuple[list[dict[str, Any]], int]:
    """The spans of one item, each with its `schema`, and how many entries make no sense."""
    spans: list[dict[str, Any]] = []
    odd = 0
    # The older form maps a span's id to the span.
    for entry in stored.values() if isinstance(stored, dict) else stored if isinstance(stored, list) else [stored]:
        match entry:
            case [{"schema": str()} as span, _] | ({"schema": str()} as span):
                spans.append(span)
            case _:
                odd += 1
    return spans, odd


def _lenient(value: dict[str, Any], path: Path, notices: Notices) -> _State:
    replaced = 0

    def clean(part: Any) -> Any:
        nonlocal replaced
        if isinstance(part, str):
            text, count = _SURROGATE.subn("\ufffd", part)
            replaced += count
            return text
        if isinstance(part, list):
            return [clean(entry) for entry in part]
        if isinstance(part, dict):
            return {clean(key): clean(entry) for key, entry in part.items()}
        return None if isinstance(part, float) and part != part else part

    known = {name: clean(value[name]) for name in _State.__struct_fields__ if name in value}
    sessions = known.get("instance_id_to_behavioral_data")
    # Times are a service: what has not the usual shape is no reason to refuse the answers.
    known["instance_id_to_behavioral_data"] = {
        item: session if _is_session(session) else {}
        for item, session in (sessions.items() if isinstance(sessions, dict) else ())
    }
    try:
        state = msgspec.convert(known, _State)
    except msgspec.ValidationError as error:
        raise InputError(f"not a Potato state: {error}", hint=_CURE) from error
    if replaced:
        notices.add("replaced-characters", "a lone surrogate was replaced by U+FFFD", str(path), replaced)
    return state


def _is_session(value: Any) -> bool:
    try:
        msgspec.convert(value, _Session)
    except msgspec.ValidationError:
        return False
    return True


def _times(session: _Session) -> Times:
    seconds = session.total_time_ms
    started, ended = session.session_start, session.session_end
    # The start is the server's time and the end the browser's: clocks that disagree say nothing of the end.
    ordered = started is None or ended is None or ended >= started
    return Times(
        started=_time(started),
        ended=_time(ended) if ordered else None,
        seconds=seconds / 1000 if seconds is not None and 0 < seconds < 1e12 else None,
    )


def _time(epoch: float | None) -> str | None:
    # Seconds since 1970; anything else (milliseconds, 0 for "never") is not guessed at.
    if epoch is None or not 1e8 < epoch < 1e10:
        return None
    return datetime.fromtimestamp(epoch, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

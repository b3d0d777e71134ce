"""Changes as JSON: Claude Code's `structuredPatch`, and an editing tool's arguments (`old_string`, `new_string`)."""

from collections.abc import Iterator
from typing import Any

import msgspec

from potato_bridge.converters.diffs.hunks import RawHunk, read_hunks
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.converters.diffs.texts import diff_texts, replacement
from potato_bridge.model.diff import FileChange, Problem

_PATHS = ("filePath", "file_path", "path", "filename")
_OLD = ("old_string", "old_str", "oldString")
_NEW = ("new_string", "new_str", "newString")
_LARGEST = 999_999_999
_DEEPEST = 100


def find_structured(text: str) -> int | None:
    """0 where the text is JSON with a change in it, else None."""
    return 0 if text.lstrip()[:1] in ("{", "[") and next(_entries(_parse(text)), None) is not None else None


def _parse(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    values = []
    try:
        # JSON Lines: a log of a session.
        for line in text.split("\n"):
            if line.strip():
                values.append(msgspec.json.decode(line))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return values


def _is_hunk(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("lines"), list) and "oldStart" in value


def _entries(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The objects that hold a change; a bare list of hunks becomes one."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        if value and all(map(_is_hunk, value)):
            yield {"structuredPatch": value}
            return
        for item in value:
            yield from _entries(item, depth + 1)
    elif isinstance(value, dict):
        if isinstance(value.get("structuredPatch"), list) or (_text(value, _PATHS) and _pieces(value)):
            yield value
            return
        for item in value.values():
            if isinstance(item, dict | list):
                yield from _entries(item, depth + 1)


def _text(value: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((value[key] for key in keys if isinstance(value.get(key), str)), None)


def _pieces(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The pairs of old and new text of an edit; of MultiEdit, several."""
    edits = value.get("edits")
    found = [item for item in edits if isinstance(item, dict)] if isinstance(edits, list) else [value]
    return [item for item in found if _text(item, _OLD) is not None and _text(item, _NEW) is not None]


def read_structured(text: str) -> tuple[list[FileChange], list[Problem]]:
    """A change for each object that holds one, in their order."""
    return [_read(entry) for entry in _entries(_parse(text))], []


def _read(entry: dict[str, Any]) -> FileChange:
    path = _text(entry, _PATHS) or ""
    original = entry.get("originalFile")
    hunks = entry.get("structuredPatch")
    if isinstance(hunks, list) and (hunks or not _pieces(entry)):
        change = _patched(entry, path, hunks)
    else:
        change = FileChange(path=path)
        for piece in _pieces(entry):
            known = original if isinstance(original, str) else None
            every = bool(piece.get("replace_all") or piece.get("replaceAll"))
            old, new = _text(piece, _OLD) or "", _text(piece, _NEW) or ""
            one = replacement(path, old, new, text=known, every=every)
            change.hunks += one.hunks
            change.status = one.status
            change.problems += [found for found in one.problems if found not in change.problems]
            # What a later piece replaces is the text after this one; its place in the file before is not told.
            original = None
    if not path:
        change.problems.insert(0, problem("no-path"))
    return change


def _patched(entry: dict[str, Any], path: str, hunks: list[Any]) -> FileChange:
    change = FileChange(path=path)
    content = entry.get("content")
    if not hunks and isinstance(content, str):
        # A file that was made has no hunks, but its content.
        change.status = "added"
        change.hunks = diff_texts("", content, change.problems)
        return change
    raw = []
    for hunk in hunks:
        if not _is_hunk(hunk) or not all(isinstance(line, str) for line in hunk["lines"]):
            change.problems.append(problem("not-a-hunk"))
            continue
        lines = [_marked(line) for line in hunk["lines"]]
        found = RawHunk(lines, _number(hunk["oldStart"]), _number(hunk.get("newStart")))
        old, new = found.counts()
        said = hunk.get("oldLines"), hunk.get("newLines")
        if said != (old, new):
            found.problems.append(problem("recounted", old=said[0], new=said[1], found_old=old, found_new=new))
        raw.append(found)
    change.hunks = read_hunks(raw, change.problems)
    if not hunks:
        change.unread = True
        change.problems.append(problem("header-only"))
    return change


def _marked(line: str) -> str:
    # A line feed inside of a line would make two of it.
    line = line.replace("\n", "\\n")
    return line if line[:1] in (" ", "+", "-", "\\") else " " + line


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST else None

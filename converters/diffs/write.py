"""A Diff to one normalised text: unified, in git's manner, with quoted paths where they need it and right counts."""

from collections.abc import Iterator

from potato_bridge.converters.diffs.hunks import NO_NEWLINE
from potato_bridge.converters.diffs.paths import DEV_NULL, quote
from potato_bridge.model.diff import Diff, FileChange, Hunk

_MARKS = {"context": " ", "added": "+", "removed": "-"}
_NO_ID = "0000000"
_FILE_MODE = "100644"


def write_diff(diff: Diff) -> str:
    """The unified text of all files; `read_diff` gives the same files back.

    `git apply` takes it, but for hunks without line numbers (`@@ ... @@`) and binary files whose contents the patch
    did not have. Encode it with `errors="surrogateescape"` to get bytes back that were not UTF-8.
    """
    return "".join(f"{line}\n" for change in diff.files for line in _file(change))


def write_hunk(hunk: Hunk) -> str:
    """The unified text of one hunk: its header and its lines."""
    return "".join(f"{line}\n" for line in _hunk(hunk))


def _file(change: FileChange) -> Iterator[str]:
    new = change.path
    old = new if change.old_path is None else change.old_path
    names = (quote(f"a/{old}"), quote(f"b/{new}"))
    added, deleted = change.status == "added", change.status == "deleted"
    yield f"diff --git {names[0]} {names[1]}"
    yield from _facts(change, old)
    if change.binary_patch is not None:
        yield "GIT binary patch"
        yield from change.binary_patch.removesuffix("\n").split("\n")
    elif change.binary:
        yield f"Binary files {DEV_NULL if added else names[0]} and {DEV_NULL if deleted else names[1]} differ"
    elif change.hunks:
        yield f"--- {DEV_NULL if added else _terminated(names[0])}"
        yield f"+++ {DEV_NULL if deleted else _terminated(names[1])}"
        for hunk in change.hunks:
            yield from _hunk(hunk)


def _facts(change: FileChange, old: str) -> Iterator[str]:
    """The lines below `diff --git`."""
    status, old_mode, new_mode = change.status, change.old_mode, change.new_mode
    if status == "added":
        yield f"new file mode {new_mode or _FILE_MODE}"
    elif status == "deleted":
        yield f"deleted file mode {old_mode or _FILE_MODE}"
    elif old_mode != new_mode and old_mode and new_mode:
        yield f"old mode {old_mode}"
        yield f"new mode {new_mode}"
    if change.similarity is not None:
        yield f"similarity index {change.similarity}%"
    if status in ("renamed", "copied"):
        verb = "rename" if status == "renamed" else "copy"
        yield f"{verb} from {quote(old)}"
        yield f"{verb} to {quote(change.path)}"
    same = old_mode if old_mode == new_mode and status not in ("added", "deleted") else None
    if change.old_id or change.new_id or same:
        yield f"index {change.old_id or _NO_ID}..{change.new_id or _NO_ID}" + (f" {same}" if same else "")


def _terminated(name: str) -> str:
    # git ends a name with spaces by a tab, so that what follows a space is not taken for a time.
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _hunk(hunk: Hunk) -> Iterator[str]:
    section = f" {hunk.section}" if hunk.section else ""
    if hunk.old_start is None or hunk.new_start is None:
        yield f"@@ ... @@{section}" if not section else f"@@{section} @@"
    else:
        old, new = _range(hunk.old_start, hunk.old_count), _range(hunk.new_start, hunk.new_count)
        yield f"@@ -{old} +{new} @@{section}"
    for line in hunk.lines:
        yield _MARKS[line.kind] + line.text
        if not line.newline:
            yield NO_NEWLINE


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"

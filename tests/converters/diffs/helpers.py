"""A Diff in a few characters, to compare with."""

from __future__ import annotations

from potato_bridge.model.diff import Diff, FileChange, Hunk

_MARKS = {"context": " ", "added": "+", "removed": "-"}


def shown(hunk: Hunk) -> str:
    """The header's numbers, the section, and the lines with their marks; `~` after a line without a line feed."""
    numbers = "?" if hunk.old_start is None else f"{hunk.old_start},{hunk.old_count} {hunk.new_start},{hunk.new_count}"
    rows = [numbers + (f" {hunk.section}" if hunk.section else "")]
    rows += [_MARKS[line.kind] + line.text + ("" if line.newline else "~") for line in hunk.lines]
    return "|".join(rows)


def hunks(change: FileChange) -> list[str]:
    return [shown(hunk) for hunk in change.hunks]


def summary(diff: Diff) -> list[tuple[str, str, int, int]]:
    """Status, path, lines added and removed of each file."""
    return [(file.status, file.path, file.added, file.removed) for file in diff.files]


def codes(diff: Diff) -> list[str]:
    """The codes of all problems: of the whole, then of each file."""
    return [found.code for found in diff.problems] + [found.code for file in diff.files for found in file.problems]

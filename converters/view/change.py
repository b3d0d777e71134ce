"""The change of an item, as its page shows it: the files with their lines, within the limits of a page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from potato_bridge.converters.view.change_index import Index, index_hunk
from potato_bridge.converters.view.text import storable, visible_text
from potato_bridge.model.diff import Diff, FileChange, Hunk, Line, Problem

#: Lines of a change, and of one file of it, that reach the page.
MAX_LINES: Final = 12_000
MAX_FILE_LINES: Final = 6_000
#: Characters of one line that reach the page.
MAX_CHARS: Final = 2_000
#: Problems of one file that reach the page.
_MAX_NOTES: Final = 6
#: Stands at the end of a line that would be empty: what has no text cannot be selected.
BLANK: Final = "\u21b5"

_STATUS: Final = {
    "added": ("added", "+"),
    "modified": ("modified", "~"),
    "deleted": ("deleted", "−"),
    "renamed": ("renamed", "→"),
    "copied": ("copied", "→"),
    "mode": ("mode changed", "~"),
    "binary": ("binary", "~"),
    "submodule": ("submodule", "~"),
}
_CLASS: Final = {"context": "c", "added": "a", "removed": "d"}
_SPACES: Final = re.compile(r"\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class LineView:
    """A line: `kind` is `a` (added), `d` (removed) or `c` (context); the numbers are texts, empty where unknown."""

    kind: str
    old: str
    new: str
    text: str
    end: str = ""


@dataclass(frozen=True, slots=True)
class HunkView:
    """A hunk: what its header says, and its lines."""

    head: str
    lines: list[LineView]


@dataclass(frozen=True, slots=True)
class FileView:
    """A file. `status` is its word, `sign` the mark in front; `notes` say what is not seen from its lines."""

    path: str
    old_path: str
    status: str
    tone: str
    sign: str
    added: int
    removed: int
    notes: list[str] = field(default_factory=list)
    hunks: list[HunkView] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A change: `cut` is how many of its lines are not shown, `clipped` how many of its lines are shown in part."""

    files: list[FileView]
    notes: list[str]
    index: Index
    cut: int = 0
    clipped: int = 0

    @property
    def added(self) -> int:
        """Lines that are added."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """Lines that are removed."""
        return sum(file.removed for file in self.files)


def show(diff: Diff) -> ChangeView:
    """What a page shows of a change."""
    left, cut, clipped, files, index = MAX_LINES, 0, 0, list[FileView](), Index()
    for change in diff.files:
        hunks = _within(change.hunks, min(left, MAX_FILE_LINES))
        shown = sum(len(hunk.lines) for hunk in hunks)
        hidden = sum(len(hunk.lines) for hunk in change.hunks) - shown
        left -= shown
        cut += hidden
        clipped += sum(len(line.text) > MAX_CHARS for hunk in hunks for line in hunk.lines)
        path, old_path = storable(change.path), storable(change.old_path) if change.old_path is not None else None
        files.append(_file(change, hunks, hidden))
        index.append([path, old_path, [index_hunk(hunk) for hunk in hunks]])
    return ChangeView(files, _notes(diff.problems), index, cut, clipped)


def _within(hunks: Sequence[Hunk], limit: int) -> list[Hunk]:
    """The hunks with the lines that are shown."""
    shown = []
    for hunk in hunks:
        lines = hunk.lines[: max(limit, 0)]
        limit -= len(lines)
        if lines:
            shown.append(replace(hunk, lines=lines))
    return shown


def _file(change: FileChange, hunks: list[Hunk], hidden: int) -> FileView:
    lines = [line for hunk in hunks for line in hunk.lines]
    # A carriage return is no news in a file that has one in each line.
    windows = len(lines) > 1 and all(line.text.endswith("\r") for line in lines if line.newline)
    notes = [*_facts(change, windows), *_notes(change.problems)]
    if hidden:
        notes.append(f"{hidden:,} more lines of this file are not shown")
    status, sign = _STATUS[change.status]
    return FileView(
        path=visible_text(change.path) or "(no name)",
        old_path=visible_text(change.old_path or ""),
        status=status,
        tone=change.status if change.status in ("added", "deleted", "renamed") else "modified",
        sign=sign,
        added=change.added,
        removed=change.removed,
        notes=notes,
        hunks=[HunkView(_head(hunk), [_line(line, windows) for line in hunk.lines]) for hunk in hunks],
    )


def _facts(change: FileChange, windows: bool) -> list[str]:
    """What is not seen from the lines."""
    facts = []
    if change.old_mode and change.new_mode and change.old_mode != change.new_mode:
        facts.append(f"mode {change.old_mode} → {change.new_mode}")
    if change.similarity is not None and change.old_path:
        facts.append(f"{change.similarity} % the same")
    if change.binary or change.status == "binary":
        facts.append("a binary file: its contents are not shown")
    if windows:
        facts.append("the lines end with CR LF")
    if not change.hunks and not change.binary and change.status in ("added", "deleted"):
        facts.append("no line is shown")
    if change.status in ("renamed", "copied") and not change.hunks:
        facts.append("its text is unchanged")
    return facts


def _notes(problems: Sequence[Problem]) -> list[str]:
    # The same thing may be wrong with each of a thousand hunks.
    texts = list(dict.fromkeys(visible_text(problem.message) for problem in problems))
    more = [f"and {len(texts) - _MAX_NOTES:,} more remarks"] if len(texts) > _MAX_NOTES else []
    return texts[:_MAX_NOTES] + more


def _head(hunk: Hunk) -> str:
    numbers = "@@"
    if hunk.old_start is not None and hunk.new_start is not None:
        numbers = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
    return f"{numbers} {visible_text(hunk.section[:MAX_CHARS])}" if hunk.section else numbers


def _line(line: Line, windows: bool) -> LineView:
    text = line.text.removesuffix("\r") if windows else line.text
    cut = len(text) - MAX_CHARS
    shown = visible_text(text[:MAX_CHARS])
    if _SPACES.fullmatch(shown):
        shown += BLANK
    # Not of the text, and not selected with it.
    end = f" … {cut:,} more characters" if cut > 0 else ""
    if not line.newline:
        end += " ⊘ no newline at the end of the file"
    old, new = (str(n) if n is not None else "" for n in (line.old, line.new))
    return LineView(_CLASS[line.kind], old, new, shown, end)

"""Hunks, from lines with their marks to the model. unidiff reads them; what it refuses is put right before.

unidiff believes the counts of a header: it raises for the whole patch where they are too large, and drops lines where
they are too small. So each hunk is first delimited and counted here, and gets the header that its lines deserve.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from potato_bridge.converters.diffs.problems import problem
from potato_bridge.model.diff import Hunk, Kind, Line, Problem

NO_NEWLINE = "\\ No newline at end of file"

_HEADER = re.compile(r"^@@\s*-(\d+)(?:,(\d+))?\s+\+(\d+)(?:,(\d+))?\s*(?:@@ ?(.*))?$", re.S)
_ELLIPSIS = frozenset(("...", "…", ".."))
_LONGEST_NUMBER = 9

_KINDS: dict[str, Kind] = {" ": "context", "+": "added", "-": "removed"}


@dataclass
class RawHunk:
    """A hunk before it is read.

    Attributes:
        lines: Each with its mark (space, `+`, `-`, or a backslash for the missing newline), without line feeds.
        old_start: As the header has it; None where it has no numbers.
        new_start: Likewise.
        section: What follows the numbers; None where nothing does.
        line: 1-based line of the header in the text; None where there is no text.
        unmarked: Lines that had no mark, as they were.
        stripped: Whether a carriage return that is not the file's was taken from each line.
        problems: What was found wrong.
    """

    lines: list[str] = field(default_factory=list)
    old_start: int | None = None
    new_start: int | None = None
    section: str | None = None
    line: int | None = None
    unmarked: list[str] = field(default_factory=list)
    stripped: bool = False
    problems: list[Problem] = field(default_factory=list)

    def counts(self) -> tuple[int, int]:
        """How many lines the old and the new side have here."""
        marks = [line[:1] for line in self.lines]
        added, removed, context = marks.count("+"), marks.count("-"), marks.count(" ")
        return context + removed, context + added

    @property
    def numbered(self) -> bool:
        """Whether the lines have numbers."""
        return self.old_start is not None and self.new_start is not None


def read_header(line: str) -> tuple[RawHunk, tuple[int, int] | None] | None:
    """A hunk without lines, and the counts of its header (None where it has no numbers); None: this is no header."""
    if found := _HEADER.match(line):
        numbers = found.groups()[:4]
        section = found.group(5) or None
        if any(len(number or "") > _LONGEST_NUMBER for number in numbers):
            return RawHunk(section=section, problems=[problem("bad-numbers")]), None
        old_start, old, new_start, new = (1 if number is None else int(number) for number in numbers)
        return RawHunk(old_start=old_start, new_start=new_start, section=section), (old, new)
    if not line.startswith("@@") or line.startswith("@@@"):
        return None
    # `@@ … @@`, `@@ def f(): @@`, `@@ def f():`, `@@`.
    text = line[2:].strip().removesuffix("@@").strip()
    return RawHunk(section=None if text in _ELLIPSIS else text or None), None


def read_hunks(raw: Sequence[RawHunk], problems: list[Problem], *, may_be_unchanged: bool = False) -> list[Hunk]:
    """The hunks of one file, read by unidiff. What is wrong with them is added to `problems`, in their order.

    Args:
        raw: In the order of the patch.
        problems: Of the file.
        may_be_unchanged: Whether a hunk of context alone is nothing wrong.
    """
    found: list[Hunk] = []
    below = 0
    for hunk in raw:
        problems.extend(hunk.problems)
        if not may_be_unchanged and not any(line[:1] in ("+", "-") for line in hunk.lines):
            problems.append(problem("unchanged-hunk", hunk.line))
        old, new = hunk.counts()
        if not old and not new:
            continue
        if hunk.old_start is not None:
            if hunk.old_start < below:
                problems.append(problem("hunks-out-of-order", hunk.line))
            below = hunk.old_start + old
        try:
            found.append(_read_hunk(hunk, old, new))
        except UnidiffParseError as error:
            problems.append(problem("unread-hunk", hunk.line, reason=error))
    if any(not hunk.numbered for hunk in raw):
        problems.append(problem("no-line-numbers", next(hunk.line for hunk in raw if not hunk.numbered)))
    return found


def _read_hunk(hunk: RawHunk, old: int, new: int) -> Hunk:
    numbered = hunk.numbered
    # unidiff wants numbers; those of a hunk without any are taken away again.
    old_start, new_start = (hunk.old_start, hunk.new_start) if numbered else (1, 1)
    body = "\n".join(NO_NEWLINE if line.startswith("\\") else line for line in hunk.lines)
    header = f"--- a\n+++ b\n@@ -{old_start},{old} +{new_start},{new} @@\n"
    patched: Any = PatchSet(f"{header}{body}\n")[0][0]
    lines: list[Line] = []
    for line in patched:
        mark = line.line_type
        if mark == "\\":
            if lines:
                lines[-1].newline = False
            continue
        lines.append(
            Line(
                kind=_KINDS[mark],
                text=line.value[:-1],
                old=line.source_line_no if numbered else None,
                new=line.target_line_no if numbered else None,
            )
        )
    return Hunk(
        lines=lines,
        old_start=hunk.old_start if numbered else None,
        old_count=old,
        new_start=hunk.new_start if numbered else None,
        new_count=new,
        section=hunk.section,
    )

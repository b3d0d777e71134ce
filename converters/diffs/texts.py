"""Hunks of two texts: what an editing tool was given, or the contents of a file before and after."""

import difflib
from collections import Counter
from collections.abc import Sequence

from potato_bridge.converters.diffs.hunks import NO_NEWLINE, RawHunk, read_hunks
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.model.diff import FileChange, Hunk, Problem

_CONTEXT = 3
#: Above this many pairs of lines a text is shown as replaced whole: a diff would take minutes.
_MAX_PAIRS = 1_000_000
#: Likewise of pairs of equal lines, which is what takes the time.
_MAX_EQUAL_PAIRS = 100_000


def text_lines(text: str) -> list[str]:
    """The lines, each with its line feed; only the last may lack it."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def diff_lines(old: Sequence[str], new: Sequence[str], start: int | None = 1) -> list[RawHunk]:
    """The hunks that turn some lines into others, with three lines of context.

    Args:
        old: Lines with their line feeds.
        new: Likewise.
        start: 1-based number of the first of both in the file; None: not known, and the hunks have no numbers.
    """
    # What both have in front and at the end is left out, but for the context: large files with small changes are fast.
    shortest = min(len(old), len(new))
    front = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    if front == len(old) == len(new):
        return []
    back = next((at for at in range(shortest - front) if old[-1 - at] != new[-1 - at]), shortest - front)
    first, rest = max(0, front - _CONTEXT), max(0, back - _CONTEXT)
    before, after = old[first : len(old) - rest], new[first : len(new) - rest]
    hunks = []
    for group in _groups(before, after):
        lines: list[str] = []
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += _marked(" ", before[old_from:old_to])
            else:
                lines += _marked("-", before[old_from:old_to]) + _marked("+", after[new_from:new_to])
        hunk = RawHunk(lines)
        if start is not None:
            old_count, new_count = hunk.counts()
            # The start of an empty side is the line before it.
            hunk.old_start = start + first + group[0][1] - (not old_count)
            hunk.new_start = start + first + group[0][3] - (not new_count)
        hunks.append(hunk)
    return hunks


def _groups(before: Sequence[str], after: Sequence[str]) -> list[list[tuple[str, int, int, int, int]]]:
    times = Counter(before)
    if len(before) * len(after) > _MAX_PAIRS or sum(times[line] for line in after) > _MAX_EQUAL_PAIRS:
        return [[("replace", 0, len(before), 0, len(after))]]
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return list(map(list, matcher.get_grouped_opcodes(_CONTEXT)))


def _marked(mark: str, lines: Sequence[str]) -> list[str]:
    out = []
    for line in lines:
        if line.endswith("\n"):
            out.append(mark + line[:-1])
        else:
            out += [mark + line, NO_NEWLINE]
    return out


def diff_texts(old: str, new: str, problems: list[Problem]) -> list[Hunk]:
    """The hunks that turn one text of a whole file into the other, with line numbers."""
    return read_hunks(diff_lines(text_lines(old), text_lines(new)), problems)


def replacement(path: str, old: str, new: str, *, text: str | None = None, every: bool = False) -> FileChange:
    """The change that an editing tool makes: one text is replaced by another.

    Args:
        path: The file.
        old: What is replaced; empty: the file is made.
        new: What replaces it.
        text: The file before; without it, the hunks have no line numbers.
        every: Whether each place where the old text stands is meant (`replace_all`), and not the only one.
    """
    if not old and not text:
        change = FileChange(path=path, status="added")
        change.hunks = diff_texts("", new, change.problems)
        return change
    change = FileChange(path=path)
    if text is not None and old and (text.count(old) == 1 or (every and old in text)):
        change.hunks = diff_texts(text, text.replace(old, new), change.problems)
    else:
        change.hunks = read_hunks(fragment_hunks(old, new), change.problems)
    if not change.hunks:
        change.problems.append(problem("header-only"))
    return change


def fragment_hunks(old: str, new: str) -> list[RawHunk]:
    """The hunks, without numbers, of two fragments of a file: their ends are not the file's."""
    if not (old.endswith("\n") and new.endswith("\n")):
        # A fragment that ends inside of a line: the rest of the line is on both sides.
        old, new = (f"{part}\n" if part else "" for part in (old, new))
    return diff_lines(text_lines(old), text_lines(new), None)

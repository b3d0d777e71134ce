"""Where a hunk begins and ends in a patch, whatever its header says of it."""

import re
from collections.abc import Sequence

from potato_bridge.converters.diffs.hunks import RawHunk, read_header
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.converters.diffs.source import strip_returns

#: Lines that end a hunk whatever its header says; none of them starts with a hunk's mark.
_ENDS = (
    "@@",
    "diff -",
    "Index: ",
    "```",
    "~~~",
    "*** ",
    "Only in ",
    "Binary files ",
    "Submodule ",
    "Property changes on: ",
)
_MAIL = re.compile(r"From [0-9a-f]{7,64} \w{3} \w{3} |commit [0-9a-f]{40}")
_VERSION = re.compile(r"\d+\.\d+")
#: Problems of a hunk that a word diff has, too.
_DOUBTS = ("recounted", "truncated", "missing-space")
#: How many blank lines inside of a hunk without counts are looked past.
_MOST_BLANKS = 3


def take_hunk(lines: Sequence[str], at: int, *, crlf: bool) -> tuple[RawHunk, int] | None:
    """The hunk whose header is at a position, and the position after it; None where no hunk's header is there.

    Args:
        lines: Of the patch, without line feeds.
        at: 0-based position.
        crlf: Whether the header of the file ends in CR LF. Where the lines of the hunk do so too, the carriage
            returns are the patch's and not the file's.
    """
    header = lines[at]
    parsed = read_header(header[:-1] if header.endswith("\r") else header)
    if parsed is None:
        return None
    hunk, wanted = parsed
    hunk.line = at + 1
    for found in hunk.problems:
        found.line = hunk.line
    end = _trusted_end(lines, at, wanted) if wanted is not None else None
    if end is not None:
        hunk.lines = list(lines[at + 1 : end])
        if "" in hunk.lines or "\r" in hunk.lines:
            # A blank line that lost its space; GNU diff and git may write so, too.
            hunk.lines = [line if line.strip("\r") else " " + line for line in hunk.lines]
    else:
        end = _count_again(hunk, lines, at, wanted)
    # svn ends its own lines so, and those of the file as the file has them: only all together are the patch's.
    if crlf and hunk.lines and all(line.endswith("\r") for line in hunk.lines[: len(hunk.lines) - (end == len(lines))]):
        hunk.lines = strip_returns(hunk.lines)
        hunk.stripped = True
    old, new = hunk.counts()
    if (hunk.old_start == 0 and old) or (hunk.new_start == 0 and new):
        hunk.old_start = hunk.new_start = None
        hunk.problems.append(problem("bad-numbers", hunk.line))
    return hunk, end


def _trusted_end(lines: Sequence[str], at: int, wanted: tuple[int, int]) -> int | None:
    """Where the hunk ends by its header's counts; None where these cannot be right."""
    old, new = wanted
    index, last = at + 1, len(lines)
    while old > 0 or new > 0:
        if index == last:
            return None
        line = lines[index]
        mark = line[:1]
        if mark == " " or not mark or line == "\r":
            old -= 1
            new -= 1
        elif mark == "+":
            new -= 1
        elif mark == "-":
            old -= 1
        elif mark != "\\":
            return None
        index += 1
    if old < 0 or new < 0:
        return None
    while index < last and lines[index].startswith("\\"):
        index += 1
    return None if _goes_on(lines, index) or _took_a_header(lines, at, index, wanted) else index


def _goes_on(lines: Sequence[str], index: int) -> bool:
    """Whether the line after a complete hunk belongs to it all the same: its counts are too small."""
    return index < len(lines) and lines[index][:1] in ("+", "-", " ") and not _ends_hunk(lines, index)


def _took_a_header(lines: Sequence[str], at: int, end: int, wanted: tuple[int, int]) -> bool:
    """Whether counts that are too large by one took the names of the next file for lines of this one.

    A hunk may well end with lines that look like them. But then the next hunk is further down in the file.
    """
    if end - at < 3 or not (lines[end - 2].startswith("--- ") and lines[end - 1].startswith("+++ ")):
        return False
    here = read_header(lines[at].rstrip("\r"))
    after = read_header(lines[end].rstrip("\r")) if end < len(lines) else None
    if here is None or after is None or after[0].old_start is None or here[0].old_start is None:
        return False
    return after[0].old_start < here[0].old_start + wanted[0]


def _ends_hunk(lines: Sequence[str], index: int) -> bool:
    """Whether a line is no line of a hunk, but what comes after one."""
    line = lines[index]
    if line.startswith("--"):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if line.startswith("--- ") and following.startswith("+++ "):
            return True
        # The signature of a mail: git's version.
        return line.rstrip() == "--" and (_VERSION.match(following) is not None or index + 1 == len(lines))
    return line.startswith(_ENDS) or _MAIL.match(line) is not None


def _count_again(hunk: RawHunk, lines: Sequence[str], at: int, wanted: tuple[int, int] | None) -> int:
    """Takes lines up to something that is none of the hunk, and says so where the header says otherwise."""
    index, last = at + 1, len(lines)
    first = 0
    old = new = 0
    while index < last and not _ends_hunk(lines, index):
        line = lines[index]
        mark = line[:1]
        if mark in ("+", "-", " ") and mark:
            old += mark != "+"
            new += mark != "-"
        elif mark != "\\":
            blank = not line.strip("\r")
            missing = _goes_on_later(lines, index) if wanted is None else old < wanted[0] and new < wanted[1]
            if not missing:
                break
            if not blank:
                hunk.unmarked.append(line)
                first = first or index + 1
            line = " " + line
            old += 1
            new += 1
        hunk.lines.append(line)
        index += 1
    if first:
        hunk.problems.append(problem("missing-space", first))
    if wanted is not None and wanted != (old, new):
        cut = index == last and old <= wanted[0] and new <= wanted[1]
        code = "truncated" if cut else "recounted"
        hunk.problems.append(problem(code, hunk.line, old=wanted[0], new=wanted[1], found_old=old, found_new=new))
    return index


def _goes_on_later(lines: Sequence[str], index: int) -> bool:
    """Whether a line without a mark, in a hunk without counts, has a line with one right after it."""
    following = index + 1
    while following < min(len(lines), index + 1 + _MOST_BLANKS) and not lines[following].strip():
        following += 1
    if following >= len(lines) or _ends_hunk(lines, following):
        return False
    return lines[following][:1] in ("+", "-", " ")


def stray_change(lines: Sequence[str], at: int) -> int | None:
    """The 1-based line of what looks like a changed line, blank lines below the end of a hunk; None: there is none."""
    following = at
    while following < min(len(lines), at + _MOST_BLANKS) and not lines[following].strip():
        following += 1
    if at < following < len(lines) and lines[following][:1] in ("+", "-") and not _ends_hunk(lines, following):
        return following + 1
    return None


def is_word_diff(hunk: RawHunk, *, coloured: bool) -> bool:
    """Whether the lines are those of a word diff: words are marked in them, and not the lines themselves."""
    if not any(line[:1] in ("+", "-") for line in hunk.lines):
        return coloured or any(map(_marks_words, hunk.lines))
    if not any(found.code in _DOUBTS for found in hunk.problems):
        return False
    # Some lines of a file begin like marked ones. Elsewhere the words' marks are content: `[-a-z-]`.
    return any(line == "~" or _marks_words(line) for line in hunk.unmarked) or any(
        "-]{+" in line for line in hunk.lines
    )


def _marks_words(line: str) -> bool:
    removed, added = line.find("[-"), line.find("{+")
    return (removed >= 0 and line.find("-]", removed + 2) >= 0) or (added >= 0 and line.find("+}", added + 2) >= 0)

"""Combined diffs, which git makes of merges: one column of marks for each parent (`diff --cc`, `--combined`).

They are read as the change of the first parent, the branch that was merged into: this is a plain diff, with both line
numbers. Lines that only other parents had are left out.
"""

import re
from collections.abc import Sequence

from potato_bridge.converters.diffs.hunks import RawHunk
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.model.diff import FileChange

_HEADER = re.compile(r"(@@@+)((?: -\d{1,9}(?:,\d{1,9})?)+) \+(\d{1,9})(?:,(\d{1,9}))? @@@+ ?(.*)", re.S)
_RANGE = re.compile(r"-(\d+)(?:,(\d+))?")
_MODE = re.compile(r"(mode|deleted file mode|new file mode) ([0-7,]+)(?:\.\.(\d{6}))?")
_INDEX = re.compile(r"index ([0-9a-f,]+)\.\.([0-9a-f]+)")
_MARKS = frozenset(" +-")


def read_combined_header(line: str, change: FileChange) -> bool:
    """Takes a line below `diff --cc`; False: it is none of the header."""
    if found := _MODE.fullmatch(line):
        what, old, new = found.groups()
        if what == "new file mode":
            change.new_mode, change.status = old, "added"
        else:
            change.old_mode = old.split(",")[0]
            change.new_mode = new
            if what == "deleted file mode":
                change.status = "deleted"
        return True
    if found := _INDEX.fullmatch(line):
        change.old_id, change.new_id = found.group(1).split(",")[0], found.group(2)
        return True
    return False


def take_combined_hunk(lines: Sequence[str], at: int, *, crlf: bool) -> tuple[RawHunk, int, int] | None:
    """The hunk of a merge, its number of parents, and the position after it; None: this is no such header."""
    found = _HEADER.match(lines[at].rstrip("\r"))
    if found is None:
        return None
    parents = len(found.group(1)) - 1
    ranges = [(int(start), int(count or 1)) for start, count in _RANGE.findall(found.group(2))]
    if len(ranges) != parents:
        return None
    left = [count for _, count in ranges] + [int(found.group(4) or 1)]
    wanted = (left[0], left[-1])
    start = ranges[0][0] if wanted[0] or ranges[0][0] != 1 else 0
    hunk = RawHunk(old_start=start, new_start=int(found.group(3)), section=found.group(5) or None, line=at + 1)
    index = at + 1
    shown = False
    while index < len(lines):
        line = lines[index]
        if crlf and line.endswith("\r"):
            line = line[:-1]
        if line.lstrip(" ").startswith("\\ "):
            if shown:
                hunk.lines.append(line.lstrip(" "))
            index += 1
            continue
        marks = line[:parents]
        if not any(count > 0 for count in left) or len(marks) < parents or not _MARKS.issuperset(marks):
            break
        kept = "-" not in marks
        for parent, mark in enumerate(marks):
            # Beside a minus, a parent with a space never had the line.
            left[parent] -= mark == "-" or (kept and mark == " ")
        left[-1] -= kept
        shown = kept or marks[0] == "-"
        if shown:
            hunk.lines.append(marks[0] + line[parents:])
        index += 1
    if any(left):
        old, new = hunk.counts()
        code = "truncated" if index == len(lines) else "recounted"
        hunk.problems.append(problem(code, at + 1, old=wanted[0], new=wanted[1], found_old=old, found_new=new))
    return hunk, parents, index

"""Which line of the change is where on the page: places of regions to lines, and back.

The page has the change in one HyperText: `/div[1]/section[F]` is a file, its `div[1]` the header with the file's name,
and each further `div` a row: the header of a hunk, or a line. Label Studio says where a region is by such paths. Its
offsets are not used: it counts them in several units.

The index is what is needed to read them, as plain JSON: for each file `[path, old path, hunks]`, for each hunk
`[old start, new start, marks, prints]`. A mark is a space, `-` or `+`, one for each line that is shown. A print is two
characters made from the line's text, by which a later change is compared.
"""

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from potato_bridge.model.code_review import Comment, Side
from potato_bridge.model.diff import Hunk

#: The index as JSON.
Index: TypeAlias = list[list[Any]]

MARKS: Final = {"context": " ", "removed": "-", "added": "+"}
_PATH: Final = re.compile(
    r"/div\[1\]/section\[([1-9]\d{0,6})\](?:/(?:div\[([1-9]\d{0,7})\]|p\[\d+\]).*)?", re.ASCII | re.S
)
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def print_of(text: str) -> str:
    """Two characters made from a line's text."""
    number = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    return _LETTERS[number & 63] + _LETTERS[number >> 6 & 63]


def index_hunk(hunk: Hunk) -> list[Any]:
    """The entry of a hunk: of the lines that are shown."""
    marks = "".join(MARKS[line.kind] for line in hunk.lines)
    return [hunk.old_start, hunk.new_start, marks, "".join(print_of(line.text) for line in hunk.lines)]


@dataclass(frozen=True, slots=True)
class Row:
    """A row below the file's header; a mark of "" is the header of a hunk."""

    mark: str
    old: int | None = None
    new: int | None = None
    print: str = ""

    @property
    def side(self) -> Side:
        """The side that its number is of, as GitHub has it."""
        return "LEFT" if self.mark == "-" else "RIGHT"

    @property
    def number(self) -> int | None:
        """The line's number on that side."""
        return self.old if self.mark == "-" else self.new

    def numbers(self) -> list[tuple[Side, int]]:
        """All numbers that it has."""
        found: list[tuple[Side, int]] = []
        if self.mark in (" ", "-") and self.old is not None:
            found.append(("LEFT", self.old))
        if self.mark in (" ", "+") and self.new is not None:
            found.append(("RIGHT", self.new))
        return found


@dataclass(frozen=True)
class File:
    """A file as an index has it."""

    path: str
    old_path: str | None
    hunks: list[Any]

    @cached_property
    def rows(self) -> list[Row]:
        """Its rows: for each hunk its header, and its lines."""
        rows = []
        for old, new, marks, prints in self.hunks:
            rows.append(Row(""))
            for n, mark in enumerate(marks):
                rows.append(Row(mark, old, new, prints[2 * n : 2 * n + 2]))
                old = None if old is None else old + (mark != "+")
                new = None if new is None else new + (mark != "-")
        return rows

    @cached_property
    def lines(self) -> dict[tuple[Side, int], int]:
        """(side, number) → position of the first such row."""
        found: dict[tuple[Side, int], int] = {}
        for position, row in enumerate(self.rows):
            for place in row.numbers():
                found.setdefault(place, position)
        return found


class Pages:
    """The files of an index.

    Args:
        index: As JSON; anything else is an empty one.
    """

    def __init__(self, index: Any) -> None:
        self.files = [File(path, old, hunks) for path, old, hunks in index] if _is_index(index) else []

    @property
    def rated(self) -> list[str]:
        """The names of the files that are rated, in the order of the page: each name once."""
        return list(dict.fromkeys(file.path for file in self.files if file.path))

    def comment(self, value: Mapping[str, Any]) -> Comment | None:
        """The place of a region as a comment that says nothing yet; None: it is no place of one file."""
        first, last = self._place(value.get("start")), self._place(value.get("end"))
        if first is None or last is None or first[0] != last[0]:
            return None
        file, rows = self.files[first[0]], sorted((first[1], last[1]))
        if value.get("endOffset") == 0 and rows[1] > rows[0]:
            # It ends in front of the row.
            rows[1] -= 1
        return _about(file, rows[0], rows[1])

    def same_rows(self, at: Any, value: Mapping[str, Any]) -> bool:
        """Whether two paths, of a start and an end, name the rows of a region.

        Label Studio writes a path anew as it likes: the same row may be named by its number as well as by its text.
        """
        now = [self._place(value.get("start")), self._place(value.get("end"))]
        return isinstance(at, list) and None not in now and [self._place(path) for path in at] == now

    def place(self, comment: Comment) -> tuple[int, int, int] | None:
        """Where a comment goes: file, first and last row, from 0; row -1 is the file's header.

        A line that is not there has the header too. None: there is no such file.
        """
        named = [n for n, file in enumerate(self.files) if comment.file == file.path]
        named += [n for n, file in enumerate(self.files) if comment.file == file.old_path and n not in named]
        for number in named:
            file = self.files[number]
            last = _row(file, comment.side, comment.line, comment.position)
            if last is not None:
                side = comment.start_side or comment.side
                first = _row(file, side, comment.start_line, comment.start_position)
                return number, last if first is None else min(first, last), last if first is None else max(first, last)
        return (named[0], -1, -1) if named else None

    def print_at(self, comment: Comment, *, first: bool = False) -> str | None:
        """The print of the last line (or the first) that a comment is about; None: there is no such line."""
        place = self.place(comment)
        if place is None or place[1] == -1:
            return None
        return self.files[place[0]].rows[place[1] if first else place[2]].print

    def _place(self, path: Any) -> tuple[int, int] | None:
        """The file and the row of a path, from 0; row -1 is the file's header."""
        found = _PATH.fullmatch(path) if isinstance(path, str) else None
        if found is None or int(found[1]) > len(self.files):
            return None
        file, row = int(found[1]) - 1, int(found[2] or 1) - 2
        return (file, row) if row < len(self.files[file].rows) else None


def path_of(file: int, row: int) -> str:
    """The path of a row's text; row -1 is the file's header."""
    return f"/div[1]/section[{file + 1}]/div[{row + 2}]/text()[1]"


def _about(file: File, first: int, last: int) -> Comment:
    place = Comment(category="", file=file.path, line=None, text="")
    if last == -1:
        return place
    rows, first = file.rows, max(first, 0)
    # The header of a hunk is no line: what begins there begins below it, what ends there ends above it.
    while first < last and not rows[first].mark:
        first += 1
    while last > first and not rows[last].mark:
        last -= 1
    while not rows[last].mark:
        if last + 1 == len(rows):
            return place
        first = last = last + 1
    begin, end = rows[first], rows[last]
    swapped = begin.side == end.side and (begin.number or 0) > (end.number or 0)
    if swapped:
        # Hunks that are out of order.
        first, last, begin, end = last, first, end, begin
    place.line, place.side = end.number, end.side
    if end.number is None:
        place.position = last
    if first != last:
        place.start_line, place.start_side = begin.number, begin.side
        if begin.number is None:
            place.start_position = first
    return place


def _row(file: File, side: Side | None, line: int | None, position: int | None) -> int | None:
    if line is not None:
        return file.lines.get((side or "RIGHT", line))
    if position is not None and position < len(file.rows) and file.rows[position].mark:
        return position
    return None


def outdated(comment: Comment, then: Pages, now: Pages) -> bool:
    """Whether a comment on an earlier state of the change has lost its lines."""
    if comment.line is None and comment.position is None:
        return now.place(comment) is None
    for first in (False, True):
        before = then.print_at(comment, first=first)
        after = now.print_at(comment, first=first)
        if after is None or (before is not None and before != after):
            return True
    return False


def same_place(one: Comment, other: Comment) -> bool:
    """Whether two comments differ in nothing but what was said."""
    first, second = (replace(comment, category="", text="", severity=None, suggestion=None) for comment in (one, other))
    return bool(first == second)


def _is_index(index: Any) -> bool:
    return isinstance(index, list) and all(
        isinstance(file, list)
        and len(file) == 3
        and isinstance(file[0], str)
        and isinstance(file[2], list)
        and all(_is_hunk(hunk) for hunk in file[2])
        for file in index
    )


def _is_hunk(hunk: Any) -> bool:
    if not isinstance(hunk, list) or len(hunk) != 4:
        return False
    old, new, marks, prints = hunk
    numbers = all(start is None or (isinstance(start, int) and not isinstance(start, bool)) for start in (old, new))
    return numbers and isinstance(marks, str) and isinstance(prints, str)

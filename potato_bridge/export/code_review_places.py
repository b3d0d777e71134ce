"""Where the comments of a review stand in the change: the hunk, the lines, or why there are none."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from potato_bridge.converters.diffs.write import write_hunk
from potato_bridge.model.code_review import Comment, Side
from potato_bridge.model.diff import Diff, FileChange, Line

#: How many unchanged lines GitHub shows around a change; comments on others are refused, and the review with them.
CONTEXT = 3

_MARKS = {"context": " ", "added": "+", "removed": "-"}


class Place(StrEnum):
    """Whether a comment has lines in the change, else why not."""

    LINE = "line"
    NO_LINE = "no-line"
    OUTDATED = "outdated"
    NOT_IN_DIFF = "not-in-diff"
    UNKNOWN_FILE = "unknown-file"


class FileRows:
    """One file of a change, row by row: each hunk's header (None), then its lines; as positions on GitHub count."""

    def __init__(self, change: FileChange) -> None:
        self.change = change
        self.rows: list[Line | None] = []
        self.hunks: list[int] = []
        for number, hunk in enumerate(change.hunks):
            self.rows += [None, *hunk.lines]
            self.hunks += [number] * (len(hunk.lines) + 1)

    @cached_property
    def numbers(self) -> dict[tuple[Side, int], int]:
        """Side and line number to the first such row."""
        found: dict[tuple[Side, int], int] = {}
        for row, line in enumerate(self.rows):
            if line is not None and line.old is not None:
                found.setdefault(("LEFT", line.old), row)
            if line is not None and line.new is not None:
                found.setdefault(("RIGHT", line.new), row)
        return found

    @cached_property
    def shown(self) -> list[bool]:
        """Which rows a diff with three lines of context has."""
        near = [False] * len(self.rows)
        for order in (range(len(self.rows)), range(len(self.rows) - 1, -1, -1)):
            left = 0
            for row in order:
                line = self.rows[row]
                left = 0 if line is None else CONTEXT + 1 if line.kind != "context" else left
                near[row] = near[row] or left > 0
                left = max(0, left - 1)
        return near

    def side(self, side: Side | None) -> Side:
        """The side that a number is of: where the comment does not tell, the new file's, if there is one."""
        return side or ("LEFT" if self.change.status == "deleted" else "RIGHT")

    def row(self, comment: Comment, *, first: bool = False) -> int | None:
        """The last row that a comment is about, or the first; None: there is no such line."""
        number = comment.start_line if first else comment.line
        position = comment.start_position if first else comment.position
        if number is not None:
            side = (comment.start_side or comment.side) if first else comment.side
            return self.numbers.get((self.side(side), number))
        if position is not None and position < len(self.rows) and self.rows[position] is not None:
            return position
        return None


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a comment stands.

    Attributes:
        file: The file; None: the change does not have it.
        first: The first row; meaningful where `place` is LINE.
        last: The last row.
    """

    place: Place
    file: FileRows | None = None
    first: int = 0
    last: int = 0

    @property
    def hunk(self) -> str | None:
        """The unified text of the hunk, header and all; of several, where the lines go over several."""
        if self.place is not Place.LINE or self.file is None:
            return None
        numbers = range(self.file.hunks[self.first], self.file.hunks[self.last] + 1)
        return "".join(write_hunk(self.file.change.hunks[number]) for number in numbers)

    def lines(self, comment: Comment) -> str | None:
        """The lines that the comment is about, each with its mark: those of its side, or of both sides."""
        if self.place is not Place.LINE or self.file is None:
            return None
        both = comment.start_side is not None and comment.side is not None and comment.start_side != comment.side
        last = self.file.rows[self.last]
        left = last is not None and (
            last.kind == "removed" or (last.kind == "context" and self.file.side(comment.side) == "LEFT")
        )
        hidden = "" if both or comment.position is not None else "added" if left else "removed"
        return "".join(
            _MARKS[line.kind] + line.text + "\n"
            for line in self.file.rows[self.first : self.last + 1]
            if line is not None and line.kind != hidden
        )


class Change:
    """The change of an item, where places are looked up."""

    def __init__(self, diff: Diff) -> None:
        self.files = [FileRows(change) for change in diff.files]

    def place(self, comment: Comment) -> Spot:
        """Where a comment stands. One on an earlier state has no lines: other text may have their numbers now."""
        files = list(self._named(comment.file))
        file = files[0] if files else None
        if comment.outdated:
            return Spot(Place.OUTDATED, file)
        if not files:
            return Spot(Place.UNKNOWN_FILE)
        if comment.line is None and comment.position is None:
            return Spot(Place.NO_LINE, file)
        ranged = comment.start_line is not None or comment.start_position is not None
        for candidate in files:
            last = candidate.row(comment)
            first = candidate.row(comment, first=True) if ranged else last
            if last is not None and first is not None:
                return Spot(Place.LINE, candidate, min(first, last), max(first, last))
        return Spot(Place.NOT_IN_DIFF, file)

    def _named(self, name: str) -> Iterator[FileRows]:
        """The files of this name, then those that had it before."""
        yield from (file for file in self.files if file.change.path == name)
        yield from (file for file in self.files if file.change.path != name and file.change.old_path == name)

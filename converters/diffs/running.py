"""The text of a file while edits are made to it, as far as the edits tell: what it was, and what it is now.

A file is a list of pieces. A piece is a run of lines that is known: as it was before the first edit (`base`), and as it
is now (`lines`). A piece whose place in the file is known has a start; the others are fragments that an editing tool
was given. An edit that falls into a piece is made there, so that several edits of one place become one change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from potato_bridge.converters.diffs.hunks import RawHunk
from potato_bridge.converters.diffs.texts import diff_lines


@dataclass
class Piece:
    """A run of lines that is known.

    Attributes:
        base: Before the first edit; each line with its line feed, where it has one.
        lines: Now.
        start: 1-based number of the first line in the file before all edits; None where it is not known.
    """

    base: list[str]
    lines: list[str]
    start: int | None = None


@dataclass
class RunningText:
    """A file whose text is known in pieces.

    Attributes:
        pieces: Those with a start in the order of the file, then the fragments in the order in which they came.
        overlapping: Whether an edit could not be put in its place among the others.
    """

    pieces: list[Piece] = field(default_factory=list)
    overlapping: bool = False

    @property
    def fragments(self) -> list[Piece]:
        """The pieces whose place is not known."""
        return [piece for piece in self.pieces if piece.start is None]

    def know(self, start: int, lines: list[str]) -> None:
        """Takes lines of the file as it is before any edit; passed over where some of them are known already."""
        end = start + len(lines)
        if not lines or any(piece.start is None or piece.lines != piece.base for piece in self.pieces):
            return
        for piece in list(self.pieces):
            assert piece.start is not None
            if piece.start < end and start < piece.start + len(piece.base):
                if len(piece.base) >= len(lines):
                    return
                self.pieces.remove(piece)
        self.pieces.append(Piece(list(lines), list(lines), start))
        self.pieces.sort(key=lambda piece: piece.start or 0)

    def edit(self, hunks: Sequence[RawHunk]) -> None:
        """Makes one edit, whose numbers are those of the file before it."""
        earlier = self.fragments
        # From below, so that the numbers above stay right.
        for hunk in sorted(hunks, key=lambda hunk: -(hunk.old_start or 0)):
            old, new = sides(hunk)
            if hunk.old_start is None:
                self._find(old, new, earlier)
            elif not self._at(hunk.old_start + (not old), old, new):
                self.overlapping = True
                self.pieces.append(Piece(old, new))

    def _find(self, old: list[str], new: list[str], earlier: list[Piece]) -> None:
        """Puts lines in place of others wherever these are known to be; else they are a fragment of their own."""
        found = [(piece, at) for piece in self.pieces for at in places(piece.lines, old)]
        if len(found) == 1:
            piece, at = found[0]
            piece.lines[at : at + len(old)] = new
            return
        base = list(old)
        for piece in earlier:
            # What was written before is a part of what is replaced now.
            within = places(base, piece.lines)
            if len(within) == 1:
                base[within[0] : within[0] + len(piece.lines)] = piece.base
                self.pieces.remove(piece)
            elif within or _touch(piece.lines, old):
                self.overlapping = True
        self.overlapping = self.overlapping or len(found) > 1
        self.pieces.append(Piece(base, new))

    def _at(self, start: int, old: list[str], new: list[str]) -> bool:
        """Puts lines in place of others at a number that counts in the file as it is now; False: they do not fit."""
        if self.fragments:
            # How far a fragment moved the lines below it is not known.
            return False
        end = start + len(old)
        drift = drift_above = 0
        above: list[Piece] = []
        touched: list[tuple[int, Piece]] = []
        below: list[Piece] = []
        for piece in self.pieces:
            assert piece.start is not None
            first = piece.start + drift
            last = first + len(piece.lines)
            drift += len(piece.lines) - len(piece.base)
            if last < start or (last == start and old):
                above.append(piece)
                drift_above = drift
            elif first > end or (first == end and old):
                below.append(piece)
            else:
                touched.append((first, piece))
        base: list[str] = []
        lines: list[str] = []
        at = first = min([start, *(begin for begin, _ in touched)])
        for begin, piece in touched:
            # What the hunk shows between the pieces was not changed so far: it was in the file before.
            gap = old[at - start : begin - start] if begin > at else []
            base += gap + piece.base
            lines += gap + piece.lines
            at = begin + len(piece.lines)
        if at < end:
            base += old[at - start :]
            lines += old[at - start :]
        offset = start - first
        if lines[offset : offset + len(old)] != old:
            return False
        lines[offset : offset + len(old)] = new
        self.pieces = [*above, Piece(base, lines, first - drift_above), *below]
        return True

    def hunks(self) -> list[RawHunk]:
        """What all edits together changed; those without numbers come last."""
        found: list[RawHunk] = []
        drift = 0
        for piece in self.pieces:
            hunks = diff_lines(piece.base, piece.lines, piece.start)
            for hunk in hunks:
                if hunk.new_start is not None:
                    hunk.new_start += drift
            if piece.start is not None:
                drift += len(piece.lines) - len(piece.base)
            found += hunks
        return found


def sides(hunk: RawHunk) -> tuple[list[str], list[str]]:
    """The lines before and after a hunk, each with its line feed, where it has one."""
    old: list[str] = []
    new: list[str] = []
    last: list[list[str]] = []
    for line in hunk.lines:
        mark, text = line[:1], line[1:] + "\n"
        if mark == "\\":
            for side in last:
                side[-1] = side[-1].removesuffix("\n")
            last = []
            continue
        last = [side for side, absent in ((old, "+"), (new, "-")) if mark != absent]
        for side in last:
            side.append(text)
    return old, new


def places(lines: list[str], wanted: list[str]) -> list[int]:
    """Where some lines stand among others, 0-based; no lines stand nowhere."""
    if not wanted:
        return []
    last = len(lines) - len(wanted)
    return [at for at in range(last + 1) if lines[at] == wanted[0] and lines[at : at + len(wanted)] == wanted]


def _touch(one: list[str], other: list[str]) -> bool:
    """Whether the end of one is the beginning of the other: they may be neighbours that overlap."""
    shared = range(1, min(len(one), len(other)) + 1)
    return any(one[-count:] == other[:count] or other[-count:] == one[:count] for count in shared)

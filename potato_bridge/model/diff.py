"""Diff: a change of files, whatever form it was written in. Every reader of patches makes one, every page shows one.

Unknown is never zero: a line number of `None` says that the patch does not tell it. What is wrong with a patch is a
`Problem` at the file that it concerns, so that one bad file never takes the others with it. Paths and lines are data:
they may hold anything, lone surrogates (bytes that are no UTF-8, as of `surrogateescape`) included.
"""

from typing import Literal, TypeAlias

from potato_bridge.model.node import Node

Status: TypeAlias = Literal["added", "modified", "deleted", "renamed", "copied", "mode", "binary", "submodule"]
Kind: TypeAlias = Literal["context", "added", "removed"]

#: The mode of a submodule: its "text" is the name of a commit.
SUBMODULE_MODE = "160000"


class Problem(Node):
    """Something that is wrong with a patch, or that it leaves out.

    Attributes:
        code: Stable name in kebab-case, e.g. `recounted`; all are in docs/diffs.md.
        message: One sentence: what was found, and what became of it.
        line: 1-based line in the text that was read; None where there is none.
    """

    code: str
    message: str
    line: int | None = None


class Line(Node, gc=False):
    """One line of a hunk.

    Attributes:
        kind: `context` stands on both sides.
        text: Verbatim, without the mark in front and the line feed; a carriage return of the file is part of it.
        old: 1-based number in the old file; None for an added line, and where unknown.
        new: 1-based number in the new file; None for a removed line, and where unknown.
        newline: False for the last line of a file that does not end in a line feed.
    """

    kind: Kind
    text: str
    old: int | None = None
    new: int | None = None
    newline: bool = True


class Hunk(Node):
    """One run of lines. Starts are 1-based as the header has them, and None where the patch has no numbers.

    Attributes:
        old_count: Lines of the old side that are here (context and removed), counted, whatever the header says.
        new_count: Likewise of the new side.
        section: What the header says after the numbers: the function around; without the space in front.
    """

    lines: list[Line] = []
    old_start: int | None = None
    old_count: int = 0
    new_start: int | None = None
    new_count: int = 0
    section: str | None = None


class FileChange(Node):
    """What a patch does to one file.

    Attributes:
        path: Its path: the new one, or the old one for a deletion; without `a/` and `b/`. Empty where the patch
            names none. Two changes of one patch may have the same path (git writes a change of type so).
        status: The word that says the most: `binary`, `submodule` and `mode` where that is all that happened.
        old_path: The path on the old side, where it is another one.
        old_mode: Octal, as git writes it (`100644`); None where the patch does not say.
        new_mode: Likewise.
        old_id: The object's name in git, as long as the patch has it.
        new_id: Likewise.
        similarity: Per cent, of a rename or copy.
        unread: Whether lines changed that the patch does not show, or that were not read: no lines is no count then.
        binary: Whether the contents are binary; then there are no hunks.
        binary_patch: What follows `GIT binary patch`, verbatim, without the carriage returns of a CRLF patch.
    """

    path: str
    status: Status = "modified"
    old_path: str | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    old_id: str | None = None
    new_id: str | None = None
    similarity: int | None = None
    unread: bool = False
    binary: bool = False
    binary_patch: str | None = None
    hunks: list[Hunk] = []
    problems: list[Problem] = []

    @property
    def added(self) -> int:
        """How many lines are added."""
        return sum(line.kind == "added" for hunk in self.hunks for line in hunk.lines)

    @property
    def removed(self) -> int:
        """How many lines are removed."""
        return sum(line.kind == "removed" for hunk in self.hunks for line in hunk.lines)


class Diff(Node):
    """A change of files.

    Attributes:
        format: The form that it was written in: a name of `converters.diffs.formats`; `edits` where it was put
            together from the edits of a trace; `unknown` where no form was recognised.
        files: In the order of the patch.
        problems: What concerns no single file.
        text: What was read, decoded and otherwise unchanged; empty for `edits`.
    """

    format: str = "unknown"
    files: list[FileChange] = []
    problems: list[Problem] = []
    text: str = ""

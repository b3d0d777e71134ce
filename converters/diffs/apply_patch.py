"""The form of `apply_patch` (Codex and others): `*** Begin Patch`, files marked by `***`, hunks by `@@`."""

import re

from potato_bridge.converters.diffs.hunks import RawHunk, read_header, read_hunks
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.converters.diffs.source import split_lines
from potato_bridge.model.diff import FileChange, Problem, Status

_BEGIN = re.compile(r"^[ \t]{0,12}\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File: )", re.M)
_FILES: dict[str, Status] = {"*** Add File: ": "added", "*** Update File: ": "modified", "*** Delete File: ": "deleted"}
_MOVE = "*** Move to: "


def find_apply_patch(text: str) -> int | None:
    """Where such a patch begins; None: nowhere."""
    found = _BEGIN.search(text)
    return found.start() if found else None


def read_apply_patch(text: str) -> tuple[list[FileChange], list[Problem]]:
    """The files of one or more such patches. Their hunks have no line numbers."""
    reader = _Reader()
    lines = split_lines(text)
    for number, line in enumerate(lines, 1):
        reader.take(line, number, lines[number] if number < len(lines) else "")
    return reader.finish()


class _Reader:
    """What was read so far: the file that lines belong to, and its hunks."""

    def __init__(self) -> None:
        self.files: list[FileChange] = []
        self.problems: list[Problem] = []
        self.file: FileChange | None = None
        self.hunks: list[RawHunk] = []
        self.begun: int | None = None
        self.crlf = False
        self.crlf_line: int | None = None

    def take(self, line: str, number: int, following: str) -> None:
        """Takes one line; `following` is the next one."""
        if line.lstrip().startswith("*** "):
            bare = line.strip()
            mark = next((mark for mark in _FILES if bare.startswith(mark)), None)
            if bare == "*** Begin Patch":
                self._end()
                self.begun = number
                self._sniff(line, number)
            elif bare == "*** End Patch":
                self._end()
                self.begun = None
            elif mark is not None:
                self._end()
                self._sniff(line, number)
                self.file = FileChange(path=bare.removeprefix(mark).strip(), status=_FILES[mark])
            elif bare.startswith(_MOVE) and self.file is not None:
                self.file.old_path, self.file.path = self.file.path, bare.removeprefix(_MOVE).strip()
                self.file.status = "renamed"
            elif bare != "*** End of File" and self.file is not None:
                self._content(line, number, following)
        elif self.file is not None:
            self._content(line, number, following)

    def _sniff(self, line: str, number: int) -> None:
        self.crlf = line.endswith("\r")
        if self.crlf and self.crlf_line is None:
            self.crlf_line = number

    def _content(self, line: str, number: int, following: str) -> None:
        file = self.file
        assert file is not None
        if self.crlf:
            line = line.removesuffix("\r")
        header = read_header(line.removesuffix("\r")) if file.status != "added" else None
        if header is not None:
            hunk = header[0]
            if self.hunks and not self.hunks[-1].lines:
                # `@@ class A` above `@@ def f`: both say where.
                above = self.hunks.pop()
                hunk.section = " ".join(part for part in (above.section, hunk.section) if part) or None
            hunk.line = number
            self.hunks.append(hunk)
            return
        if not self.hunks:
            self.hunks.append(RawHunk(line=number))
        hunk = self.hunks[-1]
        made = file.status == "added"
        if line[:1] != "+" if made else line[:1] not in ("+", "-", " ", "\\"):
            if not line.strip() and following.lstrip().startswith(("*** ", "@@", "```")):
                # A blank line before the next mark is the writer's.
                return
            mark = "+" if made else " "
            if line.strip() and not any(found.code == "missing-space" for found in hunk.problems):
                hunk.problems.append(problem("missing-space", number))
            line = mark + line
        hunk.lines.append(line)

    def _end(self) -> None:
        file, hunks = self.file, self.hunks
        self.file, self.hunks = None, []
        if file is None:
            return
        if file.status == "added":
            # The whole of a new file is there, so its numbers are known.
            for hunk in hunks:
                hunk.old_start, hunk.new_start = 0, 1
        elif file.status == "deleted" and not hunks:
            file.unread = True
            file.problems.append(problem("text-unknown"))
        file.hunks = read_hunks(hunks, file.problems)
        if file.status == "modified" and not hunks:
            file.unread = True
            file.problems.append(problem("header-only"))
        if not file.path:
            file.problems.append(problem("no-path"))
        self.files.append(file)

    def finish(self) -> tuple[list[FileChange], list[Problem]]:
        """All files, and what concerns none of them."""
        self._end()
        if self.begun is not None:
            self.problems.append(problem("cut-off", self.begun))
        if self.crlf_line is not None:
            self.problems.append(problem("crlf", self.crlf_line))
        return self.files, self.problems

"""Unified diffs of git, GNU diff, svn, hg, bzr, cvs and jsdiff: alone, in mails, in logs, in fences and in prose.

One pass over the lines: what is no header of a file and no hunk is prose. A hunk belongs to the file named last.
"""

import re
from collections.abc import Callable

from potato_bridge.converters.diffs.combined import read_combined_header, take_combined_hunk
from potato_bridge.converters.diffs.delimit import stray_change, take_hunk
from potato_bridge.converters.diffs.paths import name_on_line, split_pair, unquote
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.converters.diffs.section import GIT_HEADER, Section
from potato_bridge.converters.diffs.source import split_lines, strip_returns
from potato_bridge.model.diff import SUBMODULE_MODE, FileChange, Problem

_MARKS = re.compile(
    r"^ {0,12}(?:diff --(?:git|cc|combined) |--- [^\n]*\n {0,12}\+\+\+ |@@+ -\d|Submodule \S[^\n]* [0-9a-f]{7,})", re.M
)
#: Lines that other forms have too.
_WEAK_MARKS = re.compile(
    r"^(?:Index: [^\n]*\n=|Binary files? [^\n]* (?:differ|has changed)|Only in |\* Unmerged path )", re.M
)

_MAIL = re.compile(r"From [0-9a-f]{7,64} \w{3} \w{3} ")
_ENCODING = re.compile(r"content-transfer-encoding:\s*(quoted-printable|base64)", re.I)
_DIFFER = (" differ", " has changed")
_SUBMODULE = re.compile(
    r"Submodule (?P<path>.+?) (?:(?P<old>[0-9a-f]{7,64})\.{2,3}(?P<new>[0-9a-f]{7,64})"
    r"(?P<what> \((?:new submodule|submodule deleted|commits not present)[^)]*\)| \(rewind\))?:?"
    r"|contains (?:untracked|modified) content)"
)
_BINARY_BLOCK = re.compile(r"(?:literal|delta) \d+")
_BASE85 = re.compile(r"[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]+")
_FENCE = re.compile(r"( {1,12})(`{3,6}|~{3,6})[\w+-]*\s*")


def find_unified(text: str) -> int | None:
    """Where a unified diff seems to begin; None: nowhere."""
    found = _MARKS.search(text)
    return found.start() if found else None


def find_remains(text: str) -> int | None:
    """Where a line is that says that files differ, and shows no hunk."""
    found = _WEAK_MARKS.search(text)
    return found.start() if found else None


def read_unified(text: str, *, coloured: bool = False) -> tuple[list[FileChange], list[Problem]]:
    """The files of a unified diff, and what concerns none of them.

    Args:
        text: Anything.
        coloured: Whether the text had colour codes of a terminal, which may have marked words.
    """
    return _Scanner(split_lines(text), coloured).read()


class _Scanner:
    """Where in the text we are, and the files found so far."""

    def __init__(self, lines: list[str], coloured: bool) -> None:
        self.lines = lines
        self.coloured = coloured
        self.at = 0
        self.sections: list[Section] = []
        self.current: Section | None = None
        self.problems: list[Problem] = []
        self.crlf: int | None = None
        self.never_closed: set[str] = set()
        self.handlers: dict[str, list[tuple[str, Callable[[str], bool]]]] = {}
        for prefix, handler in (
            ("diff --git ", self._git),
            ("diff --cc ", self._combined),
            ("diff --combined ", self._combined),
            ("diff ", self._command),
            ("--- ", self._names),
            ("@@@", self._combined_hunk),
            ("@@", self._hunk),
            ("Index: ", self._index),
            ("Binary file", self._binary),
            ("GIT binary patch", self._binary_patch),
            ("Cannot display: file marked as a binary type.", self._marked_binary),
            ("Submodule ", self._submodule),
            ("Only in ", self._only_in),
            ("* Unmerged path ", self._unmerged),
            ("From ", self._mail),
            ("*** Begin Patch", self._other_form),
            (" ", self._indented_fence),
        ):
            self.handlers.setdefault(prefix[0], []).append((prefix, handler))

    def read(self) -> tuple[list[FileChange], list[Problem]]:
        lines, handlers = self.lines, self.handlers
        while self.at < len(lines):
            line = lines[self.at]
            for prefix, handler in handlers.get(line[:1], ()):
                if line.startswith(prefix) and handler(line[:-1] if line.endswith("\r") else line):
                    break
            else:
                self.at += 1
        if self.crlf is not None:
            self.problems.insert(0, problem("crlf", self.crlf))
        return [section.finish(self.coloured) for section in self.sections], self.problems

    def _start(self, section: Section, lines: int = 1) -> Section:
        """Begins a file whose header is here, and takes its lines."""
        section.line = self.at + 1
        section.crlf = self.lines[self.at].endswith("\r")
        self.sections.append(section)
        self.current = section
        self.at += lines
        section.header_end = self.at
        return section

    def _peek(self, offset: int = 1) -> str:
        index = self.at + offset
        return self.lines[index].removesuffix("\r") if index < len(self.lines) else ""

    def _in_header(self) -> Section | None:
        """The file whose header we are still in, blank lines apart; None: there is none."""
        section = self.current
        if section is None or section.hunks or section.change.binary:
            return None
        between = self.lines[section.header_end : self.at] if self.at - section.header_end <= 4 else ["far"]
        return section if not any(map(str.strip, between)) else None

    # Each handler takes the line at `self.at` (without the CR) and returns whether it moved on.

    def _git(self, line: str) -> bool:
        if self.current is not None and self.current.is_bare_index:
            # svn in git's manner writes both headers.
            self.sections.pop()
        section = self._start(Section.of_git(line[len("diff --git ") :]))
        while (line := self._peek(0)) and GIT_HEADER.match(line):
            section.extended(line)
            self.at += 1
        section.header_end = self.at
        return True

    def _combined(self, line: str) -> bool:
        section = self._start(Section(FileChange(path=unquote(line.split(" ", 2)[2]))))
        section.combined = section.certain = True
        while (line := self._peek(0)) and read_combined_header(line, section.change):
            self.at += 1
        section.header_end = self.at
        return True

    def _command(self, line: str) -> bool:
        self.at += 1
        if self.current is not None and self.current.is_bare_index and self.at - self.current.header_end < 8:
            # cvs: the header goes on.
            self.current.header_end = self.at
        else:
            # `diff -r a b` of hg or GNU diff: what follows is of another file.
            self.current = None
        return True

    def _names(self, line: str) -> bool:
        below = self._peek()
        if not below.startswith("+++ "):
            return False
        old, new = name_on_line(line[4:]), name_on_line(below[4:])
        section = self._in_header()
        if section is None or section.named:
            section = self._start(Section(FileChange(path="")), 2)
        else:
            self.at += 2
            section.header_end = self.at
        section.names(old, new)
        return True

    def _hunk(self, line: str) -> bool:
        if self.current is not None and self.current.change.binary:
            self.current = None
        numbered = line[2:].lstrip().startswith("-") and line[2:].lstrip()[1:2].isdigit()
        if self.current is None and not numbered:
            return False
        header = self.lines[self.at]
        crlf = header.endswith("\r") and (self.current is None or self.current.crlf)
        taken = take_hunk(self.lines, self.at, crlf=crlf)
        if taken is None:
            return False
        hunk, end = taken
        if not numbered and not hunk.lines:
            # Prose that happens to begin like a header.
            return False
        if self.current is None:
            self._start(Section(FileChange(path="")), 0)
        assert self.current is not None
        self.current.hunks.append(hunk)
        if hunk.stripped and self.crlf is None:
            self.crlf = self.at + 1
        self.at = end
        if (stray := stray_change(self.lines, end)) is not None:
            hunk.problems.append(problem("stray-line", stray))
        return True

    def _combined_hunk(self, line: str) -> bool:
        taken = take_combined_hunk(self.lines, self.at, crlf=self.lines[self.at].endswith("\r"))
        if taken is None:
            return False
        section = self.current
        if section is None or section.change.binary:
            section = self._start(Section(FileChange(path="")), 0)
        hunk, section.parents, self.at = taken
        section.combined = True
        section.hunks.append(hunk)
        return True

    def _index(self, line: str) -> bool:
        if not self._peek().startswith("==="):
            return False
        self._start(Section(FileChange(path=unquote(line[len("Index: ") :].strip())), index=True), 2)
        return True

    def _binary(self, line: str) -> bool:
        end = next((end for end in _DIFFER if line.endswith(end)), None)
        if end is None:
            return False
        names = split_pair(line.removesuffix(end).split(" ", 2)[-1], " and ")
        section = self._in_header()
        old, new = (name_on_line(name)[0] for name in names)
        if section is None:
            section = self._start(Section(FileChange(path="")), 0)
        if not section.change.path:
            section.names((old, ""), (new, ""))
        section.change.binary = True
        self.at += 1
        return True

    def _binary_patch(self, line: str) -> bool:
        section = self._in_header()
        if section is None or line != "GIT binary patch":
            return False
        start = self.at + 1
        end = start
        lines = self.lines
        while end < len(lines) and _BINARY_BLOCK.fullmatch(lines[end].rstrip("\r")):
            end += 1
            while end < len(lines) and _BASE85.fullmatch(lines[end].rstrip("\r")):
                end += 1
            if end < len(lines) and not lines[end].strip():
                end += 1
        payload = strip_returns(lines[start:end]) if section.crlf else lines[start:end]
        section.change.binary = True
        section.change.binary_patch = "".join(f"{line}\n" for line in payload)
        self.at = max(end, start)
        return True

    def _marked_binary(self, line: str) -> bool:
        section = self._in_header()
        if section is None:
            return False
        section.change.binary = True
        self.at += 1
        return True

    def _submodule(self, line: str) -> bool:
        found = _SUBMODULE.fullmatch(line)
        if found is None:
            return False
        what = found["what"] or ""
        change = FileChange(
            path=found["path"], old_id=found["old"], new_id=found["new"], status="submodule", unread=True
        )
        change.old_mode = change.new_mode = SUBMODULE_MODE
        if "new submodule" in what:
            change.status, change.old_mode = "added", None
        elif "submodule deleted" in what:
            change.status, change.new_mode = "deleted", None
        change.problems.append(problem("submodule-log", self.at + 1))
        # Of --submodule=diff, the files inside follow as files of their own.
        self._start(Section(change, settled=True))
        self.current = None
        return True

    def _only_in(self, line: str) -> bool:
        folder, colon, name = line[len("Only in ") :].partition(": ")
        if not colon:
            return False
        self.problems.append(problem("only-in", self.at + 1, name=f"{folder}/{name}"))
        self.at += 1
        return True

    def _unmerged(self, line: str) -> bool:
        self.problems.append(problem("unmerged", self.at + 1, name=unquote(line[len("* Unmerged path ") :])))
        self.at += 1
        return True

    def _mail(self, line: str) -> bool:
        """Passes over the head and body of a mail: a body may have lines that look like a patch."""
        if not _MAIL.match(line):
            return False
        self.current = None
        self.at += 1
        in_head = True
        while self.at < len(self.lines):
            line = self.lines[self.at].rstrip()
            if line == "---" or line.startswith(("diff -", "Index: ")) or _MAIL.match(line):
                break
            in_head = in_head and bool(line)
            if in_head and (encoding := _ENCODING.match(line)):
                self.problems.append(problem("encoded-mail", self.at + 1, encoding=encoding.group(1).lower()))
            self.at += 1
        return True

    def _other_form(self, line: str) -> bool:
        """Passes over a patch for apply_patch: its hunks are of no file here."""
        self.current = None
        while self.at < len(self.lines) and not self.lines[self.at].startswith("*** End Patch"):
            self.at += 1
        return True

    def _indented_fence(self, line: str) -> bool:
        """Moves a fenced block of a list's item to the left, in place."""
        fence = _FENCE.fullmatch(line) if len(line) < 80 else None
        if fence is None:
            return False
        indent, close = fence.group(1), fence.group(1) + fence.group(2)
        self.at += 1
        if close in self.never_closed:
            return True
        for index in range(self.at, len(self.lines)):
            inner = self.lines[index]
            done = inner.rstrip() == close
            self.lines[index] = inner.removeprefix(indent) if inner.startswith(indent) else inner
            if done:
                return True
        self.never_closed.add(close)
        return True

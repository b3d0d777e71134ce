"""SEARCH/REPLACE blocks: of aider (`<<<<<<< SEARCH`), of Cline (`------- SEARCH`) and of Roo (with `:start_line:`)."""

import re

from potato_bridge.converters.diffs.hunks import RawHunk, read_hunks
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.converters.diffs.source import split_lines
from potato_bridge.converters.diffs.texts import diff_lines
from potato_bridge.model.diff import FileChange, Problem

_ANYWHERE = re.compile(r"^[ \t]{0,12}[<-]{5,9} SEARCH>?[ \t]*\r?$", re.M)
_SEARCH = re.compile(r"[<-]{5,9} SEARCH>?\s*")
_MIDDLE = re.compile(r"={5,9}\s*")
_REPLACE = re.compile(r"[>+]{5,9} REPLACE>?\s*")
_START_LINE = re.compile(r":start_line:\s*(\d{1,9})\s*")
_ROO_LINE = re.compile(r":(?:start|end)_line:\s*\d{1,9}\s*|-{5,9}\s*")
_PATH_TAG = re.compile(r"<path>(.*?)</path>")
_MARKUP = " \t#*`:"
#: How far above a block its file's name may be.
_LOOK_BACK = 5


def find_search_replace(text: str) -> int | None:
    """Where the first block begins; None: nowhere."""
    found = _ANYWHERE.search(text)
    return found.start() if found else None


def read_search_replace(text: str) -> tuple[list[FileChange], list[Problem]]:
    """The files of all blocks; the blocks of one file are hunks of one change, in their order."""
    lines = split_lines(text)
    hunks: dict[str, list[RawHunk]] = {}
    files: dict[str, FileChange] = {}
    problems: list[Problem] = []
    path, at, end = "", 0, 0
    crlf_line = None
    while at < len(lines):
        if not _SEARCH.fullmatch(lines[at].strip()):
            at += 1
            continue
        path = _path_above(lines, at, end) or path
        crlf = lines[at].endswith("\r")
        if crlf and crlf_line is None:
            crlf_line = at + 1
        start, line, whole = None, at + 1, True
        at += 1
        while at < len(lines) and _ROO_LINE.fullmatch(lines[at].strip()):
            if number := _START_LINE.fullmatch(lines[at].strip()):
                start = int(number.group(1))
            at += 1
        old, at, found = _until(lines, at, _MIDDLE, crlf)
        whole &= found
        new, at, found = _until(lines, at, _REPLACE, crlf)
        whole &= found
        end = at
        if path not in files:
            files[path] = FileChange(path=path, status="modified" if old else "added")
            if not path:
                files[path].problems.append(problem("no-path", line))
        made = files[path].status == "added"
        raw = diff_lines(old, new, 1 if made else start)
        for hunk in raw:
            hunk.line = line
        if not raw:
            raw = [RawHunk(line=line, old_start=1, new_start=1)]
        if not whole:
            raw[0].problems.append(problem("cut-off", line))
        hunks.setdefault(path, []).extend(raw)
    for name, change in files.items():
        change.hunks = read_hunks(hunks[name], change.problems)
    if crlf_line is not None:
        problems.append(problem("crlf", crlf_line))
    return list(files.values()), problems


def _until(lines: list[str], at: int, mark: re.Pattern[str], crlf: bool) -> tuple[list[str], int, bool]:
    """The lines before a mark, the position after it, and whether it is there."""
    taken: list[str] = []
    while at < len(lines):
        line = lines[at]
        if mark.fullmatch(line.strip()):
            return taken, at + 1, True
        if _SEARCH.fullmatch(line.strip()) or (mark is _MIDDLE and _REPLACE.fullmatch(line.strip())):
            return taken, at, False
        taken.append((line[:-1] if crlf and line.endswith("\r") else line) + "\n")
        at += 1
    return taken, at, False


def _path_above(lines: list[str], at: int, end: int) -> str:
    """The file named in the lines above a block, not above the end of the last one; empty: none is."""
    for line in reversed(lines[max(end, at - _LOOK_BACK) : at]):
        if tag := _PATH_TAG.search(line):
            return tag.group(1).strip()
        name = line.strip().removeprefix("File:").removeprefix("file:").strip(_MARKUP).strip()
        if not name or line.strip().startswith(("```", "~~~", "<")):
            continue
        # A sentence is no name: it has spaces, and does not end like a file.
        if " " not in name or (re.search(r"\.\w{1,10}$", name.rsplit(" ", 1)[-1]) and "/" in name.split(" ", 1)[0]):
            return name
        return ""
    return ""

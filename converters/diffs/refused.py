"""Forms that are recognised and not read: each file is listed, and says why it has no lines."""

import re
from collections.abc import Callable

from potato_bridge.converters.diffs.paths import name_on_line, strip_pair, unquote
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.model.diff import FileChange, Problem

_CONTEXT = re.compile(r"^\*\*\* ([^\n]*)\n--- ([^\n]*)\n\*{15}", re.M)
_NORMAL = re.compile(r"^\d+(?:,\d+)?[acd]\d+(?:,\d+)?\r?\n[<>] ", re.M)
_ED = re.compile(r"\A(?:diff -e[^\n]*\n)?(?:\d+(?:,\d+)?d\r?\n|\d+(?:,\d+)?[ac]\r?\n(?:[^\n]*\n)*?\.\r?\n)")
_INDEX = re.compile(r"^(?:Index: ([^\n]*)\n=|diff (?:-\S+ )*\S+ ([^\s]+)$)", re.M)

Reader = Callable[[str], tuple[list[FileChange], list[Problem]]]


def find_context(text: str) -> int | None:
    """Where a context diff begins; None: nowhere."""
    found = _CONTEXT.search(text)
    return found.start() if found else None


def read_context(text: str) -> tuple[list[FileChange], list[Problem]]:
    """The files of a context diff, refused."""
    files = []
    for found in _CONTEXT.finditer(text):
        old, new = (name_on_line(name.rstrip("\r"))[0] for name in found.groups())
        old, new = strip_pair(old, new)
        line = text.count("\n", 0, found.start()) + 1
        change = FileChange(path=new, old_path=old if old != new else None, unread=True)
        change.problems.append(problem("context-diff", line))
        files.append(change)
    return files, []


def find_normal(text: str) -> int | None:
    """Where a diff without context begins; None: nowhere."""
    found = _NORMAL.search(text)
    return found.start() if found else None


def read_normal(text: str) -> tuple[list[FileChange], list[Problem]]:
    """The files of a diff without context, refused; it may name none."""
    return _named(text, "normal-diff", find_normal(text))


def find_ed(text: str) -> int | None:
    """0 where the text is an ed script, else None."""
    return 0 if _ED.match(text) else None


def read_ed(text: str) -> tuple[list[FileChange], list[Problem]]:
    """The file of an ed script, refused."""
    return _named(text, "ed-script", 0)


def _named(text: str, code: str, start: int | None) -> tuple[list[FileChange], list[Problem]]:
    files = []
    for found in _INDEX.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        name = unquote((found.group(1) or found.group(2)).strip())
        files.append(FileChange(path=name, unread=True, problems=[problem(code, line)]))
    if files:
        return files, []
    return [], [problem(code, text.count("\n", 0, start or 0) + 1)]

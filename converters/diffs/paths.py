"""The names of files in patches: quotes, prefixes and what else stands on the line."""

import re

DEV_NULL = "/dev/null"

#: What git puts in front of the two names of a pair; which two depends on what is compared (diff.mnemonicPrefix).
_PREFIXES = frozenset("abciwo12")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_UNESCAPES = {code: f"\\{char}" for char, code in _ESCAPES.items()}
_ESCAPED_RUN = re.compile(r'(?:\\(?:[0-7]{3}|[abtnvfr"\\]))+')
_ESCAPED = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
_NEEDS_QUOTES = re.compile(r'[\x00-\x1f\x7f"\\]')
#: A line with more of them is no pair of names with spaces, but hostile: trying every cut would take long.
_MOST_SPACES = 64
#: A time after a space: git and GNU diff put a tab there, and others do not.
_TIME = re.compile(
    r"(?<!\s)\s{1,8}(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d\S*(?: [+-]\d{4})?|\(revision \d+\)|\(working copy\))\s*$"
)


_TIME_LENGTH = 80


def unquote(name: str) -> str:
    """A name without the quotes that git puts around odd ones; escaped bytes that are no UTF-8 become surrogates."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    return _ESCAPED_RUN.sub(_decode_run, name[1:-1])


def _decode_run(run: re.Match[str]) -> str:
    codes = (_ESCAPES.get(found) or int(found, 8) & 255 for found in _ESCAPED.findall(run.group()))
    return bytes(codes).decode("utf-8", "surrogateescape")


def quote(name: str) -> str:
    """A name as git writes it with core.quotePath=false."""
    if not _NEEDS_QUOTES.search(name):
        return name
    return f'"{_NEEDS_QUOTES.sub(_escape, name)}"'


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return _UNESCAPES.get(code) or f"\\{code:03o}"


def name_on_line(rest: str) -> tuple[str, str]:
    """The name after `--- ` or `+++ `, and what follows it: a time, a revision, a label."""
    if quoted := _QUOTED.match(rest):
        return unquote(quoted.group()), rest[quoted.end() :].strip()
    name, tab, stamp = rest.partition("\t")
    if not tab and (time := _TIME.search(rest, max(0, len(rest) - _TIME_LENGTH))):
        name, stamp = rest[: time.start()], time.group()
    return name, stamp.strip()


def split_git_header(rest: str) -> tuple[str, str] | None:
    """The two names after `diff --git `, still prefixed; None where the line alone does not tell them apart.

    Names with spaces are not quoted: but the line has twice the same name unless it is a rename, and then other lines
    have the names.
    """
    quoted = _QUOTED.match(rest)
    if quoted and rest[quoted.end() : quoted.end() + 1] == " ":
        return unquote(quoted.group()), unquote(rest[quoted.end() + 1 :])
    if rest.endswith('"') and (start := rest.find(' "')) > 0 and _QUOTED.fullmatch(rest[start + 1 :]):
        return rest[:start], unquote(rest[start + 1 :])
    middle = len(rest) // 2
    if rest[middle : middle + 1] == " ":
        old, new = rest[:middle], rest[middle + 1 :]
        if old == new or any(_prefixes(old, new)):
            return old, new
    spaces = [at for at, char in enumerate(rest) if char == " "]
    if len(spaces) == 1:
        return rest[: spaces[0]], rest[spaces[0] + 1 :]
    if len(spaces) > _MOST_SPACES:
        return None
    for at in spaces:
        # Prefixes of a team's own, of different lengths.
        old, new = rest[:at], rest[at + 1 :]
        if old.partition("/")[2] == new.partition("/")[2] != "":
            return old, new
    return None


def _prefixes(old: str, new: str) -> tuple[int, int]:
    """How many characters of two names of one pair are prefixes: `a/` and `b/`, or two folders that were compared."""
    if old[1:2] == new[1:2] == "/" and {old[0], new[0]} == {"a", "b"}:
        return 2, 2
    before, after = old.partition("/"), new.partition("/")
    if before[0] != after[0] and before[2] == after[2] != "":
        return len(before[0]) + 1, len(after[0]) + 1
    if old[1:2] == new[1:2] == "/" and old[0] != new[0] and {old[0], new[0]} <= _PREFIXES:
        return 2, 2
    return 0, 0


def strip_pair(old: str, new: str, git: tuple[str, str] | None = None) -> tuple[str, str]:
    """The names of a pair without their prefixes; `/dev/null` stays.

    Args:
        old: The old name as the line `---` has it.
        new: The new one.
        git: The names of the `diff --git` line above, which tell of prefixes where one side is `/dev/null`.
    """
    if DEV_NULL not in (old, new):
        cut = _prefixes(old, new)
        return old[cut[0] :], new[cut[1] :]
    if git is None:
        return old.removeprefix("a/"), new.removeprefix("b/")
    cut = _prefixes(*git)
    return (old[cut[0] :] if old == git[0] else old), (new[cut[1] :] if new == git[1] else new)


def split_pair(text: str, between: str) -> tuple[str, str]:
    """Two names with a word between them (` and `), which may be in the names, too: the cut that makes them a pair."""
    first, _, second = text.partition(between)
    at = -1
    for _ in range(_MOST_SPACES):
        at = text.find(between, at + 1)
        if at < 0:
            break
        old, new = text[:at], text[at + len(between) :]
        stripped = strip_pair(old, new)
        if stripped[0] == stripped[1] or DEV_NULL in stripped:
            return old, new
    return first, second or first

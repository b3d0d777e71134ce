"""Lines of YAML with comments, for configs that people edit."""

import re
from collections.abc import Iterable

import yaml

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
#: Column of the comments.
_COMMENTS = 43


def quoted(text: str) -> str:
    """A YAML text in double quotes, on one line."""
    dumped: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=2**31)
    return dumped.strip()


def word(key: str) -> str:
    """A key of an item: bare where YAML takes it as the same text."""
    return key if _PLAIN.fullmatch(key) and yaml.safe_load(key) == key else quoted(key)


def block(indent: int, *entries: tuple[str, str, str]) -> Iterable[str]:
    """Lines of `key: value  # comment`, the comments one below the other."""
    for key, value, comment in entries:
        line = f"{' ' * indent}{key}: {value}"
        yield f"{line:<{_COMMENTS}} # {comment}" if comment else line.rstrip()


def flag(value: bool) -> str:
    """A truth value as YAML writes it."""
    return "true" if value else "false"

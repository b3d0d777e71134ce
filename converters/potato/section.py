"""Typed access to a config: every getter notes what is wrong and goes on, so that all problems come out at once."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from potato_bridge.converters.potato.vocabulary import CSS_COLORS
from potato_bridge.converters.potato.yaml_marks import Document, KeyPath
from potato_bridge.notices import Notices

_HEX = frozenset("0123456789abcdefABCDEF")
_KINDS = {
    dict: "a mapping",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "nothing",
}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`Did you mean 'x'?`, or nothing where no known word is near."""
    originals = {name.lower(): name for name in known}
    # In a short word one swap of letters is a large part of it.
    near = difflib.get_close_matches(word.lower(), originals, 1, 0.6 if len(word) <= 4 else 0.7)
    return f"Did you mean {originals[near[0]]!r}?" if near else ""


def show(value: Any) -> str:
    """A found value for a message: what it is, and the value itself where that is short."""
    if isinstance(value, dict | list) or value is None:
        return _KINDS[type(value)]
    text = ("true" if value else "false") if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


@dataclass
class Section:
    """One mapping of a config.

    Attributes:
        path: Where it stands.
        used: The keys that were asked for.
    """

    document: Document
    notices: Notices
    path: KeyPath
    values: dict[str, Any]
    used: set[str] = field(default_factory=set)

    def at(self, key: str) -> KeyPath:
        """The path of a key of this section."""
        return (*self.path, key)

    def problem(self, key: str, message: str, hint: str = "") -> None:
        """Notes a problem at a key (at the section, where the key is missing)."""
        self.document.problem(self.at(key), message, hint)

    def has(self, key: str) -> bool:
        """Whether a key is there with a value."""
        return self.values.get(key) is not None

    def take(self, key: str) -> Any:
        """The value as it is, or None."""
        self.used.add(key)
        return self.values.get(key)

    def missing(self, key: str, example: str) -> None:
        """Notes that a required key is missing; a near misspelling of it is named."""
        near = difflib.get_close_matches(key, [name for name in self.values if name not in self.used], 1, 0.75)
        hint = f"Add it: {example}"
        if near:
            line = self.document.line(self.at(near[0]))
            hint = f"Did you mean {key!r} where line {line} has {near[0]!r}?"
        found = "is empty" if key in self.values else "is missing"
        self.problem(key, f"{key} {found}", hint)

    def text(self, key: str, default: str = "", *, empty: bool = False) -> str:
        """Text. A number is taken as written (`+1`, `2024`); so are `yes`, `no`, `on` and `off`."""
        return self.scalar(self.at(key), self.take(key), default, empty=empty)

    def scalar(self, path: KeyPath, value: Any, default: str = "", *, empty: bool = False) -> str:
        """Text at any path: see `text`."""
        if value is None:
            return default
        if isinstance(value, bool) and self.document.raw.get(path, "").lower() in ("true", "false"):
            self.document.problem(path, f"expected text, found the boolean {show(value)}", "Put it in quotes.")
            return default
        if isinstance(value, bool | int | float):
            value = self.document.raw.get(path, str(value))
        if not isinstance(value, str):
            self.document.problem(path, f"expected text, found {show(value)}")
            return default
        if not value.strip() and not empty:
            self.document.problem(path, "expected text, found an empty one", "Remove the key, or give it a value.")
            return default
        return value

    def optional(self, key: str) -> str | None:
        """Text, or None where the key is missing or empty."""
        return self.text(key) or None

    def required(self, key: str, example: str) -> str:
        """Text that must be there."""
        if not self.has(key):
            self.take(key)
            self.missing(key, example)
            return ""
        return self.text(key)

    def flag(self, key: str, default: bool) -> bool:
        """A boolean."""
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.problem(key, f"expected true or false, found {show(value)}")
            return default
        return value

    def whole(self, key: str, default: int, *, least: int) -> int:
        """A whole number of at least `least`."""
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            self.problem(key, f"expected a whole number of at least {least}, found {show(value)}")
            return default
        return value

    def number(self, key: str) -> float | None:
        """A number, or None (a missing one is no problem here)."""
        value = self.take(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            self.problem(key, f"expected a number, found {show(value)}")
            return None
        return float(value)

    def choice(self, key: str, default: str, allowed: Mapping[str, str]) -> str:
        """One of the words that `allowed` maps to their meaning."""
        value = self.take(key)
        if value is None:
            return default
        if isinstance(value, str) and value in allowed:
            return allowed[value]
        words = ", ".join(dict.fromkeys(allowed.values()))
        hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
        self.problem(key, f"expected one of {words}, found {show(value)}", hint)
        return default

    def color(self, key: str, default: str) -> str:
        """A CSS colour: hex of 3, 4, 6 or 8 digits, or a name."""
        value = self.take(key)
        if key in self.values and value is None:
            hint = "An unquoted '#' starts a comment in YAML: put the colour in quotes, like \"#22c55e\"."
            self.problem(key, "expected a CSS colour, found nothing", hint)
            return default
        if value is None:
            return default
        written = value if isinstance(value, str) else self.document.raw.get(self.at(key), "")
        if isinstance(value, str):
            digits = value[1:]
            if value.startswith("#") and len(digits) in (3, 4, 6, 8) and set(digits) <= _HEX:
                return value
            if value.lower() in CSS_COLORS:
                return value
        hint = did_you_mean(written, CSS_COLORS)
        if len(written) in (3, 4, 6, 8) and set(written) <= _HEX:
            hint = f'Did you mean "#{written}"?'
        message = 'expected a CSS colour, like "#ef4444" (3, 4, 6 or 8 hex digits) or "crimson"'
        self.problem(key, f"{message}, found {show(value)}", hint)
        return default

    def section(self, key: str) -> "Section | None":
        """A mapping below this one; None where it is missing or empty."""
        value = self.take(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.problem(key, f"expected a mapping, found {show(value)}")
            return None
        return Section(self.document, self.notices, self.at(key), value)

    def entries(self, key: str) -> list[Any]:
        """A list; empty where it is missing."""
        value = self.take(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.problem(key, f"expected a list, found {show(value)}", "Start each entry with '- '.")
            return []
        return value

    def texts(self, key: str) -> list[str]:
        """A list of different texts."""
        seen: list[str] = []
        for i, entry in enumerate(self.entries(key)):
            path = (*self.at(key), i)
            if entry is None:
                self.document.problem(path, "expected text, found nothing")
            elif text := self.scalar(path, entry):
                if text in seen:
                    self.document.problem(path, f"{text!r} stands twice in this list", "Remove one of them.")
                seen.append(text)
        return seen

    def sections(self, key: str) -> Iterator["Section"]:
        """The mappings of a list; an entry of another kind is a problem."""
        for i, entry in enumerate(self.entries(key)):
            path = (*self.at(key), i)
            if isinstance(entry, dict):
                yield Section(self.document, self.notices, path, entry)
            else:
                self.document.problem(path, f"expected a mapping, found {show(entry)}")

    def notice(self, code: str, key: str, message: str) -> None:
        """Adds a notice at a key."""
        self.notices.add(code, message, self.document.where(self.at(key)))

    def unread(self, known: Iterable[str] = (), silent: Iterable[str] = (), what: str = "") -> None:
        """Gives notices for the keys that nobody asked for.

        Args:
            known: Keys that Potato knows and the bridge does not use: notice `unused-key`.
            silent: Keys that Potato knows and that change nothing outside of Potato's own server.
            what: What the section is, for the message.
        """
        known, silent = set(known), set(silent)
        suffix = f" of {what}" if what else ""
        for key in self.values:
            if key in self.used or key in silent:
                continue
            if key in known:
                self.notice("unused-key", key, f"{key!r}{suffix} is Potato's; the bridge does not use it")
                continue
            hint = did_you_mean(key, self.used | known | silent)
            self.notice("unknown-key", key, f"unknown key {key!r}{suffix} is ignored.{' ' + hint if hint else ''}")

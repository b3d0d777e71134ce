"""Notices: what could not be expressed, where, and how often. Nothing is lost in silence.

A writer is handed a `Notices` and adds to it. Equal notices are counted, not repeated, so that ten thousand items
with one unknown field give one line. What happens then is the caller's policy, the same in the library and the CLI.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from potato_bridge.errors import LossError, Problem


class Policy(StrEnum):
    """What to do about notices."""

    IGNORE = "ignore"
    WARN = "warn"
    RAISE = "raise"


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that the user should know.

    Attributes:
        code: Stable name in kebab-case, e.g. `unknown-key`; documented in docs/notices.md.
        message: One sentence: what was found, and what becomes of it.
        where: First place it was seen: `config.yaml:12 annotation_schemes[0]`, or `item trace_1`.
        count: How often it was seen.
    """

    code: str
    message: str
    where: str = ""
    count: int = 1

    def __str__(self) -> str:
        """`where: message [code]`, with the count where it is more than one."""
        text = f"{self.where}: {self.message}" if self.where else self.message
        times = f", {self.count} times" if self.count > 1 else ""
        return f"{text} [{self.code}{times}]"


class Notices:
    """Collects notices in the order in which they were first seen; equal (code, message) are counted."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Notice] = {}

    def add(self, code: str, message: str, where: str = "", count: int = 1) -> None:
        """Adds a notice, or counts it if one of the same code and message is there."""
        key = (code, message)
        old = self._seen.get(key)
        first = old.where if old else where
        self._seen[key] = Notice(code, message, first, count + (old.count if old else 0))

    def settle(self, policy: Policy) -> None:
        """Raises `LossError` if the policy is `raise` and there is any notice."""
        if policy is Policy.RAISE and self._seen:
            raise LossError(
                f"{len(self._seen)} notice(s), and the policy is 'raise'",
                problems=[Problem(str(notice)) for notice in self],
                hint="Use --notices warn to go on all the same.",
            )

    def __iter__(self) -> Iterator[Notice]:
        """The notices, first seen first."""
        return iter(self._seen.values())

    def __len__(self) -> int:
        """How many different notices there are."""
        return len(self._seen)

    def __bool__(self) -> bool:
        """Whether there is any notice."""
        return bool(self._seen)

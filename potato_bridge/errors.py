"""Every error that potato-bridge raises on purpose, and the exit code that the CLI gives for it.

One root class, so that a caller can catch all of them; a new kind of failure gets a class here, never a bare
`RuntimeError`. A problem in a user's file is a `Problem`; an error carries as many of them as were found.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: How many problems an error prints before it says how many more there are.
SHOWN_PROBLEMS = 50


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong at one place of one file.

    Attributes:
        message: What was found and what was expected, in one sentence.
        file: The file, as the user named it; empty where the input is no file.
        line: 1-based line in the file; None where unknown (a Parquet row, a directory).
        path: Key path in a config (`annotation_schemes[2].labels`) or a field of an item; empty at the root.
        hint: What to do about it; empty where the message says it all.
    """

    message: str
    file: str = ""
    line: int | None = None
    path: str = ""
    hint: str = ""

    def __str__(self) -> str:
        """`file:line key.path: message. hint`, leaving out what is unknown."""
        place = self.file + (f":{self.line}" if self.line is not None else "")
        where = " ".join(part for part in (place, self.path) if part)
        text = f"{where}: {self.message}" if where else self.message
        return f"{text}. {self.hint}" if self.hint else text


class BridgeError(Exception):
    """The root of all errors raised on purpose.

    Args:
        message: One sentence for the user.
        hint: What to do about it.
        problems: The single findings, where there are several.
    """

    #: What the CLI exits with.
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "", problems: Iterable[Problem] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.problems: Sequence[Problem] = tuple(problems)

    def __str__(self) -> str:
        """The message, the problems (at most `SHOWN_PROBLEMS`), and the hint, a line each."""
        lines = [self.message]
        lines += [f"  {problem}" for problem in self.problems[:SHOWN_PROBLEMS]]
        if len(self.problems) > SHOWN_PROBLEMS:
            lines.append(f"  … and {len(self.problems) - SHOWN_PROBLEMS} more")
        if self.hint:
            lines.append(self.hint)
        return "\n".join(lines)


class UsageError(BridgeError):
    """The command line does not make sense: an option is missing, unknown or contradicts another."""

    exit_code = 2


class InputError(BridgeError):
    """A file of the user (config, items, records, template, settings) is not as it must be."""

    exit_code = 3


class RemoteError(BridgeError):
    """A server could not be reached, refused a request, or answered something that makes no sense."""

    exit_code = 4


class OutcomeUnknownError(RemoteError):
    """A request that writes got no answer (time-out, cut connection, 502, 504): it may have been carried out."""


class AuthError(RemoteError):
    """The server does not accept the credentials."""

    exit_code = 5


class LossError(BridgeError):
    """Something would be lost, and the caller asked for that to be an error (`--notices raise`)."""

    exit_code = 6


class StateError(BridgeError):
    """The local state (ledger, records file) is damaged, newer than this version, or in use."""

    exit_code = 7

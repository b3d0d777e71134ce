"""What a push is going to send, on disk: nothing is sent before every item is known to be right, and none is kept."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Generic, Self, TypeVar

from potato_bridge.errors import StateError
from potato_bridge.sync.plan import Operation

Op = TypeVar("Op", bound=Operation)


class Outbox(Generic[Op]):
    """Tasks as JSON, in the order of the items, each with what is to be done with it.

    The file has no name, or goes with its last handle: nothing of it stays, however the run ends.

    Args:
        folder: Where the file is. Not the system's own folder for such files, which may be in memory.

    Raises:
        StateError: The folder cannot be written to, or is full.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._operations: list[Op] = []
        try:
            self._file = tempfile.TemporaryFile(dir=folder)
        except OSError as error:
            raise self._failure(error) from error

    def __enter__(self) -> Self:
        """It is open already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Forgets the tasks."""
        # On a full disk closing fails, too: what could not be written is still in the buffer.
        with suppress(OSError):
            self._file.close()

    def add(self, operation: Op, body: bytes) -> None:
        """Takes one more task."""
        self._operations.append(operation)
        try:
            # JSON as we write it has no line break.
            self._file.write(body + b"\n")
        except OSError as error:
            raise self._failure(error) from error

    def __iter__(self) -> Iterator[tuple[Op, bytes]]:
        """The tasks, in the order in which they came."""
        try:
            self._file.seek(0)
        except OSError as error:  # What is in the buffer is written first.
            raise self._failure(error) from error
        for operation, line in zip(self._operations, self._file, strict=True):
            yield operation, line[:-1]

    def _failure(self, error: OSError) -> StateError:
        return StateError(
            f"cannot write a temporary file into {self._folder}: {error.strerror}; nothing was sent",
            hint="It holds the new and changed tasks, as large as they are together.",
        )

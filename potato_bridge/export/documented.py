"""The files that Potato's documentation shows: JSON Lines, or one JSON array."""

from types import TracebackType
from typing import Any, BinaryIO

from potato_bridge.model import encode


class DocumentWriter:
    """Writes documents to an open file, one to a line; use it as a context manager.

    Args:
        as_array: One JSON array instead of JSON Lines; still a document to a line.
    """

    def __init__(self, file: BinaryIO, as_array: bool) -> None:
        self._file = file
        self._as_array = as_array
        self.written = 0

    def __enter__(self) -> "DocumentWriter":
        """The writer itself."""
        if self._as_array:
            self._file.write(b"[")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the array; after an error there is no file to end."""
        if self._as_array and kind is None:
            self._file.write(b"\n]\n" if self.written else b"]\n")

    def add(self, document: dict[str, Any]) -> None:
        """Writes one document."""
        if self._as_array:
            self._file.write(b",\n" if self.written else b"\n")
        self._file.write(encode(document))
        if not self._as_array:
            self._file.write(b"\n")
        self.written += 1

"""Values that wait on the disk until all records were seen."""

import tempfile
from typing import Any

import msgspec


class Spool:
    """A file without a name, which is gone when it is closed."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()
        self._end = 0

    def add(self, value: Any) -> int:
        """Writes a value; returns where it stands."""
        place, line = self._end, msgspec.json.encode(value) + b"\n"
        self._file.seek(place)
        self._file.write(line)
        self._end += len(line)
        return place

    def get(self, place: int) -> Any:
        """The value that stands there."""
        self._file.seek(place)
        return msgspec.json.decode(self._file.readline())

    def close(self) -> None:
        """Lets go of all values."""
        self._file.close()

"""Records by item, from a file of any length: where each record stands, never the records themselves.

Rows come in the order of the items, and a records file has its own order, so records are looked up by offset. A
hundred thousand of them cost some 20 MB.
"""

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from potato_bridge.errors import InputError, Problem, StateError
from potato_bridge.model import Record, decode
from potato_bridge.model.record import RECORD_SCHEMA

_BOM = b"\xef\xbb\xbf"

#: After so many bad lines reading stops: the file is no records file.
_MANY = 1000


class _Head(msgspec.Struct):
    """What the first pass needs of a line; msgspec checks the JSON of the rest and skips it."""

    id: str
    annotator: str
    annotations: msgspec.Raw
    schema: int = RECORD_SCHEMA


class RecordIndex:
    """Where the records of each item stand in a records file. Made by `open_index`."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._offsets = array("q")
        self._lines = array("q")
        # The records of one item form a chain in file order: _first[id], then _next of each; -1 ends it.
        # _last is read at the number of an item's first record only.
        self._next = array("q")
        self._last = array("q")
        self._first: dict[str, int] = {}
        self._read()

    def __len__(self) -> int:
        """How many records the file has."""
        return len(self._offsets)

    def take(self, item_id: str) -> list[Record]:
        """The records of one item in file order; empty where there are none, or where they were taken before."""
        number = self._first.pop(item_id, -1)
        records = []
        while number >= 0:
            records.append(self._record(number, item_id))
            number = self._next[number]
        return records

    def rest(self) -> Iterator[Record]:
        """The records never taken, in file order."""
        numbers = []
        for number in self._first.values():
            while number >= 0:
                numbers.append(number)
                number = self._next[number]
        for number in sorted(numbers):
            yield self._record(number, None)
        self._first.clear()

    def _read(self) -> None:
        head_of = msgspec.json.Decoder(_Head)
        problems: list[Problem] = []
        offset = 0
        for line_number, line in enumerate(self._file, start=1):
            start, offset = offset, offset + len(line)
            if line_number == 1 and line.startswith(_BOM):
                start, line = start + len(_BOM), line[len(_BOM) :]
            if not line.strip():
                continue
            try:
                head = head_of.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                problems.append(Problem(f"not a record: {error}", str(self._path), line_number))
                if len(problems) >= _MANY:
                    break
                continue
            if head.schema > RECORD_SCHEMA:
                raise StateError(
                    f"{self._path}:{line_number}: record schema {head.schema} is newer than this version reads "
                    f"({RECORD_SCHEMA})",
                    hint="Update potato-bridge.",
                )
            self._add(head.id, start, line_number)
        if problems:
            raise InputError(f"{self._path} has lines that are not records", problems=problems)

    def _add(self, item_id: str, offset: int, line_number: int) -> None:
        number = len(self._offsets)
        self._offsets.append(offset)
        self._lines.append(line_number)
        self._next.append(-1)
        self._last.append(number)
        first = self._first.setdefault(item_id, number)
        if first != number:
            self._next[self._last[first]] = number
            self._last[first] = number

    def _record(self, number: int, item_id: str | None) -> Record:
        place = f"{self._path}:{self._lines[number]}"
        self._file.seek(self._offsets[number])
        try:
            record = decode(Record, self._file.readline())
        except InputError as error:
            raise InputError(f"{place}: {error.message}") from error
        if item_id is not None and record.id != item_id:
            raise InputError(f"{place}: the file was changed while it was read", hint="Run the export again.")
        return record


@contextmanager
def open_index(path: Path) -> Iterator[RecordIndex]:
    """Reads where the records of a JSON Lines file stand; the file stays open for the length of the block.

    Raises:
        InputError: No such file, or lines that are not records: all of them, each with file and line.
        StateError: A record of a later schema.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder: expected a records file (JSON Lines), as `pull` writes it")
    try:
        file = open(path, "rb")
    except OSError as error:
        raise InputError(f"{path}: cannot read the records: {error.strerror}") from error
    with file:
        yield RecordIndex(path, file)

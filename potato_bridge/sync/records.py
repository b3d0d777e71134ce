"""Records files: JSON Lines, read one at a time and written so that a reader sees the old file or the new one."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from potato_bridge.errors import InputError, Problem, StateError
from potato_bridge.files import replacing
from potato_bridge.model import Record, decode, encode
from potato_bridge.model.record import RECORD_SCHEMA


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that hold something, with their 1-based numbers and without their ends.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if text := line.strip():
                    yield number, text
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def read_records(path: Path) -> Iterator[Record]:
    """The records of a file, one in memory at a time.

    Raises:
        InputError: The file cannot be read, or a line is no record; the message has the line's number.
        StateError: A line is of a newer version of the format.
    """
    for number, line in read_lines(path):
        try:
            record = decode(Record, line)
        except InputError as error:
            raise bad_line(path, number, error.message) from error
        check_schema(path, number, record.schema)
        yield record


def bad_line(path: Path, number: int, why: str) -> InputError:
    """The error for a line that is no record."""
    return InputError(f"{path} is not a records file", problems=[Problem(why, str(path), number)])


def check_schema(path: Path, number: int, schema: int) -> None:
    """Refuses what a newer version has written: this one would lose what it does not know how to keep.

    Raises:
        StateError: The line is of a newer version of the format.
    """
    if schema > RECORD_SCHEMA:
        raise StateError(
            f"{path}:{number}: the record is of a newer version of potato-bridge "
            f"(schema {schema}, here {RECORD_SCHEMA})",
            hint="Update potato-bridge.",
        )


def write_records(path: Path, records: Iterable[Record]) -> int:
    """Writes a file, or replaces it, at once; its folder is made if it is missing.

    Returns:
        How many records were written.
    """
    count = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        for record in records:
            file.write(encode(record) + b"\n")
            count += 1
    return count

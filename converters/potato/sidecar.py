"""What Potato's state cannot hold, kept beside it: `<annotation_output>/<user>/potato_bridge.json`.

Potato's page knows 1, 0 and -1. The whole record stands here, with what was written into the state for it, so that a
reader can tell what the page has changed since. Potato does not look at the file.
"""

from pathlib import Path
from typing import Any

import msgspec

from potato_bridge.errors import InputError, StateError
from potato_bridge.files import replacing
from potato_bridge.model import Node, Record, decode, from_builtins
from potato_bridge.model.record import Key

SIDECAR = "potato_bridge.json"

#: The sidecar schema that this version writes, and the newest that it reads.
SIDECAR_SCHEMA = 1


class Written(Node):
    """A record that was written into the state.

    Attributes:
        record: The record, whole, as plain JSON.
        marks: Scheme name to what the state holds if nobody has changed it: usually one value; while a write is under
            way the old one and the new one, so that a killed run is not taken for an edit. See
            `stored_marks.marks_of`.
    """

    record: dict[str, Any]
    marks: dict[str, list[Any]] = {}

    def to_record(self) -> Record:
        """The record, a fresh one each time."""
        return from_builtins(Record, self.record)


class Sidecar(Node):
    """The sidecar of one user; `annotator` is the name on the backend, of which the folder's name was made."""

    ALWAYS = frozenset({"schema"})

    annotator: str
    written: list[Written] = []
    schema: int = SIDECAR_SCHEMA

    def by_item(self) -> dict[str, Written]:
        """The records by item: Potato holds one answer of a user to an item."""
        return {str(written.record.get("id")): written for written in self.written}


class _Head(msgspec.Struct):
    annotator: str
    schema: int = SIDECAR_SCHEMA


def read_annotator(folder: Path) -> str | None:
    """Whose folder it is, by its sidecar; None where there is none.

    Raises:
        InputError: It is damaged.
        StateError: A newer version wrote it.
    """
    raw = _read(folder)
    return None if raw is None else _head(folder, raw).annotator


def read_sidecar(folder: Path) -> Sidecar | None:
    """The sidecar of a user's folder; None where there is none.

    Raises:
        InputError: It is damaged.
        StateError: A newer version wrote it.
    """
    raw = _read(folder)
    if raw is None:
        return None
    _head(folder, raw)
    try:
        sidecar = decode(Sidecar, raw)
        for written in sidecar.written:
            written.to_record()
    except InputError as error:
        raise _damaged(folder, error.message) from error
    return sidecar


def _read(folder: Path) -> bytes | None:
    path = folder / SIDECAR
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _head(folder: Path, raw: bytes) -> _Head:
    try:
        head = msgspec.json.decode(raw, type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged(folder, str(error)) from error
    if head.schema > SIDECAR_SCHEMA:
        raise StateError(
            f"{folder / SIDECAR}: of a newer version of potato-bridge (schema {head.schema}, here {SIDECAR_SCHEMA})",
            hint="Update potato-bridge.",
        )
    return head


def _damaged(folder: Path, why: str) -> InputError:
    hint = "Restore it, or remove it: the answers are then those of Potato's page, without scores and notes."
    return InputError(f"{folder / SIDECAR}: {why}", hint=hint)


def to_bytes(sidecar: Sidecar) -> bytes:
    """The file's content."""
    # Records are plain JSON already, and there may be thousands: the codec would walk through all of them.
    written = [{"record": each.record, "marks": each.marks, **each.unknown} for each in sidecar.written]
    whole = {"annotator": sidecar.annotator, "written": written, "schema": sidecar.schema, **sidecar.unknown}
    return msgspec.json.encode(whole) + b"\n"


def write_sidecar(folder: Path, data: bytes) -> None:
    """Replaces the sidecar of a user's folder, at once."""
    with replacing(folder / SIDECAR) as file:
        file.write(data)


def key_of(written: Written) -> Key:
    """The key of the record that was written."""
    return written.to_record().key

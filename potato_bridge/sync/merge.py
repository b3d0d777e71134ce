"""Downloaded records into the records file, line by line: neither is ever whole in memory.

* A line that is there keeps its place; a new one goes to the end, by task and annotation.
* A line of another source is not touched.
* A line that somebody edited stays as it is, and is reported: what the server has is still there, the edit is nowhere
  else. A full pull on demand takes the server's.
* An answer that was deleted on the server stays, as `withdrawn`. A draft that is gone goes.
"""

import hashlib
import os
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

import msgspec

from potato_bridge.errors import InputError
from potato_bridge.files import replacing
from potato_bridge.model import Record, decode, encode
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import Ref
from potato_bridge.sync.ledger import Stream
from potato_bridge.sync.records import bad_line, check_schema, read_lines
from potato_bridge.sync.spool import Fresh, Spool, line_hash

#: A draft is no answer yet: its `source.annotation` is this and the number of the draft, or of the answer that it may
#: become.
DRAFT = "draft-"
_CHUNK = 1 << 20


class _Source(msgspec.Struct):
    backend: str | None = None
    project: int | str | None = None
    task: int | str | None = None
    annotation: int | str | None = None


class _Head(msgspec.Struct):
    """As much of a record as the merge looks at."""

    id: str
    annotator: str
    status: str = "submitted"
    source: _Source | None = None
    schema: int = 1


@dataclass
class Merged:
    """What became of the lines of the project. `edited`: lines that were changed by hand and stay so."""

    new: int = 0
    changed: int = 0
    withdrawn: int = 0
    edited: int = 0
    drafts_gone: int = 0


@dataclass(frozen=True, slots=True)
class FileState:
    """Tells whether a file is the one that was written: size and time, and where they differ the hash."""

    size: int
    mtime_ns: int
    sha256: str


def file_state(path: Path, stream: Stream) -> FileState | None:
    """The state of a records file; None where there is none. The hash is only computed where it is in question.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        found = os.stat(path)
        if stream.sha256 and (found.st_size, found.st_mtime_ns) == (stream.size, stream.mtime_ns):
            return FileState(found.st_size, found.st_mtime_ns, stream.sha256)
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        return FileState(found.st_size, found.st_mtime_ns, digest.hexdigest())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def check_file(path: Path) -> None:
    """Finds what is wrong with a records file before anything is downloaded.

    Raises:
        InputError: A line is no record.
        StateError: A line is of a newer version.
    """
    for number, line in read_lines(path):
        _head(path, number, line)


class Merge:
    """Merges the downloads of a pull into a file.

    Args:
        spool: The downloads.
        backend: The name of the backend.
        project_id: The project on the server whose lines are ours.
        earlier: Projects that it has taken the place of: their lines give way to its answers.
        notices: Gets `local-edit-kept`, and `not-on-server`.
        edited: The file is not the one that the last pull wrote.
        lost: The ledger knows nothing of this project and file: a line that the server lacks may be of another server.
        overwrite: The server's answers take the place of edited lines.
        drafts: The downloads hold all drafts there are.
    """

    def __init__(
        self,
        spool: Spool,
        backend: str,
        project_id: Ref,
        notices: Notices,
        *,
        edited: bool = False,
        lost: bool = False,
        overwrite: bool = False,
        drafts: bool = False,
        earlier: Container[Ref] = frozenset(),
    ) -> None:
        self.result = Merged()
        self._spool = spool
        self._backend = backend
        self._project_id = project_id
        self._earlier = earlier
        self._notices = notices
        self._edited = edited
        self._lost = lost
        self._overwrite = overwrite
        self._drafts = drafts

    def into(self, path: Path) -> FileState:
        """Writes the merged file in the place of the old one, at once."""
        digest = hashlib.sha256()
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as out:

            def write(line: bytes) -> None:
                out.write(line + b"\n")
                digest.update(line + b"\n")

            if path.exists():
                for number, line in read_lines(path):
                    kept = self._line(path, number, line)
                    if kept is not None:
                        write(kept)
            for line in self._spool.unplaced():
                self.result.new += 1
                write(line)
        written = os.stat(path)
        return FileState(written.st_size, written.st_mtime_ns, digest.hexdigest())

    def _line(self, path: Path, number: int, line: bytes) -> bytes | None:
        head = _head(path, number, line)
        source = head.source
        if source is None or source.backend != self._backend or source.project is None:
            return line
        if source.project != self._project_id:
            return self._of_earlier(line, head) if source.project in self._earlier else line
        fresh = self._spool.take(str(source.annotation), head.id)
        where = f"{path}:{number} {head.id}"
        if is_draft(source.annotation):
            return self._draft(line, fresh, str(source.annotation), source.task)
        if fresh is not None:
            return self._replaced(line, fresh, head, source.annotation, where)
        if head.status == "withdrawn" or not self._is_gone(source, where):
            return line
        self.result.withdrawn += 1
        record = decode(Record, line)
        record.status = "withdrawn"
        return encode(record)

    def _replaced(self, line: bytes, fresh: Fresh, head: _Head, annotation: int | str | None, where: str) -> bytes:
        if line == fresh.line:
            return line
        if self._edited and not self._overwrite and head.status != "withdrawn" and annotation is not None:
            mine, known = line_hash(line), self._spool.known_hash(annotation)
            if mine == fresh.hash:
                return line
            by_hand = mine != known if known is not None else self._same_time(line, fresh)
            if by_hand:
                self.result.edited += 1
                self._notices.add(
                    "local-edit-kept",
                    "records were edited in the file and differ from the server's answers; they stay as they are "
                    "(--full takes the server's)",
                    where,
                )
                return line
        self.result.changed += 1
        return fresh.line

    def _of_earlier(self, line: bytes, head: _Head) -> bytes | None:
        """A line of a project that this one has taken the place of: the answer has moved."""
        fresh = self._spool.take_moved(head.id, head.annotator)
        if fresh is None:
            return line
        self.result.changed += 1
        return fresh.line

    @staticmethod
    def _same_time(line: bytes, fresh: Fresh) -> bool:
        # The ledger is lost: where the answer did not change on the server, the line was changed here.
        return decode(Record, line).updated_at == decode(Record, fresh.line).updated_at

    def _is_gone(self, source: _Source, where: str) -> bool:
        if not self._spool.full:
            return source.task is not None and self._spool.is_visited(source.task)
        if source.annotation is not None and (not self._lost or self._spool.known_hash(source.annotation) is not None):
            return True
        self._notices.add(
            "not-on-server", "records of this project are not on the server, and no pull of here made them; kept", where
        )
        return False

    def _draft(self, line: bytes, fresh: Fresh | None, ref: str, task: int | str | None) -> bytes | None:
        if fresh is not None:
            self.result.changed += line != fresh.line
            return fresh.line
        unseen = task is None or not self._spool.is_visited(task)
        if not self._drafts and (unseen or self._spool.is_live_draft(ref)):
            return line
        self.result.drafts_gone += 1
        return None


def is_draft(annotation: int | str | None) -> bool:
    """Whether a record's `source.annotation` is that of a draft."""
    return isinstance(annotation, str) and annotation.startswith(DRAFT)


def _head(path: Path, number: int, line: bytes) -> _Head:
    try:
        head = msgspec.json.decode(line, type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise bad_line(path, number, str(error)) from error
    check_schema(path, number, head.schema)
    return head

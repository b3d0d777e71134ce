"""The ledger: what this machine remembers of its servers. SQLite, in `.potato-bridge/` beside the config.

It may be deleted at any time: a project is found again by the marker in its description, and the next pull reads
everything. What it saves is time, and it is how a run that was killed is noticed by the next one.
"""

import contextlib
import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from potato_bridge.errors import StateError
from potato_bridge.files import lock
from potato_bridge.remotes.base import Ref

FOLDER = ".potato-bridge"
SCHEMA = 1
_BUSY_SECONDS = 10.0
# Ids of projects, tasks and answers are numbers, or texts where the server has such: a column of SQLite keeps both.
_TABLES = """
CREATE TABLE projects (url TEXT, config TEXT, project INTEGER NOT NULL, PRIMARY KEY (url, config)) WITHOUT ROWID;
-- What a server made of a text that we sent: it cleans HTML, so what it shows is not what was sent.
CREATE TABLE texts (
    url TEXT, project INTEGER, field TEXT, sent TEXT NOT NULL, stored TEXT NOT NULL, PRIMARY KEY (url, project, field)
) WITHOUT ROWID;
-- Written before a batch is sent and deleted when its outcome is known: one that is left over belongs to a killed run.
CREATE TABLE intents (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, project INTEGER NOT NULL, sent_at REAL NOT NULL, after INTEGER NOT NULL,
    markers TEXT NOT NULL
);
-- One pull target: a project of a server, and a records file with its state after the last pull.
CREATE TABLE streams (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, project INTEGER NOT NULL, records TEXT NOT NULL,
    cursor TEXT NOT NULL DEFAULT '', size INTEGER, mtime_ns INTEGER, sha256 TEXT, UNIQUE (url, project, records)
);
CREATE TABLE tasks (
    stream INTEGER, task INTEGER, updated_at TEXT NOT NULL, PRIMARY KEY (stream, task)
) WITHOUT ROWID;
-- The answers on the server, as they were pulled; `hash` of the record's line, NULL where the task is not ours.
CREATE TABLE answers (
    stream INTEGER, answer INTEGER, task INTEGER NOT NULL, hash BLOB, annotator TEXT NOT NULL, status TEXT NOT NULL,
    PRIMARY KEY (stream, answer)
) WITHOUT ROWID;
CREATE INDEX answers_of_task ON answers (stream, task);
"""


@dataclass(frozen=True, slots=True)
class Intent:
    """A batch that was sent, and whose outcome was not seen.

    Attributes:
        sent_at: Seconds since 1970, by our clock.
        after: The greatest task id that was there before: the batch's tasks have greater ones.
        markers: The ids of its items.
    """

    intent_id: int
    sent_at: float
    after: int
    markers: list[str]


@dataclass(frozen=True, slots=True)
class Stream:
    """A pull target. `cursor`: the newest `updated_at` seen, empty before the first pull. `sha256` of the file."""

    stream_id: int
    cursor: str
    size: int | None
    mtime_ns: int | None
    sha256: str | None


class Ledger:
    """The open ledger.

    Args:
        folder: The folder that holds it, `.potato-bridge`; made (for the owner only) where it is to be written.
        write: False for what only looks: nothing is made or locked, and where there is no ledger an empty one in
            memory stands in.

    Raises:
        StateError: Another run is at work, the file is damaged, or it is of a newer version.
    """

    def __init__(self, folder: Path, *, write: bool = True) -> None:
        self.folder = folder.absolute()
        self.path = self.folder / "ledger.sqlite"
        self._lock: IO[bytes] | None = None
        target = str(self.path) if write or self.path.exists() else ":memory:"
        if write:
            self._make_folder()
            self._lock = _locked(self.folder / "lock")
        try:
            self.db = self._open(target)
        except BaseException:
            self._unlock()
            raise

    @classmethod
    def beside(cls, config: Path, *, write: bool = True) -> Self:
        """The ledger of a config file: in `.potato-bridge` beside it."""
        return cls(config.absolute().parent / FOLDER, write=write)

    def __enter__(self) -> Self:
        """The ledger is open already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def close(self) -> None:
        """Closes the file and lets the next run in."""
        self.db.close()
        self._unlock()

    def project(self, url: str, config: str) -> Ref | None:
        """The project that a config was pushed to on a server, or None."""
        row = self.db.execute("SELECT project FROM projects WHERE url = ? AND config = ?", (url, config)).fetchone()
        return None if row is None else row[0]

    def set_project(self, url: str, config: str, project: Ref) -> None:
        """Remembers the project of a config."""
        with self.db:
            self.db.execute("INSERT OR REPLACE INTO projects VALUES (?, ?, ?)", (url, config, project))

    def stored_as(self, url: str, project: int, field: str, text: str) -> str | None:
        """What the server made of this very text when it was last sent as this field, or None."""
        query = "SELECT stored FROM texts WHERE url = ? AND project = ? AND field = ? AND sent = ?"
        row = self.db.execute(query, (url, project, field, _digest(text))).fetchone()
        return None if row is None else str(row[0])

    def set_stored(self, url: str, project: int, field: str, text: str, stored: str) -> None:
        """Remembers what a server made of a text."""
        with self.db:
            row = (url, project, field, _digest(text), stored)
            self.db.execute("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?, ?)", row)

    def begin(self, url: str, project: int, after: int, markers: Sequence[str]) -> int:
        """Notes that a batch is about to be sent; returns the intent's number."""
        insert = "INSERT INTO intents (url, project, sent_at, after, markers) VALUES (?, ?, ?, ?, ?)"
        with self.db:
            added = self.db.execute(insert, (url, project, time.time(), after, json.dumps(list(markers))))
        assert added.lastrowid is not None
        return added.lastrowid

    def end(self, intent_id: int) -> None:
        """The outcome of a batch is known."""
        with self.db:
            self.db.execute("DELETE FROM intents WHERE id = ?", (intent_id,))

    def intents(self, url: str, project: int) -> list[Intent]:
        """The batches whose outcome nobody has seen, oldest first."""
        query = "SELECT id, sent_at, after, markers FROM intents WHERE url = ? AND project = ? ORDER BY id"
        rows = self.db.execute(query, (url, project))
        return [Intent(row[0], row[1], row[2], json.loads(row[3])) for row in rows]

    def stream(self, url: str, project: Ref, records: Path) -> Stream:
        """The pull target of a project and a records file; made if new (number 0 where nothing may be written)."""
        # Relative to the config's folder, which may be moved as a whole.
        home, name = self.folder.parent, records.absolute()
        text = name.relative_to(home).as_posix() if name.is_relative_to(home) else name.as_posix()
        row = (url, project, text)
        query = "SELECT id, cursor, size, mtime_ns, sha256 FROM streams WHERE url = ? AND project = ? AND records = ?"
        found = self.db.execute(query, row).fetchone()
        if found is not None:
            return Stream(*found)
        if self._lock is None:
            return Stream(0, "", None, None, None)
        with self.db:
            added = self.db.execute("INSERT INTO streams (url, project, records) VALUES (?, ?, ?)", row)
        assert added.lastrowid is not None
        return Stream(added.lastrowid, "", None, None, None)

    def forget_counts(self, url: str, project: Ref) -> None:
        """The items on the server change: the next pull has to look, although no answer has come.

        Only of cursors that have counts behind the time; another's server tells a changed item by its time.
        """
        with self.db:
            self.db.execute(
                "UPDATE streams SET cursor = substr(cursor, 1, instr(cursor, ' ')) || 'pushed' "
                "WHERE url = ? AND project = ? AND instr(cursor, ' ') > 0",
                (url, project),
            )

    def annotators(self, stream_id: int) -> Iterator[tuple[str, str, int]]:
        """(annotator, status, how many) of the answers that were pulled; those to foreign tasks left out."""
        yield from self.db.execute(
            "SELECT annotator, status, count(*) FROM answers WHERE stream = ? AND hash IS NOT NULL "
            "GROUP BY annotator, status ORDER BY annotator, status",
            (stream_id,),
        )

    def _make_folder(self) -> None:
        try:
            if not self.folder.exists():
                self.folder.mkdir(mode=0o700, parents=True)
                (self.folder / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise StateError(
                f"cannot make {self.folder}: {error.strerror}", hint="The folder of the config must be writable."
            ) from error

    def _open(self, target: str) -> sqlite3.Connection:
        db = sqlite3.connect(target, timeout=_BUSY_SECONDS)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            # Lasting a cut of the power would only save a little reading: the server and the file decide.
            db.execute("PRAGMA synchronous = NORMAL")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA:
                raise StateError(
                    f"{self.path} is of a newer version of potato-bridge (schema {version}, here {SCHEMA})",
                    hint="Update potato-bridge.",
                )
            if version == 0:
                with db:
                    db.executescript(f"BEGIN;{_TABLES}PRAGMA user_version = {SCHEMA};COMMIT;")
            return db
        except sqlite3.DatabaseError as error:
            db.close()
            raise StateError(
                f"{self.path} cannot be read: {error}",
                hint="Delete it: the project is found again by its marker, and the next pull reads everything.",
            ) from error
        except BaseException:
            db.close()
            raise

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _locked(path: Path) -> IO[bytes]:
    try:
        file = lock(path)
    except OSError as error:
        raise StateError(f"cannot write {path}: {error.strerror}") from error
    if file is not None:
        return file
    owner = ""
    with contextlib.suppress(OSError):
        owner = path.read_bytes()[:20].decode("ascii", "replace").strip()
    raise StateError(
        f"another potato-bridge{f' (process {owner})' if owner.isdigit() else ''} is at work in {path.parent}",
        hint="Wait until it has ended.",
    )

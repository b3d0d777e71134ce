"""What a pull has downloaded, on disk until it is merged: in temporary tables of the ledger's connection.

So a pull holds one portion of tasks in memory, however many answers there are; and what the ledger knows changes in
one transaction, after the records file is in place.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from potato_bridge.model import Record, encode
from potato_bridge.remotes.base import Ref
from potato_bridge.sync.ledger import Ledger, Stream

_TABLES = """
-- Ids of tasks and answers are numbers or texts, as the server has them; `place` is the order in which they came.
CREATE TEMP TABLE spool (
    ref TEXT PRIMARY KEY, answer, task NOT NULL, item TEXT, line BLOB, hash BLOB,
    annotator TEXT NOT NULL, status TEXT NOT NULL, used INTEGER NOT NULL DEFAULT 0, place INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX temp.spool_of_task ON spool (task);
CREATE TEMP TABLE visited (task PRIMARY KEY NOT NULL, updated_at TEXT NOT NULL) WITHOUT ROWID;
CREATE TEMP TABLE skipped (task PRIMARY KEY NOT NULL, updated_at TEXT NOT NULL) WITHOUT ROWID;
CREATE TEMP TABLE live_drafts (ref TEXT PRIMARY KEY, task NOT NULL) WITHOUT ROWID;
"""
_DROP = "".join(f"DROP TABLE IF EXISTS temp.{table};" for table in ("spool", "visited", "skipped", "live_drafts"))


@dataclass(frozen=True, slots=True)
class Fresh:
    """A downloaded record as it will stand in the file."""

    item: str
    line: bytes
    hash: bytes


def line_hash(line: bytes) -> bytes:
    """The same for two lines that say the same, however they are spaced and ordered."""
    canonical = msgspec.json.encode(msgspec.json.decode(line), order="deterministic")
    return hashlib.blake2b(canonical, digest_size=12).digest()


class Spool:
    """The downloads of one pull.

    Args:
        ledger: The ledger; open for writing.
        stream: The pull target.
        full: Everything is downloaded: what the ledger knows of the stream does not count.
    """

    def __init__(self, ledger: Ledger, stream: Stream, *, full: bool) -> None:
        self._db = ledger.db
        self._stream = stream.stream_id
        self.full = full
        self._placed = 0
        self._db.executescript(_DROP + _TABLES)

    def close(self) -> None:
        """Forgets the downloads."""
        self._db.executescript(_DROP)

    def is_current(self, task: Ref, updated_at: str) -> bool:
        """Whether the task was downloaded in this state, by this pull or an earlier one."""
        query = " UNION ALL ".join(
            f"SELECT 1 FROM {table} WHERE task = ?1 AND updated_at = ?2" for table in ("visited", "skipped")
        )
        if not self.full:
            query += " UNION ALL SELECT 1 FROM tasks WHERE stream = ?3 AND task = ?1 AND updated_at = ?2"
        values = (task, updated_at) if self.full else (task, updated_at, self._stream)
        return bool(self._db.execute(query, values).fetchone())

    def known_since(self, time: str) -> int:
        """How many tasks are known to have changed after a time (as `times.for_filter` gives it)."""
        query = "SELECT count(*) FROM tasks WHERE stream = ? AND updated_at > ?"
        return 0 if self.full else self._count(query, self._stream, time)

    def has_answers(self, task: Ref) -> bool:
        """Whether an earlier download found answers to the task."""
        for query, values in (
            ("SELECT 1 FROM spool WHERE task = ?", (task,)),
            ("SELECT 1 FROM answers WHERE stream = ? AND task = ?", (self._stream, task)),
        ):
            if self._db.execute(query, values).fetchone():
                return True
        return False

    def known_tasks(self) -> set[Ref]:
        """The tasks that an earlier pull found answers to."""
        if self.full:
            return set()
        return {
            row[0] for row in self._db.execute("SELECT DISTINCT task FROM answers WHERE stream = ?", (self._stream,))
        }

    def skip(self, task: Ref, updated_at: str) -> None:
        """A task need not be downloaded in this state."""
        self._db.execute("INSERT OR REPLACE INTO skipped VALUES (?, ?)", (task, updated_at))

    def visit(self, task: Ref, updated_at: str) -> None:
        """A task is downloaded: forgets what an earlier download of this pull gave."""
        if self._db.execute("INSERT OR IGNORE INTO visited VALUES (?, ?)", (task, updated_at)).rowcount:
            return
        self._db.execute("UPDATE visited SET updated_at = ? WHERE task = ?", (updated_at, task))
        self._db.execute("DELETE FROM spool WHERE task = ?", (task,))
        self._db.execute("DELETE FROM live_drafts WHERE task = ?", (task,))

    def add(self, record: Record) -> None:
        """Takes a record of the task that was visited last."""
        assert record.source is not None
        source, line = record.source, encode(record)
        answer = None if record.status == "draft" else source.annotation
        row = (str(source.annotation), answer, source.task, record.id, line, line_hash(line))
        self._insert(*row, record.annotator, record.status)

    def add_foreign(self, answer: Ref, task: Ref) -> None:
        """Counts an answer that is not imported."""
        self._insert(str(answer), answer, task, None, None, None, "", "")

    def _insert(self, *row: object) -> None:
        insert = "INSERT INTO spool VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)"
        self._placed += 1
        self._db.execute(insert, (*row, self._placed))

    def add_live_draft(self, ref: str, task: Ref) -> None:
        """A draft is there, whether or not it was asked for."""
        self._db.execute("INSERT OR REPLACE INTO live_drafts VALUES (?, ?)", (ref, task))

    def is_live_draft(self, ref: str) -> bool:
        """Whether a downloaded task has the draft."""
        return bool(self._db.execute("SELECT 1 FROM live_drafts WHERE ref = ?", (ref,)).fetchone())

    def is_visited(self, task: Ref) -> bool:
        """Whether the task was downloaded."""
        return bool(self._db.execute("SELECT 1 FROM visited WHERE task = ?", (task,)).fetchone())

    def visits(self) -> int:
        """How many tasks were downloaded."""
        return self._count("SELECT count(*) FROM visited")

    def answers(self) -> int:
        """How many answers the server has, as far as it was read: by this pull, or unchanged since an earlier one."""
        new = self._count("SELECT count(*) FROM spool WHERE answer IS NOT NULL")
        if self.full:
            return new
        query = "SELECT count(*) FROM answers WHERE stream = ? AND task NOT IN (SELECT task FROM visited)"
        return new + self._count(query, self._stream)

    def foreign_tasks(self) -> int:
        """How many foreign tasks have answers."""
        query = "SELECT task FROM spool WHERE line IS NULL"
        if not self.full:
            query += (
                " UNION SELECT task FROM answers WHERE stream = ? AND hash IS NULL "
                "AND task NOT IN (SELECT task FROM visited)"
            )
            return self._count(f"SELECT count(*) FROM ({query})", self._stream)
        return self._count(f"SELECT count(DISTINCT task) FROM ({query})")

    def take(self, ref: str, item: str) -> Fresh | None:
        """The download that a line of the file stands for, and marks it as placed; None where there is none."""
        query = "SELECT line, hash FROM spool WHERE ref = ? AND item = ? AND line IS NOT NULL"
        row = self._db.execute(query, (ref, item)).fetchone()
        if row is None:
            return None
        self._db.execute("UPDATE spool SET used = used + 1 WHERE ref = ?", (ref,))
        return Fresh(item, row[0], row[1])

    def take_moved(self, item: str, annotator: str) -> Fresh | None:
        """The download that a line of an earlier project stands for: the same annotator's, to the same item."""
        query = "SELECT ref FROM spool WHERE item = ? AND annotator = ? AND line IS NOT NULL AND used = 0"
        row = self._db.execute(query, (item, annotator)).fetchone()
        return self.take(row[0], item) if row else None

    def unplaced(self) -> Iterator[bytes]:
        """The lines that the file does not have yet, by task and annotation, a task's drafts last."""
        query = (
            "SELECT line FROM spool WHERE line IS NOT NULL AND used = 0 "
            "ORDER BY iif(typeof(task) = 'text', place, task), answer IS NULL, answer, length(ref), ref"
        )
        for (line,) in self._db.execute(query):
            yield line

    def known_hash(self, answer: Ref) -> bytes | None:
        """The hash of the line that an earlier pull made of an answer; None where it made none."""
        query = "SELECT hash FROM answers WHERE stream = ? AND answer = ?"
        row = self._db.execute(query, (self._stream, answer)).fetchone()
        return row[0] if row else None

    def commit(self, cursor: str, size: int, mtime_ns: int, sha256: str) -> None:
        """The file is in place: what was downloaded is known from now on."""
        stream = self._stream
        with self._db:
            if self.full:
                self._db.execute("DELETE FROM tasks WHERE stream = ?", (stream,))
                self._db.execute("DELETE FROM answers WHERE stream = ?", (stream,))
            self._db.execute("DELETE FROM answers WHERE stream = ? AND task IN (SELECT task FROM visited)", (stream,))
            self._db.execute(
                "INSERT OR REPLACE INTO answers SELECT ?, answer, task, hash, annotator, status FROM spool "
                "WHERE answer IS NOT NULL",
                (stream,),
            )
            for table in ("skipped", "visited"):
                self._db.execute(f"INSERT OR REPLACE INTO tasks SELECT ?, task, updated_at FROM {table}", (stream,))
            update = "UPDATE streams SET cursor = ?, size = ?, mtime_ns = ?, sha256 = ? WHERE id = ?"
            self._db.execute(update, (cursor, size, mtime_ns, sha256, stream))

    def _count(self, query: str, *values: object) -> int:
        return int(self._db.execute(query, values).fetchone()[0])

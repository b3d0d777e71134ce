"""What a pull reads of Argilla: nothing where nothing was answered, else all records; those that changed are taken.

A record's own time does not move with its answers, and Argilla lists no records by the time of an answer. The data
set's `last_activity_at` does move, but not with answers that a program has logged: so the counts are compared, too.
"""

from collections.abc import Iterator

from potato_bridge.converters.argilla.fields import read_meta
from potato_bridge.converters.argilla.native.layout import present
from potato_bridge.converters.argilla.plan import Stored
from potato_bridge.errors import RemoteError
from potato_bridge.remotes.argilla import Argilla
from potato_bridge.remotes.argilla_values import Record
from potato_bridge.sync.argilla.answers import Group, Reader
from potato_bridge.sync.argilla.dataset import RemoteDataset
from potato_bridge.sync.progress import Progress
from potato_bridge.sync.spool import Spool


def count_answers(remote: Argilla, dataset_id: str) -> tuple[int, int, int]:
    """Answers, skips and drafts, as the server counts them."""
    counts = [c for user in remote.progress(dataset_id) for c in (user.completed, user.pending)]
    return sum(c.submitted for c in counts), sum(c.discarded for c in counts), sum(c.draft for c in counts)


class Reading:
    """Lists what there is and takes what changed into the spool; see `backend.Reading`."""

    def __init__(
        self, remote: Argilla, there: RemoteDataset, reader: Reader, *, drafts: bool, progress: Progress
    ) -> None:
        self._remote, self._there, self._reader = remote, there, reader
        self._drafts, self._progress = drafts, progress
        self.cursor = ""
        self.submitted = self.skipped = 0
        self._counted = self._seen = 0
        self._spool: Spool | None = None

    def begin(self, spool: Spool, cursor: str) -> None:
        """See `backend.Reading`."""
        self._spool, self.cursor = spool, cursor

    def round(self, *, first: bool) -> int:
        """See `backend.Reading`."""
        spool = self._spool
        assert spool is not None
        # Counted before it is listed: what comes in between is one too many, never one that is overlooked.
        now = self._remote.dataset(self._there.project_id)
        if now is None:
            raise RemoteError(f"data set {self._there.project_id} was deleted meanwhile on {self._remote.url}")
        self.submitted, self.skipped, drafts = count_answers(self._remote, now.id)
        self._counted = self.submitted + self.skipped + drafts
        cursor = f"{now.last_activity_at} {self.submitted} {self.skipped} {drafts}"
        if cursor == self.cursor and not (self._drafts and first):
            self._seen = self._counted
            return 0
        came = self._everything(spool, now.id, take_drafts=self._drafts and first)
        self.cursor = cursor
        return came

    def difference(self) -> int:
        """See `backend.Reading`."""
        return self._counted - self._seen

    def _everything(self, spool: Spool, dataset_id: str, *, take_drafts: bool) -> int:
        came, listed = 0, set()
        self._seen = 0
        with self._progress("pulling", self._remote.count_records(dataset_id)) as advance:
            for group in self._groups(dataset_id):
                advance(len(group.records))
                listed.add(group.key)
                self._seen += sum(len(record.responses or ()) for record in group.records)
                state = group.state
                live = take_drafts and any(True for _ in self._reader.live_drafts(group))
                if (spool.is_current(group.key, state) and not live) or not (
                    group.by_user() or spool.has_answers(group.key)
                ):
                    continue
                came += 1
                spool.visit(group.key, state)
                self._take(spool, group)
        for gone in spool.known_tasks() - listed:
            # It was deleted, and its answers with it.
            came += 1
            spool.visit(gone, "")
        return came

    def _take(self, spool: Spool, group: Group) -> None:
        if not group.item_id:
            for record in group.records:
                for response in record.responses or ():
                    if response.status != "draft":
                        spool.add_foreign(response.id, record.id)
            return
        for answer in self._reader.records(group, lambda ref: spool.known_hash(ref) is not None, drafts=self._drafts):
            spool.add(answer)
        for ref in self._reader.live_drafts(group):
            spool.add_live_draft(ref, group.key)

    def _groups(self, dataset_id: str) -> Iterator[Group]:
        """The items with their records; a record that is not ours is alone, and of no item."""
        waiting: dict[str, list[Record]] = {}
        for record in self._remote.records(dataset_id, suggestions=True):
            item_id = read_meta(record.metadata).get("id")
            if not isinstance(item_id, str):
                yield Group("", [record])
            elif self._there.layout == "panel":
                yield Group(item_id, [record])
            else:
                waiting.setdefault(item_id, []).append(record)
        for item_id, records in waiting.items():
            records.sort(key=lambda record: record.external_id or "")
            stored = [Stored(record.external_id or "", record.fields, record.metadata or {}) for record in records]
            # What an item had before, and has no more, is no part of an answer.
            yield Group(item_id, [r for r, there in zip(records, present(stored), strict=True) if there])

"""What a pull reads of Label Studio: only tasks that changed, or all that have answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from potato_bridge.errors import RemoteError
from potato_bridge.remotes.base import RemoteProject
from potato_bridge.remotes.label_studio import Filter, LabelStudio, where
from potato_bridge.sync.label_studio.answers import Reader, current_marker, drafts_of
from potato_bridge.sync.merge import DRAFT
from potato_bridge.sync.progress import Progress
from potato_bridge.sync.spool import Spool
from potato_bridge.sync.times import for_filter, is_after

#: Seconds before the cursor that are listed again: a transaction may become visible after one that began later.
_OVERLAP = 60.0
#: Known tasks in the overlap from which on their number is compared before they are listed.
_LONG_OVERLAP = 1000
_LISTED = ("updated_at", "total_annotations", "cancelled_annotations")
#: Ids for each answered task up to which all of them are downloaded: listing a task takes a quarter of that time.
_DENSE = 1.25


def _since(cursor: str, earlier: float = 0.0) -> Filter:
    return where("updated_at", "greater", for_filter(cursor, earlier), "Datetime")


class Reading:
    """Lists what changed and downloads it into the spool; see `backend.Reading`."""

    def __init__(
        self, remote: LabelStudio, there: RemoteProject, reader: Reader, *, drafts: bool, progress: Progress
    ) -> None:
        self.remote = remote
        self.project_id = there.project_id
        self.reader = reader
        self.drafts = drafts
        self.progress = progress
        self.cursor = ""
        self.submitted = self.skipped = 0
        self._just_read: RemoteProject | None = there
        self._spool: Spool | None = None

    def begin(self, spool: Spool, cursor: str) -> None:
        """See `backend.Reading`."""
        self._spool, self.cursor = spool, cursor

    def round(self, *, first: bool) -> int:
        """See `backend.Reading`."""
        spool = self._spool
        assert spool is not None
        # Counted before it is listed: what comes in between is one too many, never one that is overlooked.
        counts = self._just_read or self.remote.project(self.project_id)
        self._just_read = None
        if counts is None:
            raise RemoteError(f"project {self.project_id} was deleted meanwhile on {self.remote.url}")
        self.submitted, self.skipped = counts.submitted, counts.skipped
        came = self._fetch(spool, self._changed(spool)) if self.cursor else self._everything(spool)
        if self.drafts and first:
            came += self._fetch(spool, self._drafts(spool))
        return came

    def difference(self) -> int:
        """See `backend.Reading`."""
        assert self._spool is not None
        return self.submitted + self.skipped - self._spool.answers()

    def _everything(self, spool: Spool) -> int:
        """Downloads all tasks that have answers, and sets the cursor to the newest time before."""
        # Not the newest time that is read: what changed after its turn in a long download may be older than that.
        newest, _ = self.remote.first_task(self.project_id, "-updated_at")
        answered = [where("total_annotations", "greater", 0, "Number")]
        only_skipped = [
            where("total_annotations", "equal", 0, "Number"),
            where("cancelled_annotations", "greater", 0, "Number"),
        ]
        ids = self._dense_ids(answered)
        came = self._download(spool, ids) if ids else self._fetch(spool, self._listed(spool, answered))
        came += self._fetch(spool, self._listed(spool, only_skipped))
        self.cursor = (newest or {}).get("updated_at") or ""
        return came

    def _dense_ids(self, conditions: Sequence[Filter]) -> Sequence[int]:
        """All ids from the first to the last task that meets the conditions; empty where too many others would come."""
        first, count = self.remote.first_task(self.project_id, "id", conditions)
        last, _ = self.remote.first_task(self.project_id, "-id", conditions)
        if first is None or last is None:
            return ()
        ids = range(first["id"], last["id"] + 1)
        # Fewer ids than tasks: the server does not heed the order.
        return ids if count <= len(ids) <= count * _DENSE else ()

    def _listed(self, spool: Spool, conditions: Sequence[Filter]) -> dict[int, str]:
        """The tasks that meet the conditions and were not downloaded yet, with their `updated_at`."""
        rows = self.remote.tasks(self.project_id, ("updated_at",), conditions=conditions)
        return {row["id"]: row.get("updated_at") or "" for row in rows if not spool.is_visited(row["id"])}

    def _drafts(self, spool: Spool) -> dict[int, str]:
        # Writing a draft does not change the task's time.
        return self._listed(spool, [where("draft_exists", "equal", True, "Boolean")])

    def _changed(self, spool: Spool) -> dict[int, str]:
        """The tasks with answers that changed since the cursor, which moves on, with their `updated_at`."""
        found: dict[int, str] = {}
        if self._is_quiet(spool):
            return found
        newest = self.cursor
        for row in self.remote.tasks(self.project_id, _LISTED, conditions=[_since(self.cursor, _OVERLAP)]):
            updated_at = row.get("updated_at") or ""
            newest = updated_at if is_after(updated_at, newest) else newest
            if spool.is_current(row["id"], updated_at):
                continue
            if row.get("total_annotations") or row.get("cancelled_annotations") or spool.has_answers(row["id"]):
                found[row["id"]] = updated_at
            else:
                # New, or changed by a push: there is nothing to download.
                spool.skip(row["id"], updated_at)
        self.cursor = newest
        return found

    def _is_quiet(self, spool: Spool) -> bool:
        """Whether nothing has changed, told by counts alone where the overlap would be a long listing.

        An import puts thousands of tasks into the same seconds, and each pull would list them again.
        """
        if spool.visits():
            return False
        known = spool.known_since(for_filter(self.cursor, _OVERLAP))
        return (
            known > _LONG_OVERLAP
            and self.remote.count_tasks(self.project_id, [_since(self.cursor)]) == 0
            and self.remote.count_tasks(self.project_id, [_since(self.cursor, _OVERLAP)]) == known
        )

    def _fetch(self, spool: Spool, wanted: Mapping[int, str]) -> int:
        """Downloads tasks that were listed; one that does not come was deleted since."""
        self._download(spool, list(wanted))
        for task_id, updated_at in wanted.items():
            if not spool.is_visited(task_id):
                spool.visit(task_id, updated_at)
        return len(wanted)

    def _download(self, spool: Spool, ids: Sequence[int]) -> int:
        with self.progress("pulling", len(ids)) as advance:
            for task in self.remote.export(self.project_id, ids):
                self._take(spool, task)
                advance(1)
        return len(ids)

    def _take(self, spool: Spool, task: Mapping[str, Any]) -> None:
        spool.visit(task["id"], task.get("updated_at") or "")
        item_id = current_marker(task)
        if item_id is None:
            for annotation in task.get("annotations") or []:
                spool.add_foreign(annotation["id"], task["id"])
            return
        for record in self.reader.records(task, item_id, drafts=self.drafts):
            spool.add(record)
        for draft in drafts_of(task):
            spool.add_live_draft(f"{DRAFT}{draft['id']}", task["id"])

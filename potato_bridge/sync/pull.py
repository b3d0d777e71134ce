"""pull: every annotator's answer into the records file, and only what changed since the last time.

Incremental by the server's `updated_at`, which changes with a task and with its answers; complete by a count: the
answers that are known after a pull must be as many as the server counts, else everything is downloaded once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from potato_bridge.converters.label_studio.interface import Interface
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.errors import RemoteError
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import RemoteProject
from potato_bridge.remotes.label_studio import Filter, LabelStudio, where
from potato_bridge.sync.answers import DRAFT, Reader, current_marker, drafts_of
from potato_bridge.sync.ledger import Ledger, Stream
from potato_bridge.sync.locate import must_locate
from potato_bridge.sync.merge import FileState, Merge, Merged, check_file, file_state
from potato_bridge.sync.progress import Progress, silent
from potato_bridge.sync.spool import Spool
from potato_bridge.sync.times import for_filter, is_after

#: Seconds before the cursor that are listed again: a transaction may become visible after one that began later.
_OVERLAP = 60.0
#: Known tasks in the overlap from which on their number is compared before they are listed.
_LONG_OVERLAP = 1000
_LISTED = ("updated_at", "total_annotations", "cancelled_annotations")
#: Ids for each answered task up to which all of them are downloaded: listing a task takes a quarter of that time.
_DENSE = 1.25
#: Times to look again for answers that come while we read.
_ROUNDS = 4


@dataclass
class PullReport:
    """What a pull did.

    Attributes:
        mode: "incremental", or "full" where everything was downloaded.
        why: Why everything was downloaded; empty for an incremental pull.
        tasks: Tasks that were downloaded.
        new: Records that were added to the file.
        changed: Records that took the place of older ones.
        withdrawn: Records whose answer was deleted on the server.
        edited: Records that were edited in the file, and stay so.
        drafts_gone: Draft records that were removed: submitted, or thrown away.
        submitted: Answers in the project, as the server counts them.
        skipped: Skips in the project.
        foreign_tasks: Answered tasks that are not ours; not imported.
        difference: Answers that the server counts and does not show; 0 unless something is wrong.
    """

    url: str
    project_id: int
    records: Path
    mode: str = "incremental"
    why: str = ""
    tasks: int = 0
    new: int = 0
    changed: int = 0
    withdrawn: int = 0
    edited: int = 0
    drafts_gone: int = 0
    submitted: int = 0
    skipped: int = 0
    foreign_tasks: int = 0
    difference: int = 0

    def to_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {**asdict(self), "records": str(self.records)}

    def describe(self) -> str:
        """One line for people."""
        counts = {
            "new": self.new,
            "changed": self.changed,
            "withdrawn": self.withdrawn,
            "edited here and kept": self.edited,
            "draft(s) gone": self.drafts_gone,
        }
        told = [f"{count} {what}" for what, count in counts.items() if count]
        return f"{', '.join(told) or 'nothing new'}; {self.submitted} submitted, {self.skipped} skipped on the server"


def pull(
    project: Project,
    remote: LabelStudio,
    ledger: Ledger,
    out: Path,
    *,
    notices: Notices,
    drafts: bool = False,
    full: bool = False,
    project_ref: int | str | None = None,
    progress: Progress = silent,
    mark: Mapping[str, Any] | None = None,
) -> PullReport:
    """Brings the records file up to date.

    Args:
        project: The config.
        remote: The server.
        ledger: What this machine remembers; open for writing.
        out: The records file; made if it is missing.
        notices: Gets `foreign-task`, `unknown-annotator`, `flagged-answer`, `count-mismatch`, `local-edit-kept`,
            `not-on-server`, `project-gone`.
        drafts: Take what is not submitted yet, too.
        full: Download everything, and let the server's answers take the place of edited lines.
        project_ref: The project's id or title, where the user says which one is meant.
        progress: Tells how far it is.
        mark: Fields that every pulled record gets, such as `{"demo": true}`.

    Raises:
        RemoteError: There is no project yet, or the server fails; the file is as it was.
        InputError: The records file is damaged; nothing was downloaded.
        StateError: The records file is of a newer version.
    """
    asked(project)
    there = must_locate(project, remote, ledger, notices, project_ref)
    stream = ledger.stream(remote.url, there.project_id, out)
    before = file_state(out, stream)
    report = PullReport(remote.url, there.project_id, out)
    report.why = _why_full(stream, before, full)
    edited = before is not None and before.sha256 != stream.sha256
    if edited:
        check_file(out)
    reader = Reader(
        project=project,
        project_id=there.project_id,
        users=lambda: remote.users(there.project_id),
        notices=notices,
        controls=Interface(there.label_config, there.instruction, "").controls if there.label_config else None,
        mark=mark or {},
    )
    work = _Pull(remote, ledger, stream, there.project_id, reader, drafts, progress, just_read=there)
    try:
        if not report.why and not work.complete(full=False):
            report.why = "the counts differ"
        if report.why:
            report.mode = "full"
            report.difference = 0 if work.complete(full=True) else work.difference
        spool = work.spool
        assert spool is not None
        merge = Merge(
            spool,
            there.project_id,
            notices,
            edited=edited,
            lost=not stream.cursor,
            overwrite=full,
            drafts=drafts,
        )
        # An untouched file that gets nothing new is not written again; with drafts, old ones may have to go.
        state = before if before and not spool.visits() and not edited and not drafts and not spool.full else None
        if state is None:
            state = merge.into(out)
        spool.commit(work.cursor, state.size, state.mtime_ns, state.sha256)
        _fill(report, work, merge.result)
    finally:
        if work.spool is not None:
            work.spool.close()
    _report(report, notices)
    return report


def _why_full(stream: Stream, before: FileState | None, full: bool) -> str:
    if full:
        return "asked for"
    if not stream.cursor:
        return "the first pull"
    if before is None:
        return "the records file is gone"
    return "" if before.sha256 == stream.sha256 else "the records file was changed"


def _fill(report: PullReport, work: "_Pull", merged: Merged) -> None:
    assert work.spool is not None
    report.tasks = work.spool.visits()
    report.foreign_tasks = work.spool.foreign_tasks()
    report.submitted, report.skipped = work.counts.submitted, work.counts.skipped
    for name, count in asdict(merged).items():
        setattr(report, name, count)


def _report(report: PullReport, notices: Notices) -> None:
    if report.foreign_tasks:
        notices.add(
            "foreign-task",
            "answered tasks in the project are not ours; their answers are not imported",
            f"project {report.project_id}",
            report.foreign_tasks,
        )
    if report.difference:
        notices.add(
            "count-mismatch",
            f"the server counts {report.submitted + report.skipped} answers, {report.difference:+d} against what it "
            "shows; all that it shows is in the file",
            f"project {report.project_id}",
        )


def _since(cursor: str, earlier: float = 0.0) -> Filter:
    return where("updated_at", "greater", for_filter(cursor, earlier), "Datetime")


@dataclass
class _Pull:
    """The reading part: lists what changed, downloads it into the spool, until the counts agree."""

    remote: LabelStudio
    ledger: Ledger
    stream: Stream
    project_id: int
    reader: Reader
    drafts: bool
    progress: Progress
    just_read: RemoteProject | None
    cursor: str = ""
    spool: Spool | None = None
    counts: RemoteProject = field(default_factory=lambda: RemoteProject(0, ""))
    difference: int = 0

    def complete(self, *, full: bool) -> bool:
        """Reads until as many answers are known as the server counts; False where it stays at a difference.

        An answer that comes while we read makes a difference, too; so it is looked again until nothing comes.
        """
        self.spool = spool = Spool(self.ledger, self.stream, full=full)
        self.cursor = "" if full else self.stream.cursor
        for round_number in range(_ROUNDS):
            # Counted before it is listed: what comes in between is one too many, never one that is overlooked.
            counts = self.just_read or self.remote.project(self.project_id)
            self.just_read = None
            if counts is None:
                raise RemoteError(f"project {self.project_id} was deleted meanwhile on {self.remote.url}")
            self.counts = counts
            came = self._fetch(spool, self._changed(spool)) if self.cursor else self._everything(spool)
            if self.drafts and round_number == 0:
                came += self._fetch(spool, self._drafts(spool))
            self.difference = counts.submitted + counts.skipped - spool.answers()
            if self.difference == 0:
                return True
            if not came and round_number:
                break
        return False

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

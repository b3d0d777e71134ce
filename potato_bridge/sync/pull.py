"""pull: every annotator's answer into the records file, and only what changed since the last time.

Incremental by the server's `updated_at`, which changes with a task and with its answers; complete by a count: the
answers that are known after a pull must be as many as the server counts, else everything is listed once.
"""

from collections.abc import Mapping
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
#: Times to look again for answers that come while we read.
_ROUNDS = 4


@dataclass
class PullReport:
    """What a pull did.

    Attributes:
        mode: "incremental", or "full" where everything was listed.
        why: Why everything was listed; empty for an incremental pull.
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
    project_ref: int | None = None,
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
        full: List everything, and let the server's answers take the place of edited lines.
        project_ref: The project's id, where the user says which one is meant.
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
            came = self._download(spool, self._changed(spool, drafts=self.drafts and round_number == 0))
            self.difference = counts.submitted + counts.skipped - spool.answers()
            if self.difference == 0:
                return True
            if not came and round_number:
                break
        return False

    def _changed(self, spool: Spool, *, drafts: bool) -> dict[int, str]:
        """Tasks to download, with their `updated_at`: those with answers that changed, and those with drafts."""
        found: dict[int, str] = {}
        newest = self.cursor
        for conditions in () if self._is_quiet(spool) else self._listings():
            for row in self.remote.tasks(self.project_id, _LISTED, conditions=conditions):
                updated_at = row.get("updated_at") or ""
                newest = updated_at if is_after(updated_at, newest) else newest
                if spool.is_current(row["id"], updated_at):
                    continue
                if row.get("total_annotations") or row.get("cancelled_annotations") or spool.has_answers(row["id"]):
                    found[row["id"]] = updated_at
                else:
                    # New, or changed by a push: there is nothing to download.
                    spool.skip(row["id"], updated_at)
        if drafts:
            # Writing a draft does not change the task's time.
            has_draft = [where("draft_exists", "equal", True, "Boolean")]
            for row in self.remote.tasks(self.project_id, ("updated_at",), conditions=has_draft):
                found[row["id"]] = row.get("updated_at") or ""
        self.cursor = newest
        return dict(sorted(found.items()))

    def _is_quiet(self, spool: Spool) -> bool:
        """Whether nothing has changed, told by counts alone where the overlap would be a long listing.

        An import puts thousands of tasks into the same seconds, and each pull would list them again.
        """
        if not self.cursor or spool.visits():
            return False
        known = spool.known_since(for_filter(self.cursor, _OVERLAP))
        return (
            known > _LONG_OVERLAP
            and self.remote.count_tasks(self.project_id, [_since(self.cursor)]) == 0
            and self.remote.count_tasks(self.project_id, [_since(self.cursor, _OVERLAP)]) == known
        )

    def _listings(self) -> list[list[Filter]]:
        if self.cursor:
            return [[_since(self.cursor, _OVERLAP)]]
        # Everything: the tasks that have answers, then those that were only skipped.
        answered = where("total_annotations", "greater", 0, "Number")
        unanswered = where("total_annotations", "equal", 0, "Number")
        return [[answered], [unanswered, where("cancelled_annotations", "greater", 0, "Number")]]

    def _download(self, spool: Spool, wanted: Mapping[int, str]) -> int:
        with self.progress("pulling", len(wanted)) as advance:
            for task in self.remote.export(self.project_id, list(wanted)):
                self._take(spool, task)
                advance(1)
        for task_id, updated_at in wanted.items():
            # A task that did not come was deleted since the listing.
            if not spool.is_visited(task_id):
                spool.visit(task_id, updated_at)
        return len(wanted)

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

"""pull: every annotator's answer into the records file, and only what changed since the last time.

Incremental by the server's `updated_at`, which changes with a task and with its answers; complete by a count: the
answers that are known after a pull must be as many as the server counts, else everything is downloaded once.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from potato_bridge.notices import Notices
from potato_bridge.remotes.base import Ref
from potato_bridge.sync.backend import Backend, Reading
from potato_bridge.sync.ledger import Ledger, Stream
from potato_bridge.sync.merge import FileState, Merge, Merged, check_file, file_state
from potato_bridge.sync.progress import Progress, silent
from potato_bridge.sync.spool import Spool

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
    project_id: Ref
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
    backend: Backend[Any],
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
        backend: The server.
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
    there = backend.must_locate(ledger, notices, project_ref)
    stream = ledger.stream(backend.url, there.project_id, out)
    before = file_state(out, stream)
    report = PullReport(backend.url, there.project_id, out)
    report.why = _why_full(stream, before, full)
    edited = before is not None and before.sha256 != stream.sha256
    if edited:
        check_file(out)
    reading = backend.reading(ledger, stream, there, notices=notices, drafts=drafts, progress=progress, mark=mark or {})
    spool: Spool | None = None
    try:
        if not report.why:
            spool = Spool(ledger, stream, full=False)
            if not _complete(reading, spool, stream.cursor):
                report.why = "the counts differ"
        if report.why:
            report.mode = "full"
            spool = Spool(ledger, stream, full=True)
            report.difference = 0 if _complete(reading, spool, "") else reading.difference()
        assert spool is not None
        merge = Merge(
            spool,
            backend.name,
            there.project_id,
            notices,
            edited=edited,
            lost=not stream.cursor,
            overwrite=full,
            drafts=drafts,
            earlier=backend.earlier(there),
        )
        # An untouched file that gets nothing new is not written again; with drafts, old ones may have to go.
        state = before if before and not spool.visits() and not edited and not drafts and not spool.full else None
        if state is None:
            state = merge.into(out)
        spool.commit(reading.cursor, state.size, state.mtime_ns, state.sha256)
        _fill(report, reading, spool, merge.result)
    finally:
        if spool is not None:
            spool.close()
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


def _complete(reading: Reading, spool: Spool, cursor: str) -> bool:
    """Reads until as many answers are known as the server counts; False where it stays at a difference.

    An answer that comes while we read makes a difference, too; so it is looked again until nothing comes.
    """
    reading.begin(spool, cursor)
    for round_number in range(_ROUNDS):
        came = reading.round(first=round_number == 0)
        if reading.difference() == 0:
            return True
        if not came and round_number:
            break
    return False


def _fill(report: PullReport, reading: Reading, spool: Spool, merged: Merged) -> None:
    report.tasks = spool.visits()
    report.foreign_tasks = spool.foreign_tasks()
    report.submitted, report.skipped = reading.submitted, reading.skipped
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

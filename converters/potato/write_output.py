"""Records to Potato's `annotation_output`, merged into what is there.

A state holds one answer of a user to an item and a scheme. Whose answer stands is decided by what was written last
time (see `sidecar`): an answer that nobody has touched since is replaced, one that was given or changed on Potato's
page stays. Other answers of the user, and all else in the state, are not touched.

Stop Potato first: it holds the states in memory, and would write its own over these.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from potato_bridge.converters.potato.roster import admit_users
from potato_bridge.converters.potato.step_lists import StepLists
from potato_bridge.converters.potato.user_folders import UserFolders
from potato_bridge.converters.potato.user_writer import Outcome, UserWriter
from potato_bridge.errors import InputError, Problem
from potato_bridge.model import Project, Record, decode, encode
from potato_bridge.notices import Notices


@dataclass(slots=True)
class WriteReport:
    """What became of the records: all counts together are `records_in`.

    Attributes:
        written: New or changed in a state.
        unchanged: In a state already, just so.
        kept: Not written, or not all of it: the answer on Potato's page is another one.
        removed: Withdrawn, and taken out of the state that had it.
        left_out: Reason to count: `status-skipped`, `status-draft`, `status-withdrawn`, `no-answer`, `not-writable`,
            `unknown-item`, `second-answer`, `corrupt-state`.
        flagged: How many of those written have a flag; Potato's own exporters do not see it.
        users: Names of the user folders that have a record now, as one logs in to Potato.
        files: The files that were written.
    """

    folder: Path
    records_in: int = 0
    written: int = 0
    unchanged: int = 0
    kept: int = 0
    removed: int = 0
    flagged: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    users: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for `--json`."""
        return {
            "folder": str(self.folder),
            "records_in": self.records_in,
            "written": self.written,
            "unchanged": self.unchanged,
            "kept": self.kept,
            "removed": self.removed,
            "left_out": dict(sorted(self.left_out.items())),
            "flagged": self.flagged,
            "users": self.users,
            "files": [str(file) for file in self.files],
        }

    def describe(self) -> str:
        """One line for people."""
        left_out = sum(self.left_out.values())
        counts = {"unchanged": self.unchanged, "kept as on the page": self.kept, "removed": self.removed}
        told = [f"{count} {what}" for what, count in {**counts, "left out": left_out}.items() if count]
        return ", ".join([f"{self.written} written for {len(self.users)} user(s)", *told])


@dataclass(slots=True)
class _Answers:
    """What an annotator's state is to hold, and what it is to hold no more; as lines, a tenth of the memory."""

    submitted: dict[str, tuple[datetime, bytes]] = field(default_factory=dict)
    withdrawn: list[bytes] = field(default_factory=list)


def write_annotation_output(project: Project, records: Iterable[Record], folder: Path, notices: Notices) -> WriteReport:
    """Writes submitted records into the states of their annotators, each state at once.

    Args:
        project: Says which schemes there are, where the items are, and who may log in.
        records: In any order; held in memory, as lines.
        folder: The `annotation_output`; made if it is missing.
        notices: Gets what a state cannot hold or did not take.

    Returns:
        What was done.

    Raises:
        InputError: The items or a sidecar are not as they must be, and nothing was written; or a state is corrupt,
            which stops only its own user: the others were written before the error is raised.
        StateError: A newer version wrote a sidecar.
    """
    lists = StepLists(project)
    report = WriteReport(folder)
    by_annotator = _sort(records, lists, report, notices)
    folders = UserFolders(folder, notices)
    problems = []
    for annotator, answers in sorted(by_annotator.items()):
        place = folders.choose(annotator) if answers.submitted else folders.find(annotator)
        if place is None:
            report.left_out["status-withdrawn"] += len(answers.withdrawn)
            continue
        try:
            writer = UserWriter(project, lists, place, annotator, notices)
        except InputError as error:
            report.left_out["corrupt-state"] += len(answers.submitted) + len(answers.withdrawn)
            problems.append(Problem(error.message, str(place), hint=error.hint))
            continue
        for line in answers.withdrawn:
            record = decode(Record, line)
            _count(report, writer.withdraw(record), record)
        for item in sorted(answers.submitted, key=lists.order.__getitem__):
            record = decode(Record, answers.submitted[item][1])
            _count(report, writer.put(record), record)
        report.files += writer.write()
        if writer.holds_records:
            report.users.append(place.name)
    if roster := admit_users(project, folder, report.users, notices):
        report.files.append(roster)
    if problems:
        raise InputError(f"{folder}: {len(problems)} user(s) could not be written, the others were", problems=problems)
    return report


def _sort(records: Iterable[Record], lists: StepLists, report: WriteReport, notices: Notices) -> dict[str, _Answers]:
    by_annotator: dict[str, _Answers] = {}
    for record in records:
        report.records_in += 1
        where = f"item {record.id} of {record.annotator}"
        if record.status == "withdrawn":
            by_annotator.setdefault(record.annotator, _Answers()).withdrawn.append(encode(record))
        elif record.status != "submitted":
            report.left_out[f"status-{record.status}"] += 1
        elif not record.annotations:
            report.left_out["no-answer"] += 1
        elif record.id not in lists:
            notices.add("unknown-item", "an answer is to an item that the data files do not have: not written", where)
            report.left_out["unknown-item"] += 1
        else:
            submitted = by_annotator.setdefault(record.annotator, _Answers()).submitted
            time, other = _time(record), submitted.get(record.id)
            if other is not None:
                report.left_out["second-answer"] += 1
                message = "Potato holds one answer of a person to an item: the one that was changed last is written"
                notices.add("second-answer", message, where)
            if other is None or time >= other[0]:
                submitted[record.id] = (time, encode(record))
    return by_annotator


def _time(record: Record) -> datetime:
    text = record.updated_at or record.created_at
    try:
        moment = datetime.fromisoformat(text) if text else datetime.min
    except ValueError:
        moment = datetime.min
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _count(report: WriteReport, outcome: Outcome, record: Record) -> None:
    match outcome:
        case Outcome.WRITTEN:
            report.written += 1
            report.flagged += bool(record.flags)
        case Outcome.UNCHANGED:
            report.unchanged += 1
        case Outcome.KEPT:
            report.kept += 1
        case Outcome.REMOVED:
            report.removed += 1
        case Outcome.NOT_WRITABLE | Outcome.NOTHING_TO_REMOVE:
            report.left_out[str(outcome)] += 1

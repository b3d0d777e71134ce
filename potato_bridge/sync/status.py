"""status: how far a project is, from one listing of the server and what was pulled."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.listing import list_tasks
from potato_bridge.sync.locate import locate


@dataclass
class StatusReport:
    """How far a project is.

    Attributes:
        project_id: None where nothing was pushed yet; then all counts but `items` are 0.
        items: Items of the config.
        pushed: Those that have a task.
        annotated: Those that have an answer, be it a skip.
        orphans: Tasks of ours without an item.
        foreign: Tasks that are not ours.
        submitted: Answers in the project, as the server counts them.
        skipped: Skips in the project.
        pulled: Answers and skips that were pulled, as far as this machine knows.
        last_change: The newest change that a pull has seen, by the server's clock; empty before the first pull.
        annotators: Annotator → status → how many were pulled.
    """

    url: str
    project_id: int | None = None
    title: str = ""
    items: int = 0
    pushed: int = 0
    annotated: int = 0
    orphans: int = 0
    foreign: int = 0
    submitted: int = 0
    skipped: int = 0
    pulled: int = 0
    last_change: str = ""
    annotators: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def project_url(self) -> str | None:
        """The project's page."""
        return None if self.project_id is None else f"{self.url}/projects/{self.project_id}"

    def to_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {**asdict(self), "project_url": self.project_url}

    def describe(self) -> str:
        """A few lines for people."""
        if self.project_id is None:
            return f"{self.items} item(s); not pushed to {self.url} yet"
        lines = [
            f"{self.title} ({self.project_url})",
            f"items {self.items}, pushed {self.pushed}, annotated {self.annotated}",
            f"answers {self.submitted} submitted, {self.skipped} skipped; pulled {self.pulled}",
        ]
        for name, counts in self.annotators.items():
            lines.append(f"  {name}: " + ", ".join(f"{count} {status}" for status, count in counts.items()))
        lines += [f"{self.orphans} task(s) without an item here"] if self.orphans else []
        lines += [f"{self.foreign} task(s) that are not ours"] if self.foreign else []
        return "\n".join(lines)


def status(
    project: Project,
    item_ids: Iterable[str],
    remote: LabelStudio,
    ledger: Ledger,
    *,
    notices: Notices,
    records: Path | None = None,
    project_ref: int | str | None = None,
) -> StatusReport:
    """How far a project is. Changes nothing, here or there.

    Args:
        project: The config.
        item_ids: The ids of its items.
        remote: The server.
        ledger: What this machine remembers; need not be open for writing.
        notices: Gets `project-gone`.
        records: The records file, for what was pulled into it.
        project_ref: The project's id or title, where the user says which one is meant.

    Raises:
        RemoteError: The server fails.
    """
    local = set(item_ids)
    report = StatusReport(remote.url, items=len(local))
    located = locate(project, remote, ledger, notices, project_ref)
    if located is None:
        return report
    there = located.project
    report.project_id, report.title = there.project_id, there.title
    report.submitted, report.skipped = there.submitted, there.skipped
    pushed: set[str] = set()
    annotated: set[str] = set()
    for task in list_tasks(remote, there.project_id):
        if task.marker is None:
            report.foreign += 1
        elif task.marker not in local:
            report.orphans += 1
        else:
            pushed.add(task.marker)
            if task.answers:
                annotated.add(task.marker)
    report.pushed, report.annotated = len(pushed), len(annotated)
    if records is not None:
        stream = ledger.stream(remote.url, there.project_id, records)
        report.last_change = stream.cursor
        for annotator, kind, count in ledger.annotators(stream.stream_id):
            report.annotators.setdefault(annotator, {})[kind] = count
            report.pulled += count
    return report

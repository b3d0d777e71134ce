"""status: how far a project is, from one listing of the server and what was pulled."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from potato_bridge.notices import Notices
from potato_bridge.remotes.base import Ref
from potato_bridge.sync.backend import Backend
from potato_bridge.sync.ledger import Ledger


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
    project_id: Ref | None = None
    title: str = ""
    project_url: str | None = None
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

    def to_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return asdict(self)

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
    backend: Backend[Any],
    item_ids: Iterable[str],
    ledger: Ledger,
    *,
    notices: Notices,
    records: Path | None = None,
    project_ref: int | str | None = None,
) -> StatusReport:
    """How far a project is. Changes nothing, here or there.

    Args:
        backend: The server.
        item_ids: The ids of its items.
        ledger: What this machine remembers; need not be open for writing.
        notices: Gets `project-gone`.
        records: The records file, for what was pulled into it.
        project_ref: The project's id or title, where the user says which one is meant.

    Raises:
        RemoteError: The server fails.
    """
    local = set(item_ids)
    report = StatusReport(backend.url, items=len(local))
    located = backend.locate(ledger, notices, project_ref)
    if located is None:
        return report
    there = located.project
    report.project_id, report.title = there.project_id, there.title
    report.project_url = backend.page(there.project_id)
    report.submitted, report.skipped = backend.counts(there)
    pushed: set[str] = set()
    annotated: set[str] = set()
    for task in backend.tasks(there):
        item = task.item or task.marker
        if item is None:
            report.foreign += 1
        elif item not in local:
            report.orphans += 1
        else:
            pushed.add(item)
            if task.answers:
                annotated.add(item)
    report.pushed, report.annotated = len(pushed), len(annotated)
    if records is not None:
        stream = ledger.stream(backend.url, there.project_id, records)
        # On Argilla, counts stand behind the time.
        report.last_change = stream.cursor.partition(" ")[0]
        for annotator, kind, count in ledger.annotators(stream.stream_id):
            report.annotators.setdefault(annotator, {})[kind] = count
            report.pulled += count
    return report

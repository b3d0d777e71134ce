"""push: makes the server's project what the config and the items say, and loses no answer on the way.

What stands on the server is listed first. Then each task is built once: it is compared, and put aside on disk if it is
new or changed. So whatever could be wrong with an item is found before anything is sent, and no task is kept in memory.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from potato_bridge.errors import InputError, Problem
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import Ref
from potato_bridge.sync.backend import Adoption, Backend, Confirm, Found, Tally, Unit, refuse
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.outbox import Outbox
from potato_bridge.sync.plan import Create, Plan, Planner, Update, UpdatePrelabels
from potato_bridge.sync.progress import Progress, silent
from potato_bridge.sync.revisions import add_notice_of_change


@dataclass
class PushReport:
    """What a push did, or with `dry_run` would do.

    Attributes:
        project_id: None where the project does not exist yet (only with `dry_run`).
        found: How the project was found.
        plan: What was to be done.
        project_url: The page where people annotate.
        adoption: What it means for the project, where that was not the config's before.
        created: Tasks added by this push, those included that arrived although their answer was lost.
        updated: Tasks changed by this push.
        prelabels: Tasks that were there and whose pre-labels were changed by this push.
        recovered: Tasks whose answer was lost and that were found on the server, of this push or a killed one.
    """

    url: str
    project_id: Ref | None
    title: str
    found: Found
    plan: Plan
    project_url: str | None = None
    adoption: Adoption | None = None
    dry_run: bool = False
    created: int = 0
    updated: int = 0
    prelabels: int = 0
    recovered: int = 0

    def to_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "url": self.url,
            "project": self.project_id,
            "project_url": self.project_url,
            "title": self.title,
            "found": self.found,
            "dry_run": self.dry_run,
            "created": self.created,
            "updated": self.updated,
            "prelabels": self.prelabels,
            "recovered": self.recovered,
            "adoption": self.adoption.to_json() if self.adoption else None,
            "plan": self.plan.to_json(),
        }

    def describe(self) -> str:
        """One line for people."""
        if self.dry_run or not self.plan.changes:
            return self.plan.describe()
        done = [operation.describe() for operation in self.plan.project]
        done += [f"{self.created} added, {self.updated} updated, {self.plan.unchanged} unchanged"]
        done += [f"{self.prelabels} with changed pre-labels"] if self.prelabels else []
        return ", ".join([*done, self.plan.show.describe()] if self.plan.show else done)


def push(
    backend: Backend[Any],
    ledger: Ledger,
    *,
    notices: Notices,
    project_ref: int | str | None = None,
    confirm: Confirm = refuse,
    dry_run: bool = False,
    progress: Progress = silent,
) -> PushReport:
    """Creates the project or finds its own again, and brings it up to date.

    Args:
        backend: The server, and what goes to it.
        ledger: What this machine remembers; open for writing unless `dry_run`.
        notices: Gets `item-changed-after-answer`, `duplicate-task`, `orphan-task`, `foreign-task`, `project-gone`.
        project_ref: The project's id or title, where the user says which one is meant.
        confirm: Is shown what would change of a project that is not the config's yet, before anything does; raises
            where that is not wanted.
        dry_run: Only plan.
        progress: Tells how far it is.

    Raises:
        InputError: An item cannot be sent, or two have one id; nothing was sent.
        RemoteError: The server refuses something, or is not there.
        OutcomeUnknownError: An answer was lost, and the batch has not appeared; a later push looks again.
        StateError: The new and changed tasks cannot be put aside on disk; nothing was sent.
    """
    located = backend.locate(ledger, notices, project_ref)
    there = located.project if located else None
    recovered = 0
    if there is not None and not dry_run:
        recovered = backend.settle(ledger, there)
    operations = backend.operations(ledger, there)
    planner = Planner(backend.tasks(there) if there is not None else ())
    tally = backend.tally()
    with (
        nullcontext() if dry_run else Outbox[Create | Update](ledger.folder) as outbox,
        nullcontext() if dry_run else Outbox[UpdatePrelabels](ledger.folder) as prelabels,
    ):
        _build(backend, planner, tally, outbox, prelabels, notices, progress)
        todo = planner.finish()
        todo.show = tally.operation(there)
        tally.report(there, notices)
        todo.project = list(operations)
        _report(todo, notices)
        report = PushReport(
            url=backend.url,
            project_id=there.project_id if there is not None else None,
            title=there.title if there is not None else backend.title(),
            found=located.found if located else "created",
            plan=todo,
            project_url=backend.page(there.project_id) if there is not None else None,
            adoption=None if located is None or located.ours else backend.adoption(located, todo),
            dry_run=dry_run,
            recovered=recovered,
        )
        if outbox is None or prelabels is None:
            return report
        if report.adoption is not None:
            confirm(report.adoption)
        there = backend.update(ledger, there, todo, notices, tally)
        report.project_id, report.title = there.project_id, there.title
        report.project_url = backend.page(there.project_id)
        ledger.set_project(backend.url, backend.project.config.name, there.project_id)
        sender = backend.sender(ledger, there, notices)
        try:
            with progress("pushing", len(todo.creates) + len(todo.updates) + len(todo.prelabels)) as advance:
                sender.send(outbox, prelabels, todo, advance)
            if todo.show is not None:
                backend.show(todo.show)
        finally:
            report.created, report.updated, report.prelabels = sender.created, sender.updated, sender.prelabels
            report.recovered += sender.recovered
    return report


def _build(
    backend: Backend[Any],
    planner: Planner,
    tally: Tally,
    outbox: Outbox[Create | Update] | None,
    prelabels: Outbox[UpdatePrelabels] | None,
    notices: Notices,
    progress: Progress,
) -> None:
    """Builds, checks and compares each task once; those that are to be sent go into the outbox.

    Raises:
        InputError: With all items that cannot be sent.
    """
    problems: list[Problem] = []
    seen: set[str] = set()
    with progress("reading items", None) as advance:
        for unit in backend.units(notices):
            item = unit.item
            body = _checked(backend, unit, seen, problems)
            seen.add(item.item_id)
            operation = planner.compare(item)
            tally.take(unit, planner, steps_changed=isinstance(operation, Update) and operation.steps_changed)
            if outbox is not None and operation is not None and not problems:
                outbox.add(operation, body)
            update = planner.compare_prelabels(item)
            if prelabels is not None and update is not None and not problems:
                prelabels.add(update, unit.prelabels_body())
            advance(1)
    if problems:
        raise InputError(f"{len(problems)} item(s) cannot be pushed; nothing was sent", problems=problems)


def _checked(backend: Backend[Any], unit: Unit, seen: set[str], problems: list[Problem]) -> bytes:
    """The task as JSON; what is wrong with it is added to the problems."""
    item_id = unit.item.item_id
    if item_id in seen:
        problems.append(Problem(f"two items have the id {item_id!r}"))
    try:
        body = unit.body()
    except InputError as error:
        problems.append(Problem(f"item {item_id!r}: {error.message}"))
        return b""
    if len(body) > backend.max_body:
        size, limit = f"{len(body) / 2**20:.0f} MB", f"{backend.max_body // 2**20} MB"
        problems.append(
            Problem(
                f"item {item_id!r} makes a {backend.unit} of {size}, and a server takes {limit}",
                hint="Shorten its outputs, or leave it out.",
            )
        )
    return body


def _report(todo: Plan, notices: Notices) -> None:
    if todo.foreign:
        notices.add("foreign-task", "tasks in the project are not ours; they are left alone", count=todo.foreign)
    for orphan in todo.orphans:
        notices.add(
            "orphan-task",
            "tasks of ours belong to items that are not among the items any more; they are kept",
            f"item {orphan.item_id} (task {orphan.task_id})",
        )
    for extra in todo.duplicates:
        notices.add(
            "duplicate-task",
            "items have more than one task; the annotated or else oldest one is kept up to date, the others are "
            "left alone",
            f"item {extra.item_id} (task {extra.task_id}, used: {extra.used_task_id})",
        )
    for update in todo.updates:
        if update.answers and update.steps_changed:
            add_notice_of_change(notices, update, update.answers)

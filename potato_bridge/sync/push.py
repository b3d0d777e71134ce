"""push: makes the server's project what the config and the items say, and loses no answer on the way.

What stands on the server is listed first. Then each task is built once: it is compared, and put aside on disk if it is
new or changed. So whatever could be wrong with an item is found before anything is sent, and no task is kept in memory.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

from potato_bridge.converters.fingerprint import PRELABELS_HASH
from potato_bridge.converters.label_studio.interface import Interface
from potato_bridge.errors import InputError, Problem
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import RemoteTask
from potato_bridge.remotes.http import to_json
from potato_bridge.remotes.label_studio import MAX_BODY, LabelStudio
from potato_bridge.sync.adopt import Adoption, adoption, refuse
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.listing import bridge_meta, list_tasks
from potato_bridge.sync.locate import Found, locate, project_title
from potato_bridge.sync.outbox import Outbox
from potato_bridge.sync.plan import Create, LocalItem, Plan, Planner, Update, UpdatePrelabels
from potato_bridge.sync.prelabels import PrelabelTally, prelabels_body, send_prelabels, show_prelabels
from potato_bridge.sync.progress import Progress, silent
from potato_bridge.sync.send import Sender, add_notice_of_change, settle_intents
from potato_bridge.sync.setup import project_operations, update_project

#: Builds the tasks of all items, one by one, in the order of the items.
BuildTasks: TypeAlias = Callable[[Notices], Iterable[dict[str, Any]]]

#: Seconds that a batch whose answer was lost may take to appear.
PATIENCE = 60.0


@dataclass
class PushReport:
    """What a push did, or with `dry_run` would do.

    Attributes:
        project_id: None where the project does not exist yet (only with `dry_run`).
        found: How the project was found.
        plan: What was to be done.
        adoption: What it means for the project, where that was not the config's before.
        created: Tasks added by this push, those included that arrived although their answer was lost.
        updated: Tasks changed by this push.
        prelabels: Tasks that were there and whose pre-labels were changed by this push.
        recovered: Tasks whose answer was lost and that were found on the server, of this push or a killed one.
    """

    url: str
    project_id: int | None
    title: str
    found: Found
    plan: Plan
    adoption: Adoption | None = None
    dry_run: bool = False
    created: int = 0
    updated: int = 0
    prelabels: int = 0
    recovered: int = 0

    @property
    def project_url(self) -> str | None:
        """The project's page."""
        return None if self.project_id is None else f"{self.url}/projects/{self.project_id}"

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
    project: Project,
    tasks: BuildTasks,
    interface: Interface,
    remote: LabelStudio,
    ledger: Ledger,
    *,
    notices: Notices,
    project_ref: int | str | None = None,
    confirm: Callable[[Adoption], object] = refuse,
    dry_run: bool = False,
    progress: Progress = silent,
    patience: float = PATIENCE,
) -> PushReport:
    """Creates the project or finds its own again, and brings it up to date.

    Args:
        project: The config.
        tasks: Builds the tasks.
        interface: Label config and instruction.
        remote: The server.
        ledger: What this machine remembers; open for writing unless `dry_run`.
        notices: Gets `item-changed-after-answer`, `duplicate-task`, `orphan-task`, `foreign-task`, `project-gone`.
        project_ref: The project's id or title, where the user says which one is meant.
        confirm: Is shown what would change of a project that is not the config's yet, before anything does; raises
            where that is not wanted.
        dry_run: Only plan.
        progress: Tells how far it is.
        patience: Seconds to wait for a batch whose answer was lost.

    Raises:
        InputError: An item cannot be sent, or two have one id; nothing was sent.
        RemoteError: The server refuses something, or is not there.
        OutcomeUnknownError: An answer was lost, and the batch has not appeared; a later push looks again.
        StateError: The new and changed tasks cannot be put aside on disk; nothing was sent.
    """
    located = locate(project, remote, ledger, notices, project_ref)
    there = located.project if located else None
    recovered = 0
    if there is not None and not dry_run:
        recovered = settle_intents(remote, ledger, there.project_id, patience)
    known = _Newest(list_tasks(remote, there.project_id, project=project) if there else ())
    planner = Planner(known)
    tally = PrelabelTally()
    with (
        nullcontext() if dry_run else Outbox[Create | Update](ledger.folder) as outbox,
        nullcontext() if dry_run else Outbox[UpdatePrelabels](ledger.folder) as prelabels,
    ):
        _build(tasks, planner, tally, outbox, prelabels, notices, progress)
        todo = planner.finish()
        todo.show = tally.operation(there)
        tally.report(there, notices)
        todo.project = project_operations(project, interface, remote, ledger, there)
        _report(todo, notices)
        report = PushReport(
            url=remote.url,
            project_id=there.project_id if there else None,
            title=there.title if there else project_title(project),
            found=located.found if located else "created",
            plan=todo,
            adoption=None if located is None or located.ours else adoption(project, interface, remote, located, todo),
            dry_run=dry_run,
            recovered=recovered,
        )
        if outbox is None or prelabels is None:
            return report
        if report.adoption is not None:
            confirm(report.adoption)
        there = update_project(
            project, interface, remote, ledger, there, todo.project, notices, model_version=tally.shown
        )
        report.project_id = there.project_id
        ledger.set_project(remote.url, project.config.name, there.project_id)
        sender = Sender(remote, ledger, there.project_id, known.task_id, notices, patience)
        try:
            with progress("pushing", len(todo.creates) + len(todo.updates) + len(todo.prelabels)) as advance:
                sender.send(outbox, advance)
                for update, body in prelabels:
                    send_prelabels(remote, update, body, patience)
                    report.prelabels += 1
                    advance(1)
            if todo.show is not None:
                show_prelabels(remote, todo.show)
        finally:
            report.created, report.updated = sender.created, sender.updated
            report.recovered += sender.recovered
    return report


class _Newest:
    """Passes tasks on and remembers the greatest id."""

    def __init__(self, tasks: Iterable[RemoteTask]) -> None:
        self._tasks = tasks
        self.task_id = 0

    def __iter__(self) -> Iterator[RemoteTask]:
        for task in self._tasks:
            self.task_id = max(self.task_id, task.task_id)
            yield task


def _build(
    tasks: BuildTasks,
    planner: Planner,
    tally: PrelabelTally,
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
        for task in tasks(notices):
            meta = bridge_meta(task)
            item = LocalItem(meta["id"], meta["hash"], meta["steps_hash"], meta.get(PRELABELS_HASH))
            body = _checked(task, item.item_id, seen, problems)
            seen.add(item.item_id)
            operation = planner.compare(item)
            tally.take(task, item, planner, steps_changed=isinstance(operation, Update) and operation.steps_changed)
            if outbox is not None and operation is not None and not problems:
                outbox.add(operation, body)
            update = planner.compare_prelabels(item)
            if prelabels is not None and update is not None and not problems:
                prelabels.add(update, prelabels_body(task))
            advance(1)
    if problems:
        raise InputError(f"{len(problems)} item(s) cannot be pushed; nothing was sent", problems=problems)


def _checked(task: dict[str, Any], item_id: str, seen: set[str], problems: list[Problem]) -> bytes:
    """The task as JSON; what is wrong with it is added to the problems."""
    if item_id in seen:
        problems.append(Problem(f"two items have the id {item_id!r}"))
    try:
        body = to_json(task)
    except InputError as error:
        problems.append(Problem(f"item {item_id!r}: {error.message}"))
        return b""
    if len(body) > MAX_BODY:
        size, limit = f"{len(body) / 2**20:.0f} MB", f"{MAX_BODY // 2**20} MB"
        problems.append(
            Problem(
                f"item {item_id!r} makes a task of {size}, and a server takes {limit}",
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

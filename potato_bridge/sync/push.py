"""push: makes the server's project what the config and the items say, and loses no answer on the way.

Two passes over the items, so that none has to be kept: the first gives the hashes for the plan (and finds whatever
could be wrong with an item before anything is sent), the second sends.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from potato_bridge.converters.label_studio.interface import Interface
from potato_bridge.errors import InputError, Problem
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import RemoteTask
from potato_bridge.remotes.label_studio import MAX_BODY, LabelStudio, to_json
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.listing import list_tasks
from potato_bridge.sync.locate import Found, locate, project_title
from potato_bridge.sync.plan import LocalItem, Plan, plan
from potato_bridge.sync.progress import Progress, silent
from potato_bridge.sync.send import BuildTasks, Sender, add_notice_of_change, local_item, settle_intents
from potato_bridge.sync.setup import project_operations, update_project

#: Seconds that a batch whose answer was lost may take to appear.
PATIENCE = 60.0


@dataclass
class PushReport:
    """What a push did, or with `dry_run` would do.

    Attributes:
        project_id: None where the project does not exist yet (only with `dry_run`).
        found: How the project was found.
        plan: What was to be done.
        created: Tasks added by this push, those included that arrived although their answer was lost.
        updated: Tasks changed by this push.
        recovered: Tasks whose answer was lost and that were found on the server, of this push or a killed one.
    """

    url: str
    project_id: int | None
    title: str
    found: Found
    plan: Plan
    dry_run: bool = False
    created: int = 0
    updated: int = 0
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
            "recovered": self.recovered,
            "plan": self.plan.to_json(),
        }

    def describe(self) -> str:
        """One line for people."""
        if self.dry_run or not self.plan.changes:
            return self.plan.describe()
        done = [operation.describe() for operation in self.plan.project]
        return ", ".join([*done, f"{self.created} added, {self.updated} updated, {self.plan.unchanged} unchanged"])


def push(
    project: Project,
    tasks: BuildTasks,
    interface: Interface,
    remote: LabelStudio,
    ledger: Ledger,
    *,
    notices: Notices,
    project_ref: int | None = None,
    dry_run: bool = False,
    progress: Progress = silent,
    patience: float = PATIENCE,
) -> PushReport:
    """Creates the project or finds its own again, and brings it up to date.

    Args:
        project: The config.
        tasks: Builds the tasks; called a second time, with notices of its own, when something is to be sent.
        interface: Label config and instruction.
        remote: The server.
        ledger: What this machine remembers; open for writing unless `dry_run`.
        notices: Gets `item-changed-after-answer`, `duplicate-task`, `orphan-task`, `foreign-task`, `project-gone`.
        project_ref: The project's id, where the user says which one is meant.
        dry_run: Only plan.
        progress: Tells how far it is.
        patience: Seconds to wait for a batch whose answer was lost.

    Raises:
        InputError: An item cannot be sent, or two have one id; nothing was sent.
        RemoteError: The server refuses something, or is not there.
        OutcomeUnknownError: An answer was lost, and the batch has not appeared; a later push looks again.
        StateError: The items changed while they were being pushed.
    """
    items = _read_items(tasks, notices, progress)
    located = locate(project, remote, ledger, notices, project_ref)
    there = located.project if located else None
    if there is not None and not dry_run:
        ledger.set_project(remote.url, project.config.name, there.project_id)
        recovered = settle_intents(remote, ledger, there.project_id, patience)
    else:
        recovered = 0
    known: Iterable[RemoteTask] = list_tasks(remote, there.project_id) if there else ()
    newest = _Newest(known)
    todo = plan(items, newest)
    todo.project = project_operations(project, interface, remote, ledger, there)
    _report(todo, notices)
    report = PushReport(
        url=remote.url,
        project_id=there.project_id if there else None,
        title=there.title if there else project_title(project),
        found=located.found if located else "created",
        plan=todo,
        dry_run=dry_run,
        recovered=recovered,
    )
    if dry_run:
        return report
    there = update_project(project, interface, remote, ledger, there, todo.project)
    report.project_id = there.project_id
    if todo.creates or todo.updates:
        sender = Sender(remote, ledger, there.project_id, newest.task_id, notices, patience)
        try:
            with progress("pushing", len(todo.creates) + len(todo.updates)) as advance:
                sender.send(tasks, items, todo, advance)
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


def _read_items(tasks: BuildTasks, notices: Notices, progress: Progress) -> list[LocalItem]:
    """The first pass: hashes only; and everything that could be wrong with an item is found before anything is sent."""
    items: list[LocalItem] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    with progress("reading items", None) as advance:
        for task in tasks(notices):
            item = local_item(task)
            if item.item_id in seen:
                problems.append(Problem(f"two items have the id {item.item_id!r}"))
            seen.add(item.item_id)
            try:
                size = len(to_json(task))
            except InputError as error:
                problems.append(Problem(f"item {item.item_id!r}: {error.message}"))
                size = 0
            if size > MAX_BODY:
                limit = f"{MAX_BODY // 2**20} MB"
                problems.append(
                    Problem(
                        f"item {item.item_id!r} makes a task of {size / 2**20:.0f} MB, and a server takes {limit}",
                        hint="Shorten its outputs, or leave it out.",
                    )
                )
            items.append(item)
            advance(1)
    if problems:
        raise InputError(f"{len(problems)} item(s) cannot be pushed; nothing was sent", problems=problems)
    return items


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

"""Sending tasks: in batches, one request at a time, and never twice.

A batch is noted in the ledger before it is sent. Where its outcome is not seen (a time-out, a cut connection, the
process killed), its markers are looked for on the server, with patience: behind a proxy that gave up, and on SQLite
while it is locked, Label Studio may finish minutes later.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from potato_bridge.converters.label_studio.fields import META
from potato_bridge.converters.label_studio.prelabels import with_prelabels_of
from potato_bridge.errors import OutcomeUnknownError, RemoteError
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import UnansweredError
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio.listing import bridge_meta, list_tasks, missing_markers
from potato_bridge.sync.label_studio.prelabels import send_prelabels
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.plan import Create, Plan, Update, UpdatePrelabels
from potato_bridge.sync.repeat import repeatable
from potato_bridge.sync.revisions import add_notice_of_change, revise

BATCH_TASKS = 250
BATCH_BYTES = 16 * 1024 * 1024
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 5.0


@dataclass
class Batch:
    """Tasks that go in one request, as JSON, with their markers."""

    markers: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, marker: str, body: bytes) -> None:
        """Takes one more task."""
        self.markers.append(marker)
        self.bodies.append(body)
        self.size += len(body)

    def is_full_with(self, body: bytes) -> bool:
        """Whether another batch has to be begun for this task; an empty batch takes any."""
        return bool(self.bodies) and (len(self.bodies) >= BATCH_TASKS or self.size + len(body) > BATCH_BYTES)


@dataclass
class Sender:
    """Sends the tasks that are new or changed. One writer, one request at a time.

    Attributes:
        newest: The greatest task id that was there before: a batch's tasks are newer.
        created: Tasks added, those included that arrived although their answer was lost.
        recovered: Those among them.
        prelabels: Tasks that were there and whose predictions were changed.
    """

    remote: LabelStudio
    ledger: Ledger
    project_id: int
    newest: int
    notices: Notices
    patience: float
    created: int = 0
    updated: int = 0
    prelabels: int = 0
    recovered: int = 0

    def send(
        self,
        tasks: Iterable[tuple[Create | Update, bytes]],
        prelabels: Iterable[tuple[UpdatePrelabels, bytes]],
        plan: Plan,
        advance: Callable[[int], object],
    ) -> None:
        """Carries out creations and updates, each with its task as JSON, then changes of pre-labels."""
        self._send(tasks, advance)
        for update, body in prelabels:
            send_prelabels(self.remote, update, body, self.patience)
            self.prelabels += 1
            advance(1)

    def _send(self, tasks: Iterable[tuple[Create | Update, bytes]], advance: Callable[[int], object]) -> None:
        batch = Batch()
        for operation, body in tasks:
            if isinstance(operation, Update):
                self._update(operation, msgspec.json.decode(body))
                advance(1)
                continue
            if batch.is_full_with(body):
                self._create(batch)
                advance(len(batch.bodies))
                batch = Batch()
            batch.add(operation.item_id, body)
        if batch.bodies:
            self._create(batch)
            advance(len(batch.bodies))

    def _create(self, batch: Batch) -> None:
        intent = self.ledger.begin(self.remote.url, self.project_id, self.newest, batch.markers)
        try:
            ids = self.remote.import_tasks(self.project_id, batch.bodies)
        except OutcomeUnknownError as error:
            settled = isinstance(error, UnansweredError) and error.settled
            found = _look_up(self.remote, self.project_id, self.newest, batch.markers, 0 if settled else self.patience)
            if found is None:
                if settled:
                    self.ledger.end(intent)
                raise
            ids = found
            self.recovered += len(batch.markers)
        except RemoteError as error:
            # Refused, or never sent: nothing of it is there.
            self.ledger.end(intent)
            raise _refused(error, batch) from error
        self.ledger.end(intent)
        self.newest = max(self.newest, *ids)
        self.created += len(batch.markers)

    def _update(self, update: Update, task: Mapping[str, Any]) -> None:
        """Replaces the task's data. What was answered to earlier steps stays known as such in its meta."""
        now = self.remote.task(int(update.task_id), ("meta", "annotations"))
        if now is None:
            raise RemoteError(
                f"task {update.task_id} of item {update.item_id} was deleted meanwhile", hint="Push again."
            )
        old = bridge_meta(now)
        new = with_prelabels_of(old, bridge_meta(task))
        # Asked now: an answer may have come since the listing.
        times = [a["updated_at"] for a in now.get("annotations") or [] if isinstance(a.get("updated_at"), str)]
        ours, answered = revise(old, new, times, steps_changed=update.steps_changed)
        if answered and not update.answers:
            add_notice_of_change(self.notices, update, len(times))
        team = now.get("meta")
        meta = {**(team if isinstance(team, dict) else {}), META: ours}
        repeatable(lambda: self.remote.update_task(int(update.task_id), task["data"], meta))
        self.updated += 1


def _refused(error: RemoteError, batch: Batch) -> RemoteError:
    """The error with the item's id in place of its position in the request."""
    match = re.search(r"\bat item (\d+)", error.message)
    if match is None or int(match[1]) >= len(batch.markers):
        return error
    named = f"item {batch.markers[int(match[1])]!r} is refused, and with it the {len(batch.markers)} of its batch"
    return type(error)(f"{named}: {error.message}", hint=error.hint)


def settle_intents(remote: LabelStudio, ledger: Ledger, project_id: int, patience: float) -> int:
    """Waits for what an earlier, killed push may have sent; returns how many of its tasks have arrived.

    A batch that is older than the patience and not there was never received.
    """
    arrived = 0
    for intent in ledger.intents(remote.url, project_id):
        # A clock that was set back must not make us wait longer than the patience.
        left = min(max(intent.sent_at + patience - time.time(), 0.0), patience)
        if _look_up(remote, project_id, intent.after, intent.markers, left) is not None:
            arrived += len(intent.markers)
        ledger.end(intent.intent_id)
    return arrived


def _look_up(
    remote: LabelStudio, project_id: int, after: int, markers: Sequence[str], patience: float
) -> list[int] | None:
    """The ids of a batch's tasks once all of them are there; None if they do not appear in time."""
    deadline = time.monotonic() + patience
    wanted = set(markers)
    pause = _FIRST_PAUSE
    while True:
        found = [task for task in list_tasks(remote, project_id, after=after) if task.marker in wanted]
        if not missing_markers(markers, found):
            return [int(task.task_id) for task in found]
        if time.monotonic() + pause > deadline:
            return None
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)

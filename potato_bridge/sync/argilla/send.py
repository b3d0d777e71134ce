"""Sending records: upserts by external id, which can be repeated at will.

A record that Argilla refuses is left out and named; the others of its batch are sent.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias

import msgspec

from potato_bridge.converters.argilla.fields import META, read_meta, write_meta
from potato_bridge.converters.fingerprint import PRELABELS_HASH
from potato_bridge.errors import AuthError, OutcomeUnknownError, Problem, RemoteError
from potato_bridge.notices import Notices
from potato_bridge.remotes.argilla import MAX_BYTES, MAX_RECORDS, Argilla
from potato_bridge.remotes.http import to_json
from potato_bridge.sync.argilla.carry import Carried
from potato_bridge.sync.argilla.listing import Listing
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.plan import Create, Plan, Update, UpdatePrelabels
from potato_bridge.sync.repeat import repeatable
from potato_bridge.sync.revisions import add_notice_of_change, revise

#: Records and bytes of one request.
BATCH_RECORDS = MAX_RECORDS
BATCH_BYTES = MAX_BYTES
_AT: Final = re.compile(r"\b(?:position |items\.)(\d+)\b")
_OF_RECORDS: Final = re.compile(r": 422 |larger than the server")
Sent: TypeAlias = tuple[Create | Update | UpdatePrelabels, bytes]
#: Refused records that are named.
_NAMED: Final = 20


@dataclass
class RecordSender:
    """Sends the records that are new or changed; see `backend.Sender`.

    Attributes:
        listing: What the records that are there have beside what the plan knows.
        carried: Answers to the version before, which go with the records.
    """

    remote: Argilla
    ledger: Ledger
    dataset_id: str
    listing: Listing
    carried: Carried
    notices: Notices
    created: int = 0
    updated: int = 0
    prelabels: int = 0
    recovered: int = 0
    _questions: dict[str, str] | None = None
    _done: set[str] = field(default_factory=set)
    _batch: list[Sent] = field(default_factory=list)
    _size: int = 0
    _refused: list[Problem] = field(default_factory=list)

    def send(
        self,
        tasks: Iterable[tuple[Create | Update, bytes]],
        prelabels: Iterable[tuple[UpdatePrelabels, bytes]],
        plan: Plan,
        advance: Callable[[int], object],
    ) -> None:
        """Carries out creations and updates, each with its record as JSON.

        Raises:
            RemoteError: Records are refused; all others were sent.
        """
        if plan.creates or plan.updates or plan.orphans:
            self.ledger.forget_counts(self.remote.url, self.dataset_id)
        if plan.creates:
            self.carried.load(self.remote, self.notices)
        for operation, body in chain(tasks, prelabels):
            if isinstance(operation, UpdatePrelabels) and operation.item_id in self._done:
                # It went with the rest of the record.
                self.prelabels += 1
                advance(1)
                continue
            self._done.add(operation.item_id)
            finished = self._finish(operation, body)
            if self._batch and (len(self._batch) >= BATCH_RECORDS or self._size + len(finished) > BATCH_BYTES):
                self._flush(advance)
            self._batch.append((operation, finished))
            self._size += len(finished) + 1
        self._flush(advance)
        if self._refused:
            more = len(self._refused) - _NAMED
            raise RemoteError(
                f"{self.remote.url} refuses {len(self._refused)} record(s); all others were sent",
                problems=[*self._refused[:_NAMED], *([Problem(f"and {more} more")] if more > 0 else [])],
                hint="Mend these items, and push again.",
            )

    def _finish(self, operation: Create | Update | UpdatePrelabels, body: bytes) -> bytes:
        """The body with what only the server can tell: ids of questions, earlier states, answers to take along."""
        simple = b'"suggestions":' not in body
        if isinstance(operation, Create):
            answers = self.carried.of(operation.item_id)
            if simple and answers is None:
                return body
            record = msgspec.json.decode(body)
            if answers is not None:
                record |= answers.merged(record)
        else:
            old = operation.item_id in self.listing.special or (
                isinstance(operation, Update) and operation.steps_changed
            )
            if simple and not old:
                return body
            record = msgspec.json.decode(body)
            if old:
                record["metadata"] = self._metadata(operation, record["metadata"])
        for suggestion in record.get("suggestions", ()):
            if "question_name" in suggestion:
                suggestion["question_id"] = self._question_id(suggestion.pop("question_name"))
        return to_json(record)

    def _metadata(self, operation: Update | UpdatePrelabels, wanted: Mapping[str, Any]) -> dict[str, Any]:
        # Asked now: an answer may have come since the listing.
        now = self.remote.record(str(operation.task_id))
        if now is None:
            raise RemoteError(
                f"record {operation.task_id} of {operation.item_id} was deleted meanwhile", hint="Push again."
            )
        old, new = read_meta(now.metadata), read_meta(wanted)
        if PRELABELS_HASH in old and PRELABELS_HASH not in new:
            new[PRELABELS_HASH] = old[PRELABELS_HASH]
        if isinstance(operation, Update):
            times = [response.updated_at for response in now.responses or () if response.status != "draft"]
            new, answered = revise(old, new, times, steps_changed=operation.steps_changed)
            if answered and not operation.answers:
                add_notice_of_change(self.notices, operation, len(times))
        elif "revisions" in old:
            new["revisions"] = old["revisions"]
        team = {key: value for key, value in (now.metadata or {}).items() if key != META}
        return {**team, **wanted, **write_meta(new)}

    def _question_id(self, name: str) -> str:
        if self._questions is None:
            self._questions = {question.name: question.id for question in self.remote.questions(self.dataset_id)}
        return self._questions[name]

    def _flush(self, advance: Callable[[int], object]) -> None:
        batch, self._batch, self._size = self._batch, [], 0
        if batch:
            self._upsert(batch)
            advance(len(batch))

    def _upsert(self, batch: Sequence[Sent]) -> None:
        """Sends a batch; of one that is refused, all but the records that Argilla refuses."""
        # A list, and no recursion: every record of a batch may be one that is refused.
        waiting = [batch]
        while waiting:
            part = waiting.pop()
            bodies = [body for _, body in part]
            try:
                repeatable(partial(self.remote.upsert_records, self.dataset_id, bodies))
            except (AuthError, OutcomeUnknownError):
                raise
            except RemoteError as error:
                waiting += self._without_refused(part, error)
                continue
            for operation, _ in part:
                self.created += isinstance(operation, Create)
                self.updated += isinstance(operation, Update)
                self.prelabels += isinstance(operation, UpdatePrelabels)

    def _without_refused(self, batch: Sequence[Sent], error: RemoteError) -> list[Sequence[Sent]]:
        """A refused batch without the record that it was refused for; where none is named, its halves."""
        if not _OF_RECORDS.search(error.message):
            raise error
        match = _AT.search(error.message)
        at = int(match[1]) if match and len(batch) > 1 else 0 if len(batch) == 1 else len(batch)
        if at < len(batch):
            self._refused.append(Problem(f"item {batch[at][0].item_id!r}: {error.message}"))
            parts = [[*batch[:at], *batch[at + 1 :]]]
        else:
            # The first half is sent first.
            parts = [[*batch[len(batch) // 2 :]], [*batch[: len(batch) // 2]]]
        return [part for part in parts if part]

"""Potato's `annotation_output` to records.

Potato has no flag for "submitted": what is stored is what the annotator left on the page, and every record has the
status `submitted`. An answer that says nothing certain (half of a first-error answer) has a flag, and is not exported.

Where `write_annotation_output` put an answer there, the record it came from is read back whole from the sidecar, as
long as nobody has changed the answer on the page since; a change on the page wins.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from potato_bridge.converters.potato import code_review_blobs
from potato_bridge.converters.potato.general_stored import SPANS
from potato_bridge.converters.potato.reward_blobs import merge
from potato_bridge.converters.potato.sidecar import Sidecar, Written, read_sidecar
from potato_bridge.converters.potato.step_lists import StepLists
from potato_bridge.converters.potato.stored_marks import Stored, StoredReader
from potato_bridge.converters.potato.user_states import Times, UserState, read_states
from potato_bridge.errors import InputError
from potato_bridge.model import CodeReviewScheme, Flag, ProcessReward, Project, Record, Source
from potato_bridge.model.process_reward import PerStep, parse
from potato_bridge.notices import Notices

BACKEND = "potato"


def records_from_potato(
    project: Project, folder: Path, notices: Notices, *, skip_corrupt: bool = False
) -> Iterator[Record]:
    """The answers in an `annotation_output`, one record for each user and item.

    Users come in the order of their folders' names, the items of a user as the state has them. One user's state is in
    memory at a time. Answers to items that are not in the data files are kept, flagged `unknown-item`.

    Args:
        project: Says which schemes there are, and where the items are.
        folder: An `annotation_output`: it need not be the project's own.
        notices: Gets what is worth knowing about the answers.
        skip_corrupt: A corrupt state becomes a notice instead of an error after the last good one.

    Raises:
        InputError: No states there, corrupt states, or items that are not as they must be.
        StateError: A sidecar of a newer version.
    """
    lists = StepLists(project)
    for state in read_states(folder, notices, skip_corrupt=skip_corrupt):
        yield from _UserReader(project, lists, state, notices).records()


class _UserReader:
    """The records of one state."""

    def __init__(self, project: Project, lists: StepLists, state: UserState, notices: Notices) -> None:
        self._project = project
        self._lists = lists
        self._state = state
        self._notices = notices
        self._reader = StoredReader(project, lists, notices)
        self._sidecar = self._read_sidecar()
        self._annotator = self._sidecar.annotator if self._sidecar else state.user
        self._user = f"user {self._annotator}"
        self._schemes = {scheme.name: scheme for scheme in project.schemes}

    def _read_sidecar(self) -> Sidecar | None:
        try:
            return read_sidecar(self._state.folder)
        except InputError as error:
            # Nobody's answer is in danger: the state holds it. Only what the page cannot show is missing.
            self._notices.add("corrupt-sidecar", f"{error.message}. {error.hint}".strip())
            return None

    def records(self) -> Iterator[Record]:
        state = self._state
        if state.odd:
            message = "a stored entry has no shape that is known: it is left out"
            self._notices.add("unreadable-entry", message, self._user, state.odd)
        if state.links:
            message = "links between spans and events are not read"
            self._notices.add("links-not-read", message, self._user, len(state.links))
        if state.origin.get("kind") == "machine":
            message = f"{self._annotator} is not a person: Potato has it as a machine annotator"
            self._notices.add("machine-annotator", message, self._user)
        written = self._sidecar.by_item() if self._sidecar else {}
        for item in dict.fromkeys([*state.labels, *state.spans, *written]):
            record = self._of_item(item, written.get(item))
            if record is not None:
                yield record

    def _of_item(self, item: str, written: Written | None) -> Record | None:
        where = f"{self._user} item {item}"
        entries = {scheme: dict(stored) for scheme, stored in self._state.labels.get(item, {}).items()}
        for span in self._state.spans.get(item, []):
            plain = {key: value for key, value in span.items() if key != "schema"}
            entries.setdefault(span["schema"], {}).setdefault(SPANS, []).append(plain)
        answers = {scheme: self._reader.read(item, scheme, stored, where) for scheme, stored in entries.items()}
        if written is not None:
            return self._merge(written, answers, where)
        if not any(stored.value is not None or stored.flags for stored in answers.values()):
            return None
        times = self._state.times.get(item, Times())
        record = Record(
            id=item,
            annotator=self._annotator,
            annotations={scheme: stored.value for scheme, stored in answers.items() if stored.value is not None},
            created_at=times.started,
            updated_at=times.ended,
            lead_time=times.seconds,
            source=Source(backend=BACKEND),
            flags=[flag for stored in answers.values() for flag in stored.flags],
        )
        if item not in self._lists and not any(flag.code == "unknown-item" for flag in record.flags):
            record.flags.append(Flag(code="unknown-item", message="the item is not in the config's data files"))
        if self._state.origin:
            record.unknown = {"origin": self._state.origin}
        return record

    def _merge(self, written: Written, answers: dict[str, Stored], where: str) -> Record:
        """The record that was written, with what the page has changed since."""
        record = written.to_record()
        changed = False
        for scheme in dict.fromkeys([*answers, *written.marks]):
            stored = answers.get(scheme, Stored())
            ours = scheme in written.marks
            known = self._schemes.get(scheme)
            if ours and _is_ours(stored, written.marks[scheme], isinstance(known, ProcessReward)):
                continue
            changed |= ours
            value = self._changed(scheme, record, stored, where) if ours else stored.value
            record.flags = [flag for flag in record.flags if flag.scheme != scheme] + stored.flags
            record.annotations.pop(scheme, None)
            if value is not None:
                record.annotations[scheme] = value
        if changed:
            # It is no longer what that annotation on the server says.
            record.source = Source(backend=BACKEND)
            record.updated_at = self._state.times.get(record.id, Times()).ended
        return record

    def _changed(self, scheme: str, record: Record, stored: Stored, where: str) -> object:
        message = f"the answer to {scheme} was changed on Potato's page: what the page says counts"
        known = self._schemes.get(scheme)
        old = record.annotations.get(scheme)
        if isinstance(known, ProcessReward) and isinstance(stored.marks, list) and old is not None and not stored.flags:
            before = _per_step(old)
            if before is not None and _per_step(stored.value) and before.total_steps == len(stored.marks):
                merged, steps = merge(before, stored.marks, known)
                message += "; the changed steps have no score, label, category or notes any more"
                self._notices.add("page-changed-answer", message, where, len(steps))
                return merged.to_json()
        self._notices.add("page-changed-answer", message, where)
        if isinstance(known, CodeReviewScheme) and isinstance(stored.value, dict) and "comments" in stored.value:
            return code_review_blobs.merge(old, stored.value)
        return stored.value


def _is_ours(stored: Stored, ours: list[Any], rewards: bool) -> bool:
    """Whether a state still holds what was written into it."""
    if stored.marks in ours or not stored.placed:
        return True
    # Another number of steps: the item has changed, not the answer. Exports notice that by themselves.
    last = ours[-1]
    return rewards and isinstance(last, list) and isinstance(stored.marks, list) and len(last) != len(stored.marks)


def _per_step(value: object) -> PerStep | None:
    try:
        answer = parse(value)
    except InputError:
        return None
    return answer if isinstance(answer, PerStep) else None

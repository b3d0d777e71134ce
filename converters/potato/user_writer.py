"""Puts the records of one annotator into one state and its sidecar."""

from enum import StrEnum
from pathlib import Path
from typing import Any

from potato_bridge.converters.potato import code_review_blobs, general_qa
from potato_bridge.converters.potato.general_spans import write_stored_spans
from potato_bridge.converters.potato.general_stored import SPANS
from potato_bridge.converters.potato.reward_blobs import allows_neutral, write_blob
from potato_bridge.converters.potato.sidecar import (
    SIDECAR,
    Sidecar,
    Written,
    key_of,
    read_sidecar,
    to_bytes,
    write_sidecar,
)
from potato_bridge.converters.potato.state_document import StateDocument
from potato_bridge.converters.potato.step_lists import StepLists, steps_key
from potato_bridge.converters.potato.stored_answers import blob_entries, blob_of, write_value
from potato_bridge.converters.potato.stored_marks import Stored, StoredReader
from potato_bridge.converters.potato.trajectory_eval_blobs import write_judgements
from potato_bridge.converters.potato.user_states import STATE, Entries
from potato_bridge.errors import InputError
from potato_bridge.model import CodeReviewScheme, General, ProcessReward, Project, Record, to_builtins
from potato_bridge.model.process_reward import PerStep, parse
from potato_bridge.model.trajectory_eval import TrajectoryEval
from potato_bridge.notices import Notices


class Outcome(StrEnum):
    """What became of one record."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    REMOVED = "removed"
    NOT_WRITABLE = "not-writable"
    NOTHING_TO_REMOVE = "status-withdrawn"


class UserWriter:
    """Changes one state in memory; `write` puts it on the disk.

    Args:
        place: The user's folder; it may be missing.
        annotator: The name on the backend.
        notices: Gets what the state cannot hold or did not take.

    Raises:
        InputError: The state is corrupt.
    """

    def __init__(self, project: Project, lists: StepLists, place: Path, annotator: str, notices: Notices) -> None:
        self._project = project
        self._lists = lists
        self._place = place
        self._notices = notices
        self._state = StateDocument(place)
        self._sidecar = read_sidecar(place) or Sidecar(annotator=annotator)
        self._written = self._sidecar.by_item()
        self._on_disk = to_bytes(self._sidecar)
        self._schemes = {scheme.name: scheme for scheme in project.schemes}
        # Faults of stored answers are the reader's business: here it is only asked whether they are ours.
        self._reader = StoredReader(project, lists, Notices())

    @property
    def holds_records(self) -> bool:
        """Whether any record of ours is in the state."""
        return bool(self._written)

    def put(self, record: Record) -> Outcome:
        """Writes the answers of a submitted record, as far as the page has no other ones."""
        where = f"item {record.id} of {record.annotator}"
        plain = to_builtins(record)
        old = self._written.get(record.id)
        marks: dict[str, list[Any]] = {}
        kept = writable = taken = changed = False
        for scheme, value in record.annotations.items():
            entries = self._entries(record.id, scheme, value, where)
            if entries is None:
                continue
            writable = True
            stored = self._stored(record.id, scheme)
            new = self._reader.read(record.id, scheme, entries, where).marks
            ours = old.marks.get(scheme, []) if old else []
            if stored.marks is None:
                # Nothing is there. What we wrote and the page has cleared since stays cleared until there is news.
                free = not ours or None in ours or (old is not None and old.record != plain)
            else:
                free = stored.marks == new or stored.marks in ours
            if not free:
                kept = True
                message = f"there is another answer to {scheme} on Potato's page: it stays, this one is not written"
                self._notices.add("page-answer-kept", message, where)
                if ours:
                    marks[scheme] = ours
                continue
            taken = True
            marks[scheme] = [new] if stored.marks == new else [stored.marks, new]
            if stored.marks == new:
                entries = self._completed(record.id, scheme, entries)
            changed |= self._state.entries(record.id, scheme) != entries
            self._state.replace(record.id, scheme, entries)
        if not writable:
            return Outcome.NOT_WRITABLE
        if not taken:
            return Outcome.KEPT
        self._written[record.id] = Written(record=plain, marks=marks)
        self._state.assign(record.id)
        if kept:
            return Outcome.KEPT
        return Outcome.WRITTEN if changed or old is None or old.record != plain else Outcome.UNCHANGED

    def withdraw(self, record: Record) -> Outcome:
        """Takes out what was written for a record that was deleted since, unless the page has changed it."""
        old = self._written.get(record.id)
        if old is None or key_of(old) != record.key:
            return Outcome.NOTHING_TO_REMOVE
        where = f"item {record.id} of {record.annotator}"
        kept = False
        for scheme, ours in old.marks.items():
            stored = self._stored(record.id, scheme)
            if stored.marks is None or stored.marks in ours:
                self._state.replace(record.id, scheme, {})
            else:
                kept = True
                message = f"the answer to {scheme} was withdrawn, but it was changed on Potato's page: it stays"
                self._notices.add("page-answer-kept", message, where)
        del self._written[record.id]
        return Outcome.KEPT if kept else Outcome.REMOVED

    def write(self) -> list[Path]:
        """Writes what has changed: the sidecar before the state, so that a killed run is not taken for an edit.

        Returns:
            The files that were written.
        """
        files = []
        if self._state.changed:
            self._place.mkdir(parents=True, exist_ok=True)
            self._save_sidecar()
            self._state.write()
            files.append(self._place / STATE)
        for written in self._written.values():
            # The state is there: from now on only the new marks are ours.
            written.marks = {scheme: candidates[-1:] for scheme, candidates in written.marks.items()}
        if self._save_sidecar():
            files.append(self._place / SIDECAR)
        return files

    def _save_sidecar(self) -> bool:
        self._sidecar.written = list(self._written.values())
        data = to_bytes(self._sidecar)
        if data == self._on_disk:
            return False
        write_sidecar(self._place, data)
        self._on_disk = data
        return True

    def _stored(self, item: str, scheme: str) -> Stored:
        return self._reader.read(item, scheme, self._state.entries(item, scheme), "")

    def _completed(self, item: str, scheme: str, entries: Entries) -> Entries:
        """Entries where the same answer is stored already: its own text, which may say more, and all copies of it."""
        there = self._state.entries(item, scheme)
        if not there or scheme not in entries:
            return there or entries
        blob = blob_of(there, scheme)
        return dict.fromkeys(entries, blob)

    def _entries(self, item: str, scheme: str, value: Any, where: str) -> Entries | None:
        """What to store for a value; None, with a notice, where the state cannot hold it."""
        known = self._schemes.get(scheme)
        if known is None:
            message = f"scheme {scheme!r} is not in the config: Potato does not show its answer"
            self._notices.add("scheme-not-in-config", message, where)
            return None
        if isinstance(known, ProcessReward):
            return self._rewards(item, known, value, where)
        if isinstance(known, CodeReviewScheme):
            return self._review(known, value, where)
        if isinstance(known, TrajectoryEval):
            return self._judgements(item, known, value, where)
        entries: Entries | None
        if isinstance(known, General) and known.type == "span":
            spans = write_stored_spans(known, value, self._lists.texts(item))
            entries = {SPANS: spans} if spans else None
        elif isinstance(known, General) and known.type == general_qa.TYPE:
            blob = general_qa.write_stored_answer(known, value, self._lists.texts(item))
            entries = {scheme: blob} if blob else None
        else:
            entries = write_value(known, value)
        if not entries:
            message = f"the answer to {scheme} is not one that Potato can store: Potato does not show it"
            self._notices.add("value-not-written", message, where)
        return entries or None

    def _rewards(self, item: str, scheme: ProcessReward, value: Any, where: str) -> Entries | None:
        steps = self._lists.of(item, scheme, self._project)
        try:
            answer = parse(value)
            if steps is None:
                raise InputError(f"the item has no list of steps at {steps_key(scheme, self._project)!r}")
            if answer.total_steps != len(steps.ratable):
                raise InputError(f"it rates {answer.total_steps} steps, and the item has {len(steps.ratable)}")
        except InputError as error:
            message = f"the answer to {scheme.name} cannot be shown: {error.message}"
            self._notices.add("value-not-written", message, where)
            return None
        self._say_what_is_hidden(answer, scheme, where)
        return blob_entries(scheme.name, "process_reward", write_blob(answer, steps, scheme))

    def _judgements(self, item: str, scheme: TrajectoryEval, value: Any, where: str) -> Entries | None:
        steps = self._lists.of(item, scheme, self._project)
        try:
            if steps is None:
                raise InputError(f"the item has no list of steps at {scheme.steps_key!r}")
            blob = write_judgements(scheme, value, steps)
        except InputError as error:
            message = f"the answer to {scheme.name} cannot be shown: {error.message}"
            self._notices.add("value-not-written", message, where)
            return None
        return blob_entries(scheme.name, scheme.type, blob)

    def _review(self, scheme: CodeReviewScheme, value: Any, where: str) -> Entries | None:
        try:
            blob = code_review_blobs.write_review(value)
        except InputError as error:
            message = f"the answer to {scheme.name} cannot be shown: {error.message}"
            self._notices.add("value-not-written", message, where)
            return None
        if hidden := code_review_blobs.beside(value):
            message = (
                "Potato's page shows category, file, line and text of a comment: its side, first line, severity and "
                f"suggestion, and the summary of a review, are kept with it and in {SIDECAR}"
            )
            self._notices.add("kept-beside-state", message, where, hidden)
        return blob_entries(scheme.name, scheme.type, blob)

    def _say_what_is_hidden(self, answer: Any, scheme: ProcessReward, where: str) -> None:
        if scheme.steps_key is None and steps_key(scheme, self._project) != "steps":
            message = (
                f"Potato's page finds no steps for {scheme.name}: it looks at the item's 'steps'; add steps_key: "
                f"{steps_key(scheme, self._project)} to the scheme"
            )
            self._notices.add("page-without-steps", message, str(self._project.config))
        if not isinstance(answer, PerStep):
            return
        neutral = sum(label == 0 for label in answer.labels)
        if neutral and not allows_neutral(scheme, "per_step"):
            message = "a neutral step is shown unmarked: Potato's page has no neutral without allow_neutral"
            self._notices.add("neutral-not-shown", message, where, neutral)
        finer = sum(
            label is not None and (abs(label) not in (0, 1) or _says_more(answer, step, scheme))
            for step, label in enumerate(answer.labels)
        )
        if finer:
            message = (
                "Potato's page shows a step as correct or wrong only: its score, label, category and notes are kept "
                f"beside the state, in {SIDECAR}"
            )
            self._notices.add("kept-beside-state", message, where, finer)


def _says_more(answer: PerStep, step: int, scheme: ProcessReward) -> bool:
    detail = answer.step_details.get(step)
    if detail is None:
        return False
    label = next((label for label in scheme.per_step.labels if label.value == detail.label), None)
    return bool(detail.error_category or detail.notes) or label is None or abs(label.score) not in (0, 1)

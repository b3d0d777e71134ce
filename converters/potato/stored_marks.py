"""What a state holds for one scheme of one item: the answer, and the marks by which a change is noticed."""

from dataclasses import dataclass, field
from typing import Any

from potato_bridge.converters.potato import code_review_blobs, general_qa
from potato_bridge.converters.potato.general_spans import read_stored_spans
from potato_bridge.converters.potato.general_stored import SPANS
from potato_bridge.converters.potato.reward_blobs import Reward, json_of, marks, read_blob, read_rewards
from potato_bridge.converters.potato.step_lists import StepList, StepLists
from potato_bridge.converters.potato.stored_answers import EXPORTER_LABEL, JSON_TYPES, blob_of, read_value
from potato_bridge.converters.potato.trajectory_eval_blobs import read_judgements
from potato_bridge.converters.potato.user_states import Entries
from potato_bridge.errors import InputError
from potato_bridge.model import CodeReviewScheme, Flag, General, ProcessReward, Project
from potato_bridge.model.project import Scheme
from potato_bridge.model.trajectory_edit import plain_breaks
from potato_bridge.model.trajectory_eval import TrajectoryEval
from potato_bridge.notices import Notices


@dataclass(slots=True)
class Stored:
    """One stored answer.

    Attributes:
        value: As a record has it; None: nothing is answered.
        marks: What of it the page can change, as plain JSON; None: nothing is answered.
        flags: What is wrong with it.
    """

    value: Any = None
    marks: Any = None
    flags: list[Flag] = field(default_factory=list)

    @property
    def placed(self) -> bool:
        """Whether it is known to which steps it belongs."""
        return not any(flag.code in ("unknown-item", "no-steps") for flag in self.flags)


class StoredReader:
    """Reads the answers of one project's states.

    Args:
        notices: Gets what is worth knowing and is no fault of an answer.
    """

    def __init__(self, project: Project, lists: StepLists, notices: Notices) -> None:
        self._project = project
        self._lists = lists
        self._notices = notices
        self._schemes = {scheme.name: scheme for scheme in project.schemes}

    def read(self, item_id: str, scheme: str, entries: Entries, where: str) -> Stored:
        """What the entries of a scheme say; a value that cannot be read is kept as it is stored, with a flag."""
        known = self._schemes.get(scheme)
        kind = known.type if known else ""
        if not entries or (kind in JSON_TYPES and all(value in ("", None) for value in entries.values())):
            return Stored()
        try:
            if isinstance(known, ProcessReward):
                return self._rewards(item_id, known, entries, where)
            if isinstance(known, CodeReviewScheme):
                return _review(known, entries)
            if known is None:
                message = f"scheme {scheme!r} is answered and is not in the config: its answers are kept as stored"
                self._notices.add("scheme-not-in-config", message, where)
                return Stored(entries[SPANS] if entries.keys() == {SPANS} else entries, entries)
            if isinstance(known, TrajectoryEval):
                return self._judgements(item_id, known, entries)
            if isinstance(known, General) and known.type == general_qa.TYPE:
                blob = json_of(blob_of(entries, known.name))
                value, flags = general_qa.read_stored_answer(known, blob, self._lists.texts(item_id))
                return Stored(value, blob, flags)
            if isinstance(known, General) and known.type == "span" and isinstance(entries.get(SPANS), list):
                value, flags = read_stored_spans(known, entries[SPANS], self._lists.texts(item_id))
                return Stored(value, entries, flags)
            # Of a scheme that is kept as it is, spans are too.
            value = entries[SPANS] if entries.keys() == {SPANS} else read_value(known, entries)
        except InputError as error:
            return Stored(entries, entries, [Flag(code="unreadable-answer", message=error.message, scheme=scheme)])
        return Stored(value, _plain_marks(known, entries))

    def _judgements(self, item_id: str, scheme: TrajectoryEval, entries: Entries) -> Stored:
        steps = self._lists.of(item_id, scheme, self._project)
        blob = json_of(blob_of(entries, scheme.name))
        value, judged, flags = read_judgements(scheme, blob, steps)
        if steps is None and value is not None:
            code, what = "no-steps", f"has no list of steps at {scheme.steps_key!r}"
            if item_id not in self._lists:
                code, what = "unknown-item", "is not in the config's data files"
            message = f"the item {what}, so it is not known what was judged"
            flags.append(Flag(code=code, message=message, scheme=scheme.name))
        return Stored(value, judged, flags)

    def _rewards(self, item_id: str, scheme: ProcessReward, entries: Entries, where: str) -> Stored:
        stored = blob_of(entries, scheme.name)
        blob = read_blob(stored, scheme)
        steps = self._lists.of(item_id, scheme, self._project)
        if steps is None:
            # Without the steps it is not known which position is which step: kept as it is stored.
            code, what = "no-steps", "has no list of steps"
            if item_id not in self._lists:
                code, what = "unknown-item", "is not in the config's data files"
            raw = json_of(stored)
            message = f"the item {what}, so it is not known what was rewarded"
            return Stored(raw, raw, [Flag(code=code, message=message, scheme=scheme.name)])
        if blob.unconfirmed:
            message = "a reward that an AI suggested was never confirmed: the step counts as unrated"
            self._notices.add("ai-unconfirmed", message, where, blob.unconfirmed)
        reading = read_rewards(blob, steps, scheme)
        if reading.on_other_turn:
            message = "the first error was marked at a turn that is not rated: the next rated step counts as it"
            self._notices.add("error-on-other-turn", message, where)
        rewards = marks(blob, steps)
        if self._is_stale(entries, scheme, steps, rewards):
            message = (
                "the page was used after the answer was written: Potato's own exporters read an older copy of it "
                f"(label name {EXPORTER_LABEL!r}); the page's answer counts here"
            )
            self._notices.add("stale-copy", message, where)
        answered = bool(reading.flags) or any(reward is not None for reward in rewards)
        return Stored(reading.value, rewards if answered else None, reading.flags)

    @staticmethod
    def _is_stale(entries: Entries, scheme: ProcessReward, steps: StepList, rewards: list[Reward]) -> bool:
        copy = entries.get(EXPORTER_LABEL)
        if not copy or scheme.name not in entries:
            return False
        try:
            return marks(read_blob(copy, scheme), steps) != rewards
        except InputError:
            return True


def _review(scheme: CodeReviewScheme, entries: Entries) -> Stored:
    review, flags = code_review_blobs.read_review(json_of(blob_of(entries, scheme.name)), scheme)
    if code_review_blobs.is_empty(review):
        return Stored()
    return Stored(review.to_json(), code_review_blobs.marks(review), flags)


def _plain_marks(scheme: Scheme, entries: Entries) -> Any:
    if scheme.type not in JSON_TYPES:
        return entries
    blob = json_of(blob_of(entries, scheme.name))
    if scheme.type != "trajectory_edit" or not isinstance(blob, dict):
        return blob
    # To look at an edited trace is enough for the page to store it anew, with entries for fields that nobody edited.
    steps = blob.get("steps")
    edits = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    final = blob.get("final_answer")
    edits += [final] if isinstance(final, dict) else []
    keys = ("step_index", "field", "edited_text", "reason")
    # And all its line breaks are newlines.
    marks = [[edit.get(key) for key in keys] for edit in edits if edit.get("edited")]
    return [[plain_breaks(mark) if isinstance(mark, str) else mark for mark in marked] for marked in marks]

"""Edits of a trajectory, whoever asked for them: originals and corrected texts → the value, and back.

A text box makes every line break a newline: texts are compared without their kinds of line breaks, and get back the
original's.
"""

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.view.originals import Original, digest
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.trajectory_edit import (
    FinalEdit,
    Place,
    StepEdit,
    TrajectoryEdits,
    breaks_of,
    parse_trajectory_edit,
    plain_breaks,
)
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

#: Why a text cannot be taken: a flag's code, and its message.
Problem: TypeAlias = tuple[str, str]


class EditReader:
    """Takes the texts of one answer, by the position of their original.

    Args:
        scheme: The scheme.
        now: The originals that there are now, the final answer last.
        about: Where an earlier state was answered: what `about` noted of it; else None.
        answer: Gets the flag `invalid-json`, and from `miss_reasons` `missing-required`.
    """

    def __init__(self, scheme: TrajectoryEdit, now: Sequence[Original], about: Any, answer: Answer) -> None:
        self._scheme, self._answer = scheme, answer
        self._steps: dict[int, tuple[Original, str]] = {}
        self._reasons: dict[int, str] = {}
        self._final: FinalEdit | None = None
        self._then = None if about is None else _then(about)
        if self._then is not None:
            # What has not changed since is known; of the others there is a hash.
            same = {(original.place, digest(original.text)): original for original in now}
            self._originals = [same.get(then) for then in self._then]
        else:
            self._originals = [*now]
        #: Where each original stands, None for the final answer.
        self.places: list[Place | None]
        self.places = [then[0] for then in self._then] if self._then is not None else [o.place for o in now]

    def reason(self, at: int, text: str) -> Problem | None:
        """Takes the reason for an edit; call it when all edits were taken."""
        self._reasons[at] = text
        if text.strip() and self._originals[at] is None:
            return "original-changed", f"{self.label(at)}: a reason, and its original has changed since"
        return None

    def edit(self, at: int, text: str) -> Problem | None:
        """Takes a corrected text."""
        original = self._originals[at]
        if original is None:
            assert self._then is not None
            if digest(text) == self._then[at][1]:
                return None
            return "original-changed", f"{self.label(at)}: it was edited, and its original has changed since"
        if plain_breaks(text) == plain_breaks(original.text) and (text == original.text or "\r" not in text):
            text = original.text
        else:
            text = breaks_of(original.text, text)
            if original.is_json and not _is_json(text):
                # The edit is kept: somebody has to look at it.
                self._answer.flag("invalid-json", f"{original.label}: the corrected text is no JSON", self._scheme)
        if original.place is None:
            self._final = FinalEdit(original_text=original.text, edited_text=text)
        else:
            self._steps[at] = (original, text)
        return None

    def label(self, at: int) -> str:
        """What an original is called in messages."""
        original = self._originals[at]
        if original is not None:
            return original.label
        assert self._then is not None
        return Original(self._then[at][0], "").label

    def value(self) -> TrajectoryEdits:
        """What was changed, or has a reason."""
        steps = []
        for at, original in enumerate(self._originals):
            text = self._steps[at][1] if at in self._steps else original.text if original else ""
            reason = self._reasons.get(at, "")
            if original is not None and original.place and (text != original.text or reason):
                index, field = original.place
                edit = StepEdit(
                    step_index=index, field=field, original_text=original.text, edited_text=text, reason=reason
                )
                steps.append(edit)
        return TrajectoryEdits(steps=steps, final_answer=self._final if self._final and self._final.edited else None)

    def miss_reasons(self) -> None:
        """Flags the edits that have no reason."""
        for at, (original, text) in sorted(self._steps.items()):
            if text != original.text and not self._reasons.get(at, "").strip():
                message = f"{original.label}: no reason is given for the change"
                self._answer.flag("missing-required", message, self._scheme)


def _then(about: Any) -> list[tuple[Place | None, str]]:
    """Place and hash of each original of an earlier state, as `about_originals` noted them."""
    found: list[tuple[Place | None, str]] = []
    for entry in about if isinstance(about, list) else []:
        if isinstance(entry, list) and len(entry) == 3:
            found.append((None if entry[0] is None else (entry[0], entry[1]), str(entry[2])))
    return found


def about_originals(found: Sequence[Original]) -> list[list[Any]] | None:
    """What is needed to read an answer when the item has changed: which fields there were, and hashes of them."""
    return [[*(original.place or (None, None)), digest(original.text)] for original in found] or None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def edits_to_write(value: Any, found: Sequence[Original]) -> tuple[dict[Place | None, str], dict[Place, str]]:
    """What an annotator writes who means a value.

    Returns:
        The corrected texts by their place (None: the final answer), and the reasons.

    Raises:
        InputError: No such value, or an edit of what the task does not have or has otherwise.
    """
    parsed = parse_trajectory_edit(value)
    by_place = {original.place: original for original in found}
    edits: list[tuple[Place | None, FinalEdit]] = [(edit.place, edit) for edit in parsed.steps]
    edits += [(None, parsed.final_answer)] if parsed.final_answer else []
    for place, edit in edits:
        original = by_place.get(place)
        label = Original(place, "").label
        if original is None:
            raise InputError(
                f"{label}: the task has no such field to correct",
                hint="The item, or editable_fields of the config, changed after it was annotated.",
            )
        if not _same(original, edit.original_text):
            raise InputError(f"{label}: the original is another now", hint="The item changed after it was annotated.")
        if edit.edited and plain_breaks(edit.edited_text) == plain_breaks(edit.original_text):
            raise InputError(f"{label}: only line breaks differ, and a text box has one kind of them")
    texts = {place: storable(edit.edited_text) for place, edit in edits if edit.edited}
    return texts, {edit.place: storable(edit.reason) for edit in parsed.steps if edit.reason}


def _same(original: Original, text: str) -> bool:
    if plain_breaks(original.text) == plain_breaks(storable(text)):
        return True
    # JSON of another writer: other spaces, other escapes.
    try:
        return original.is_json and bool(json.loads(text) == json.loads(original.text))
    except (ValueError, RecursionError):
        return False

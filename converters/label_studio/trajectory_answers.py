"""Results ↔ values of `trajectory_edit`.

Every box holds the original when it is opened, so a result is an edit only where its text is another. A text box makes
every line break a newline: texts are compared without their kinds of line breaks, and get back the original's.
"""

import json
from collections.abc import Mapping
from typing import Any

from potato_bridge.converters.answer import Answer, values_of
from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.question import Entries, Task
from potato_bridge.converters.label_studio.trajectory_fields import (
    EDIT,
    FINAL,
    ON_PAGE,
    PAGED,
    REASON,
    control,
    originals_of,
    place_of,
)
from potato_bridge.converters.view.originals import Original, digest
from potato_bridge.converters.view.text import storable
from potato_bridge.errors import InputError
from potato_bridge.model.trajectory_edit import (
    FinalEdit,
    StepEdit,
    TrajectoryEdits,
    breaks_of,
    parse_trajectory_edit,
    plain_breaks,
)
from potato_bridge.model.trajectory_scheme import TrajectoryEdit


def read(scheme: TrajectoryEdit, task: Task, entries: Entries, answer: Answer, complete: bool) -> None:
    """Reads the entries of the scheme's controls. Boxes that are all as they were: a value without edits.

    No entry at all is no answer: the page was answered before it had these boxes, or it was skipped.
    """
    if not entries:
        if scheme.required and complete:
            answer.flag("missing-required", "the required answer is missing", scheme)
        return
    reader = _Reader(scheme, task, answer)
    found: dict[str, Entries] = {}
    for entry in entries:
        found.setdefault(str(entry["from_name"]), []).append(entry)
    # Edits first: whether a reason is asked for depends on them.
    order = {EDIT: 0, FINAL: 1, REASON: 2}
    for name, own in sorted(found.items(), key=lambda pair: order[(place_of(scheme, pair[0]) or (EDIT, 0))[0]]):
        reader.read(name, own)
    answer.annotations[scheme.name] = reader.value().to_json()
    if complete and scheme.require_reason_on_edit:
        reader.miss_reasons()


class _Reader:
    """Reads the controls of one annotation; what is no answer stays in `controls`, with a flag."""

    def __init__(self, scheme: TrajectoryEdit, task: Task, answer: Answer) -> None:
        self._scheme, self._answer = scheme, answer
        self._steps: dict[int, tuple[Original, str]] = {}
        self._reasons: dict[int, str] = {}
        self._final: FinalEdit | None = None
        now = originals_of(scheme, task.data)
        self._then = None if task.revision is None else _then(scheme, task.revision)
        if self._then is not None:
            # What has not changed since is known; of the others there is a hash.
            same = {(original.place, digest(original.text)): original for original in now}
            self._originals = [same.get(then) for then in self._then]
        else:
            self._originals = [*now]
        places = [then[0] for then in self._then] if self._then is not None else [o.place for o in now]
        self._count = sum(place is not None for place in places)

    def read(self, name: str, entries: Entries) -> None:
        part, number = place_of(self._scheme, name) or (EDIT, 0)
        texts = [text for entry in entries for text in values_of(entry, "text")]
        problem: tuple[str, str] | None = None
        at = self._count + number if part == FINAL else number
        if at >= len(self._originals) or (part != FINAL and number >= self._count):
            problem = "step-out-of-range", f"the task has no field {number} to correct"
        elif len(entries) != 1 or len(texts) != 1 or not isinstance(texts[0], str):
            message = f"one text was expected, and {len(texts)} are there in {len(entries)} entries"
            problem = "bad-result", f"{self._label(at)}: {message}"
        elif part == REASON:
            self._reasons[number] = texts[0]
            if texts[0].strip() and self._originals[at] is None:
                problem = "original-changed", f"{self._label(at)}: a reason, and its original has changed since"
        else:
            problem = self._edit(at, part, texts[0])
        if problem:
            self._answer.controls[name] = entries
            self._answer.flag(*problem, self._scheme)

    def _edit(self, at: int, part: str, text: str) -> tuple[str, str] | None:
        original = self._originals[at]
        if original is None:
            assert self._then is not None
            if digest(text) == self._then[at][1]:
                return None
            return "original-changed", f"{self._label(at)}: it was edited, and its original has changed since"
        if plain_breaks(text) == plain_breaks(original.text) and (text == original.text or "\r" not in text):
            text = original.text
        else:
            text = breaks_of(original.text, text)
            if original.is_json and not _is_json(text):
                # The edit is kept: somebody has to look at it.
                self._answer.flag("invalid-json", f"{original.label}: the corrected text is no JSON", self._scheme)
        if part == FINAL:
            self._final = FinalEdit(original_text=original.text, edited_text=text)
        else:
            self._steps[at] = (original, text)
        return None

    def _label(self, at: int) -> str:
        original = self._originals[at]
        if original is not None:
            return original.label
        assert self._then is not None
        return Original(self._then[at][0], "").label

    def value(self) -> TrajectoryEdits:
        """What was changed, or has a reason."""
        steps = []
        for at, original in enumerate(self._originals[: self._count]):
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


def _then(scheme: TrajectoryEdit, revision: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """Place and hash of each original of an earlier state, as `about` noted them."""
    about = revision.get("about")
    noted = about.get(scheme.name) if isinstance(about, Mapping) else None
    found: list[tuple[Any, str]] = []
    for entry in noted if isinstance(noted, list) else []:
        if isinstance(entry, list) and len(entry) == 3:
            found.append((None if entry[0] is None else (entry[0], entry[1]), str(entry[2])))
    return found


def about(scheme: TrajectoryEdit, data: Mapping[str, Any]) -> list[list[Any]] | None:
    """What is needed to read an answer when the item has changed: which fields there were, and hashes of them."""
    found = originals_of(scheme, data)
    return [[*(original.place or (None, None)), digest(original.text)] for original in found] or None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def prefill(scheme: TrajectoryEdit, data: Mapping[str, Any]) -> Entries:
    """The originals in their boxes."""
    return _entries(scheme, data, {}, {})


def write(scheme: TrajectoryEdit, data: Mapping[str, Any], value: Any) -> Entries:
    """All boxes as an annotator leaves them who has made these edits.

    Raises:
        InputError: No such value, or an edit of what the task does not have or has otherwise.
    """
    parsed = parse_trajectory_edit(value)
    found = originals_of(scheme, data)
    by_place = {original.place: original for original in found}
    edits: list[tuple[Any, FinalEdit]] = [(edit.place, edit) for edit in parsed.steps]
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
    reasons = {edit.place: storable(edit.reason) for edit in parsed.steps if edit.reason}
    return _entries(scheme, data, texts, reasons)


def _same(original: Original, text: str) -> bool:
    if plain_breaks(original.text) == plain_breaks(storable(text)):
        return True
    # JSON of another writer: other spaces, other escapes.
    try:
        return original.is_json and bool(json.loads(text) == json.loads(original.text))
    except (ValueError, RecursionError):
        return False


def _entries(
    scheme: TrajectoryEdit, data: Mapping[str, Any], texts: Mapping[Any, str], reasons: Mapping[Any, str]
) -> Entries:
    results, found = [], originals_of(scheme, data)
    mark = ON_PAGE if data.get(fields.data_key(scheme, PAGED)) else ""
    count = sum(original.place is not None for original in found)
    for at, original in enumerate(found):
        name = control(scheme, EDIT, f"{mark}{at}") if original.place else control(scheme, FINAL, at - count)
        results.append(_entry(name, texts.get(original.place, original.text)))
        if original.place in reasons:
            results.append(_entry(control(scheme, REASON, f"{mark}{at}"), reasons[original.place]))
    return results


def _entry(name: str, text: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": fields.TASK_OBJECT, "type": "textarea", "value": {"text": [text]}}

"""Results ↔ values of `trajectory_edit`.

Every box holds the original when it is opened, so a result is an edit only where its text is another. A text box makes
every line break a newline: texts are compared without their kinds of line breaks, and get back the original's.
"""

from collections.abc import Mapping
from typing import Any

from potato_bridge.converters.answer import Answer, values_of
from potato_bridge.converters.edits import EditReader, about_originals, edits_to_write
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
    answer.annotations[scheme.name] = reader.edits.value().to_json()
    if complete and scheme.require_reason_on_edit:
        reader.edits.miss_reasons()


class _Reader:
    """Reads the controls of one annotation; what is no answer stays in `controls`, with a flag."""

    def __init__(self, scheme: TrajectoryEdit, task: Task, answer: Answer) -> None:
        self._scheme, self._answer = scheme, answer
        about = None if task.revision is None else _about_of(scheme, task.revision)
        self.edits = EditReader(scheme, originals_of(scheme, task.data), about, answer)
        self._count = sum(place is not None for place in self.edits.places)

    def read(self, name: str, entries: Entries) -> None:
        part, number = place_of(self._scheme, name) or (EDIT, 0)
        texts = [text for entry in entries for text in values_of(entry, "text")]
        problem: tuple[str, str] | None = None
        at = self._count + number if part == FINAL else number
        if at >= len(self.edits.places) or (part != FINAL and number >= self._count):
            problem = "step-out-of-range", f"the task has no field {number} to correct"
        elif len(entries) != 1 or len(texts) != 1 or not isinstance(texts[0], str):
            message = f"one text was expected, and {len(texts)} are there in {len(entries)} entries"
            problem = "bad-result", f"{self.edits.label(at)}: {message}"
        elif part == REASON:
            problem = self.edits.reason(number, texts[0])
        else:
            problem = self.edits.edit(at, texts[0])
        if problem:
            self._answer.controls[name] = entries
            self._answer.flag(*problem, self._scheme)


def _about_of(scheme: TrajectoryEdit, revision: Mapping[str, Any]) -> Any:
    about = revision.get("about")
    noted = about.get(scheme.name) if isinstance(about, Mapping) else None
    return noted if isinstance(noted, list) else []


def about(scheme: TrajectoryEdit, data: Mapping[str, Any]) -> list[list[Any]] | None:
    """What is needed to read an answer when the item has changed: which fields there were, and hashes of them."""
    return about_originals(originals_of(scheme, data))


def prefill(scheme: TrajectoryEdit, data: Mapping[str, Any]) -> Entries:
    """The originals in their boxes."""
    return _entries(scheme, data, {}, {})


def write(scheme: TrajectoryEdit, data: Mapping[str, Any], value: Any) -> Entries:
    """All boxes as an annotator leaves them who has made these edits.

    Raises:
        InputError: No such value, or an edit of what the task does not have or has otherwise.
    """
    texts, reasons = edits_to_write(value, originals_of(scheme, data))
    return _entries(scheme, data, texts, reasons)


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

"""An item with the edits of one answer carried out, or why they cannot be."""

import json
from dataclasses import dataclass, field
from typing import Any

from potato_bridge.export.rows import LeftOut, Reason
from potato_bridge.model.trajectory_edit import FinalEdit, StepEdit, TrajectoryEdits, breaks_of, is_original
from potato_bridge.model.trajectory_scheme import TrajectoryEdit


@dataclass(slots=True)
class Corrected:
    """What became of an item.

    Attributes:
        data: The item's fields after the edits; what was not edited is as it was.
        edits: The edits that changed something.
    """

    data: dict[str, Any]
    edits: list[FinalEdit] = field(default_factory=list)


class _RefusedError(Exception):
    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.left_out = LeftOut(reason, message)


def apply(scheme: TrajectoryEdit, item: dict[str, Any], value: TrajectoryEdits) -> Corrected | LeftOut:
    """Carries out the edits of an answer: all of them, or none.

    A value that was no text is parsed again, so that it keeps its kind. What Potato's exporter does in silence has a
    reason here: edits of another original, of a step or field that is not there, of JSON that no longer is any.
    """
    steps = item.get(scheme.steps_key)
    corrected = Corrected({**item, scheme.steps_key: list(steps)} if isinstance(steps, list) else {**item})
    try:
        for edit in sorted(value.steps, key=lambda edit: edit.place):
            if edit.edited:
                _apply_step(scheme, corrected, edit)
        if value.final_answer is not None and value.final_answer.edited:
            _apply_final(scheme, corrected, value.final_answer)
    except _RefusedError as refused:
        return refused.left_out
    return corrected


def _apply_step(scheme: TrajectoryEdit, corrected: Corrected, edit: StepEdit) -> None:
    steps = corrected.data.get(scheme.steps_key)
    count = len(steps) if isinstance(steps, list) else 0
    if not isinstance(steps, list) or not 0 <= edit.step_index < count:
        message = f"step_index {edit.step_index} is edited, and the item has {count} steps"
        raise _RefusedError(Reason.STEP_OUT_OF_RANGE, message)
    step, where = steps[edit.step_index], f"step_index {edit.step_index}, {edit.field}"
    if isinstance(step, str) and edit.field == scheme.step_text_key:
        old: Any = step
    else:
        old = step.get(edit.field) if isinstance(step, dict) else None
    if old is None:
        raise _RefusedError(Reason.NO_SUCH_FIELD, f"{where}: the step has no such field")
    new = _new_value(old, edit, where)
    if _equal(new, old):
        return
    steps[edit.step_index] = new if isinstance(step, str) else {**step, edit.field: new}
    corrected.edits.append(edit)


def _apply_final(scheme: TrajectoryEdit, corrected: Corrected, edit: FinalEdit) -> None:
    old = corrected.data.get(scheme.final_answer_key)
    if old is None:
        message = f"the final answer is edited, and the item has no {scheme.final_answer_key!r}"
        raise _RefusedError(Reason.NO_SUCH_FIELD, message)
    new = _new_value(old, edit, scheme.final_answer_key)
    if not _equal(new, old):
        corrected.data[scheme.final_answer_key] = new
        corrected.edits.append(edit)


def _new_value(old: Any, edit: FinalEdit, where: str) -> Any:
    if not is_original(old, edit.original_text):
        raise _RefusedError(Reason.ORIGINAL_CHANGED, f"{where}: the edit is of another text than the item has now")
    if isinstance(old, str):
        return breaks_of(old, edit.edited_text)
    try:
        return json.loads(edit.edited_text)
    except (ValueError, RecursionError) as error:
        raise _RefusedError(Reason.INVALID_JSON, f"{where}: the corrected text is no JSON: {error}") from error


def _equal(new: Any, old: Any) -> bool:
    # In Python 1 is True; in JSON it is not.
    return bool(new == old) and json.dumps(new, sort_keys=True) == json.dumps(old, sort_keys=True)

"""The canonical value of `trajectory_edit`, as it stands in a record: Potato's own blob.

`step_index` is the position in the list at `steps_key`, from 0. What follows from the texts (edited or not, distances,
counts) is computed, never taken over.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from rapidfuzz.distance import Levenshtein

from potato_bridge.errors import InputError
from potato_bridge.model.node import Node
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

# What JavaScript's \s and trim() take for white space; Python's differ in both directions.
_SPACE: Final = re.compile("[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_LINE_BREAK: Final = re.compile("\r\n?|\n")

#: Where an edit belongs: position of the step and name of its field.
Place: TypeAlias = tuple[int, str]


class FinalEdit(Node):
    """The final answer, before and after."""

    original_text: str
    edited_text: str

    @property
    def edited(self) -> bool:
        """Whether the texts differ."""
        return self.original_text != self.edited_text

    @property
    def chars(self) -> int:
        """Levenshtein distance in UTF-16 code units, as JavaScript counts them."""
        # Only beyond the BMP do code units and characters differ.
        if max(f"{self.original_text}{self.edited_text}", default="") <= "\uffff":
            return Levenshtein.distance(self.original_text, self.edited_text)
        return Levenshtein.distance(_units(self.original_text), _units(self.edited_text))

    @property
    def words(self) -> int:
        """Levenshtein distance in words."""
        return Levenshtein.distance(_words(self.original_text), _words(self.edited_text))

    def to_json(self) -> dict[str, Any]:
        """Potato's form."""
        return {
            "original_text": self.original_text,
            "edited_text": self.edited_text,
            "edited": self.edited,
            "edit_distance_chars": self.chars,
            "edit_distance_words": self.words,
            **self.unknown,
        }


class StepEdit(FinalEdit):
    """One field of one step, before and after; `reason` may be empty."""

    step_index: int
    field: str
    reason: str = ""

    @property
    def place(self) -> Place:
        """Step and field."""
        return self.step_index, self.field

    def to_json(self) -> dict[str, Any]:
        """Potato's form."""
        return {"step_index": self.step_index, "field": self.field, **super().to_json(), "reason": self.reason}


class TrajectoryEdits(Node):
    """An answer. Fields that nobody touched need not be there; none at all: there was nothing to correct.

    Attributes:
        steps: By step and field, each once.
        final_answer: None: not edited, or not asked for.
    """

    steps: list[StepEdit] = []
    final_answer: FinalEdit | None = None

    @property
    def edits(self) -> list[FinalEdit]:
        """The fields whose text was changed, the final answer last."""
        everything = [*self.steps, *([self.final_answer] if self.final_answer else [])]
        return [edit for edit in everything if edit.edited]

    def to_json(self) -> dict[str, Any]:
        """Potato's blob."""
        edits = self.edits
        return {
            "steps": [edit.to_json() for edit in sorted(self.steps, key=lambda edit: edit.place)],
            "final_answer": self.final_answer.to_json() if self.final_answer else None,
            "n_steps_edited": len(edits),
            "total_edit_distance": sum(edit.chars for edit in edits),
            **self.unknown,
        }


def parse_trajectory_edit(value: Any) -> TrajectoryEdits:
    """Reads a canonical value and checks that it agrees with itself.

    Distances and counts may be missing; where they are there, they are right. `edited: true` over two equal texts is
    no contradiction that loses anything: it is no edit.

    Raises:
        InputError: Not such an object, a field twice, or texts that flags, distances or counts contradict.
    """
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {type(value).__name__}")
    steps = value.get("steps")
    if not isinstance(steps, list):
        raise InputError("steps must be a list")
    edits: dict[Place, StepEdit] = {}
    for number, entry in enumerate(steps):
        edit = _step(entry, f"steps[{number}]")
        if edit.place in edits:
            raise InputError(f"steps[{number}]: step {edit.step_index}, field {edit.field!r} is there twice")
        edits[edit.place] = edit
    final = value.get("final_answer")
    answer = None if final is None else _final(final)
    # Counted as it is stored: an edit that changed nothing is among them, with a distance of 0.
    stored = [*zip(steps, edits.values(), strict=True), *([(final, answer)] if answer else [])]
    counted = [edit for entry, edit in stored if entry.get("edited", edit.edited)]
    _counts(value, "n_steps_edited", len(counted))
    _counts(value, "total_edit_distance", sum(edit.chars for edit in counted))
    known = ("steps", "final_answer", "n_steps_edited", "total_edit_distance")
    unknown = {key: item for key, item in value.items() if key not in known}
    return TrajectoryEdits(steps=list(edits.values()), final_answer=answer, unknown=unknown)


_FINAL_KEYS: Final = ("original_text", "edited_text", "edited", "edit_distance_chars", "edit_distance_words")
_STEP_KEYS: Final = (*_FINAL_KEYS, "step_index", "field", "reason")


def _step(entry: Any, where: str) -> StepEdit:
    original, edited = _texts(entry, where)
    index, field, reason = entry.get("step_index"), entry.get("field"), entry.get("reason")
    # A negative position names no step, but whose it is can still be said: exports leave it out with a reason.
    if not isinstance(index, int) or isinstance(index, bool):
        raise InputError(f"{where}: step_index must be a whole number, got {index!r}")
    if not isinstance(field, str) or not field:
        raise InputError(f"{where}: field must be a name, got {field!r}")
    if reason is not None and not isinstance(reason, str):
        raise InputError(f"{where}: reason must be text, got {type(reason).__name__}")
    edit = StepEdit(
        step_index=index,
        field=field,
        original_text=original,
        edited_text=edited,
        reason=reason or "",
        unknown={key: item for key, item in entry.items() if key not in _STEP_KEYS},
    )
    _agrees(edit, entry, where)
    return edit


def _final(entry: Any) -> FinalEdit:
    original, edited = _texts(entry, "final_answer")
    unknown = {key: item for key, item in entry.items() if key not in _FINAL_KEYS}
    edit = FinalEdit(original_text=original, edited_text=edited, unknown=unknown)
    _agrees(edit, entry, "final_answer")
    return edit


def _texts(entry: Any, where: str) -> tuple[str, str]:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object, got {type(entry).__name__}")
    texts = []
    for key in ("original_text", "edited_text"):
        if not isinstance(entry.get(key), str):
            raise InputError(f"{where}: {key} must be text")
        texts.append(entry[key])
    return texts[0], texts[1]


def _agrees(edit: FinalEdit, entry: Mapping[str, Any], where: str) -> None:
    flag = entry.get("edited")
    if flag is not None and not isinstance(flag, bool):
        raise InputError(f"{where}: edited must be true or false, got {flag!r}")
    if flag is False and edit.edited:
        raise InputError(f"{where}: edited is false, and the texts differ")
    for key, distance in (("edit_distance_chars", edit.chars), ("edit_distance_words", edit.words)):
        _counts(entry, key, distance, where)


def _counts(entry: Mapping[str, Any], key: str, right: int, where: str = "") -> None:
    found = entry.get(key, right)
    if isinstance(found, bool) or found != right:
        raise InputError(f"{f'{where}: ' if where else ''}{key} is {found!r}, and the texts give {right}")


def _units(text: str) -> list[int]:
    return list(memoryview(text.encode("utf-16", "surrogatepass")[2:]).cast("H"))


def _words(text: str) -> list[str]:
    return [word for word in _SPACE.split(text) if word]


def plain_breaks(text: str) -> str:
    """The text as a text box gives it back: every line break is one newline."""
    return _LINE_BREAK.sub("\n", text)


def breaks_of(original: str, text: str) -> str:
    """A text out of a text box, with the line breaks of what stood there before, where those are all of one kind."""
    kinds = set(_LINE_BREAK.findall(original))
    return text.replace("\n", kinds.pop()) if len(kinds) == 1 and "\r" not in text else text


def field_text(value: Any) -> str:
    """The text that stands for a field: a string itself, anything else as compact JSON, as Potato shows it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def is_original(value: Any, text: str) -> bool:
    """Whether a text stands for a field's value as it is now; Potato's page makes all line breaks newlines."""
    if isinstance(value, str):
        return plain_breaks(value) == plain_breaks(text)
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False


def editable(scheme: TrajectoryEdit, steps: list[Any]) -> Iterator[tuple[Place, Any]]:
    """The fields that have an editor, by step and in the order of the config, with their values.

    A step that is a bare text is edited as `step_text_key`, where that is among the editable fields.
    """
    for index, step in enumerate(steps):
        for field in scheme.editable_fields:
            if isinstance(step, str):
                value = step if field == scheme.step_text_key else None
            else:
                value = step.get(field) if isinstance(step, dict) else None
            if value is not None:
                yield (index, field), value

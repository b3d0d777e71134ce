"""What a config for items without one should say: looks at the first items, chooses, and says why.

Where a choice is open, the error names the fields that may be meant. `init_text` writes it down.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast, get_args

from potato_bridge.converters.potato.datafiles import Faults, read_rows
from potato_bridge.converters.potato.item_shape import (
    Finding,
    Question,
    Rows,
    find_display,
    find_id,
    find_steps,
    find_text,
)
from potato_bridge.converters.potato.section import did_you_mean
from potato_bridge.converters.potato.vocabulary import SCHEME_TYPES
from potato_bridge.errors import BridgeError, InputError, Problem, UsageError
from potato_bridge.model.project import DataFile, DataFormat

Mode = Literal["first_error", "per_step"]

#: Schemes that `init` can write.
SCHEMES = ("process_reward",)
#: How many items are looked at.
LOOKED_AT = 20
_FORMATS: tuple[str, ...] = get_args(DataFormat)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a config will say. Each finding has the reason for the user."""

    name: str
    mode: Mode
    id_key: Finding
    text_key: Finding
    steps_key: Finding
    display: Finding
    encoding: str | None = None

    def findings(self) -> dict[str, Finding]:
        """The choices, under the keys that the config has for them."""
        return {
            "id_key": self.id_key,
            "text_key": self.text_key,
            "steps_key": self.steps_key,
            "display": self.display,
        }


def first_rows(file: DataFile, name: str, count: int = LOOKED_AT) -> list[dict[str, Any]]:
    """The first rows of a data file; `name` stands for it in problems.

    Raises:
        InputError: One of them cannot be read, or there is none.
    """
    faults = Faults()
    rows = [row.data for row in islice(read_rows(file, name, faults), count)]
    faults.settle()
    if not rows:
        raise InputError(f"{name}: there is no item in the file")
    return rows


def data_format(path: Path) -> DataFormat:
    """The format that the file's name says.

    Raises:
        InputError: It says none that is read.
    """
    suffix = path.suffix.removeprefix(".").lower()
    if suffix not in _FORMATS:
        found = f"ends in .{suffix}" if suffix else "has no extension"
        raise InputError(
            f"{path}: the name {found}; items are read from .{', .'.join(_FORMATS)}",
            hint="Rename the file after what it holds: .jsonl for one JSON object a line.",
        )
    return cast(DataFormat, suffix)


def check_scheme(scheme: str) -> None:
    """Refuses what `init` cannot write.

    Raises:
        UsageError: The type is unknown, or not one that it writes.
    """
    if scheme in SCHEMES:
        return
    written = f"init writes: {', '.join(SCHEMES)}."
    if scheme in SCHEME_TYPES:
        raise UsageError(f"init does not write a scheme of type {scheme}", hint=written)
    raise UsageError(f"there is no scheme {scheme!r}", hint=did_you_mean(scheme, SCHEMES) or written)


def draft_config(
    rows: Rows,
    file: str,
    *,
    name: str,
    scheme: str = "process_reward",
    mode: Mode = "first_error",
    id_key: str | None = None,
    text_key: str | None = None,
    steps_key: str | None = None,
    encoding: str | None = None,
) -> Draft:
    """Chooses what the config says. A key that is given is taken; the others are looked for.

    Args:
        rows: The first items.
        file: Their file, for messages.
        name: `annotation_task_name`.
        scheme: The annotation type.
        mode: Of process_reward.
        id_key: The field of the id.
        text_key: The field of the task's text.
        steps_key: The field of the list of steps.
        encoding: Of the file, where it is not UTF-8.

    Raises:
        UsageError: The scheme is none that `init` writes; a key given is in no item; or several fields fit.
        InputError: No field fits.
    """
    check_scheme(scheme)
    wrong = [
        _missing(option, key, rows)
        for option, key in (("--id-key", id_key), ("--text-key", text_key), ("--steps-key", steps_key))
        if key is not None and not any(key in row for row in rows)
    ]
    if wrong:
        raise UsageError(f"{file} has no such field", problems=wrong)
    found_id = _given(id_key) or find_id(rows)
    found_steps = _given(steps_key) or find_steps(rows)
    taken = [found.value for found in (found_id, found_steps) if isinstance(found, Finding)]
    found_text = _given(text_key) or find_text(rows, taken)
    if isinstance(found_id, Question) or isinstance(found_text, Question) or isinstance(found_steps, Question):
        answers = [found for found in (found_id, found_text, found_steps) if isinstance(found, Question)]
        raise _unanswered(file, answers, rows)
    return Draft(
        name=name,
        mode=mode,
        id_key=found_id,
        text_key=found_text,
        steps_key=found_steps,
        display=find_display(found_steps.value, rows),
        encoding=encoding,
    )


def _given(key: str | None) -> Finding | None:
    return None if key is None else Finding(key, "as you said")


def _missing(option: str, key: str, rows: Rows) -> Problem:
    fields = list(dict.fromkeys(name for row in rows for name in row))
    hint = did_you_mean(key, fields) or f"The fields are: {', '.join(fields[:20])}."
    return Problem(f"no item has the field {key!r}", path=option, hint=hint)


def _unanswered(file: str, questions: Sequence[Question], rows: Rows) -> BridgeError:
    problems: list[Problem] = []
    for question in questions:
        problems.append(Problem(question.message, path=question.option))
        problems += [Problem(found.why, path=f"{question.option} {found.value}") for found in question.candidates]
    named = [f"{question.option} {question.candidates[0].value}" for question in questions if question.candidates]
    if all(question.candidates for question in questions):
        return UsageError(
            f"{file}: which field is which is not clear", problems=problems, hint=f"Say it, e.g. {' '.join(named)}"
        )
    fields = list(dict.fromkeys(name for row in rows for name in row))
    return InputError(
        f"{file}: these are no items that init understands",
        problems=problems,
        hint="An item is one object with an id, the text of the task and a list of steps; raw agent logs are not. "
        f"Fields found: {', '.join(fields[:20])}.",
    )

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
    find_edited,
    find_final,
    find_id,
    find_pair,
    find_steps,
    find_text,
    has_turns,
    other_texts,
)
from potato_bridge.converters.potato.section import did_you_mean
from potato_bridge.converters.potato.vocabulary import SCHEME_TYPES
from potato_bridge.errors import BridgeError, InputError, Problem, UsageError
from potato_bridge.model.project import DataFile, DataFormat

Mode = Literal["first_error", "per_step"]

#: Schemes that are about what an agent did, and those that any text can have.
OF_STEPS = ("process_reward", "code_review", "trajectory_edit")
GENERAL = ("radio", "multiselect", "likert", "text", "span", "pairwise")
#: Schemes that `init` can write.
SCHEMES = (*OF_STEPS, *GENERAL)
#: How many labels a type must have at least, and may have at most.
_LABELS = {"radio": (2, None), "likert": (2, None), "pairwise": (2, 2)}
#: How many items are looked at.
LOOKED_AT = 20
_FORMATS: tuple[str, ...] = get_args(DataFormat)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a config will say. Each finding has the reason for the user; None: the scheme has no such key.

    Attributes:
        steps_key: The list of steps; None: the items are shown without one.
        display: How it is shown.
        pair_key: The two texts of a comparison.
        step_text_key: What is corrected in a step.
        final_answer_key: What came out of all steps.
        labels: The words to choose from; empty: a placeholder.
        others: Further fields with texts, which could be shown.
    """

    name: str
    scheme: str
    mode: Mode
    id_key: Finding
    text_key: Finding
    steps_key: Finding | None = None
    display: Finding | None = None
    pair_key: Finding | None = None
    step_text_key: Finding | None = None
    final_answer_key: Finding | None = None
    labels: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    encoding: str | None = None

    def findings(self) -> dict[str, Finding]:
        """The choices, under the keys that the config has for them."""
        found = {
            "id_key": self.id_key,
            "text_key": self.text_key,
            "steps_key": self.steps_key,
            "display": self.display,
            "items_key": self.pair_key,
            "step_text_key": self.step_text_key,
            "final_answer_key": self.final_answer_key,
        }
        return {key: finding for key, finding in found.items() if finding is not None}


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


def check_labels(scheme: str, labels: tuple[str, ...]) -> None:
    """Refuses labels that the scheme cannot have; none at all are right for any.

    Raises:
        UsageError: The scheme has no labels, or there are too few, too many, empty ones or one twice.
    """
    if not labels:
        return
    if scheme not in GENERAL:
        raise UsageError(f"a scheme of type {scheme} has no labels", hint=f"--labels is for: {', '.join(GENERAL)}.")
    least, most = _LABELS.get(scheme, (1, None))
    twice = [label for i, label in enumerate(labels) if label in labels[:i]]
    if "" in labels:
        problem = "one of them is empty"
    elif twice:
        problem = f"{twice[0]!r} stands twice"
    elif len(labels) < least or (most is not None and len(labels) > most):
        problem = f"there {'is only one' if len(labels) == 1 else f'are {len(labels)}'}, and {scheme} takes {least}"
        problem += "" if most is not None else " or more"
    else:
        return
    raise UsageError(f"--labels: {problem}", hint="Write them with commas between: --labels good,bad")


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
    pair_key: str | None = None,
    labels: tuple[str, ...] = (),
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
        steps_key: The field of the list of steps; a general scheme can do without one.
        pair_key: The field of the two texts of a comparison.
        labels: The words to choose from, of a general scheme.
        encoding: Of the file, where it is not UTF-8.

    Raises:
        UsageError: The scheme is none that `init` writes; a key given is in no item; or several fields fit.
        InputError: No field fits.
    """
    check_scheme(scheme)
    check_labels(scheme, labels)
    given = (("--id-key", id_key), ("--text-key", text_key), ("--steps-key", steps_key), ("--pair-key", pair_key))
    wrong = [
        _missing(option, key, rows) for option, key in given if key is not None and not any(key in row for row in rows)
    ]
    if wrong:
        raise UsageError(f"{file} has no such field", problems=wrong)
    found_id = _given(id_key) or find_id(rows)
    found_steps: Finding | Question | None = _given(steps_key) or find_steps(rows)
    found_pair = (_given(pair_key) or find_pair(rows)) if scheme == "pairwise" else None
    if scheme in GENERAL and steps_key is None and not has_turns(found_steps, rows):
        # A list of texts may be anything: a scheme that needs no steps gets those that are steps for sure.
        found_steps = None
    taken = [found.value for found in (found_id, found_steps, found_pair) if isinstance(found, Finding)]
    found_text = _given(text_key) or find_text(rows, taken)
    answers = [found for found in (found_id, found_text, found_steps, found_pair) if isinstance(found, Question)]
    if isinstance(found_id, Question) or isinstance(found_text, Question) or answers:
        raise _unanswered(file, scheme, answers, rows)
    steps = found_steps if isinstance(found_steps, Finding) else None
    taken.append(found_text.value)
    edited = steps if scheme == "trajectory_edit" else None
    final = find_final(rows, taken) if edited else None
    return Draft(
        name=name,
        scheme=scheme,
        mode=mode,
        id_key=found_id,
        text_key=found_text,
        steps_key=steps,
        display=find_display(steps.value, rows) if steps is not None else None,
        pair_key=found_pair if isinstance(found_pair, Finding) else None,
        step_text_key=find_edited(edited.value, rows) if edited else None,
        final_answer_key=final,
        labels=labels,
        others=tuple(other_texts(rows, [*taken, *([final.value] if final else [])])),
        encoding=encoding,
    )


def _given(key: str | None) -> Finding | None:
    return None if key is None else Finding(key, "as you said")


def _missing(option: str, key: str, rows: Rows) -> Problem:
    fields = list(dict.fromkeys(name for row in rows for name in row))
    hint = did_you_mean(key, fields) or f"The fields are: {', '.join(fields[:20])}."
    return Problem(f"no item has the field {key!r}", path=option, hint=hint)


def _unanswered(file: str, scheme: str, questions: Sequence[Question], rows: Rows) -> BridgeError:
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
    what = "the text of the task and a list of steps" if scheme in OF_STEPS else "a text"
    what += " and a list of two texts" if scheme == "pairwise" else ""
    return InputError(
        f"{file}: these are no items that init understands",
        problems=problems,
        hint=f"An item is one object with an id, {what}; raw agent logs are not. "
        f"Fields found: {', '.join(fields[:20])}.",
    )

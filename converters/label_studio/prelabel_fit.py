"""Which of a pre-label fits its task: a wrong value is left out alone, and of one that has parts, the wrong parts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from potato_bridge.converters.label_studio.question import Question, Task
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.converters.label_studio.results import Answer
from potato_bridge.errors import InputError
from potato_bridge.model import CodeReviewScheme, General, Prelabel, Project
from potato_bridge.model.code_review import CodeReview, parse_code_review
from potato_bridge.model.project import Scheme
from potato_bridge.model.trajectory_edit import TrajectoryEdits, parse_trajectory_edit
from potato_bridge.model.trajectory_scheme import TrajectoryEdit


@dataclass(slots=True)
class Fitted:
    """What of a pre-label can be shown.

    Attributes:
        annotations: Scheme name → value.
        dropped: (scheme, reason) of values that cannot be shown.
        parts: Reasons of parts of a value that cannot.
        not_asked: Schemes that annotators are not asked for.
    """

    annotations: dict[str, Any] = field(default_factory=dict)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    not_asked: list[str] = field(default_factory=list)


def fit(project: Project, prelabel: Prelabel, task: Mapping[str, Any]) -> Fitted:
    """Tries a pre-label on a task: what is written as results must be an answer when it is read."""
    fitted, schemes = Fitted(), asked(project)
    for name, value in prelabel.annotations.items():
        found = next(((scheme, question) for scheme, question in schemes if scheme.name == name), None)
        if found is None:
            fitted.not_asked.append(name)
            continue
        try:
            fitted.annotations[name] = _fit(*found, task["data"], value, fitted.parts)
        except InputError as error:
            fitted.dropped.append((name, error.message))
    return fitted


def _fit(scheme: Scheme, question: Question[Any], data: Mapping[str, Any], value: Any, lost: list[str]) -> Any:
    try:
        _try(scheme, question, data, value)
    except InputError as error:
        split = _SPLIT.get(scheme.type if isinstance(scheme, General) else type(scheme))
        if split is None:
            raise
        kept, reasons = [], []
        for where, part in split(value):
            try:
                question.write(scheme, data, _joined(scheme, [part]))
            except InputError as wrong:
                reasons.append(f"{scheme.name}, {where}: {wrong.message.removeprefix('comments[0]: ')}")
            else:
                kept.append(part)
        if not kept or not reasons:
            raise error
        value = _joined(scheme, kept)
        _try(scheme, question, data, value)
        lost += reasons
    return value


def _try(scheme: Scheme, question: Question[Any], data: Mapping[str, Any], value: Any) -> None:
    """Raises InputError where a value cannot be written, or says nothing to whoever reads it."""
    answer = Answer()
    question.read(scheme, Task(data), question.write(scheme, data, value), answer, False)
    if scheme.name not in answer.annotations:
        raise InputError(answer.flags[0].message if answer.flags else "it says nothing")


def _of_review(value: Any) -> Iterator[tuple[str, Any]]:
    review = parse_code_review(value)
    for number, comment in enumerate(review.comments):
        yield f"comments[{number}]", CodeReview(verdict=None, comments=[comment])
    for file, ratings in review.file_ratings.items():
        for dimension, rating in ratings.items():
            yield "file_ratings", CodeReview(verdict=None, file_ratings={file: {dimension: rating}})
    if review.verdict is not None:
        yield "verdict", CodeReview(verdict=review.verdict)
    if review.summary:
        yield "summary", CodeReview(verdict=None, summary=review.summary)


def _join_review(parts: list[CodeReview]) -> Any:
    whole = CodeReview(verdict=None)
    for part in parts:
        whole.verdict = part.verdict or whole.verdict
        whole.summary = part.summary or whole.summary
        whole.comments = [*whole.comments, *part.comments]
        for file, ratings in part.file_ratings.items():
            whole.file_ratings = {
                **whole.file_ratings,
                file: {**whole.file_ratings.get(file, {}), **ratings},
            }
    return whole.to_json()


def _of_edits(value: Any) -> Iterator[tuple[str, Any]]:
    edits = parse_trajectory_edit(value)
    for number, edit in enumerate(edits.steps):
        yield f"steps[{number}]", TrajectoryEdits(steps=[edit])
    if edits.final_answer is not None:
        yield "final_answer", TrajectoryEdits(final_answer=edits.final_answer)


def _join_edits(parts: list[TrajectoryEdits]) -> Any:
    steps = [edit for part in parts for edit in part.steps]
    final = next((part.final_answer for part in parts if part.final_answer), None)
    return TrajectoryEdits(steps=steps, final_answer=final).to_json()


def _of_spans(value: Any) -> Iterator[tuple[str, Any]]:
    for number, span in enumerate(value if isinstance(value, list) else ()):
        yield f"[{number}]", span


#: Class of a scheme, or general type → how a value of it falls into parts (place, part).
_SPLIT: Final[dict[Any, Callable[[Any], Iterator[tuple[str, Any]]]]] = {
    CodeReviewScheme: _of_review,
    TrajectoryEdit: _of_edits,
    "span": _of_spans,
}


def _joined(scheme: Scheme, parts: list[Any]) -> Any:
    if isinstance(scheme, CodeReviewScheme):
        return _join_review(parts)
    return _join_edits(parts) if isinstance(scheme, TrajectoryEdit) else parts


def fitting(prelabel: Prelabel, fitted: Fitted) -> Prelabel | None:
    """The pre-label with what fits of it; None: nothing does."""
    return msgspec.structs.replace(prelabel, annotations=fitted.annotations) if fitted.annotations else None

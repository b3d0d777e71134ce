"""Pre-labels that have parts (comments, edits, spans): where one is wrong, the others are kept."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from potato_bridge.errors import InputError
from potato_bridge.model import CodeReviewScheme, General
from potato_bridge.model.code_review import CodeReview, parse_code_review
from potato_bridge.model.project import Scheme
from potato_bridge.model.trajectory_edit import TrajectoryEdits, parse_trajectory_edit
from potato_bridge.model.trajectory_scheme import TrajectoryEdit


def fit_value(
    scheme: Scheme,
    value: Any,
    *,
    whole: Callable[[Any], object],
    part: Callable[[Any], object],
    lost: list[str],
) -> Any:
    """The value, or what of it fits.

    Args:
        scheme: The scheme.
        value: A canonical value.
        whole: Tries a value; raises InputError where it does not fit.
        part: Tries a value of one part.
        lost: Gets the reasons of parts that do not fit.

    Raises:
        InputError: Nothing of it fits.
    """
    try:
        whole(value)
    except InputError as error:
        split = _SPLIT.get(scheme.type if isinstance(scheme, General) else type(scheme))
        if split is None:
            raise
        kept, reasons = [], []
        for where, one in split(value):
            try:
                part(_joined(scheme, [one]))
            except InputError as wrong:
                reasons.append(f"{scheme.name}, {where}: {wrong.message.removeprefix('comments[0]: ')}")
            else:
                kept.append(one)
        if not kept or not reasons:
            raise error
        value = _joined(scheme, kept)
        whole(value)
        lost += reasons
    return value


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

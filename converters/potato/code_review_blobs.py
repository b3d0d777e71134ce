"""The JSON text that Potato stores for a code review ↔ its canonical value.

Potato's page writes a verdict of "" for none, a line of null for lines of an edit, and files that nobody rated or only
some of whose dimensions were rated. Its simulator writes the text of a comment under `body`. Keys of comments that the
page does not know stay where they are; other keys at the top it drops when it is used.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from potato_bridge.errors import InputError
from potato_bridge.model import Flag
from potato_bridge.model.code_review import MAX_RATING, CodeReview, CodeReviewScheme, parse_code_review

#: What the page holds of a review.
_ON_PAGE = ("verdict", "comments", "file_ratings")


def read_review(blob: Any, scheme: CodeReviewScheme) -> tuple[CodeReview, list[Flag]]:
    """The review of a stored object, and what is wrong with it.

    Raises:
        InputError: It is none; then it has to be kept as it is stored.
    """
    if not isinstance(blob, dict):
        raise InputError(f"expected a JSON object, found {type(blob).__name__}")
    comments, ratings = blob.get("comments"), blob.get("file_ratings")
    value = {**blob, "verdict": blob.get("verdict") or None}
    value["comments"] = [_comment(entry) for entry in comments] if isinstance(comments, list) else comments or []
    files = ratings if isinstance(ratings, dict) else {}
    if ratings is not None and not isinstance(ratings, dict):
        raise InputError(f"file_ratings: expected an object, found {type(ratings).__name__}")
    found = {file: _ratings(rated) for file, rated in files.items()}
    value["file_ratings"] = {file: rated for file, rated in found.items() if rated}
    review = parse_code_review(value)
    return review, [
        Flag(code="comment-without-text", message=message, scheme=scheme.name) for message in _blank(review)
    ]


def is_empty(review: CodeReview) -> bool:
    """Whether nothing was answered: the page stores such a review as soon as it is opened."""
    return review.verdict is None and not (review.comments or review.file_ratings or review.summary or review.unknown)


def marks(review: CodeReview) -> Any:
    """What of a review the page can change, as plain JSON."""
    value = review.to_json()
    return {key: value[key] for key in _ON_PAGE}


def merge(old: Any, new: Mapping[str, Any]) -> dict[str, Any]:
    """A review after the page changed it: what the page does not hold stays as it was."""
    kept = {key: item for key, item in old.items() if key not in _ON_PAGE} if isinstance(old, dict) else {}
    return {**new, **kept}


def write_review(value: Any) -> str:
    """The stored text for a canonical value.

    Raises:
        InputError: The value is none.
    """
    review = parse_code_review(value).to_json()
    return msgspec.json.encode({**review, "verdict": review["verdict"] or ""}).decode()


def beside(value: Any) -> int:
    """How many comments, the summary included, say something that the page does not show."""
    review = parse_code_review(value)
    shown = {"category", "file", "line", "text"}
    return sum(bool(set(comment) - shown) for comment in review.to_json()["comments"]) + bool(review.summary)


def _comment(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    comment = {"category": "", "file": "", "line": None, **entry}
    if "text" not in comment and isinstance(comment.get("body"), str):
        comment["text"] = comment.pop("body")
    for key in ("category", "file", "text"):
        # Null is what a form without an answer gives.
        comment[key] = comment.get(key) or ""
    line = comment["line"]
    if isinstance(line, str) and line.isascii() and line.isdigit():
        comment["line"] = int(line)
    return comment


def _ratings(rated: Any) -> Any:
    """The ratings that were given: an unrated dimension is left out, or null, or 0."""
    if not isinstance(rated, dict):
        return rated
    whole = {dimension: _whole(rating) for dimension, rating in rated.items()}
    return {dimension: rating for dimension, rating in whole.items() if rating is not None}


def _whole(rating: Any) -> Any:
    if isinstance(rating, str) and rating in {str(n) for n in range(MAX_RATING + 1)}:
        rating = int(rating)
    return None if rating in (None, 0, "") and not isinstance(rating, bool) else rating


def _blank(review: CodeReview) -> list[str]:
    return [
        f"{comment.file or 'a file'}: the comment has no text"
        for comment in review.comments
        if not comment.text.strip()
    ]

"""Target `github`: each review as the body of GitHub's request "Create a review for a pull request".

What GitHub takes at a line goes there; everything else that was said is in the review's body, and counted.
"""

import re
from enum import StrEnum
from typing import Any, ClassVar

from potato_bridge.export.code_review_case import ReviewCase, ReviewTarget
from potato_bridge.export.code_review_places import Change, FileRows, Place, Spot
from potato_bridge.export.github_markdown import code, escaped, fenced, opens_block, quoted, without_open_comment
from potato_bridge.export.paths import relative_path
from potato_bridge.export.rows import Row
from potato_bridge.model import Record
from potato_bridge.model.code_review import CodeReview, Comment

#: Verdict to event; every other verdict is a COMMENT that names it. Capitals, spaces and hyphens do not matter.
EVENTS = {
    "approve": "APPROVE",
    "request_changes": "REQUEST_CHANGES",
    "comment_only": "COMMENT",
    "comment": "COMMENT",
}
#: The heading above comments that GitHub has no line for.
HEADING = "**Comments that have no line of the diff**"


class InBody(StrEnum):
    """Why a comment is in the review's body; beside the reasons of `Place`."""

    NO_LINE_NUMBER = "no-line-number"
    ACROSS_HUNKS = "across-hunks"
    BEYOND_CONTEXT = "beyond-context"
    NOT_RELATIVE = "not-relative"


_MESSAGES = {
    Place.NO_LINE: "names no line",
    Place.OUTDATED: "is about an earlier state of the change",
    Place.NOT_IN_DIFF: "is about a line that the change does not have",
    Place.UNKNOWN_FILE: "is about a file that the change does not have",
    InBody.NO_LINE_NUMBER: "is about a line whose number is not known",
    InBody.ACROSS_HUNKS: "is about lines of several hunks",
    InBody.BEYOND_CONTEXT: "is about a line more than three lines away from any change",
    InBody.NOT_RELATIVE: "is about a file whose path in the repository is not known (--root tells)",
}


class Github(ReviewTarget):
    """Documents `{"instance_id", "annotator", "annotation", "review", "in_body"}`; `review` is what GitHub takes."""

    name: ClassVar[str] = "github"

    def _row(self, case: ReviewCase, review: CodeReview, record: Record) -> Row:
        where = f"item {record.id}"
        inline: list[dict[str, Any]] = []
        rest: list[Comment] = []
        in_body = []
        for number, comment in enumerate(review.comments):
            made = self._inline(case.change, comment, where)
            if isinstance(made, dict):
                inline.append(made)
            else:
                self._notices.add(
                    "comment-not-inline", f"a comment {_MESSAGES[made]}: it is in the body of its review", where
                )
                rest.append(comment)
                in_body.append({"comment": number, "reason": str(made)})
        event, word = _event(review.verdict)
        body = _body(review, word, rest)
        if not body and event != "APPROVE":
            body = _default(event, len(inline))
        return {
            "instance_id": record.id,
            "annotator": record.annotator,
            "annotation": record.key[2],
            "review": {**({"body": body} if body else {}), "event": event, "comments": inline},
            "in_body": in_body,
        }

    def _inline(self, change: Change, comment: Comment, where: str) -> dict[str, Any] | Place | InBody:
        """The comment at its line, or why it has none that GitHub takes."""
        spot = change.place(comment)
        if spot.place is not Place.LINE or spot.file is None:
            return spot.place
        path = relative_path(spot.file.change.path, self._root)
        if path is None:
            return InBody.NOT_RELATIVE
        last = _end(spot.file, spot.last)
        first = _end(spot.file, spot.first)
        if last is None or first is None:
            return InBody.NO_LINE_NUMBER
        if spot.file.hunks[spot.first] != spot.file.hunks[spot.last]:
            return InBody.ACROSS_HUNKS
        if not all(spot.file.shown[spot.first : spot.last + 1]):
            return InBody.BEYOND_CONTEXT
        made = {"path": path, "body": self._text(comment, spot, where), "line": last[1], "side": last[0]}
        return made if spot.first == spot.last else {**made, "start_line": first[1], "start_side": first[0]}

    def _text(self, comment: Comment, spot: Spot, where: str) -> str:
        text = without_open_comment(comment.text).strip("\n")
        parts = [_label(comment), text]
        if comment.suggestion is not None:
            ends = [spot.file.rows[row] for row in (spot.first, spot.last)] if spot.file else [None]
            applies = "LEFT" not in (comment.side, comment.start_side)
            applies = applies and all(row is not None and row.new is not None for row in ends)
            if not applies:
                message = "a suggestion is for lines of the old file: it cannot be applied there, and is shown as code"
                self._notices.add("suggestion-not-applicable", message, where)
            block = fenced(comment.suggestion, "suggestion" if applies else "")
            if not applies:
                block = f"Suggested:\n\n{block}"
            # After a text that leaves a block open, the suggestion would be part of that.
            parts.insert(1 if opens_block(text) else 2, block)
        return "\n\n".join(part for part in parts if part) or "(no text)"


def _end(file: FileRows, row: int) -> tuple[str, int] | None:
    """Side and number of a row, as GitHub names it: an unchanged line is of the new file."""
    line = file.rows[row]
    if line is None:
        return None
    number = line.old if line.kind == "removed" else line.new
    return None if number is None else ("LEFT" if line.kind == "removed" else "RIGHT", number)


def _event(verdict: str | None) -> tuple[str, str | None]:
    """The event of a verdict, and the verdict where the event does not say it."""
    if verdict is None:
        return "COMMENT", None
    known = EVENTS.get(re.sub(r"[\s-]+", "_", verdict.strip().lower()))
    return (known, None) if known else ("COMMENT", verdict)


def _default(event: str, inline: int) -> str:
    comments = "1 comment" if inline == 1 else f"{inline} comments"
    return f"Changes requested: {comments}." if event == "REQUEST_CHANGES" else f"{comments[0].upper()}{comments[1:]}."


def _label(comment: Comment) -> str:
    category = f"**{escaped(comment.category)}**" if comment.category.strip() else ""
    severity = f"({escaped(comment.severity)})" if comment.severity else ""
    return " ".join(part for part in (category, severity) if part)


def _body(review: CodeReview, word: str | None, rest: list[Comment]) -> str:
    parts = [f"Verdict: **{escaped(word)}**"] if word is not None else []
    if review.summary and review.summary.strip():
        summary = review.summary.strip("\n")
        parts.append(quoted(summary) if opens_block(summary) else without_open_comment(summary))
    if review.file_ratings:
        parts.append(_ratings(review.file_ratings))
    if rest:
        parts.append(HEADING)
        for comment in rest:
            title = " ".join(part for part in (_label(comment), _about(comment)) if part)
            parts.append(title[:1].upper() + title[1:])
            if comment.text.strip():
                parts.append(quoted(comment.text.strip("\n")))
            if comment.suggestion is not None:
                parts.append(f"Suggested:\n\n{fenced(comment.suggestion)}")
    return "\n\n".join(parts)


def _ratings(ratings: dict[str, dict[str, int]]) -> str:
    dimensions = list(dict.fromkeys(dimension for rated in ratings.values() for dimension in rated))
    lines = [f"| file | {' | '.join(escaped(dimension) for dimension in dimensions)} |"]
    lines.append("|---|" + "---:|" * len(dimensions))
    for file, rated in ratings.items():
        cells = [str(rated.get(dimension, "")) for dimension in dimensions]
        lines.append(f"| {code(file, in_table=True)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _about(comment: Comment) -> str:
    """The place of a comment in words."""
    on = f"on {code(comment.file)}" if comment.file else ""
    if comment.line is not None:
        old = " (old)"
        last = f"{comment.line}{old if comment.side == 'LEFT' else ''}"
        if comment.start_line is None or (comment.start_line, comment.start_side) == (comment.line, comment.side):
            on += f", line {last}"
        else:
            first = f"{comment.start_line}{old if (comment.start_side or comment.side) == 'LEFT' else ''}"
            on += f", lines {first} to {last}"
    return f"{on} of an earlier state" if comment.outdated else on

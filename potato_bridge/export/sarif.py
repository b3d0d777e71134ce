"""Target `sarif`: reviews as SARIF 2.1.0, for editors and code-scanning tools. One run is one annotator's review."""

import re
from collections.abc import Iterable
from typing import Any, ClassVar, Final
from urllib.parse import quote

from potato_bridge.export.code_review_case import ReviewCase, ReviewTarget
from potato_bridge.export.code_review_places import Place, Spot
from potato_bridge.export.paths import relative_path, uri
from potato_bridge.export.rows import Row
from potato_bridge.model import Record, to_builtins
from potato_bridge.model.code_review import CodeReview, Comment, CommentCategory

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION: Final = "2.1.0"
#: What the URIs of files are relative to: a name that consumers take for the root of the repository.
ROOT: Final = "%SRCROOT%"
#: Severity to level. Another word gives none, which SARIF reads as `warning`; the word itself is in the properties.
LEVELS: Final = {
    "info": "note",
    "minor": "note",
    "major": "warning",
    "critical": "error",
}
#: Categories that find nothing wrong: without a severity their results are no problems.
_PRAISE: Final = ("praise",)
_UTC: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", re.ASCII)


class Sarif(ReviewTarget):
    """Documents that are runs of a SARIF log."""

    name: ClassVar[str] = "sarif"

    def _row(self, case: ReviewCase, review: CodeReview, record: Record) -> Row:
        rules = _rules(self._reviews.scheme.comment_categories, review.comments)
        ids = [rule["id"] for rule in rules]
        where = f"item {record.id}"
        properties = {"instance_id": record.id, "annotator": record.annotator, "scheme": self.scheme}
        if record.source is not None:
            properties |= {"source": to_builtins(record.source)}
        summary = {} if review.summary is None else {"summary": review.summary}
        ended = {"endTimeUtc": record.updated_at} if record.updated_at and _UTC.fullmatch(record.updated_at) else {}
        names = [part for part in (record.id, record.annotator, record.key[2]) if part is not None]
        return {
            "tool": {"driver": {"name": "potato-bridge", "rules": rules}},
            "automationDetails": {"id": "".join(f"{quote(part, safe='', errors='replace')}/" for part in names)},
            "invocations": [{"executionSuccessful": True, "account": record.annotator, **ended}],
            "columnKind": "unicodeCodePoints",
            "results": [self._result(comment, case.change.place(comment), ids, where) for comment in review.comments],
            "properties": {**properties, "verdict": review.verdict, **summary, "file_ratings": review.file_ratings},
        }

    def _result(self, comment: Comment, spot: Spot, rules: list[str], where: str) -> dict[str, Any]:
        result: dict[str, Any] = {}
        if comment.category in rules:
            result = {"ruleId": comment.category, "ruleIndex": rules.index(comment.category)}
        result |= _level(comment)
        text = comment.text if comment.text.strip() else comment.category or "(no text)"
        # Braces are placeholders in SARIF's messages, unless they are doubled.
        result["message"] = {"text": text.replace("{", "{{").replace("}", "}}")}
        if comment.file:
            artifact = self._artifact(spot.file.change.path if spot.file else comment.file)
            region = _region(comment, spot)
            result["locations"] = [
                {"physicalLocation": {"artifactLocation": artifact, **({"region": region} if region else {})}}
            ]
            if region is None:
                message = "a comment has no line of the new file: SARIF gets its file, and the rest as properties"
                self._notices.add("comment-without-region", message, where)
            if comment.suggestion is not None:
                if fix := _fix(comment, spot, artifact):
                    result["fixes"] = [fix]
                else:
                    message = "a suggestion replaces no lines of the new file: it is in the properties alone"
                    self._notices.add("suggestion-not-applicable", message, where)
        result["properties"] = {"place": str(spot.place), "comment": to_builtins(comment)}
        return result

    def _artifact(self, path: str) -> dict[str, str]:
        relative = relative_path(path, self._root)
        return {"uri": uri(path)} if relative is None else {"uri": uri(relative), "uriBaseId": ROOT}


def _rules(categories: Iterable[CommentCategory], comments: Iterable[Comment]) -> list[dict[str, Any]]:
    """The categories of the scheme, then others that comments have."""
    texts = {category.name: category.description for category in categories}
    for comment in comments:
        if comment.category:
            texts.setdefault(comment.category, "")
    return [
        {"id": name, "shortDescription": {"text": name}, **({"fullDescription": {"text": text}} if text else {})}
        for name, text in texts.items()
    ]


def _level(comment: Comment) -> dict[str, str]:
    if comment.severity is not None:
        level = LEVELS.get(comment.severity.strip().lower())
        return {"level": level} if level else {}
    return {"kind": "informational", "level": "none"} if comment.category.lower() in _PRAISE else {}


def _region(comment: Comment, spot: Spot) -> dict[str, int] | None:
    """The lines of the new file; None: there are none, or they are not known."""
    side = spot.file.side(comment.side) if spot.file else comment.side
    if comment.line is None or comment.outdated or side == "LEFT":
        return None
    start = comment.start_line if comment.start_side != "LEFT" else None
    return {"startLine": comment.line if start is None else min(start, comment.line), "endLine": comment.line}


def _fix(comment: Comment, spot: Spot, artifact: dict[str, str]) -> dict[str, Any] | None:
    """The suggestion as a replacement of whole lines of the new file, where it is one."""
    region = _region(comment, spot)
    if region is None or spot.place is not Place.LINE or comment.start_side == "LEFT" or comment.suggestion is None:
        return None
    replacement: dict[str, Any]
    if comment.suggestion:
        # A region of lines without columns does not hold its last line's end.
        replacement = {"deletedRegion": region, "insertedContent": {"text": comment.suggestion.removesuffix("\n")}}
    else:
        ends = {"endLine": region["endLine"] + 1, "endColumn": 1}
        replacement = {"deletedRegion": {"startLine": region["startLine"], "startColumn": 1, **ends}}
    return {
        "description": {"text": "What the reviewer suggests"},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": [replacement]}],
    }

"""Target `code_review_comments`: one row per comment, with the hunk and the lines that it is about.

For models that write comments (hunk → text) and for those that find the place (hunk → lines, category).
"""

from typing import TYPE_CHECKING, Any, ClassVar

from potato_bridge.export.code_review_case import ReviewCase, ReviewTarget
from potato_bridge.export.code_review_places import Place
from potato_bridge.export.rows import LeftOut, Reason, Row, place_of
from potato_bridge.model import Record
from potato_bridge.model.code_review import CodeReview

if TYPE_CHECKING:
    import pyarrow

#: What a comment without a hunk lacks, for notices.
_LACKS = {
    Place.NO_LINE: "a comment names no line",
    Place.OUTDATED: "a comment is about an earlier state of the change",
    Place.NOT_IN_DIFF: "the line of a comment is not in the change",
    Place.UNKNOWN_FILE: "the file of a comment is not in the change",
}
_DOCUMENTED = ("side", "start_line", "start_side", "severity", "suggestion")


class CodeReviewComments(ReviewTarget):
    """Rows of the comments of `code_review` answers."""

    name: ClassVar[str] = "code_review_comments"
    documented_file: ClassVar[str] = "code_review_comments.jsonl"
    tags: ClassVar[tuple[str, ...]] = ("code-review", "code-review-comments")
    task_categories: ClassVar[tuple[str, ...]] = ("text-generation",)

    def _row(self, case: ReviewCase, review: CodeReview, record: Record) -> list[Row] | LeftOut:
        self._reviews.tell_unknown(review, record)
        if not review.comments:
            return LeftOut(Reason.NO_COMMENTS, "the review has no comments")
        rows = []
        for number, comment in enumerate(review.comments):
            spot = case.change.place(comment)
            if spot.place is not Place.LINE:
                message = f"{_LACKS[spot.place]}: its row has no hunk"
                self._notices.add("comment-without-hunk", message, f"item {record.id}")
            rows.append(
                {
                    "prompt": case.prompt,
                    "hunk": spot.hunk,
                    "lines": spot.lines(comment),
                    "text": comment.text,
                    "suggestion": comment.suggestion,
                    "category": comment.category,
                    "severity": comment.severity,
                    "file": comment.file,
                    "side": comment.side,
                    "line": comment.line,
                    "start_line": comment.start_line,
                    "start_side": comment.start_side,
                    "outdated": comment.outdated,
                    "place": str(spot.place),
                    "id": record.id,
                    "annotator": record.annotator,
                    "scheme": self.scheme,
                    "number": number,
                    "verdict": review.verdict,
                    **place_of(record),
                }
            )
        return rows

    def documented(self, row: Row) -> dict[str, Any]:
        """The comment in its documented form, with who, what about and the hunk; what is not set is left out."""
        document = {
            "instance_id": row["id"],
            "annotator": row["annotator"],
            "prompt": row["prompt"],
            "category": row["category"],
            "file": row["file"],
            "line": row["line"],
            "text": row["text"],
        }
        document |= {name: row[name] for name in _DOCUMENTED if row[name] is not None}
        if row["outdated"]:
            document["outdated"] = True
        return {**document, "hunk": row["hunk"], "lines": row["lines"]}

    def schema(self) -> "pyarrow.Schema":
        """The columns and their types."""
        import pyarrow

        names = """prompt hunk lines text suggestion category severity file side line start_line start_side outdated
            place id annotator scheme number verdict backend project task annotation""".split()
        types = dict.fromkeys(names, pyarrow.string())
        types |= dict.fromkeys(("line", "start_line", "number"), pyarrow.int64())
        types["outdated"] = pyarrow.bool_()
        return pyarrow.schema(list(types.items()))

    def check(self, batch: "pyarrow.RecordBatch | pyarrow.Table") -> str:
        """What a trainer of comment writers would refuse in written rows; empty where all is well."""
        places, hunks, lines = (batch.column(name).to_pylist() for name in ("place", "hunk", "lines"))
        for place, hunk, about in zip(places, hunks, lines, strict=True):
            if (place == Place.LINE) != bool(hunk and about):
                return "a comment on a line has no hunk or no lines, or one without a line has"
        return ""

    def explain(self) -> list[str]:
        """What the columns mean."""
        return [
            "One row is one comment of one annotator on one change.",
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `prompt` | the task that the agent was given, verbatim |",
            "| `hunk` | the hunk that has the lines, with its header, or the hunks; null: none |",
            "| `lines` | the lines that the comment is about, each with its mark: a space, `-` or `+`; null: none |",
            "| `text` | what was said |",
            "| `suggestion` | code to stand in place of the lines, verbatim; empty: delete them; null: none |",
            "| `category`, `severity` | as chosen; null: no severity |",
            "| `file`, `side`, `line` | the last line; `LEFT`: the old file's number, `RIGHT`: the new one's |",
            "| `start_line`, `start_side` | the first line, where there are several |",
            "| `outdated` | whether the change is another one since |",
            "| `place` | `line`: there is a hunk; else why not: `no-line`, `outdated`, `not-in-diff`, `unknown-file` |",
            "| `number`, `verdict` | which comment of its review, from 0, and what the review came to |",
            "| `id`, `annotator`, `scheme` | the item, who answered, and to what |",
            "| `backend`, `project`, `task`, `annotation` | where the answer can be found again |",
            "",
            'Rows to train on have a hunk: `rows.filter(lambda row: row["place"] == "line")`.',
        ]

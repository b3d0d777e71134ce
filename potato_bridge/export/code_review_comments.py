"""Target `code_review_comments`: one row per comment, with the hunk and the lines that it is about.

For models that write comments (hunk → text) and for those that find the place (hunk → lines, category).
"""

from typing import TYPE_CHECKING, Any, ClassVar

from potato_bridge.export.code_review_case import ReviewCase, Reviews
from potato_bridge.export.code_review_places import Place
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.rows import Case, LeftOut, Reason, Row
from potato_bridge.model import Item, Project, Record
from potato_bridge.notices import Notices

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


class CodeReviewComments:
    """Rows of the comments of `code_review` answers.

    Raises:
        InputError: The project has no code_review scheme.
        UsageError: The scheme asked for is not among its code_review schemes.
    """

    name: ClassVar[str] = "code_review_comments"
    documented_file: ClassVar[str] = "code_review_comments.jsonl"
    tags: ClassVar[tuple[str, ...]] = ("code-review", "code-review-comments")
    task_categories: ClassVar[tuple[str, ...]] = ("text-generation",)

    def __init__(self, project: Project, options: ExportOptions, notices: Notices) -> None:
        self._notices = notices
        self._reviews = Reviews(project, options, notices, self.name)
        self.scheme = self._reviews.scheme.name

    def case(self, item: Item) -> ReviewCase:
        """The item with its change."""
        return self._reviews.case(item)

    def row(self, case: Case | None, record: Record) -> list[Row] | LeftOut:
        """The rows of one record, or why there are none; no case: the item is not in the data files."""
        found = self._reviews.read(case, record)
        if isinstance(found, LeftOut):
            return found
        of, review = found
        self._reviews.tell_unknown(review, record)
        if not review.comments:
            return LeftOut(Reason.NO_COMMENTS, "the review has no comments")
        rows = []
        for number, comment in enumerate(review.comments):
            spot = of.change.place(comment)
            if spot.place is not Place.LINE:
                message = f"{_LACKS[spot.place]}: its row has no hunk"
                self._notices.add("comment-without-hunk", message, f"item {record.id}")
            rows.append(
                {
                    "prompt": of.prompt,
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
                    **self._reviews.where(record),
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

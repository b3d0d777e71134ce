"""Target `code_review`: whole reviews, one row per annotator and item, with the change that they are about."""

from typing import TYPE_CHECKING, Any, ClassVar

from potato_bridge.export.code_review_case import ReviewCase, ReviewTarget, documented_comment
from potato_bridge.export.rows import Row, place_of
from potato_bridge.model import Record
from potato_bridge.model.code_review import CodeReview, Comment

if TYPE_CHECKING:
    import pyarrow

_COMMENT = tuple(name for name in Comment.__struct_fields__ if name != "unknown")


class CodeReviews(ReviewTarget):
    """Rows of `code_review` answers, one for each."""

    name: ClassVar[str] = "code_review"
    documented_file: ClassVar[str] = "code_reviews.jsonl"
    tags: ClassVar[tuple[str, ...]] = ("code-review",)
    task_categories: ClassVar[tuple[str, ...]] = ("text-generation",)

    def _row(self, case: ReviewCase, review: CodeReview, record: Record) -> Row:
        self._reviews.tell_unknown(review, record)
        return {
            "prompt": case.prompt,
            "patch": case.patch,
            "verdict": review.verdict,
            "comments": [{name: getattr(comment, name) for name in _COMMENT} for comment in review.comments],
            "file_ratings": [
                {"file": file, "dimension": dimension, "rating": rating}
                for file, ratings in review.file_ratings.items()
                for dimension, rating in ratings.items()
            ],
            "summary": review.summary,
            "id": record.id,
            "annotator": record.annotator,
            "scheme": self.scheme,
            **place_of(record),
        }

    def documented(self, row: Row) -> dict[str, Any]:
        """`{"instance_id", "annotator", "verdict", "comments", "file_ratings"}`; `summary` only where there is one."""
        ratings: dict[str, dict[str, int]] = {}
        for rating in row["file_ratings"]:
            ratings.setdefault(rating["file"], {})[rating["dimension"]] = rating["rating"]
        document = {
            "instance_id": row["id"],
            "annotator": row["annotator"],
            "verdict": row["verdict"],
            "comments": [documented_comment(Comment(**comment)) for comment in row["comments"]],
            "file_ratings": ratings,
        }
        return document if row["summary"] is None else {**document, "summary": row["summary"]}

    def schema(self) -> "pyarrow.Schema":
        """The columns and their types."""
        import pyarrow

        text, whole = pyarrow.string(), pyarrow.int64()
        numbers = ("line", "start_line", "position", "start_position")
        comment = [(name, whole if name in numbers else text) for name in _COMMENT if name != "outdated"]
        comment.insert(_COMMENT.index("outdated"), ("outdated", pyarrow.bool_()))
        types = {
            "prompt": text,
            "patch": text,
            "verdict": text,
            "comments": pyarrow.list_(pyarrow.struct(comment)),
            "file_ratings": pyarrow.list_(pyarrow.struct([("file", text), ("dimension", text), ("rating", whole)])),
            "summary": text,
            **dict.fromkeys(("id", "annotator", "scheme", "backend", "project", "task", "annotation"), text),
        }
        return pyarrow.schema(list(types.items()))

    def check(self, batch: "pyarrow.RecordBatch | pyarrow.Table") -> str:
        """What a trainer of reviewers would refuse in written rows; empty where all is well."""
        if any(batch.column(name).null_count for name in ("patch", "comments", "file_ratings")):
            return "a patch, the comments or the file_ratings are null"
        return ""

    def explain(self) -> list[str]:
        """What the columns mean."""
        return [
            "One row is one annotator's review of one change.",
            "",
            "| column | what it holds |",
            "|---|---|",
            "| `prompt` | the task that the agent was given, verbatim |",
            "| `patch` | the change that was reviewed, as a unified diff; empty where nothing was changed |",
            "| `verdict` | what the annotator chose; null: nothing |",
            "| `comments` | in their order: `category`, `file`, `line` (null: the whole file), `text`, `side`, |",
            "| | `start_line`, `start_side`, `severity`, `suggestion`, `outdated` (the change is another one since), |",
            "| | `position`, `start_position` (lines without a number); `LEFT` is the old file, `RIGHT` the new |",
            "| `file_ratings` | `file`, `dimension`, `rating` from 1 to 5; what was not rated is not there |",
            "| `summary` | the text about all of it; null: none |",
            "| `id`, `annotator`, `scheme` | the item, who answered, and to what |",
            "| `backend`, `project`, `task`, `annotation` | where the answer can be found again |",
        ]

"""`code_review`: the scheme of a config, and the canonical value that stands in a record.

A file is named by its new path, a deleted one by its old path. Lines are 1-based, on the side that `side` names: LEFT
is the old file, RIGHT the new one, as on GitHub.
"""

from typing import Any, ClassVar, Literal, TypeAlias

from potato_bridge.errors import InputError
from potato_bridge.model.node import Node, from_builtins, to_builtins

Side: TypeAlias = Literal["LEFT", "RIGHT"]

#: Ratings of files go from 1 to this.
MAX_RATING = 5


class CommentCategory(Node):
    """A category of comments; `description` is a hint for annotators."""

    name: str
    description: str = ""


class CodeReviewScheme(Node, tag_field="annotation_type", tag="code_review"):
    """A review of the change that an agent made.

    Attributes:
        dialect: Which keys the scheme uses: those of Potato's documentation, those of its code, or both.
        comment_categories: A comment has one of them.
        severity_levels: A comment may have one of them; empty: it is not asked for.
        file_rating_dimensions: Each file has a rating from 1 to 5 in each of them; empty: files are not rated.
        allow_suggestions: Whether a comment may have code that is to replace what it is about.
        allow_summary: Whether the review as a whole has a text.
        steps_key: The item field that holds the steps whose edits are the change; None: that of the project.
        required: Whether an answer without this scheme is incomplete.
        line: 1-based line of the scheme in the config.
    """

    type: ClassVar[str] = "code_review"

    name: str
    description: str = ""
    dialect: Literal["documented", "code", "both"] = "code"
    comment_categories: list[CommentCategory] = []
    verdict_options: list[str] = []
    file_rating_dimensions: list[str] = []
    allow_suggestions: bool = True
    severity_levels: list[str] = []
    allow_summary: bool = False
    steps_key: str | None = None
    target: str | None = None
    required: bool = True
    line: int | None = None


class Comment(Node):
    """What was said about a place of the change.

    Attributes:
        category: One of the scheme's; empty where none was given.
        file: The file.
        line: The last line that it is about, in the numbers of `side`; None: the whole file, or no line is known.
        text: What was said; empty where nothing was.
        side: The side of `line`; None where there is no line, or the source does not tell.
        start_line: The first line, where it is about several; in the numbers of `start_side`.
        start_side: The side of `start_line`.
        severity: One of the scheme's levels.
        suggestion: Code to stand in place of the lines, verbatim.
        outdated: The change is another one since, and no longer has the line; or it has another text there.
        position: The line by its place in the file's diff, where its number is not known: 1 is the one below the first
            hunk header, and later headers count, as on GitHub.
        start_position: The first line likewise, where it is about several.
    """

    category: str
    file: str
    line: int | None
    text: str
    side: Side | None = None
    start_line: int | None = None
    start_side: Side | None = None
    severity: str | None = None
    suggestion: str | None = None
    outdated: bool = False
    position: int | None = None
    start_position: int | None = None


class CodeReview(Node):
    """One annotator's review of one change.

    Attributes:
        verdict: One of the scheme's options; None: not given.
        comments: In the order in which they were made; several may be about one line.
        file_ratings: File → dimension → 1 to 5. What was not rated is not there.
        summary: The text about all of it.
    """

    ALWAYS = frozenset({"comments", "file_ratings"})

    verdict: str | None
    comments: list[Comment] = []
    file_ratings: dict[str, dict[str, int]] = {}
    summary: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The documented form: verdict, comments, file_ratings; fields of a comment that are not set are left out."""
        value: dict[str, Any] = to_builtins(self)
        return value


def parse_code_review(value: Any) -> CodeReview:
    """Reads a canonical value and checks that it agrees with itself.

    Raises:
        InputError: Not such an object, a line below 1, a range without an end or the wrong way round, a side of no
            line, or a rating outside 1 to 5.
    """
    review = from_builtins(CodeReview, value)
    for position, comment in enumerate(review.comments):
        if message := _disagrees(comment):
            raise InputError(f"comments[{position}]: {message}")
    for file, ratings in review.file_ratings.items():
        for dimension, rating in ratings.items():
            if not 1 <= rating <= MAX_RATING:
                place = f"file_ratings[{file!r}][{dimension!r}]"
                raise InputError(f"{place} must be a whole number from 1 to {MAX_RATING}, got {rating!r}")
    return review


def _disagrees(comment: Comment) -> str:
    """What is wrong with a comment; empty: nothing."""
    for name in ("line", "start_line", "position", "start_position"):
        number = getattr(comment, name)
        if number is not None and number < 1:
            return f"{name} must be at least 1, got {number}"
    line, start = comment.line, comment.start_line
    if line is None and comment.position is None and (comment.side or start is not None):
        return "it has a side or a start_line and no line"
    if start is None and comment.start_position is None and comment.start_side:
        return "it has a start_side and no start_line"
    same = (comment.start_side or comment.side) == comment.side
    if start is not None and line is not None and same and start > line:
        return f"start_line {start} is after line {line}"
    return ""

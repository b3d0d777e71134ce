"""What all exports of code reviews share: the scheme, the review of a record, the change that it is about."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

from potato_bridge.converters.diffs.of_trace import diff_of_trace
from potato_bridge.converters.diffs.write import write_diff
from potato_bridge.errors import InputError
from potato_bridge.export.code_review_places import Change
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.rows import Case, LeftOut, Reason, Row, answer
from potato_bridge.export.schemes import choose_scheme
from potato_bridge.model import CodeReviewScheme, General, Item, Project, Record
from potato_bridge.model.code_review import CodeReview, parse_code_review
from potato_bridge.model.diff import Diff
from potato_bridge.notices import Notices

#: The scheme of type text that has a review's summary, as Potato's documentation names it.
SUMMARY = "summary"


class ReviewCase(Case):
    """One item, with the change that its run made; it is put together when somebody asks for it."""

    @cached_property
    def diff(self) -> Diff:
        """The change: that of the page on which it was reviewed."""
        return diff_of_trace(self._trace)

    @cached_property
    def patch(self) -> str:
        """The change as a unified diff."""
        return write_diff(self.diff)

    @cached_property
    def change(self) -> Change:
        """The change, where places are looked up."""
        return Change(self.diff)


class Reviews:
    """Reads the reviews of a project's records.

    Args:
        name: The target, for messages.

    Raises:
        InputError: The project has no code_review scheme.
        UsageError: The scheme asked for is not among its code_review schemes.
    """

    def __init__(self, project: Project, options: ExportOptions, notices: Notices, name: str) -> None:
        self._project = project
        self._notices = notices
        self.scheme = choose_scheme(project, CodeReviewScheme, options.scheme, name, notices)
        self._has_summary = any(
            isinstance(scheme, General) and scheme.name == SUMMARY and scheme.type == "text"
            for scheme in project.schemes
        )

    def case(self, item: Item) -> ReviewCase:
        """The item with its change."""
        return ReviewCase(self._project, item, self._notices, None, False)

    def read(self, case: Case | None, record: Record) -> tuple[ReviewCase, CodeReview] | LeftOut:
        """The review of a record, or why it is not exported; no case: the item is not in the data files.

        A review without a summary of its own has that of the scheme `summary`.
        """
        value = answer(record, self.scheme.name)
        if isinstance(value, LeftOut):
            return value
        try:
            review = parse_code_review(value)
        except InputError as error:
            return LeftOut(Reason.INVALID_VALUE, error.message)
        if not isinstance(case, ReviewCase):
            return LeftOut(Reason.UNKNOWN_ITEM, "no item of this id in the project's data files")
        summary = record.annotations.get(SUMMARY)
        if review.summary is None and self._has_summary and isinstance(summary, str) and summary.strip():
            review.summary = summary
        return case, review

    def tell_unknown(self, review: CodeReview, record: Record) -> None:
        """Notices fields of a review that rows have no column for."""
        if count := sum(bool(node.unknown) for node in (review, *review.comments)):
            message = "a review or a comment has fields that this version does not know: the rows do not have them"
            self._notices.add("unknown-fields", message, f"item {record.id}", count)


class ReviewTarget(ABC):
    """What the targets of code reviews share.

    Raises:
        InputError: The project has no code_review scheme.
        UsageError: The scheme asked for is not among its code_review schemes.
    """

    name: ClassVar[str]

    def __init__(self, project: Project, options: ExportOptions, notices: Notices) -> None:
        self._notices = notices
        self._root = options.root
        self._reviews = Reviews(project, options, notices, self.name)
        self.scheme = self._reviews.scheme.name

    def case(self, item: Item) -> ReviewCase:
        """The item with its change."""
        return self._reviews.case(item)

    def row(self, case: Case | None, record: Record) -> Row | list[Row] | LeftOut:
        """What becomes of one record, or why nothing does; no case: the item is not in the data files."""
        found = self._reviews.read(case, record)
        return found if isinstance(found, LeftOut) else self._row(*found, record)

    @abstractmethod
    def _row(self, case: ReviewCase, review: CodeReview, record: Record) -> Row | list[Row] | LeftOut: ...


def documented_comment(comment: Any) -> dict[str, Any]:
    """A comment of a record without what this version does not know, in its documented form."""
    fields = {name: getattr(comment, name) for name in comment.__struct_fields__ if name != "unknown"}
    always = ("category", "file", "line", "text")
    return {name: value for name, value in fields.items() if name in always or value not in (None, False)}

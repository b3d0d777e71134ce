"""What all exports of code reviews share: the scheme, the review of a record, the change that it is about."""

from functools import cached_property
from typing import Any

from potato_bridge.converters.diffs.of_trace import diff_of_trace
from potato_bridge.converters.diffs.write import write_diff
from potato_bridge.errors import InputError, UsageError
from potato_bridge.export.code_review_places import Change
from potato_bridge.export.options import ExportOptions
from potato_bridge.export.rows import Case, LeftOut, Reason, answer
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
        self.scheme = _choose(project, options, notices, name)
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

    def where(self, record: Record) -> dict[str, str | None]:
        """The columns that say where an answer can be found again."""
        source = record.source
        ids = ("backend", "project", "task", "annotation")
        return {name: _id(getattr(source, name)) if source else None for name in ids}


def documented_comment(comment: Any) -> dict[str, Any]:
    """A comment of a record without what this version does not know, in its documented form."""
    fields = {name: getattr(comment, name) for name in comment.__struct_fields__ if name != "unknown"}
    always = ("category", "file", "line", "text")
    return {name: value for name, value in fields.items() if name in always or value not in (None, False)}


def _id(value: int | str | None) -> str | None:
    return None if value is None else str(value)


def _choose(project: Project, options: ExportOptions, notices: Notices, target: str) -> CodeReviewScheme:
    schemes = [scheme for scheme in project.schemes if isinstance(scheme, CodeReviewScheme)]
    names = ", ".join(scheme.name for scheme in schemes)
    if not schemes:
        raise InputError(f"{project.config} has no scheme of type code_review: there is nothing for {target} to export")
    if options.scheme is None:
        if len(schemes) > 1:
            notices.add("several-schemes", f"{names}: only {schemes[0].name} is exported", str(project.config))
        return schemes[0]
    for scheme in schemes:
        if scheme.name == options.scheme:
            return scheme
    raise UsageError(f"no code_review scheme is named {options.scheme!r}", hint=f"There is: {names}.")

"""What all targets share: an item with its texts, why a record is left out, and the stream of outcomes."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.text import step_text
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.export.index import RecordIndex
from potato_bridge.model import Flag, Item, Project, Record
from potato_bridge.model.trace import Step, Trace
from potato_bridge.notices import Notices

if TYPE_CHECKING:
    import pyarrow

#: One row: column name to plain value.
Row: TypeAlias = dict[str, Any]


class Reason(StrEnum):
    """Why a record is not exported. A record has exactly one: the first that holds, in this order."""

    SUPERSEDED = "superseded"
    STATUS_SKIPPED = "status-skipped"
    STATUS_DRAFT = "status-draft"
    STATUS_WITHDRAWN = "status-withdrawn"
    NO_ANSWER = "no-answer"
    FLAGGED = "flagged"
    INVALID_VALUE = "invalid-value"
    UNKNOWN_ITEM = "unknown-item"
    NO_PROMPT = "no-prompt"
    STEP_COUNT_MISMATCH = "step-count-mismatch"
    UNRATED_STEP = "unrated-step"
    NO_RATED_STEPS = "no-rated-steps"
    STEP_OUT_OF_RANGE = "step-out-of-range"
    NO_SUCH_FIELD = "no-such-field"
    ORIGINAL_CHANGED = "original-changed"
    INVALID_JSON = "invalid-json"
    UNEDITED = "unedited"
    EDIT_NOT_IN_TEXT = "edit-not-in-text"
    NO_COMPLETION = "no-completion"
    NO_COMMENTS = "no-comments"
    NOT_APPROVED = "not-approved"
    UNDECIDED = "undecided"
    INVALID_ARGUMENTS = "invalid-arguments"
    NO_INSTANCE = "no-instance"
    NO_MODEL = "no-model"
    NO_PATCH = "no-patch"
    NO_PAIR = "no-pair"
    TIE = "tie"
    SAME_TEXT = "same-text"
    ONLY_TRACE = "only-trace"
    NO_GAP = "no-gap"
    OVER_MAX_PAIRS = "over-max-pairs"


_STATUS = {
    "skipped": (Reason.STATUS_SKIPPED, "the annotator skipped the item"),
    "draft": (Reason.STATUS_DRAFT, "the answer was saved, not submitted"),
    "withdrawn": (Reason.STATUS_WITHDRAWN, "the answer was deleted on the server after it was pulled"),
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that gives no row, and why; `document` is what a documented file has of it nevertheless."""

    reason: Reason
    message: str
    document: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """What the books need of a record.

    Attributes:
        annotation: The answer's id on its server; None where it has none.
        demo: Whether a program played it.
    """

    id: str
    annotator: str
    annotation: str | None
    demo: bool

    @classmethod
    def of(cls, record: Record) -> "Head":
        """That of a record."""
        return cls(record.id, record.annotator, record.key[2], record.unknown.get("demo") is True)


@dataclass(frozen=True, slots=True)
class Held:
    """A record whose rows are made when all records are known; see `Late`."""


#: What becomes of a record: its row, its rows (at least one), why there are none, or nothing before all are known.
Fate: TypeAlias = Row | list[Row] | LeftOut | Held


class Case:
    """One item, with the texts that every export shares; the trace is read when somebody asks for it.

    Args:
        step_text_key: The one field of a step that is its text; None: the hub's rule.
        observations: Whether step texts have what was observed after the step.
    """

    def __init__(
        self, project: Project, item: Item, notices: Notices, step_text_key: str | None, observations: bool
    ) -> None:
        self.item = item
        self._project = project
        self._notices = notices
        self._step_text_key = step_text_key
        self._observations = observations

    @cached_property
    def _trace(self) -> Trace:
        return to_trace(self.item, self._project, self._notices)

    @property
    def prompt(self) -> str | None:
        """The item's value at `text_key`, verbatim; None where that is no text, or blank."""
        text = self._trace.task.text
        return text if text is not None and text.strip() else None

    @cached_property
    def steps(self) -> list[Step]:
        """The ratable steps, in order."""
        return self._trace.ratable()

    @cached_property
    def texts(self) -> list[str]:
        """The text of each ratable step."""
        texts = [step_text(step, self._step_text_key, self._observations) for step in self.steps]
        if empty := sum(not text for text in texts):
            self._notices.add(
                "empty-step-text", "a step has no text: its completion is empty", f"item {self.item.id}", empty
            )
        return texts


class Outcome(Protocol):
    """What becomes of a record; made for one export."""

    def case(self, item: Item) -> Case:
        """The item, with its texts as this target wants them."""

    def row(self, case: Case | None, record: Record) -> Fate:
        """What becomes of one record; no case: the item is not in the data files."""


@runtime_checkable
class Late(Protocol):
    """What a target has whose rows are of several records, such as pairs."""

    def rows(self) -> Iterator[Row]:
        """All rows, once every record was seen."""

    def fates(self) -> Iterator[tuple[Head, int | LeftOut]]:
        """Each record that was held, once all rows were made: of how many rows it is the first part, or why of none.

        A record that is only the second part of rows, such as the rejected one of a pair, counts none of them.
        """

    def close(self) -> None:
        """Lets go of what was kept for the rows, whether or not they were made."""


@runtime_checkable
class Lines(Protocol):
    """What a target has whose JSON Lines are another form than its array."""

    def line(self, row: Row) -> dict[str, Any]:
        """The row as a line."""


class Target(Outcome, Protocol):
    """What a target is: how a record becomes a row, and what its columns are. Made for one export.

    Attributes:
        name: As `-f` takes it; also the config name of the data set.
        documented_file: Name of the file in a folder of dialect `potato`.
        scheme: Name of the scheme that is exported.
        tags: Tags of the card.
        task_categories: The Hub's task categories.
    """

    name: ClassVar[str]
    documented_file: ClassVar[str]
    tags: ClassVar[tuple[str, ...]]
    task_categories: ClassVar[tuple[str, ...]]
    scheme: str

    def documented(self, row: Row) -> dict[str, Any]:
        """The row in the form that Potato's documentation shows."""

    def schema(self) -> "pyarrow.Schema":
        """The columns and their types, which are never inferred from rows."""

    def check(self, batch: "pyarrow.RecordBatch | pyarrow.Table") -> str:
        """What its trainer would refuse in written rows, in one sentence; empty where all is well."""

    def explain(self) -> list[str]:
        """Lines of Markdown for the card: what the columns and labels mean."""


def answer(record: Record, scheme: str) -> Any | LeftOut:
    """The record's value for a scheme, where the record may be exported at all."""
    if record.status in _STATUS:
        return LeftOut(*_STATUS[record.status])
    flags = [flag for flag in record.flags if flag.scheme in (None, scheme)]
    if record.annotations.get(scheme) is None:
        message = f"no answer to {scheme}"
        return LeftOut(Reason.NO_ANSWER, f"{message} ({_text(flags)})" if flags else message)
    if flags:
        return LeftOut(Reason.FLAGGED, _text(flags))
    return record.annotations[scheme]


def place_of(record: Record) -> dict[str, str | None]:
    """The columns `backend`, `project`, `task` and `annotation`: where the answer can be found again."""
    ids = ("backend", "project", "task", "annotation")
    found = {name: getattr(record.source, name) if record.source else None for name in ids}
    return {name: None if value is None else str(value) for name, value in found.items()}


def outcomes(project: Project, index: RecordIndex, target: Outcome, notices: Notices) -> Iterator[tuple[Record, Fate]]:
    """Each record of the file once, with what becomes of it.

    Order: the items' and, within an item, that of the records file; then the records of unknown items.
    """
    for item in read_items(project, notices):
        records = index.take(item.id)
        if records:
            yield from _of_item(target.case(item), records, target)
    for record in index.rest():
        yield record, target.row(None, record)


def _of_item(case: Case, records: list[Record], target: Outcome) -> Iterator[tuple[Record, Fate]]:
    # Files put together by hand may hold an answer twice. The later line is what the annotator said last.
    last = {record.key: number for number, record in enumerate(records)}
    for number, record in enumerate(records):
        if last[record.key] != number:
            yield record, LeftOut(Reason.SUPERSEDED, "a later line of the file is the same answer")
        else:
            yield record, target.row(case, record)


def _text(flags: list[Flag]) -> str:
    return "; ".join(f"{flag.code}: {flag.message}" if flag.message else flag.code for flag in flags)

"""Record: what one annotator said about one item. One line of `records.jsonl`."""

from typing import Any, Literal, TypeAlias

from potato_bridge.model.node import Node

#: The record schema that this version writes, and the newest that it reads.
RECORD_SCHEMA = 1

Status: TypeAlias = Literal["submitted", "draft", "skipped", "withdrawn"]

#: What makes a record the same record: item id, annotator, annotation id on the backend.
Key: TypeAlias = tuple[str, str, str | None]


#: What became of a pre-label: it stands as it was, it was changed, or it was not used and the answer made by hand.
Prelabelled: TypeAlias = Literal["kept", "changed", "manual"]


class Source(Node):
    """Where an answer came from. Ids are the backend's own.

    Attributes:
        prelabel: Scheme name to what became of its pre-label; only for schemes that had one when it was answered.
        model_version: Whom that pre-label was by.
    """

    backend: str | None = None
    project: int | str | None = None
    task: int | str | None = None
    annotation: int | str | None = None
    prelabel: dict[str, Prelabelled] = {}
    model_version: str | None = None


class Flag(Node):
    """Something wrong with an answer, which is kept all the same.

    Attributes:
        code: Stable name in kebab-case: `missing-required`, `step-out-of-range`, `unknown-control`, …
        message: What was found.
        scheme: The scheme that it concerns; None: the whole answer.
    """

    code: str
    message: str = ""
    scheme: str | None = None


class Record(Node):
    """One annotator's answer to one item.

    Attributes:
        id: The item's id.
        annotator: Name or e-mail on the backend.
        annotations: Scheme name to canonical value (`potato_bridge.model.process_reward` and siblings); empty for a
            skip, and for an answer that was submitted without a single mark.
        status: A missing one means submitted. `withdrawn`: deleted on the server after it was pulled.
        created_at: RFC 3339, UTC.
        updated_at: RFC 3339, UTC.
        lead_time: Seconds that the annotator spent, as the backend measured them.
        controls: Answers to controls that a team added to its template: control name to the backend's results.
        flags: What is wrong with the answer; such an answer is kept and reported, and not exported.
    """

    ALWAYS = frozenset({"schema", "status"})

    id: str
    annotator: str
    annotations: dict[str, Any]
    status: Status = "submitted"
    created_at: str | None = None
    updated_at: str | None = None
    lead_time: float | None = None
    source: Source | None = None
    controls: dict[str, list[dict[str, Any]]] = {}
    flags: list[Flag] = []
    schema: int = RECORD_SCHEMA

    @property
    def key(self) -> Key:
        """(id, annotator, source.annotation): two answers of one person to one task are two records."""
        annotation = self.source.annotation if self.source else None
        return (self.id, self.annotator, None if annotation is None else str(annotation))

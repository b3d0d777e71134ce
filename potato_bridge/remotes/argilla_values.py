"""What an Argilla server holds, as far as the bridge has to do with it. Times are RFC 3339, by the server's clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What a server says about itself.

    Attributes:
        version: Of Argilla.
        engine: Name of its search engine.
        engine_version: Version of that; empty where it does not say.
    """

    version: str
    engine: str
    engine_version: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """An account. The server sends its API key along, which is left out here.

    Attributes:
        id: A UUID, as all ids of Argilla are.
        username: What the person signs in with; unique.
        role: "owner", "admin" or "annotator".
    """

    id: str
    username: str
    role: str

    @property
    def manages(self) -> bool:
        """Whether it may make data sets and read everybody's answers; an admin only in its own workspaces."""
        return self.role in ("owner", "admin")


@dataclass(frozen=True, slots=True)
class Workspace:
    """A group of data sets with the people who annotate them."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set: what a project is in Label Studio.

    Attributes:
        status: "draft" while fields and questions can be added, "ready" once it is published.
        distribution: `{"strategy": "overlap", "min_submitted": n}`.
        metadata: What its maker attached to it. It is fixed: Argilla 2.8 answers a change with the new value and does
            not store it.
        last_activity_at: Changes with every answer of an annotator, and with nothing that is pushed.
    """

    id: str
    name: str
    workspace_id: str
    status: str
    inserted_at: str
    updated_at: str
    last_activity_at: str
    guidelines: str | None = None
    allow_extra_metadata: bool = True
    distribution: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] | None = None

    @property
    def min_submitted(self) -> int:
        """How many answers complete a record."""
        return int(self.distribution.get("min_submitted", 1))


@dataclass(frozen=True, slots=True)
class Field:
    """What of a record is shown; `settings["type"]` is text, chat, image or custom."""

    id: str
    name: str
    title: str
    required: bool
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked; `settings["type"]` is text, rating, label_selection, multi_label_selection, ranking or span."""

    id: str
    name: str
    title: str
    required: bool
    settings: Mapping[str, Any]
    description: str | None = None


@dataclass(frozen=True, slots=True)
class MetadataProperty:
    """A value that records can be filtered and sorted by; `settings["type"]` is terms, integer or float."""

    id: str
    name: str
    title: str
    settings: Mapping[str, Any]
    visible_for_annotators: bool = True


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """A vector that records can have."""

    id: str
    name: str
    title: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Response:
    """One person's answer to one record.

    Attributes:
        status: "submitted", "draft" or "discarded".
        values: `{question name: {"value": …}}`; None or empty for a discard without any.
    """

    id: str
    status: str
    record_id: str
    user_id: str
    inserted_at: str
    updated_at: str
    values: Mapping[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A model's answer to one question of one record, which annotators start from."""

    id: str
    question_id: str
    value: Any
    agent: str | None = None
    score: float | list[float] | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One record.

    Attributes:
        external_id: The id of our item; None: the record is not ours.
        status: "pending", or "completed" once it has as many submitted answers as the data set asks for.
        updated_at: Of fields, metadata and status. An answer that leaves the status alone does not change it.
        responses: None: they were not asked for.
        suggestions: Likewise.
        vectors: Likewise, by name.
    """

    id: str
    status: str
    fields: Mapping[str, Any]
    inserted_at: str
    updated_at: str
    external_id: str | None = None
    metadata: Mapping[str, Any] | None = None
    responses: list[Response] | None = None
    suggestions: list[Suggestion] | None = None
    vectors: Mapping[str, list[float]] | None = None


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """What an upsert says of one record."""

    id: str
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of answers by their status."""

    submitted: int = 0
    discarded: int = 0
    draft: int = 0


@dataclass(frozen=True, slots=True)
class UserProgress:
    """How many answers one person has given: to records that are completed by now, and to those that are not."""

    username: str
    completed: Counts = Counts()
    pending: Counts = Counts()

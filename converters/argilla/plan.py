"""What a data set is made of, as plain values: the bodies of Argilla's REST API, and nothing of a server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

#: `panel`: one record an item, drawn by a script. `native`: Argilla's own fields and questions, no script.
Layout: TypeAlias = Literal["panel", "native"]


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """What of a record is shown; `settings["type"]` is text or custom."""

    name: str
    title: str
    settings: Mapping[str, Any]
    required: bool = True

    def to_json(self) -> dict[str, Any]:
        """The body that makes it."""
        return {"name": self.name, "title": self.title, "required": self.required, "settings": dict(self.settings)}


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """What is asked; `settings["type"]` is text, rating, label_selection, multi_label_selection, ranking or span."""

    name: str
    title: str
    settings: Mapping[str, Any]
    description: str = ""
    required: bool = False

    def to_json(self) -> dict[str, Any]:
        """The body that makes it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description or None,
            "required": self.required,
            "settings": dict(self.settings),
        }


@dataclass(frozen=True, slots=True)
class PropertyPlan:
    """A value that records can be filtered and sorted by; `settings["type"]` is terms, integer or float."""

    name: str
    title: str
    settings: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The body that makes it."""
        return {
            "name": self.name,
            "title": self.title,
            "settings": dict(self.settings),
            "visible_for_annotators": True,
        }


@dataclass(frozen=True, slots=True)
class Settings:
    """A data set without its records.

    Attributes:
        guidelines: Markdown, at most 10,000 characters.
        min_submitted: How many answers complete a record.
        sort: The order in which annotators should go, as the address of the page takes it; empty: any.
    """

    layout: Layout
    fields: Sequence[FieldPlan]
    questions: Sequence[QuestionPlan]
    properties: Sequence[PropertyPlan]
    guidelines: str = ""
    min_submitted: int = 1
    sort: str = ""


@dataclass(frozen=True, slots=True)
class SuggestionPlan:
    """What annotators start from at one question."""

    question: str
    value: Any
    agent: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """One record.

    Attributes:
        external_id: Made of the item's id, see `fields.external_id`; unique in the data set.
        fields: Field name → value.
        metadata: What can be filtered by, and under `fields.META` our own part (`fields.write_meta`).
        suggestions: What stands in the questions when the record is opened: originals to edit, pre-labels.
        meta: Our own part, decoded: `id` (of the item), `hash`, `steps_hash`, `total_steps`, `schema`, and where there
            is such, `about`, `prelabels_hash`, `part` (which part of the item: native layout).
    """

    external_id: str
    fields: Mapping[str, Any]
    metadata: Mapping[str, Any]
    meta: Mapping[str, Any]
    suggestions: Sequence[SuggestionPlan] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """One record as a server has it, as far as its answers have to do with it."""

    external_id: str
    fields: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """What one annotator said to one record: question name → value. None: nothing (yet)."""

    record: Stored
    values: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Extent:
    """What all items together need of the settings, which cannot grow later.

    Attributes:
        steps: The most ratable steps that an item has.
    """

    steps: int = 0

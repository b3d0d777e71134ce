"""Schemes of the general types: a choice, a text, a number, a span, a comparison and so on.

One class for all of them; which fields a type uses is in the table of its reader. The canonical value of each type
stands in docs/schemes.md.
"""

from typing import Literal, TypeAlias

from potato_bridge.model.node import Node


class Option(Node):
    """One word that can be chosen, or one thing that is rated.

    Attributes:
        value: What is stored.
        display: What is shown, where it is not the value.
        tooltip: Shown when the mouse rests on it.
        key: The key that chooses it, as far as no other scheme of the config has that key.
        color: A CSS colour; spans only.
    """

    value: str
    display: str | None = None
    tooltip: str | None = None
    key: str | None = None
    color: str | None = None

    @property
    def shown(self) -> str:
        """The text that annotators see."""
        return self.display or self.value


class Condition(Node):
    """What another scheme's answer must be for this one to be asked.

    Attributes:
        scheme: The other scheme.
        type: Its type.
        values: Any of these is chosen; empty: anything is.
        negated: None of them is.
    """

    scheme: str
    type: str
    values: list[str] = []
    negated: bool = False


class Branch(Node):
    """One node of a taxonomy."""

    name: str
    children: list["Branch"] = []


#: How two texts are compared: which is better; by how much; which is better in each of several respects.
PairMode: TypeAlias = Literal["binary", "scale", "multi_dimension"]


class General(Node, tag_field="annotation_type", tag="general"):
    """One scheme of a general type.

    Attributes:
        options: What can be chosen: of a scale its points.
        rows: What is asked one by one with the same options: the options of a multirate, the pairs of a semantic
            differential, the dimensions of a comparison, the boxes of a text.
        free_response: The caption of a text box beside the options; None: there is none.
        horizontal: Whether the options stand in a row.
        low: What the lower end of a scale means; `high`: the upper end, `middle`: what lies between.
        minimum: Least number; None: any. `maximum`, `step` likewise.
        total: What the numbers of the rows must sum to.
        lines: Height of a text box.
        field: The item field that it is about: the two texts of a comparison, the passage, the text to edit.
        question: The item field with the question that is asked about a passage.
        shown_above: Whether the texts of a comparison stand at an earlier scheme already.
        fields: The item fields whose texts spans are marked in; of a passage: where it is, the first that has a text.
        in_display: Whether these are marked in the display of that field: Potato counts places otherwise there.
        mode: See `PairMode`; of a confidence `likert` or `slider`.
        taxonomy: The tree of a hierarchical_multiselect.
        conditions: When it is asked: where all of them hold.
    """

    name: str
    type: str
    description: str = ""
    required: bool = False
    options: list[Option] = []
    rows: list[Option] = []
    free_response: str | None = None
    horizontal: bool = False
    low: str = ""
    high: str = ""
    middle: str = ""
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    total: float | None = None
    lines: int = 1
    placeholder: str = ""
    field: str = ""
    question: str = ""
    shown_above: bool = False
    fields: list[str] = []
    in_display: bool = False
    mode: str = ""
    taxonomy: list[Branch] = []
    conditions: list[Condition] = []
    line: int | None = None

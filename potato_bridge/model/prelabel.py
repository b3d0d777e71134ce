"""Pre-label: what a model, or an earlier round, says of an item before an annotator sees it."""

from typing import Any

from potato_bridge.model.node import Node

#: Whom a pre-label is by, where nobody is named.
DEFAULT_VERSION = "potato-bridge"


class Prelabel(Node):
    """One suggestion for one item.

    Attributes:
        item: The item's id.
        annotations: Scheme name to canonical value, as in a record.
        model_version: Which model, or which annotator of an earlier round, it is by.
        score: How sure the model is, on its own scale.
        place: Where it was read, for messages: `predictions.jsonl:3`.
    """

    item: str
    annotations: dict[str, Any]
    model_version: str = DEFAULT_VERSION
    score: float | None = None
    place: str = ""

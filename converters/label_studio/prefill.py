"""What annotators find in their boxes and change: one prediction a task, by us.

A prediction, never `value=` of a text box: that one shows an emptied box with its old text again, and an edit is lost.
"""

import hashlib
import json
from collections.abc import Container, Mapping, Sequence
from typing import Any, Final

from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.question import Entries
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.model import Project

#: Whom the prediction is by: the project shows the predictions of this model to annotators.
MODEL_VERSION: Final = "potato-bridge"
#: Key of a task as it is imported.
PREDICTIONS: Final = "predictions"
#: Key of our part of a task's meta: the hash of its predictions, where it has any.
PRELABELS_HASH: Final = "prelabels_hash"


def filled(project: Project, data: Mapping[str, Any], without: Container[str] = ()) -> Entries:
    """What stands in the boxes of a task when it is opened.

    Args:
        project: The project.
        data: The task's data.
        without: Names of schemes whose boxes somebody else fills.
    """
    schemes = [(scheme, question) for scheme, question in asked(project) if scheme.name not in without]
    return [entry for scheme, question in schemes for entry in question.prefill(scheme, data)]


def predictions(project: Project, data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The predictions of a task; empty where nothing is filled in."""
    result = filled(project, data)
    return [identified({"model_version": MODEL_VERSION, "result": result})] if result else []


def identified(prediction: dict[str, Any]) -> dict[str, Any]:
    """The prediction with ids of its entries that say that it is ours, and which it is."""
    name = canonical_hash(prediction)[:16]
    entries = [{"id": f"pb{name}n{number}", **entry} for number, entry in enumerate(prediction["result"])]
    return {**prediction, "result": entries}


def add_predictions(task: dict[str, Any], predictions: Sequence[dict[str, Any]]) -> None:
    """Puts predictions into a task that was built, in place of its own; the hash of its data stays as it is."""
    if predictions:
        task[PREDICTIONS] = list(predictions)
        task["meta"][fields.META][PRELABELS_HASH] = canonical_hash(task[PREDICTIONS])


def canonical_hash(value: Any) -> str:
    """SHA-256, in hexadecimal, of a value as canonical JSON."""
    canonical = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()

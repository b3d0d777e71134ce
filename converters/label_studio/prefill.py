"""What annotators find in their boxes and change: one prediction a task, by us.

A prediction, never `value=` of a text box: that one shows an emptied box with its old text again, and an edit is lost.
"""

import hashlib
import json
from collections.abc import Container, Mapping
from typing import Any, Final

from potato_bridge.converters.label_studio.question import Entries
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.model import Project

#: Whom the prediction is by: the project shows the predictions of this model to annotators.
MODEL_VERSION: Final = "potato-bridge"
#: Key of a task as it is imported.
PREDICTIONS: Final = "predictions"
#: Key of our part of a task's meta: the hash of its predictions, where it has any.
PRELABELS_HASH: Final = "prelabels_hash"


def has_prefill(project: Project) -> bool:
    """Whether any question of the project can have text in its boxes."""
    return any(question.prefills for _, question in asked(project))


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
    if not result:
        return []
    made: dict[str, Any] = {"model_version": MODEL_VERSION, "result": result}
    canonical = json.dumps(made, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    name = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    made["result"] = [{"id": f"pb{name}n{number}", **entry} for number, entry in enumerate(result)]
    return [made]

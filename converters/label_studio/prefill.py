"""What annotators find in their boxes and change: one prediction a task, by us.

A prediction, never `value=` of a text box: that one shows an emptied box with its old text again, and an edit is lost.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any, Final

from potato_bridge.converters.fingerprint import ONLY_BOXES, PRELABELS_HASH, canonical_hash
from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.question import Entries
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.model import Project

#: Whom the prediction is by: the project shows the predictions of this model to annotators.
MODEL_VERSION: Final = "potato-bridge"
#: Key of a task as it is imported.
PREDICTIONS: Final = "predictions"


def filled(project: Project, data: Mapping[str, Any], without: Container[str] = ()) -> Entries:
    """What stands in the boxes of a task when it is opened, and what its page chooses by itself.

    Args:
        project: The project.
        data: The task's data.
        without: Names of schemes whose boxes somebody else fills.
    """
    entries: Entries = []
    for scheme, question in asked(project):
        if scheme.name not in without:
            entries += [*question.prefill(scheme, data), *question.preset(scheme)]
    return entries


def predictions(project: Project, data: Mapping[str, Any], version: str = MODEL_VERSION) -> list[dict[str, Any]]:
    """The predictions of a task, by `version`; empty where nothing is filled in."""
    if not any(question.prefill(scheme, data) for scheme, question in asked(project)):
        return []
    return [identified({"model_version": version, "result": filled(project, data)})]


def identified(prediction: dict[str, Any]) -> dict[str, Any]:
    """The prediction with ids of its entries that say that it is ours, and which it is.

    Entries that have an id are parts of one region where they have the same: they have one id afterwards, too.
    """
    name = canonical_hash(prediction)[:16]
    regions: dict[Any, int] = {}
    entries = []
    for number, entry in enumerate(prediction["result"]):
        region = regions.setdefault(entry["id"], number) if "id" in entry else number
        entries.append({**entry, "id": f"pb{name}n{region}"})
    return {**prediction, "result": entries}


def add_predictions(task: dict[str, Any], predictions: Sequence[dict[str, Any]], *, only_boxes: bool = False) -> None:
    """Puts predictions into a task that was built, in place of its own; the hash of its data stays as it is."""
    if predictions:
        task[PREDICTIONS] = list(predictions)
        mark = ONLY_BOXES if only_boxes else ""
        task["meta"][fields.META][PRELABELS_HASH] = f"{mark}{canonical_hash(task[PREDICTIONS])}"

"""Pre-labels ↔ Label Studio's predictions: into a task, and what became of them in an annotation.

Measured with 1.23.2: ids of entries that a prediction gives are kept, in it and in the annotation that is made of it;
and each annotation holds a copy of the prediction that its annotator was shown (that of the project's `model_version`
when it was submitted), which later changes of the prediction do not reach, and in `parent_prediction` the id of the one
that it was begun from; none where it was begun empty.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.fingerprint import PRELABELS_HASH
from potato_bridge.converters.label_studio import prefill
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.converters.label_studio.results import read_answer, write_results
from potato_bridge.converters.view.text import storable
from potato_bridge.model import Prelabel, Project, Record
from potato_bridge.model.record import Prelabelled

_ENTRY_ID: Final = re.compile(r"pb([0-9a-f]{16})n[0-9]+", re.ASCII)


def prediction(project: Project, prelabel: Prelabel, task: Mapping[str, Any]) -> dict[str, Any]:
    """The prediction of a task that shows a pre-label: `model_version`, `score` if it has one, `result`.

    The ids of its entries say that it is ours, and which it is: see `fingerprint`.

    Raises:
        InputError: The value does not fit the task.
    """
    record = Record(id=prelabel.item, annotator=prelabel.model_version, annotations=prelabel.annotations)
    made: dict[str, Any] = {"model_version": storable(prelabel.model_version)}
    if prelabel.score is not None:
        made["score"] = prelabel.score
    # Annotators start from one prediction: it fills the boxes of the other schemes, too.
    boxes = prefill.filled(project, task["data"], without=prelabel.annotations)
    made["result"] = [*write_results(project, record, task), *boxes]
    return prefill.identified(made)


def fingerprint(found: Mapping[str, Any]) -> str | None:
    """What tells our predictions apart, as they are on the server; None: the prediction is not ours."""
    result = found.get("result")
    names = {_name_of(entry) for entry in result} if isinstance(result, list) else set()
    return names.pop() if len(names) == 1 else None


def with_prelabels_of(old: Mapping[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Our part of a task's meta when its data is replaced: its predictions are still the old ones."""
    kept = {PRELABELS_HASH: old[PRELABELS_HASH]} if PRELABELS_HASH in old else {}
    return {**{key: value for key, value in new.items() if key != PRELABELS_HASH}, **kept}


def became_of(
    project: Project,
    task: Mapping[str, Any],
    annotation: Mapping[str, Any],
    answer: Answer,
    revision: Mapping[str, Any] | None,
) -> tuple[dict[str, Prelabelled], str | None]:
    """What became of the pre-labels that an annotator was shown.

    Values are compared, not marks of origin: an entry that was removed has none, and one that was changed and changed
    back is as it was. The marks only tell an answer that started from the pre-label from one made beside it.

    Args:
        project: The project.
        task: The task.
        annotation: An annotation, not a draft.
        answer: What was read in it.
        revision: What push noted of the earlier state that was answered; None: it is the one that the task has now.

    Returns:
        Scheme name → what became of its pre-label, empty where none was shown; and whom they were by.
    """
    shown = annotation.get("prediction")
    if not isinstance(shown, Mapping) or not isinstance(shown.get("result"), list) or annotation.get("was_cancelled"):
        return {}, None
    suggested = _value(project, task, shown["result"], revision)
    result = annotation.get("result")
    entries = [entry for entry in result if isinstance(entry, Mapping)] if isinstance(result, list) else []
    parent = annotation.get("parent_prediction")
    # The annotation has no copy of the pre-label of another model that it was begun from.
    beside = parent is not None and parent != shown.get("id")
    origins: dict[str, list[str]] = {}
    for scheme, question in asked(project):
        named = [(str(entry.get("from_name")), str(entry.get("origin"))) for entry in entries]
        own = [origin for name, origin in named if question.owns(scheme, name) and question.asks(scheme, name)]
        origins[scheme.name] = own
    # Where all of it was taken out, or the prediction was deleted since, one of the two still tells.
    begun = parent is not None or any(origin.startswith("prediction") for found in origins.values() for origin in found)
    became: dict[str, Prelabelled] = {}
    for scheme, question in asked(project):
        if scheme.name not in suggested:
            continue
        if (filled := question.prefill(scheme, task["data"])) and suggested[scheme.name] == _value(
            project, task, filled, revision
        ).get(scheme.name):
            # What anybody finds in its boxes is nobody's pre-label.
            continue
        if not begun:
            became[scheme.name] = "manual"
        elif beside:
            # The marks are all there is.
            became[scheme.name] = "kept" if set(origins[scheme.name]) == {"prediction"} else "changed"
        else:
            same = answer.annotations.get(scheme.name) == suggested[scheme.name]
            became[scheme.name] = "kept" if same else "changed"
    version = shown.get("model_version")
    known = isinstance(version, str) and not (beside and set(became.values()) - {"manual"})
    return became, version if became and known else None


def _value(
    project: Project, task: Mapping[str, Any], result: Sequence[Any], revision: Mapping[str, Any] | None
) -> dict[str, Any]:
    return read_answer(project, task, {"result": result}, complete=False, revision=revision).annotations


def _name_of(entry: Any) -> str | None:
    found = entry.get("id") if isinstance(entry, Mapping) else None
    match = _ENTRY_ID.fullmatch(found) if isinstance(found, str) else None
    return match[1] if match else None

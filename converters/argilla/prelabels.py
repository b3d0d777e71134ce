"""Pre-labels ↔ suggestions: one for each question of a record."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla import fields
from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Layout, Part, RecordPlan, Stored, SuggestionPlan
from potato_bridge.converters.fingerprint import PRELABELS_HASH, canonical_hash
from potato_bridge.converters.prelabel_parts import fit_value
from potato_bridge.errors import InputError
from potato_bridge.model import Prelabel, Project, Record
from potato_bridge.model.record import Prelabelled

#: What an agent's name cannot have, and how long it is; a letter or a digit it must have.
_NO_AGENT: Final = re.compile(r"[^a-zA-Z0-9_:./ -]")
_AGENT: Final = re.compile(r"[a-zA-Z0-9]")
_AGENT_LENGTH: Final = 200


def agent_of(model_version: str) -> str | None:
    """A model's name as Argilla takes it; None: nothing is left of it."""
    name = _NO_AGENT.sub("_", model_version).strip()[:_AGENT_LENGTH]
    return name if _AGENT.search(name) else None


def suggestions(
    project: Project, layout: Layout, prelabel: Prelabel, records: Sequence[RecordPlan]
) -> tuple[list[RecordPlan], list[tuple[str, str]], list[str]]:
    """The records with a pre-label, scheme by scheme; what does not fit is dropped.

    Returns:
        The records; (scheme, reason) of values that are dropped; and the reasons of parts of a value that are.
    """
    schemes = {scheme.name: scheme for scheme in project.schemes}
    lost: list[str] = []
    stored = [Stored(record.external_id, record.fields, record.metadata) for record in records]
    dropped: list[tuple[str, str]] = []
    good: dict[str, Any] = {}
    for name, value in prelabel.annotations.items():
        attempt = partial(_try, project, layout, prelabel.item, name, stored)
        try:
            good[name] = fit_value(schemes[name], value, whole=attempt, part=attempt, lost=lost)
        except InputError as error:
            # The record is named already.
            dropped.append((name, error.message.removeprefix(f"record {prelabel.item}, {name}: ")))
    if not good:
        return list(records), dropped, lost
    written = _written(project, layout, prelabel.item, good, stored)
    agent = agent_of(prelabel.model_version)
    score = prelabel.score if prelabel.score is not None and 0 <= prelabel.score <= 1 else None
    made = []
    for record in records:
        values = written.get(record.external_id, {})
        mine = [SuggestionPlan(name, value, agent, _score(value, score)) for name, value in values.items()]
        kept = [one for one in record.suggestions if one.question not in values]
        digest = canonical_hash([[one.question, one.value, one.agent, one.score] for one in mine])
        meta = {**record.meta, PRELABELS_HASH: digest} if mine else record.meta
        metadata = {**record.metadata, **fields.write_meta(meta)}
        made.append(replace(record, suggestions=[*mine, *kept], meta=meta, metadata=metadata))
    return made, dropped, lost


def _written(
    project: Project, layout: Layout, item: str, annotations: dict[str, Any], stored: Sequence[Stored]
) -> dict[str, dict[str, Any]]:
    return LAYOUTS[layout].write_answer(project, Record(id=item, annotator="", annotations=annotations), stored)


def _try(project: Project, layout: Layout, item: str, name: str, stored: Sequence[Stored], value: Any) -> None:
    """Raises InputError where a value cannot be written, or is another one to whoever reads it."""
    written = _written(project, layout, item, {name: value}, stored)
    parts = [Part(record, written.get(record.external_id)) for record in stored]
    answer = LAYOUTS[layout].read_answer(project, parts, complete=False)
    why = answer.flags[0].message if answer.flags else ""
    if name not in answer.annotations:
        raise InputError(why or "it says nothing")
    # Not the values: one may leave out what follows from the rest of it, such as the names of labels.
    if _written(project, layout, item, {name: answer.annotations[name]}, stored) != written:
        raise InputError(why or "it would come back as another answer")


def _score(value: Any, score: float | None) -> float | None:
    # Of a list Argilla asks for a score of each.
    return None if isinstance(value, list) else score


def became_of(project: Project, layout: Layout, answer: Answer, suggested: Sequence[Part]) -> dict[str, Prelabelled]:
    """What became of the pre-labels of an answer: values are compared.

    Argilla does not tell whether an annotator began from a suggestion.

    Args:
        project: The project.
        layout: The layout.
        answer: What was read of the answer.
        suggested: The records with their suggestions as values.
    """
    metas = [fields.read_meta(part.record.metadata) for part in suggested]
    if not any(PRELABELS_HASH in meta for meta in metas):
        # What anybody finds in its boxes is nobody's pre-label. No layout has boxes beside what is pre-labelled.
        return {}
    read = LAYOUTS[layout].read_answer(project, suggested, complete=False).annotations
    return {name: "kept" if answer.annotations.get(name) == value else "changed" for name, value in read.items()}

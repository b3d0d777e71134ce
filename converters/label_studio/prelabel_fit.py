"""Which of a pre-label fits its task: a wrong value is left out alone, and of one that has parts, the wrong parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from potato_bridge.converters.label_studio.question import Question, Task
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.converters.label_studio.results import Answer
from potato_bridge.converters.prelabel_parts import fit_value
from potato_bridge.errors import InputError
from potato_bridge.model import Prelabel, Project
from potato_bridge.model.project import Scheme


@dataclass(slots=True)
class Fitted:
    """What of a pre-label can be shown.

    Attributes:
        annotations: Scheme name → value.
        dropped: (scheme, reason) of values that cannot be shown.
        parts: Reasons of parts of a value that cannot.
        not_asked: Schemes that annotators are not asked for.
    """

    annotations: dict[str, Any] = field(default_factory=dict)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    not_asked: list[str] = field(default_factory=list)


def fit(project: Project, prelabel: Prelabel, task: Mapping[str, Any]) -> Fitted:
    """Tries a pre-label on a task: what is written as results must be an answer when it is read."""
    fitted, schemes = Fitted(), asked(project)
    for name, value in prelabel.annotations.items():
        found = next(((scheme, question) for scheme, question in schemes if scheme.name == name), None)
        if found is None:
            fitted.not_asked.append(name)
            continue
        try:
            fitted.annotations[name] = _fit(*found, task["data"], value, fitted.parts)
        except InputError as error:
            fitted.dropped.append((name, error.message))
    return fitted


def _fit(scheme: Scheme, question: Question[Any], data: Mapping[str, Any], value: Any, lost: list[str]) -> Any:
    return fit_value(
        scheme,
        value,
        whole=lambda one: _try(scheme, question, data, one),
        part=lambda one: question.write(scheme, data, one),
        lost=lost,
    )


def _try(scheme: Scheme, question: Question[Any], data: Mapping[str, Any], value: Any) -> None:
    """Raises InputError where a value cannot be written, or says nothing to whoever reads it."""
    answer = Answer()
    question.read(scheme, Task(data), question.write(scheme, data, value), answer, False)
    if scheme.name not in answer.annotations:
        raise InputError(answer.flags[0].message if answer.flags else "it says nothing")


def fitting(prelabel: Prelabel, fitted: Fitted) -> Prelabel | None:
    """The pre-label with what fits of it; None: nothing does."""
    return msgspec.structs.replace(prelabel, annotations=fitted.annotations) if fitted.annotations else None

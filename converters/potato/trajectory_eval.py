"""The `trajectory_eval` scheme: its config."""

from typing import Any, Final

from potato_bridge.converters.potato.process_reward import read_required
from potato_bridge.converters.potato.section import Section, show
from potato_bridge.converters.potato.vocabulary import SCHEME_SILENT_KEYS, SCHEME_UNUSED_KEYS
from potato_bridge.model.trajectory_eval import ErrorType, Severity, TrajectoryEval

#: What Potato's page puts between an error type and its subtype.
_BETWEEN: Final = "::"


def read_trajectory_eval(section: Section, name: str) -> TrajectoryEval:
    """Reads one scheme; `name` and `annotation_type` were read before."""
    scheme = TrajectoryEval(
        name=name,
        description=section.text("description", empty=True),
        steps_key=section.text("steps_key", "steps"),
        step_text_key=section.text("step_text_key", "action"),
        show_score=section.flag("show_score", True),
        required=read_required(section, False),
        line=section.document.line(section.path),
    )
    if options := section.texts("correctness_options"):
        scheme.correctness_options = options
    elif section.values.get("correctness_options") == []:
        section.problem("correctness_options", "the list is empty", "Name at least two, or leave the key out.")
    scheme.error_types = _error_types(section)
    if section.has("severities"):
        scheme.severities = _severities(section)
    most = section.number("max_score")
    if most is not None:
        scheme.max_score = int(most) if most.is_integer() else most
    if scheme.max_score < 0:
        section.problem("max_score", f"expected a number of at least 0, found {most:g}")
    section.unread(known=SCHEME_UNUSED_KEYS, silent=SCHEME_SILENT_KEYS, what="trajectory_eval")
    return scheme


def _error_types(section: Section) -> list[ErrorType]:
    found: list[ErrorType] = []
    for i, entry in enumerate(section.entries("error_types")):
        path = (*section.at("error_types"), i)
        if isinstance(entry, dict):
            inner = Section(section.document, section.notices, path, entry)
            label = inner.text("label")
            kind = ErrorType(name=inner.text("name", label))
            if not kind.name:
                inner.missing("name", "the word that is stored")
            kind.subtypes = inner.texts("subtypes")
            inner.unread(what="an error type")
        elif isinstance(entry, str | int | float):
            kind = ErrorType(name=section.scalar(path, entry))
        else:
            section.document.problem(path, f"expected text or a mapping, found {show(entry)}")
            continue
        if any(kind.name == other.name for other in found):
            section.document.problem(path, f"{kind.name!r} stands twice in this list", "Remove one of them.")
        for word in (kind.name, *kind.subtypes):
            if _BETWEEN in word:
                hint = f"Potato's page stores what is behind {_BETWEEN!r} as the subtype."
                section.document.problem(path, f"{word!r} has a {_BETWEEN!r}", hint)
        found.append(kind)
    return found


def _severities(section: Section) -> list[Severity]:
    found: list[Severity] = []
    for inner in section.sections("severities"):
        name = inner.required("name", "the word that is stored")
        weight = _weight(inner)
        inner.unread(what="a severity")
        if any(name == other.name for other in found):
            inner.problem("name", f"{name!r} stands twice in this list", "Remove one of them.")
        found.append(Severity(name=name, weight=weight))
    return found


def _weight(section: Section) -> int:
    value: Any = section.take("weight")
    if value is None:
        section.missing("weight", "what it takes off the score, e.g. -5")
    elif not isinstance(value, int) or isinstance(value, bool):
        section.problem("weight", f"expected a whole number, found {show(value)}")
    else:
        return value
    return 0

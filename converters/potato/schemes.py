"""`annotation_schemes`: the types that have a reader; every other one is kept whole and reported."""

from collections.abc import Callable
from typing import Any, Final

from potato_bridge.converters.potato.code_review import read_code_review
from potato_bridge.converters.potato.general import TYPES, read_general
from potato_bridge.converters.potato.process_reward import read_process_reward
from potato_bridge.converters.potato.section import Section, did_you_mean
from potato_bridge.converters.potato.trajectory_edit import read_trajectory_edit
from potato_bridge.converters.potato.trajectory_eval import read_trajectory_eval
from potato_bridge.converters.potato.vocabulary import SCHEME_TYPES
from potato_bridge.converters.potato.yaml_marks import KeyPath
from potato_bridge.model.project import OtherScheme, Scheme

#: `annotation_type` to the reader of its schemes: (section, name) → scheme.
READERS: Final[dict[str, Callable[[Section, str], Scheme]]] = {
    "process_reward": read_process_reward,
    "code_review": read_code_review,
    **dict.fromkeys(TYPES, read_general),
    "trajectory_edit": read_trajectory_edit,
    "trajectory_eval": read_trajectory_eval,
}


def read_schemes(root: Section) -> list[tuple[KeyPath, Scheme]]:
    """The schemes in their order, each with its place."""
    if not root.has("annotation_schemes"):
        root.missing("annotation_schemes", "a list of {annotation_type, name, description}")
        return []
    schemes: list[tuple[KeyPath, Scheme]] = []
    first_line: dict[str, int | None] = {}
    sections = list(root.sections("annotation_schemes"))
    if root.values["annotation_schemes"] == []:
        root.problem("annotation_schemes", "the list is empty", "Add at least one scheme.")
    for section in sections:
        name = section.required("name", "a name that no other scheme has")
        kind = section.required("annotation_type", "e.g. process_reward")
        if name and name in first_line:
            section.problem(
                "name", f"the name {name!r} is taken by the scheme in line {first_line[name]}", "Give it another name."
            )
        elif name:
            first_line[name] = section.document.line(section.at("name"))
        if kind:
            reader = READERS.get(kind)
            scheme = reader(section, name) if reader else _read_other(section, name, kind)
            schemes.append((section.path, scheme))
    return schemes


def _read_other(section: Section, name: str, kind: str) -> OtherScheme:
    if kind in SCHEME_TYPES:
        message = f"scheme {name!r} has the type {kind!r}, which the bridge cannot show yet: it is not annotated"
        section.notice("scheme-not-supported", "annotation_type", message)
    else:
        hint = did_you_mean(kind, SCHEME_TYPES)
        message = f"scheme {name!r} has the unknown type {kind!r}: it is not annotated.{' ' + hint if hint else ''}"
        section.notice("unknown-scheme-type", "annotation_type", message)
    options: dict[str, Any] = {
        key: value for key, value in section.values.items() if key not in ("name", "annotation_type", "description")
    }
    return OtherScheme(
        name=name,
        type=kind,
        description=section.text("description", empty=True),
        options=options,
        line=section.document.line(section.path),
    )

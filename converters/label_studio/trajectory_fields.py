"""What the page, the reader and the writer of `trajectory_edit` share: names, and the originals in a task's data."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.label_studio.text import storable
from potato_bridge.model.trajectory_edit import Place, editable, field_text, plain_breaks
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

#: Parts of the names of controls: a corrected field, the reason for it, the corrected final answer.
EDIT: Final = "edit"
REASON: Final = "reason"
FINAL: Final = "final"
#: Parts of the keys of the task data: what Repeaters run over (where there are many fields, one with a page for each),
#: the originals, and what is shown after the last field.
SHOWN: Final = "shown"
PAGED: Final = "paged"
ORIGINALS: Final = "originals"
REST: Final = "rest"

#: What the number of a control on a page of its own begins with: two Repeaters cannot have the same names.
ON_PAGE: Final = "p"
_NUMBER: Final = re.compile(rf"{ON_PAGE}?(0|[1-9][0-9]{{0,8}})", re.ASCII)
_HASH_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Original:
    """A field that has an editor.

    Attributes:
        place: Step and field; None: the final answer.
        text: What stands there, a string verbatim, anything else as JSON.
        is_json: Whether it is anything else.
    """

    place: Place | None
    text: str
    is_json: bool = False

    @property
    def label(self) -> str:
        """For messages, with the step's number as the page shows it."""
        return f"step {self.place[0] + 1}, {self.place[1]}" if self.place else "final answer"


def control(scheme: TrajectoryEdit, part: str, number: int | str) -> str:
    """The name of a control."""
    return f"{fields.control_name(scheme)}_{part}_{number}"


def place_of(scheme: TrajectoryEdit, name: str) -> tuple[str, int] | None:
    """Part and number of a control; None if it is not the scheme's."""
    prefix = f"{fields.control_name(scheme)}_"
    part, _, number = name.removeprefix(prefix).rpartition("_")
    match = _NUMBER.fullmatch(number)
    if not name.startswith(prefix) or part not in (EDIT, REASON, FINAL) or match is None:
        return None
    return part, int(match[1])


def originals(scheme: TrajectoryEdit, item: Mapping[str, Any]) -> Iterator[Original]:
    """The fields of an item that have an editor, the final answer last."""
    steps = item.get(scheme.steps_key)
    for place, value in editable(scheme, steps if isinstance(steps, list) else []):
        yield Original(place, storable(field_text(value)), not isinstance(value, str))
    final = item.get(scheme.final_answer_key)
    if scheme.edit_final_answer and final is not None:
        yield Original(None, storable(field_text(final)), not isinstance(final, str))


def to_data(found: list[Original]) -> list[dict[str, Any]]:
    """The originals as they stand in a task."""
    return [
        {
            "step": original.place[0] if original.place else None,
            "field": original.place[1] if original.place else None,
            "text": original.text,
            **({"json": True} if original.is_json else {}),
        }
        for original in found
    ]


def from_data(scheme: TrajectoryEdit, data: Mapping[str, Any]) -> list[Original]:
    """The originals of a task; empty where it has none. Never raises: tasks can be changed on the server."""
    entries = data.get(fields.data_key(scheme, ORIGINALS))
    found = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
            continue
        index, name = entry.get("step"), entry.get("field")
        place = (index, name) if isinstance(index, int) and isinstance(name, str) else None
        found.append(Original(place, entry["text"], entry.get("json") is True))
    return found


def digest(text: str) -> str:
    """What tells one original from another, whatever its line breaks are."""
    return hashlib.sha256(plain_breaks(text).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]

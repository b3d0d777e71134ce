"""What `trajectory_edit` corrects of an item: the fields that have an editor, as they were."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from potato_bridge.converters.view.text import storable
from potato_bridge.model.trajectory_edit import Place, editable, field_text, plain_breaks
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

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


def from_data(entries: Any) -> list[Original]:
    """The originals of a task; empty where it has none. Never raises: tasks can be changed on the server."""
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

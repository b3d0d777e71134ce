"""What one annotation says, and how a reader of a mode writes into it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from potato_bridge.model import Flag
from potato_bridge.model.project import Scheme

#: Key in `controls` of what belongs to no control: entries without a name, or a result that is no list. No control has
#: an empty name. Each is `{"raw": value}`.
UNREADABLE: Final = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one annotation says.

    Attributes:
        annotations: Scheme name → canonical value; empty where nothing valid was answered.
        controls: Control name → its result entries, whole: those of controls that a team added, and those of the
            scheme's controls that are no valid answer.
        flags: What is wrong.
    """

    annotations: dict[str, Any] = field(default_factory=dict)
    controls: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)

    def flag(self, code: str, message: str, scheme: Scheme | None = None) -> None:
        """Says what is wrong."""
        self.flags.append(Flag(code=code, message=message, scheme=scheme.name if scheme else None))

    def unreadable(self, raw: Any, message: str) -> None:
        """Keeps what belongs to no control."""
        self.controls.setdefault(UNREADABLE, []).append({"raw": raw})
        self.flag("bad-result", message)


def values_of(entry: Mapping[str, Any], kind: str) -> list[Any]:
    """The list that an entry holds under `value.<kind>`; empty where there is none."""
    value = entry.get("value")
    found = value.get(kind) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []

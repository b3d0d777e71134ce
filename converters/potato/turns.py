"""Who wrote an entry of a step list, and whether it is rated (DESIGN §2).

Every entry of a plain step list is rated. An entry that says who wrote it is a turn: agents' turns are rated, those of
users, systems, tools and environments are shown only. Agents have any name (`planner`, `Agent (Action)`, `gpt-5`), so
the names of the others are listed, and everybody else is an agent. A bare string in a list of coding turns is a user's,
as in Potato's display; in a conversation its `Speaker:` decides; elsewhere it is a step.
"""

import re
from typing import Any, Literal, NamedTuple

from potato_bridge.converters.potato.vocabulary import TURN_TYPES
from potato_bridge.model.project import Project

Kind = Literal["system", "user", "agent", "environment"]
Listing = Literal["coding", "conversation", "steps"]

#: Fields that say who wrote an entry.
ROLE_KEYS = ("role", "speaker", "from", "sender", "agent")
_OTHERS: dict[str, Kind] = {
    "user": "user",
    "human": "user",
    "customer": "user",
    "user proxy": "user",
    "userproxy": "user",
    "system": "system",
    "developer": "system",
    "tool": "environment",
    "tool result": "environment",
    "tool output": "environment",
    "function": "environment",
    "environment": "environment",
    "env": "environment",
    "observation": "environment",
    "ipython": "environment",
}
#: `step_type` of an entry without a role.
_STEP_TYPES: dict[str, Kind] = {
    "observation": "environment",
    "environment": "environment",
    "tool result": "environment",
    "tool output": "environment",
    "user": "user",
    "system": "system",
}
_SPEAKER = re.compile(r"([^:\n]{1,40}):\s")


class Turn(NamedTuple):
    """Who wrote an entry; `role` is the source's word for it, None where it has none."""

    kind: Kind
    role: str | None = None

    @property
    def ratable(self) -> bool:
        """Whether an annotator rates it."""
        return self.kind == "agent"


#: Who wrote an entry that does not say.
_AGENT = Turn("agent")


def listing(project: Project, steps_key: str) -> Listing:
    """What kind of list the steps stand in, by the display that shows it, or its name."""
    types = {field.type for field in project.fields if field.key == steps_key}
    if "coding_trace" in types or (not types and steps_key == "structured_turns"):
        return "coding"
    return "conversation" if types & TURN_TYPES else "steps"


def read_turn(entry: Any, kind: Listing) -> Turn:
    """Who wrote one entry of a step list."""
    if isinstance(entry, dict):
        for key in ROLE_KEYS:
            if isinstance(role := entry.get(key), str) and role.strip():
                return Turn(_OTHERS.get(_plain(role), "agent"), role)
        step_type = entry.get("step_type")
        if isinstance(step_type, str):
            return Turn(_STEP_TYPES.get(_plain(step_type), "agent"))
    elif isinstance(entry, str):
        if kind == "coding":
            return Turn("user")
        if kind == "conversation" and (match := _SPEAKER.match(entry)):
            return Turn(_OTHERS.get(_plain(match[1]), "agent"), match[1])
    return _AGENT


def _plain(name: str) -> str:
    """`Agent (Action)` is `agent`; `tool_result` is `tool result`."""
    return name.partition("(")[0].strip().lower().replace("_", " ").replace("-", " ")

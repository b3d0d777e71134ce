"""Onto a project that a team has already: what of it a push would change, shown before anything is."""

from dataclasses import asdict, dataclass, field
from typing import Any

from potato_bridge.converters.label_studio.interface import Interface
from potato_bridge.converters.label_studio.validate import ControlNames, control_names
from potato_bridge.errors import InputError
from potato_bridge.model import Project
from potato_bridge.remotes.base import RemoteProject
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.backend import Located
from potato_bridge.sync.label_studio.locate import marker_lines, project_marker
from potato_bridge.sync.plan import Plan, UpdateInterface


@dataclass(frozen=True)
class Adoption:
    """What a push would change of a project that is not the config's yet.

    Attributes:
        removed: Controls that the new interface does not have, and how many answers (skips among them) use each.
        added: Controls that the old interface does not have.
        changes: What else of the project would change, a line each.
        other_config: Another config has this project, too.
        used: Tasks there that are of our items.
        foreign: Tasks there that are not, and are left alone.
        creates: Tasks that would be added.
        updates: Tasks that would be changed.
    """

    project_id: int
    title: str
    config: str
    replaces_interface: bool
    removed: dict[str, int] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    other_config: bool = False
    used: int = 0
    foreign: int = 0
    creates: int = 0
    updates: int = 0

    def to_json(self) -> dict[str, Any]:
        """The changes as plain values."""
        return asdict(self)

    def describe(self) -> list[str]:
        """Lines for people."""
        lines = [f"project {self.project_id}, {self.title!r}, is not the project of {self.config} yet. A push would"]
        if self.other_config:
            lines.append("  take it from another config, which has marked it as its own: both would change it in turns")
        if self.replaces_interface:
            lines.append("  replace its labeling interface")
            lines += [f"    without {name}{_answers(count)}" for name, count in self.removed.items()]
            lines += [f"    with {name}" for name in self.added]
        lines += [f"  {change}" for change in self.changes]
        if self.foreign:
            lines.append(f"  leave {self.foreign} task(s) alone that are not of our items")
        if self.used:
            lines.append(f"  use {self.used} task(s) that are there already, {self.updates} of them to be updated")
        if self.creates:
            lines.append(f"  add {self.creates} task(s)")
        return lines


def adoption(
    project: Project, interface: Interface, remote: LabelStudio, located: Located[RemoteProject], todo: Plan
) -> Adoption:
    """What a plan means for a project that is not the config's yet.

    Raises:
        RemoteError: The server fails.
    """
    there = located.project
    replaces = any(isinstance(operation, UpdateInterface) for operation in todo.project)
    old, new = _controls(there.label_config), control_names(interface.label_config)
    used = remote.answered_controls(there.project_id) if replaces else {}
    removed = {
        name: sum(count for control, count in used.items() if control in ControlNames({name}))
        for name in sorted(old - new)
    }
    changed = {update.item_id for update in todo.updates} | {update.item_id for update in todo.prelabels}
    return Adoption(
        project_id=there.project_id,
        title=there.title,
        config=project.config.name,
        replaces_interface=replaces,
        removed=removed if replaces else {},
        added=sorted(new - old) if replaces else [],
        changes=[
            *(operation.describe() for operation in todo.project if not isinstance(operation, UpdateInterface)),
            *([todo.show.describe()] if todo.show else []),
        ],
        other_config=any(line != project_marker(project) for line in marker_lines(there.description)),
        used=todo.unchanged + len(changed),
        foreign=todo.foreign,
        creates=len(todo.creates),
        updates=len(changed),
    )


def _controls(label_config: str) -> ControlNames:
    try:
        return control_names(label_config)
    except InputError:
        # The server has its own idea of what an interface is.
        return ControlNames()


def _answers(count: int) -> str:
    return f": {count} answer(s) use it" if count else ""

"""What a push would do: a pure function of the items here and the tasks there.

Nothing is ever deleted: a task whose item is gone, a second task of one item, and a foreign task are reported.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, NamedTuple

from potato_bridge.remotes.base import RemoteTask


class LocalItem(NamedTuple):
    """An item as it would be sent: its id, the hash of its task's data, and of the steps alone."""

    item_id: str
    hash: str
    steps_hash: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing to do, or to know."""

    kind: ClassVar[str] = ""
    #: Whether a push carries it out; the others are only reported.
    changes: ClassVar[bool] = True

    def to_json(self) -> dict[str, Any]:
        """The operation as plain values, with its kind under `op`."""
        return {"op": self.kind, **asdict(self)}

    def describe(self) -> str:
        """One line for people."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class CreateProject(Operation):
    """There is no project yet."""

    kind: ClassVar[str] = "create-project"
    title: str

    def describe(self) -> str:
        """One line for people."""
        return f"create the project {self.title!r}"


@dataclass(frozen=True, slots=True)
class UpdateInterface(Operation):
    """The label config there is not the one that the config gives."""

    kind: ClassVar[str] = "update-interface"
    project_id: int

    def describe(self) -> str:
        """One line for people."""
        return f"change the labeling interface of project {self.project_id}"


@dataclass(frozen=True, slots=True)
class UpdateInstruction(Operation):
    """The instruction there is not the one that the config gives."""

    kind: ClassVar[str] = "update-instruction"
    project_id: int

    def describe(self) -> str:
        """One line for people."""
        return f"change the instruction of project {self.project_id}"


@dataclass(frozen=True, slots=True)
class MarkProject(Operation):
    """The project's description lacks the line that it is found by."""

    kind: ClassVar[str] = "mark-project"
    project_id: int

    def describe(self) -> str:
        """One line for people."""
        return f"add our marker to the description of project {self.project_id}"


@dataclass(frozen=True, slots=True)
class Create(Operation):
    """An item has no task."""

    kind: ClassVar[str] = "create"
    item_id: str

    def describe(self) -> str:
        """One line for people."""
        return f"add {self.item_id}"


@dataclass(frozen=True, slots=True)
class Update(Operation):
    """An item is not as its task shows it. The task keeps its annotations."""

    kind: ClassVar[str] = "update"
    item_id: str
    task_id: int
    answers: int
    steps_changed: bool

    def describe(self) -> str:
        """One line for people."""
        what = "its steps changed" if self.steps_changed else "changed"
        kept = f"; {self.answers} answer(s) are for the earlier steps" if self.answers and self.steps_changed else ""
        return f"update {self.item_id} (task {self.task_id}): {what}{kept}"


@dataclass(frozen=True, slots=True)
class Orphan(Operation):
    """A task of ours whose item is not among the items any more: kept."""

    kind: ClassVar[str] = "orphan"
    changes: ClassVar[bool] = False
    item_id: str
    task_id: int
    answers: int

    def describe(self) -> str:
        """One line for people."""
        return f"keep {self.item_id} (task {self.task_id}, {self.answers} answer(s)): no such item here any more"


@dataclass(frozen=True, slots=True)
class Duplicate(Operation):
    """A second task of one item: kept, and its answers are pulled, but it is not kept up to date."""

    kind: ClassVar[str] = "duplicate"
    changes: ClassVar[bool] = False
    item_id: str
    task_id: int
    used_task_id: int
    answers: int

    def describe(self) -> str:
        """One line for people."""
        return f"leave task {self.task_id} alone: {self.item_id} is task {self.used_task_id} already"


@dataclass(frozen=True, slots=True)
class Foreign(Operation):
    """Tasks that somebody else made: never touched."""

    kind: ClassVar[str] = "foreign"
    changes: ClassVar[bool] = False
    tasks: int

    def describe(self) -> str:
        """One line for people."""
        return f"leave {self.tasks} task(s) alone that are not ours"


@dataclass
class Plan:
    """Operations, by kind; creations in the order of the items, all others in the order of their task ids."""

    project: list[Operation] = field(default_factory=list)
    creates: list[Create] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    unchanged: int = 0
    duplicates: list[Duplicate] = field(default_factory=list)
    orphans: list[Orphan] = field(default_factory=list)
    foreign: int = 0

    @property
    def operations(self) -> list[Operation]:
        """All of them: the project's first, then what changes tasks, then what is only reported."""
        foreign = [Foreign(self.foreign)] if self.foreign else []
        return [*self.project, *self.creates, *self.updates, *self.duplicates, *self.orphans, *foreign]

    @property
    def changes(self) -> bool:
        """Whether a push would change anything."""
        return bool(self.project or self.creates or self.updates)

    def to_json(self) -> dict[str, Any]:
        """The operations, and the number of items that are as they should be."""
        return {"operations": [operation.to_json() for operation in self.operations], "unchanged": self.unchanged}

    def describe(self) -> str:
        """One line for people."""
        if not self.changes:
            return f"nothing to do: {self.unchanged} item(s) are up to date"
        parts = [operation.describe() for operation in self.project]
        parts += [f"add {len(self.creates)} item(s)"] if self.creates else []
        parts += [f"update {len(self.updates)}"] if self.updates else []
        return ", ".join([*parts, f"{self.unchanged} unchanged"])


def plan(items: Sequence[LocalItem], tasks: Iterable[RemoteTask]) -> Plan:
    """Compares the items with the tasks.

    Of several tasks with one marker the annotated one is used, then the oldest: answers hang on it.
    """
    result = Plan()
    by_marker: dict[str, list[RemoteTask]] = {}
    for task in tasks:
        if task.marker is None:
            result.foreign += 1
        else:
            by_marker.setdefault(task.marker, []).append(task)
    local = {item.item_id for item in items}
    used: dict[str, RemoteTask] = {}
    for marker, group in by_marker.items():
        group.sort(key=lambda task: (task.answers == 0, task.task_id))
        used[marker] = group[0]
        if marker not in local:
            result.orphans += [Orphan(marker, task.task_id, task.answers) for task in group]
            continue
        first = group[0].task_id
        result.duplicates += [Duplicate(marker, task.task_id, first, task.answers) for task in group[1:]]
    for item in items:
        known = used.get(item.item_id)
        if known is None:
            result.creates.append(Create(item.item_id))
        elif known.hash == item.hash:
            result.unchanged += 1
        else:
            steps_changed = known.steps_hash != item.steps_hash
            result.updates.append(Update(item.item_id, known.task_id, known.answers, steps_changed))
    result.updates.sort(key=lambda update: update.task_id)
    result.orphans.sort(key=lambda orphan: orphan.task_id)
    result.duplicates.sort(key=lambda duplicate: duplicate.task_id)
    return result

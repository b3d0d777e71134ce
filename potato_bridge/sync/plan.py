"""What a push would do: a pure function of the items here and the tasks there.

Nothing is ever deleted: a task whose item is gone, a second task of one item, and a foreign task are reported.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, NamedTuple

from potato_bridge.converters.fingerprint import are_prelabels, same_steps
from potato_bridge.remotes.base import Ref, RemoteTask


class LocalItem(NamedTuple):
    """An item as it would be sent: its id, the hash of its task's data, of the steps alone, and of its predictions."""

    item_id: str
    hash: str
    steps_hash: str
    prelabels_hash: str | None = None


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
class ShowPrelabels(Operation):
    """Annotators are shown no pre-labels, or those of a model that the items here have none of."""

    kind: ClassVar[str] = "show-prelabels"
    project_id: int
    model_version: str

    def describe(self) -> str:
        """One line for people."""
        return f"show the pre-labels of {self.model_version!r} in project {self.project_id}"


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
    task_id: Ref
    answers: int
    steps_changed: bool

    def describe(self) -> str:
        """One line for people."""
        what = "its steps changed" if self.steps_changed else "changed"
        kept = f"; {self.answers} answer(s) are for the earlier steps" if self.answers and self.steps_changed else ""
        return f"update {self.item_id} (task {self.task_id}): {what}{kept}"


@dataclass(frozen=True, slots=True)
class UpdatePrelabels(Operation):
    """The predictions of a task are not the item's pre-labels. Answers keep a copy of the old ones."""

    kind: ClassVar[str] = "update-prelabels"
    item_id: str
    task_id: Ref

    def describe(self) -> str:
        """One line for people."""
        return f"change the pre-labels of {self.item_id} (task {self.task_id})"


@dataclass(frozen=True, slots=True)
class Orphan(Operation):
    """A task of ours whose item is not among the items any more: kept."""

    kind: ClassVar[str] = "orphan"
    changes: ClassVar[bool] = False
    item_id: str
    task_id: Ref
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
    task_id: Ref
    used_task_id: Ref
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
    prelabels: list[UpdatePrelabels] = field(default_factory=list)
    show: ShowPrelabels | None = None
    unchanged: int = 0
    duplicates: list[Duplicate] = field(default_factory=list)
    orphans: list[Orphan] = field(default_factory=list)
    foreign: int = 0

    @property
    def operations(self) -> list[Operation]:
        """All of them: the project's first, then what changes tasks, then what is only reported."""
        foreign = [Foreign(self.foreign)] if self.foreign else []
        tasks = [*self.creates, *self.updates, *self.prelabels, *([self.show] if self.show else [])]
        return [*self.project, *tasks, *self.duplicates, *self.orphans, *foreign]

    @property
    def changes(self) -> bool:
        """Whether a push would change anything."""
        return bool(self.project or self.creates or self.updates or self.prelabels or self.show)

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
        parts += [f"change the pre-labels of {len(self.prelabels)}"] if self.prelabels else []
        parts += [self.show.describe()] if self.show else []
        return ", ".join([*parts, f"{self.unchanged} unchanged"])


class Planner:
    """Compares the items, one by one, with the tasks that are there.

    Of several tasks with one marker the annotated one is used, then the oldest: answers hang on it.

    Args:
        tasks: All tasks of the project; read at once.
    """

    def __init__(self, tasks: Iterable[RemoteTask]) -> None:
        self._plan = Plan()
        self._groups: dict[str, list[RemoteTask]] = {}
        self._seen: set[str] = set()
        for task in tasks:
            if task.marker is None:
                self._plan.foreign += 1
            else:
                self._groups.setdefault(task.marker, []).append(task)
        for group in self._groups.values():
            group.sort(key=lambda task: (task.answers == 0, task.task_id))

    def compare(self, item: LocalItem) -> Create | Update | None:
        """What has to be done for the next item; None: it is as its task shows it."""
        self._seen.add(item.item_id)
        group = self._groups.get(item.item_id)
        if group is None:
            create = Create(item.item_id)
            self._plan.creates.append(create)
            return create
        known = group[0]
        if known.hash == item.hash:
            self._plan.unchanged += 1
            return None
        steps_changed = not same_steps(known.steps_hash, item.steps_hash)
        update = Update(item.item_id, known.task_id, known.answers, steps_changed)
        self._plan.updates.append(update)
        return update

    def compare_prelabels(self, item: LocalItem) -> UpdatePrelabels | None:
        """Whether the predictions of the item that was just compared have to change. None for an item without any."""
        group = self._groups.get(item.item_id)
        if group is None or item.prelabels_hash in (None, group[0].prelabels_hash) or self.has_old_prelabels(item):
            return None
        update = UpdatePrelabels(item.item_id, group[0].task_id)
        self._plan.prelabels.append(update)
        self._plan.unchanged -= group[0].hash == item.hash
        return update

    def has_old_prelabels(self, item: LocalItem) -> bool:
        """Whether the item's task has pre-labels of an earlier push, and the item has none."""
        group = self._groups.get(item.item_id)
        return group is not None and are_prelabels(group[0].prelabels_hash) and not are_prelabels(item.prelabels_hash)

    def finish(self) -> Plan:
        """The plan, when all items were compared."""
        result = self._plan
        for marker, group in self._groups.items():
            if marker not in self._seen:
                result.orphans += [Orphan(marker, task.task_id, task.answers) for task in group]
                continue
            first = group[0].task_id
            result.duplicates += [Duplicate(marker, task.task_id, first, task.answers) for task in group[1:]]
        result.updates.sort(key=lambda update: update.task_id)
        result.prelabels.sort(key=lambda update: update.task_id)
        result.orphans.sort(key=lambda orphan: orphan.task_id)
        result.duplicates.sort(key=lambda duplicate: duplicate.task_id)
        return result


def plan(items: Iterable[LocalItem], tasks: Iterable[RemoteTask]) -> Plan:
    """Compares all items with all tasks, see `Planner`."""
    planner = Planner(tasks)
    for item in items:
        planner.compare(item)
        planner.compare_prelabels(item)
    return planner.finish()

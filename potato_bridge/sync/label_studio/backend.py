"""Label Studio as a backend."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from potato_bridge.converters.fingerprint import PRELABELS_HASH
from potato_bridge.converters.label_studio.interface import Interface
from potato_bridge.converters.label_studio.questions import asked
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import Ref, RemoteProject, RemoteTask
from potato_bridge.remotes.http import to_json
from potato_bridge.remotes.label_studio import MAX_BODY, LabelStudio
from potato_bridge.sync.backend import PATIENCE, Backend, Located, Tally
from potato_bridge.sync.label_studio.adopt import Adoption, adoption
from potato_bridge.sync.label_studio.answers import BACKEND, Reader
from potato_bridge.sync.label_studio.listing import bridge_meta, list_tasks
from potato_bridge.sync.label_studio.locate import locate, project_title
from potato_bridge.sync.label_studio.prelabels import PrelabelTally, prelabels_body, show_prelabels
from potato_bridge.sync.label_studio.reading import Reading
from potato_bridge.sync.label_studio.send import Sender, settle_intents
from potato_bridge.sync.label_studio.setup import project_operations, update_project
from potato_bridge.sync.ledger import Ledger, Stream
from potato_bridge.sync.plan import LocalItem, Operation, Plan, ShowPrelabels
from potato_bridge.sync.progress import Progress

#: Builds the tasks of all items, one by one, in the order of the items.
BuildTasks: TypeAlias = Callable[[Notices], Iterable[dict[str, Any]]]


@dataclass(frozen=True)
class TaskUnit:
    """A task that was built; see `backend.Unit`."""

    task: dict[str, Any]

    @cached_property
    def item(self) -> LocalItem:
        """See `backend.Unit`."""
        meta = bridge_meta(self.task)
        return LocalItem(meta["id"], meta["hash"], meta["steps_hash"], meta.get(PRELABELS_HASH))

    def body(self) -> bytes:
        """See `backend.Unit`."""
        return to_json(self.task)

    def prelabels_body(self) -> bytes:
        """See `backend.Unit`."""
        return prelabels_body(self.task)


def _no_tasks(_: Notices) -> Iterable[dict[str, Any]]:
    return ()


class LabelStudioBackend(Backend[RemoteProject]):
    """One Label Studio server.

    Args:
        project: The config.
        remote: The server.
        interface: Label config and instruction; only a push needs it.
        tasks: Builds the tasks; only a push needs it.
        patience: Seconds to wait for a write whose answer was lost.
    """

    name = BACKEND
    unit = "task"

    def __init__(
        self,
        project: Project,
        remote: LabelStudio,
        interface: Interface | None = None,
        tasks: BuildTasks = _no_tasks,
        *,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(project, remote.url)
        self.max_body = MAX_BODY
        self._remote = remote
        self._interface = interface
        self._tasks = tasks
        self._patience = patience
        # The greatest id that was there before anything was sent: what is sent has greater ones.
        self._newest = 0

    def locate(self, ledger: Ledger, notices: Notices, ref: int | str | None) -> Located[RemoteProject] | None:
        """See `Backend`."""
        return locate(self.project, self._remote, ledger, notices, ref)

    def title(self) -> str:
        """See `Backend`."""
        return project_title(self.project)

    def page(self, project_id: Ref) -> str:
        """See `Backend`."""
        return f"{self.url}/projects/{project_id}"

    def settle(self, ledger: Ledger, there: RemoteProject) -> int:
        """See `Backend`."""
        return settle_intents(self._remote, ledger, there.project_id, self._patience)

    def operations(self, ledger: Ledger, there: RemoteProject | None) -> Sequence[Operation]:
        """See `Backend`."""
        return project_operations(self.project, self._wanted, self._remote, ledger, there)

    def tasks(self, there: RemoteProject) -> Iterator[RemoteTask]:
        """See `Backend`."""
        for task in list_tasks(self._remote, there.project_id, project=self.project):
            assert isinstance(task.task_id, int)
            self._newest = max(self._newest, task.task_id)
            yield task

    def units(self, notices: Notices) -> Iterator[TaskUnit]:
        """See `Backend`."""
        return map(TaskUnit, self._tasks(notices))

    def tally(self) -> Tally:
        """See `Backend`."""
        return PrelabelTally()

    def adoption(self, located: Located[RemoteProject], todo: Plan) -> Adoption:
        """See `Backend`."""
        return adoption(self.project, self._wanted, self._remote, located, todo)

    def update(
        self, ledger: Ledger, there: RemoteProject | None, todo: Plan, notices: Notices, tally: Tally
    ) -> RemoteProject:
        """See `Backend`."""
        assert isinstance(tally, PrelabelTally)
        return update_project(
            self.project, self._wanted, self._remote, ledger, there, todo.project, notices, model_version=tally.shown
        )

    def sender(self, ledger: Ledger, there: RemoteProject, notices: Notices) -> Sender:
        """See `Backend`."""
        return Sender(self._remote, ledger, there.project_id, self._newest, notices, self._patience)

    def show(self, operation: ShowPrelabels) -> None:
        """See `Backend`."""
        show_prelabels(self._remote, operation)

    def reading(
        self,
        ledger: Ledger,
        stream: Stream,
        there: RemoteProject,
        *,
        notices: Notices,
        drafts: bool,
        progress: Progress,
        mark: Mapping[str, Any],
    ) -> Reading:
        """See `Backend`."""
        asked(self.project)
        reader = Reader(
            project=self.project,
            project_id=there.project_id,
            users=lambda: self._remote.users(there.project_id),
            notices=notices,
            controls=Interface(there.label_config, there.instruction, "").controls if there.label_config else None,
            mark=mark,
        )
        return Reading(self._remote, there, reader, drafts=drafts, progress=progress)

    def counts(self, there: RemoteProject) -> tuple[int, int]:
        """See `Backend`."""
        return there.submitted, there.skipped

    @property
    def _wanted(self) -> Interface:
        assert self._interface is not None, "a push needs an interface"
        return self._interface

"""What push, pull and status ask of a server: a backend is this, a converter and a remote, and nothing else."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

from potato_bridge.errors import RemoteError, UsageError
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import Ref, RemoteTask
from potato_bridge.sync.ledger import Ledger, Stream
from potato_bridge.sync.outbox import Outbox
from potato_bridge.sync.plan import Create, LocalItem, Operation, Plan, Planner, ShowPrelabels, Update, UpdatePrelabels
from potato_bridge.sync.progress import Advance, Progress
from potato_bridge.sync.spool import Spool

Found: TypeAlias = Literal["option", "ledger", "marker", "created"]

#: Seconds that a write whose answer was lost may take to appear.
PATIENCE = 60.0


class There(Protocol):
    """A project on a server."""

    @property
    def project_id(self) -> Ref:
        """The server's id of it."""

    @property
    def title(self) -> str:
        """What people call it."""


P = TypeVar("P", bound=There)


@dataclass(frozen=True, slots=True)
class Located(Generic[P]):
    """A project on the server, and how it was found.

    Attributes:
        ours: The ledger or its marker says that it is the config's; a named one need not be.
    """

    project: P
    found: Found
    ours: bool = True


class Adoption(Protocol):
    """What a push would change of a project that is not the config's yet."""

    @property
    def project_id(self) -> Ref:
        """The project."""

    @property
    def title(self) -> str:
        """What people call it."""

    @property
    def config(self) -> str:
        """The config that would take it over."""

    def to_json(self) -> dict[str, Any]:
        """The changes as plain values."""

    def describe(self) -> list[str]:
        """Lines for people."""


def refuse(found: Adoption) -> None:
    """For callers that cannot ask.

    Raises:
        UsageError: Always.
    """
    raise UsageError(
        f"project {found.project_id}, {found.title!r}, is not the project of {found.config} yet; nothing was changed",
        hint="Look at the changes (--dry-run shows them, too), and run it again with --yes.",
    )


class Unit(Protocol):
    """One item, or one part of it, as it would be sent."""

    @property
    def item(self) -> LocalItem:
        """What the plan compares."""

    def body(self) -> bytes:
        """It as JSON, for `Sender.send`.

        Raises:
            InputError: It cannot be sent.
        """

    def prelabels_body(self) -> bytes:
        """What `Sender.send` needs to change its pre-labels alone, as JSON."""


class Tally(Protocol):
    """What the items of a push have as pre-labels."""

    def take(self, unit: Any, planner: Planner, *, steps_changed: bool) -> None:
        """Counts a unit that was built and compared."""

    def operation(self, there: Any) -> ShowPrelabels | None:
        """What has to change in a project that is there, so that annotators see them."""

    def report(self, there: Any, notices: Notices) -> None:
        """Says which pre-labels annotators do not see, and which are old."""


class Sender(Protocol):
    """Carries out what changes tasks; counts what it did, also when it fails half-way."""

    created: int
    updated: int
    prelabels: int
    recovered: int

    def send(
        self, tasks: Outbox[Create | Update], prelabels: Outbox[UpdatePrelabels], plan: Plan, advance: Advance
    ) -> None:
        """Carries out creations, updates, and changes of pre-labels."""


class Reading(Protocol):
    """The reading part of one pull: what changed on the server, into a spool.

    Attributes:
        cursor: Up to when everything was read, by the server's clock.
        submitted: Answers in the project, as the server counts them.
        skipped: Skips, likewise.
    """

    cursor: str
    submitted: int
    skipped: int

    def begin(self, spool: Spool, cursor: str) -> None:
        """Starts, or starts again. An empty cursor: everything is to be read."""

    def round(self, *, first: bool) -> int:
        """Counts, then reads what changed since the cursor, which moves on; gives how many tasks were read."""

    def difference(self) -> int:
        """How many more answers the server has counted than are known; 0 where nothing is missing."""


class Backend(ABC, Generic[P]):
    """One server, as the sync of one project sees it.

    Args:
        project: The config.
        url: The server's address.
    """

    #: As `Source.backend` says it.
    name: ClassVar[str]
    #: What the server calls what an item becomes.
    unit: ClassVar[str]
    #: Bytes that one request may have.
    max_body: int

    def __init__(self, project: Project, url: str) -> None:
        self.project = project
        self.url = url

    @abstractmethod
    def locate(self, ledger: Ledger, notices: Notices, ref: int | str | None) -> Located[P] | None:
        """The project of the config; None where there is none yet.

        Args:
            ledger: What this machine remembers.
            notices: Gets `project-gone` where the project that the ledger names was deleted.
            ref: The project's id or title, where the user says which one is meant.

        Raises:
            RemoteError: The project that the user names does not exist, or there are several.
        """

    def must_locate(self, ledger: Ledger, notices: Notices, ref: int | str | None) -> P:
        """`locate`, where there must be a project.

        Raises:
            RemoteError: There is none.
        """
        located = self.locate(ledger, notices, ref)
        if located is None:
            raise RemoteError(
                f"{self.url} has no project of {self.project.config.name} yet",
                hint="Push first, or name the one that is meant.",
            )
        return located.project

    @abstractmethod
    def title(self) -> str:
        """What a project that is not there yet will be called."""

    @abstractmethod
    def page(self, project_id: Ref) -> str:
        """The address where people annotate."""

    def settle(self, ledger: Ledger, there: P) -> int:
        """Waits for what an earlier, killed push may have sent; returns how many of its tasks have arrived."""
        return 0

    @abstractmethod
    def operations(self, ledger: Ledger, there: P | None) -> Sequence[Operation]:
        """What of the project itself (None: not there yet) is not as the config gives it."""

    @abstractmethod
    def tasks(self, there: P) -> Iterable[RemoteTask]:
        """All that it holds, without contents."""

    @abstractmethod
    def units(self, notices: Notices) -> Iterable[Unit]:
        """All items as they would be sent, one by one, in the order of the items."""

    @abstractmethod
    def tally(self) -> Tally:
        """An empty tally."""

    def adoption(self, located: Located[P], todo: Plan) -> Adoption:
        """What a plan means for a project that is not the config's yet."""
        raise NotImplementedError

    @abstractmethod
    def update(self, ledger: Ledger, there: P | None, todo: Plan, notices: Notices, tally: Tally) -> P:
        """Carries out `todo.project`; gives the project as it is then."""

    @abstractmethod
    def sender(self, ledger: Ledger, there: P, notices: Notices) -> Sender:
        """Sends what the plan says of tasks."""

    def show(self, operation: ShowPrelabels) -> None:
        """Shows pre-labels to annotators."""
        raise NotImplementedError

    @abstractmethod
    def reading(
        self,
        ledger: Ledger,
        stream: Stream,
        there: P,
        *,
        notices: Notices,
        drafts: bool,
        progress: Progress,
        mark: Mapping[str, Any],
    ) -> Reading:
        """The reading part of a pull."""

    def earlier(self, there: P) -> frozenset[Ref]:
        """Projects that this one has taken the place of: their answers are its answers now."""
        return frozenset()

    def counts(self, there: P) -> tuple[int, int]:
        """Answers and skips, as the server counts them."""
        raise NotImplementedError


#: Is shown what would change of a project that is not the config's yet; raises where that is not wanted.
Confirm: TypeAlias = Callable[[Adoption], object]

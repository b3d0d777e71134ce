"""Argilla as a backend."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from potato_bridge.converters.argilla.native.layout import SORT
from potato_bridge.converters.argilla.plan import Layout, Settings
from potato_bridge.converters.fingerprint import are_prelabels
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.argilla import MAX_BYTES, Argilla
from potato_bridge.remotes.base import Ref, RemoteTask
from potato_bridge.sync.argilla.answers import BACKEND, Reader
from potato_bridge.sync.argilla.carry import Carried
from potato_bridge.sync.argilla.dataset import RemoteDataset, chosen_workspace, dataset_name, locate, versioned
from potato_bridge.sync.argilla.listing import Listing
from potato_bridge.sync.argilla.reading import Reading, count_answers
from potato_bridge.sync.argilla.render import build_settings
from potato_bridge.sync.argilla.send import RecordSender
from potato_bridge.sync.argilla.setup import Change, CreateDataset, DatasetSetup, NewVersion, UpdateSettings, carry_out
from potato_bridge.sync.argilla.units import RecordUnit, argilla_records
from potato_bridge.sync.backend import Backend, Located, Tally
from potato_bridge.sync.ledger import Ledger, Stream
from potato_bridge.sync.plan import Operation, Plan, Planner, ShowPrelabels
from potato_bridge.sync.progress import Progress


@dataclass
class SuggestionTally:
    """What the items of a push have as pre-labels; see `backend.Tally`. Argilla shows all suggestions there are."""

    given: bool = False
    kept: Counter[tuple[str, bool]] = field(default_factory=Counter)

    def take(self, unit: RecordUnit, planner: Planner, *, steps_changed: bool) -> None:
        """See `backend.Tally`."""
        self.given |= are_prelabels(unit.item.prelabels_hash)
        if planner.has_old_prelabels(unit.item):
            self.kept[unit.plan.meta["id"], steps_changed] += 1

    def operation(self, there: Any) -> ShowPrelabels | None:
        """See `backend.Tally`."""
        return None

    def report(self, there: Any, notices: Notices) -> None:
        """See `backend.Tally`."""
        for item_id, steps_changed in self.kept:
            if steps_changed:
                message = "the steps of items changed, and their pre-labels on the server are for the earlier ones"
                notices.add("prelabel-kept", f"{message}; push again with pre-labels", f"item {item_id}")
            elif self.given:
                message = "items have no pre-label any more; those on the server stay"
                notices.add("prelabel-kept", message, f"item {item_id}")


class ArgillaBackend(Backend[RemoteDataset]):
    """One Argilla server.

    Args:
        project: The config.
        remote: The server.
        layout: How records are made; None: as the data set that is there, else the panel.
        workspace: The name of the workspace; None: the only one.
        template: A folder with a changed `panel.js` or `panel.css`; only a push needs it.
        prelabels: A file of pre-labels; only a push needs it.
        notices: Gets what the data set cannot do of what the config asks; only a push needs it.
    """

    name = BACKEND
    unit = "record"

    def __init__(
        self,
        project: Project,
        remote: Argilla,
        *,
        layout: Layout | None = None,
        workspace: str | None = None,
        template: Path | None = None,
        prelabels: Path | None = None,
        notices: Notices | None = None,
    ) -> None:
        super().__init__(project, remote.url)
        self.max_body = MAX_BYTES
        self.layout: Layout = layout or "panel"
        self._remote = remote
        self._wanted_layout = layout
        self._workspace = workspace
        self._template = template
        self._prelabels = prelabels
        self._notices = notices or Notices()
        self._listing = Listing()
        self._ref: str | None = None
        self._changes: list[Change] = []
        self._new_version = False

    def locate(self, ledger: Ledger, notices: Notices, ref: int | str | None) -> Located[RemoteDataset] | None:
        """See `Backend`."""
        self._ref = str(ref) if ref is not None else None
        found = locate(
            self.project,
            self._remote,
            ledger,
            notices,
            ref=self._ref,
            workspace=self._workspace,
            layout=self._wanted_layout,
        )
        if found is not None:
            self.layout = found.project.layout
        return found

    def title(self) -> str:
        """See `Backend`."""
        return self._ref or dataset_name(self.project, self.layout)

    def page(self, project_id: Ref) -> str:
        """See `Backend`."""
        sort = f"?page=1&status=pending&sort={SORT}" if self.layout == "native" else ""
        return f"{self.url}/dataset/{project_id}/annotation-mode{sort}"

    @cached_property
    def settings(self) -> Settings:
        """The data set as the config gives it.

        Raises:
            InputError: Argilla cannot be asked for it.
        """
        return build_settings(self.project, self.layout, self._notices, self._template)

    def operations(self, ledger: Ledger, there: RemoteDataset | None) -> Sequence[Operation]:
        """See `Backend`."""
        if there is None:
            return [CreateDataset(self.title())]
        why, self._changes = DatasetSetup(self._remote, self.settings).changes(there)
        if why:
            self._new_version = True
            return [NewVersion(self._next_name(there), there.title, why)]
        return [UpdateSettings(there.project_id, change.what) for change in self._changes]

    def _next_name(self, there: RemoteDataset) -> str:
        return versioned(there.title.removesuffix(versioned("", there.version)), there.version + 1)

    def tasks(self, there: RemoteDataset) -> Iterator[RemoteTask]:
        """See `Backend`."""
        if not self._new_version:
            yield from self._listing.read(self._remote, there.project_id)

    def units(self, notices: Notices) -> Iterator[RecordUnit]:
        """See `Backend`."""
        for plan in argilla_records(self.project, self.layout, notices, self._prelabels):
            yield RecordUnit(plan, self._listing.foreign)

    def tally(self) -> Tally:
        """See `Backend`."""
        return SuggestionTally()

    def update(
        self, ledger: Ledger, there: RemoteDataset | None, todo: Plan, notices: Notices, tally: Tally
    ) -> RemoteDataset:
        """See `Backend`."""
        setup = DatasetSetup(self._remote, self.settings)
        if there is None:
            workspace = chosen_workspace(self._remote, self._workspace)
            return setup.create(self.project, workspace, self.title(), self.layout, 1, ())
        if self._new_version:
            notices.add(
                "new-version",
                f"Argilla changes no questions of a data set that is published: {self._next_name(there)!r} takes the "
                f"place of {there.title!r} and has its answers; tell the annotators, who find both",
            )
            workspace = next(w for w in self._remote.workspaces() if w.id == there.dataset.workspace_id)
            previous = (*there.previous, there.project_id)
            return setup.create(
                self.project, workspace, self._next_name(there), self.layout, there.version + 1, previous
            )
        carry_out(self._changes)
        return there

    def sender(self, ledger: Ledger, there: RemoteDataset, notices: Notices) -> RecordSender:
        """See `Backend`."""
        carried = Carried(there.previous[-1] if there.previous else None, self.settings.questions)
        return RecordSender(self._remote, ledger, there.project_id, self._listing, carried, notices)

    def reading(
        self,
        ledger: Ledger,
        stream: Stream,
        there: RemoteDataset,
        *,
        notices: Notices,
        drafts: bool,
        progress: Progress,
        mark: Mapping[str, Any],
    ) -> Reading:
        """See `Backend`."""
        remote = self._remote
        reader = Reader(
            project=self.project,
            dataset_id=there.project_id,
            layout=there.layout,
            users=lambda: {user.id: user.username for user in remote.users(there.dataset.workspace_id).values()},
            notices=notices,
            mark=mark,
            questions={question.id: question.name for question in remote.questions(there.project_id)},
        )
        return Reading(remote, there, reader, drafts=drafts, progress=progress)

    def earlier(self, there: RemoteDataset) -> frozenset[Ref]:
        """See `Backend`."""
        return frozenset(there.previous)

    def counts(self, there: RemoteDataset) -> tuple[int, int]:
        """See `Backend`."""
        submitted, skipped, _ = count_answers(self._remote, there.project_id)
        return submitted, skipped

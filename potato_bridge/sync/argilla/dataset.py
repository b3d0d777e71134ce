"""Which data set on the server a config belongs to.

A data set's metadata is written once, when it is made: ours has a key of the config, the layout, and a version. A
config whose questions changed gets a new version of its data set, for Argilla adds none to a published one; the newest
is the one that is meant, so that a colleague with the same config finds it too.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, Final

from potato_bridge.converters.argilla.plan import Layout
from potato_bridge.converters.potato.section import did_you_mean
from potato_bridge.errors import Problem, RemoteError
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.argilla import Argilla
from potato_bridge.remotes.argilla_values import Dataset, Workspace
from potato_bridge.sync.backend import Found, Located
from potato_bridge.sync.ledger import Ledger

#: Key of our part of a data set's metadata.
MARK: Final = "potato_bridge"
_SCHEMA: Final = 1
_NAME_LENGTH: Final = 180


@dataclass(frozen=True, slots=True)
class RemoteDataset:
    """A data set of ours.

    Attributes:
        layout: How its records are made.
        version: From 1; greater where questions changed.
        previous: The ids of the versions before it, oldest first.
    """

    dataset: Dataset
    layout: Layout
    version: int = 1
    previous: tuple[str, ...] = ()

    @property
    def project_id(self) -> str:
        """Its id."""
        return self.dataset.id

    @property
    def title(self) -> str:
        """Its name."""
        return self.dataset.name

    @property
    def is_draft(self) -> bool:
        """Whether a push was killed while it made the data set; then it has no records."""
        return self.dataset.status != "ready"


def config_key(project: Project) -> str:
    """What a config's data sets are found by."""
    key = hashlib.sha256(f"{project.name}\n{project.config.name}".encode("utf-8", "surrogatepass")).hexdigest()
    return key[:16]


def mark(project: Project, layout: Layout, version: int, previous: tuple[str, ...]) -> dict[str, Any]:
    """The metadata of a data set."""
    ours = {
        "schema": _SCHEMA,
        "key": config_key(project),
        "layout": layout,
        "version": version,
        "previous": [*previous],
    }
    return {MARK: ours}


def read_mark(project: Project, dataset: Dataset) -> RemoteDataset | None:
    """The data set, if it is the config's."""
    ours = (dataset.metadata or {}).get(MARK)
    if not isinstance(ours, dict) or ours.get("key") != config_key(project):
        return None
    layout: Layout = "native" if ours.get("layout") == "native" else "panel"
    version, previous = ours.get("version"), ours.get("previous")
    return RemoteDataset(
        dataset,
        layout,
        version if isinstance(version, int) else 1,
        tuple(str(one) for one in previous) if isinstance(previous, list) else (),
    )


def dataset_name(project: Project, layout: Layout | None, version: int = 1) -> str:
    """The name of a data set, in the length that Argilla takes."""
    name = " ".join(project.name.split())[:_NAME_LENGTH] or project.config.stem
    return versioned(f"{name} ({layout})" if layout == "native" else name, version)


def versioned(name: str, version: int) -> str:
    """The name of a version."""
    return name if version == 1 else f"{name} v{version}"


def locate(
    project: Project,
    remote: Argilla,
    ledger: Ledger,
    notices: Notices,
    *,
    ref: str | None,
    workspace: str | None,
    layout: Layout | None,
) -> Located[RemoteDataset] | None:
    """The data set of a config on a server; None where there is none yet.

    Args:
        project: The config.
        remote: The server.
        ledger: What this machine remembers.
        notices: Gets `project-gone` where the data set that the ledger names was deleted.
        ref: Its id or name, where the user says which one is meant.
        workspace: The name of its workspace; None: any.
        layout: Its layout; None: any.

    Raises:
        RemoteError: The one named is not the config's; or several could be meant.
    """
    inside = chosen_workspace(remote, workspace).id if workspace is not None else None
    listed = remote.datasets(inside)
    if ref is not None:
        return _named(project, remote, listed, ref)
    mine = [found for dataset in listed if (found := read_mark(project, dataset)) and not found.is_draft]
    known = ledger.project(remote.url, project.config.name)
    remembered = next((found for found in mine if found.project_id == known), None)
    if isinstance(known, str) and remembered is None and known not in {dataset.id for dataset in listed}:
        notices.add("project-gone", f"data set {known} was deleted on {remote.url}; its records stay as they are")
    wanted = layout or (remembered.layout if remembered else None)
    mine = [found for found in mine if wanted in (None, found.layout)]
    how: Found = "marker"
    if remembered in mine and remembered is not None:
        # Its workspace is the one that is meant; a colleague may have made a newer version of it.
        mine = [found for found in mine if found.dataset.workspace_id == remembered.dataset.workspace_id]
        how = "ledger"
    if not mine:
        return None
    if len({(found.layout, found.dataset.workspace_id) for found in mine}) > 1:
        raise RemoteError(
            f"{len(mine)} data sets on {remote.url} are of {project.config.name}",
            problems=[Problem(f"data set {found.project_id}: {found.title} ({found.layout})") for found in mine],
            hint="Say which one is meant: --dataset, --layout or --workspace.",
        )
    return Located(max(mine, key=lambda found: (found.version, found.dataset.inserted_at)), how)


def _named(project: Project, remote: Argilla, listed: list[Dataset], ref: str) -> Located[RemoteDataset] | None:
    matches = [dataset for dataset in listed if dataset.id == ref] or [d for d in listed if d.name == ref]
    if len(matches) > 1:
        raise RemoteError(
            f"{len(matches)} data sets on {remote.url} are named {ref!r}",
            problems=[Problem(f"data set {dataset.id}") for dataset in matches],
            hint="Say which one is meant by its id, or name its --workspace.",
        )
    if not matches:
        return None
    found = read_mark(project, matches[0])
    if found is None:
        raise RemoteError(
            f"the data set {ref!r} on {remote.url} was not made by potato-bridge from {project.config.name}",
            hint="Argilla fixes what a data set is marked with when it is made, so it cannot be taken over: give "
            "another name, and it is made.",
        )
    # What a killed push has begun is made anew.
    return None if found.is_draft else Located(found, "option")


def chosen_workspace(remote: Argilla, name: str | None) -> Workspace:
    """The workspace with this name; without a name the only one.

    Raises:
        RemoteError: There is none, or there are several.
    """
    listed = remote.workspaces()
    names = [workspace.name for workspace in listed]
    if name is not None:
        found = next((workspace for workspace in listed if workspace.name == name), None)
        if found is None:
            near = did_you_mean(name, names)
            hint = near or (f"It sees: {', '.join(names)}." if names else "An owner makes workspaces.")
            raise RemoteError(f"there is no workspace {name!r} on {remote.url} that this account sees", hint=hint)
        return found
    if len(listed) == 1:
        return listed[0]
    if not listed:
        raise RemoteError(f"this account is in no workspace of {remote.url}", hint="An owner makes workspaces.")
    raise RemoteError(
        f"this account sees {len(listed)} workspaces on {remote.url}, and nothing says which one is meant",
        hint=f"Add --workspace: one of {', '.join(names)}.",
    )

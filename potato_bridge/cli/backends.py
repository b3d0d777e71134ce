"""Which server is meant, and how it is reached: by flag, environment, `potato-bridge.yaml`, or because it is set up."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from potato_bridge.cli.common import (
    DEFAULT_ARGILLA_URL,
    DEFAULT_URL,
    chosen_template,
    settings,
)
from potato_bridge.errors import UsageError

if TYPE_CHECKING:
    from potato_bridge.converters.argilla.plan import Layout
    from potato_bridge.model import Project
    from potato_bridge.notices import Notices
    from potato_bridge.remotes.argilla import Argilla
    from potato_bridge.remotes.label_studio import LabelStudio
    from potato_bridge.sync.backend import Backend


class BackendName(StrEnum):
    """The servers that there are converters for."""

    LABEL_STUDIO = "label_studio"
    ARGILLA = "argilla"


class LayoutName(StrEnum):
    """How a data set of Argilla is laid out."""

    PANEL = "panel"
    NATIVE = "native"


BackendOption = Annotated[
    BackendName | None,
    typer.Option(
        "--backend",
        help="Label Studio or Argilla. Default: `backend` in potato-bridge.yaml, else the one that a key is set for.",
        show_default=False,
    ),
]
DatasetOption = Annotated[
    str | None,
    typer.Option(
        "--dataset", metavar="ID|NAME", help="The Argilla data set. Default: named as the project.", show_default=False
    ),
]
WorkspaceOption = Annotated[
    str | None,
    typer.Option(
        "--workspace", help="The Argilla workspace. Default: the only one that the account sees.", show_default=False
    ),
]
LayoutOption = Annotated[
    LayoutName | None,
    typer.Option(
        "--layout",
        help="Argilla: panel (drawn by a script, default) or native (its own fields and questions, no script).",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class ServerOptions:
    """What the command line says of the server; None: nothing."""

    backend: BackendName | None = None
    url: str | None = None
    api_key: str | None = None
    project: str | None = None
    argilla_url: str | None = None
    argilla_api_key: str | None = None
    dataset: str | None = None
    workspace: str | None = None
    layout: LayoutName | None = None

    @property
    def kind(self) -> BackendName:
        """The backend that is meant.

        Raises:
            UsageError: Both are set up, and nothing says which one.
        """
        found = settings()
        if self.backend or found.backend:
            return self.backend or BackendName(str(found.backend))
        label_studio = bool(self.api_key or self.url or found.label_studio_url)
        argilla = bool(self.argilla_api_key or self.argilla_url or found.argilla_url)
        if label_studio and argilla:
            raise UsageError(
                "both Label Studio and Argilla are set up, and nothing says which one is meant",
                hint="Add --backend label_studio or --backend argilla, or `backend:` to potato-bridge.yaml.",
            )
        return BackendName.ARGILLA if argilla else BackendName.LABEL_STUDIO

    @property
    def ref(self) -> str | None:
        """The id or name of the project or data set that is meant; None: the one that was pushed."""
        found = settings()
        if self.kind is BackendName.ARGILLA:
            return self.dataset or found.argilla_dataset
        return self.project or found.label_studio_project

    @property
    def chosen_layout(self) -> "Layout | None":
        """The layout of a data set; None: nothing is said of it."""
        return cast("Layout | None", self.layout.value if self.layout else settings().argilla_layout)

    def refuse_others(self) -> None:
        """Refuses options of the backend that is not meant.

        Raises:
            UsageError: There are such.
        """
        if self.kind is BackendName.ARGILLA:
            wrong = {"--project": self.project}
        else:
            wrong = {"--dataset": self.dataset, "--workspace": self.workspace, "--layout": self.layout}
        for option, value in wrong.items():
            if value:
                other = "Label Studio" if self.kind is BackendName.ARGILLA else "Argilla"
                raise UsageError(f"{option} is for {other}, and the server is {self.kind.value}")


@contextmanager
def open_backend(
    project: "Project",
    options: ServerOptions,
    notices: "Notices",
    *,
    pushes: bool = False,
    template: Path | None = None,
    prelabels: Path | None = None,
) -> "Iterator[Backend[Any]]":
    """The backend that is meant, connected.

    Args:
        project: The config.
        options: What the command line says.
        notices: Gets what the interface cannot do of what the config asks, where it is to be pushed.
        pushes: Whether items are going to be sent.
        template: A template of the team's own.
        prelabels: A file of pre-labels.

    Raises:
        UsageError: There is no key, or options are of the other backend.
        InputError: The config cannot be shown there.
    """
    options.refuse_others()
    if options.kind is BackendName.ARGILLA:
        from potato_bridge.sync.argilla.backend import ArgillaBackend

        with connect_argilla(options) as argilla:
            yield ArgillaBackend(
                project,
                argilla,
                layout=options.chosen_layout,
                workspace=options.workspace or settings().argilla_workspace,
                template=chosen_template(template) if pushes else None,
                prelabels=prelabels,
                notices=notices if pushes else None,
            )
        return
    from potato_bridge.converters.label_studio.interface import build_interface
    from potato_bridge.sync.label_studio.backend import LabelStudioBackend
    from potato_bridge.sync.label_studio.build import label_studio_tasks

    interface = build_interface(project, notices, chosen_template(template)) if pushes else None
    with connect_label_studio(options) as remote:
        yield LabelStudioBackend(project, remote, interface, partial(label_studio_tasks, project, prelabels=prelabels))


def connect_label_studio(options: ServerOptions) -> "LabelStudio":
    """The server named by flag or environment, else by potato-bridge.yaml, else the default address.

    Raises:
        UsageError: There is no token.
    """
    from potato_bridge.remotes.label_studio import LabelStudio

    if not options.api_key:
        raise UsageError(
            "no access token for Label Studio",
            hint="Set LABEL_STUDIO_API_KEY: in Label Studio, Account & Settings > Access Token.",
        )
    return LabelStudio(options.url or settings().label_studio_url or DEFAULT_URL, options.api_key)


def connect_argilla(options: ServerOptions) -> "Argilla":
    """The server named by flag or environment, else by potato-bridge.yaml, else the default address.

    Raises:
        UsageError: There is no key.
    """
    from potato_bridge.remotes.argilla import Argilla

    if not options.argilla_api_key:
        raise UsageError(
            "no API key for Argilla",
            hint="Set ARGILLA_API_KEY: in Argilla, My settings > API key, an owner's or admin's.",
        )
    return Argilla(options.argilla_url or settings().argilla_url or DEFAULT_ARGILLA_URL, options.argilla_api_key)

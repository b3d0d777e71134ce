"""`push`: config and items to the server."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from potato_bridge.cli.backends import (
    BackendOption,
    DatasetOption,
    LayoutOption,
    ServerOptions,
    WorkspaceOption,
    open_backend,
)
from potato_bridge.cli.common import (
    ArgillaKeyOption,
    ArgillaUrlOption,
    ConfigArgument,
    JsonOption,
    KeyOption,
    NoticesOption,
    Output,
    PrelabelsOption,
    ProjectOption,
    TemplateOption,
    UrlOption,
    load_project,
    open_output,
)

if TYPE_CHECKING:
    from potato_bridge.sync.backend import Adoption


def push(
    config: ConfigArgument = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    backend: BackendOption = None,
    url: UrlOption = None,
    api_key: KeyOption = None,
    project_ref: ProjectOption = None,
    argilla_url: ArgillaUrlOption = None,
    argilla_api_key: ArgillaKeyOption = None,
    dataset: DatasetOption = None,
    workspace: WorkspaceOption = None,
    layout: LayoutOption = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Take over the project that --project names, without asking.")
    ] = False,
    template: TemplateOption = None,
    prelabels: PrelabelsOption = None,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Make the project or data set, or find its own again and bring it up to date. Loses no answer."""
    from potato_bridge.sync.ledger import Ledger
    from potato_bridge.sync.push import push as run

    output = open_output(as_json, notices)
    project = load_project(config, output.notices)
    server = ServerOptions(backend, url, api_key, project_ref, argilla_url, argilla_api_key, dataset, workspace, layout)
    with (
        open_backend(project, server, output.notices, pushes=True, template=template, prelabels=prelabels) as remote,
        Ledger.beside(project.config, write=not dry_run) as ledger,
    ):
        report = run(
            remote,
            ledger,
            notices=output.notices,
            project_ref=server.ref,
            confirm=_confirmed(output, yes),
            dry_run=dry_run,
            progress=output.progress,
        )
    if dry_run:
        if report.adoption is not None:
            _show(output, report.adoption)
        for operation in report.plan.operations:
            output.data(operation.describe())
    output.data(report.describe())
    if report.project_url:
        output.data(report.project_url)
    output.finish(report.to_json())


def _show(output: Output, adoption: "Adoption") -> None:
    for line in adoption.describe():
        output.say(line)


def _confirmed(output: Output, yes: bool) -> Callable[["Adoption"], None]:
    """Shows what would change of a project that is not the config's yet, and asks."""

    def confirm(adoption: "Adoption") -> None:
        from potato_bridge.errors import UsageError
        from potato_bridge.sync.backend import refuse

        _show(output, adoption)
        if yes:
            return
        if not sys.stdin.isatty():
            refuse(adoption)
        try:
            agreed = typer.confirm("Go on?", err=True)
        except typer.Abort:
            agreed = False
        if not agreed:
            raise UsageError(f"project {adoption.project_id} was left as it is")

    return confirm

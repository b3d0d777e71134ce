"""`status`: how far the annotation is."""

from pathlib import Path
from typing import Annotated

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
    ProjectOption,
    UrlOption,
    load_project,
    open_output,
)


def status(
    config: ConfigArgument = None,
    records: Annotated[
        Path | None,
        typer.Option("-i", "--input", help="Records file. Default: records.jsonl in the config's output folder."),
    ] = None,
    backend: BackendOption = None,
    url: UrlOption = None,
    api_key: KeyOption = None,
    project_ref: ProjectOption = None,
    argilla_url: ArgillaUrlOption = None,
    argilla_api_key: ArgillaKeyOption = None,
    dataset: DatasetOption = None,
    workspace: WorkspaceOption = None,
    layout: LayoutOption = None,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Say how many items are pushed, answered and pulled, and by whom. Changes nothing."""
    from potato_bridge.cli.inputs import records_path
    from potato_bridge.converters.potato.items import read_items
    from potato_bridge.sync.ledger import Ledger
    from potato_bridge.sync.status import status as run

    output = open_output(as_json, notices)
    project = load_project(config, output.notices)
    server = ServerOptions(backend, url, api_key, project_ref, argilla_url, argilla_api_key, dataset, workspace, layout)
    with (
        open_backend(project, server, output.notices) as remote,
        Ledger.beside(project.config, write=False) as ledger,
    ):
        report = run(
            remote,
            (item.id for item in read_items(project, output.notices)),
            ledger,
            notices=output.notices,
            records=records_path(project, records),
            project_ref=server.ref,
        )
    output.data(report.describe())
    output.finish(report.to_json())

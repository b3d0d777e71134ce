"""`pull`: answers to records."""

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


def pull(
    config: ConfigArgument = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Records file. Default: records.jsonl in the config's output folder."),
    ] = None,
    drafts: Annotated[bool, typer.Option("--drafts", help="Take what is not submitted yet, too.")] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="Download everything again, and let the server's answers replace edited ones."),
    ] = False,
    potato: Annotated[
        Path | None,
        typer.Option("--potato", help="Also write the answers into this annotation_output. Stop Potato first."),
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
    """Bring the records file up to date: only what changed is downloaded, and the counts are compared."""
    from potato_bridge.cli.inputs import records_path
    from potato_bridge.sync.ledger import Ledger
    from potato_bridge.sync.pull import pull as run

    output = open_output(as_json, notices)
    project = load_project(config, output.notices)
    records = records_path(project, out)
    records.parent.mkdir(parents=True, exist_ok=True)
    server = ServerOptions(backend, url, api_key, project_ref, argilla_url, argilla_api_key, dataset, workspace, layout)
    with open_backend(project, server, output.notices) as remote, Ledger.beside(project.config) as ledger:
        report = run(
            remote,
            ledger,
            records,
            notices=output.notices,
            drafts=drafts,
            full=full,
            project_ref=server.ref,
            progress=output.progress,
        )
    output.data(f"{records}: {report.describe()}")
    document = report.to_json()
    if potato is not None:
        from potato_bridge.sync.potato import write_potato

        written = write_potato(project, records, potato, output.notices)
        output.data(f"{potato}: {written.describe()}")
        document["potato"] = written.to_json()
    output.finish(document)

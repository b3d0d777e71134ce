"""`push`: config and items to the server."""

from functools import partial
from typing import Annotated

import typer

from potato_bridge.cli.common import (
    ConfigArgument,
    JsonOption,
    KeyOption,
    NoticesOption,
    ProjectOption,
    TemplateOption,
    UrlOption,
    chosen_template,
    connect,
    load_project,
    open_output,
)


def push(
    config: ConfigArgument = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    url: UrlOption = None,
    api_key: KeyOption = None,
    project_id: ProjectOption = None,
    template: TemplateOption = None,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Make the Label Studio project, or find its own again and bring it up to date. Loses no answer."""
    from potato_bridge.converters.label_studio.interface import build_interface
    from potato_bridge.sync.build import label_studio_tasks
    from potato_bridge.sync.ledger import Ledger
    from potato_bridge.sync.push import push as run

    output = open_output(as_json, notices)
    project = load_project(config, output.notices)
    interface = build_interface(project, output.notices, chosen_template(template))
    with connect(url, api_key) as remote, Ledger.beside(project.config, write=not dry_run) as ledger:
        report = run(
            project,
            partial(label_studio_tasks, project),
            interface,
            remote,
            ledger,
            notices=output.notices,
            project_ref=project_id,
            dry_run=dry_run,
            progress=output.progress,
        )
    if dry_run:
        for operation in report.plan.operations:
            output.data(operation.describe())
    output.data(report.describe())
    if report.project_url:
        output.data(report.project_url)
    output.finish(report.to_json())

"""`render`: what push would send, as files."""

from pathlib import Path
from typing import Annotated

import typer

from potato_bridge.cli.backends import BackendName, BackendOption, LayoutOption, ServerOptions
from potato_bridge.cli.common import (
    ConfigArgument,
    JsonOption,
    NoticesOption,
    PrelabelsOption,
    TemplateOption,
    load_project,
    open_output,
)


def render(
    config: ConfigArgument = None,
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            help="Folder for label_config.xml, instruction.html, tasks.json; of Argilla settings.json, guidelines.md "
            "and records.jsonl.",
        ),
    ] = Path("render"),
    backend: BackendOption = None,
    layout: LayoutOption = None,
    template: TemplateOption = None,
    prelabels: PrelabelsOption = None,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Write the interface and the tasks to files, as push would send them. Needs no server."""
    from potato_bridge.cli.common import chosen_template

    output = open_output(as_json, notices)
    project = load_project(config, output.notices)
    server = ServerOptions(backend=backend, layout=layout)
    server.refuse_others()
    changed = chosen_template(template)
    with output.progress("rendering items") as advance:
        if server.kind is BackendName.ARGILLA:
            from potato_bridge.sync.argilla.render import render_argilla

            chosen = server.chosen_layout or "panel"
            files, items = render_argilla(project, chosen, out, changed, output.notices, advance, prelabels)
        else:
            from potato_bridge.sync.label_studio.build import render_label_studio

            files, items = render_label_studio(project, out, changed, output.notices, advance, prelabels)
    for path in files:
        output.data(str(path))
    output.finish({"config": str(project.config), "items": items, "files": [str(path) for path in files]})

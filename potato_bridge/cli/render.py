"""`render`: what push would send, as files."""

from pathlib import Path
from typing import Annotated

import typer

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
        Path, typer.Option("-o", "--out", help="Folder for label_config.xml, instruction.html and tasks.json.")
    ] = Path("render"),
    template: TemplateOption = None,
    prelabels: PrelabelsOption = None,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Write the label config, the instruction and the tasks to files. Needs no server."""
    from potato_bridge.cli.common import chosen_template
    from potato_bridge.sync.label_studio.build import render_label_studio

    output = open_output(as_json, notices)
    project = load_project(config, output.notices)
    with output.progress("rendering items") as advance:
        files, items = render_label_studio(project, out, chosen_template(template), output.notices, advance, prelabels)
    for path in files:
        output.data(str(path))
    output.finish({"config": str(project.config), "items": items, "files": [str(path) for path in files]})

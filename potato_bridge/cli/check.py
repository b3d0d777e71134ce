"""`check`: reads everything, sends nothing, says what each backend cannot show."""

from potato_bridge.cli.common import (
    ConfigArgument,
    JsonOption,
    NoticesOption,
    PrelabelsOption,
    TemplateOption,
    load_project,
    open_output,
)


def check(
    config: ConfigArgument = None,
    template: TemplateOption = None,
    prelabels: PrelabelsOption = None,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Read the config and all items, and say what each backend cannot show. Sends nothing."""
    from potato_bridge.cli.common import chosen_template
    from potato_bridge.converters.label_studio.interface import build_interface
    from potato_bridge.converters.label_studio.questions import asked
    from potato_bridge.sync.label_studio.build import label_studio_tasks

    output = open_output(as_json, notices)
    project = load_project(config, output.notices)
    build_interface(project, output.notices, chosen_template(template))
    shown = [scheme.name for scheme, _ in asked(project)]
    items = steps = 0
    with output.progress("checking items") as advance:
        for task in label_studio_tasks(project, output.notices, prelabels):
            items += 1
            steps += task["meta"]["potato_bridge"]["total_steps"]
            advance(1)
    schemes = [{"name": scheme.name, "type": scheme.type} for scheme in project.schemes]
    output.data(f"{project.config}: {project.name}")
    output.data(f"  items   {items}, {steps} steps to rate")
    for scheme in schemes:
        place = "asked on Label Studio" if scheme["name"] in shown else "kept, not asked"
        output.data(f"  scheme  {scheme['name']} ({scheme['type']}): {place}")
    output.finish(
        {
            "config": str(project.config),
            "name": project.name,
            "items": items,
            "steps": steps,
            "schemes": schemes,
            "backends": {"label_studio": {"schemes": shown}},
        }
    )

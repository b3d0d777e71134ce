"""`check`: reads everything, sends nothing, says what each backend cannot show."""

from collections.abc import Callable
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from potato_bridge.model import Project


def check(
    config: ConfigArgument = None,
    backend: BackendOption = None,
    layout: LayoutOption = None,
    template: TemplateOption = None,
    prelabels: PrelabelsOption = None,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Read the config and all items, and say what the backend cannot show. Sends nothing."""
    from potato_bridge.cli.common import chosen_template

    output = open_output(as_json, notices)
    project = load_project(config, output.notices)
    server = ServerOptions(backend=backend, layout=layout)
    server.refuse_others()
    changed = chosen_template(template)
    items: set[str] = set()
    steps = 0
    with output.progress("checking items") as advance:
        if server.kind is BackendName.ARGILLA:
            from potato_bridge.sync.argilla.render import build_settings
            from potato_bridge.sync.argilla.units import argilla_records

            chosen = server.chosen_layout or "panel"
            build_settings(project, chosen, output.notices, changed)
            metas = (record.meta for record in argilla_records(project, chosen, output.notices, prelabels))
        else:
            from potato_bridge.converters.label_studio.interface import build_interface
            from potato_bridge.sync.label_studio.build import label_studio_tasks
            from potato_bridge.sync.label_studio.listing import bridge_meta

            build_interface(project, output.notices, changed)
            metas = (bridge_meta(task) for task in label_studio_tasks(project, output.notices, prelabels))
        for meta in metas:
            if meta["id"] not in items:
                items.add(meta["id"])
                steps += meta["total_steps"]
                advance(1)
    places = _places(project)
    schemes = [{"name": scheme.name, "type": scheme.type} for scheme in project.schemes]
    output.data(f"{project.config}: {project.name}")
    output.data(f"  items   {len(items)}, {steps} steps to rate")
    for scheme in schemes:
        asked = [f"{name} ({layout})" for name, layout in places if scheme["name"] in places[name, layout]]
        place = f"asked on {', '.join(asked).replace(' ()', '')}" if asked else "kept, not asked"
        output.data(f"  scheme  {scheme['name']} ({scheme['type']}): {place}")
    label_studio, panel, native = places.values()
    output.finish(
        {
            "config": str(project.config),
            "name": project.name,
            "items": len(items),
            "steps": steps,
            "schemes": schemes,
            "checked": server.kind.value,
            "backends": {
                "label_studio": {"schemes": label_studio},
                "argilla": {"layouts": {"panel": {"schemes": panel}, "native": {"schemes": native}}},
            },
        }
    )


def _places(project: "Project") -> dict[tuple[str, str], list[str]]:
    """(backend, layout) → the schemes that it asks for; empty where it cannot be asked at all."""
    from potato_bridge.converters.argilla.layouts import LAYOUTS
    from potato_bridge.converters.label_studio.questions import asked
    from potato_bridge.errors import InputError

    found: dict[tuple[str, str], list[str]] = {}
    places: list[tuple[str, str, Callable[[], list[str]]]] = [
        ("Label Studio", "", lambda: [scheme.name for scheme, _ in asked(project)]),
        ("Argilla", "panel", lambda: LAYOUTS["panel"].asked(project)),
        ("Argilla", "native", lambda: LAYOUTS["native"].asked(project)),
    ]
    for backend, layout, names in places:
        try:
            found[backend, layout] = names()
        except InputError:
            found[backend, layout] = []
    return found

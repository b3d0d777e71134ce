"""What a push would send, as files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Extent, Layout, Settings
from potato_bridge.files import replacing
from potato_bridge.model import Project, encode
from potato_bridge.notices import Notices
from potato_bridge.sync.argilla.units import argilla_records, measure, record_body


def build_settings(project: Project, layout: Layout, notices: Notices, template: Path | None = None) -> Settings:
    """The data set of a project.

    Raises:
        InputError: Argilla cannot be asked for it.
    """
    # Only a native data set has questions that depend on the items.
    extent = measure(project) if layout == "native" else Extent()
    return LAYOUTS[layout].build_settings(project, notices, extent=extent, template=template)


def render_argilla(
    project: Project,
    layout: Layout,
    out: Path,
    template: Path | None,
    notices: Notices,
    advance: Callable[[int], object],
    prelabels: Path | None = None,
) -> tuple[list[Path], int]:
    """Writes what push would send: `settings.json`, `guidelines.md`, `records.jsonl`. Each file is complete or absent.

    Returns:
        The files, and the number of records.

    Raises:
        InputError: The config, the template or an item is not as it must be.
    """
    settings = build_settings(project, layout, notices, template)
    out.mkdir(parents=True, exist_ok=True)
    count = 0

    def records() -> Iterator[bytes]:
        nonlocal count
        for plan in argilla_records(project, layout, notices, prelabels):
            yield encode(record_body(plan)) + b"\n"
            count += 1
            advance(1)

    document = {
        "layout": settings.layout,
        "guidelines": settings.guidelines,
        "distribution": {"strategy": "overlap", "min_submitted": settings.min_submitted},
        "fields": [field.to_json() for field in settings.fields],
        "questions": [question.to_json() for question in settings.questions],
        "metadata_properties": [prop.to_json() for prop in settings.properties],
    }
    contents: dict[str, Iterator[bytes]] = {
        "records.jsonl": records(),
        "settings.json": iter([msgspec.json.format(encode(document)), b"\n"]),
        "guidelines.md": iter([settings.guidelines.encode(), b"\n"]),
    }
    for name, chunks in contents.items():
        with replacing(out / name) as file:
            file.writelines(chunks)
    return [out / name for name in contents], count

"""From a project to what a backend takes: its interface, and its tasks one by one."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.prefill import MODEL_VERSION, add_predictions
from potato_bridge.converters.label_studio.prefill import predictions as boxes
from potato_bridge.converters.label_studio.prelabel_fit import fit, fitting
from potato_bridge.converters.label_studio.prelabels import prediction
from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.prelabels import Prelabels
from potato_bridge.converters.potato.section import show
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.converters.view.text import storable
from potato_bridge.files import replacing
from potato_bridge.model import Item, Project, encode
from potato_bridge.notices import Notices


def label_studio_tasks(project: Project, notices: Notices, prelabels: Path | None = None) -> Iterator[dict[str, Any]]:
    """The Label Studio tasks of all items, in file order, one in memory at a time.

    Args:
        project: The project.
        notices: Gets what cannot be shown, and which pre-labels are dropped.
        prelabels: A file of pre-labels that comes before those that the config names.

    Raises:
        InputError: The file of pre-labels cannot be read; or an item is not as it must be, raised when all others have
            been given.
    """
    with Prelabels(project, prelabels, notices) as found:
        # Annotators start from what one model says: so that one fills the boxes of items that it says nothing of.
        shown = storable(next((version for version, _ in found.versions().most_common(1)), MODEL_VERSION))
        for item in read_items(project, notices):
            task = build_task(project, item, to_trace(item, project, notices), notices)
            made, filled = _predictions(project, item, task, found), boxes(project, task["data"], shown)
            if shown not in {one["model_version"] for one in made}:
                made += filled
            add_predictions(task, made, only_boxes=made == filled)
            yield task
        found.finish()


def _predictions(project: Project, item: Item, task: dict[str, Any], prelabels: Prelabels) -> list[dict[str, Any]]:
    """The predictions of an item that are pre-labels."""
    made = []
    for prelabel in prelabels.of(item):
        fitted = fit(project, prelabel, task)
        for name in fitted.not_asked:
            prelabels.not_asked(prelabel.place, name)
        for name, reason in fitted.dropped:
            prelabels.drop(prelabel.place, item.id, f"{show(name)}: {reason}")
        for reason in fitted.parts:
            prelabels.drop_part(prelabel.place, item.id, reason)
        if (whole := fitting(prelabel, fitted)) is not None:
            made.append(prediction(project, whole, task))
    return made


def render_label_studio(
    project: Project,
    out: Path,
    template: Path | None,
    notices: Notices,
    advance: Callable[[int], object],
    prelabels: Path | None = None,
) -> tuple[list[Path], int]:
    """Writes what push would send: `label_config.xml`, `instruction.html`, `tasks.json` (an array).

    Each file is complete or absent; `tasks.json` can be imported by hand in Label Studio.

    Returns:
        The files, and the number of tasks.

    Raises:
        InputError: The config, the template or an item is not as it must be.
    """
    interface = build_interface(project, notices, template)
    out.mkdir(parents=True, exist_ok=True)
    count = 0

    def tasks() -> Iterator[bytes]:
        nonlocal count
        yield b"["
        for task in label_studio_tasks(project, notices, prelabels):
            yield (b",\n" if count else b"\n") + encode(task)
            count += 1
            advance(1)
        yield b"\n]\n"

    contents: dict[str, Iterator[bytes]] = {
        "tasks.json": tasks(),
        "label_config.xml": iter([interface.label_config.encode()]),
        "instruction.html": iter([interface.instruction.encode()]),
    }
    for name, chunks in contents.items():
        with replacing(out / name) as file:
            file.writelines(chunks)
    return [out / name for name in contents], count

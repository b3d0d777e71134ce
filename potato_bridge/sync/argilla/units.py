"""From a project to what Argilla takes: its settings, and its records one by one."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Extent, Layout, RecordPlan
from potato_bridge.converters.argilla.prelabels import suggestions
from potato_bridge.converters.fingerprint import PRELABELS_HASH
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.prelabels import Prelabels
from potato_bridge.converters.potato.section import show
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Project
from potato_bridge.notices import Notices
from potato_bridge.remotes.http import to_json
from potato_bridge.sync.plan import LocalItem


@dataclass(frozen=True)
class RecordUnit:
    """A record that was built; see `backend.Unit`."""

    plan: RecordPlan
    foreign: Container[str] = ()

    @cached_property
    def item(self) -> LocalItem:
        """See `backend.Unit`."""
        meta = self.plan.meta
        return LocalItem(self.plan.external_id, meta["hash"], meta["steps_hash"], meta.get(PRELABELS_HASH))

    def body(self) -> bytes:
        """The record as the API takes it, but for its suggestions, which name their questions.

        Raises:
            InputError: A record that is not ours has its id, or it cannot be sent.
        """
        if self.plan.external_id in self.foreign:
            raise InputError("the data set has a record of this id that is not ours")
        return to_json(record_body(self.plan))

    def prelabels_body(self) -> bytes:
        """See `body`."""
        return self.body()


def record_body(plan: RecordPlan) -> dict[str, Any]:
    """A record as JSON."""
    body: dict[str, Any] = {
        "external_id": plan.external_id,
        "fields": dict(plan.fields),
        "metadata": dict(plan.metadata),
    }
    if plan.suggestions:
        body["suggestions"] = [
            {
                "question_name": one.question,
                "value": one.value,
                **({"agent": one.agent} if one.agent else {}),
                **({"score": one.score} if one.score is not None else {}),
            }
            for one in plan.suggestions
        ]
    return body


def measure(project: Project) -> Extent:
    """What all items together need: a pass over them.

    Raises:
        InputError: An item is not as it must be.
    """
    quiet = Notices()
    counts = (len(to_trace(item, project, quiet).ratable()) for item in read_items(project, quiet))
    return Extent(steps=max(counts, default=0))


def argilla_records(
    project: Project, layout: Layout, notices: Notices, prelabels: Path | None = None
) -> Iterator[RecordPlan]:
    """The records of all items, in file order, one item in memory at a time.

    Args:
        project: The project.
        layout: The layout.
        notices: Gets what cannot be shown, and which pre-labels are dropped.
        prelabels: A file of pre-labels that comes before those that the config names.

    Raises:
        InputError: The file of pre-labels cannot be read; or an item is not as it must be, raised when all others have
            been given.
    """
    converter = LAYOUTS[layout]
    with Prelabels(project, prelabels, notices) as found:
        shown = next((version for version, _ in found.versions().most_common(1)), None)
        for item in read_items(project, notices):
            records = converter.build_records(project, item, to_trace(item, project, notices), notices)
            yield from _prelabelled(project, layout, item, records, found, shown, notices)
        found.finish()


def _prelabelled(
    project: Project,
    layout: Layout,
    item: Item,
    records: list[RecordPlan],
    prelabels: Prelabels,
    shown: str | None,
    notices: Notices,
) -> list[RecordPlan]:
    """The records with one pre-label: that of the model that most items have one of."""
    found = prelabels.of(item)
    if not found:
        return records
    chosen = next((prelabel for prelabel in found if prelabel.model_version == shown), found[0])
    if others := len(found) - 1:
        notices.add(
            "prelabels-not-shown",
            f"annotators start from the pre-labels of {show(chosen.model_version)}: Argilla has one suggestion for a "
            "question, and those of other models are not sent",
            count=others,
        )
    asked = LAYOUTS[layout].asked(project)
    for name in chosen.annotations.keys() - set(asked):
        prelabels.not_asked(chosen.place, name)
    wanted = {name: value for name, value in chosen.annotations.items() if name in asked}
    with_them, dropped, lost = suggestions(project, layout, replace(chosen, annotations=wanted), records)
    for name, reason in dropped:
        prelabels.drop(chosen.place, item.id, f"{show(name)}: {reason}")
    for reason in lost:
        prelabels.drop_part(chosen.place, item.id, reason)
    return with_them

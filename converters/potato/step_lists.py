"""Which positions of an item's step list are rated: between Potato's numbers, over all entries, and the hub's."""

from dataclasses import dataclass

from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.turns import listing, read_turn
from potato_bridge.model.general import General
from potato_bridge.model.project import ProcessReward, Project
from potato_bridge.model.trajectory_eval import TrajectoryEval
from potato_bridge.notices import Notices


@dataclass(frozen=True, slots=True)
class StepList:
    """The list of one item: how many entries it has, and the positions of those that are rated, in order."""

    total: int
    ratable: tuple[int, ...]


class StepLists:
    """The step lists of all items, a byte for each entry.

    The items are read once. What there is to say about them is said where they are shown or exported, not here.

    Raises:
        InputError: The items are not as they must be.
    """

    def __init__(self, project: Project) -> None:
        rated = [s for s in project.schemes if isinstance(s, ProcessReward | TrajectoryEval)]
        self._keys = list(dict.fromkeys(steps_key(scheme, project) for scheme in rated))
        self._masks: dict[str, tuple[bytes | None, ...]] = {}
        self._span_fields = dict.fromkeys(f for s in project.schemes if isinstance(s, General) for f in s.fields)
        self._texts: dict[str, dict[str, str]] = {}
        self.order: dict[str, int] = {}
        kinds = [None if key is None else listing(project, key) for key in self._keys]
        for item in read_items(project, Notices()):
            self.order[item.id] = len(self.order)
            if self._span_fields:
                found = {key: item.data.get(key) for key in self._span_fields}
                self._texts[item.id] = {key: text for key, text in found.items() if isinstance(text, str)}
            masks: list[bytes | None] = []
            for key, kind in zip(self._keys, kinds, strict=True):
                entries = None if key is None else item.data.get(key)
                if kind is None or not isinstance(entries, list):
                    masks.append(None)
                else:
                    masks.append(bytes(read_turn(entry, kind).ratable for entry in entries))
            self._masks[item.id] = tuple(masks)

    def __contains__(self, item_id: str) -> bool:
        """Whether there is such an item."""
        return item_id in self.order

    def texts(self, item_id: str) -> dict[str, str] | None:
        """The texts in which spans are marked, by field; None where the item is not there."""
        return self._texts.get(item_id)

    def of(self, item_id: str, scheme: ProcessReward | TrajectoryEval, project: Project) -> StepList | None:
        """The list that a scheme rates; None where the item, or the list in it, is not there."""
        masks = self._masks.get(item_id)
        mask = masks[self._keys.index(steps_key(scheme, project))] if masks else None
        if mask is None:
            return None
        if isinstance(scheme, TrajectoryEval) and scheme.steps_key != project.steps_key():
            # Of a list that is not shown as the trace, all entries are steps.
            return StepList(len(mask), tuple(range(len(mask))))
        return StepList(len(mask), tuple(position for position, ratable in enumerate(mask) if ratable))


def steps_key(scheme: ProcessReward | TrajectoryEval, project: Project) -> str | None:
    """The item field whose entries a scheme rates: its own `steps_key`, else the field shown as a trace."""
    if scheme.steps_key is not None:
        return scheme.steps_key
    field = project.trace_field()
    return field.key if field else None

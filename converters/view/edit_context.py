"""What is read between the fields of a trajectory that are corrected."""

from dataclasses import replace

import msgspec

from potato_bridge.converters.view.cards import CardMaker, Draw, text_lengths
from potato_bridge.converters.view.clip import text_limit
from potato_bridge.converters.view.originals import Original
from potato_bridge.converters.view.parts import Card, Observation, Part
from potato_bridge.converters.view.text import storable
from potato_bridge.model.project import TraceDisplay
from potato_bridge.model.trace import ReasoningBlock, Step, TextBlock, Trace
from potato_bridge.model.trajectory_scheme import TrajectoryEdit
from potato_bridge.notices import Notices


class Context:
    """The cards of the trace in their order, each given out once: those before a field, and those after the last."""

    def __init__(
        self,
        scheme: TrajectoryEdit,
        found: list[Original],
        trace: Trace,
        *,
        display: TraceDisplay,
        draw: Draw,
        notices: Notices,
        where: str,
    ) -> None:
        self._own = trace.source.record_key == scheme.steps_key
        maker = CardMaker(display, text_limit(text_lengths(trace)), draw, notices, where)
        self._cards = maker.cards(_without(trace, found) if self._own else trace)
        self._next = 0
        self._seen: Card | None = None

    def before(self, original: Original) -> list[Card]:
        """What is read before a field: what was observed after the last one, other steps, the own step."""
        assert original.place is not None
        # Of steps of another list it is not known which they belong to: all of them come first.
        stop = original.place[0] + 1 if self._own else len(self._cards)
        cards = self._take(stop)
        if self._own and cards:
            # What was observed after the step is read after its fields.
            own = cards[-1]
            seen: list[Part] = [part for part in own.parts if isinstance(part, Observation)]
            kept = [part for part in own.parts if part not in seen]
            cards[-1] = replace(own, parts=kept)
            self._seen = Card(None, "", parts=seen) if seen else None
        return cards

    def rest(self) -> list[Card]:
        """What comes after the last field."""
        return self._take(len(self._cards))

    def _take(self, stop: int) -> list[Card]:
        if stop <= self._next and not (self._seen and stop == len(self._cards)):
            return []
        seen, self._seen = ([self._seen] if self._seen else []), None
        cards = [*seen, *self._cards[self._next : stop]]
        self._next = max(self._next, stop)
        return cards


def _without(trace: Trace, found: list[Original]) -> Trace:
    """The trace without the texts that stand beside a box anyway."""
    by_step: dict[int, list[str]] = {}
    for original in found:
        if original.place:
            by_step.setdefault(original.place[0], []).append(original.text)
    steps = [_step_without(step, by_step[at]) if at in by_step else step for at, step in enumerate(trace.steps)]
    return msgspec.structs.replace(trace, steps=steps)


def _step_without(step: Step, texts: list[str]) -> Step:
    left, blocks = list(texts), []
    for block in step.blocks:
        if isinstance(block, TextBlock | ReasoningBlock) and storable(block.text) in left:
            left.remove(storable(block.text))
        else:
            blocks.append(block)
    return msgspec.structs.replace(step, blocks=blocks)

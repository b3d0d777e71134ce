"""One item, as the questions about it see it."""

from dataclasses import dataclass
from functools import cached_property

from potato_bridge.converters.view.cards import CardMaker, text_lengths
from potato_bridge.converters.view.clip import text_limit
from potato_bridge.converters.view.parts import Card
from potato_bridge.converters.view.pictures import Pictures
from potato_bridge.model import Item, Project, Trace
from potato_bridge.model.project import TraceDisplay
from potato_bridge.notices import Notices


@dataclass(frozen=True)
class Subject:
    """One item, as the questions about it see it.

    Attributes:
        where: The item, for notices.
        display: How its trace is shown.
    """

    project: Project
    item: Item
    trace: Trace
    display: TraceDisplay
    pictures: Pictures
    notices: Notices
    where: str

    @cached_property
    def cards(self) -> list[Card]:
        """The cards of its steps, rated or not."""
        limit = text_limit(text_lengths(self.trace))
        return CardMaker(self.display, limit, self.pictures.draw, self.notices, self.where).cards(self.trace)

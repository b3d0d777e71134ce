"""The two layouts behind one set of functions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla import native, panel
from potato_bridge.converters.argilla.plan import Extent, Layout, Part, RecordPlan, Settings, Stored
from potato_bridge.converters.view.pictures import LoadImage
from potato_bridge.model import Item, Project, Record, Trace
from potato_bridge.notices import Notices


class Converter(Protocol):
    """What a layout can do. Pure; reading never raises."""

    def build_settings(
        self, project: Project, notices: Notices, *, extent: Extent = ..., template: Path | None = None
    ) -> Settings:
        """The data set of a project.

        Args:
            project: The project.
            notices: Gets what the layout cannot do of what the config asks.
            extent: What all items together need.
            template: A folder with a changed `panel.js` or `panel.css`; panel layout only.

        Raises:
            InputError: Nothing of the config can be asked for, or something is beyond Argilla's limits.
        """

    def build_records(
        self, project: Project, item: Item, trace: Trace, notices: Notices, *, load_image: LoadImage | None = None
    ) -> list[RecordPlan]:
        """The records of an item, in the order in which they are read; at least one."""

    def read_answer(
        self,
        project: Project,
        parts: Sequence[Part],
        *,
        complete: bool = True,
        revision: Mapping[str, Any] | None = None,
    ) -> Answer:
        """What one annotator said of one item.

        Args:
            project: The project.
            parts: All records of the item, in any order, with what was said to each.
            complete: False for a draft or a discard: then a missing answer is no fault.
            revision: Our meta (`about`, `total_steps`, …) of the earlier state that was answered; None: the present.
        """

    def write_answer(self, project: Project, record: Record, records: Sequence[Stored]) -> dict[str, dict[str, Any]]:
        """External id → question name → value; the inverse of `read_answer`.

        Raises:
            InputError: A value is none of its scheme, or does not fit the records.
        """

    def asked(self, project: Project) -> list[str]:
        """The names of the schemes that are asked for, in the order of the config."""


LAYOUTS: Final[dict[Layout, Converter]] = {"panel": panel, "native": native}

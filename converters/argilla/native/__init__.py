"""The native layout: no script; a record for each step, file or trace, and Argilla's own questions. Not there yet."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from potato_bridge.converters.answer import Answer
from potato_bridge.converters.argilla.plan import Extent, Part, RecordPlan, Settings, Stored
from potato_bridge.converters.view.pictures import LoadImage
from potato_bridge.errors import InputError
from potato_bridge.model import Item, Project, Record, Trace
from potato_bridge.notices import Notices

_REFUSED = "the native layout of Argilla is not there yet"


def build_settings(
    project: Project, notices: Notices, *, extent: Extent | None = None, template: Path | None = None
) -> Settings:
    """See `layouts.Converter`."""
    raise InputError(_REFUSED, hint="Leave out --layout, or say --layout panel.")


def build_records(
    project: Project, item: Item, trace: Trace, notices: Notices, *, load_image: LoadImage | None = None
) -> list[RecordPlan]:
    """See `layouts.Converter`."""
    raise InputError(_REFUSED)


def read_answer(
    project: Project, parts: Sequence[Part], *, complete: bool = True, revision: Mapping[str, Any] | None = None
) -> Answer:
    """See `layouts.Converter`."""
    raise InputError(_REFUSED)


def write_answer(project: Project, record: Record, records: Sequence[Stored]) -> dict[str, dict[str, Any]]:
    """See `layouts.Converter`."""
    raise InputError(_REFUSED)


def asked(project: Project) -> list[str]:
    """See `layouts.Converter`."""
    raise InputError(_REFUSED)

"""What the page, the reader and the writer of `trajectory_edit` share: names, and the originals in a task's data."""

import re
from collections.abc import Mapping
from typing import Any, Final

from potato_bridge.converters.label_studio import fields
from potato_bridge.converters.view.originals import Original, from_data
from potato_bridge.model.trajectory_scheme import TrajectoryEdit

#: Parts of the names of controls: a corrected field, the reason for it, the corrected final answer.
EDIT: Final = "edit"
REASON: Final = "reason"
FINAL: Final = "final"
#: Parts of the keys of the task data: what Repeaters run over (where there are many fields, one with a page for each),
#: the originals, and what is shown after the last field.
SHOWN: Final = "shown"
PAGED: Final = "paged"
ORIGINALS: Final = "originals"
REST: Final = "rest"

#: What the number of a control on a page of its own begins with: two Repeaters cannot have the same names.
ON_PAGE: Final = "p"
_NUMBER: Final = re.compile(rf"{ON_PAGE}?(0|[1-9][0-9]{{0,8}})", re.ASCII)


def control(scheme: TrajectoryEdit, part: str, number: int | str) -> str:
    """The name of a control."""
    return f"{fields.control_name(scheme)}_{part}_{number}"


def place_of(scheme: TrajectoryEdit, name: str) -> tuple[str, int] | None:
    """Part and number of a control; None if it is not the scheme's."""
    prefix = f"{fields.control_name(scheme)}_"
    part, _, number = name.removeprefix(prefix).rpartition("_")
    match = _NUMBER.fullmatch(number)
    if not name.startswith(prefix) or part not in (EDIT, REASON, FINAL) or match is None:
        return None
    return part, int(match[1])


def originals_of(scheme: TrajectoryEdit, data: Mapping[str, Any]) -> list[Original]:
    """The originals of a task; empty where it has none."""
    return from_data(data.get(fields.data_key(scheme, ORIGINALS)))

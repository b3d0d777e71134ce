"""The modes that Label Studio can ask for: a new one is a module and a row."""

from collections.abc import Mapping
from typing import Final

from potato_bridge.converters.label_studio import first_error, per_step
from potato_bridge.converters.label_studio.mode import Mode
from potato_bridge.model import ProcessReward

MODES: Final[Mapping[str, Mode]] = {"first_error": first_error.MODE, "per_step": per_step.MODE}


def mode_of(scheme: ProcessReward) -> Mode:
    """The row of a scheme."""
    return MODES[scheme.mode]

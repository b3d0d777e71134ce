"""Label Studio's own SDK as an oracle: it accepts the label configs that we make."""

from pathlib import Path

import pytest

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.potato.config import read_project
from potato_bridge.notices import Notices

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*/config.yaml"))


@pytest.mark.parametrize("config", EXAMPLES, ids=lambda path: path.parent.name)
@pytest.mark.filterwarnings("ignore")  # Of the SDK's own imports.
def test_the_sdk_accepts_the_label_config(config: Path) -> None:
    from label_studio_sdk.label_interface import LabelInterface

    interface = build_interface(read_project(config, Notices()), Notices())
    parsed = LabelInterface(interface.label_config)
    parsed.validate()
    assert interface.control in {control.name for control in parsed.controls}

"""Every example runs, and the documented scheme stands in its config word for word."""

from pathlib import Path

import pytest
import yaml

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.potato.config import read_project
from potato_bridge.notices import Notices
from potato_bridge.sync.label_studio.build import label_studio_tasks

EXAMPLES = Path(__file__).parents[1] / "examples"
CONFIGS = sorted(EXAMPLES.glob("*/config.yaml"))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.parent.name)
def test_an_example_builds_its_interface_and_tasks(config: Path) -> None:
    notices = Notices()
    project = read_project(config, notices)
    assert build_interface(project, notices).label_config.startswith("<View")
    assert len(list(label_studio_tasks(project, notices))) >= 2
    assert {"unknown-key", "unused-key"} & {notice.code for notice in notices} == set()


def test_every_folder_is_listed_with_its_command() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert {name for name in folders if f"[`{name}`]" not in text} == set()
    commands = {f"`potato-bridge push {config.relative_to(EXAMPLES.parent).as_posix()}`" for config in CONFIGS}
    assert {command for command in commands if command not in text} == set()


def test_the_first_error_scheme_is_the_documented_one() -> None:
    scheme = yaml.safe_load((EXAMPLES / "first_error" / "config.yaml").read_text())["annotation_schemes"]
    assert scheme == [
        {
            "name": "process_reward",
            "annotation_type": "process_reward",
            "mode": "first_error",
            "description": "Click the first step where the agent made a mistake",
            "first_error": {
                "correct_color": "#22c55e",
                "error_color": "#ef4444",
                "downstream_color": "#f97316",
                "unmarked_color": "#6b7280",
                "require_confirmation": True,
                "allow_no_error": True,
                "show_step_content": True,
                "labels": {
                    "correct": "+1",
                    "first_error": "-1 (first error)",
                    "downstream": "-1 (downstream)",
                    "all_correct": "+1 (all correct)",
                },
            },
        }
    ]

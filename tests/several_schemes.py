"""A config with several schemes on one page, and an item for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Project
from potato_bridge.notices import Notices

HEAD = """\
annotation_task_name: "Several {name}"
task_dir: .
data_files: [items.jsonl]
item_properties: {{id_key: id, text_key: task}}
output_annotation_dir: out
instance_display:
  fields:
    - {{key: task, type: text, label: Task}}
    - {{key: turns, type: coding_trace, label: Turns}}
annotation_schemes:
"""
RADIO = "{annotation_type: radio, name: ok, description: Fine, labels: ['yes', 'no'], required: true}"
FIRST_ERROR = "{annotation_type: process_reward, name: reward, mode: first_error, steps_key: turns}"
PER_STEP = "{annotation_type: process_reward, name: reward, mode: per_step, steps_key: turns}"
REVIEW = "{annotation_type: code_review, name: code-review, description: First review}"
SECOND = "{annotation_type: code_review, name: second, description: Second review, verdict_options: [good, bad]}"
SPAN = "{annotation_type: span, name: my-marks, target_field: text, labels: [a, b]}"
EDIT = "{annotation_type: trajectory_edit, name: my-edit, steps_key: steps}"


def item(value: int = 3, text: str = "The quick brown fox.") -> dict[str, Any]:
    """An item that writes a.py, whose line 2 is `y = <value>`; the steps say the value, too."""
    wrote = {"tool": "Write", "input": {"file_path": "a.py", "content": f"x = 1\ny = {value}\nz = 4\n"}, "output": "ok"}
    return {
        "id": "t1",
        "task": "Fix a.py.",
        "text": text,
        "turns": [
            {"role": "user", "content": "Please."},
            {"role": "assistant", "content": f"I set y to {value}.", "tool_calls": [wrote]},
            {"role": "assistant", "content": "Done."},
        ],
        "steps": [{"action": f"set y {value}"}, {"action": "stop"}],
    }


def project(folder: Path, schemes: Sequence[str], found: dict[str, Any], notices: Notices | None = None) -> Project:
    """The project on disk, under a name of its own: the server is shared."""
    (folder / "items.jsonl").write_text(json.dumps(found) + "\n", encoding="utf-8")
    lines = "".join(f"  - {scheme}\n" for scheme in schemes)
    (folder / "config.yaml").write_text(HEAD.format(name=folder.name) + lines, encoding="utf-8")
    return read_project(folder / "config.yaml", Notices() if notices is None else notices)

"""Small projects and records for the tests of the exports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from potato_bridge.model import Project
from potato_bridge.model.process_reward import FirstError
from potato_bridge.model.project import DataFile, ProcessReward

GOLDEN = Path(__file__).parents[1] / "golden" / "prm"


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def write_lines(path: Path, values: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def make_project(folder: Path, items: Iterable[dict[str, Any]], schemes: list[Any] | None = None) -> Project:
    """A project whose items have `id`, `task` and `steps`."""
    write_lines(folder / "items.jsonl", items)
    return open_project(folder, schemes)


def open_project(folder: Path, schemes: list[Any] | None = None) -> Project:
    """The project of a folder whose items are there already."""
    return Project(
        name="Small",
        config=folder / "config.yaml",
        task_dir=folder,
        id_key="id",
        text_key="task",
        output_dir=folder / "output",
        data_files=[DataFile(path=folder / "items.jsonl", format="jsonl")],
        schemes=[ProcessReward(name="process_reward", steps_key="steps")] if schemes is None else schemes,
    )


def item(item_id: str, steps: int = 3) -> dict[str, Any]:
    return {"id": item_id, "task": f"Task of {item_id}", "steps": [f"Step {n} of {item_id}" for n in range(steps)]}


def first_error(step: int | None, total: int = 3) -> dict[str, Any]:
    return FirstError(first_error_step=step, total_steps=total).to_json()


def per_step(*labels: float | None) -> dict[str, Any]:
    return {"mode": "per_step", "total_steps": len(labels), "labels": list(labels)}


def record(item_id: str, annotator: str, value: Any, **fields: Any) -> dict[str, Any]:
    annotations = {} if value is None else {"process_reward": value}
    return {"id": item_id, "annotator": annotator, "annotations": annotations, **fields}

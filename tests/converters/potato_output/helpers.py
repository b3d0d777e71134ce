"""Small Potato projects and states, written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.write_output import WriteReport, write_annotation_output
from potato_bridge.model import OtherScheme, ProcessReward, Project, Record, from_builtins, to_builtins
from potato_bridge.model.project import DataFile, Scheme, StepLabel
from potato_bridge.notices import Notices

#: A user's turn first and last: of positions 0 to 4 the agent's are 1, 2 and 3.
TURNS = [
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": "I look."},
    {"role": "assistant", "content": "I edit."},
    {"role": "assistant", "content": "I test."},
    {"role": "user", "content": "Thanks."},
]
LABELS = [
    StepLabel(value="correct", display="Correct", color="green", score=1.0),
    StepLabel(value="incorrect", display="Incorrect", color="red", score=-1.0, error_category=True),
    StepLabel(value="recovery", display="Recovery", color="blue", score=0.25),
]


def scheme(mode: str = "first_error", **fields: Any) -> ProcessReward:
    made = ProcessReward(name="rewards", mode=mode, steps_key="turns", **fields)  # type: ignore[arg-type]
    made.per_step.labels = LABELS
    return made


def other(kind: str, name: str = "other") -> OtherScheme:
    return OtherScheme(name=name, type=kind)


def make_project(folder: Path, *schemes: Scheme, items: Iterable[str] = ("a", "b", "c")) -> Project:
    """A project with items of five turns each, and no config file."""
    data = folder / "items.jsonl"
    lines = [{"id": item, "task": f"Task {item}", "turns": TURNS} for item in items]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return Project(
        name="p",
        config=folder / "config.yaml",
        task_dir=folder,
        id_key="id",
        text_key="task",
        output_dir=folder / "annotation_output",
        data_files=[DataFile(path=data, format="jsonl")],
        schemes=list(schemes) or [scheme()],
    )


def blob(*rewards: Any, mode: str | None = "first_error", **extra: Any) -> str:
    """A blob of the oldest form, `index` and `reward`; `extra` goes into every step."""
    steps = [{"index": index, "reward": reward, **extra} for index, reward in enumerate(rewards)]
    return json.dumps({"steps": steps, "mode": mode} if mode else {"steps": steps})


def entry(name: str, value: Any, schema: str = "rewards") -> list[Any]:
    return [{"schema": schema, "name": name}, value]


def write_state(folder: Path, user: str, labels: dict[str, Any], **keys: Any) -> Path:
    """A state with the given labels; returns its path."""
    path = folder / user / "user_state.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"user_id": user, "instance_id_to_label_to_value": labels, **keys}
    path.write_text(json.dumps(state, indent=2), encoding="utf-8")
    return path


def read_all(project: Project, **options: Any) -> tuple[list[Record], Notices]:
    notices = Notices()
    return list(records_from_potato(project, project.output_dir, notices, **options)), notices


def read_one(project: Project, *entries: list[Any]) -> Record:
    """The record of a user who has these entries for item a."""
    write_state(project.output_dir, "ann", {"a": list(entries)})
    (record,), _ = read_all(project)
    return record


def write(project: Project, *records: Record) -> tuple[WriteReport, Notices]:
    notices = Notices()
    return write_annotation_output(project, records, project.output_dir, notices), notices


def state_of(project: Project, user: str) -> Any:
    return json.loads((project.output_dir / user / "user_state.json").read_text(encoding="utf-8"))


def codes(notices: Notices) -> list[str]:
    return [notice.code for notice in notices]


def first_error(step: int | None, total: int = 3) -> dict[str, Any]:
    correct = total if step is None else step
    labels = [1] * correct + [-1] * (total - correct)
    return {"mode": "first_error", "first_error_step": step, "total_steps": total, "labels": labels}


def per_step(*labels: float | None, details: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "mode": "per_step",
        "total_steps": len(labels),
        "labels": list(labels),
        "step_details": details or {},
        "cumulative_score": float(sum(label for label in labels if label is not None)),
    }


def record(value: Any, item: str = "a", annotator: str = "ann", **fields: Any) -> Record:
    annotations = {"rewards": value} if value is not None else {}
    return from_builtins(Record, {"id": item, "annotator": annotator, "annotations": annotations, **fields})


def plain(records: Iterable[Record]) -> list[Any]:
    return [to_builtins(record) for record in records]

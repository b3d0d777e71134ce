"""A project on disk, and the problems that reading it gives."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.items import read_items
from potato_bridge.errors import InputError, Problem
from potato_bridge.model.project import DataFile, DisplayField, Item, ProcessReward, Project, TraceDisplay
from potato_bridge.notices import Notices


def write_project(folder: Path, config: str) -> Path:
    """Writes a config and an empty `data/traces.jsonl` beside it; gives the config's path."""
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "traces.jsonl").touch()
    path = folder / "config.yaml"
    path.write_text(config, encoding="utf-8")
    return path


def read(folder: Path, config: str) -> tuple[Project, Notices]:
    """Reads a config that must be right."""
    notices = Notices()
    return read_project(write_project(folder, config), notices), notices


def problems_of(call: Callable[[], object]) -> list[Problem]:
    """What a call raises, in the order of the error."""
    with pytest.raises(InputError) as caught:
        call()
    return list(caught.value.problems)


def make_project(
    folder: Path,
    *,
    steps_key: str | None = "steps",
    display: str | None = None,
    files: Iterable[DataFile] = (),
    text_key: str = "task",
) -> Project:
    """A project without a config file: a process_reward scheme, and a display if one is named."""
    fields = [DisplayField(key=steps_key or "steps", type=display, trace=TraceDisplay())] if display else []
    return Project(
        name="p",
        config=folder / "config.yaml",
        task_dir=folder,
        id_key="id",
        text_key=text_key,
        output_dir=folder / "annotation_output",
        data_files=list(files),
        fields=fields,
        schemes=[ProcessReward(name="process_reward", steps_key=steps_key)] if steps_key else [],
    )


def write_items(folder: Path, name: str, data: str | bytes, **keys: Any) -> Project:
    """A project whose only data file has this content; the format is that of the name."""
    path = folder / name
    if isinstance(data, str):
        path.write_text(data, encoding="utf-8", newline="")
    else:
        path.write_bytes(data)
    return make_project(folder, files=[DataFile(path=path, format=keys.pop("format", path.suffix[1:]), **keys)])


def all_items(project: Project) -> tuple[list[Item], Notices]:
    """All items of a project that must be right."""
    notices = Notices()
    return list(read_items(project, notices)), notices


def lines(*items: Any) -> str:
    """JSON lines."""
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)

"""Starts a server, pushes the bundled example, plays two annotators, pulls, exports; everything in one folder.

The answers are made up: every record, row and card says so.
"""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from potato_bridge.converters.label_studio.interface import build_interface
from potato_bridge.converters.label_studio.results import write_results
from potato_bridge.converters.potato.config import read_project
from potato_bridge.errors import UsageError
from potato_bridge.export.dataset import export
from potato_bridge.model import Project, Record
from potato_bridge.model.process_reward import FirstError
from potato_bridge.notices import Notices
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.remotes.label_studio_server import LocalLabelStudio, LocalUser
from potato_bridge.sync.label_studio.backend import LabelStudioBackend
from potato_bridge.sync.label_studio.build import label_studio_tasks
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import pull
from potato_bridge.sync.push import push

#: Says that a folder was made by the demo, and may be thrown away by the next one.
SENTINEL = ".potato-bridge-demo"
#: A step that is the first error; "all" where every step is correct; "skip".
Answer = int | str
#: What the two annotators answer: item id to the first wrong step, 0-based over the agent's steps.
ANSWERS: Mapping[str, Mapping[str, Answer]] = {
    "demo-annotator-1@example.com": {
        "slugify-accents": "all",
        "empty-month": 2,
        "log-level-option": 1,
        "remove-legacy-cache": "all",
    },
    "demo-annotator-2@example.com": {
        "slugify-accents": "all",
        "empty-month": 1,
        "log-level-option": 1,
        "remove-legacy-cache": "skip",
    },
}
Say = Callable[[str], None]


@dataclass
class DemoReport:
    """What the demo made; `rows` are the data set's first rows."""

    url: str
    project_url: str
    username: str
    password: str
    records: Path
    dataset: Path
    documented: Path
    answers: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)


@contextmanager
def demo(folder: Path, say: Say, notices: Notices) -> Iterator[DemoReport]:
    """Runs the demo; the server is up until the block ends, and then it is gone.

    Args:
        folder: Made for the demo; an earlier demo's is replaced.
        say: Tells what is going on, a line each.
        notices: Gets what Label Studio cannot show of the example.

    Raises:
        UsageError: Label Studio is not installed, or the folder holds something else.
        RemoteError: The server does not start.
    """
    executable = _executable()
    _make_folder(folder)
    with as_file(files("potato_bridge") / "demo" / "example") as example:
        shutil.copytree(example, folder / "project")
    project = read_project(folder / "project" / "config.yaml", notices)
    say("starting a Label Studio (the first start takes half a minute)")
    with LocalLabelStudio(executable, folder / "server") as server:
        say(f"pushing {project.config}")
        with LabelStudio(server.url, server.token) as remote, Ledger.beside(project.config) as ledger:
            interface = build_interface(project, notices)
            backend = LabelStudioBackend(project, remote, interface, partial(label_studio_tasks, project))
            pushed = push(backend, ledger, notices=notices)
            assert isinstance(pushed.project_id, int) and pushed.project_url is not None
            say(f"playing {len(ANSWERS)} annotators; their answers are marked as demo answers")
            tasks = {
                str(task["data"]["potato_bridge_id"]): task
                for task in remote.tasks(pushed.project_id, ["data", "meta"])
            }
            answers = sum(
                _annotate(server.url, server.add_user(email, server.password), project, tasks, chosen)
                for email, chosen in ANSWERS.items()
            )
            records = folder / "records.jsonl"
            say("pulling their answers")
            pull(backend, ledger, records, notices=notices, mark={"demo": True})
        report = DemoReport(
            url=server.url,
            project_url=pushed.project_url,
            username=server.username,
            password=server.password,
            records=records,
            dataset=folder / "prm_dataset",
            documented=folder / "prm_training_data.jsonl",
            answers=answers,
        )
        say("exporting a data set for process reward models")
        report.left_out = export(project, records, "prm", report.dataset, notices=notices).reasons
        export(project, records, "prm", report.documented, notices=notices)
        report.rows = _first_rows(report.dataset)
        yield report


def _executable() -> Path:
    beside = Path(sys.executable).with_name("label-studio")
    found = beside if beside.exists() else shutil.which("label-studio")
    if found is None:
        raise UsageError("the demo needs a Label Studio to start", hint="Install it: pip install 'potato-bridge[demo]'")
    return Path(found)


def _make_folder(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        if not (folder / SENTINEL).exists():
            raise UsageError(f"{folder} exists and is not a demo's", hint="Name another folder with -o.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SENTINEL).touch()


def _annotate(
    url: str, user: LocalUser, project: Project, tasks: Mapping[str, dict[str, Any]], answers: Mapping[str, Answer]
) -> int:
    scheme = project.process_reward()
    assert scheme is not None
    with LabelStudio(url, user.token) as remote:
        for item_id, answer in answers.items():
            task = tasks[item_id]
            step = answer if isinstance(answer, int) else None
            value = FirstError(first_error_step=step, total_steps=task["meta"]["potato_bridge"]["total_steps"])
            record = Record(id=item_id, annotator=user.email, annotations={scheme.name: value.to_json()})
            skipped = answer == "skip"
            remote.annotate(int(task["id"]), [] if skipped else write_results(project, record, task), skipped=skipped)
    return len(answers)


def _first_rows(dataset: Path, count: int = 3) -> list[dict[str, Any]]:
    from pyarrow.parquet import ParquetFile

    shard = ParquetFile(min(dataset.glob("prm/*.parquet")))  # type: ignore[no-untyped-call]
    batch = next(shard.iter_batches(count))  # type: ignore[no-untyped-call]
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows

"""Pushes the bundled example, plays two annotators, pulls, exports; everything in one folder.

The answers are made up: every record, row and card says so.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.errors import UsageError
from potato_bridge.export.dataset import export
from potato_bridge.model import Project, Record
from potato_bridge.model.process_reward import FirstError
from potato_bridge.notices import Notices
from potato_bridge.remotes.base import Ref
from potato_bridge.sync.backend import Backend
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import pull
from potato_bridge.sync.push import push

if TYPE_CHECKING:
    from potato_bridge.remotes.argilla import Argilla

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


class DemoServer(Protocol):
    """A server that the demo works on."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def username(self) -> str:
        """Whom `--keep` signs in as; empty: whoever the caller is."""

    @property
    def password(self) -> str:
        """The password of that account."""

    def backend(self, project: Project, notices: Notices) -> Backend[Any]:
        """The server as a backend."""

    def annotate(self, project: Project, project_id: Ref, annotator: str, answers: Mapping[str, Record | None]) -> None:
        """Answers as a new account; None: a skip."""


@contextmanager
def demo(folder: Path, say: Say, notices: Notices, argilla: "Argilla | None" = None) -> Iterator[DemoReport]:
    """Runs the demo; a server of its own is up until the block ends, and then it is gone.

    Args:
        folder: Made for the demo; an earlier demo's is replaced.
        say: Tells what is going on, a line each.
        notices: Gets what the server cannot show of the example.
        argilla: The Argilla server to run it on, as an owner; None: a Label Studio of its own.

    Raises:
        UsageError: Label Studio is not installed, or the folder holds something else.
        RemoteError: The server does not start, or refuses something.
    """
    with ExitStack() as stack:
        _prepare(folder)
        project = read_project(folder / "project" / "config.yaml", notices)
        server: DemoServer
        if argilla is None:
            from potato_bridge.demo.label_studio import LabelStudioDemo, executable

            program = executable()
            say("starting a Label Studio (the first start takes half a minute)")
            server = stack.enter_context(LabelStudioDemo.running(program, folder / "server"))
        else:
            from potato_bridge.demo.argilla import ArgillaDemo

            server = stack.enter_context(ArgillaDemo.on(argilla))
        yield _go(folder, project, server, say, notices)


def _go(folder: Path, project: Project, server: DemoServer, say: Say, notices: Notices) -> DemoReport:
    backend = server.backend(project, notices)
    records = folder / "records.jsonl"
    with Ledger.beside(project.config) as ledger:
        say(f"pushing {project.config} to {server.name}")
        pushed = push(backend, ledger, notices=notices)
        assert pushed.project_id is not None and pushed.project_url is not None
        say(f"playing {len(ANSWERS)} annotators; their answers are marked as demo answers")
        totals = {item.id: len(to_trace(item, project, notices).ratable()) for item in read_items(project, notices)}
        for annotator, answers in ANSWERS.items():
            said = {
                item_id: _record(project, item_id, annotator, totals[item_id], answers[item_id]) for item_id in answers
            }
            server.annotate(project, pushed.project_id, annotator, said)
        say("pulling their answers")
        pull(backend, ledger, records, notices=notices, mark={"demo": True})
    report = DemoReport(
        url=backend.url,
        project_url=pushed.project_url,
        username=server.username,
        password=server.password,
        records=records,
        dataset=folder / "prm_dataset",
        documented=folder / "prm_training_data.jsonl",
        answers=sum(map(len, ANSWERS.values())),
    )
    say("exporting a data set for process reward models")
    report.left_out = export(project, records, "prm", report.dataset, notices=notices).reasons
    export(project, records, "prm", report.documented, notices=notices)
    report.rows = _first_rows(report.dataset)
    return report


def _record(project: Project, item_id: str, annotator: str, total: int, answer: Answer) -> Record | None:
    if answer == "skip":
        return None
    scheme = project.process_reward()
    assert scheme is not None
    value = FirstError(first_error_step=answer if isinstance(answer, int) else None, total_steps=total)
    return Record(id=item_id, annotator=annotator, annotations={scheme.name: value.to_json()})


def _prepare(folder: Path) -> None:
    """Makes the folder, with the example in it."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / SENTINEL).exists():
            raise UsageError(f"{folder} exists and is not a demo's", hint="Name another folder with -o.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SENTINEL).touch()
    with as_file(files("potato_bridge") / "demo" / "example") as example:
        shutil.copytree(example, folder / "project")


def _first_rows(dataset: Path, count: int = 3) -> list[dict[str, Any]]:
    from pyarrow.parquet import ParquetFile

    shard = ParquetFile(min(dataset.glob("prm/*.parquet")))  # type: ignore[no-untyped-call]
    batch = next(shard.iter_batches(count))  # type: ignore[no-untyped-call]
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows

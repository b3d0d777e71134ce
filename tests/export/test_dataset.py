"""The folder as a whole: it loads, it is the same each time, and it is there completely or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml
from pyarrow.parquet import ParquetFile

from potato_bridge.errors import BridgeError, InputError, UsageError
from potato_bridge.export import dataset, parquet, place, verify
from potato_bridge.export.dataset import export
from potato_bridge.export.options import Dialect, ExportOptions
from potato_bridge.export.prm import Prm
from potato_bridge.model import Project
from potato_bridge.notices import Notices
from tests.export.helpers import GOLDEN, first_error, item, make_project, read_lines, record, write_lines

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, [item(f"t{n}") for n in range(20)])


@pytest.fixture
def records(tmp_path: Path) -> Path:
    lines = [record(f"t{n}", f"ann{n % 3}", first_error(n % 4 if n % 4 < 3 else None)) for n in range(20)]
    lines.append(record("t0", "ann9", None, status="skipped"))
    return write_lines(tmp_path / "records.jsonl", lines)


def load(folder: Path, cache: Path, *config: str) -> Any:
    return datasets.load_dataset(str(folder), *config, cache_dir=str(cache))


def contents(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_load_dataset_opens_it_and_leaves_the_ledger_alone(project: Project, records: Path, tmp_path: Path) -> None:
    advanced: list[int] = []
    report = export(project, records, "prm", tmp_path / "out", progress=advanced.append)
    assert sum(advanced) == report.records_in == 21
    assert [path.relative_to(tmp_path / "out").as_posix() for path in report.files] == [
        "README.md",
        "ledger.jsonl",
        "prm/train-00000-of-00001.parquet",
    ]
    for config in ([], ["prm"]):
        loaded = load(tmp_path / "out", tmp_path / "cache", *config)
        assert list(loaded) == ["train"]
        assert loaded["train"].num_rows == report.rows == 20
        assert loaded["train"].column_names == Prm(project, ExportOptions(), Notices()).schema().names
    assert datasets.get_dataset_config_names(str(tmp_path / "out")) == ["prm"]
    assert len(read_lines(tmp_path / "out" / "ledger.jsonl")) == 1


def test_the_card(project: Project, records: Path, tmp_path: Path) -> None:
    project.name = "Traps: <script>alert(1)</script>\n---\n# `x` \u202e"
    project.schemes[0].description = "Click <b>it</b> | *now*\n```"
    export(project, records, "prm", tmp_path / "out")
    _, front, body = (tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    data = yaml.safe_load(front)
    assert data["pretty_name"] == "Traps: <script>alert(1)</script> --- # `x`"
    assert data["configs"] == [
        {"config_name": "prm", "data_files": [{"split": "train", "path": "prm/train-*.parquet"}]}
    ]
    assert data["dataset_info"]["splits"][0]["num_examples"] == 20
    assert {"prm", "potato-bridge"} <= set(data["tags"]) and "demo" not in data["tags"]
    assert data["size_categories"] == ["n<1K"]
    assert "<script>" not in body and "\u202e" not in body
    assert r"> Click \<b\>it\</b\> \| \*now\* \`\`\`" in body
    assert "20 rows from 21 records of 3 annotators" in body
    assert "| row | 20 |\n| `status-skipped` | 1 |\n" in body
    assert "Demo" not in body


def test_demo_answers_are_said_to_be(project: Project, tmp_path: Path) -> None:
    lines = [record("t0", "ann", first_error(0), demo=True), record("t1", "ann", first_error(0))]
    report = export(project, write_lines(tmp_path / "r.jsonl", lines), "prm", tmp_path / "out")
    assert (report.rows, report.demo_rows) == (2, 1)
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "**Demo answers.** 1 of 2 rows" in text
    data = yaml.safe_load(text.split("---\n")[1])
    assert "demo" in data["tags"] and data["annotations_creators"] == ["machine-generated"]


def test_without_rows(project: Project, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r.jsonl", [record("t0", "ann", None, status="skipped")])
    with pytest.raises(InputError, match=r"no row to export \(1 records, left out: 1 status-skipped\)") as error:
        export(project, source, "prm", tmp_path / "out")  # datasets cannot load a folder without rows
    assert [str(problem) for problem in error.value.problems] == ["t0 ann: the annotator skipped the item"]
    with pytest.raises(InputError, match="the records file is empty"):
        export(project, write_lines(tmp_path / "none.jsonl", []), "prm", tmp_path / "out")
    assert not (tmp_path / "out").exists()

    notices = Notices()
    report = export(project, source, "prm", tmp_path / "out.jsonl", notices=notices)
    assert (report.rows, report.reasons) == (0, {"status-skipped": 1})
    assert [notice.code for notice in notices] == ["no-rows"]
    assert (tmp_path / "out.jsonl").read_bytes() == b""
    export(project, source, "prm", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == []


def test_shards(project: Project, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", 6)
    report = export(project, records, "prm", tmp_path / "out", ExportOptions(shard_bytes=1))
    names = [path.name for path in report.files[2:]]
    assert names == [f"train-0000{n}-of-00004.parquet" for n in range(4)]
    loaded = load(tmp_path / "out", tmp_path / "cache", "prm")["train"]
    assert loaded["id"][:] == [f"t{n}" for n in range(20)]


def test_long_rows_end_a_batch(
    project: Project, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "BATCH_BYTES", 1)
    export(project, records, "prm", tmp_path / "out")
    with ParquetFile(tmp_path / "out" / "prm" / "train-00000-of-00001.parquet") as file:
        assert (file.num_row_groups, file.metadata.num_rows) == (20, 20)


def test_the_same_bytes_each_time(project: Project, records: Path, tmp_path: Path) -> None:
    export(project, records, "prm", tmp_path / "one")
    export(project, records, "prm", tmp_path / "two")
    export(project, records, "prm", tmp_path / "two")  # over an earlier one
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.jsonl", "one", "records.jsonl", "two"]


def test_the_same_bytes_under_another_hash_seed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from potato_bridge.converters.potato.config import read_project;"
        "from potato_bridge.export.dataset import export; from potato_bridge.notices import Notices;"
        "case = Path(sys.argv[1]); project = read_project(case / 'config.yaml', Notices());"
        "export(project, case / 'records.jsonl', 'prm', Path(sys.argv[2]))"
    )
    for seed in ("1", "2"):
        command = [sys.executable, "-c", code, str(GOLDEN / "left_out"), str(tmp_path / seed)]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


class Stop(Exception):
    pass


def _stop(*args: object, **kwargs: object) -> None:
    raise Stop


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (Prm, "row"),
        (parquet.ShardWriter, "finish"),
        (dataset, "card"),
        (dataset, "verify_rows"),
        (dataset, "verify_folder"),
        (dataset, "replace_folder"),
    ],
)
def test_a_failure_leaves_what_was_there(
    where: Any, name: str, project: Project, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(project, records, "prm", tmp_path / "out")
    before = contents(tmp_path)
    monkeypatch.setattr(where, name, _stop)
    for out in ("out", "new"):
        with pytest.raises(Stop):
            export(project, records, "prm", tmp_path / out, ExportOptions(ledger=tmp_path / "left.jsonl"))
    assert contents(tmp_path) == before
    assert not list(tmp_path.glob(".*"))


def test_a_swap_that_fails_half_way_is_undone(
    project: Project, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(project, records, "prm", tmp_path / "out")
    before = contents(tmp_path)
    rename = os.rename
    calls = []

    def fails_second(source: Path, target: Path) -> None:
        if tmp_path / "out" in (source, target):
            calls.append(target)
            if len(calls) == 2:
                raise OSError("disk gone")
        rename(source, target)

    monkeypatch.setattr(place.os, "rename", fails_second)
    with pytest.raises(OSError, match="disk gone"):
        export(project, records, "prm", tmp_path / "out")
    assert len(calls) == 3
    assert contents(tmp_path) == before


#: Dies in the moment in which the output is missing.
KILLED = """
import os, sys
from pathlib import Path
from potato_bridge.export import dataset, place
from tests.export.helpers import open_project

folder, out = Path(sys.argv[1]), Path(sys.argv[1], "out")
rename = os.rename

def dies(source, target):
    if Path(target) == out:
        os.kill(os.getpid(), 9)
    rename(source, target)

place.os.rename = dies
dataset.export(open_project(folder), folder / "records.jsonl", "prm", out)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_what_a_killed_export_left_goes_with_the_next(project: Project, records: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(project, records, "prm", out)
    before = contents(out)
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, capture_output=True)
    assert done.returncode == -9, done.stderr
    (left,) = tmp_path.glob(".out.*.tmp")
    assert not out.exists() and contents(left / "data.old") == before

    # Another name is another place; an export that fails leaves what may be the only copy.
    export(project, records, "prm", tmp_path / "ou")
    with pytest.raises(InputError, match="no row"):
        export(project, write_lines(tmp_path / "empty.jsonl", []), "prm", out)
    assert contents(left / "data.old") == before
    with place.staging(out) as alive:
        export(project, records, "prm", out)
        assert contents(out) == before
        assert list(tmp_path.glob(".*")) == [alive]
    assert not list(tmp_path.glob(".*"))


def test_bad_input_late_in_the_files_leaves_nothing(project: Project, tmp_path: Path) -> None:
    lines = [record("t0", "ann", first_error(0)), record("t1", "ann", first_error(0), lead_time="long")]
    source = write_lines(tmp_path / "r.jsonl", lines)
    with pytest.raises(InputError, match=r"r\.jsonl:2"):
        export(project, source, "prm", tmp_path / "out")
    items = project.data_files[0].path
    items.write_text(items.read_text() + '{"id": "t0", "task": "again", "steps": ["one"]}\n')
    with pytest.raises(InputError):
        export(project, write_lines(source, lines[:1]), "prm", tmp_path / "out.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.jsonl", "r.jsonl"]


def test_rows_that_do_not_train_are_never_published(
    project: Project, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = Prm.row
    broken = {
        "differ in length": {"labels": [True]},
        "no completions": {"completions": [], "labels": []},
        "prompt, completions or labels is null": {"prompt": None},
        "a completion or a label is null": {"labels": [True, None, False]},
    }
    for problem, change in broken.items():

        def row(self: Prm, case: Any, record: Any, change: dict[str, Any] = change) -> Any:
            made = good(self, case, record)
            return {**made, **change} if isinstance(made, dict) else made

        monkeypatch.setattr(Prm, "row", row)
        with pytest.raises(BridgeError, match=problem):
            export(project, records, "prm", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_somebody_else_is_not_touched(project: Project, records: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    export(project, records, "prm", out)  # an empty folder is nobody's
    for path in (out / "LICENSE", out / "prm" / "notes.txt"):
        path.write_text("mine")
        with pytest.raises(UsageError, match=f"did not write: .*{path.name}"):
            export(project, records, "prm", out)
        assert path.read_text() == "mine"
        path.unlink()
    (out / "README.md").write_text("# Mine\n")
    with pytest.raises(UsageError, match="was not written by potato-bridge"):
        export(project, records, "prm", out)
    assert (out / "README.md").read_text() == "# Mine\n"
    with pytest.raises(UsageError, match="was not written by potato-bridge"):
        export(project, records, "prm", tmp_path)


def test_a_link_to_a_folder_stays_a_link(project: Project, records: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    export(project, records, "prm", tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "disk" / "README.md").is_file()


def test_names_that_contradict(project: Project, records: Path, tmp_path: Path) -> None:
    def refused(out: Path, match: str, **options: Any) -> None:
        with pytest.raises(UsageError, match=match):
            export(project, records, "prm", out, ExportOptions(**options))

    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "file").write_text("")
    before = contents(tmp_path)
    refused(tmp_path / "out.jsonl", "dialect native is a folder", dialect=Dialect.NATIVE)
    refused(tmp_path / "folder.jsonl", "is a folder, and its name says one file")
    refused(tmp_path / "file", "is a file, and the data set is a folder")
    refused(records, "is read by this export")
    refused(project.data_files[0].path, "is read by this export")
    refused(tmp_path / "out", "is read by this export", ledger=records)
    refused(tmp_path / "out", "cannot be in the output", ledger=tmp_path / "out" / "left.jsonl")
    refused(tmp_path / "out.json", "cannot be in the output", ledger=tmp_path / "out.json")
    assert contents(tmp_path) == before


def test_a_large_data_set_is_opened_and_not_loaded(
    project: Project, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(project, records, "prm", tmp_path / "loaded")
    monkeypatch.setattr(verify, "LOADED_BYTES", 0)
    export(project, records, "prm", tmp_path / "opened")
    assert contents(tmp_path / "loaded") == contents(tmp_path / "opened")


def test_a_card_that_says_something_else(
    project: Project, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = dataset.card
    monkeypatch.setattr(dataset, "card", lambda *args: card(*args).replace("num_examples: 20", "num_examples: 21"))
    for limit in (0, 10**9):
        monkeypatch.setattr(verify, "LOADED_BYTES", limit)
        with pytest.raises(BridgeError, match="failed its check"):
            export(project, records, "prm", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_progress_bars_stay_as_they_were(project: Project, records: Path, tmp_path: Path) -> None:
    assert datasets.is_progress_bar_enabled()
    export(project, records, "prm", tmp_path / "out")
    assert datasets.is_progress_bar_enabled()

"""Each case of tests/golden/prm: config, items and records in; rows, documented lines and ledger by hand out.

No run writes a golden: a file that is missing is a failure.
"""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest

from potato_bridge.converters.potato.config import read_project
from potato_bridge.export.dataset import export
from potato_bridge.export.options import Dialect, ExportOptions, ExportReport
from potato_bridge.notices import Notices
from tests.export.helpers import GOLDEN, read_lines

CASES = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())


def run(case: str, out: Path, **options: object) -> ExportReport:
    folder = GOLDEN / case
    notices = Notices()
    project = read_project(folder / "config.yaml", notices)
    return export(project, folder / "records.jsonl", "prm", out, ExportOptions(**options), notices)  # type: ignore[arg-type]


def test_the_issues_cases_are_here() -> None:
    wanted = {"first_error_first", "first_error_middle", "first_error_last", "all_correct", "two_annotators"}
    assert wanted | {"skipped", "user_turns", "tool_calls"} <= set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_native(case: str, tmp_path: Path) -> None:
    report = run(case, tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), "prm", split="train", cache_dir=str(tmp_path / "cache"))

    expected = read_lines(GOLDEN / case / "native.jsonl")
    assert loaded.to_list() == expected
    assert [list(row) for row in loaded] == [list(row) for row in expected]
    assert loaded.features == datasets.Features(
        {
            "prompt": datasets.Value("string"),
            "completions": datasets.List(datasets.Value("string")),
            "labels": datasets.List(datasets.Value("bool")),
            "id": datasets.Value("string"),
            "annotator": datasets.Value("string"),
            "scheme": datasets.Value("string"),
            "mode": datasets.Value("string"),
            "first_error": datasets.Value("int64"),
            "scores": datasets.List(datasets.Value("float64")),
            "step_ids": datasets.List(datasets.Value("string")),
            "backend": datasets.Value("string"),
            "project": datasets.Value("string"),
            "task": datasets.Value("string"),
            "annotation": datasets.Value("string"),
        }
    )
    ledger = read_lines(GOLDEN / case / "ledger.jsonl")
    assert read_lines(tmp_path / "out" / "ledger.jsonl") == ledger
    assert report.rows == len(expected)
    assert report.records_in == len(read_lines(GOLDEN / case / "records.jsonl"))
    assert report.left_out == ledger


@pytest.mark.parametrize("case", CASES)
def test_one_documented_file(case: str, tmp_path: Path) -> None:
    report = run(case, tmp_path / "results" / "prm.jsonl", ledger=tmp_path / "logs" / "left.jsonl")
    assert (tmp_path / "results" / "prm.jsonl").read_bytes() == compact(GOLDEN / case / "potato.jsonl")
    assert read_lines(tmp_path / "logs" / "left.jsonl") == read_lines(GOLDEN / case / "ledger.jsonl")
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["prm.jsonl"]
    assert report.dialect is Dialect.POTATO
    assert set(report.files) == {tmp_path / "results" / "prm.jsonl", tmp_path / "logs" / "left.jsonl"}


@pytest.mark.parametrize("case", CASES)
def test_a_json_array_and_a_documented_folder(case: str, tmp_path: Path) -> None:
    run(case, tmp_path / "prm.json")
    expected = read_lines(GOLDEN / case / "potato.jsonl")
    assert json.loads((tmp_path / "prm.json").read_text(encoding="utf-8")) == expected

    report = run(case, tmp_path / "folder", dialect=Dialect.POTATO)
    assert report.files == [tmp_path / "folder" / "prm_training_data.jsonl"]
    assert read_lines(report.files[0]) == expected


def compact(path: Path) -> bytes:
    """The golden without spaces between its tokens, so that bytes can be compared."""
    lines = (json.dumps(value, separators=(",", ":"), ensure_ascii=False) for value in read_lines(path))
    return "".join(line + "\n" for line in lines).encode()

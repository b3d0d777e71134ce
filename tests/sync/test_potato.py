"""An `annotation_output` as the input of an export, and a records file as that of a write."""

from __future__ import annotations

from pathlib import Path

import pytest

from potato_bridge.errors import InputError
from potato_bridge.export.dataset import export
from potato_bridge.notices import Notices
from potato_bridge.sync.potato import is_annotation_output, potato_records, write_potato
from potato_bridge.sync.records import write_records
from tests.converters.potato_output.helpers import (
    blob,
    entry,
    first_error,
    make_project,
    plain,
    read_all,
    record,
    write_state,
)
from tests.export.helpers import read_lines


def test_half_an_answer_is_never_all_correct(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    answers = {
        "ann": {"a": [entry("rewards", blob(1, 1, 1, -1, -1))]},
        "eve": {"a": [entry("rewards", blob(1, 1, 1, 0, 0))], "b": [entry("rewards", blob(0, 0, 0, 0, 0))]},
        "zoe": {"zz": [entry("rewards", blob(1, 1, 1, 1, 1))], "c": [entry("rewards", blob(1, 1, 1, 1, 1, 1))]},
    }
    for user, labels in answers.items():
        write_state(project.output_dir, user, labels)
    assert is_annotation_output(project.output_dir) and not is_annotation_output(tmp_path)
    with potato_records(project, project.output_dir, Notices()) as records:
        temporary = records
        export(project, records, "prm", tmp_path / "prm.jsonl", notices=Notices())
        report = export(project, records, "prm", tmp_path / "out", notices=Notices())
    assert not temporary.exists()
    assert [step["label"] for step in read_lines(tmp_path / "prm.jsonl")[0]["steps"]] == [1, 1, -1]
    assert (report.records_in, report.rows) == (4, 1)
    ledger = read_lines(tmp_path / "out" / "ledger.jsonl")
    assert [(line["annotator"], line["reason"], line["message"].partition(":")[0]) for line in ledger] == [
        ("eve", "flagged", "incomplete-answer"),
        ("zoe", "flagged", "step-out-of-range"),
        ("zoe", "flagged", "unknown-item"),
    ]


def test_a_corrupt_state_leaves_no_file_behind(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    write_state(project.output_dir, "ann", {}).write_text("{")
    with pytest.raises(InputError, match="cannot be read"), potato_records(project, project.output_dir, Notices()):
        pass


def test_from_a_records_file(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    records = [record(first_error(1)), record(first_error(None), "b", "eve")]
    write_records(tmp_path / "records.jsonl", records)
    assert write_potato(project, tmp_path / "records.jsonl", project.output_dir, Notices()).written == 2
    assert plain(read_all(project)[0]) == plain(records)

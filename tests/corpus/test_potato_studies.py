"""Real Potato projects (../shared/corpus/potato beside the repository): their states to rows, against goldens by hand.

Potato's own exporter writes nothing for any of them. Where there is no corpus these tests are skipped.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from potato_bridge.converters.potato.annotation_output import records_from_potato
from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.write_output import write_annotation_output
from potato_bridge.errors import InputError
from potato_bridge.export.dataset import export
from potato_bridge.model import Project, to_builtins
from potato_bridge.notices import Notices
from potato_bridge.sync.potato import is_annotation_output, potato_records
from tests.export.helpers import read_lines

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "potato"
GOLDEN = ROOT / "tests" / "golden" / "potato"
ROWS = sorted(path.stem for path in GOLDEN.glob("*.jsonl") if not path.stem.endswith(".records"))
RECORDS = sorted(path.name.removesuffix(".records.jsonl") for path in GOLDEN.glob("*.records.jsonl"))
#: Where the texts of Potato's examples, or of people, stand in an answer.
TEXTS = ("text", "original_text", "edited_text")
COLUMNS = "prompt completions labels id annotator scheme mode first_error scores step_ids".split()

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no corpus beside the repository")


def project_of(study: str) -> Project:
    return read_project(CORPUS / study / "config.yaml", Notices())


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def hidden(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: hidden(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [hidden(inner) for inner in value]
    return digest(value) if isinstance(value, str) and key in TEXTS else value


def test_every_study_has_a_golden() -> None:
    studies = {path.parent.name for path in CORPUS.glob("*/annotation_output")}
    assert studies == {*ROWS, *RECORDS}


@pytest.mark.parametrize("study", ROWS)
def test_rows(study: str, tmp_path: Path) -> None:
    project, notices = project_of(study), Notices()
    assert is_annotation_output(project.output_dir)
    with potato_records(project, project.output_dir, notices) as records:
        report = export(project, records, "prm", tmp_path / "out", notices=notices)
    table = pyarrow.parquet.read_table(next((tmp_path / "out" / "prm").glob("*.parquet")))
    found = []
    for row in table.to_pylist():
        assert row["backend"] == "potato"
        row |= {"prompt": digest(row["prompt"]), "completions": [digest(text) for text in row["completions"]]}
        found.append({column: row[column] for column in COLUMNS})
    for line in read_lines(tmp_path / "out" / "ledger.jsonl"):
        found.append({"left_out": line["reason"], "id": line["id"], "annotator": line["annotator"]})
    assert found == read_lines(GOLDEN / f"{study}.jsonl")
    assert report.records_in == len(found)


@pytest.mark.parametrize("study", RECORDS)
def test_records(study: str, tmp_path: Path) -> None:
    project = project_of(study)
    records = [to_builtins(record) for record in records_from_potato(project, project.output_dir, Notices())]
    found = [{key: hidden(record[key]) for key in ("id", "annotator", "annotations")} for record in records]
    assert found == read_lines(GOLDEN / f"{study}.records.jsonl")
    assert all(record["source"] == {"backend": "potato"} and "flags" not in record for record in records)


@pytest.mark.parametrize("study", RECORDS)
def test_a_study_without_rewards_says_so(study: str, tmp_path: Path) -> None:
    project = project_of(study)
    if project.process_reward() is not None:
        return
    with (
        potato_records(project, project.output_dir, Notices()) as records,
        pytest.raises(InputError, match="no scheme of type process_reward"),
    ):
        export(project, records, "prm", tmp_path / "out")


@pytest.mark.parametrize("study", sorted({*ROWS, *RECORDS}))
def test_into_another_folder_and_back(study: str, tmp_path: Path) -> None:
    """What one Potato stored, written for another one, reads back equal."""
    project = project_of(study)
    records = list(records_from_potato(project, project.output_dir, Notices()))
    write_annotation_output(project, records, tmp_path / "states", Notices())
    again = list(records_from_potato(project, tmp_path / "states", Notices()))
    assert sorted(map(to_builtins, again), key=str) == sorted(map(to_builtins, records), key=str)
    for sidecar in (tmp_path / "states").glob("*/potato_bridge.json"):
        sidecar.unlink()
    plain = {(r.annotator, r.id): r.annotations for r in records_from_potato(project, tmp_path / "states", Notices())}
    assert plain == {(record.annotator, record.id): record.annotations for record in records}

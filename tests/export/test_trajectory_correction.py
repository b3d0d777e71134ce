"""Target trajectory_correction against goldens by hand. No run writes a golden: a file that is missing is a failure."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest

from potato_bridge.converters.potato.config import read_project
from potato_bridge.errors import InputError, UsageError
from potato_bridge.export.dataset import export
from potato_bridge.export.options import Dialect, ExportOptions, ExportReport
from potato_bridge.notices import Notices
from tests.export.helpers import read_lines, write_lines

GOLDEN = Path(__file__).parents[1] / "golden" / "trajectory_correction"
FILES = ["trajectory_corrections.json", "trajectory_dpo.jsonl", "trajectory_sft.jsonl"]


def run(folder: Path, out: Path, **options: object) -> ExportReport:
    project = read_project(folder / "config.yaml", Notices())
    chosen = ExportOptions(**options)  # type: ignore[arg-type]
    return export(project, folder / "records.jsonl", "trajectory_correction", out, chosen, Notices())


def test_a_data_set(tmp_path: Path) -> None:
    folder = GOLDEN / "documented"
    report = run(folder, tmp_path / "out")
    expected = read_lines(folder / "native.jsonl")
    loaded = datasets.load_dataset(
        str(tmp_path / "out"), "trajectory_correction", split="train", cache_dir=str(tmp_path / "cache")
    )
    assert loaded.to_list() == expected
    assert [list(row) for row in loaded] == [list(row) for row in expected]
    assert ledger(tmp_path / "out" / "ledger.jsonl") == read_lines(folder / "ledger.jsonl")
    assert (report.records_in, report.rows, report.reasons) == (4, 2, {"status-skipped": 1, "unedited": 1})


def ledger(path: Path) -> list[dict[str, object]]:
    return [{key: value for key, value in line.items() if key != "message"} for line in read_lines(path)]


@pytest.mark.parametrize("case", ["documented", "values"])
def test_the_documented_folder(case: str, tmp_path: Path) -> None:
    folder = GOLDEN / case
    report = run(folder, tmp_path / "out", dialect=Dialect.POTATO, ledger=tmp_path / "left.jsonl")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES
    assert {file.name for file in report.files} == {*FILES, "left.jsonl"}
    expected = json.loads((folder / "corrections.json").read_text(encoding="utf-8"))
    assert json.loads((tmp_path / "out" / FILES[0]).read_text(encoding="utf-8")) == expected
    edited = [record for record in expected["records"] if record["edits"]]
    sft, dpo = (read_lines(tmp_path / "out" / f"trajectory_{kind}.jsonl") for kind in ("sft", "dpo"))
    if (folder / "sft.jsonl").exists():
        assert (sft, dpo) == (read_lines(folder / "sft.jsonl"), read_lines(folder / "dpo.jsonl"))
    assert [line["completion"] for line in sft] == [record["corrected_trace"] for record in edited]
    assert [line["rejected"] for line in dpo] == [record["original_trace"] for record in edited]
    assert ledger(tmp_path / "left.jsonl") == read_lines(folder / "ledger.jsonl")


def test_one_file(tmp_path: Path) -> None:
    folder = GOLDEN / "documented"
    expected = json.loads((folder / "corrections.json").read_text(encoding="utf-8"))
    run(folder, tmp_path / "one" / "all.json")
    assert json.loads((tmp_path / "one" / "all.json").read_text(encoding="utf-8")) == expected
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["all.json"]
    run(folder, tmp_path / "all.jsonl")
    assert read_lines(tmp_path / "all.jsonl") == expected["records"]
    run(folder, tmp_path / "my-sft.jsonl")
    assert read_lines(tmp_path / "my-sft.jsonl") == read_lines(folder / "sft.jsonl")
    run(folder, tmp_path / "trajectory_dpo.jsonl")
    assert read_lines(tmp_path / "trajectory_dpo.jsonl") == read_lines(folder / "dpo.jsonl")


def test_each_refusal_has_its_reason(tmp_path: Path) -> None:
    folder = GOLDEN / "refused"
    report = run(folder, tmp_path / "out", dialect=Dialect.POTATO, ledger=tmp_path / "left.jsonl")
    assert ledger(tmp_path / "left.jsonl") == read_lines(folder / "ledger.jsonl")
    assert report.records_in == sum(report.reasons.values()) == len(read_lines(folder / "records.jsonl"))
    audit = json.loads((tmp_path / "out" / FILES[0]).read_text(encoding="utf-8"))
    # What changed no text, and what changed a text that trains nothing, is in the audit trail all the same.
    assert {record["annotator"]: record["n_edits"] for record in audit["records"]} == {
        "noop": 0,
        "spaces": 0,
        "aside": 1,
        "cleared": 1,
    }
    with pytest.raises(InputError, match="there is no row to export"):
        run(folder, tmp_path / "set")


def test_observations_are_added_when_they_are_wanted(tmp_path: Path) -> None:
    run(GOLDEN / "documented", tmp_path / "out", observations=True)
    [first, _] = datasets.load_dataset(
        str(tmp_path / "out"), "trajectory_correction", split="train", cache_dir=str(tmp_path / "cache")
    ).to_list()
    assert first["chosen"][0]["content"] == "Look it up.\nweb_search(query='SF weather')\nTypeError"


def test_steps_beside_the_trace_that_is_shown(tmp_path: Path) -> None:
    """The display shows one list, and the scheme edits another one."""
    (tmp_path / "config.yaml").write_text(
        """\
annotation_task_name: Two lists
data_files: [items.jsonl]
item_properties: {id_key: id, text_key: task}
instance_display: {fields: [{key: turns, type: coding_trace}]}
annotation_schemes:
  - {annotation_type: process_reward, name: rewards, mode: per_step}
  - {annotation_type: trajectory_edit, name: fix, steps_key: plan}
""",
        encoding="utf-8",
    )
    item = {"id": "a", "task": "Do.", "turns": [{"role": "assistant", "content": "x"}], "plan": ["one", "two"]}
    write_lines(tmp_path / "items.jsonl", [item])
    edit = {"step_index": 1, "field": "action", "original_text": "two", "edited_text": "three"}
    write_lines(tmp_path / "records.jsonl", [{"id": "a", "annotator": "a", "annotations": {"fix": {"steps": [edit]}}}])
    run(tmp_path, tmp_path / "out")
    [row] = datasets.load_dataset(
        str(tmp_path / "out"), "trajectory_correction", split="train", cache_dir=str(tmp_path / "cache")
    ).to_list()
    assert [message["content"] for message in row["chosen"]] == ["one", "three"]
    with pytest.raises(UsageError, match="no trajectory_edit scheme is named 'rewards'"):
        run(tmp_path, tmp_path / "other", scheme="rewards")

"""Each case of tests/golden/code_review: config, items and records in; rows, documents and ledger by hand out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import jsonschema
import pytest

from potato_bridge.converters.potato.config import read_project
from potato_bridge.export.dataset import export
from potato_bridge.export.options import Dialect, ExportOptions, ExportReport
from potato_bridge.notices import Notices
from tests.export.helpers import read_lines
from tests.export.test_prm_golden import compact

GOLDEN = Path(__file__).parents[1] / "golden" / "code_review"
SCHEMAS = Path(__file__).parents[1] / "golden" / "schemas"
CASES = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
DATA_SETS = {"code_review": "code_reviews.jsonl", "code_review_comments": "code_review_comments.jsonl"}


def run(case: str, target: str, out: Path, **options: Any) -> tuple[ExportReport, Notices]:
    folder, notices = GOLDEN / case, Notices()
    project = read_project(folder / "config.yaml", notices)
    return export(project, folder / "records.jsonl", target, out, ExportOptions(**options), notices), notices


def is_review(body: dict[str, Any]) -> None:
    """What GitHub's published schema asks for, and what only its text says."""
    jsonschema.validate(body, json.loads((SCHEMAS / "github-create-review.json").read_text(encoding="utf-8")))
    assert body["event"] == "APPROVE" or body["body"].strip()
    known = {"path", "body", "line", "side", "start_line", "start_side"}
    assert set(body) <= {"body", "event", "comments"} and all(set(comment) <= known for comment in body["comments"])
    assert all(comment["body"].strip() for comment in body["comments"])


def is_sarif(log: dict[str, Any]) -> None:
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).validate(log)


@pytest.mark.parametrize("target", DATA_SETS)
@pytest.mark.parametrize("case", CASES)
def test_native(case: str, target: str, tmp_path: Path) -> None:
    report, _ = run(case, target, tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), target, split="train", cache_dir=str(tmp_path / "cache"))
    expected = read_lines(GOLDEN / case / f"{target}.native.jsonl")
    assert loaded.to_list() == expected
    assert [list(row) for row in loaded] == [list(row) for row in expected]
    ledger = read_lines(GOLDEN / case / f"{target}.ledger.jsonl")
    assert read_lines(tmp_path / "out" / "ledger.jsonl") == ledger == report.left_out
    assert report.rows == len(expected)
    assert report.records_in == len(read_lines(GOLDEN / case / "records.jsonl")) == report.records_out + len(ledger)


@pytest.mark.parametrize("target", DATA_SETS)
@pytest.mark.parametrize("case", CASES)
def test_documented(case: str, target: str, tmp_path: Path) -> None:
    expected = read_lines(GOLDEN / case / f"{target}.potato.jsonl")
    run(case, target, tmp_path / "out.jsonl")
    assert read_lines(tmp_path / "out.jsonl") == expected
    if target == "code_review":
        assert (tmp_path / "out.jsonl").read_bytes() == compact(GOLDEN / case / "code_review.potato.jsonl")
    run(case, target, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == expected
    report, _ = run(case, target, tmp_path / "folder", dialect=Dialect.POTATO)
    assert report.files == [tmp_path / "folder" / DATA_SETS[target]]


@pytest.mark.parametrize("case", CASES)
def test_github(case: str, tmp_path: Path) -> None:
    expected = read_lines(GOLDEN / case / "github.jsonl")
    run(case, "github", tmp_path / "reviews.jsonl")
    found = read_lines(tmp_path / "reviews.jsonl")
    assert found == expected
    for line in found:
        is_review(line["review"])
    run(case, "github", tmp_path / "reviews.json")
    assert json.loads((tmp_path / "reviews.json").read_text(encoding="utf-8")) == expected

    report, _ = run(case, "github", tmp_path / "reviews")
    index = read_lines(tmp_path / "reviews" / "index.jsonl")
    assert [{k: v for k, v in line.items() if k != "file"} for line in index] == [
        {k: v for k, v in line.items() if k != "review"} for line in expected
    ]
    for line, whole in zip(index, expected, strict=True):
        assert json.loads((tmp_path / "reviews" / line["file"]).read_text(encoding="utf-8")) == whole["review"]
    ledger = read_lines(GOLDEN / case / "code_review.ledger.jsonl")
    assert read_lines(tmp_path / "reviews" / "ledger.jsonl") == ledger == report.left_out
    assert {path.name for path in (tmp_path / "reviews").iterdir()} == {
        "README.md",
        "index.jsonl",
        "ledger.jsonl",
        *(line["file"] for line in index),
    }


@pytest.mark.parametrize("case", CASES)
def test_sarif(case: str, tmp_path: Path) -> None:
    expected = json.loads((GOLDEN / case / "log.sarif").read_text(encoding="utf-8"))
    run(case, "sarif", tmp_path / "log.sarif")
    found = json.loads((tmp_path / "log.sarif").read_text(encoding="utf-8"))
    assert found == expected
    is_sarif(found)

    run(case, "sarif", tmp_path / "logs")
    lines = read_lines(tmp_path / "logs" / "index.jsonl")
    assert len({line["instance_id"] for line in lines}) == len(lines)
    logs = [json.loads((tmp_path / "logs" / line["file"]).read_text(encoding="utf-8")) for line in lines]
    assert [one for log in logs for one in log["runs"]] == expected["runs"]
    for log in logs:
        is_sarif(log)


def test_the_schemas_refuse() -> None:
    """A schema that takes anything would prove nothing."""
    for body in ({"event": "approve"}, {"event": "COMMENT", "body": "x", "comments": [{"path": "a"}]}):
        with pytest.raises(jsonschema.ValidationError):
            is_review(body)
    for log in ({"version": "2.1.0"}, {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "more": 1}]}):
        with pytest.raises(jsonschema.ValidationError):
            is_sarif(log)


def test_every_loss_is_counted(tmp_path: Path) -> None:
    _, notices = run("places", "github", tmp_path / "out.jsonl")
    counted = [(notice.code, notice.count) for notice in notices]
    assert counted.count(("comment-not-inline", 1)) == 6 and ("suggestion-not-applicable", 1) in counted
    _, notices = run("places", "code_review_comments", tmp_path / "comments.jsonl")
    assert [(notice.code, notice.count) for notice in notices] == [("comment-without-hunk", 1)] * 4
    _, notices = run("places", "sarif", tmp_path / "log.sarif")
    assert {notice.code: notice.count for notice in notices} == {
        "comment-without-region": 4,
        "suggestion-not-applicable": 2,
    }

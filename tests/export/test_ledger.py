"""Each record is a row or a line of the ledger, whatever is in the file; the counts add up."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato_bridge.errors import BridgeError
from potato_bridge.export.dataset import export
from potato_bridge.export.options import Dialect, ExportOptions, ExportReport, Neutral, Unrated
from potato_bridge.export.rows import Head, Reason
from potato_bridge.export.tally import Tally
from tests.export.helpers import first_error, item, make_project, per_step, read_lines, record, write_lines

_VALUES = st.one_of(
    st.none(),
    st.sampled_from([first_error(0), first_error(None), first_error(1, 2), {"mode": "first_error"}, "text"]),
    st.lists(st.sampled_from([1.0, 0.25, 0, -1.0, None]), min_size=2, max_size=4).map(lambda labels: per_step(*labels)),
)
_FLAGS = st.lists(
    st.sampled_from([{"code": "x"}, {"code": "x", "scheme": "process_reward"}, {"code": "x", "scheme": "other"}]),
    max_size=2,
)


@st.composite
def _records(draw: st.DrawFn) -> dict[str, Any]:
    fields: dict[str, Any] = {"flags": draw(_FLAGS)}
    if status := draw(st.sampled_from([None, "submitted", "skipped", "draft", "withdrawn"])):
        fields["status"] = status
    if annotation := draw(st.sampled_from([None, 1, 2, "1"])):
        fields["source"] = {"backend": "label_studio", "annotation": annotation}
    ids = st.sampled_from(["a", "b", "blank", "gone", "lost"])
    return record(draw(ids), draw(st.sampled_from(["ann", "bob"])), draw(_VALUES), **fields)


@settings(deadline=None)
@given(
    records=st.lists(_records(), max_size=30),
    neutral=st.sampled_from(Neutral),
    unrated=st.sampled_from(Unrated),
)
def test_counts_add_up(records: list[dict[str, Any]], neutral: Neutral, unrated: Unrated) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = make_project(folder, [item("b"), {**item("blank"), "task": " "}, item("a")])
        source = write_lines(folder / "records.jsonl", records)
        options = ExportOptions(neutral=neutral, unrated=unrated, ledger=folder / "ledger.jsonl")
        report = export(project, source, "prm", folder / "out.jsonl", options)
        rows, ledger = read_lines(folder / "out.jsonl"), read_lines(folder / "ledger.jsonl")

    assert report.records_in == len(records) == report.rows + sum(report.reasons.values())
    assert report.rows == len(rows)
    assert report.reasons == Counter(line["reason"] for line in ledger)
    assert set(report.reasons) <= set(Reason)
    seen = [row["trace_id"] for row in rows] + [line["id"] for line in ledger]
    assert Counter(seen) == Counter(record["id"] for record in records)
    assert all(row["steps"] for row in rows)
    order = [row["trace_id"] for row in rows]
    assert order == sorted(order, key=["b", "blank", "a"].index)


def test_the_later_line_of_one_answer_stands(tmp_path: Path) -> None:
    lines = [
        record("a", "ann", first_error(0)),
        record("a", "bob", first_error(0)),
        record("a", "ann", first_error(2)),
        record("a", "bob", first_error(0), status="withdrawn"),
        record("a", "ann", first_error(None), source={"annotation": 5}),
        record("gone", "ann", first_error(0)),
        record("gone", "ann", first_error(0)),
    ]
    source = write_lines(tmp_path / "records.jsonl", lines)
    report = export(make_project(tmp_path, [item("a")]), source, "prm", tmp_path / "out.jsonl")
    labels = [[step["label"] for step in row["steps"]] for row in read_lines(tmp_path / "out.jsonl")]
    assert labels == [[1, 1, -1], [1, 1, 1]]
    assert report.reasons == {"superseded": 2, "status-withdrawn": 1, "unknown-item": 2}


def test_an_answer_without_a_value_says_what_was_flagged(tmp_path: Path) -> None:
    flags = [{"code": "step-out-of-range", "message": "step 9 of 3", "scheme": "process_reward"}]
    source = write_lines(tmp_path / "records.jsonl", [record("a", "ann", None, flags=flags)])
    report = export(make_project(tmp_path, [item("a")]), source, "prm", tmp_path / "out.jsonl")
    assert report.left_out == [
        {
            "id": "a",
            "annotator": "ann",
            "annotation": None,
            "reason": "no-answer",
            "message": "no answer to process_reward (step-out-of-range: step 9 of 3)",
        }
    ]


def test_books_that_do_not_add_up_are_an_error() -> None:
    tally = Tally([])
    tally.row(Head("a", "ann", None, demo=False))
    report = ExportReport("prm", Dialect.POTATO, Path("out.jsonl"))
    for records_in, rows in ((2, 1), (1, 0), (0, 1)):
        with pytest.raises(BridgeError, match="do not add up"):
            tally.settle(records_in, rows, report)
    tally.settle(1, 1, report)
    assert (report.records_in, report.rows, report.reasons) == (1, 1, {})

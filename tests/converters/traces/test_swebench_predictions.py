"""Predictions: every container, and what a patch may be."""

import json
from typing import Any

import pytest

from potato_bridge.converters.traces.inputs import file_source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.swebench_predictions import READER, join
from tests.converters.traces.helpers import CORPUS, check_counts, lines, read, source_of

PATCH = "diff --git a/a b/a\n"


def prediction(instance: str, patch: Any = PATCH, model: str = "m") -> dict[str, Any]:
    return {"instance_id": instance, "model_name_or_path": model, "model_patch": patch}


ROWS = [prediction("a__b-1"), prediction("a__b-2", None), prediction("a__b-3", "")]
KEYED = {row["instance_id"]: {key: row[key] for key in ("model_name_or_path", "model_patch")} for row in ROWS}


@pytest.mark.parametrize(
    "data", [lines(ROWS), json.dumps(ROWS).encode(), json.dumps(KEYED).encode()], ids=["lines", "array", "object"]
)
def test_containers(data: bytes) -> None:
    assert READER.score(source_of(data)) == 90
    traces = read(READER, source_of(data))
    for trace in traces:
        check_counts(trace)
        [step] = trace.steps
        assert step.flags.terminal and step.flags.ratable and not step.tool_calls
    assert [trace.task.id for trace in traces] == ["a__b-1", "a__b-2", "a__b-3"]
    # No patch, an empty one and one are three things; none is resolved.
    assert [trace.final_patch and trace.final_patch.text for trace in traces] == [PATCH, None, ""]
    assert [trace.outcome for trace in traces] == [None] * 3
    assert {trace.agent.model for trace in traces} == {"m"}


def test_ids_tell_models_and_attempts_apart() -> None:
    rows = [prediction("a"), prediction("a", model="n"), prediction("a", "other"), prediction("a")]
    ids = [trace.trace_id for trace in read(READER, lines(rows))]
    assert len(set(ids)) == 3 and ids[0] == ids[3]


def test_multi_swe_bench() -> None:
    [trace] = read(READER, lines([{"org": "o", "repo": "r", "number": 7, "fix_patch": PATCH}]))
    assert (trace.task.id, trace.task.repo) == ("o__r-7", "o/r")
    assert trace.final_patch is not None and trace.final_patch.text == PATCH


@pytest.mark.parametrize(("instance", "task"), [(7, "o__r-7"), (None, "o__r-7"), ("mine", "mine")])
def test_multi_swe_bench_with_an_id(instance: Any, task: str) -> None:
    row = {"org": "o", "repo": "r", "number": 7, "fix_patch": PATCH, "instance_id": instance}
    [trace] = read(READER, lines([row]))
    assert trace.task.id == task and trace.final_patch is not None and trace.final_patch.text == PATCH


def test_what_is_among_them_is_counted() -> None:
    report = Report()
    traces = list(READER.read(source_of(lines([ROWS[0], {"resolved_ids": []}]) + b"{cut"), report))
    assert len(traces) == 1 and report.skipped == {"no prediction": 1} and report.bad[0][0] == "made.jsonl:3"


def test_an_instance_gives_the_task_and_never_the_gold_patch() -> None:
    [trace] = read(READER, lines(ROWS[:1]))
    join(trace, {"problem_statement": "It fails", "repo": "a/b", "base_commit": "c", "patch": "gold"})
    assert (trace.task.text, trace.task.repo, trace.task.base_commit) == ("It fails", "a/b", "c")
    assert trace.final_patch is not None and trace.final_patch.text == PATCH


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
def test_real_predictions() -> None:
    """Golden, read by hand."""
    [trace] = read(READER, CORPUS / "swebench_predictions" / "sweagent_all_preds.jsonl")
    assert trace.task.id == "pydicom__pydicom-1458" and trace.final_patch is not None
    assert trace.final_patch.text.startswith("diff --git a/pydicom/pixel_data_handlers/numpy_handler.py")
    multi = read(READER, CORPUS / "openhands" / "multi_swe_bench_patch.jsonl")
    assert [one.task.id for one in multi] == ["ponylang__ponyc-4595", "ponylang__ponyc-4593", "ponylang__ponyc-4588"]
    known = {"sweagent_all_preds.jsonl", "multi_swe_bench_patch.jsonl"}
    others = [path for path in CORPUS.rglob("*") if path.is_file() and path.name not in known]
    assert [path.name for path in others if READER.score(file_source(path))] == []

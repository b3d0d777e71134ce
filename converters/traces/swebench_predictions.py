"""Predictions of SWE-bench and Multi-SWE-bench: a patch for an instance, and nothing of how it came about.

A trace of one step, the submission. The task is not in the file: `join` takes it from the instance.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from potato_bridge.converters.traces.build import Builder, patch_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import Ref, TextBlock, Trace

_MULTI = {"org", "repo", "number", "fix_patch"}


class SwebenchPredictions:
    """The reader."""

    name = "swebench_predictions"
    title = "SWE-bench predictions"

    def score(self, source: Source) -> int:
        """By the fields of each row."""
        rows = [row for value in source.head for row in _rows(value)]
        return 90 if rows and all(_is_prediction(row) for row in rows) else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each prediction."""
        for raw in source.records():
            if raw.bad is not None:
                report.fail(source, raw.bad, raw.line)
                continue
            for row in _rows(raw.value):
                if _is_prediction(row):
                    yield _trace(source, raw, row)
                else:
                    report.skip("no prediction")


def join(trace: Trace, instance: Mapping[str, Any]) -> None:
    """Fills the task of a trace from its instance; the gold `patch` is never taken."""
    task = trace.task
    if isinstance(text := instance.get("problem_statement"), str):
        task.text, task.text_origin = text, "instance"
    for key in ("repo", "base_commit"):
        if isinstance(value := instance.get(key), str):
            setattr(task, key, value)


def _rows(value: Any) -> list[Any]:
    """A row, or the rows of an object that has them by the instance's id."""
    if isinstance(value, dict) and value and not _is_prediction(value):
        inner = list(value.values())
        if all(isinstance(one, dict) for one in inner):
            # The id may stand in the key alone.
            return [{"instance_id": key, **one} for key, one in value.items()]
    return [value]


def _is_prediction(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    if row.keys() >= _MULTI:
        return True
    return isinstance(row.get("instance_id"), str) and "model_patch" in row and "model_name_or_path" in row


def _trace(source: Source, raw: Raw, row: Mapping[str, Any]) -> Trace:
    builder = Builder(source, SwebenchPredictions.name)
    builder.mapped(raw.notes)
    trace = builder.trace
    multi, instance = row.keys() >= _MULTI, row.get("instance_id")
    if multi:
        trace.task.repo = f"{row['org']}/{row['repo']}"
        trace.task.id = f"{row['org']}__{row['repo']}-{row['number']}"
    if isinstance(instance, str):
        trace.task.id = instance
    model = row.get("model_name_or_path")
    trace.agent.name = trace.agent.model = model if isinstance(model, str) else None
    patch = row.get("fix_patch" if multi else "model_patch")
    if isinstance(patch, str):
        trace.final_patch = patch_of(patch, "model_patch")
        if trace.final_patch.crlf_stripped:
            builder.loss("patch-crlf")
    ref = Ref(line=raw.line, ordinal=raw.ordinal if raw.line is None else None)
    step = builder.step("agent", "submission", ref=ref)
    step.flags.terminal = True
    if isinstance(full := row.get("full_output"), str) and full:
        step.blocks = [TextBlock(text=full)]
    return builder.finish(trace.task.id, trace.agent.model or "", patch if isinstance(patch, str) else repr(patch))


READER = SwebenchPredictions()

"""Reading traces in tests: from text, from files, and from the corpus where it is at hand."""

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from potato_bridge.converters.traces.inputs import Source, file_source
from potato_bridge.converters.traces.reader import Reader, Report
from potato_bridge.model.trace import Step, Trace

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus" / "traces"


def source_of(data: bytes, name: str = "made.jsonl") -> Source:
    """A source of these bytes."""
    return Source(name, lambda: io.BytesIO(data))


def lines(rows: Iterable[Any]) -> bytes:
    """JSON Lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read(reader: Reader, source: Source | Path | bytes) -> list[Trace]:
    """The traces of a source; a record that cannot be read is a failure."""
    report = Report()
    if isinstance(source, bytes):
        source = source_of(source)
    traces = list(reader.read(file_source(source) if isinstance(source, Path) else source, report))
    assert report.bad == []
    return traces


def read_one(reader: Reader, source: Source | Path | bytes) -> Trace:
    """Its only trace, whose counts add up."""
    [trace] = read(reader, source)
    check_counts(trace)
    return trace


def check_counts(trace: Trace) -> None:
    """Each record is mapped, an event, skipped or bad; positions and ids are sound."""
    counts = trace.source.records
    assert counts is not None
    assert counts.read == counts.mapped + counts.events + counts.skipped + counts.bad
    assert [step.index for step in trace.steps] == list(range(len(trace.steps)))
    ids = [step.step_id for step in trace.steps]
    assert len(set(ids)) == len(ids)
    calls = [call.call_id for step in trace.steps for call in step.tool_calls]
    assert len(set(calls)) == len(calls)


def calls_of(step: Step) -> list[tuple[str, str | None]]:
    """Name and result's text of each call."""
    return [(call.name, None if call.result is None else call.result.text) for call in step.tool_calls]

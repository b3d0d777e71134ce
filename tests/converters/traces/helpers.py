"""Reading traces in tests: from text, from files, and from the corpus where it is at hand."""

import io
import json
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

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


#: Values that may stand anywhere in a file that some program wrote.
ANYTHING = st.sampled_from([None, 0, -1, "", "x", [], {}, [1], {"a": None}, True])


def mutated(data: st.DataObject, valid: Any) -> Any:
    """A document with a few values replaced by others."""
    document = deepcopy(valid)
    for _ in range(data.draw(st.integers(1, 4))):
        place = document
        while isinstance(place, dict | list) and place:
            key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
            inner: Any = place[key]
            if not isinstance(inner, dict | list) or data.draw(st.integers(0, 3)) == 0:
                place[key] = deepcopy(data.draw(ANYTHING))
                break
            place = inner
    return document

"""Any record → Potato's state and our sidecar → the same record; and what the page alone can hold comes back too."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.potato.reward_blobs import merge, read_blob, read_rewards, rewards_of, write_blob
from potato_bridge.converters.potato.step_lists import StepList, StepLists
from potato_bridge.converters.potato.traces import to_trace
from potato_bridge.model import Project, Record, to_builtins
from potato_bridge.model.process_reward import FirstError, PerStep, StepDetail, parse
from potato_bridge.model.project import DataFile, DisplayField, TraceDisplay
from potato_bridge.notices import Notices
from tests.converters.potato_output.helpers import codes, make_project, plain, read_all, scheme, state_of, write
from tests.strategies import DETERMINISTIC, items, json_values, nodes, texts

scores = st.none() | st.sampled_from([1.0, -1.0, 0.5, -0.5, 0.25, 0.0]) | st.floats(-1e6, 1e6)
details = st.builds(
    StepDetail,
    label=st.none() | st.sampled_from(["correct", "incorrect", "recovery"]) | texts,
    error_category=st.none() | texts,
    notes=st.none() | texts,
    unknown=st.dictionaries(
        texts.filter(lambda key: key not in ("label", "error_category", "notes")), json_values, max_size=1
    ),
)


@st.composite
def per_steps(draw: st.DrawFn, total: int = 3) -> PerStep:
    labels = draw(st.lists(scores, min_size=total, max_size=total))
    return PerStep(labels=labels, step_details=draw(st.dictionaries(st.integers(0, total - 1), details)))


def first_errors(total: int = 3) -> st.SearchStrategy[FirstError]:
    steps = st.none() | st.integers(0, total - 1)
    return st.builds(lambda step: FirstError(first_error_step=step, total_steps=total), steps)


answers = per_steps() | first_errors()


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    """Records with every field set, of different annotators or items, so that all of them have a place."""
    pairs = st.tuples(st.sampled_from("abc"), st.sampled_from(["ann", "Ann", "a b", "ü", "../x"]) | texts)
    made = []
    for item, annotator in draw(st.lists(pairs, max_size=4, unique=True)):
        record: Record = draw(nodes(Record))
        record.id, record.annotator, record.status, record.schema = item, annotator, "submitted", 1
        record.annotations = {
            "rewards": draw(answers).to_json(),
            **draw(st.dictionaries(texts, json_values, max_size=1)),
        }
        record.unknown = {key: value for key, value in record.unknown.items() if key != "rewards"}
        made.append(record)
    return made


@DETERMINISTIC
@given(records(), st.sampled_from(["first_error", "per_step"]), st.booleans())
def test_record_to_state_and_sidecar_and_back(made: list[Record], mode: str, neutral: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(Path(folder), scheme(mode, allow_neutral=neutral and mode == "per_step"))
        report, _ = write(project, *made)
        assert report.written == report.records_in == len(made)
        if not made:
            return
        read, notices = read_all(project)
        assert sorted(plain(read), key=str) == sorted(plain(made), key=str)
        assert "page-changed-answer" not in codes(notices)
        # And once more: nothing to do, nothing that changes.
        states = {user: state_of(project, user) for user in report.users}
        again, _ = write(project, *read)
        assert (again.unchanged, again.files) == (len(made), [])
        assert {user: state_of(project, user) for user in report.users} == states


@st.composite
def step_lists(draw: st.DrawFn) -> StepList:
    mask = draw(st.lists(st.booleans(), max_size=8))
    return StepList(len(mask), tuple(position for position, ratable in enumerate(mask) if ratable))


@DETERMINISTIC
@given(st.data(), step_lists(), st.booleans())
def test_value_to_blob_and_back(data: st.DataObject, steps: StepList, neutral: bool) -> None:
    """What the page can hold comes back from the blob alone; of all else the sign does."""
    kind = scheme("per_step", allow_neutral=neutral)
    total = len(steps.ratable)
    answer = data.draw(per_steps(total) if total else st.just(PerStep(labels=[])))
    blob = read_blob(write_blob(answer, steps, kind), kind)
    reading = read_rewards(blob, steps, kind)
    assert reading.flags == [] and len(blob.rewards) == steps.total
    read = parse(reading.value)
    assert isinstance(read, PerStep)
    assert rewards_of(read, kind) == rewards_of(answer, kind)
    # A page that changed nothing takes nothing away.
    merged, changed = merge(answer, rewards_of(answer, kind), kind)
    assert (to_builtins(merged), changed) == (to_builtins(answer), [])

    if total:
        first = data.draw(first_errors(total))
        reading = read_rewards(read_blob(write_blob(first, steps, scheme()), scheme()), steps, scheme())
        assert (reading.value, reading.flags, reading.on_other_turn) == (first.to_json(), [], False)


@DETERMINISTIC
@given(items(), st.sampled_from([None, "coding_trace", "dialogue"]))
def test_the_positions_are_those_of_the_trace(item: Any, display: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "items.json"
        # An item without any step to rate is refused.
        item.data["steps"].append({"role": "assistant", "content": "x"})
        data.write_text(json.dumps([item.data]), encoding="utf-8")
        kind = scheme("per_step")
        kind.steps_key = "steps"
        fields = [DisplayField(key="steps", type=display, trace=TraceDisplay())] if display else []
        project = Project(
            name="p",
            config=Path(folder) / "c.yaml",
            task_dir=Path(folder),
            id_key="id",
            text_key="task",
            output_dir=Path(folder) / "out",
            data_files=[DataFile(path=data, format="json")],
            fields=fields,
            schemes=[kind],
        )
        steps = StepLists(project).of("i1", kind, project)
        trace = to_trace(item, project, Notices())
        assert steps is not None and steps.total == len(trace.steps)
        assert list(steps.ratable) == [step.refs[0].ordinal for step in trace.ratable()]

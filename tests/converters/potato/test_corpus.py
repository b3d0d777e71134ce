"""Real Potato projects, where the corpus is at hand (it is not part of the repository: Potato is GPL)."""

from pathlib import Path

import pytest

from potato_bridge.converters.potato.config import read_project
from potato_bridge.converters.potato.items import read_items
from potato_bridge.converters.potato.traces import to_item, to_trace
from potato_bridge.model import Trace, decode, encode
from potato_bridge.notices import Notices

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus" / "potato"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")

#: Study: items; of the first one: entries of the step list, steps to rate, calls, edits.
STUDIES = {
    "code_review": (3, (5, 4)),
    "general_types": (2, (3, 2)),
    "prm_first_error": (3, (5, 4)),
    "prm_first_error_inline": (3, (5, 4)),
    "prm_per_step": (3, (5, 4)),
    "prm_per_step_inline": (3, (5, 4)),
    "prm_per_step_neutral": (3, (5, 4)),
    "span": (3, (0, 0)),
    "trajectory_edit": (None, (3, 3)),
    "writeback_combined": (3, (3, 2)),
}


@pytest.mark.parametrize("study", STUDIES)
def test_a_real_project_reads_and_writes_back(study: str) -> None:
    count, (entries, ratable) = STUDIES[study]
    notices = Notices()
    project = read_project(CORPUS / study / "config.yaml", notices)
    # Nothing in a real config is unknown.
    assert {notice.code for notice in notices} <= {"scheme-not-supported", "deprecated-key", "no-key"}
    items = list(read_items(project, notices))
    assert count is None or len(items) == count
    traces = [to_trace(item, project, notices) for item in items]
    assert (len(traces[0].steps), len(traces[0].ratable())) == (entries, ratable)
    for item, trace in zip(items, traces, strict=True):
        assert list(to_item(trace).items()) == list(item.data.items())
        assert decode(Trace, encode(trace)) == trace
    assert not [notice for notice in notices if notice.code == "unpaired-result"]


def test_the_steps_of_a_real_session() -> None:
    project = read_project(CORPUS / "prm_first_error" / "config.yaml", Notices())
    item = next(read_items(project, Notices()))
    trace = to_trace(item, project, Notices())
    assert trace.task.text == item.data["task_description"]
    calls = [call for step in trace.steps for call in step.tool_calls]
    assert {call.family for call in calls} >= {"read", "edit", "shell"}
    (edit,) = next(call.edits for call in calls if call.name == "Edit")
    assert edit.op == "modify" and edit.path == calls[0].arguments["file_path"]  # type: ignore[index]
    # What the hunk takes away and leaves is the old text; what it adds and leaves is the new one.
    call = next(call for call in calls if call.name == "Edit")
    assert call.arguments is not None
    lines = [line for hunk in edit.hunks for line in hunk.lines]
    removed = [line[1:] for line in lines if line[0] == "-"]
    assert removed and all(line in call.arguments["old_string"].split("\n") for line in removed)

"""ATIF: by the rules, and as it is found."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.atif import READER
from potato_bridge.converters.traces.inputs import file_source
from potato_bridge.converters.traces.reader import Report
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, lines, mutated, read, read_one, source_of
from tests.strategies import DETERMINISTIC

CHILD: dict[str, Any] = {
    "schema_version": "ATIF-v1.8",
    "trajectory_id": "child",
    "agent": {"name": "sub"},
    "steps": [{"step_id": 1, "source": "agent", "message": "I read."}],
}
DOCUMENT: dict[str, Any] = {
    "schema_version": "ATIF-v1.8",
    "session_id": "sess",
    "trajectory_id": "traj",
    "agent": {"name": "a", "version": "1", "model_name": "m", "tool_definitions": [{"x": 1}]},
    "steps": [
        {"step_id": 1, "source": "system", "message": "You are"},
        {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Fix <b>it</b>"}]},
        {"step_id": 3, "source": "agent", "message": "before", "is_copied_context": True},
        {
            "step_id": 4,
            "timestamp": "2026-01-01T00:00:00Z",
            "source": "agent",
            "model_name": "m2",
            "reasoning_effort": "high",
            "reasoning_content": "Hm.",
            "message": "I look.",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "ls", "arguments": {"path": "."}},
                {"tool_call_id": "c2", "function_name": "task", "arguments": {}},
                {"tool_call_id": "c3", "function_name": "none", "arguments": {}},
            ],
            "observation": {
                "results": [
                    {
                        "source_call_id": "c2",
                        "content": "done",
                        "subagent_trajectory_ref": [{"trajectory_id": "child"}],
                    },
                    {"source_call_id": "c1", "content": ""},
                    {"source_call_id": None, "content": "beside"},
                ]
            },
            "metrics": {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 4, "cost_usd": 0.1},
        },
        {"step_id": 5, "source": "agent", "message": "Done."},
    ],
    "final_metrics": {"total_prompt_tokens": 9, "total_cost_usd": 0.25},
    "subagent_trajectories": [CHILD],
    "notes": "n",
}


def data(document: Any) -> bytes:
    return json.dumps(document).encode()


def test_a_trajectory() -> None:
    trace = read_one(READER, data(DOCUMENT))
    assert [(step.kind, step.step_id, step.flags.ratable) for step in trace.steps] == [
        ("system", "1", False),
        ("user", "2", False),
        ("agent", "3", False),
        ("agent", "4", True),
        ("agent", "5", True),
    ]
    step = trace.steps[3]
    assert (step.text(), step.reasoning(), step.model, step.effort) == ("I look.", "Hm.", "m2", "high")
    assert trace.steps[2].flags.copied_context
    # An empty result is one; none is none.
    assert calls_of(step) == [("ls", ""), ("task", "done"), ("none", None)]
    assert [one.text for one in step.observations] == ["beside"]
    assert step.usage is not None and (step.usage.input, step.usage.cache_read) == (9, 4)
    assert trace.usage is not None and (trace.usage.input, trace.usage.output) == (9, None) and trace.cost_usd == 0.25
    [child] = trace.children
    assert child.parent is not None and (child.parent.step_id, child.parent.call_id) == ("4", "c2")
    assert step.tool_calls[1].child_trace_id == child.trace_id and child.steps[0].text() == "I read."
    check_counts(child)
    assert (trace.agent.name, trace.agent.model, trace.agent.system_prompt) == ("a", "m", "You are")
    assert trace.task.text == "Fix <b>it</b>" and trace.extra == {"notes": "n"}
    assert trace.steps[4].flags.terminal and trace.source.format_version == "ATIF-v1.8"


def test_what_is_found_in_the_wild() -> None:
    document = {
        "schema_version": "1.4",
        "agent": {"model": "m"},
        "steps": [
            {"step_id": 1, "source": "human", "message": "Go"},
            {
                "step_id": 1,
                "source": "assistant",
                "message": None,
                "tool_calls": [{"id": "x", "name": "ls", "arguments": {}}],
                "observation": {"results": [{"source_call_id": "x", "content": "y"}]},
            },
        ],
    }
    assert READER.score(source_of(data(document))) == 80
    trace = read_one(READER, data(document))
    assert [step.kind for step in trace.steps] == ["environment", "agent"]
    assert calls_of(trace.steps[1]) == [("ls", "y")] and trace.agent.model == "m"
    assert [(loss.code, loss.where) for loss in trace.source.losses] == [
        ("unknown-source", "human"),
        ("unknown-source", "assistant"),
        ("reused-step-id", "1"),
    ]


def test_one_a_line_and_rewards_of_a_trial(tmp_path: Path) -> None:
    assert [len(trace.steps) for trace in read(READER, lines([DOCUMENT, CHILD]))] == [5, 1]
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "trajectory.json").write_bytes(data(DOCUMENT))
    result = {"task_name": "fix", "verifier_result": {"rewards": {"reward": 1.0}}, "exception_info": None}
    (tmp_path / "result.json").write_bytes(data(result))
    trace = read_one(READER, tmp_path / "agent" / "trajectory.json")
    # A reward is a score; what it takes to be resolved is not said.
    assert trace.outcome is not None and (trace.outcome.score, trace.outcome.resolved) == (1.0, None)
    assert trace.task.id == "fix"


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_in_a_trajectory(given_data: st.DataObject) -> None:
    document = mutated(given_data, DOCUMENT)
    for trace in READER.read(source_of(data(document)), Report()):
        check_counts(trace)
        assert trace.source.records is not None
        assert trace.source.records.read == len(document["steps"])


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
class TestReal:
    @pytest.mark.parametrize("path", sorted(CORPUS.glob("atif/*.json")), ids=lambda path: path.name[:12])
    def test_counts(self, path: Path) -> None:
        document = json.loads(path.read_text())
        trace = read_one(READER, path)
        assert len(trace.steps) == len(document["steps"])
        calls = [call for step in trace.steps for call in step.tool_calls]
        assert len(calls) == sum(len(step.get("tool_calls", ())) for step in document["steps"])
        results = sum(len(step.get("observation", {}).get("results", ())) for step in document["steps"])
        loose = sum(len(step.observations) for step in trace.steps)
        assert loose + sum(call.result is not None for call in calls) == results

    def test_steps_read_by_hand(self) -> None:
        trace = read_one(READER, CORPUS / "atif" / "openagents_login_trace.json")
        first, last = trace.ratable()[0], trace.ratable()[-1]
        assert (first.text(), calls_of(first)) == ("navigate to /login", [("navigate", "ok: navigate to /login")])
        assert first.reasoning() == 'Chose action "navigate" against /login; outcome ok.'
        assert len(trace.ratable()) == 6 and last.index == 6
        assert (trace.task.text or "").startswith("Verify the login page works on this site")

    def test_no_other_file_is_taken_for_one(self) -> None:
        others = [path for path in CORPUS.rglob("*") if path.is_file() and "atif" not in path.parts]
        assert [path.name for path in others if READER.score(file_source(path))] == []

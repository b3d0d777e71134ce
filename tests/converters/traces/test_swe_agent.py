"""SWE-agent's trajectories, made by hand and real ones."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.inputs import file_source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.swe_agent import READER
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, mutated, read_one, source_of
from tests.strategies import DETERMINISTIC

CALL = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
HISTORY = [
    {"role": "system", "content": "You are", "message_type": "system_prompt"},
    {"role": "user", "content": "A demonstration", "is_demo": True},
    {"role": "assistant", "content": "Shown", "is_demo": True, "thought": "Shown", "action": "ls"},
    {"role": "user", "content": [{"type": "text", "text": "Fix </script> $& it"}], "message_type": "observation"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [CALL],
        "message_type": "action",
        "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
    },
    {"role": "tool", "content": "a.py\n(Open file: n/a)", "tool_call_ids": ["c"], "message_type": "observation"},
    {"role": "assistant", "content": "Done.", "message_type": "action"},
    {"role": "tool", "content": "", "message_type": "observation"},
]
DOCUMENT: dict[str, Any] = {
    "environment": "main",
    "trajectory": [
        {
            "action": "ls",
            "observation": "a.py",
            "response": "I look.",
            "thought": "I look.",
            "execution_time": 0.25,
            "state": '{"working_dir": "/r"}',
            "query": [{"role": "system", "content": "You are"}],
        },
        {"action": "submit", "observation": "", "response": "Done.", "thought": "Done.", "state": {}},
    ],
    "history": HISTORY,
    "info": {
        "exit_status": "submitted",
        "submission": "\r\ndiff --git a/a b/a\r\n--- a/a\r\n+++ b/a\r\n@@ -1 +1 @@\r\n-x\r\n+y\r\n",
        "model_stats": {"instance_cost": 0.5, "tokens_sent": 10, "tokens_received": 2},
        "swe_agent_version": "1.1.0",
    },
    "replay_config": json.dumps(
        {
            "agent": {"model": {"name": "gpt"}},
            "problem_statement": {"id": "a__b-1", "text": "It fails"},
            "env": {"repo": {"base_commit": "abc"}},
        }
    ),
}


def data(document: Any) -> bytes:
    return json.dumps(document).encode()


def test_a_run() -> None:
    trace = read_one(READER, data(DOCUMENT))
    assert [(step.kind, step.text(), step.flags.demo, step.flags.ratable) for step in trace.steps] == [
        ("system", "You are", False, False),
        ("user", "A demonstration", True, False),
        ("agent", "Shown", True, False),
        ("user", "Fix </script> $& it", False, False),
        ("agent", "I look.", False, True),
        ("agent", "Done.", False, True),
    ]
    first, last = trace.ratable()
    assert first.reasoning() == "Hm." and first.extra == {"state": {"working_dir": "/r"}}
    [call] = first.tool_calls
    assert (call.name, call.arguments, call.call_id) == ("bash", {"command": "ls"}, "c")
    assert call.result is not None and (call.result.text, call.result.duration_ms) == ("a.py", 250.0)
    assert [(one.name, one.family, one.arguments) for one in last.tool_calls] == [
        ("bash", "submit", {"command": "submit"})
    ]
    assert calls_of(last) == [("bash", "")] and last.flags.terminal and not first.flags.terminal
    assert (trace.task.id, trace.task.text, trace.task.base_commit) == ("a__b-1", "It fails", "abc")
    assert (trace.agent.name, trace.agent.model, trace.agent.version) == ("SWE-agent", "gpt", "1.1.0")
    assert trace.agent.system_prompt == "You are" and trace.cost_usd == 0.5
    assert trace.outcome is not None
    # Submitted is not resolved.
    assert (trace.outcome.exit_status, trace.outcome.resolved) == ("submitted", None)
    patch = trace.final_patch
    assert patch is not None and patch.crlf_stripped and patch.text_raw == DOCUMENT["info"]["submission"]
    assert patch.text == "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"
    assert trace.source.records is not None and trace.source.records.mapped == len(HISTORY) + 2
    assert trace.trace_id.startswith("a__b-1-")


def test_calls_at_once_have_results_of_their_own() -> None:
    document = deepcopy(DOCUMENT)
    document["history"][4]["tool_calls"] = [CALL, {**CALL, "id": "d"}]
    document["history"].insert(6, {"role": "tool", "content": "second", "tool_call_ids": ["d"]})
    trace = read_one(READER, data(document))
    assert calls_of(trace.ratable()[0]) == [("bash", "a.py\n(Open file: n/a)"), ("bash", "second")]


def test_answers_that_the_trajectory_does_not_have_are_steps() -> None:
    more = [
        {"role": "assistant", "content": "Once more.", "tool_calls": [{**CALL, "id": "e"}], "message_type": "action"},
        {"role": "tool", "content": "b.py", "tool_call_ids": ["e"], "message_type": "observation"},
        {"role": "assistant", "content": "And", "action": "pwd", "message_type": "action"},
        {"role": "user", "content": "/r", "message_type": "observation"},
        {"role": "user", "content": "Your time is up."},
    ]
    trace = read_one(READER, data({**DOCUMENT, "history": [*HISTORY, *more]}))
    [*_, first, last] = trace.ratable()
    assert (first.text(), calls_of(first)) == ("Once more.", [("bash", "b.py")])
    assert (last.text(), calls_of(last)) == ("And", [("bash", "/r")])
    assert [one.text for one in last.observations] == ["Your time is up."]
    assert len(trace.ratable()) == 4
    assert trace.source.records is not None and trace.source.records.mapped == len(HISTORY) + len(more) + 2


def test_numbers_that_nothing_holds() -> None:
    document = deepcopy(DOCUMENT)
    document["info"]["model_stats"] = {"instance_cost": 10**400, "tokens_sent": 10**400}
    document["trajectory"][0]["execution_time"] = 10**400
    trace = read_one(READER, data(document))
    assert trace.cost_usd is None and trace.usage is None
    assert [call.result and call.result.duration_ms for call in trace.ratable()[0].tool_calls] == [None]


def test_a_demonstration_is_a_history_alone() -> None:
    trace = read_one(READER, data({"history": [HISTORY[0], *HISTORY[3:6]]}))
    assert [step.kind for step in trace.steps] == ["system", "user", "agent"]
    assert calls_of(trace.steps[2]) == [("bash", "a.py\n(Open file: n/a)")]
    assert trace.task.text == "Fix </script> $& it" and trace.final_patch is None and trace.outcome is None


@pytest.mark.parametrize(
    ("info", "patch"), [({}, None), ({"submission": None}, None), ({"submission": ""}, ""), ({"submission": "\n"}, "")]
)
def test_no_submission_is_not_an_empty_one(info: dict[str, Any], patch: str | None) -> None:
    trace = read_one(READER, data({**DOCUMENT, "info": info}))
    assert (trace.final_patch and trace.final_patch.text) == patch
    assert trace.usage is None and trace.cost_usd is None


def test_two_runs_of_a_task_are_two_traces() -> None:
    other = {**DOCUMENT, "environment": "other"}
    assert read_one(READER, data(DOCUMENT)).trace_id == read_one(READER, data(DOCUMENT)).trace_id
    assert read_one(READER, data(DOCUMENT)).trace_id != read_one(READER, data(other)).trace_id


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_in_a_document(given_data: st.DataObject) -> None:
    document = mutated(given_data, DOCUMENT)
    for trace in READER.read(source_of(data(document)), Report()):
        check_counts(trace)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
class TestReal:
    @pytest.mark.parametrize("path", sorted(CORPUS.glob("sweagent/*.traj")), ids=lambda path: path.name[:20])
    def test_counts(self, path: Path) -> None:
        document = json.loads(path.read_text())
        history = document["history"]
        answers = [one for one in history if one["role"] == "assistant" and not one.get("is_demo")]
        trace = read_one(READER, path)
        assert len(trace.ratable()) == len(document.get("trajectory") or answers) == len(answers)
        calls = [call for step in trace.steps for call in step.tool_calls]
        assert len(calls) == sum(len(one.get("tool_calls") or [1]) for one in answers)
        assert all(call.result is not None for call in calls)
        assert trace.source.records is not None
        assert trace.source.records.read == len(history) + len(document.get("trajectory") or [])

    def test_the_first_and_the_last_step_of_an_old_run(self) -> None:
        """Golden, read by hand."""
        trace = read_one(READER, CORPUS / "sweagent" / "v0.7_pydicom__pydicom-1458.traj")
        first, last = trace.ratable()[0], trace.ratable()[-1]
        assert first.text().startswith("First, I'll create a new Python script to reproduce the bug")
        assert first.tool_calls[0].arguments == {"command": "create reproduce_bug.py\n"}
        assert calls_of(first)[0][1] == "[File: /pydicom__pydicom/reproduce_bug.py (1 lines total)]\n1:\n"
        assert last.tool_calls[0].arguments == {"command": "submit\n"} and last.flags.terminal
        assert trace.usage is not None and (trace.usage.input, trace.usage.output) == (122612, 1369)
        assert trace.cost_usd == 1.26719 and trace.final_patch is not None
        assert trace.final_patch.text.startswith("diff --git a/pydicom/pixel_data_handlers/numpy_handler.py")
        assert trace.task.text is not None and trace.task.text.startswith("We're currently solving the following issue")
        assert [step.flags.demo for step in trace.steps[:3]] == [False, True, False]

    def test_the_first_and_the_last_step_of_a_new_run(self) -> None:
        """Golden, read by hand."""
        path = CORPUS / "sweagent" / "v1_marshmallow_function_calling_replace.traj"
        trace = read_one(READER, path)
        first, last = trace.ratable()[0], trace.ratable()[-1]
        assert first.text().startswith("Let's list out some of the files in the repository")
        assert (first.tool_calls[0].name, first.tool_calls[0].arguments) == ("bash", {"command": "ls -F"})
        assert (last.text(), last.tool_calls[0].name) == ("Calling `submit` to submit.", "submit")
        assert trace.final_patch is not None and trace.final_patch.crlf_stripped
        assert "\r" not in trace.final_patch.text
        assert trace.task.id == "marshmallow-code__marshmallow-1867"

    def test_no_other_file_is_taken_for_one(self) -> None:
        others = [path for path in CORPUS.rglob("*") if path.is_file() and "sweagent" not in path.parts]
        assert len(others) > 30
        assert [path.name for path in others if READER.score(file_source(path))] == []

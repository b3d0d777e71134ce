"""Traces as ATIF: by its rules, and back from it."""

import json
from copy import deepcopy
from typing import Any

import pytest
from atif import Trajectory
from hypothesis import given, settings
from hypothesis import strategies as st

from potato_bridge.converters.traces._difference import MisfitError, difference, patched
from potato_bridge.converters.traces.atif import READER
from potato_bridge.converters.traces.convert import Choice, Outcome, read_traces
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.write.atif import to_atif
from potato_bridge.model.node import encode
from potato_bridge.model.trace import (
    Agent,
    CallBlock,
    DocumentBlock,
    Flags,
    ImageBlock,
    Parent,
    Patch,
    ReasoningBlock,
    RedactedReasoningBlock,
    Ref,
    Result,
    Step,
    TextBlock,
    ToolCall,
    Trace,
    TraceSource,
    Usage,
)
from tests.converters.traces.helpers import CORPUS, mutated, source_of
from tests.converters.traces.test_atif import DOCUMENT
from tests.strategies import DETERMINISTIC, json_values, runs, traces

EMBEDDED = "data:image/png;base64,AAAA"


def made() -> Trace:
    """A run with a sub-agent, parallel calls and images."""
    calls = [
        ToolCall(call_id="a", name="Task", family="agent", arguments={"p": None}, child_trace_id="t:x"),
        ToolCall(
            call_id="b", name="Bash", arguments_raw="{broken", result=Result(text="", is_error=False, exit_code=0)
        ),
        ToolCall(
            call_id="c",
            name="Shot",
            arguments={},
            result=Result(text="$&", blocks=[TextBlock(text="$&"), ImageBlock(uri="s/1.png"), ImageBlock(sha256="f")]),
        ),
    ]
    child = Trace(
        trace_id="t:x",
        parent=Parent(step_id="m1", call_id="a"),
        steps=[Step(step_id="c1", index=0, blocks=[TextBlock(text="I read.")])],
    )
    steps = [
        Step(step_id="u", index=0, kind="user", model="odd", blocks=[ImageBlock(uri=EMBEDDED), TextBlock(text="See")]),
        Step(step_id="z", index=1, kind="compaction", blocks=[TextBlock(text="All so far")], tool_calls=[calls[1]]),
        Step(
            step_id="m1",
            index=2,
            role="assistant",
            started_at="2026-01-02T03:04:05.678Z",
            model="m2",
            effort="high",
            blocks=[
                ReasoningBlock(text="Hm.", signature="sig"),
                TextBlock(text="I look."),
                CallBlock(call_id="a"),
                RedactedReasoningBlock(data="x"),
                ReasoningBlock(text="So."),
                TextBlock(text=""),
            ],
            tool_calls=calls,
            observations=[Result(text="beside", is_error=True)],
            usage=Usage(input=0, output=7, reasoning=3),
            flags=Flags(ratable=True),
            refs=[Ref(line=4)],
            native={"raw": [1, None]},
        ),
        Step(step_id="m3", index=3, started_at="yesterday", blocks=[DocumentBlock(title="a.pdf")]),
        Step(
            step_id="d", index=4, kind="agent", flags=Flags(copied_context=True), blocks=[TextBlock(text="</script>")]
        ),
    ]
    return Trace(
        trace_id="t",
        source=TraceSource(format="claude_code", uri="t.jsonl"),
        agent=Agent(name="claude", model="m1", system_prompt="You are", tool_definitions=["odd"], config={"x": None}),
        steps=steps,
        children=[child],
        final_patch=Patch(text="+x"),
        usage=Usage(input=10, output=0, cache_read=4, cache_write=5),
        cost_usd=0.5,
        extra={"events": [{"type": "x"}], "notes": {"no": "text"}},
    )


def document_of(trace: Trace) -> dict[str, Any]:
    """Its ATIF, after it was a file."""
    document: dict[str, Any] = json.loads(encode(to_atif(trace)))
    return document


def back(document: Any) -> Trace:
    [trace] = READER.read(source_of(json.dumps(document).encode()), Report())
    return trace


def through_models(document: Any) -> dict[str, Any]:
    """What a program makes of it that reads and writes with ATIF's own models, which refuse what breaks a rule."""
    read: dict[str, Any] = Trajectory.model_validate(document).to_json_dict()
    return read


def bare(value: Any) -> Any:
    """A document without what the bridge keeps for itself."""
    if isinstance(value, list):
        return [bare(one) for one in value]
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items() if key != "extra" or "potato_bridge" not in one}
    return value


def test_a_document() -> None:
    """Golden, by hand."""
    trace = made()
    assert bare(document_of(trace)) == {
        "schema_version": "ATIF-v1.8",
        "trajectory_id": "t",
        # ATIF wants a version, and tool definitions that are objects.
        "agent": {"name": "claude", "version": "unknown", "model_name": "m1", "extra": {"x": None}},
        "steps": [
            {
                "step_id": 1,
                "source": "user",
                "message": [{"type": "text", "text": "[image image/png]"}, {"type": "text", "text": "See"}],
            },
            # Only an agent's step may have calls.
            {"step_id": 2, "source": "system", "message": "All so far"},
            {
                "step_id": 3,
                "timestamp": "2026-01-02T03:04:05.678Z",
                "source": "agent",
                "model_name": "m2",
                "reasoning_effort": "high",
                "reasoning_content": "Hm.\nSo.",
                "message": [{"type": "text", "text": "I look."}, {"type": "text", "text": ""}],
                "tool_calls": [
                    {"tool_call_id": "a", "function_name": "Task", "arguments": {"p": None}},
                    {"tool_call_id": "b", "function_name": "Bash", "arguments": {}},
                    {"tool_call_id": "c", "function_name": "Shot", "arguments": {}},
                ],
                "observation": {
                    "results": [
                        {"source_call_id": "a", "subagent_trajectory_ref": [{"trajectory_id": "t:x"}]},
                        {"source_call_id": "b", "content": ""},
                        {
                            "source_call_id": "c",
                            "content": [
                                {"type": "text", "text": "$&"},
                                {"type": "image", "source": {"media_type": "image/png", "path": "s/1.png"}},
                                {"type": "text", "text": "[image]"},
                            ],
                        },
                        {"content": "beside"},
                    ]
                },
                "metrics": {"prompt_tokens": 0, "completion_tokens": 7},
            },
            # No time that ATIF allows.
            {"step_id": 4, "source": "agent", "message": "[document a.pdf]"},
            {"step_id": 5, "source": "agent", "message": "</script>", "is_copied_context": True},
        ],
        "final_metrics": {
            "total_prompt_tokens": 10,
            "total_completion_tokens": 0,
            "total_cached_tokens": 4,
            "total_cost_usd": 0.5,
            "total_steps": 5,
        },
        "subagent_trajectories": [
            {
                "schema_version": "ATIF-v1.8",
                "trajectory_id": "t:x",
                "agent": {"name": "unknown", "version": "unknown"},
                "steps": [{"step_id": 1, "source": "agent", "message": "I read."}],
                "final_metrics": {"total_steps": 1},
            }
        ],
    }
    assert back(document_of(trace)) == trace == made()
    assert back(through_models(document_of(trace))) == trace


def test_what_is_embedded_stands_in_the_extra_alone() -> None:
    document = document_of(made())
    kept = json.dumps(document["steps"][0]["extra"]["potato_bridge"])
    assert json.dumps(document).count(EMBEDDED) == kept.count(EMBEDDED) == 1
    # Also one whose kind is told.
    image = ImageBlock(uri=EMBEDDED, mime="image/png", alt="a cat")
    trace = Trace(trace_id="t", steps=[Step(step_id="s", index=0, blocks=[image])])
    assert document_of(trace)["steps"][0]["message"] == "[image a cat]" and back(document_of(trace)) == trace


def test_nothing_is_said_twice() -> None:
    text = "long " * 1000
    trace = Trace(
        trace_id="t",
        steps=[
            Step(
                step_id="m",
                index=0,
                blocks=[ReasoningBlock(text=text), TextBlock(text=text), CallBlock(call_id="a")],
                tool_calls=[ToolCall(call_id="a", name="x", arguments={"a": text}, result=Result(text=text))],
            )
        ],
    )
    assert encode(to_atif(trace)).count(text.encode()) == 4


@settings(DETERMINISTIC, max_examples=50)
@given(traces)
def test_any_trace_comes_back(trace: Trace) -> None:
    document = to_atif(trace)
    assert back(document) == trace
    assert back(through_models(document)) == trace


@settings(DETERMINISTIC, max_examples=100)
@given(runs())
def test_runs_whose_ids_come_again_come_back(trace: Trace) -> None:
    was = encode(trace)
    document = to_atif(trace)
    assert encode(trace) == was
    assert back(document) == trace
    # Another program may order keys anew.
    assert back(json.loads(json.dumps(through_models(document), sort_keys=True))) == trace


# --- documents that others have changed since -----------------------------------------------------------------------


def losses(trace: Trace) -> list[tuple[str, str | None]]:
    return [(loss.code, loss.where) for loss in trace.source.losses]


def test_notes_and_extras_of_others_do_no_harm() -> None:
    document = document_of(made())
    document["extra"]["other"] = document["steps"][2]["extra"]["other"] = {"k": None}
    document["session_id"] = None
    trace = back(document)
    assert trace.extra["extra"] == trace.steps[2].extra["extra"] == {"other": {"k": None}}
    del trace.extra["extra"], trace.steps[2].extra["extra"]
    assert trace == made() and losses(trace) == []
    # And they are written again.
    trace = back(document)
    assert document_of(trace)["extra"]["other"] == {"k": None} and back(document_of(trace)) == trace


def test_a_step_that_has_changed_is_read_as_it_is_now() -> None:
    document = document_of(made())
    document["steps"][2]["message"] = "I look elsewhere."
    trace = back(document)
    assert losses(trace) == [("stale-extra", "3")]
    step = trace.steps[2]
    assert (step.step_id, step.text(), step.reasoning()) == ("3", "I look elsewhere.", "Hm.\nSo.")
    assert [call.call_id for call in step.tool_calls] == ["a", "b", "c"] and step.native is None
    # The call still names its sub-agent, and the others are as they were.
    assert step.tool_calls[0].child_trace_id == "t:x" and trace.children == made().children
    assert trace.steps[:2] + trace.steps[3:] == made().steps[:2] + made().steps[3:]
    assert trace.final_patch == made().final_patch


def test_a_null_is_a_value_among_arguments() -> None:
    document = document_of(made())
    document["steps"][2]["tool_calls"][0]["arguments"] = {}
    trace = back(document)
    assert losses(trace) == [("stale-extra", "3")] and trace.steps[2].tool_calls[0].arguments == {}


def test_what_was_changed_to_read_it_is_said() -> None:
    document = document_of(made())
    document["extra"]["other"] = float("nan")
    trace = back(document)
    assert losses(trace) == [("not-a-number", None)] and trace.steps == made().steps


def test_a_new_step_whose_id_is_anothers() -> None:
    trace = Trace(trace_id="t", steps=[Step(step_id="2", index=0), Step(step_id="s", index=1)])
    document = document_of(trace)
    document["steps"][1] = {"step_id": 2, "source": "user", "message": "More"}
    again = back(document)
    assert [step.step_id for step in again.steps] == ["2", "2~1"] and again.steps[0] == trace.steps[0]


def test_steps_that_were_left_out_and_added() -> None:
    document = document_of(made())
    del document["steps"][1]
    document["steps"].append({"step_id": 4, "source": "agent", "message": "Done."})
    document["steps"].append({"step_id": 5, "source": "agent", "message": "Twice", "observation": None})
    for number, step in enumerate(document["steps"], 1):
        step["step_id"] = number
    trace = back(document)
    assert [step.index for step in trace.steps] == list(range(6))
    # Those behind the gap have other numbers now.
    assert [step.step_id for step in trace.steps] == ["u", "2", "3", "4", "5", "6"]
    assert losses(trace) == [("stale-extra", "2"), ("stale-extra", "3"), ("stale-extra", "4")]


def test_one_that_was_only_appended_to() -> None:
    document = document_of(made())
    document["steps"].append({"step_id": 6, "source": "user", "message": "More"})
    document["steps"].append(
        {
            "step_id": 7,
            "source": "agent",
            "message": "u",
            "observation": {"results": [{"subagent_trajectory_ref": [{"trajectory_id": "new"}]}]},
        }
    )
    document["subagent_trajectories"].append({"trajectory_id": "new", "agent": {}, "steps": []})
    trace = back(document)
    assert trace.steps[:5] == made().steps and [step.step_id for step in trace.steps[5:]] == ["6", "7"]
    assert losses(trace) == [] and trace.children[0] == made().children[0]
    assert trace.children[1].parent == Parent(step_id="7")


def test_a_trajectory_that_has_changed_is_read_as_it_is_now() -> None:
    document = document_of(made())
    document["agent"]["model_name"] = "another"
    trace = back(document)
    assert losses(trace)[0] == ("stale-extra", "trajectory")
    assert trace.agent.model == "another" and trace.final_patch is None and trace.source.format == "atif"
    assert [step.step_id for step in trace.steps] == ["1", "2", "3", "4", "5"]
    # Its sub-agent has not changed.
    assert trace.children[0] == made().children[0]
    # And a sub-agent's change is its own.
    document = document_of(made())
    document["subagent_trajectories"][0]["agent"]["name"] = "another"
    trace = back(document)
    assert losses(trace) == [] and losses(trace.children[0]) == [("stale-extra", "trajectory")]
    assert trace.steps == made().steps


def test_extras_that_are_forged() -> None:
    for kept in (None, [], {}, {"differs": 1}, {"differs": {"set": {"steps": "x"}}, "digest": "x"}):
        document = document_of(made())
        document["extra"]["potato_bridge"] = document["steps"][0]["extra"]["potato_bridge"] = kept
        trace = back(document)
        assert trace.agent.name == "claude" and trace.final_patch is None and trace.steps[0].text().endswith("See")


@DETERMINISTIC
@given(st.data())
def test_whatever_was_changed(given_data: st.DataObject) -> None:
    document = mutated(given_data, WRITTEN)
    for trace in READER.read(source_of(json.dumps(document).encode()), Report()):
        assert [step.index for step in trace.steps] == list(range(len(trace.steps)))
        assert len({step.step_id for step in trace.steps}) == len(trace.steps)
        assert back(document_of(trace)) == trace


WRITTEN = document_of(made())


@DETERMINISTIC
@given(json_values, json_values)
def test_differences(old: Any, new: Any) -> None:
    def text(value: Any) -> str:
        # 1 is not true, and 0 is not 0.0.
        return json.dumps(value, sort_keys=True).replace("-0.0", "0.0")

    was, change = text(old), difference(old, new)
    assert text(patched(old, json.loads(json.dumps(change)))) == text(new)
    assert text(old) == was and (change == {}) == (was == text(new))


@DETERMINISTIC
@given(st.data(), st.sampled_from([{"a": [1, {"b": 2}]}, [1, [2, 3]], 1]))
def test_differences_that_do_not_fit(given_data: st.DataObject, old: Any) -> None:
    change = {"in": {"a": {"in": {"1": {"set": {"b": 3}}}}, "1": {"in": {"0": {"is": 4}}, "cut": 1}}, "drop": ["a"]}
    try:
        patched(old, mutated(given_data, change))
    except MisfitError:
        pass


# --- what was read from ATIF ----------------------------------------------------------------------------------------


def test_a_trajectory_that_was_read_is_written_with_all_it_had() -> None:
    document = deepcopy(DOCUMENT)
    step = document["steps"][3]
    step["tool_calls"][0]["extra"] = {"retries": 1}
    step["observation"]["results"][1]["extra"] = {"score": None}
    files = [{"trajectory_path": "../x.json", "session_id": "s", "extra": {"a": 1}}]
    step["observation"]["results"][2]["subagent_trajectory_ref"] = files
    step["metrics"] |= {"logprobs": [-0.5], "completion_token_ids": [3], "extra": {"reasoning_tokens": 9}}
    step["llm_call_count"] = 2
    document["final_metrics"]["extra"] = {"n": 1}
    document["agent"]["extra"] = {"mode": "x"}
    document["continued_trajectory_ref"] = "next.json"
    document["extra"] = {"of": "others"}
    read = back(document)
    assert ("sub-agent-not-found", "../x.json") in losses(read)
    written = document_of(read)
    assert back(through_models(written)) == read
    assert written["steps"][3]["extra"].keys() == {"potato_bridge"} and written["extra"]["of"] == "others"
    plain = bare(written) | {"extra": {"of": "others"}}
    # Results stand in the order of their calls, a single text is one.
    results = step["observation"]["results"]
    step["observation"]["results"] = [results[1], results[0], {k: v for k, v in results[2].items() if v is not None}]
    document["steps"][1]["message"] = "Fix <b>it</b>"
    results[0]["subagent_trajectory_ref"] = [{"trajectory_id": read.children[0].trace_id}]
    assert plain["steps"] == document["steps"]
    for key in ("agent", "notes", "extra", "continued_trajectory_ref"):
        assert plain[key] == document[key]
    assert plain["final_metrics"] == document["final_metrics"] | {"total_steps": 5}


def test_what_atif_does_not_allow_stands_in_the_extra_alone() -> None:
    document = deepcopy(DOCUMENT)
    step = document["steps"][3]
    # A step that no model made has no tokens and no reasoning.
    step["llm_call_count"] = 0
    step["metrics"] |= {"cost_usd": "much", "logprobs": ["x"], "prompt_token_ids": [True]}
    step["observation"]["results"][2]["subagent_trajectory_ref"] = [{"session_id": "s"}, {"trajectory_path": "x"}]
    document["notes"] = {"n": 1}
    read = back(document)
    written = document_of(read)
    assert "llm_call_count" not in written["steps"][3] and "notes" not in written
    assert written["steps"][3]["metrics"] == {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 4}
    assert "subagent_trajectory_ref" not in written["steps"][3]["observation"]["results"][2]
    assert back(through_models(written)) == read


def test_a_price_that_no_float_holds() -> None:
    document = deepcopy(DOCUMENT) | {"final_metrics": {"total_cost_usd": 10**400, "total_prompt_tokens": 10**400}}
    trace = back(document)
    # No count of tokens is that large: the sum of the steps counts.
    assert trace.cost_usd is None and trace.usage is not None and trace.usage.input == 9
    assert back(through_models(document_of(trace))) == trace


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
def test_real_traces_are_valid_and_come_back() -> None:
    count = 0
    for trace in read_traces([str(CORPUS)], choice=Choice(subagents=True, min_steps=0), outcome=Outcome()):
        document = document_of(trace)
        assert back(document) == trace
        # Exports write arguments in their order.
        arguments = [[json.dumps(call.arguments) for call in step.tool_calls] for step in trace.steps]
        assert [[json.dumps(call.arguments) for call in step.tool_calls] for step in back(document).steps] == arguments
        assert back(through_models(document)) == trace
        assert [step["step_id"] for step in document["steps"]] == list(range(1, len(trace.steps) + 1))
        assert [one["trajectory_id"] for one in document.get("subagent_trajectories", ())] == [
            child.trace_id for child in trace.children
        ]
        count += 1
    assert count == 39

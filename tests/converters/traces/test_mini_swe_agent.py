"""mini-swe-agent's trajectories, made by hand and real ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.inputs import file_source
from potato_bridge.converters.traces.mini_swe_agent import READER
from potato_bridge.converters.traces.reader import Report
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, mutated, read_one, source_of
from tests.strategies import DETERMINISTIC

BARE = [
    {"role": "system", "content": "Exactly ONE bash code block"},
    {"role": "user", "content": "Fix <img onerror=alert(1)> it"},
    {"role": "assistant", "content": "THOUGHT: I look.\n\n```mswea_bash_command\nls\ncat a\n```\nThen more."},
    {"role": "user", "content": "<returncode>1</returncode>\n<output>\na.py\n</output>"},
    {"role": "assistant", "content": "No block here."},
    {"role": "user", "content": "Please always provide EXACTLY ONE action."},
    {"role": "assistant", "content": "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff\n```"},
    {"role": "user", "content": "diff --git a/a b/a\n"},
]


def call(call_id: str, command: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    return {"id": call_id, "type": "function", "function": function}


DOCUMENT: dict[str, Any] = {
    "info": {
        "model_stats": {"instance_cost": 0.5},
        "mini_version": "2.1",
        "config": {"model": {"model_name": "gpt"}},
        "exit_status": "Submitted",
        "submission": "",
    },
    "messages": [
        {"role": "user", "content": "Fix it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call("1", "ls"), call("2", "pwd")],
            "extra": {"timestamp": 1700000000.0, "response": {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}},
        },
        {"role": "tool", "tool_call_id": "2", "content": "x", "extra": {"returncode": 0, "raw_output": "/r\n"}},
        {
            "role": "tool",
            "tool_call_id": "1",
            "content": "<returncode>-1</returncode>",
            "extra": {"returncode": -1, "raw_output": "", "exception_info": "timed out"},
        },
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": ""}},
    ],
    "trajectory_format": "mini-swe-agent-1.2",
    "instance_id": "a__b-1",
}


def data(document: Any) -> bytes:
    return json.dumps(document).encode()


def test_a_bare_list() -> None:
    trace = read_one(READER, data(BARE))
    assert [(step.kind, step.flags.meta, step.text()) for step in trace.steps] == [
        ("system", False, "Exactly ONE bash code block"),
        ("user", False, "Fix <img onerror=alert(1)> it"),
        ("agent", False, "THOUGHT: I look.\nThen more."),
        ("agent", False, "No block here."),
        ("user", True, "Please always provide EXACTLY ONE action."),
        ("agent", False, ""),
    ]
    [first] = trace.steps[2].tool_calls
    assert first.arguments == {"command": "ls\ncat a"} and first.result is not None
    assert (first.result.text, first.result.exit_code, first.result.is_error) == ("a.py", 1, True)
    assert first.result.paired_by == "order"
    [last] = trace.steps[5].tool_calls
    assert last.result is not None and (last.result.exit_code, last.result.is_error) == (None, None)
    assert trace.steps[5].flags.terminal and not trace.steps[2].flags.terminal
    assert trace.final_patch is not None and trace.final_patch.text == "diff --git a/a b/a\n"
    assert trace.outcome is None and trace.task.text == "Fix <img onerror=alert(1)> it"


def test_a_document() -> None:
    trace = read_one(READER, data(DOCUMENT))
    assert [step.kind for step in trace.steps] == ["user", "agent"]
    step = trace.steps[1]
    assert calls_of(step) == [("bash", ""), ("bash", "/r\n")]
    failed, well = (one.result for one in step.tool_calls)
    assert failed is not None and (failed.exit_code, failed.is_error) == (-1, True)
    assert failed.native == {"exception_info": "timed out"}
    assert well is not None and (well.exit_code, well.is_error) == (0, False)
    assert step.started_at == "2023-11-14T22:13:20Z" and step.usage is not None and step.usage.input == 3
    # Nothing was submitted, which is known.
    assert trace.final_patch is not None and trace.final_patch.text == ""
    assert trace.outcome is not None and trace.outcome.exit_status == "Submitted" and trace.outcome.resolved is None
    assert (trace.task.id, trace.agent.model, trace.agent.version) == ("a__b-1", "gpt", "2.1")
    assert trace.source.format_version == "mini-swe-agent-1.2" and trace.cost_usd == 0.5
    counts = trace.source.records
    assert counts is not None and (counts.read, counts.mapped, counts.events) == (5, 4, 1)


def test_a_long_output_keeps_its_exit_code() -> None:
    said = (
        "<returncode>2</returncode>\n<warning>\nToo long.\n</warning><output_head>\na\n</output_head>\n<elided_chars>\n"
        "9 characters elided\n</elided_chars>\n<output_tail>\nb\n</output_tail>"
    )
    [step] = read_one(READER, data([*BARE[:3], {"role": "user", "content": said}])).ratable()
    result = step.tool_calls[0].result
    assert result is not None and (result.exit_code, result.is_error) == (2, True)
    assert result.text == said.removeprefix("<returncode>2</returncode>\n")


def test_numbers_that_nothing_holds() -> None:
    said = f"<returncode>{'9' * 5000}</returncode>\n<output>\nx\n</output>"
    [step] = read_one(READER, data([*BARE[:3], {"role": "user", "content": said}])).ratable()
    result = step.tool_calls[0].result
    assert result is not None and (result.exit_code, result.is_error, result.text) == (None, None, said)
    document = {**DOCUMENT, "info": {"model_stats": {"instance_cost": 10**400}}}
    assert read_one(READER, data(document)).cost_usd is None


def test_what_each_answer_cost_and_what_the_program_made_of_it() -> None:
    said = {"role": "assistant", "content": "~~~\nls\n~~~"}
    extra = {"actions": [{"command": "ls"}, {"command": "pwd"}, "odd"], "cost": 0.25}
    document = {
        **DOCUMENT,
        "info": {},
        "messages": [DOCUMENT["messages"][0], {**said, "extra": extra}, {**said, "extra": extra}],
    }
    trace = read_one(READER, data(document))
    first, _ = trace.ratable()
    assert [call.arguments for call in first.tool_calls] == [{"command": "ls"}, {"command": "pwd"}]
    assert first.extra == {"cost_usd": 0.25} and trace.cost_usd == 0.5


def test_contents_in_parts_are_recognised() -> None:
    parts = [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in BARE]
    assert READER.score(source_of(data(parts))) == 60
    [first, *_] = read_one(READER, data(parts)).ratable()
    assert calls_of(first) == [("bash", "a.py")]


def test_documents_of_one_array_have_ids_of_their_own() -> None:
    plain = {key: value for key, value in DOCUMENT.items() if key != "instance_id"}
    other = {**plain, "messages": DOCUMENT["messages"][:2]}
    first, second = READER.read(source_of(data([plain, other])), Report())
    assert first.trace_id != second.trace_id


def test_documents_one_a_line() -> None:
    rows = data(DOCUMENT) + b"\n" + data({"other": 1}) + b"\n" + data(DOCUMENT)[:-3] + b"\n"
    report = Report()
    [trace] = READER.read(source_of(rows), report)
    assert trace.task.id == "a__b-1"
    assert report.skipped == {"no trajectory of mini-swe-agent": 1}
    assert [place for place, _ in report.bad] == ["made.jsonl:3"]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "```bash\nls\n```"}],
        [{"type": "system"}],
        ["text"],
        [],
    ],
)
def test_other_lists_are_not_of_this_agent(messages: list[Any]) -> None:
    assert READER.score(source_of(data(messages))) == 0


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_in_a_document(given_data: st.DataObject) -> None:
    document = mutated(given_data, DOCUMENT)
    for trace in READER.read(source_of(data(document)), Report()):
        check_counts(trace)
        assert trace.source.records is not None
        assert trace.source.records.read == len(document["messages"])


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_in_a_list(given_data: st.DataObject) -> None:
    messages = mutated(given_data, BARE)
    for trace in READER.read(source_of(data(messages)), Report()):
        check_counts(trace)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
class TestReal:
    @pytest.mark.parametrize("path", sorted(CORPUS.glob("miniswe/*.json")), ids=lambda path: path.name[:12])
    def test_counts(self, path: Path) -> None:
        document = json.loads(path.read_text())
        messages = document["messages"] if isinstance(document, dict) else document
        answers = [one for one in messages if one["role"] == "assistant"]
        results = [one for one in messages if one["role"] == "tool"]
        if not results:
            results = [one for one in messages if one["role"] == "user"][1:]
        trace = read_one(READER, path)
        assert len(trace.ratable()) == len(answers)
        calls = [call for step in trace.steps for call in step.tool_calls]
        assert len(calls) == sum(len(one.get("tool_calls") or [1]) for one in answers)
        assert sum(call.result is not None for call in calls) == len(results)
        assert trace.source.records is not None and trace.source.records.read == len(messages)

    def test_steps_read_by_hand(self) -> None:
        trace = read_one(READER, CORPUS / "miniswe" / "generated_v2.4.6_toolcall.traj.json")
        first, second = trace.ratable()[:2]
        assert (first.text(), calls_of(first)) == ("step 0", [("bash", "def f(a)\n    return a\n")])
        assert calls_of(second) == [("bash", "m.py\n"), ("bash", "28f1479 init\n")]
        last = trace.ratable()[-1]
        assert (last.text(), last.tool_calls[0].result, last.flags.terminal) == ("step 3", None, True)
        old = read_one(READER, CORPUS / "miniswe" / "github_issue.traj.json")
        assert old.ratable()[0].text().startswith("I'll help you solve this issue. Let me first examine the content of")
        assert old.final_patch is not None and old.final_patch.text.startswith("diff --git a/tests/missing_colon.py")
        local = read_one(READER, CORPUS / "miniswe" / "local.traj.json")
        assert [calls_of(step) for step in local.ratable()] == [[("bash", "hello world")], [("bash", "")]]

    def test_no_other_file_is_taken_for_one(self) -> None:
        others = [path for path in CORPUS.rglob("*") if path.is_file() and "miniswe" not in path.parts]
        assert [path.name for path in others if READER.score(file_source(path))] == []

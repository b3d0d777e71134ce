"""Conversations of OpenAI's and Anthropic's APIs, in every container."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_bridge.converters.traces.anthropic_messages import READER as ANTHROPIC
from potato_bridge.converters.traces.inputs import file_source
from potato_bridge.converters.traces.openai_chat import READER as OPENAI
from potato_bridge.converters.traces.reader import Report, detect
from potato_bridge.model.trace import ReasoningBlock, RedactedReasoningBlock, Usage
from tests.converters.traces.helpers import CORPUS, calls_of, check_counts, lines, mutated, read, read_one, source_of
from tests.strategies import DETERMINISTIC


def function(call_id: str | None, name: str, arguments: str) -> dict[str, Any]:
    call: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return call if call_id is None else {"id": call_id, **call}


MESSAGES: list[dict[str, Any]] = [
    {"role": "developer", "content": "You are"},
    {"role": "user", "content": [{"type": "text", "text": "Fix <script>it</script>"}]},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Hm.",
        "tool_calls": [function("a", "bash", '{"command": "ls"}'), function("b", "bash", '{"command": ')],
    },
    {"role": "tool", "tool_call_id": "b", "content": "second"},
    {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "first"}]},
    {"role": "assistant", "content": "", "tool_calls": [function("a", "bash", "{}")]},
    {"role": "tool", "tool_call_ids": ["a"], "content": ""},
    {
        "role": "assistant",
        "content": None,
        "refusal": "I will not.",
        "function_call": {"name": "old", "arguments": "{}"},
    },
    {"role": "function", "name": "old", "content": "old result"},
    {"role": "assistant", "content": "Done."},
]
DOCUMENT: dict[str, Any] = {
    "messages": MESSAGES,
    "instance_id": "a__b-1",
    "model": "gpt",
    "tools": [{"type": "function"}],
    "resolved": False,
    "model_patch": "diff --git a/a b/a\n",
}
BLOCKS: list[dict[str, Any]] = [
    {"role": "user", "content": "Fix it"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "1", "name": "bash", "input": {"command": "ls"}},
            {"type": "tool_use", "id": "2", "name": "bash", "input": {"command": "pwd"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "2", "content": [{"type": "text", "text": "/r"}], "is_error": True},
            {"type": "tool_result", "tool_use_id": "1", "content": "a.py"},
            {"type": "text", "text": "And be quick"},
        ],
    },
    {"role": "assistant", "content": "Done."},
]


def data(document: Any) -> bytes:
    return json.dumps(document).encode()


def test_openai_messages() -> None:
    trace = read_one(OPENAI, data(MESSAGES))
    assert [(step.kind, step.text()) for step in trace.steps] == [
        ("system", "You are"),
        ("user", "Fix <script>it</script>"),
        ("agent", ""),
        ("agent", ""),
        ("agent", "I will not."),
        ("agent", "Done."),
    ]
    first, second, third, last = trace.ratable()
    assert first.reasoning() == "Hm." and calls_of(first) == [("bash", "first"), ("bash", "second")]
    # Arguments that are no JSON are kept as they are.
    assert [(call.arguments, call.arguments_raw) for call in first.tool_calls] == [
        ({"command": "ls"}, None),
        (None, '{"command": '),
    ]
    # The id comes again: the result is of the call that has none yet.
    assert calls_of(second) == [("bash", "")] and [loss.code for loss in trace.source.losses] == ["reused-call-id"]
    assert calls_of(third) == [("old", "old result")]
    assert last.flags.terminal and not third.flags.terminal
    assert trace.agent.system_prompt == "You are" and trace.final_patch is None and trace.outcome is None


@pytest.mark.parametrize("form", ["object", "lines", "array", "text"])
def test_documents_in_every_container(form: str) -> None:
    document = {**DOCUMENT, "messages": json.dumps(MESSAGES)} if form == "text" else DOCUMENT
    made = {"object": data(document), "array": data([document, document])}.get(form, lines([document, document]))
    assert OPENAI.score(source_of(made)) == 40
    traces = read(OPENAI, source_of(made))
    assert len(traces) == (1 if form == "object" else 2)
    for trace in traces:
        check_counts(trace)
        assert len(trace.steps) == 6 and trace.task.id == "a__b-1" and trace.agent.model == "gpt"
        assert trace.outcome is not None and trace.outcome.resolved is False
        assert trace.final_patch is not None and trace.final_patch.origin == "model_patch"
        assert trace.agent.tool_definitions == [{"type": "function"}]
        assert trace.trace_id.startswith("a__b-1-")


def test_a_log_holds_the_answer_beside_the_messages() -> None:
    message = {"role": "assistant", "content": "Next.", "tool_calls": [function("z", "finish", "{}")]}
    response = {
        "id": "r1",
        "model": "gpt-x",
        "choices": [{"message": message, "finish_reason": "tool_calls"}, {"message": message}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": 2}},
    }
    trace = read_one(OPENAI, data({"messages": MESSAGES[:2], "response": response}))
    last = trace.steps[-1]
    assert (last.text(), last.model, last.stop_reason, last.flags.terminal) == ("Next.", "gpt-x", "tool_calls", True)
    assert last.usage is not None and (last.usage.input, last.usage.cache_read) == (5, 2)
    assert [loss.code for loss in trace.source.losses] == ["other-choices"]
    assert trace.source.records is not None and trace.source.records.mapped == 3


@pytest.mark.parametrize("document", [BLOCKS, {"messages": BLOCKS, "system": [{"type": "text", "text": "You are"}]}])
def test_anthropic_messages(document: Any) -> None:
    assert ANTHROPIC.score(source_of(data(document))) == 60 and OPENAI.score(source_of(data(document))) == 0
    assert detect(source_of(data(document))).name == "anthropic_messages"
    trace = read_one(ANTHROPIC, data(document))
    assert [(step.kind, step.text()) for step in trace.steps] == [
        ("user", "Fix it"),
        ("agent", "I look."),
        ("user", "And be quick"),
        ("agent", "Done."),
    ]
    first = trace.steps[1]
    assert first.reasoning() == "Hm." and calls_of(first) == [("bash", "a.py"), ("bash", "/r")]
    assert [call.result.is_error for call in first.tool_calls if call.result] == [None, True]
    assert trace.steps[3].flags.terminal
    assert trace.agent.system_prompt == (None if isinstance(document, list) else "You are")


@pytest.mark.parametrize("form", ["lines", "array"])
def test_rows_of_another_kind_are_counted(form: str) -> None:
    rows = [DOCUMENT, {"other": 1}]
    report = Report()
    made = lines(rows) + b"{cut" if form == "lines" else data(rows)
    assert len(list(OPENAI.read(source_of(made), report))) == 1
    assert report.skipped == {"no list of messages": 1} and len(report.bad) == (form == "lines")


def test_a_conversation_that_grows_is_another_one() -> None:
    ids = {read_one(OPENAI, data(MESSAGES[:count])).trace_id for count in (5, 8, 10)}
    assert len(ids) == 3
    named = {**DOCUMENT, "id": "run-7"}
    assert read_one(OPENAI, data(named)).trace_id.startswith("run-7-")


def test_conversations_of_one_file_have_ids_of_their_own() -> None:
    """Also without any id in them; the same conversation twice has one id, wherever it stands."""
    other = {"messages": [*MESSAGES[:2], {"role": "assistant", "content": "Else."}]}
    plain = {"messages": MESSAGES}
    for made in (data([plain, other, plain]), lines([plain, other, plain])):
        ids = [trace.trace_id for trace in read(OPENAI, made)]
        assert ids[0] == ids[2] != ids[1]
    assert [one.trace_id for one in read(OPENAI, data([other, plain]))][1] == read(OPENAI, data([plain]))[0].trace_id


@pytest.mark.parametrize("form", ["array", "lines"])
def test_bare_lists_of_messages(form: str) -> None:
    made = (data if form == "array" else lines)([MESSAGES, MESSAGES[:6]])
    assert detect(source_of(made)).name == "openai_chat"
    traces = read(OPENAI, made)
    assert [len(trace.steps) for trace in traces] == [6, 4] and traces[0].trace_id != traces[1].trace_id
    blocks = (data if form == "array" else lines)([BLOCKS, BLOCKS[:2]])
    assert detect(source_of(blocks)).name == "anthropic_messages" and len(read(ANTHROPIC, blocks)) == 2


def test_the_only_answer_may_be_the_response() -> None:
    response = {"choices": [{"message": {"role": "assistant", "content": "Hi."}}], "usage": None}
    document = {"messages": MESSAGES[:2], "response": response, "cost": 0.25}
    assert detect(source_of(data(document))).name == "openai_chat"
    trace = read_one(OPENAI, data(document))
    assert [step.text() for step in trace.ratable()] == ["Hi."]
    assert trace.cost_usd == 0.25 and trace.usage is None
    assert OPENAI.score(source_of(data({**document, "response": {"choices": []}}))) == 0


@pytest.mark.parametrize("cost", [10**400, True, "0.1", None, {}])
def test_a_cost_that_is_none(cost: Any) -> None:
    made = json.dumps({**DOCUMENT, "cost": cost}).encode()
    assert read_one(OPENAI, made).cost_usd is None


def test_tokens_in_every_place() -> None:
    def usage(**told: Any) -> Any:
        response = {"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": told}
        return read_one(OPENAI, data({"messages": MESSAGES[:2], "response": response})).steps[-1].usage

    openai = {"prompt_tokens_details": {"cached_tokens": 2}, "completion_tokens_details": {"reasoning_tokens": 3}}
    assert usage(prompt_tokens=9, completion_tokens=4, **openai) == Usage(9, 4, 2, None, 3)
    proxy = {"cache_read_input_tokens": 5, "cache_creation_input_tokens": 1}
    assert usage(prompt_tokens=9, **proxy) == Usage(9, None, 5, 1, None)
    assert usage(prompt_tokens=10**400, completion_tokens=0) == Usage(None, 0, None, None, None)


def test_what_was_thought_and_refused() -> None:
    details = [
        {"type": "reasoning.text", "text": "Hm.", "signature": "s"},
        {"type": "reasoning.encrypted", "data": "gAA", "format": "openai-responses-v1"},
        {"type": "reasoning.summary", "summary": "In short."},
        "odd",
    ]
    told = {"role": "assistant", "content": "x", "reasoning": "Hm.", "reasoning_details": details}
    alone = {"role": "assistant", "content": "x", "reasoning_details": details[:1]}
    no = {"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]}
    trace = read_one(
        OPENAI, data([MESSAGES[1], told, alone, no, {"role": "assistant", "content": None, "refusal": "No."}])
    )
    hidden = RedactedReasoningBlock(data="gAA", provider="openai-responses-v1")
    assert trace.steps[1].blocks[:3] == [
        ReasoningBlock(text="Hm.", signature="s"),
        hidden,
        ReasoningBlock(text="In short."),
    ]
    assert trace.steps[2].blocks[0] == ReasoningBlock(text="Hm.", signature="s")
    assert [(step.text(), step.extra.get("refusal")) for step in trace.steps[2:]] == [
        ("x", None),
        ("I will not.", True),
        ("No.", True),
    ]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "x"}],
        [{"role": "narrator", "content": "x"}, {"role": "assistant", "content": "y"}],
        [{"role": "assistant", "type": "message", "content": "y"}],
        ["x"],
        [],
    ],
)
def test_what_is_no_conversation(messages: list[Any]) -> None:
    for reader in (OPENAI, ANTHROPIC):
        assert reader.score(source_of(data(messages))) == 0


@DETERMINISTIC
@given(st.data())
def test_whatever_stands_in_a_conversation(given_data: st.DataObject) -> None:
    for reader, valid in ((OPENAI, DOCUMENT), (ANTHROPIC, {"messages": BLOCKS})):
        document = mutated(given_data, deepcopy(valid))
        for trace in reader.read(source_of(data(document)), Report()):
            check_counts(trace)
            assert trace.source.records is not None
            assert trace.source.records.read == len(document["messages"])


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not at hand")
class TestReal:
    def test_a_log_of_a_request(self) -> None:
        """Golden, read by hand; counts by the raw rows."""
        path = CORPUS / "openhands_v1" / "llm_completion_log.json"
        document = json.loads(path.read_text())
        answers = [one for one in document["messages"] if one["role"] == "assistant"]
        trace = read_one(OPENAI, path)
        assert detect(file_source(path)).name == "openai_chat"
        assert len(trace.ratable()) == len(answers) + 1
        calls = [call for step in trace.steps for call in step.tool_calls]
        assert len(calls) == sum(len(one.get("tool_calls") or ()) for one in answers) + 1
        results = sum(one["role"] == "tool" for one in document["messages"])
        assert sum(call.result is not None for call in calls) == results
        assert trace.steps[-1].text().startswith("Great! The `hello.py` file already exists in your current directory")
        assert trace.steps[-1].tool_calls[0].name == "finish" and trace.steps[-1].flags.terminal
        assert trace.steps[-1].usage is not None and trace.steps[-1].usage.input == 6729
        assert (trace.task.text or "").startswith("Hello! Can you create a new Python file")

    def test_rows_of_a_data_set(self) -> None:
        path = CORPUS / "swe_smith" / "ft_xml_example.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        traces = read(OPENAI, path)
        assert [len(trace.steps) for trace in traces] == [len(row["messages"]) for row in rows] == [75, 89, 45]
        assert [trace.task.id for trace in traces] == [row["instance_id"] for row in rows]
        first = traces[0].ratable()[0]
        assert first.text().startswith("I'll help you implement the necessary changes to fix the issue described")

    def test_what_is_not_taken_for_a_conversation(self) -> None:
        known = {"llm_completion_log.json", "ft_xml_example.jsonl"}
        paths = [path for path in CORPUS.rglob("*") if path.is_file() and path.name not in known]
        # Bare lists of mini-swe-agent are chat messages, too; its own reader is surer.
        assert {path.parent.name for path in paths if OPENAI.score(file_source(path))} == {"miniswe"}
        assert [path.name for path in paths if ANTHROPIC.score(file_source(path))] == []
        for path in sorted(Path(CORPUS).glob("miniswe/*.json")):
            assert detect(file_source(path)).name == "mini_swe_agent"

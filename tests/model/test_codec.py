"""The codec gives every node back as it was, unknown fields included."""

from typing import Any

import msgspec
import pytest
from hypothesis import given

from potato_bridge.errors import InputError
from potato_bridge.model import Record, Trace, decode, encode, from_builtins, to_builtins
from potato_bridge.model.trace import ReasoningBlock, Step, TextBlock, ToolCall, UnknownBlock
from tests.strategies import DETERMINISTIC, nodes, traces


@given(traces)
@DETERMINISTIC
def test_trace_round_trip(trace: Trace) -> None:
    assert decode(Trace, encode(trace)) == trace


@given(nodes(Record))
@DETERMINISTIC
def test_record_round_trip(record: Record) -> None:
    assert decode(Record, encode(record)) == record


@given(traces)
@DETERMINISTIC
def test_json_is_stable(trace: Trace) -> None:
    line = encode(trace)
    assert b"\n" not in line
    assert encode(decode(Trace, line)) == line


def test_unknown_fields_keep_their_place_at_every_level() -> None:
    document: dict[str, Any] = {
        "trace_id": "t",
        "schema": 1,
        "later": 1,
        "source": {"format": "x", "later": 2},
        "steps": [
            {
                "step_id": "0",
                "index": 0,
                "blocks": [{"type": "text", "text": "hi", "later": 3}, {"type": "hologram", "depth": 4}],
                "tool_calls": [{"call_id": "c", "name": "Read", "result": {"text": "", "later": [5]}}],
                "flags": {"ratable": True, "later": None},
                "later": {"deep": 6},
            }
        ],
        "children": [{"trace_id": "child", "schema": 1, "later": 7}],
    }
    trace = from_builtins(Trace, document)
    assert trace.unknown == {"later": 1}
    assert trace.steps[0].unknown == {"later": {"deep": 6}}
    assert trace.steps[0].blocks[1] == UnknownBlock(raw={"type": "hologram", "depth": 4})
    assert trace.children[0].unknown == {"later": 7}
    assert to_builtins(trace) == document
    assert msgspec.json.decode(encode(trace)) == document


def test_an_empty_result_is_not_a_missing_one() -> None:
    calls = [{"call_id": "a", "name": "x"}, {"call_id": "b", "name": "x", "result": {"text": ""}}]
    read = [from_builtins(ToolCall, call) for call in calls]
    assert read[0].result is None
    assert read[1].result is not None and read[1].result.text == "" and read[1].result.is_error is None
    assert [to_builtins(call) for call in read] == calls


def test_big_numbers_and_key_order_survive() -> None:
    line = b'{"step_id":"0","index":0,"native":{"z":123456789012345678901234567890,"a":1.0,"m":[1,true,null]}}'
    assert encode(decode(Step, line)) == line


def test_text_and_reasoning_of_a_step() -> None:
    blocks: list[Any] = [ReasoningBlock(text="why"), TextBlock(text="a"), TextBlock(text="b")]
    step = Step(step_id="0", index=0, blocks=blocks)
    assert (step.reasoning(), step.text()) == ("why", "a\nb")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "not JSON"),
        (b"[]", "expected a JSON object"),
        (b"{}", "trace_id"),
        (b'{"trace_id": 1}', "trace_id"),
        (b'{"trace_id": "t", "steps": [{"step_id": "0", "index": "0"}]}', "steps[0].index"),
        (b'{"trace_id": "t", "steps": [{"step_id": "0", "index": 0, "kind": "robot"}]}', "steps[0].kind"),
    ],
)
def test_errors_name_the_place(line: bytes, words: str) -> None:
    with pytest.raises(InputError, match=r".*") as caught:
        decode(Trace, line)
    assert words in str(caught.value)

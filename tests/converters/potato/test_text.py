"""The text of a step (DESIGN §2): hand-worked."""

from typing import Any

import pytest

from potato_bridge.converters.potato.text import step_text
from tests.converters.potato.test_traces import step_of

TURN = {
    "role": "assistant",
    "reasoning": "because",
    "content": "  I will look.\n",
    "tool_calls": [
        {"tool": "Bash", "input": {"command": "ls é", "n": 1}, "output": "a\nb"},
        {"tool": "Grep", "input": "raw {text}"},
        {"tool": "Stop", "output": ""},
    ],
}


@pytest.mark.parametrize(
    ("entry", "key", "text"),
    [
        ("just do it", None, "just do it"),
        ("just do it", "action", "just do it"),
        ({"thought": "t", "action": "a", "observation": "o"}, None, "t\na"),
        ({"action": "a", "thought": "t"}, None, "t\na"),
        ({"thought": "", "action": "a"}, None, "a"),
        ({"thought": "t", "action": "a"}, "action", "a"),
        ({"thought": "t", "action": {"b": 1, "a": "é"}}, "action", '{"b": 1, "a": "é"}'),
        ({"thought": "t", "action": {"b": 1}}, None, 't\n{"b": 1}'),
        # A step without that field falls back to the rule.
        ({"thought": "t", "other": 1}, "action", "t"),
        ({"role": "assistant", "content": "c"}, None, "c"),
        ({"role": "assistant", "content": "c"}, "content", "c"),
        ({"speaker": "Agent (Action)", "text": "search('x')"}, None, "search('x')"),
        ({"from": "gpt", "value": "hello"}, None, "hello"),
        ({"index": 0, "text": "So 2 + 2 = 4.", "type": "reasoning"}, None, "So 2 + 2 = 4."),
        (
            TURN,
            None,
            'because\n  I will look.\n\nBash {"command": "ls é", "n": 1}\nGrep raw {text}\nStop',
        ),
        (TURN, "content", "  I will look.\n"),
        ({"content": "", "tool_calls": [{"tool": "Read", "input": {}}]}, None, "Read {}"),
        (
            {"thought": "t", "action_type": "click", "coordinates": {"x": 1, "y": 2}, "screenshot": "a.png"},
            None,
            't\nclick {"coordinates": {"x": 1, "y": 2}}',
        ),
    ],
)
def test_step_text(entry: Any, key: str | None, text: str) -> None:
    assert step_text(step_of(entry), key) == text


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"thought": "t", "action": "a", "observation": "o\np"}, "t\na\no\np"),
        ({"action": "a", "observations": ["o", "p"]}, "a\no\np"),
        ({"content": "c", "tool_calls": [{"tool": "Bash", "input": {}, "output": "out"}]}, "c\nBash {}\nout"),
        ({"content": "c"}, "c"),
    ],
)
def test_step_text_with_observations(entry: Any, text: str) -> None:
    assert step_text(step_of(entry), None, observations=True) == text

"""Hypothesis strategies that all tests share: JSON values, items of every shape, and "everything" nodes.

Use `@DETERMINISTIC` on property tests: the same examples on every machine and in every run.
"""

import types
import typing
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from potato_bridge.model import Item, Trace
from potato_bridge.model.node import Node
from potato_bridge.model.trace import ImageBlock, Step, TextBlock, UnknownBlock, Usage

DETERMINISTIC = settings(
    derandomize=True, deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow]
)

#: Text as it may stand in JSON: no NUL and no unpaired surrogate (the readers replace these), all else.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20) | st.sampled_from(
    ["</script>", "a\nb", "$&", "{{ x }}", "\u202eabc", "é😀", "\u2028", "", " "]
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=4)

# --- steps of every shape that items have ---------------------------------------------------------------------------

roles = st.sampled_from(["assistant", "user", "system", "tool", "Agent (Action)", "Environment", "planner", "Human"])
tool_names = st.sampled_from(["Read", "Edit", "Write", "Bash", "mcp__x__y", "str_replace_editor", "apply_patch", "x y"])
tool_inputs = st.one_of(
    json_objects,
    texts,
    st.none(),
    st.fixed_dictionaries({"file_path": texts, "old_string": texts, "new_string": texts}),
    st.fixed_dictionaries({"file_path": texts, "content": texts}),
    st.fixed_dictionaries(
        {"path": texts, "command": st.sampled_from(["create", "view", "insert"]), "file_text": texts}
    ),
)
potato_calls = st.fixed_dictionaries(
    {"tool": tool_names, "input": tool_inputs},
    optional={"output": json_values, "output_type": texts, "language": texts, "is_error": st.booleans(), "id": texts},
)
openai_calls = st.builds(
    lambda i, name, arguments: {"id": i, "type": "function", "function": {"name": name, "arguments": arguments}},
    st.sampled_from(["c1", "c2"]),
    tool_names,
    texts | st.just('{"q": 1}'),
)
content_blocks = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, texts),
    st.builds(lambda text: {"type": "thinking", "thinking": text, "signature": "s"}, texts),
    st.builds(lambda i, value: {"type": "tool_use", "id": i, "name": "Read", "input": value}, texts, json_objects),
    st.builds(lambda i, value: {"type": "tool_result", "tool_use_id": i, "content": value}, texts, json_values),
    st.just({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}),
    st.builds(lambda kind, value: {"type": kind, **value}, st.sampled_from(["text", "image", "new"]), json_objects),
    json_values,
)
turns = st.fixed_dictionaries(
    {"role": roles},
    optional={
        "content": texts | st.lists(content_blocks, max_size=3) | json_values,
        "reasoning": texts,
        "tool_calls": st.lists(potato_calls | openai_calls | json_values, max_size=3),
        "tool_call_id": st.sampled_from(["c1", "c2"]),
        "model": texts,
    },
)
plain_steps = st.fixed_dictionaries(
    {},
    optional={
        "thought": texts | json_values,
        "action": texts | json_objects,
        "observation": json_values,
        "screenshot": texts | json_values,
        "tool": tool_names,
        "input": tool_inputs,
    },
)
web_steps = st.fixed_dictionaries(
    {"action_type": st.sampled_from(["click", "type", "done"])},
    optional={"element": json_objects, "coordinates": json_objects, "text": texts, "screenshot_url": texts},
)
speaker_turns = st.fixed_dictionaries({"speaker": roles, "text": texts})
segments = st.fixed_dictionaries({"index": st.integers(0, 9), "text": texts, "type": texts})
entries = st.one_of(texts, turns, plain_steps, web_steps, speaker_turns, segments, json_objects)
step_lists = st.lists(entries, max_size=5)


@st.composite
def items(draw: st.DrawFn, steps_key: str = "steps", text_key: str = "task") -> Item:
    """An item with steps of every shape, between other fields in any order."""
    fields: dict[str, Any] = draw(json_objects)
    fields |= {"id": "i1", text_key: draw(texts), steps_key: draw(step_lists)}
    order = draw(st.permutations(list(fields)))
    return Item(id="i1", data={key: fields[key] for key in order}, file="data.jsonl", line=1)


# --- nodes of the hub, with every field ----------------------------------------------------------------------------


def nodes(cls: type[Node], depth: int = 3) -> st.SearchStrategy[Any]:
    """Values of a node type with any of its fields set, and unknown fields at every level."""
    hints = typing.get_type_hints(cls)
    fields = {field.name: _field(hints[field.name], depth) for field in msgspec.structs.fields(cls)}
    del fields["unknown"]
    if cls is UnknownBlock:
        # The codec keeps a block of a later version as it is: no field of its own, a kind that the hub lacks.
        raw = st.builds(lambda value: {**value, "type": "from-the-future"}, json_objects)
        return st.builds(cls, raw=raw | json_values.filter(lambda value: not isinstance(value, dict)))
    required = {f.name for f in msgspec.structs.fields(cls) if f.required}
    keyword = st.fixed_dictionaries(
        {name: strategy for name, strategy in fields.items() if name in required},
        optional={name: strategy for name, strategy in fields.items() if name not in required},
    )
    taken = {field.encode_name for field in msgspec.structs.fields(cls)} | {cls.__struct_config__.tag_field}
    unknown = st.dictionaries(texts.filter(lambda key: key not in taken), json_values, max_size=2)
    return st.builds(lambda values, more: cls(**values, unknown=more), keyword, unknown)


def _field(hint: Any, depth: int) -> st.SearchStrategy[Any]:
    origin = get_origin(hint)
    if hint is Any:
        return json_values
    if origin is Literal:
        return st.sampled_from(get_args(hint))
    if origin in (Union, types.UnionType):
        return st.one_of([_field(option, depth) for option in get_args(hint)])
    if origin is list:
        return st.lists(_field(get_args(hint)[0], depth), max_size=2 if depth > 0 else 0)
    if origin is dict:
        return st.dictionaries(texts, _field(get_args(hint)[1], depth), max_size=2)
    if isinstance(hint, type) and issubclass(hint, Node):
        return st.deferred(lambda: nodes(hint, depth - 1))
    simple: dict[Any, st.SearchStrategy[Any]] = {
        str: texts,
        int: st.integers(-(2**63), 2**63 - 1),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
    }
    return simple[hint]


traces: st.SearchStrategy[Trace] = nodes(Trace)


#: Few ids, so that they come again: as another's, and as nobody's.
_ids = st.sampled_from(["a", "b", "1", "a~1", "", "<b>&$1"])
_kinds = st.sampled_from(["agent", "agent", "user", "system", "environment", "compaction", "notice"])
#: What a reader of ATIF keeps in a trace's or a step's extra, and what only looks like that.
_atif_extras = st.dictionaries(
    st.sampled_from(
        ["extra", "notes", "metrics", "final_metrics", "llm_call_count", "tool_calls", "continued_trajectory_ref"]
    ),
    st.sampled_from([None, 0, 2, True, "n", [], {}, {"a": {"k": None}}, {"potato_bridge": {"steps": 1}}])
    | st.fixed_dictionaries(
        {"extra": json_objects | json_values},
        optional={"cost_usd": numbers, "logprobs": st.lists(numbers, max_size=2), "prompt_token_ids": json_values},
    ),
)
#: Values that are near to one another, or alike for a careless eye.
_near = st.sampled_from([None, "", "x", "$&", "</script>", "2026-01-02T03:04:05Z", "2026-01-02", "\u2028", "null"])
_amounts = st.sampled_from([None, 0, 1, 2**53 + 1])
_images = st.builds(
    ImageBlock,
    uri=st.sampled_from([None, "", "a.png", "https://x/y.WEBP?z=1.gif", "data:image/png;base64,AA", "data:,x"]),
    mime=st.sampled_from([None, "image/png", "image/svg+xml", "x"]),
    alt=_near,
)


_alone, _steps = nodes(Trace, 0), nodes(Step, 1)


@st.composite
def runs(draw: st.DrawFn, depth: int = 1) -> Trace:
    """Traces with any fields set in which ids come again, calls are of others' sub-agents, and 0 is not None."""
    trace: Trace = draw(_alone)
    trace.trace_id = draw(_ids)
    trace.children = draw(st.lists(runs(depth - 1), max_size=2)) if depth else []
    trace.steps = draw(st.lists(_steps, max_size=3))
    for step in trace.steps:
        step.step_id, step.kind = draw(_ids), draw(_kinds)
        step.started_at, step.model, step.effort, step.role = (draw(_near) for _ in range(4))
        step.usage = draw(st.none() | st.builds(Usage, input=_amounts, output=_amounts, cache_read=_amounts))
        step.blocks += draw(st.lists(_images | st.builds(TextBlock, text=texts), max_size=2))
        for call in step.tool_calls:
            call.call_id, call.child_trace_id = draw(_ids), draw(st.none() | _ids)
            if call.result is not None:
                call.result.text = draw(_near)
                call.result.blocks += draw(st.lists(_images, max_size=1))
        if draw(st.booleans()):
            step.extra |= draw(_atif_extras)
    if draw(st.booleans()):
        trace.extra |= draw(_atif_extras)
    return trace

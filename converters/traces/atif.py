"""ATIF, the trajectory format of Harbor and Terminal-Bench: 1.0 to 1.8, with sub-agents' trajectories inside.

Files in the wild break its rules (other field names, unknown sources), so that it is read by what is there. It has no
place for an outcome: Harbor's `result.json` beside the trial has the rewards.

What `write/atif.py` keeps in `extra` gives back the trace that it wrote, as long as the rest is as it was; where
another program has changed that, the rest counts.
"""

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from potato_bridge.converters.tool_calls import as_text, read_blocks
from potato_bridge.converters.traces._atif_extra import extra_of, restored, without
from potato_bridge.converters.traces._values import count_of, dict_of, number_of, string_of
from potato_bridge.converters.traces.build import Builder, Kind
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import (
    Block,
    Loss,
    Outcome,
    Parent,
    ReasoningBlock,
    Ref,
    Result,
    Step,
    TextBlock,
    Trace,
    Usage,
)

#: Ids of sub-agents' trajectories → the step and the call that started them.
References: TypeAlias = dict[str, tuple[Step, str | None]]

_KINDS: dict[str, Kind] = {"system": "system", "user": "user", "agent": "agent"}
#: What only a step of an agent has.
_OF_AGENT = ("tool_calls", "metrics", "model_name", "reasoning_content", "llm_call_count", "observation")
#: A time that says where it is: `Z`, or hours from UTC.
_ZONED = re.compile(r"(Z|[+-]\d\d:?\d\d)$", re.I)


class Atif:
    """The reader."""

    name = "atif"
    title = "ATIF trajectory"

    def score(self, source: Source) -> int:
        """By `schema_version`, or by steps with `step_id` and `source`."""
        found = [_score(value) for value in source.head]
        return min(found) if found else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each trajectory."""
        for raw in source.records():
            if raw.bad is not None:
                report.fail(source, raw.bad, raw.line)
            elif not _score(raw.value):
                report.skip("no ATIF trajectory")
            else:
                trace = _restored(source, raw, raw.value, "") or _plain(source, raw, raw.value, "")
                if trace.outcome is None:
                    _reward(source, trace)
                yield trace


def _score(value: Any) -> int:
    if not isinstance(value, dict) or not isinstance(steps := value.get("steps"), list):
        return 0
    if str(value.get("schema_version")).startswith("ATIF-"):
        return 95
    fits = isinstance(value.get("agent"), dict) and all(
        isinstance(step, dict) and "step_id" in step and "source" in step for step in steps
    )
    return 80 if steps and fits else 0


def plain_trace(document: Mapping[str, Any], trace: Trace | None = None) -> Trace:
    """What a trajectory says beside its steps and its sub-agents, without the bridge's own extra.

    Args:
        document: The trajectory.
        trace: Gets it; None: a new one.
    """
    trace = trace or Trace(trace_id="")
    document = without(document)
    agent = dict_of(document, "agent")
    trace.agent.name, trace.agent.version = string_of(agent, "name"), string_of(agent, "version")
    trace.agent.model = string_of(agent, "model_name") or string_of(agent, "model")
    tools = agent.get("tool_definitions")
    trace.agent.tool_definitions = tools if isinstance(tools, list) else None
    trace.agent.config = agent.get("extra") or None
    totals = dict_of(document, "final_metrics")
    _metrics(trace, totals)
    if totals.get("extra"):
        trace.extra["final_metrics"] = {"extra": totals["extra"]}
    for key in ("notes", "extra", "continued_trajectory_ref"):
        if document.get(key) is not None:
            trace.extra[key] = document[key]
    return trace


def plain_steps(
    value: Mapping[str, Any], ordinal: int, references: References | None = None
) -> tuple[list[Step], list[Loss]]:
    """A step by itself, without the bridge's own extra, and what could not be kept.

    Results of other steps' calls, which ATIF does not allow, become steps of their own behind it.

    Args:
        value: The step.
        ordinal: Its position.
        references: Gets the sub-agents that it names.
    """
    builder = Builder(Source("", io.BytesIO), Atif.name)
    _step(builder, without(value), ordinal, {} if references is None else references)
    builder.trace.steps[0].index, builder.trace.steps[0].refs = ordinal, []
    return builder.trace.steps, builder.trace.source.losses


def _plain(source: Source, raw: Raw, document: Mapping[str, Any], within: str) -> Trace:
    builder = Builder(source, Atif.name)
    for note in () if within else raw.notes:
        builder.loss(note)
    if extra_of(document) is not None:
        builder.loss("stale-extra", "trajectory")
    trace = plain_trace(document, builder.trace)
    trace.source.format_version = string_of(document, "schema_version")
    references: References = {}
    steps = document.get("steps")
    for ordinal, value in enumerate(steps if isinstance(steps, list) else []):
        if isinstance(value, dict):
            _step(builder, without(value), ordinal, references)
        else:
            builder.event(value)
            builder.loss("unknown-record", "step")
    last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
    if last is not None and all(call.family == "submit" for call in last.tool_calls):
        last.flags.terminal = True
    native = string_of(document, "trajectory_id") or string_of(document, "session_id")
    made = builder.finish(native or source.stem, within, raw.digest())
    _children(source, raw, document, made, references)
    return made


def _restored(source: Source, raw: Raw, document: Mapping[str, Any], within: str) -> Trace | None:
    """The trace that was written; None where the document is another one's, or has changed since.

    Of a step that has changed since, or is new, a plain reading is taken.
    """
    kept, steps = extra_of(document), document.get("steps")
    if kept is None or not isinstance(steps, list) or not all(isinstance(value, dict) for value in steps):
        return None
    trace = restored(document, kept, plain_trace(document))
    if trace is None:
        return None
    trace.source.losses += [Loss(code=note) for note in raw.notes if not within]
    references: References = {}
    changed = kept.get("steps") != len(steps)
    for ordinal, value in enumerate(steps):
        made, losses = plain_steps(value, ordinal, references)
        own = extra_of(value)
        real = None if own is None else restored(value, own, made[0])
        if real is not None:
            trace.steps.append(real)
            continue
        changed = True
        trace.steps += made
        trace.source.losses += losses
        if own is not None:
            trace.source.losses.append(Loss(code="stale-extra", where=made[0].step_id))
    if changed:
        _numbered(trace)
    _children(source, raw, document, trace, references)
    return trace


def _numbered(trace: Trace) -> None:
    """Steps that were added or left out since: positions without gaps, and ids that come once."""
    taken: set[str] = set()
    for index, step in enumerate(trace.steps):
        step.index = index
        while step.step_id in taken:
            step.step_id += f"~{index}"
        taken.add(step.step_id)


def _step(builder: Builder, value: Mapping[str, Any], ordinal: int, references: References) -> None:
    builder.mapped()
    said = value.get("source")
    kind = _KINDS.get(said) if isinstance(said, str) else None
    if kind is None:
        kind = "agent" if any(value.get(key) for key in _OF_AGENT) else "environment"
        builder.loss("unknown-source", as_text(said)[:80])
    native = value.get("step_id")
    step = builder.step(
        kind,
        as_text(native) if isinstance(native, int | str) and not isinstance(native, bool) else None,
        ref=Ref(ordinal=ordinal),
        role=said if isinstance(said, str) else None,
    )
    step.started_at = string_of(value, "timestamp")
    if step.started_at:
        step.clock = "wall" if _ZONED.search(step.started_at) else "naive"
    step.model = string_of(value, "model_name")
    step.effort = as_text(value["reasoning_effort"]) if value.get("reasoning_effort") is not None else None
    if value.get("is_copied_context") is True:
        step.flags.copied_context, step.flags.ratable = True, False
    if (thought := string_of(value, "reasoning_content")) is not None:
        step.blocks.append(ReasoningBlock(text=thought))
    step.blocks += _blocks(value.get("message"))
    if kind == "system" and builder.trace.agent.system_prompt is None:
        builder.trace.agent.system_prompt = step.text()
    calls = value.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            name = call.get("function_name", call.get("name"))
            made = {"tool_call_id": call.get("tool_call_id", call.get("id")), "arguments": call.get("arguments")}
            builder.call(step, {**made, "name": name if isinstance(name, str) else "unknown"})
            if call.get("extra"):
                # A call has no place for what other programs say of it.
                step.extra.setdefault("tool_calls", {})[step.tool_calls[-1].call_id] = call["extra"]
        elif call is not None:
            builder.loss("bad-call", step.step_id)
    results = dict_of(value, "observation").get("results")
    for result in results if isinstance(results, list) else []:
        if isinstance(result, dict):
            _result(builder, step, result, references)
    metrics = dict_of(value, "metrics")
    counts = [count_of(metrics, key) for key in ("prompt_tokens", "completion_tokens", "cached_tokens")]
    if any(count is not None for count in counts):
        step.usage = Usage(input=counts[0], output=counts[1], cache_read=counts[2])
    for key in ("metrics", "extra", "llm_call_count"):
        if value.get(key) not in (None, {}):
            step.extra[key] = value[key]


def _result(builder: Builder, step: Step, value: Mapping[str, Any], references: References) -> None:
    blocks = _blocks(value.get("content"))
    texts = [block.text for block in blocks if isinstance(block, TextBlock)]
    result = Result(text="\n".join(texts) if texts or value.get("content") == "" else None)
    if any(not isinstance(block, TextBlock) for block in blocks):
        result.blocks = blocks
    if value.get("extra") not in (None, {}):
        result.native = {"extra": value["extra"]}
    call_id = value.get("source_call_id")
    if isinstance(call_id, str):
        builder.result(call_id, result)
    else:
        step.observations.append(result)
    started = value.get("subagent_trajectory_ref")
    for one in started if isinstance(started, list) else []:
        if isinstance(one, dict):
            if (path := string_of(one, "trajectory_path")) is not None:
                # The other file is a source of its own.
                builder.loss("sub-agent-not-found", path)
                result.native = {**(result.native or {}), "subagent_trajectory_ref": started}
            for key in ("trajectory_id", "session_id"):
                if isinstance(one.get(key), str):
                    references[one[key]] = step, call_id if isinstance(call_id, str) else None


def _children(
    source: Source,
    raw: Raw,
    document: Mapping[str, Any],
    trace: Trace,
    references: References,
) -> None:
    inner = document.get("subagent_trajectories")
    for number, value in enumerate(inner if isinstance(inner, list) else []):
        if not isinstance(value, dict):
            continue
        within = f"{trace.trace_id}/{number}"
        whole = _restored(source, raw, value, within)
        child = whole or _plain(source, raw, value, within)
        ids = [value.get("trajectory_id"), value.get("session_id")]
        found = next((references[one] for one in ids if isinstance(one, str) and one in references), None)
        if whole is None:
            # One that was restored says itself what started it.
            child.parent = Parent() if found is None else Parent(step_id=found[0].step_id, call_id=found[1])
        if found is not None:
            for call in found[0].tool_calls:
                if call.call_id == found[1]:
                    call.child_trace_id = child.trace_id
        trace.children.append(child)


def _metrics(trace: Trace, totals: Mapping[str, Any]) -> None:
    keys = ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens")
    counts = [count_of(totals, key) for key in keys]
    if any(count is not None for count in counts):
        trace.usage = Usage(input=counts[0], output=counts[1], cache_read=counts[2])
    trace.cost_usd = number_of(totals.get("total_cost_usd"))


def _reward(source: Source, trace: Trace) -> None:
    """The rewards of Harbor's trial, whose folder has the trajectory in `agent/`."""
    beside = source.beside("../result.json")
    result = next((raw.value for raw in beside.records()), None) if beside is not None else None
    if not isinstance(result, dict) or not isinstance(verified := result.get("verifier_result"), dict):
        return
    failed = result.get("exception_info")
    status = failed.get("exception_type") if isinstance(failed, dict) else None
    trace.outcome = Outcome(
        score=number_of(dict_of(verified, "rewards").get("reward")),
        exit_status=status if isinstance(status, str) else None,
        origin="result.json",
        raw=verified.get("rewards"),
    )
    trace.task.id = trace.task.id or string_of(result, "task_name")


def _blocks(content: Any) -> list[Block]:
    if content is None or content == "":
        return []
    return read_blocks(content) if isinstance(content, list) else [TextBlock(text=as_text(content))]


READER = Atif()

"""Conversations of OpenHands' SDK (V1): a folder of events, one a file, or the events as JSON Lines.

The actions of one response of the model share `llm_response_id` and are one step; what came back names its call.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from potato_bridge.converters.tool_calls import as_text, read_blocks
from potato_bridge.converters.traces._values import count_of, number_of, string_of
from potato_bridge.converters.traces.build import Builder
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import (
    Block,
    Compaction,
    ReasoningBlock,
    RedactedReasoningBlock,
    Ref,
    Result,
    Step,
    TextBlock,
    Trace,
    Usage,
)

_FILES = ("event-*.json", "events/event-*.json")
_KINDS = frozenset(("SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent"))
_BESIDE = ("ConversationStateUpdateEvent", "ConversationErrorEvent", "PauseEvent", "Condensation", "TokenEvent")


class OpenHandsV1:
    """The reader."""

    name = "openhands_v1"
    title = "OpenHands conversation (V1)"

    def score(self, source: Source) -> int:
        """By the names of a folder's files; else by the kinds of events."""
        if source.is_folder:
            return 90 if any(source.matching(pattern) for pattern in _FILES) else 0
        rows = [row for row in source.head if isinstance(row, dict)]
        events = [row for row in rows if "id" in row and "source" in row and isinstance(row.get("kind"), str)]
        fits = events and len(events) == len(rows) and any(row["kind"] in _KINDS for row in events)
        return 90 if fits else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One conversation."""
        run = _Run(source)
        for raw in _raws(source):
            run.take(raw)
        yield run.finish()


def _raws(source: Source) -> Iterator[Raw]:
    """The events: one a file of a folder, in the order of the files' numbers, or one a line."""
    if not source.is_folder:
        yield from source.records()
        return
    files = next(found for pattern in _FILES if (found := source.matching(pattern)))
    for ordinal, file in enumerate(files):
        for raw in file.records():
            raw.ordinal, raw.line = ordinal, None
            yield raw


class _Run:
    """One conversation."""

    def __init__(self, source: Source) -> None:
        self.source, self.builder = source, Builder(source, OpenHandsV1.name)
        self.steps: dict[str, Step] = {}
        self.first: str | None = None
        self.stats: Mapping[str, Any] = {}
        self.builder.trace.agent.name = "OpenHands"

    def take(self, raw: Raw) -> None:
        """Takes one event."""
        event = raw.value
        if raw.bad is not None:
            self.builder.bad(raw)
            return
        kind = event.get("kind") if isinstance(event, dict) else None
        if not isinstance(event, dict) or not isinstance(kind, str):
            self.builder.event(event)
            self.builder.loss("unknown-record", str(kind))
            return
        self.first = self.first or string_of(event, "id")
        ref = Ref(line=raw.line, ordinal=raw.ordinal if raw.line is None else None, native_id=string_of(event, "id"))
        if kind == "ActionEvent":
            self._action(event, ref)
        elif kind in ("MessageEvent", "SystemPromptEvent"):
            self._message(event, kind, ref)
        elif kind in ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"):
            self._observation(event)
        elif kind == "CondensationSummaryEvent":
            self._summary(event, ref)
        else:
            if kind not in _BESIDE:
                self.builder.loss("unknown-record", kind)
            if event.get("key") == "stats" and isinstance(event.get("value"), dict):
                self.stats = event["value"]
            self.builder.event(event)
            return
        self.builder.mapped(raw.notes)

    def _step(self, event: Mapping[str, Any], ref: Ref) -> Step:
        """The step of the response that an event of the agent is a part of."""
        key = string_of(event, "llm_response_id")
        step = self.steps.get(key) if key is not None else None
        if step is None:
            step = self.builder.step("agent", key or ref.native_id, role="assistant")
            _timed(step, event)
            if key is not None:
                self.steps[key] = step
        step.refs.append(ref)
        return step

    def _action(self, event: Mapping[str, Any], ref: Ref) -> None:
        step = self._step(event, ref)
        step.blocks += [*_thinking(event), *_texts(event.get("thought"))]
        action, called = event.get("action"), event.get("tool_call")
        arguments = called.get("arguments") if isinstance(called, dict) else None
        if arguments is None and isinstance(action, dict):
            arguments = {key: value for key, value in action.items() if key != "kind"}
        name = string_of(event, "tool_name")
        call = self.builder.call(
            step, {"tool_call_id": event.get("tool_call_id"), "name": name or "unknown", "arguments": arguments}
        )
        if name == "terminal":
            call.family = "shell"
        elif name == "file_editor" and isinstance(call.arguments, dict):
            call.family = "read" if call.arguments.get("command") == "view" else "edit"
        step.flags.terminal = call.family == "submit"
        for key in ("critic_result", "security_risk", "summary"):
            if event.get(key) is not None:
                step.extra[key] = event[key]

    def _message(self, event: Mapping[str, Any], kind: str, ref: Ref) -> None:
        if kind == "SystemPromptEvent":
            step = self.builder.step("system", ref.native_id, blocks=_texts([event.get("system_prompt")]), ref=ref)
            self.builder.trace.agent.system_prompt = step.text()
            tools = event.get("tools")
            self.builder.trace.agent.tool_definitions = tools if isinstance(tools, list) and tools else None
            _timed(step, event)
            return
        message = event.get("llm_message")
        message = message if isinstance(message, dict) else {}
        if event.get("source") == "agent":
            step = self._step(event, ref)
            step.blocks += _thinking(message)
        else:
            step = self.builder.step("user", ref.native_id, ref=ref, role=string_of(message, "role"))
            step.flags.meta = event.get("source") != "user"
            _timed(step, event)
        step.blocks += _texts(message.get("content"))

    def _observation(self, event: Mapping[str, Any]) -> None:
        seen = event.get("observation")
        seen = seen if isinstance(seen, dict) else {}
        said = seen.get("content", event.get("error", event.get("rejection_reason")))
        blocks = _texts(said)
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        result = Result(text="\n".join(texts) if texts or said in ("", []) else None, at=string_of(event, "timestamp"))
        if any(not isinstance(block, TextBlock) for block in blocks):
            result.blocks = blocks
        failed, code = seen.get("is_error"), seen.get("exit_code")
        result.exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
        result.is_error = failed if isinstance(failed, bool) else None
        if event.get("kind") != "ObservationEvent":
            result.is_error, result.error_kind = True, string_of(event, "kind")
        rest = {key: value for key, value in seen.items() if key not in ("content", "is_error", "exit_code")}
        result.native = rest or None
        self.builder.result(string_of(event, "tool_call_id"), result)

    def _summary(self, event: Mapping[str, Any], ref: Ref) -> None:
        steps = self.builder.trace.steps
        before = steps[-1].step_id if steps else None
        step = self.builder.step(
            "compaction", ref.native_id, blocks=_texts([event.get("summary")]), ref=ref, ratable=False
        )
        self.builder.trace.compactions.append(Compaction(before_step_id=before, summary_step_id=step.step_id))

    def finish(self) -> Trace:
        """The trace."""
        trace, source = self.builder.trace, self.source
        last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
        if last is not None and not last.tool_calls:
            last.flags.terminal = True
        state = source.members.get("base_state.json")
        about = next((raw.value for raw in state.records()), None) if state is not None else None
        about = about if isinstance(about, dict) else {}
        agent = about.get("agent")
        llm = agent.get("llm") if isinstance(agent, dict) else None
        trace.agent.model = string_of(llm, "model") if isinstance(llm, dict) else None
        stats = about.get("stats")
        self._usage(self.stats or (stats if isinstance(stats, dict) else {}))
        native = string_of(about, "id")
        if native is not None:
            return self.builder.finish(native, unique=True)
        return self.builder.finish(source.stem, self.first or "")

    def _usage(self, stats: Mapping[str, Any]) -> None:
        """Totals of the conversation: each event has the sum so far."""
        trace, metrics = self.builder.trace, stats.get("usage_to_metrics")
        costs, found = list[float](), list[Mapping[str, Any]]()
        for one in metrics.values() if isinstance(metrics, dict) else []:
            if isinstance(one, dict):
                trace.agent.model = trace.agent.model or string_of(one, "model_name")
                spent, used = one.get("accumulated_cost"), one.get("accumulated_token_usage")
                costs += [cost] if (cost := number_of(spent)) is not None else []
                found += [used] if isinstance(used, dict) else []
        if found:
            names = (
                "prompt_tokens",
                "completion_tokens",
                "cache_read_tokens",
                "cache_write_tokens",
                "reasoning_tokens",
            )
            sums = [[n for one in found if (n := count_of(one, name)) is not None] for name in names]
            trace.usage = Usage(*(sum(counts) if counts else None for counts in sums))
            trace.cost_usd = sum(costs) if costs else None


def _timed(step: Step, event: Mapping[str, Any]) -> None:
    step.started_at = string_of(event, "timestamp")
    if step.started_at is not None:
        # It is the machine's local time, of an unknown zone.
        step.clock = "wall" if step.started_at.endswith("Z") or "+" in step.started_at else "naive"


def _thinking(event: Mapping[str, Any]) -> list[Block]:
    """What the model thought: its blocks with signatures, else the text of them."""
    blocks: list[Block] = []
    thoughts = event.get("thinking_blocks")
    for one in thoughts if isinstance(thoughts, list) else []:
        if isinstance(one, dict) and isinstance(one.get("thinking"), str):
            blocks.append(ReasoningBlock(text=one["thinking"], signature=string_of(one, "signature")))
        elif isinstance(one, dict) and isinstance(one.get("data"), str):
            blocks.append(RedactedReasoningBlock(data=one["data"], provider="anthropic"))
    if not blocks and (text := string_of(event, "reasoning_content")):
        blocks.append(ReasoningBlock(text=text))
    return blocks


def _texts(content: Any) -> list[Block]:
    if content is None or content == "":
        return []
    if not isinstance(content, list):
        return [TextBlock(text=as_text(content))]
    return read_blocks([one for one in content if one is not None])


READER = OpenHandsV1()

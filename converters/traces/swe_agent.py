"""SWE-agent's trajectories (`.traj`): 0.x, 1.x, and demonstrations that hold nothing but a history.

A step is an entry of `trajectory`. What the model was told before, and the calls that it made, stand in `history`: its
n-th answer that is no demonstration is the n-th step. `query` (`messages` before 1.1) repeats the history at each step
and is not read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from potato_bridge.converters.tool_calls import as_text, read_blocks
from potato_bridge.converters.traces._values import count_of, dict_of, millis_of, number_of, string_of
from potato_bridge.converters.traces.build import Builder, patch_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import (
    Block,
    Outcome,
    ReasoningBlock,
    Ref,
    Result,
    Step,
    TextBlock,
    Trace,
    Usage,
)

_STEP_KEYS = {"action", "observation", "response"}


class SweAgent:
    """The reader."""

    name = "swe_agent"
    title = "SWE-agent trajectory"

    def score(self, source: Source) -> int:
        """By the fields of its steps; of a demonstration, by those of its messages."""
        found = [_score(value) for value in source.head]
        return min(found) if found else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each document."""
        for raw in source.records():
            if raw.bad is not None:
                report.fail(source, raw.bad, raw.line)
            elif not _score(raw.value):
                report.skip("no trajectory of SWE-agent")
            else:
                yield _Run(source, raw).read()


def _score(value: Any) -> int:
    if not isinstance(value, dict):
        return 0
    steps = value.get("trajectory")
    if isinstance(steps, list) and steps and all(isinstance(step, dict) for step in steps):
        return 95 if any(step.keys() >= _STEP_KEYS for step in steps) else 0
    history = value.get("history")
    if isinstance(history, list) and history and all(isinstance(one, dict) and "role" in one for one in history):
        return 90 if any("message_type" in one or "action" in one or "is_demo" in one for one in history) else 0
    return 0


class _Run:
    """One document."""

    def __init__(self, source: Source, raw: Raw) -> None:
        self.source, self.raw = source, raw
        self.document: dict[str, Any] = raw.value
        self.builder = Builder(source, SweAgent.name)
        for note in raw.notes:
            self.builder.loss(note)

    def read(self) -> Trace:
        steps, history = self.document.get("trajectory"), self.document.get("history")
        entries = steps if isinstance(steps, list) else []
        messages = history if isinstance(history, list) else []
        if entries:
            self._steps(entries, messages)
        else:
            self._history(messages)
        for step in reversed(self.builder.trace.steps):
            if step.kind == "agent":
                step.flags.terminal = any(call.family == "submit" for call in step.tool_calls)
                break
        return self._about()

    # --- steps --------------------------------------------------------------------------------------------------------

    def _steps(self, entries: Sequence[Any], messages: Sequence[Any]) -> None:
        answers: list[Mapping[str, Any]] = []
        observed: list[list[Mapping[str, Any]]] = []
        results: dict[str, Any] = {}
        for ordinal, message in enumerate(messages):
            if not isinstance(message, dict):
                self.builder.event(message)
                self.builder.loss("unknown-record", "history")
            elif message.get("role") == "assistant" and not message.get("is_demo"):
                self.builder.mapped()
                answers.append(message)
                observed.append([])
            elif answers:
                # What the step observed, with the state of the shell below it.
                self.builder.mapped()
                observed[-1].append(message)
                for call_id in _ids(message):
                    results[call_id] = message.get("content")
            else:
                self._told(message, Ref(ordinal=ordinal))
        for number, entry in enumerate(entries):
            if isinstance(entry, dict):
                self._step(entry, answers[number] if number < len(answers) else {}, results, number)
            else:
                self.builder.event(entry)
                self.builder.loss("unknown-record", "trajectory")
        # The run ended within a step: the trajectory does not have it, and the history does.
        for answer, seen in zip(answers[len(entries) :], observed[len(entries) :], strict=True):
            step = self.builder.step("agent", blocks=_thoughts(answer, answer), role="assistant")
            self._calls(step, answer, answer)
            for message in seen:
                self._observed(step, message)

    def _observed(self, step: Step, message: Mapping[str, Any]) -> None:
        """A message after an answer that stands in the history alone."""
        named = set(_ids(message))
        calls = [call for call in step.tool_calls if call.result is None and (call.call_id in named or not named)]
        result = _result(message.get("content"))
        if calls:
            self.builder.answer(calls[0], result, "id" if named else "order")
        else:
            step.observations.append(result)

    def _told(self, message: Mapping[str, Any], ref: Ref) -> None:
        """A message before the first answer: the system's prompt, a demonstration, or the task."""
        self.builder.mapped()
        role = message.get("role")
        demo = message.get("is_demo") is True
        kind = "system" if role == "system" else "agent" if role == "assistant" else "user"
        blocks = _blocks(message.get("content"))
        step = self.builder.step(kind, blocks=blocks, ref=ref, ratable=False, role=as_text(role))  # type: ignore[arg-type]
        step.flags.demo = demo
        if kind == "system" and self.builder.trace.agent.system_prompt is None:
            self.builder.trace.agent.system_prompt = step.text()

    def _step(
        self, entry: Mapping[str, Any], answer: Mapping[str, Any], results: Mapping[str, Any], number: int
    ) -> None:
        self.builder.mapped()
        step = self.builder.step("agent", blocks=_thoughts(entry, answer), ref=Ref(ordinal=number), role="assistant")
        self._calls(step, entry, answer)
        observation, took = entry.get("observation"), entry.get("execution_time")
        for position, call in enumerate(step.tool_calls):
            said = observation
            if len(step.tool_calls) > 1:
                # Each has a message of its own; the trajectory has them in one.
                said = results.get(call.call_id)
            if said is None:
                continue
            result = _result(said)
            if position == 0:
                result.duration_ms = millis_of(took)
            self.builder.answer(call, result, "order")
        if not step.tool_calls and observation not in (None, ""):
            step.observations.append(_result(observation))
        if (state := entry.get("state")) is not None:
            step.extra["state"] = _parsed(state)
        if isinstance(extra := entry.get("extra_info"), dict) and extra:
            step.extra["extra_info"] = extra

    def _calls(self, step: Step, entry: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        calls = answer.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                self.builder.call(step, call)
        action = entry.get("action", answer.get("action"))
        if step.tool_calls or not isinstance(action, str) or not action.strip():
            return
        # Without functions, an action is a line for a shell that knows more commands than others.
        made = self.builder.call(step, {"name": "bash", "arguments": {"command": action}})
        if action.strip() == "submit":
            made.family = "submit"

    def _history(self, messages: Sequence[Any]) -> None:
        """A demonstration: its answers are steps."""
        step: Step | None = None
        for ordinal, message in enumerate(messages):
            ref = Ref(ordinal=ordinal)
            if not isinstance(message, dict):
                self.builder.event(message)
                self.builder.loss("unknown-record", "history")
            elif message.get("role") == "assistant" and not message.get("is_demo"):
                self.builder.mapped()
                step = self.builder.step("agent", blocks=_thoughts(message, message), ref=ref, role="assistant")
                self._calls(step, message, message)
            elif step is None or not step.tool_calls:
                self._told(message, ref)
            else:
                self.builder.mapped()
                named: list[str | None] = [*_ids(message)]
                for call_id in named or [None]:
                    self.builder.result(call_id, _result(message.get("content")))

    # --- the document -------------------------------------------------------------------------------------------------

    def _about(self) -> Trace:
        trace = self.builder.trace
        info = self.document.get("info")
        info = info if isinstance(info, dict) else {}
        config = _parsed(self.document.get("replay_config"))
        config = config if isinstance(config, dict) else {}
        agent = dict_of(config, "agent")
        model = dict_of(agent, "model").get("name")
        problem = dict_of(config, "problem_statement")
        repo = dict_of(dict_of(config, "env"), "repo")
        trace.agent.name = "SWE-agent"
        trace.agent.version = trace.source.producer_version = string_of(info, "swe_agent_version")
        trace.agent.model = model if isinstance(model, str) else None
        trace.task.id = string_of(problem, "id") or (
            string_of(agent, "name") if "__" in str(agent.get("name")) else None
        )
        trace.task.text = string_of(problem, "text")
        trace.task.text_origin = None if trace.task.text is None else "replay_config.problem_statement"
        trace.task.base_commit = string_of(repo, "base_commit")
        submission = info.get("submission")
        if isinstance(submission, str):
            trace.final_patch = patch_of(submission, "submission")
            if trace.final_patch.crlf_stripped:
                self.builder.loss("patch-crlf")
        status = string_of(info, "exit_status")
        if status is not None:
            # Submitted is not resolved: a report of SWE-bench says that.
            trace.outcome = Outcome(exit_status=status, origin="info")
        stats = dict_of(info, "model_stats")
        cost = stats.get("instance_cost")
        trace.cost_usd = number_of(cost)
        sent, received = count_of(stats, "tokens_sent"), count_of(stats, "tokens_received")
        if sent is not None or received is not None:
            trace.usage = Usage(input=sent, output=received)
        trace.extra |= {key: self.document[key] for key in ("environment",) if key in self.document}
        name = trace.task.id or self.source.stem
        return self.builder.finish(name, self.raw.digest())


def _thoughts(entry: Mapping[str, Any], answer: Mapping[str, Any]) -> list[Block]:
    """What the model thought: the prose beside the action, which is a call."""
    blocks: list[Block] = []
    thinking = answer.get("thinking_blocks") or entry.get("thinking_blocks")
    for one in thinking if isinstance(thinking, list) else []:
        if isinstance(one, dict) and isinstance(one.get("thinking"), str):
            signature = one.get("signature")
            blocks.append(
                ReasoningBlock(text=one["thinking"], signature=signature if isinstance(signature, str) else None)
            )
    said = next((entry[key] for key in ("thought", "response", "content") if entry.get(key) is not None), None)
    return [*blocks, *(_blocks(said) if said != "" else [])]


def _blocks(content: Any) -> list[Block]:
    if content is None:
        return []
    return read_blocks(content) if isinstance(content, list) else [TextBlock(text=as_text(content))]


def _result(content: Any) -> Result:
    blocks = _blocks(content)
    texts = [block.text for block in blocks if isinstance(block, TextBlock)]
    other = any(not isinstance(block, TextBlock) for block in blocks)
    return Result(text="\n".join(texts), blocks=blocks if other else [])


def _ids(message: Mapping[str, Any]) -> list[str]:
    found = message.get("tool_call_ids", message.get("tool_call_id"))
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str)]


def _parsed(value: Any) -> Any:
    """A value that may stand there as JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


READER = SweAgent()

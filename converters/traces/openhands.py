"""OpenHands before its SDK (V0): rows of `output.jsonl`, exported trajectories and event streams, of three generations.

The history of a row is a list of pairs of action and observation, of events without ids, or of events with ids whose
observations name their cause. Actions of one response of the model (`tool_call_metadata`) are one step.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from potato_bridge.converters.tool_calls import as_text, read_blocks
from potato_bridge.converters.traces._values import count_of, dict_of, number_of, string_of
from potato_bridge.converters.traces.build import Builder, patch_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import Block, Outcome, Ref, Result, Step, TextBlock, ToolCall, Trace, Usage

#: What is said beside the conversation: states of the program, recalled knowledge, condensed histories.
_ASIDE = ("null", "", "recall", "agent_state_changed", "change_agent_state", "condensation", "condensation_request")
#: Fields of an event that are no arguments of its call.
_NOT_ARGUMENTS = frozenset(
    """action observation thought args id timestamp source message cause content extras tool_call_metadata llm_metrics
    keep_prompt is_confirmed confirmation_state security_risk action_risk kernel_init_code hidden blocking
    include_extra timeout is_input is_static cwd""".split()
)
_SHELLS = ("run", "run_ipython", "execute_ipython_cell")


class OpenHands:
    """The reader."""

    name = "openhands"
    title = "OpenHands (V0)"

    def score(self, source: Source) -> int:
        """By histories of actions and observations."""
        if source.form == "array" and _is_history(source.head):
            return 90
        found = [_history_of(value) for value in source.head]
        return 90 if found and all(history is not None for history in found) else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each history."""
        if source.form == "array" and _is_history(source.head):
            raws = list(source.records())
            yield _Run(source, raws[0], {}).read([raw.value for raw in raws])
            return
        for raw in source.records():
            if raw.bad is not None:
                report.fail(source, raw.bad, raw.line)
            elif (history := _history_of(raw.value)) is None:
                report.skip("no history of OpenHands")
            else:
                yield _Run(source, raw, raw.value).read(history)


def _history_of(value: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        return None
    for key in ("history", "trajectory"):
        history = value.get(key)
        if isinstance(history, list) and _is_history(history):
            return history
    return None


def _is_history(entries: Sequence[Any]) -> bool:
    flat = [event for entry in entries for event in (entry if isinstance(entry, list) else [entry])]
    return bool(flat) and all(
        isinstance(event, dict)
        and (isinstance(event.get("action"), str) or isinstance(event.get("observation"), str))
        # Steps of SWE-agent have both, and what the model said.
        and "response" not in event
        for event in flat
    )


class _Run:
    """One history."""

    def __init__(self, source: Source, raw: Raw, row: Mapping[str, Any]) -> None:
        self.source, self.raw, self.row = source, raw, row
        self.builder = Builder(source, OpenHands.name)
        self.steps: dict[str, Step] = {}
        self.causes: dict[Any, ToolCall] = {}
        self.last: ToolCall | None = None
        self.asked = False
        for note in raw.notes:
            self.builder.loss(note)

    def read(self, history: Sequence[Any]) -> Trace:
        """The trace."""
        for ordinal, entry in enumerate(history):
            events = [one for one in (entry if isinstance(entry, list) else [entry]) if isinstance(one, dict)]
            # A pair is one record.
            kept = [self._event(event, Ref(ordinal=ordinal)) for event in events]
            if any(kept):
                self.builder.mapped()
            else:
                self.builder.event(entry)
        return self._about()

    def _event(self, event: dict[str, Any], ref: Ref) -> bool:
        """Takes an event; whether it is a part of a step."""
        action, seen = event.get("action"), event.get("observation")
        if isinstance(event.get("id"), int | str):
            ref = Ref(ordinal=ref.ordinal, native_id=str(event["id"]))
        if isinstance(action, str):
            if action in _ASIDE:
                return False
            self._action(event, action, ref)
            return True
        if isinstance(seen, str):
            return seen not in _ASIDE and self._observation(event, seen)
        self.builder.loss("unknown-record", "event")
        return False

    # --- actions ------------------------------------------------------------------------------------------------------

    def _action(self, event: Mapping[str, Any], action: str, ref: Ref) -> None:
        args = event.get("args")
        args = args if isinstance(args, dict) else event
        source = event.get("source")
        if action == "system":
            step = self.builder.step("system", ref.native_id, blocks=_blocks(args.get("content")), ref=ref)
            self.builder.trace.agent.system_prompt = step.text()
            tools = args.get("tools")
            self.builder.trace.agent.tool_definitions = tools if isinstance(tools, list) and tools else None
            _timed(step, event)
            return
        if action == "message" and (source == "user" or (source is None and not self.asked)):
            self.asked = True
            step = self.builder.step("user", ref.native_id, blocks=_blocks(args.get("content")), ref=ref, role="user")
            _timed(step, event)
            return
        step = self._step(event, ref)
        if source == "user":
            # Somebody has typed a command beside the agent.
            step.kind, step.flags.ratable = "user", False
        step.blocks += _blocks(args.get("content") if action == "message" else args.get("thought"))
        if action != "message":
            self._call(step, event, action, args)

    def _step(self, event: Mapping[str, Any], ref: Ref) -> Step:
        """The step of the response that an action is a part of."""
        response = dict_of(dict_of(event, "tool_call_metadata"), "model_response")
        key = string_of(response, "id")
        step = self.steps.get(key) if key is not None else None
        if step is None:
            step = self.builder.step("agent", key or ref.native_id, role="assistant")
            _timed(step, event)
            step.model = string_of(response, "model")
            usage = dict_of(response, "usage")
            counts = count_of(usage, "prompt_tokens"), count_of(usage, "completion_tokens")
            if counts != (None, None):
                step.usage = Usage(input=counts[0], output=counts[1])
            if key is not None:
                self.steps[key] = step
        step.refs.append(ref)
        return step

    def _call(self, step: Step, event: Mapping[str, Any], action: str, args: Mapping[str, Any]) -> None:
        metadata = dict_of(event, "tool_call_metadata")
        call_id = string_of(metadata, "tool_call_id")
        given: dict[str, Any] = {
            "tool_call_id": call_id,
            "name": string_of(metadata, "function_name") or action,
            "arguments": {key: value for key, value in args.items() if key not in _NOT_ARGUMENTS},
        }
        for one in _called(metadata):
            # What the model wrote, where the log has it.
            function = dict_of(one, "function")
            if call_id is not None and one.get("id") == call_id and "arguments" in function:
                given["arguments"] = function["arguments"]
        call = self.builder.call(step, given)
        if action in _SHELLS:
            call.family = "shell"
        if action == "finish":
            call.family, step.flags.terminal = "submit", True
        if isinstance(event.get("id"), int | str):
            self.causes[event["id"]] = call
        self.last = call

    # --- observations -------------------------------------------------------------------------------------------------

    def _observation(self, event: Mapping[str, Any], seen: str) -> bool:
        extras = event.get("extras")
        extras = extras if isinstance(extras, dict) else event
        blocks = _blocks(event.get("content"))
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        result = Result(text="\n".join(texts) if texts or event.get("content") == "" else None)
        result.at = string_of(event, "timestamp")
        code = dict_of(extras, "metadata").get("exit_code", extras.get("exit_code"))
        if isinstance(code, int) and not isinstance(code, bool):
            result.exit_code, result.is_error = code, code != 0
        if seen in ("error", "user_rejected"):
            result.is_error, result.error_kind = True, seen
        elif seen in ("edit", "read") and (result.text or "").startswith("ERROR:"):
            # A failed edit has the texts of before and after all the same.
            result.is_error = True
        if any(extras.get(key) is not None for key in ("old_content", "new_content")):
            self.builder.loss("original-file")
        cause = event.get("cause")
        call = self.causes.get(cause) if isinstance(cause, int | str) else self.last
        named = string_of(dict_of(event, "tool_call_metadata"), "tool_call_id")
        if call is not None and call.result is None:
            self.builder.answer(call, result, "cause" if cause is not None else "order")
        else:
            self.builder.result(named, result)
        return True

    # --- the row ------------------------------------------------------------------------------------------------------

    def _about(self) -> Trace:
        trace, row = self.builder.trace, self.row
        metadata, instance, issue = dict_of(row, "metadata"), dict_of(row, "instance"), dict_of(row, "issue")
        model = dict_of(metadata, "llm_config").get("model")
        trace.agent.name = "OpenHands"
        trace.agent.version = trace.source.producer_version = string_of(metadata, "git_commit")
        trace.agent.model = model if isinstance(model, str) else next((s.model for s in trace.steps if s.model), None)
        trace.task.id = string_of(row, "instance_id") or string_of(instance, "instance_id")
        trace.task.repo = string_of(instance, "repo")
        trace.task.base_commit = string_of(instance, "base_commit") or string_of(row, "base_commit") or None
        if issue:
            trace.task.repo = f"{issue.get('owner')}/{issue.get('repo')}"
            trace.task.id = f"{issue.get('owner')}__{issue.get('repo')}-{issue.get('number')}"
        for key, text in (
            ("instance", string_of(instance, "problem_statement")),
            ("row", string_of(row, "instruction")),
        ):
            if text and trace.task.text is None:
                trace.task.text, trace.task.text_origin = text, key
        result = dict_of(row, "test_result")
        patch = next((one for one in (result.get("git_patch"), row.get("git_patch")) if isinstance(one, str)), None)
        if patch is not None:
            trace.final_patch = patch_of(patch, "git_patch")
            if trace.final_patch.crlf_stripped:
                self.builder.loss("patch-crlf")
        self._outcome(trace, row, dict_of(result, "report").get("resolved"))
        metrics = dict_of(row, "metrics")
        cost, tokens = metrics.get("accumulated_cost"), dict_of(metrics, "accumulated_token_usage")
        trace.cost_usd = number_of(cost)
        if tokens:
            names = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
            trace.usage = Usage(*(count_of(tokens, name) for name in names))
        digest = self.raw.digest() if self.row else self.raw.array_digest()
        return self.builder.finish(trace.task.id or self.source.stem, digest)

    @staticmethod
    def _outcome(trace: Trace, row: Mapping[str, Any], resolved: Any) -> None:
        error, success = string_of(row, "error"), row.get("success")
        if isinstance(resolved, bool):
            trace.outcome = Outcome(resolved=resolved, exit_status=error, origin="test_result.report")
        elif isinstance(success, bool) or error:
            # The resolver asks a model whether it went well: that is no test.
            raw = {key: row[key] for key in ("success", "result_explanation") if key in row}
            trace.outcome = Outcome(exit_status=error, origin="resolver" if raw else "error", raw=raw or None)


def _called(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The calls of the model's own answer."""
    choices = dict_of(metadata, "model_response").get("choices")
    message = (
        dict_of(choices[0], "message") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    )
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _timed(step: Step, event: Mapping[str, Any]) -> None:
    step.started_at = string_of(event, "timestamp")
    if step.started_at is not None:
        step.clock = "wall" if step.started_at.endswith("Z") or "+" in step.started_at else "naive"


def _blocks(content: Any) -> list[Block]:
    if content is None or content == "":
        return []
    return read_blocks(content) if isinstance(content, list) else [TextBlock(text=as_text(content))]


READER = OpenHands()

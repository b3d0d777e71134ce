"""mini-swe-agent's trajectories: documents of 1.x and 2.x, and bare lists of messages.

A step is a message of the assistant. Its command is a function call, or the fenced block of its text; what came back is
the next message, with the exit code in front.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from potato_bridge.converters.tool_calls import as_text
from potato_bridge.converters.traces._chat import usage_of
from potato_bridge.converters.traces._values import number_of
from potato_bridge.converters.traces.build import Builder, patch_of
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import Outcome, Ref, Result, Step, TextBlock, Trace

_BLOCK = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?```", re.S)
_RETURNED = re.compile(r"\s*<returncode>(-?\d{1,10})</returncode>\s*")
#: A long output has its head and its tail instead, which stay as the agent saw them.
_OUTPUT = re.compile(r"<output>\n?(.*?)\n?</output>\s*", re.S)
_SUBMITS = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
_ROLES = ("system", "user", "assistant", "tool", "exit")


class MiniSweAgent:
    """The reader."""

    name = "mini_swe_agent"
    title = "mini-swe-agent trajectory"

    def score(self, source: Source) -> int:
        """By `trajectory_format`; a bare list by what its messages hold."""
        if source.form == "array":
            return 60 if _is_bare(source.head) else 0
        found = [_score(value) for value in source.head]
        return min(found) if found else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each document, or of a list of messages."""
        if source.form == "array" and any(isinstance(value, dict) and "role" in value for value in source.head):
            raws = list(source.records())
            run = _Run(source, raws[0])
            yield run.read([raw.value for raw in raws], {})
            return
        for raw in source.records():
            if raw.bad is not None:
                report.fail(source, raw.bad, raw.line)
            elif not _score(raw.value):
                report.skip("no trajectory of mini-swe-agent")
            else:
                yield _Run(source, raw).read(raw.value["messages"], raw.value)


def _score(value: Any) -> int:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return 0
    if str(value.get("trajectory_format")).startswith("mini-swe-agent"):
        return 95
    return 60 if isinstance(value.get("info"), dict) and _is_bare(value["messages"]) else 0


def _is_bare(messages: Sequence[Any]) -> bool:
    """Whether messages are those of this agent, which their form alone does not say."""
    if not all(isinstance(one, dict) and one.get("role") in _ROLES for one in messages):
        return False
    texts = [_text(one.get("content")) for one in messages if isinstance(one.get("content"), str | list)]
    return any(text.startswith("<returncode>") or "```mswea_bash_command" in text for text in texts)


class _Run:
    """One document."""

    def __init__(self, source: Source, raw: Raw) -> None:
        self.source, self.raw = source, raw
        self.builder = Builder(source, MiniSweAgent.name)
        self.asked = False
        self.costs: list[float] = []
        for note in raw.notes:
            self.builder.loss(note)

    def read(self, messages: Sequence[Any], document: Mapping[str, Any]) -> Trace:
        """The trace."""
        self._about(document)
        for ordinal, message in enumerate(messages):
            if isinstance(message, dict) and message.get("role") in _ROLES:
                self._message(message, Ref(ordinal=ordinal))
            else:
                self.builder.event(message)
                self.builder.loss("unknown-record", "message")
        trace = self.builder.trace
        last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
        if last is not None:
            self._end(trace, last)
        if trace.cost_usd is None and self.costs:
            trace.cost_usd = sum(self.costs)
        digest = self.raw.digest() if document else self.raw.array_digest()
        return self.builder.finish(trace.task.id or self.source.stem, digest)

    def _message(self, message: Mapping[str, Any], ref: Ref) -> None:
        role, content = message["role"], message.get("content")
        extra = message.get("extra")
        extra = extra if isinstance(extra, dict) else {}
        if role == "exit":
            self.builder.event(dict(message))
            self._exit(extra)
            return
        self.builder.mapped()
        text = "" if content is None else _text(content)
        if role == "assistant":
            self._answer(message, text, extra, ref)
        elif role == "tool" or (role == "user" and self.builder.open_calls()):
            call_id = message.get("tool_call_id")
            self.builder.result(call_id if isinstance(call_id, str) else None, _result(text, extra))
        else:
            step = self.builder.step("system" if role == "system" else "user", ref=ref, role=role, ratable=False)
            step.blocks = [TextBlock(text=text)]
            if role == "system":
                self.builder.trace.agent.system_prompt = text
            else:
                # After the task, it is the program that complains about an answer.
                step.flags.meta, self.asked = self.asked, True

    def _answer(self, message: Mapping[str, Any], text: str, extra: Mapping[str, Any], ref: Ref) -> None:
        step = self.builder.step("agent", ref=ref, role="assistant")
        at = extra.get("timestamp")
        if isinstance(at, int | float) and not isinstance(at, bool) and 0 < at < 1e11:
            step.started_at, step.clock = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z"), "wall"
        response = extra.get("response")
        usage = response.get("usage") if isinstance(response, dict) else None
        step.usage = usage_of(usage) if isinstance(usage, dict) else None
        if (cost := number_of(extra.get("cost"))) is not None:
            step.extra["cost_usd"] = cost
            self.costs.append(cost)
        calls = message.get("tool_calls")
        calls = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        found = None if calls else _BLOCK.search(text)
        if found is not None:
            # The block is the call; what stands around it is the text.
            text = f"{text[: found.start()].rstrip()}\n{text[found.end() :].strip()}".strip()
        if text:
            step.blocks.append(TextBlock(text=text))
        for call in calls:
            self.builder.call(step, call)
        if found is not None:
            self.builder.call(step, {"name": "bash", "arguments": {"command": found.group(1)}})
        elif not calls:
            # Fenced in a way that this reader does not know: the program tells what it made of it.
            actions = extra.get("actions")
            for action in actions if isinstance(actions, list) else []:
                if isinstance(action, dict) and isinstance(command := action.get("command"), str):
                    self.builder.call(step, {"name": "bash", "arguments": {"command": command}})

    def _exit(self, extra: Mapping[str, Any]) -> None:
        trace = self.builder.trace
        status, submission = extra.get("exit_status"), extra.get("submission")
        if isinstance(status, str) and trace.outcome is None:
            trace.outcome = Outcome(exit_status=status, origin="exit")
        if isinstance(submission, str) and trace.final_patch is None:
            self._patch(submission)

    def _patch(self, text: str) -> None:
        self.builder.trace.final_patch = patch_of(text, "submission")
        if self.builder.trace.final_patch.crlf_stripped:
            self.builder.loss("patch-crlf")

    def _end(self, trace: Trace, last: Step) -> None:
        for call in last.tool_calls:
            if _SUBMITS in str((call.arguments or {}).get("command")):
                last.flags.terminal = True
                # Of a bare list, what the last command gave is what was submitted.
                if trace.final_patch is None and call.result is not None and call.result.text is not None:
                    submitted = call.result.text
                    if submitted.lstrip().startswith("diff --git "):
                        self._patch(submitted)

    def _about(self, document: Mapping[str, Any]) -> None:
        trace, info = self.builder.trace, document.get("info")
        info = info if isinstance(info, dict) else {}
        trace.agent.name = "mini-swe-agent"
        version, form = info.get("mini_version"), document.get("trajectory_format")
        trace.agent.version = trace.source.producer_version = version if isinstance(version, str) else None
        trace.source.format_version = form if isinstance(form, str) else None
        instance = document.get("instance_id")
        trace.task.id = instance if isinstance(instance, str) else None
        config = info.get("config")
        model = config.get("model") if isinstance(config, dict) else None
        name = model.get("model_name") if isinstance(model, dict) else None
        trace.agent.model = name if isinstance(name, str) else None
        status, submission = info.get("exit_status"), info.get("submission")
        if isinstance(status, str):
            trace.outcome = Outcome(exit_status=status, origin="info")
        if isinstance(submission, str):
            self._patch(submission)
        stats = info.get("model_stats")
        cost = stats.get("instance_cost") if isinstance(stats, dict) else None
        trace.cost_usd = number_of(cost)


def _text(content: Any) -> str:
    """A text, or the texts of content parts."""
    if isinstance(content, list):
        parts = [one.get("text") if isinstance(one, dict) else one for one in content]
        if all(isinstance(part, str) for part in parts):
            return "\n".join(str(part) for part in parts)
    return as_text(content)


def _result(text: str, extra: Mapping[str, Any]) -> Result:
    result = Result(text=text)
    code, output, failed = extra.get("returncode"), extra.get("raw_output"), extra.get("exception_info")
    if (found := _RETURNED.match(text)) is not None:
        result.exit_code = int(found[1])
        whole = _OUTPUT.fullmatch(text, found.end())
        # Without an output the code is all that it says.
        result.text = whole[1] if whole is not None else text[found.end() :] or text
    if isinstance(code, int) and not isinstance(code, bool):
        result.exit_code = code
    if isinstance(output, str):
        result.text = output
    if result.exit_code is not None:
        result.is_error = result.exit_code != 0
    if isinstance(failed, str) and failed:
        result.is_error, result.native = True, {"exception_info": failed}
    return result


READER = MiniSweAgent()

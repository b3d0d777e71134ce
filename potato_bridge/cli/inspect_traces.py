"""`inspect` of traces: what each file is, how many steps and calls it has, and what is said in them."""

from typing import TYPE_CHECKING, Any

from potato_bridge.cli.common import Output

if TYPE_CHECKING:
    from potato_bridge.converters.traces.convert import Outcome
    from potato_bridge.model.trace import Step, Trace

_WIDTH = 96


def inspect_traces(name: str, source_format: str, output: Output) -> None:
    """Prints what the traces of an input are.

    Raises:
        InputError: Something of it cannot be read.
    """
    from potato_bridge.converters.traces.convert import Choice, Outcome, read_traces
    from potato_bridge.errors import InputError

    outcome = Outcome()
    found: list[dict[str, Any]] = []
    shown: Trace | None = None
    choice = Choice(min_steps=0)
    with output.progress("reading traces") as advance:
        for trace in read_traces([name], format=source_format, choice=choice, outcome=outcome, advance=advance):
            found.append(_summary(trace))
            # Only one is shown whole; thousands would not be kept.
            shown = trace if len(found) == 1 else None
    outcome.settle()
    if not found:
        raise InputError(f"{name}: there is no trace in it", hint="Name a session file, or a folder with some.")
    formats = ", ".join(sorted(outcome.formats))
    output.data(f"{name}: {formats}, {_count(len(found), 'trace')}")
    for one in found:
        output.data(f"  {_line(one)}")
        for loss in one["losses"]:
            note = f": {loss['note']}" if loss["note"] else ""
            where = f" {loss['where']}" if loss["where"] else ""
            output.data(f"    {loss['code']} ({loss['count']}){where}{note}")
    if shown is not None:
        _show(shown, output)
    output.finish({"format": formats, "traces": found, "skipped": _skipped(outcome)})


def _skipped(outcome: "Outcome") -> dict[str, int]:
    return outcome.left_out | outcome.report.skipped


def _summary(trace: "Trace") -> dict[str, Any]:
    from potato_bridge.converters.diffs.read import read_diff

    calls = [call for step in trace.steps for call in step.tool_calls]
    outcome = trace.outcome
    return {
        "id": trace.trace_id,
        "steps": len(trace.steps),
        "rated_steps": len(trace.ratable()),
        "tool_calls": len(calls),
        "results": sum(call.result is not None for call in calls),
        "edits": sum(len(call.edits) for call in calls),
        "children": len(trace.children),
        # Files of the patch; none at all is not an empty one.
        "final_patch": None if trace.final_patch is None else len(read_diff(trace.final_patch.text).files),
        "outcome": None
        if outcome is None
        else {"resolved": outcome.resolved, "score": outcome.score, "exit_status": outcome.exit_status},
        "losses": [
            {"code": loss.code, "where": loss.where, "count": loss.count, "note": loss.note}
            for loss in trace.source.losses
        ],
    }


def _line(one: dict[str, Any]) -> str:
    """One trace in one line."""
    parts = [
        f"{one['steps']} steps ({one['rated_steps']} rated)",
        f"{_count(one['tool_calls'], 'call')} ({one['results']} with results)",
        _count(one["edits"], "edit"),
    ]
    if one["children"]:
        parts.append(_count(one["children"], "sub-agent"))
    if one["final_patch"] is not None:
        parts.append(f"a patch of {_count(one['final_patch'], 'file')}")
    if one["outcome"] is not None:
        resolved = one["outcome"]["resolved"]
        if resolved is not None:
            parts.append("resolved" if resolved else "not resolved")
        if one["outcome"]["exit_status"]:
            parts.append(one["outcome"]["exit_status"])
    return f"{one['id']}: {', '.join(parts)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _show(trace: "Trace", output: Output) -> None:
    """The steps, a line for each and for each of their calls."""
    rated = 0
    for step in trace.steps:
        number = ""
        if step.flags.ratable:
            number, rated = str(rated), rated + 1
        output.data(f"{number:>5} {_who(step):<11} {_cut(step.text() or step.reasoning())}".rstrip())
        for call in step.tool_calls:
            given = call.arguments_raw or ", ".join(f"{key}={value}" for key, value in (call.arguments or {}).items())
            output.data(f"        {call.name} {_cut(given)}".rstrip())
            result = call.result
            if result is None:
                output.data("          (no result recorded)")
            else:
                mark = "!" if result.is_error else "="
                output.data(f"          {mark} {_cut(result.text or '')}".rstrip())


def _who(step: "Step") -> str:
    # Not said by anybody, or not in this run.
    beside = step.flags.meta or step.flags.demo or step.flags.copied_context
    return f"{step.kind}*" if beside else step.kind


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"

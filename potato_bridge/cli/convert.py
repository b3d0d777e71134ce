"""`convert`: session files of coding agents to items, and to other forms of traces."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from potato_bridge.cli.common import JsonOption, NoticesOption, Output, open_output

if TYPE_CHECKING:
    from potato_bridge.converters.traces.convert import Outcome
    from potato_bridge.model import Trace


class Target(StrEnum):
    """What a trace becomes: an item of Potato, a document of another format, or the bridge's own trace."""

    POTATO = "potato"
    OPENAI = "openai"
    ATIF = "atif"
    STS = "sts"
    TRACE = "trace"


class Shape(StrEnum):
    """How an item holds the steps."""

    TURNS = "structured_turns"
    STEPS = "steps"


InputsArgument = Annotated[
    list[str], typer.Argument(metavar="INPUT...", help="Files, folders or globs; - is stdin. Also .gz, .zst and .zip.")
]
FromOption = Annotated[
    str, typer.Option("--from", metavar="FORMAT", help="Format of the inputs. auto: found out for each file.")
]


def convert(
    inputs: InputsArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="File to write, one JSON object a line; of atif and sts also a folder. Default: stdout.",
        ),
    ] = None,
    source_format: FromOption = "auto",
    target: Annotated[Target, typer.Option("--to", help="What is written.")] = Target.POTATO,
    shape: Annotated[
        Shape, typer.Option("--shape", help="Of potato: turns with tool calls, or thought, action and observation.")
    ] = Shape.TURNS,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Stop after so many traces.")] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="So many traces by chance, in their order.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of --sample: the same one draws the same traces.")] = 0,
    min_steps: Annotated[int, typer.Option("--min-steps", min=1, help="Leave out traces with fewer rated steps.")] = 1,
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", min=1, help="Leave out traces with more rated steps.")
    ] = None,
    no_replay: Annotated[
        bool, typer.Option("--no-replay", help="Where a source has no final patch, make none of its edits either.")
    ] = False,
    subagents: Annotated[
        bool, typer.Option("--include-subagents", help="Also write each sub-agent's trace, after its parent's.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out what cannot be read, and say so; else nothing is written.")
    ] = False,
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Turn session files of coding agents into items. Replaces the output file, whole or not at all."""
    from potato_bridge.converters.traces.convert import Choice, Outcome, read_traces
    from potato_bridge.errors import UsageError

    if as_json and out is None:
        raise UsageError("--json prints a report, and the items would go to stdout too", hint="Add -o FILE.")
    output = open_output(as_json, notices)
    outcome = Outcome()
    choice = Choice(limit, sample, seed, min_steps, max_steps, subagents, replay=not no_replay)
    with output.progress("converting traces") as advance:
        traces = read_traces(inputs, format=source_format, choice=choice, outcome=outcome, advance=advance)
        count = write(traces, out, target, shape, output, outcome, skip_bad=skip_bad)
    tell = output.say if out is None else output.data
    tell(f"{'stdout' if out is None else out}: {count} traces of {outcome.sources} sources")
    for name, number in sorted(outcome.formats.items()):
        tell(f"  {name:<22} {number}")
    for why, number in (*outcome.left_out.items(), *outcome.report.skipped.items()):
        tell(f"  left out  {number}  {why}")
    for problem in outcome.problems:
        output.notices.add("unreadable-source", problem.message, problem.file)
    for place, why in outcome.report.bad:
        output.notices.add("bad-record", why, place)
    output.finish(
        {
            "out": None if out is None else str(out),
            "traces": count,
            "sources": outcome.sources,
            "formats": outcome.formats,
            "left_out": outcome.left_out | outcome.report.skipped,
        }
    )


def write(
    traces: "Iterable[Trace]",
    out: Path | None,
    target: Target,
    shape: Shape,
    output: Output,
    outcome: "Outcome",
    *,
    skip_bad: bool,
) -> int:
    """Writes traces, whole or not at all, and adds their losses to the notices.

    Returns:
        How many there are.

    Raises:
        UsageError: The file cannot be written there.
        InputError: Something cannot be read, or no trace is left.
    """
    from potato_bridge.errors import InputError, UsageError

    if out is not None and not out.parent.is_dir():
        raise UsageError(f"{out}: there is no folder {out.parent}", hint="Make it first.")
    count = 0
    with _place(out, target) as put:
        for trace in traces:
            put(trace.trace_id, _document(trace, target, shape))
            count += 1
            for loss in trace.source.losses:
                where = trace.trace_id if loss.where is None else f"{trace.trace_id} {loss.where}"
                output.notices.add(loss.code, LOSSES.get(loss.code, "something could not be kept"), where, loss.count)
        if not skip_bad:
            outcome.settle("Nothing was written; convert --skip-bad leaves them out and says so.")
        if not count:
            raise InputError("no trace is left to write", hint="See what was left out, and why: inspect shows it.")
    return count


#: Targets of which a trace is a file of its own in a folder, and that file's suffix.
_FILES = {Target.ATIF: ".json", Target.STS: ".jsonl"}


@contextmanager
def _place(out: Path | None, target: Target) -> Iterator[Callable[[str, bytes], object]]:
    """Where documents go, each with the id of its trace: one after the other, or each a file of its own.

    Raises:
        UsageError: Such a target does not go there.
    """
    import sys
    from contextlib import nullcontext

    from potato_bridge.errors import UsageError
    from potato_bridge.files import filling, replacing

    suffix = _FILES.get(target)
    if out is not None and suffix is not None and (out.is_dir() or not out.suffix):
        taken: set[str] = set()
        with filling(out) as folder:
            yield lambda name, data: (folder / (_file_name(name, taken) + suffix)).write_bytes(data)
        return
    if out is not None and (out.suffix not in (".jsonl", ".ndjson", suffix) or out.is_dir()):
        if suffix is None:
            raise UsageError(f"{out}: the output is JSON Lines", hint="Name it .jsonl.")
        ends = " or ".join(dict.fromkeys((suffix, ".jsonl")))
        raise UsageError(f"{out}: of {target} there are files {ends}, and folders", hint="Name one of them.")
    alone = target is Target.STS or (out is not None and out.suffix == ".json")
    with replacing(out) if out is not None else nullcontext(sys.stdout.buffer) as file:
        held: list[bytes] = []

        def single(name: str, data: bytes) -> None:
            if held:
                raise UsageError(f"{out or 'stdout'}: it holds one trace, and there are several", hint=several)
            held.append(data)

        several = "Name a folder with -o." if target is Target.STS else "Name a folder, or a .jsonl file."
        yield single if alone else lambda name, data: file.write(data)
        file.writelines(held)
        file.flush()


def _file_name(name: str, taken: set[str]) -> str:
    """A file's name, without suffix, for a trace's id, which may be anything; `taken` are those of the folder."""
    import hashlib
    import re

    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:100].lstrip(".")
    # Some file systems do not tell the case.
    if safe != name or safe.lower() in taken:
        safe += "-" + hashlib.sha256(name.encode()).hexdigest()[:10]
    while safe.lower() in taken:
        safe += "_"
    taken.add(safe.lower())
    return safe


def _document(trace: "Trace", target: Target, shape: Shape) -> bytes:
    from potato_bridge.converters.traces.write.atif import to_atif
    from potato_bridge.converters.traces.write.openai_messages import to_messages
    from potato_bridge.converters.traces.write.potato import to_item
    from potato_bridge.converters.traces.write.session_trace import session_file
    from potato_bridge.model.node import encode

    made: Any = trace
    match target:
        case Target.STS:
            return session_file(trace)
        case Target.POTATO:
            made = to_item(trace, shape.value)
        case Target.OPENAI:
            made = to_messages(trace)
        case Target.ATIF:
            made = to_atif(trace)
    return encode(made) + b"\n"


#: What losses mean; the place and the count come with them.
LOSSES = {
    "bad-record": "records could not be decoded and are left out",
    "skipped-record": "records are left out, as they repeat others or say nothing of the run",
    "unknown-record": "records of a kind that is not known are kept beside the steps",
    "unpaired-result": "results name a call that is not there: each stands by itself",
    "result-before-call": "results came before their call, and are given to it",
    "reused-call-id": "calls have an id that an earlier one has: they get another",
    "reused-step-id": "steps have an id that an earlier one has: they get another",
    "reused-row-id": "rows have the id of an earlier one and say something else: both are taken",
    "rewound-steps": "steps that the user took back are kept as a branch, and not shown",
    "sub-agent-not-found": "sub-agents have worked whose traces are not there",
    "original-file": "the text of files before an edit is left out",
    "patch-crlf": "the final patch was captured by a terminal, and its line ends are repaired",
    "bad-call": "calls that are no objects are left out",
    "other-choices": "a log holds several answers to one request: the first one is taken",
    "unknown-source": "steps of an unknown source are an agent's where they have what only an agent's have",
    "usage-without-step": "tokens of responses that left nothing count for the run alone",
    "another-session": "what another session said is in the file too, as in a fork: it is not told apart",
    "stale-extra": "parts have changed since the bridge wrote them: they are read without what it had added",
    "unknown-parent": "entries name a parent that is not there: each follows the one before it",
    "unknown-rewind": "a session was rewound to a message that is not there: nothing is taken back",
    "bad-hunk": "hunks of an edit are not as they must be, and left out",
    "not-a-number": "NaN, Infinity and numbers of thousands of digits became null",
    "lone-surrogate": "halves of surrogate pairs became U+FFFD",
}

"""Sources to traces: detection, sub-agents' files, ids that come twice, choosing, and what could not be read."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from potato_bridge.converters.traces.inputs import Source, expand, paths_of
from potato_bridge.converters.traces.reader import (
    Reader,
    Report,
    UnrecognisedError,
    detect,
    is_one,
    reader_named,
    readers,
    seen,
)
from potato_bridge.converters.traces.replay import replay
from potato_bridge.errors import BridgeError, InputError, Problem, UsageError
from potato_bridge.model.node import encode
from potato_bridge.model.trace import Trace

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which traces are taken.

    Attributes:
        limit: At most so many; None: all.
        sample: So many by chance, in their order; None: all.
        seed: Of the chance.
        min_steps: At least so many rated steps.
        max_steps: At most so many; None: any number.
        subagents: Whether sub-agents' traces are taken as traces of their own, after their parent's.
        replay: Whether a trace without a final patch gets the one that its edits come to.
    """

    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    min_steps: int = 1
    max_steps: int | None = None
    subagents: bool = False
    replay: bool = True

    def __post_init__(self) -> None:
        """Checks them.

        Raises:
            UsageError: They contradict each other.
        """
        if self.limit is not None and self.sample is not None:
            raise UsageError("--limit and --sample do not go together", hint="Use one of them.")
        if self.max_steps is not None and self.max_steps < self.min_steps:
            raise UsageError(f"--max-steps {self.max_steps} is less than --min-steps {self.min_steps}")


@dataclass
class Outcome:
    """What became of all sources.

    Attributes:
        sources: How many were read.
        formats: Format → traces.
        left_out: Why traces were not taken → how many.
        report: Records that give no trace.
        problems: Sources that could not be read.
    """

    sources: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    report: Report = field(default_factory=Report)
    problems: list[Problem] = field(default_factory=list)

    def leave(self, why: str) -> None:
        """Counts a trace that is not taken."""
        self.left_out[why] = self.left_out.get(why, 0) + 1

    def settle(self, hint: str = "") -> None:
        """Raises what could not be read.

        Raises:
            InputError: There is any.
        """
        bad = [*self.problems, *(Problem(why, place) for place, why in self.report.bad)]
        if bad:
            raise InputError(f"{len(bad)} of the sources or their records cannot be read", problems=bad, hint=hint)


def read_traces(
    inputs: Sequence[str],
    *,
    format: str = AUTO,
    choice: Choice | None = None,
    outcome: Outcome,
    advance: Callable[[int], None] = lambda done: None,
) -> Iterator[Trace]:
    """The traces of all sources, one at a time; what cannot be read is noted in `outcome`.

    Args:
        inputs: Files, folders, globs, or `-`.
        format: A reader's name, or `auto`.
        choice: Which traces are taken; None: all.
        outcome: Gets the counts and the problems.
        advance: Told of each trace.

    Raises:
        InputError: There is nothing at an input.
        UsageError: There is no such format.
    """
    wanted = choice or Choice()
    taken = _taken(inputs, format, wanted, outcome)
    if wanted.sample is not None:
        yield from _sample(taken, wanted.sample, wanted.seed, outcome)
        return
    for number, trace in enumerate(taken):
        if wanted.limit is not None and number >= wanted.limit:
            return
        advance(1)
        yield trace


def _taken(inputs: Sequence[str], format: str, choice: Choice, outcome: Outcome) -> Iterator[Trace]:
    ids: dict[str, int] = {}
    for trace in _all(inputs, format, choice, outcome):
        # Only a hash is kept of each: there may be fifty thousand.
        content = hash(encode(_named(trace)))
        if trace.trace_id in ids:
            if ids[trace.trace_id] == content:
                outcome.leave("the same trace twice")
                continue
            raise InputError(
                f"{trace.source.uri}: two traces have the id {trace.trace_id!r} and differ",
                hint="Convert their files apart, or remove the older one.",
            )
        ids[trace.trace_id] = content
        steps = len(trace.ratable())
        if steps < choice.min_steps or (choice.max_steps is not None and steps > choice.max_steps):
            outcome.leave("fewer steps than --min-steps" if steps < choice.min_steps else "more steps than --max-steps")
            continue
        if choice.replay:
            replay(trace)
        outcome.formats[trace.source.format or ""] = outcome.formats.get(trace.source.format or "", 0) + 1
        yield trace


def _named(trace: Trace) -> Trace:
    """The trace without the place that it was read from."""
    return replace(trace, source=replace(trace.source, uri=None))


def _all(inputs: Sequence[str], format: str, choice: Choice, outcome: Outcome) -> Iterator[Trace]:
    reader = None if format == AUTO else reader_named(format)
    known = readers() if reader is None else [reader]
    named = {path.resolve() for given in inputs if given != "-" for path in paths_of(given)}
    for source in expand(inputs, is_one=is_one):
        outcome.sources += 1
        try:
            found = reader or detect(source, known)
            if _is_part(found, source, named):
                continue
            count = 0
            for trace in found.read(source, outcome.report):
                if not any(step.kind == "agent" for step in trace.steps):
                    place = f"{source.name} ({trace.trace_id})" if count else source.name
                    outcome.problems.append(
                        Problem(f"read as {found.name}, it has no step of an agent: {seen(source)}", place)
                    )
                    count += 1
                    continue
                count += 1
                yield from _with_children(trace) if choice.subagents else [trace]
            if not count and not outcome.report.bad:
                outcome.problems.append(Problem(f"read as {found.name}, it has no trace: {seen(source)}", source.name))
        except UsageError:
            raise
        except UnrecognisedError as error:
            if source.found:
                # A folder may hold anything; what was named must be a trace.
                outcome.report.skip("no trace")
            else:
                outcome.problems.append(Problem(error.message.removeprefix(f"{source.name}: "), source.name))
        except BridgeError as error:
            outcome.problems.append(
                Problem(error.message.removeprefix(f"{source.name}: "), source.name, hint=error.hint)
            )


def _is_part(reader: Reader, source: Source, named: set[Path]) -> bool:
    """Whether a source is read with another one of the inputs, such as a sub-agent's file with its session."""
    main_of = getattr(reader, "main_of", None)
    relative = None if main_of is None else main_of(source)
    if relative is None or source.path is None:
        return False
    main = (source.path.parent / relative).resolve()
    return main.is_file() and not named.isdisjoint((main, *main.parents))


def _with_children(trace: Trace) -> Iterator[Trace]:
    yield trace
    for child in trace.children:
        yield from _with_children(child)


def _sample(traces: Iterator[Trace], count: int, seed: int, outcome: Outcome) -> Iterator[Trace]:
    """So many by chance, in their order; each trace has the same chance (reservoir sampling)."""
    chance = random.Random(seed)
    kept: list[tuple[int, Trace]] = []
    for number, trace in enumerate(traces):
        if len(kept) < count:
            kept.append((number, trace))
            continue
        place = chance.randrange(number + 1)
        outcome.leave("not in the sample")
        if place < count:
            kept[place] = (number, trace)
    for _, trace in sorted(kept, key=lambda one: one[0]):
        yield trace

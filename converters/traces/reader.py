"""What a reader of a format is, and how the right one is found: all are plug-ins, the built-in ones too."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Protocol

from potato_bridge.converters.traces.inputs import Source
from potato_bridge.errors import InputError, UsageError
from potato_bridge.model.trace import Trace

#: The entry-point group of readers: name → an object with the attributes of `Reader`.
GROUP = "potato_bridge.trace_readers"
#: Scores below are no recognition.
LEAST = 10


@dataclass
class Report:
    """What a source holds beside the traces.

    Attributes:
        skipped: Why records gave no trace → how many, such as a report among predictions.
        bad: Records that could not be read: (place, why).
    """

    skipped: dict[str, int] = field(default_factory=dict)
    bad: list[tuple[str, str]] = field(default_factory=list)

    def skip(self, why: str) -> None:
        """Counts a record that gives no trace."""
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def fail(self, source: Source, why: str, line: int | None = None) -> None:
        """Notes a record that cannot be read."""
        self.bad.append((source.name if line is None else f"{source.name}:{line}", why))


class UnrecognisedError(InputError):
    """No reader recognises a source."""


class Reader(Protocol):
    """A reader of one format. It has no state: one object reads all sources.

    Attributes:
        name: Of the format, as `--from` takes it; also `Trace.source.format`.
        title: For people.
    """

    name: str
    title: str

    def score(self, source: Source) -> int:
        """How sure it is that the source is of this format: 0 (no) to 100 (certain), by structure, never by name.

        Only `source.form`, `source.head` and, of a folder, `source.members` are looked at.
        """
        ...

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """The traces of a source, in their order, one at a time.

        Raises:
            InputError: The source cannot be read at all.
        """
        ...


@dataclass
class Refused:
    """A format that is recognised by name and not read."""

    name: str
    title: str

    def score(self, source: Source) -> int:
        """Never: it is only found by its name."""
        return 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """Refuses.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"{self.title} is not read by this version", hint=f"It reads {', '.join(names())}.")


#: Formats that a user may name and that are not read yet.
_REFUSED = {
    one.name: one
    for one in (
        Refused("swe_smith", "SWE-smith"),
        Refused("swe_gym", "SWE-Gym"),
        Refused("nebius", "nebius/SWE-agent-trajectories"),
        Refused("inspect_ai", "Inspect"),
        Refused("cline", "Cline and Roo"),
        Refused("langsmith", "LangSmith"),
        Refused("otlp_genai", "OTLP GenAI"),
        Refused("aider", "Aider"),
        Refused("copilot_cli", "Copilot CLI"),
        Refused("cursor", "Cursor"),
    )
}


def names() -> list[str]:
    """The formats that are read, sorted."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def readers() -> list[Reader]:
    """All readers, sorted by name."""
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    return [found[name].load() for name in sorted(found)]


def reader_named(name: str) -> Reader:
    """The reader of a format.

    Raises:
        UsageError: There is none of that name, or the format is known and not read.
    """
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            reader: Reader = entry.load()
            return reader
    if name in _REFUSED:
        return _REFUSED[name]
    raise UsageError(f"there is no format {name!r}", hint=f"One of auto, {', '.join(names())}.")


def detect(source: Source, among: Iterable[Reader] | None = None) -> Reader:
    """The reader that a source is for.

    Raises:
        UnrecognisedError: None recognises it; it says what was seen.
        InputError: Two do so alike.
    """
    scores = sorted(
        ((reader.score(source), reader) for reader in (readers() if among is None else among)),
        key=lambda found: (-found[0], found[1].name),
    )
    best = [found for found in scores if found[0] >= LEAST and found[0] == scores[0][0]]
    if len(best) == 1:
        return best[0][1]
    if best:
        like = " and ".join(reader.name for _, reader in best)
        raise InputError(f"{source.name}: looks like {like} alike", hint=f"Say which: --from {best[0][1].name}.")
    raise UnrecognisedError(
        f"{source.name}: no format of a trace is recognised: {seen(source)}",
        hint=f"Say what it is with --from: {', '.join(names())}.",
    )


def is_one(source: Source) -> bool:
    """Whether a folder or a zip is one source of some reader."""
    return any(reader.score(source) >= LEAST for reader in readers())


def seen(source: Source) -> str:
    """What a source holds, in a few words."""
    if source.is_folder:
        return f"a folder of {len(source.members)} files"
    if source.form == "text" or not source.head:
        return "no JSON"
    words = {"lines": "JSON Lines", "array": "a JSON array", "object": "a JSON object"}[source.form]
    keys: dict[str, Any] = {}
    for value in source.head[:20]:
        keys |= dict.fromkeys(value) if isinstance(value, dict) else {type(value).__name__: None}
    return f"{words} with {', '.join(list(keys)[:12])}"

"""What a card shows, as plain values: the templates in label_configs/ turn them into HTML.

`kind` of a part names the macro that draws it (`cards.html.j2`).
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

Tone: TypeAlias = Literal["plain", "good", "bad", "warn"]


@dataclass(frozen=True, slots=True)
class Badge:
    """A short word in a box; `tone` is its colour."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Clip:
    """A text of which a page shows everything, or the beginning and the end.

    Attributes:
        head: Shown at once.
        more: Shown when it is unfolded.
        more_lines: How many lines `more` has.
        cut_lines: Lines between `more` and `tail` that are not on the page.
        cut_chars: Characters of them.
        tail: The end, where something was cut.
    """

    head: str
    more: str = ""
    more_lines: int = 0
    cut_lines: int = 0
    cut_chars: int = 0
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Prose:
    """Text that somebody wrote."""

    kind: ClassVar[str] = "prose"
    text: Clip


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the agent thought before it answered; folds."""

    kind: ClassVar[str] = "reasoning"
    text: Clip


@dataclass(frozen=True, slots=True)
class Code:
    """Text of a file, or data: monospaced."""

    kind: ClassVar[str] = "code"
    text: Clip
    label: str = ""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A command and what it printed; either may be missing."""

    kind: ClassVar[str] = "terminal"
    command: Clip | None = None
    output: Clip | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a diff. `op` is `a` (added), `d` (deleted), `c` (context), `h` (hunk header) or `n` (a note)."""

    op: Literal["a", "d", "c", "h", "n"]
    text: str
    old: int | None = None
    new: int | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """A change to one file. `pairs` has two columns (None: nothing on that side), `rows` one; one of them is set."""

    kind: ClassVar[str] = "diff"
    rows: list[Row] = field(default_factory=list)
    pairs: list[tuple[Row | None, Row | None]] = field(default_factory=list)
    numbered: bool = False
    more_from: int | None = None
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """An image: `src` is an http(s) URL, `data` a data: URI with the picture's size in pixels; none: only the words."""

    kind: ClassVar[str] = "picture"
    alt: str
    src: str = ""
    data: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of ours, in place of something that cannot be shown."""

    kind: ClassVar[str] = "note"
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool call with its result: `title` is what it is about, `detail` its other arguments where they are short."""

    kind: ClassVar[str] = "tool"
    family: str
    label: str
    name: str
    title: str = ""
    detail: str = ""
    badges: list[Badge] = field(default_factory=list)
    parts: list["Part"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Observation:
    """What was observed after a step."""

    kind: ClassVar[str] = "observation"
    badges: list[Badge] = field(default_factory=list)
    parts: list["Part"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SubAgent:
    """The run of an agent that a call started; folds."""

    kind: ClassVar[str] = "subagent"
    title: str
    cards: list["Card"] = field(default_factory=list)


Part: TypeAlias = Prose | Reasoning | Code | Terminal | Diff | Picture | Note | Tool | Observation | SubAgent


@dataclass(frozen=True, slots=True)
class Card:
    """One entry of the trace.

    Attributes:
        number: 0-based number among the rated steps; None: shown and not rated.
        role: Whose turn it is, for an entry that is not rated.
        summary: A line that says what happened, where the content is not in the card.
    """

    number: int | None
    role: str
    badges: list[Badge] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    summary: str = ""


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """One file that the run changed; `change` is added, modified, deleted or renamed."""

    path: str
    change: Literal["added", "modified", "deleted", "renamed"]
    old_path: str = ""
    plus: int = 0
    minus: int = 0
    steps: list[int] = field(default_factory=list)

"""Trace: one run of a coding agent, a superset of ATIF 1.8. Every reader makes one, every writer takes one.

Unknown is never zero: `None` says that the source does not tell. A result of `None` was not recorded, which is not
an empty one; `is_error` of `None` is neither failure nor success. `source.losses` says what a reader could not keep.
"""

from typing import Any, Literal, TypeAlias

import msgspec

from potato_bridge.model.node import Node


class TextBlock(Node, tag_field="type", tag="text"):
    """Text that the step's author wrote, verbatim."""

    text: str


class ReasoningBlock(Node, tag_field="type", tag="reasoning"):
    """Reasoning that precedes the answer; `signature` is the provider's, needed to send it back."""

    text: str
    signature: str | None = None


class RedactedReasoningBlock(Node, tag_field="type", tag="redacted_reasoning"):
    """Reasoning that the provider encrypted: never shown, kept for a round trip."""

    data: str
    provider: str | None = None


class CallBlock(Node, tag_field="type", tag="call_ref"):
    """The place of a tool call among the step's blocks."""

    call_id: str


class ImageBlock(Node, tag_field="type", tag="image"):
    """An image: a URL, a path, or a `data:` URI in `uri`; or only its hash, where the bytes are elsewhere."""

    uri: str | None = None
    mime: str | None = None
    sha256: str | None = None
    alt: str | None = None


class DocumentBlock(Node, tag_field="type", tag="document"):
    """An attached document (PDF and the like)."""

    uri: str | None = None
    mime: str | None = None
    sha256: str | None = None
    title: str | None = None


class UnknownBlock(Node, tag_field="type", tag="unknown"):
    """A block of a kind that this version does not know: kept as it was."""

    raw: Any = None


Block: TypeAlias = (
    TextBlock | ReasoningBlock | RedactedReasoningBlock | CallBlock | ImageBlock | DocumentBlock | UnknownBlock
)


class Usage(Node):
    """Tokens of one model call; `input` includes what came from the cache (ATIF's rule). None: not recorded."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


class Hunk(Node):
    """One hunk; each line starts with a space, `-`, `+` or a backslash. Line numbers are 1-based, None if unknown."""

    lines: list[str]
    old_start: int | None = None
    old_len: int | None = None
    new_start: int | None = None
    new_len: int | None = None
    section: str | None = None


class Edit(Node):
    """A change to one file. `applied` is None where the source does not say whether it took effect."""

    path: str
    op: Literal["create", "modify", "delete", "rename", "mode", "unknown"] = "unknown"
    old_path: str | None = None
    applied: bool | None = None
    user_modified: bool | None = None
    hunks: list[Hunk] = []
    origin: (
        Literal[
            "structuredPatch",
            "old_new",
            "unified",
            "apply_patch",
            "search_replace",
            "fileDiff",
            "write",
        ]
        | None
    ) = None


class Result(Node):
    """What came back for a tool call, or was observed after a step.

    Attributes:
        blocks: Text and images, in order.
        text: The text blocks as one string; None where the source recorded no text at all.
        is_error: Whether the tool failed; None: the source does not say.
        duration_ms: Milliseconds.
        paired_by: How the reader matched it to its call.
        native: The source's own payload, where it says more than the text.
    """

    text: str | None = None
    blocks: list[Block] = []
    is_error: bool | None = None
    error_kind: str | None = None
    exit_code: int | None = None
    stdout: str | None = None
    stderr: str | None = None
    duration_ms: float | None = None
    truncated: bool = False
    at: str | None = None
    paired_by: Literal["id", "order", "cause"] | None = None
    output_type: str | None = None
    language: str | None = None
    native: Any = None


Family: TypeAlias = Literal[
    "shell",
    "read",
    "search",
    "edit",
    "write",
    "delete",
    "web",
    "mcp",
    "plan",
    "think",
    "agent",
    "submit",
    "ask",
    "other",
]


class ToolCall(Node):
    """One call of a tool. `arguments` is None, and `arguments_raw` set, where they are not an object.

    `result` of None: none was recorded.
    """

    call_id: str
    name: str
    id_origin: Literal["native", "synthesised"] = "native"
    family: Family = "other"
    arguments: dict[str, Any] | None = None
    arguments_raw: str | None = None
    edits: list[Edit] = []
    child_trace_id: str | None = None
    result: Result | None = None


class Flags(Node):
    """What a step is beside its kind. `ratable`: an annotator judges it, and it is a row of a process reward."""

    ratable: bool = False
    terminal: bool = False
    meta: bool = False
    demo: bool = False
    copied_context: bool = False
    synthetic: bool = False
    aborted: bool = False
    api_error: bool = False


class Ref(Node):
    """Where a step was in the source: 1-based line, or 0-based position in its list; the native ids."""

    line: int | None = None
    ordinal: int | None = None
    native_id: str | None = None
    parent_id: str | None = None


class Step(Node):
    """One step: a model response with all its tool calls and their observations, or a turn of somebody else.

    Attributes:
        step_id: Unique in the trace and stable: annotations refer to it, never to a position.
        index: 0-based position in the trace, dense.
        blocks: Ordered; a tool call's place is a `call_ref`.
        tool_calls: In the order of emission; several are one parallel group.
        observations: What was observed after the step and belongs to none of its calls.
        native: The source's own entry, as read, where the writer of that source needs it to write it back equal.
    """

    step_id: str
    index: int
    kind: Literal["system", "user", "agent", "environment", "compaction", "notice"] = "agent"
    role: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    clock: Literal["wall", "naive", "none"] = "none"
    model: str | None = None
    effort: str | None = None
    stop_reason: str | None = None
    blocks: list[Block] = []
    tool_calls: list[ToolCall] = []
    observations: list[Result] = []
    usage: Usage | None = None
    flags: Flags = msgspec.field(default_factory=Flags)
    refs: list[Ref] = []
    native: Any = None
    extra: dict[str, Any] = {}

    def text(self) -> str:
        """The text blocks, joined by newlines; reasoning is not among them."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    def reasoning(self) -> str:
        """The reasoning blocks, joined by newlines."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, ReasoningBlock))


class Loss(Node):
    """What a reader could not keep: a code, the place, how often."""

    code: str
    where: str | None = None
    count: int = 1
    note: str | None = None


class RecordCounts(Node):
    """The records of the source that a reader took for a trace: `read` is the sum of the other four.

    Attributes:
        mapped: Became steps, or parts of them.
        events: Kept beside the steps.
        skipped: Left out, each kind named among the losses.
        bad: Could not be decoded.
    """

    ALWAYS = frozenset({"read", "mapped", "events", "skipped", "bad"})

    read: int = 0
    mapped: int = 0
    events: int = 0
    skipped: int = 0
    bad: int = 0


class TraceSource(Node):
    """Where a trace came from; `record_key` names the list in an item that its steps were read from."""

    format: str | None = None
    format_version: str | None = None
    producer_version: str | None = None
    adapter: str | None = None
    adapter_version: str | None = None
    uri: str | None = None
    sha256: str | None = None
    record_key: str | None = None
    line_span: list[int] | None = None
    encoding: str | None = None
    losses: list[Loss] = []
    records: RecordCounts | None = None


class Task(Node):
    """What the agent was asked to do."""

    id: str | None = None
    text: str | None = None
    text_origin: str | None = None
    repo: str | None = None
    base_commit: str | None = None
    attachments: list[Block] = []


class Agent(Node):
    """Who did it."""

    name: str | None = None
    version: str | None = None
    model: str | None = None
    provider: str | None = None
    system_prompt: str | None = None
    tool_definitions: list[Any] | None = None
    config: Any = None


class Branch(Node):
    """Steps that were rewound or edited away; kept, never shown by default."""

    from_step_id: str
    steps: list[Step]


class Compaction(Node):
    """A point where the agent summarised its own context."""

    before_step_id: str | None = None
    summary_step_id: str | None = None
    trigger: str | None = None
    pre_tokens: int | None = None
    copied_step_ids: list[str] = []


class Patch(Node):
    """The final diff of a run, raw and repaired."""

    text: str
    text_raw: str | None = None
    origin: Literal["submission", "model_patch", "git_patch", "replayed"] | None = None
    crlf_stripped: bool = False
    files: list[Edit] = []
    problems: list[str] = []


class Outcome(Node):
    """How the run ended. `resolved` is None unless the source says so: a submitted patch is not a resolved task."""

    resolved: bool | None = None
    score: float | None = None
    exit_status: str | None = None
    tests: Any = None
    origin: str | None = None
    raw: Any = None


class Parent(Node):
    """The call of the parent trace that started this sub-agent."""

    step_id: str | None = None
    call_id: str | None = None


class Trace(Node):
    """One agent run. Sub-agents are `children`, each a trace of its own."""

    ALWAYS = frozenset({"schema"})

    trace_id: str
    schema: int = 1
    source: TraceSource = msgspec.field(default_factory=TraceSource)
    task: Task = msgspec.field(default_factory=Task)
    agent: Agent = msgspec.field(default_factory=Agent)
    steps: list[Step] = []
    children: list["Trace"] = []
    parent: Parent | None = None
    branches: list[Branch] = []
    compactions: list[Compaction] = []
    final_patch: Patch | None = None
    outcome: Outcome | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    started_at: str | None = None
    ended_at: str | None = None
    extra: dict[str, Any] = {}

    def ratable(self) -> list[Step]:
        """The steps that an annotator rates, in order: process rewards are numbered 0-based over these."""
        return [step for step in self.steps if step.flags.ratable]

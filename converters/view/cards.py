"""Trace → cards: what is shown of each step, in the order in which it happened."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from potato_bridge.converters.view.clip import MAX_LINES, MAX_ROWS, clip, diff, diff_of_text
from potato_bridge.converters.view.parts import (
    Badge,
    Card,
    Clip,
    Code,
    Diff,
    Note,
    Observation,
    Part,
    Picture,
    Prose,
    Reasoning,
    SubAgent,
    Terminal,
    Tool,
)
from potato_bridge.converters.view.text import plain_terminal
from potato_bridge.model.project import TraceDisplay
from potato_bridge.model.trace import (
    Block,
    CallBlock,
    DocumentBlock,
    Edit,
    ImageBlock,
    ReasoningBlock,
    RedactedReasoningBlock,
    Result,
    Step,
    TextBlock,
    ToolCall,
    Trace,
    UnknownBlock,
)
from potato_bridge.notices import Notices

#: Word on the badge of a tool call, by family.
FAMILY_WORDS: Final = {
    "shell": "Terminal",
    "read": "Read",
    "search": "Search",
    "edit": "Edit",
    "write": "Write",
    "delete": "Delete",
    "web": "Web",
    "mcp": "MCP",
    "plan": "Plan",
    "think": "Think",
    "agent": "Agent",
    "submit": "Submit",
    "ask": "Ask",
    "other": "Tool",
}
#: The argument that says what a call is about, by family; the first that is there goes into its title.
_SUBJECTS: Final[dict[str, tuple[str, ...]]] = {
    "shell": ("command", "cmd", "script", "code"),
    "read": ("file_path", "path", "filename", "file"),
    "edit": ("file_path", "path", "filename", "file"),
    "write": ("file_path", "path", "filename", "file"),
    "delete": ("file_path", "path", "filename", "file"),
    "search": ("pattern", "query", "regex", "q", "glob"),
    "web": ("url", "query", "q", "selector"),
    "agent": ("description", "task", "prompt"),
}
#: Arguments that a diff shows already.
_IN_DIFF: Final = frozenset(
    {"old_string", "new_string", "old_str", "new_str", "content", "contents", "file_text", "patch", "edits", "diff"}
)
_ROLE_WORDS: Final = {
    "system": "System",
    "user": "User",
    "agent": "Agent",
    "environment": "Environment",
    "compaction": "Context summary",
    "notice": "Notice",
}
_OP_WORDS: Final = {"create": "new file", "delete": "deleted", "rename": "renamed", "mode": "mode changed"}
_TITLE_CHARS: Final = 160
_DETAIL_CHARS: Final = 100
_MAX_DEPTH: Final = 3

#: Draws an image: it may need a file, so the caller says how.
Draw = Callable[[ImageBlock], Picture]


@dataclass(frozen=True)
class CardMaker:
    """Makes the cards of a trace.

    Args:
        display: What the config asks for.
        limit: Characters of one text that reach the page.
        draw: How an image is drawn.
        notices: Gets `output-cut`.
        where: The item, for the notices.
    """

    display: TraceDisplay
    limit: int
    draw: Draw
    notices: Notices
    where: str

    def cards(self, trace: Trace, depth: int = 0) -> list[Card]:
        """One card for each step of the trace, rated or not."""
        cards, number = [], 0
        children = {child.trace_id: child for child in trace.children}
        for step in trace.steps:
            rated = step.flags.ratable
            cards.append(self._card(step, number if rated else None, children, depth))
            number += rated
        return cards

    def _card(self, step: Step, number: int | None, children: dict[str, Trace], depth: int) -> Card:
        calls = {call.call_id: call for call in step.tool_calls}
        parts: list[Part] = []
        for block in step.blocks:
            if isinstance(block, CallBlock):
                if call := calls.pop(block.call_id, None):
                    parts.append(self._tool(call, children, depth))
            elif part := self._block(block):
                parts.append(part)
        parts += [self._tool(call, children, depth) for call in calls.values()]
        parts += [self._observation(result) for result in step.observations]
        badges = [Badge(word, "warn") for word, is_set in _flag_words(step) if is_set]
        role = (step.role or "").strip().capitalize() or _ROLE_WORDS.get(step.kind, step.kind)
        return Card(number, role, badges, parts, _summary(step))

    def _block(self, block: Block) -> Part | None:
        match block:
            case TextBlock(text=text):
                return Prose(self._clip(text)) if text.strip() else None
            case ReasoningBlock(text=text):
                return Reasoning(self._clip(text)) if self.display.show_reasoning and text.strip() else None
            case RedactedReasoningBlock():
                return Note("The provider encrypted this reasoning.") if self.display.show_reasoning else None
            case ImageBlock():
                return self.draw(block)
            case DocumentBlock(title=title, uri=uri, mime=mime):
                return Note(f"Attached document: {title or _short_uri(uri) or mime or 'untitled'}")
            case UnknownBlock(raw=raw):
                return Code(self._clip(_json(raw)), "unknown block")
        return None

    def _tool(self, call: ToolCall, children: dict[str, Trace], depth: int) -> Tool:
        arguments = dict(call.arguments or {})
        subject = next((k for k in _SUBJECTS.get(call.family, ()) if isinstance(arguments.get(k), str)), None)
        title = str(arguments[subject]) if subject else ""
        parts: list[Part] = []
        command: Clip | None = None
        if call.family == "shell" and subject:
            command = self._clip(title)
            del arguments[subject]
            title = ""
        elif subject and len(title) <= _TITLE_CHARS and "\n" not in title:
            del arguments[subject]
        else:
            title = ""
        if call.edits:
            arguments = {key: value for key, value in arguments.items() if key not in _IN_DIFF}
            if not title and command is None:
                title = ", ".join(dict.fromkeys(edit.path for edit in call.edits))[:_TITLE_CHARS]
        detail = _short_arguments(arguments)
        if arguments and not detail:
            parts.append(Code(self._clip(_arguments(arguments)), "arguments"))
        elif call.arguments is None and call.arguments_raw:
            parts.append(Code(self._clip(call.arguments_raw), "arguments, not JSON"))
        for edit in call.edits:
            parts += self._edit(edit, named=len(call.edits) > 1 or edit.path != title)
        parts += self._result(call, command)
        child = children.get(call.child_trace_id or "")
        if child is not None and depth < _MAX_DEPTH:
            title_of_child = child.agent.name or "Sub-agent"
            parts.append(SubAgent(f"{title_of_child}: {len(child.steps)} steps", self.cards(child, depth + 1)))
        return Tool(call.family, FAMILY_WORDS[call.family], call.name, title, detail, _badges(call.result), parts)

    def _edit(self, edit: Edit, named: bool) -> list[Part]:
        words = [_OP_WORDS.get(edit.op, "")]
        if edit.applied is False:
            words.append("not applied")
        if edit.user_modified:
            words.append("changed by the user")
        detail = ", ".join(word for word in words if word)
        parts: list[Part] = []
        if named:
            renamed = f"{edit.old_path} → " if edit.old_path and edit.old_path != edit.path else ""
            parts.append(Note(f"{renamed}{edit.path}{f' ({detail})' if detail else ''}"))
        elif detail:
            parts.append(Note(detail.capitalize()))
        if edit.hunks:
            parts.append(self._diff(diff(edit, split=self._split, fold_after=self._fold)))
        return parts

    def _result(self, call: ToolCall, command: Clip | None) -> list[Part]:
        result = call.result
        if result is None:
            missing: list[Part] = [Note("No result was recorded.")]
            return [Terminal(command), *missing] if command else missing
        text = _result_text(result)
        images = [self.draw(block) for block in result.blocks if isinstance(block, ImageBlock)]
        parts: list[Part] = []
        if call.family == "shell" or result.output_type == "terminal":
            parts.append(Terminal(command, self._clip(plain_terminal(text)) if text.strip() else None))
        elif text.strip():
            parts.append(self._output(result, text))
        elif not images:
            parts.append(Note("The result is empty."))
        return [*parts, *images]

    def _output(self, result: Result, text: str) -> Part:
        if result.output_type == "diff" and any(line[:1] in ("+", "-", "@") for line in text.split("\n")):
            return self._diff(diff_of_text(text, split=self._split, fold_after=self._fold))
        return Code(self._clip(plain_terminal(text)), result.language or "")

    def _observation(self, result: Result) -> Observation:
        text = _result_text(result)
        parts: list[Part] = [self._output(result, text)] if text.strip() else []
        parts += [self.draw(block) for block in result.blocks if isinstance(block, ImageBlock)]
        return Observation(_badges(result), parts or [Note("Nothing was observed.")])

    @property
    def _split(self) -> bool:
        return self.display.diff_view == "split"

    @property
    def _fold(self) -> int | None:
        return self.display.max_output_lines if self.display.collapse_long_outputs else None

    def _clip(self, text: str) -> Clip:
        clipped = clip(text, self._fold, self.limit)
        if clipped.cut_chars:
            self._cut_notice()
        return clipped

    def _diff(self, shown: Diff) -> Diff:
        if shown.cut:
            self._cut_notice()
        return shown

    def _cut_notice(self) -> None:
        self.notices.add(
            "output-cut",
            f"a text of more than {self.limit:,} characters or {MAX_LINES:,} lines (a diff: {MAX_ROWS:,}) is shown "
            "with a part left out, and the page says so; the item itself stays whole",
            self.where,
        )


def text_lengths(trace: Trace) -> Iterator[int]:
    """The lengths of the texts that the cards of a trace show, roughly."""
    for step in trace.steps:
        yield len(step.text())
        yield len(step.reasoning())
        for call in step.tool_calls:
            yield sum(len(str(value)) for value in (call.arguments or {}).values())
            yield sum(len(line) for edit in call.edits for hunk in edit.hunks for line in hunk.lines[:MAX_ROWS])
            yield len(_result_text(call.result)) if call.result else 0
        for result in step.observations:
            yield len(_result_text(result))
    for child in trace.children:
        yield from text_lengths(child)


def _flag_words(step: Step) -> list[tuple[str, bool]]:
    return [
        ("aborted", step.flags.aborted),
        ("API error", step.flags.api_error),
        ("demonstration", step.flags.demo),
        ("copied context", step.flags.copied_context),
        ("made by the harness", step.flags.synthetic),
    ]


def _badges(result: Result | None) -> list[Badge]:
    if result is None:
        return []
    badges = []
    if result.exit_code is not None:
        badges.append(Badge(f"exit {result.exit_code}", "bad" if result.exit_code else "good"))
    if result.is_error:
        badges.append(Badge(f"error: {result.error_kind}" if result.error_kind else "error", "bad"))
    if result.truncated:
        badges.append(Badge("cut by the agent", "warn"))
    return badges


def _result_text(result: Result) -> str:
    if result.text is not None:
        return result.text
    texts = [block.text for block in result.blocks if isinstance(block, TextBlock)]
    return "\n".join(texts or [part for part in (result.stdout, result.stderr) if part])


def _summary(step: Step) -> str:
    words = (step.text() or step.reasoning()).strip().split("\n", 1)[0]
    if not words and step.tool_calls:
        words = ", ".join(call.name for call in step.tool_calls)
    return words if len(words) <= _TITLE_CHARS else words[: _TITLE_CHARS - 1] + "…"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _short_arguments(arguments: dict[str, Any]) -> str:
    """The arguments in one line, `name=value`; empty if they are too long for that."""
    if any(isinstance(value, (dict, list)) for value in arguments.values()):
        return ""
    words = [f"{key}={value if isinstance(value, str) else _json(value)}" for key, value in arguments.items()]
    line = "  ".join(words)
    return line if len(line) <= _DETAIL_CHARS and "\n" not in line else ""


def _arguments(arguments: dict[str, Any]) -> str:
    """`name: value` lines; a text of several lines stands below its name, as it is."""
    lines = []
    for key, value in arguments.items():
        shown = value if isinstance(value, str) else _json(value)
        lines.append(f"{key}:\n{shown}" if "\n" in shown else f"{key}: {shown}")
    return "\n".join(lines)


def _short_uri(uri: str | None) -> str:
    if not uri or uri.startswith("data:"):
        return ""
    return uri if len(uri) <= _TITLE_CHARS else uri[: _TITLE_CHARS - 1] + "…"

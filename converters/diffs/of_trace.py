"""The change that a run of an agent made: its final patch, or else its edits put together."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from potato_bridge.converters.diffs.hunks import RawHunk, read_hunks
from potato_bridge.converters.diffs.problems import problem
from potato_bridge.converters.diffs.read import read_diff
from potato_bridge.converters.diffs.running import Piece, RunningText, sides
from potato_bridge.model.diff import Diff, FileChange, Problem, Status
from potato_bridge.model.trace import Edit, ToolCall, Trace

_PATHS = ("file_path", "path", "filename", "file", "target_file")
#: How tools that read files number lines: `     1→text`, `     1<tab>text`.
_NUMBERED = re.compile(r" *(\d{1,9})(?:→|\t)(.*)", re.S)


def diff_of_trace(trace: Trace) -> Diff:
    """The change of a run, for a reviewer.

    The final patch is taken where the trace has one (`Patch.text`). Else the edits of all tool calls are put together
    in their order, those of sub-agents where these were called, file by file:

    * an edit that says it failed (`applied` is False) is left out and counted; one that does not say is taken;
    * a file made in the run is known whole, so all its later edits become part of one addition;
    * of a file that a tool showed with line numbers before it was edited, and of an edit with line numbers, the place
      is known; several edits are counted back to the numbers of the file as it was before the run;
    * other edits are fragments. One that changes what an earlier one wrote is made there; the rest stand one after the
      other, without line numbers.

    Returns:
        A Diff of the final patch's format, or of format `edits`, without a text.
    """
    patch = trace.final_patch
    if patch is not None:
        return read_diff(patch.text)
    merged = _Merged()
    for call in _calls(trace):
        merged.take(call)
    return merged.finish()


def _calls(trace: Trace) -> Iterator[ToolCall]:
    """All tool calls in their order; those of a sub-agent stand after the call that started it."""
    children = {child.trace_id: child for child in trace.children}
    for step in trace.steps:
        for call in step.tool_calls:
            yield call
            started = [call.child_trace_id] if call.child_trace_id is not None else []
            started += [
                name
                for name, child in children.items()
                if child.parent is not None and child.parent.call_id == call.call_id and name != call.child_trace_id
            ]
            for name in started:
                if (child := children.pop(name, None)) is not None:
                    yield from _calls(child)
    for child in children.values():
        yield from _calls(child)


@dataclass
class _File:
    """One file, as the edits so far left it."""

    path: str
    old_path: str | None = None
    status: Status = "modified"
    text: RunningText = field(default_factory=RunningText)
    made: bool = False
    edited: bool = False
    problems: list[Problem] = field(default_factory=list)


class _Merged:
    """All files that were edited or shown, by their path now, in the order of their first edit."""

    def __init__(self) -> None:
        self.files: dict[str, _File] = {}
        self.gone: list[_File] = []
        self.failed = 0
        self.undone: list[str] = []

    def take(self, call: ToolCall) -> None:
        """Takes what a call did, or what it showed."""
        if call.family == "read" and not call.edits:
            self._show(call)
        for edit in call.edits:
            if edit.applied is False:
                self.failed += 1
            else:
                self._edit(edit)

    def _show(self, call: ToolCall) -> None:
        arguments = call.arguments or {}
        path = next((arguments[key] for key in _PATHS if isinstance(arguments.get(key), str)), None)
        if path is None or call.result is None or not call.result.text or call.result.is_error:
            return
        start, lines = _numbered_lines(call.result.text)
        if lines:
            self._file(path).text.know(start, lines)

    def _file(self, path: str) -> _File:
        return self.files.setdefault(path, _File(path))

    def _edit(self, edit: Edit) -> None:
        file = self._file(edit.old_path if edit.op == "rename" and edit.old_path else edit.path)
        if not file.edited:
            # In the order of the first edit, not of the first look.
            self.files[file.path] = self.files.pop(file.path)
        hunks = [RawHunk(list(hunk.lines), hunk.old_start, hunk.new_start, hunk.section) for hunk in edit.hunks]
        if edit.op == "delete":
            self._delete(file, hunks)
            return
        if edit.op == "rename" and edit.path != file.path:
            self._rename(file, edit.path)
        if edit.op == "mode" and not file.edited:
            file.status = "mode"
        elif file.status == "mode" and hunks:
            file.status = "modified"
        whole = edit.op == "create" or (edit.origin == "write" and edit.op in ("modify", "unknown"))
        if whole:
            self._write(file, hunks, made=edit.op == "create")
        else:
            file.text.edit(hunks)
        file.edited = True

    def _write(self, file: _File, hunks: list[RawHunk], *, made: bool) -> None:
        lines = [line for hunk in hunks for line in sides(hunk)[1]]
        pieces = file.text.pieces
        if made and not file.edited and not pieces and file.status == "modified":
            file.made, file.status = True, "added"
        if file.made:
            file.text = RunningText([Piece([], lines, 1)])
            return
        # Where it was shown from its first line on, that is what is replaced, as far as is known.
        shown = pieces[0].base if len(pieces) == 1 and pieces[0].start == 1 else None
        file.text = RunningText([Piece(shown or [], lines, 1 if shown else None)])
        if not any(found.code == "whole-file" for found in file.problems):
            file.problems.append(problem("whole-file"))

    def _delete(self, file: _File, hunks: list[RawHunk]) -> None:
        del self.files[file.path]
        if file.made:
            self.undone.append(file.path)
            return
        gone = _File(file.old_path or file.path, status="deleted", edited=True)
        gone.text.edit(hunks)
        if not hunks:
            gone.problems.append(problem("text-unknown"))
        self.gone.append(gone)

    def _rename(self, file: _File, path: str) -> None:
        del self.files[file.path]
        if not file.made:
            file.old_path = file.old_path or file.path
            file.status = "renamed"
            if file.old_path == path:
                file.old_path, file.status = None, "modified"
        file.path = path
        if (there := self.files.pop(path, None)) is not None and there.edited:
            # Written over: its edits are shown all the same.
            self.gone.append(there)
        self.files[path] = file

    def finish(self) -> Diff:
        """The Diff of all edits."""
        changes = []
        for file in [*self.files.values(), *self.gone]:
            if not file.edited:
                continue
            change = FileChange(path=file.path, old_path=file.old_path, status=file.status, problems=file.problems)
            change.hunks = read_hunks(file.text.hunks(), change.problems)
            if file.text.overlapping:
                change.problems.append(problem("not-composed"))
            change.unread = any(found.code == "text-unknown" for found in change.problems)
            if change.status == "modified" and not change.hunks:
                change.problems.append(problem("header-only"))
            changes.append(change)
        problems = [problem("undone", name=name) for name in self.undone]
        if self.failed:
            problems.append(problem("failed-edits", count=self.failed))
        return Diff(format="edits", files=changes, problems=problems)


def _numbered_lines(text: str) -> tuple[int, list[str]]:
    """The first run of lines with numbers that follow each other, and the number of the first."""
    start, lines = 0, list[str]()
    for line in text.split("\n"):
        found = _NUMBERED.fullmatch(line)
        if found is not None and (not lines or int(found.group(1)) == start + len(lines)):
            start = start if lines else int(found.group(1))
            lines.append(found.group(2) + "\n")
        elif lines:
            break
    return start, lines

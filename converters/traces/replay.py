"""The final patch of a run whose source has none: its edits, made one after the other.

It is given where it is certain, and of all files or not at all: half a patch is none. What a shell changed is not an
edit, and not in it.
"""

from pathlib import PurePosixPath

from msgspec.structs import replace

from potato_bridge.converters.diffs.of_trace import diff_of_trace
from potato_bridge.converters.diffs.write import write_diff
from potato_bridge.model.diff import Diff, FileChange
from potato_bridge.model.trace import Edit, Patch, Trace

#: What is said of the whole, and takes nothing from the files that are there.
_HARMLESS = {"header-only"}


def replay(trace: Trace) -> None:
    """Gives a trace the patch that its edits come to, with the origin `replayed`.

    Nothing happens where it has a patch, or none of its edits took effect, or where one of them does not say whether
    it did; where the place of a change in its file is not known, or the text that a file had before; or where a file
    lies outside of the folder that the run worked in.
    """
    if trace.final_patch is not None:
        return
    edits = list(_edits(trace))
    if not any(edit.applied for edit in edits) or any(edit.applied is None for edit in edits):
        return
    files = [change for change in diff_of_trace(trace).files if not _is_void(change)]
    cwd = trace.extra.get("cwd")
    placed = [_placed(change, cwd if isinstance(cwd, str) else None) for change in files]
    known = [change for change in placed if change is not None]
    if len(known) == len(files) and files and len({change.path for change in known}) == len(known):
        trace.final_patch = Patch(text=write_diff(Diff(files=known)), origin="replayed")


def _edits(trace: Trace) -> list[Edit]:
    own = [edit for step in trace.steps for call in step.tool_calls for edit in call.edits]
    return own + [edit for child in trace.children for edit in _edits(child)]


def _is_void(change: FileChange) -> bool:
    """Whether nothing of the file is changed in the end."""
    return change.status == "modified" and not change.hunks


def _placed(change: FileChange, cwd: str | None) -> FileChange | None:
    """The change with paths from the run's folder; None where it is not certain."""
    if change.unread or any(found.code not in _HARMLESS for found in change.problems):
        return None
    if any(hunk.old_start is None for hunk in change.hunks):
        return None
    path, old = _inside(change.path, cwd), change.old_path and _inside(change.old_path, cwd)
    if path is None or (change.old_path is not None and old is None):
        return None
    return replace(change, path=path, old_path=old, problems=[])


def _inside(path: str, cwd: str | None) -> str | None:
    """The path from the run's folder; None where it leads out of it."""
    parts = PurePosixPath(path.replace("\\", "/") if "\\" in (cwd or "") else path)
    if parts.is_absolute() or (cwd is not None and path.startswith(cwd)):
        base = PurePosixPath((cwd or "").replace("\\", "/"))
        if cwd is None or not parts.is_relative_to(base):
            return None
        parts = parts.relative_to(base)
    return None if ".." in parts.parts or not parts.parts else str(parts)

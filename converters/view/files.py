"""The files that a run touched: added, modified, deleted or renamed, in the order of their first change."""

from potato_bridge.converters.view.parts import TouchedFile
from potato_bridge.model.trace import Edit, Trace


def touched_files(trace: Trace) -> list[TouchedFile]:
    """The files of all edits that took effect, sub-agents included; else those of the final patch.

    `steps` are the numbers of the rated steps, from 0; an edit of a sub-agent counts for no step.
    """
    found: dict[str, TouchedFile] = {}
    number = -1
    for step in trace.steps:
        number += step.flags.ratable
        for call in step.tool_calls:
            for edit in call.edits:
                if edit.applied is not False and not (call.result and call.result.is_error and edit.applied is None):
                    _add(found, edit, number if step.flags.ratable else None)
    for child in trace.children:
        for file in touched_files(child):
            if file.path not in found:
                found[file.path] = TouchedFile(file.path, file.change, file.old_path, file.plus, file.minus)
    if not found and trace.final_patch is not None:
        for edit in trace.final_patch.files:
            _add(found, edit, None)
    return list(found.values())


def _add(found: dict[str, TouchedFile], edit: Edit, step: int | None) -> None:
    old = found.pop(edit.old_path, None) if edit.op == "rename" and edit.old_path else found.get(edit.path)
    lines = [line[:1] for hunk in edit.hunks for line in hunk.lines]
    steps = list(old.steps) if old else []
    if step is not None and step not in steps:
        steps.append(step)
    change = old.change if old else None
    if edit.op == "delete":
        change = "deleted"
    elif edit.op == "rename" and change != "added":
        change = "renamed"
    elif edit.op == "create" and change is None:
        change = "added"
    elif change in (None, "deleted"):
        change = "modified"
    found[edit.path] = TouchedFile(
        edit.path,
        change or "modified",
        edit.old_path or "" if edit.op == "rename" else (old.old_path if old else ""),
        (old.plus if old else 0) + lines.count("+"),
        (old.minus if old else 0) + lines.count("-"),
        steps,
    )

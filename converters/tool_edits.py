"""What a call of an editing tool changed: hunks made of the texts in its arguments.

The arguments hold fragments, so no hunk has line numbers. A call that failed changed nothing: `applied` follows the
result, and is None where the source does not say.
"""

import difflib
from collections.abc import Mapping
from typing import Any, Literal

from potato_bridge.converters.diffs.apply_patch import read_apply_patch
from potato_bridge.model.diff import Hunk as DiffHunk
from potato_bridge.model.trace import Edit, Hunk

_CONTEXT = 3
#: Above this many pairs of lines a fragment is shown as replaced whole: a diff would take minutes.
_MAX_PAIRS = 1_000_000
_NO_NEWLINE = "\\ No newline at end of file"

_PATH = ("file_path", "filePath", "path", "filename", "file", "target_file", "notebook_path")
_OLD = ("old_string", "old_str", "old_text", "oldString", "oldText", "search")
_NEW = ("new_string", "new_str", "new_text", "newString", "newText", "replace", "insert_text", "new_source")
_WHOLE = ("content", "file_text", "contents", "text", "code")
_PATCH = ("patch", "input", "patch_text")
_DELETES = frozenset(("delete", "delete_file", "remove_file", "rm"))
_REWRITES = frozenset(("edit", "edit_file", "replace", "str_replace_editor", "str_replace_based_edit_tool"))
#: `command` of str_replace_editor and its kin: whether it changes the file.
_READS = frozenset(("view", "undo_edit"))
#: Status of a file in an `apply_patch` to what its edit does, and kind of a line to its mark.
_OPS: dict[str, Literal["create", "modify", "delete", "rename"]] = {
    "added": "create",
    "modified": "modify",
    "deleted": "delete",
    "renamed": "rename",
}
_MARKS = {"context": " ", "added": "+", "removed": "-"}


def read_edits(name: str, arguments: Mapping[str, Any] | None, raw: str | None, failed: bool | None) -> list[Edit]:
    """The edits of one call of a tool of the families edit, write and delete.

    Args:
        name: The tool's name.
        arguments: Its arguments, or None where they are no object.
        raw: Its arguments as text, where they are no object.
        failed: `is_error` of the result.
    """
    applied = None if failed is None else not failed
    values = arguments or {}
    patch = raw or _first(values, _PATCH)
    if isinstance(patch, str) and "*** Begin Patch" in patch:
        edits = _read_patch(patch)
    else:
        edits = _read_fragments(name.lower(), values)
    for edit in edits:
        edit.applied = applied
    return edits


def diff_hunks(old: str, new: str) -> list[Hunk]:
    """The hunks that turn one text into the other, with three lines of context and no line numbers."""
    if old == new:
        return []
    if old.endswith("\n") and new.endswith("\n"):
        old, new = old[:-1], new[:-1]
    # Not splitlines(): it would drop a lone newline at the end, and split at form feeds.
    before, after = old.split("\n") if old else [], new.split("\n") if new else []
    if len(before) * len(after) > _MAX_PAIRS:
        return [Hunk(lines=[f"-{line}" for line in before] + [f"+{line}" for line in after])]
    hunks = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines: list[str] = []
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += [f" {line}" for line in before[old_from:old_to]]
            else:
                lines += [f"-{line}" for line in before[old_from:old_to]]
                lines += [f"+{line}" for line in after[new_from:new_to]]
        hunks.append(Hunk(lines=lines))
    return hunks


def _first(values: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((values[key] for key in keys if values.get(key) is not None), None)


def _read_fragments(name: str, values: Mapping[str, Any]) -> list[Edit]:
    path = _first(values, _PATH)
    command = values.get("command")
    if not isinstance(path, str) or command in _READS:
        return []
    if name in _DELETES:
        return [Edit(path=path, op="delete", origin="write")]
    pieces = values.get("edits")
    if isinstance(pieces, list):
        found = [edit for piece in pieces if isinstance(piece, dict) for edit in _replace(path, piece)]
        # One file, one edit: the pieces are its hunks.
        if not found:
            return []
        hunks = [hunk for edit in found for hunk in edit.hunks]
        return [Edit(path=path, op=found[0].op, hunks=hunks, origin="old_new")]
    if edits := _replace(path, values):
        return edits
    whole = _first(values, _WHOLE)
    if not isinstance(whole, str):
        return []
    # What writes a file whole makes it; an editing tool that is given all of the text changes it.
    edit = _create(path, whole)
    if name in _REWRITES and command != "create":
        edit.op = "modify"
    return [edit]


def _replace(path: str, values: Mapping[str, Any]) -> list[Edit]:
    old, new = _first(values, _OLD), _first(values, _NEW)
    if not isinstance(old, str) and not isinstance(new, str):
        return []
    before, after = old if isinstance(old, str) else "", new if isinstance(new, str) else ""
    # An empty old text that is given makes the file; an insertion has none.
    op: Literal["create", "modify"] = "create" if old == "" else "modify"
    return [Edit(path=path, op=op, hunks=diff_hunks(before, after), origin="old_new")]


def _create(path: str, text: str) -> Edit:
    lines = [f"+{line}" for line in text.removesuffix("\n").split("\n")] if text else []
    if text and not text.endswith("\n"):
        lines.append(_NO_NEWLINE)
    return Edit(path=path, op="create", hunks=[Hunk(lines=lines)] if lines else [], origin="write")


def _read_patch(patch: str) -> list[Edit]:
    """The files of an `apply_patch`."""
    return [
        Edit(
            path=file.path,
            op=_OPS[file.status],
            old_path=file.old_path,
            hunks=[_hunk(hunk) for hunk in file.hunks],
            origin="apply_patch",
        )
        for file in read_apply_patch(patch)[0]
    ]


def _hunk(hunk: DiffHunk) -> Hunk:
    lines = []
    for line in hunk.lines:
        lines.append(f"{_MARKS[line.kind]}{line.text}")
        lines += [] if line.newline else [_NO_NEWLINE]
    return Hunk(lines=lines, section=hunk.section)

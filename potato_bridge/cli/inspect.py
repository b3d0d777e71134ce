"""`inspect`: what the bridge reads in a trace, or in a patch."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from potato_bridge.cli.common import JsonOption, NoticesOption, open_output
from potato_bridge.errors import InputError

if TYPE_CHECKING:
    from potato_bridge.model.diff import Diff, FileChange, Hunk, Problem


AUTO = "auto"
#: Of `--from`: the file is read as a patch, whatever it looks like.
PATCH = "patch"


def inspect(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Traces (a file or folder), or a text with a patch; - is stdin.")
    ],
    source_format: Annotated[
        str, typer.Option("--from", metavar="FORMAT", help="Format of the traces; patch: no trace. auto: found out.")
    ] = "auto",
    as_json: JsonOption = False,
    notices: NoticesOption = None,
) -> None:
    """Show what is read in a trace (steps, calls, losses) or in a patch (files, line counts). Changes nothing."""
    from potato_bridge.converters.diffs.read import read_diff

    output = open_output(as_json, notices)
    if source_format != PATCH and (source_format != AUTO or _is_trace(file)):
        from potato_bridge.cli.inspect_traces import inspect_traces

        inspect_traces(str(file), source_format, output)
        return
    diff = read_diff(_contents(file))
    name = "stdin" if str(file) == "-" else str(file)
    for found in diff.problems:
        output.notices.add(found.code, _shown(found.message), _place(name, found, ""))
    for change in diff.files:
        for found in change.problems:
            output.notices.add(found.code, _shown(found.message), _place(name, found, change.path))
    output.data(_summary(name, diff))
    for row in _rows(diff.files):
        output.data(row)
    output.finish(
        {
            "format": diff.format,
            "files": [_file(change) for change in diff.files],
            "problems": [_problem(found) for found in diff.problems],
        }
    )


def _is_trace(file: Path) -> bool:
    """Whether it is a folder, or a reader recognises it; standard input is taken for a patch."""
    from potato_bridge.converters.traces.inputs import file_source
    from potato_bridge.converters.traces.reader import LEAST, readers

    if file.is_dir() or file.suffix in (".zip", ".eval"):
        return True
    if not file.is_file():
        # A pipe can be read once only.
        return False
    source = file_source(file)
    return source.form != "text" and any(reader.score(source) >= LEAST for reader in readers())


def _contents(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(
            f"{file}: cannot be read: {error.strerror}", hint="Name a file with a patch, or - for stdin."
        ) from error


def _place(name: str, found: "Problem", path: str) -> str:
    place = name if found.line is None else f"{name}:{found.line}"
    return f"{place} {_name(path)}" if path else place


def _summary(name: str, diff: "Diff") -> str:
    added, removed = sum(file.added for file in diff.files), sum(file.removed for file in diff.files)
    files = "1 file" if len(diff.files) == 1 else f"{len(diff.files)} files"
    return f"{name}: {diff.format}, {files}, +{added} -{removed}"


def _rows(files: "list[FileChange]") -> list[str]:
    """A line for each file: what happened, how many lines, which file, how many problems."""
    rows = []
    for file in files:
        counts = "binary" if file.binary else "not read" if file.unread else f"+{file.added} -{file.removed}"
        name = file.path if file.old_path is None else f"{file.old_path} -> {file.path}"
        wrong = f"  ({len(file.problems)} to note)" if file.problems else ""
        rows.append(f"  {file.status:<9} {counts:>13}  {_name(name) or '(no path)'}{wrong}")
    return rows


def _name(path: str) -> str:
    """One line for one file, whatever its name has in it."""
    return _shown(path).replace("\n", "\\n").replace("\t", "\\t")


def _file(change: "FileChange") -> dict[str, Any]:
    return {
        "path": _shown(change.path),
        "old_path": None if change.old_path is None else _shown(change.old_path),
        "status": change.status,
        "binary": change.binary,
        # Unknown is not zero.
        "added": None if change.binary or change.unread else change.added,
        "removed": None if change.binary or change.unread else change.removed,
        "hunks": [_hunk(hunk) for hunk in change.hunks],
        "problems": [_problem(found) for found in change.problems],
    }


def _hunk(hunk: "Hunk") -> dict[str, Any]:
    return {
        "old_start": hunk.old_start,
        "old_count": hunk.old_count,
        "new_start": hunk.new_start,
        "new_count": hunk.new_count,
        "section": None if hunk.section is None else _shown(hunk.section),
        "added": sum(line.kind == "added" for line in hunk.lines),
        "removed": sum(line.kind == "removed" for line in hunk.lines),
    }


def _problem(found: "Problem") -> dict[str, Any]:
    return {"code": found.code, "message": _shown(found.message), "line": found.line}


def _shown(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which neither JSON nor a terminal takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

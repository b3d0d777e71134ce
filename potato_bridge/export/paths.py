"""Paths of files in the trace of an agent, as other tools want them, and names of files that we write."""

import hashlib
import json
import re
from urllib.parse import quote

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def relative_path(path: str, root: str | None) -> str | None:
    """The path from the root of the repository; None: it does not lead into it, as far as is known.

    Args:
        path: As the trace has it: relative, or absolute on the agent's machine.
        root: Where the repository was there.
    """
    path = _slashes(path)
    if root:
        start = _slashes(root).rstrip("/") + "/"
        if path.startswith(start):
            path = path[len(start) :]
    path = path.removeprefix("./")
    inside = path and not path.startswith("/") and not _DRIVE.match(path) and ".." not in path.split("/")
    return path if inside else None


def uri(path: str) -> str:
    """A path as a URI reference, percent-encoded; an absolute one with the scheme `file`."""
    path = _slashes(path)
    if _DRIVE.match(path):
        return f"file:///{path[:2]}{quote(path[2:], safe='/', errors='replace')}"
    encoded = quote(path, safe="/", errors="replace")
    return f"file:///{encoded.lstrip('/')}" if path.startswith("/") else encoded


def file_name(ids: list[str | None], suffix: str) -> str:
    """A file name that is safe everywhere: what can be read of the ids, and a hash by which no two are the same."""
    known = [part for part in ids if part is not None]
    parts = [re.sub(r"[^A-Za-z0-9@_-]+", "_", part).strip("_-")[:50] for part in known]
    digest = hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:12]
    return ".".join([*(part or "_" for part in parts), digest]) + suffix


def _slashes(path: str) -> str:
    return path.replace("\\", "/") if _DRIVE.match(path) else path

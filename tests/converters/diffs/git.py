"""git as the oracle: what it counts in a patch, and what it makes of one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


def git(folder: Path, *arguments: str, data: bytes = b"", check: bool = True) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(["git", *arguments], cwd=folder, env=ENVIRONMENT, input=data, capture_output=True)
    assert done.returncode == 0 or not check, done.stderr.decode(errors="replace")
    return done


#: Path (the new one) and lines added and removed; None for a binary file.
Count = tuple[str, int | None, int | None]


def counts(numstat: bytes) -> list[Count]:
    """The rows of `--numstat -z`. Of a rename, the names follow the counts as two fields."""
    fields = numstat.decode("utf-8", "surrogateescape").split("\0")
    found: list[Count] = []
    at = 0
    while at < len(fields) and fields[at]:
        added, removed, path = fields[at].split("\t", 2)
        if not path:
            at += 2
            path = fields[at]
        number = (None, None) if added == "-" else (int(added), int(removed))
        found.append((path, *number))
        at += 1
    return found


def applied_counts(folder: Path, patch: bytes) -> list[Count] | None:
    """What git counts in a patch; None where it refuses it."""
    done = git(folder, "apply", "--numstat", "-z", "-p1", data=patch, check=False)
    return counts(done.stdout) if done.returncode == 0 else None

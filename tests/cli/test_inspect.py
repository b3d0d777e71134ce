"""`inspect`: what is read in a patch, as text and as JSON."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import RUN, Done

PATCH = (
    "Here:\n\ndiff --git a/old name.py b/new\u202ename.py\nsimilarity index 90%\nrename from old name.py\n"
    "rename to new\u202ename.py\n--- a/old name.py\t\n+++ b/new\u202ename.py\n@@ -3,9 +3,9 @@ def f():\n a\n-b\n+c\n"
    "diff --git a/p.png b/p.png\nindex 1111..2222 100644\nBinary files a/p.png and b/p.png differ\n"
    "diff --git a/w.txt b/w.txt\n--- a/w.txt\n+++ b/w.txt\n@@ -1 +1 @@\none [-two-]{+three+}\n"
)


def test_as_text(bridge: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "fix.patch").write_text(PATCH)
    done = bridge("inspect", "fix.patch")
    assert done.code == 0
    assert done.out == (
        "fix.patch: unified, 3 files, +1 -1\n"
        "  renamed           +1 -1  old name.py -> new\\u202ename.py  (1 to note)\n"
        "  binary           binary  p.png\n"
        "  modified       not read  w.txt  (1 to note)\n"
    )
    assert done.err.startswith("notice: fix.patch:9 new\\u202ename.py: the hunk's header says 9 old and 9 new lines")
    assert "[recounted]" in done.err and "[word-diff]" in done.err


def test_as_json(bridge: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "fix.patch").write_bytes(PATCH.encode() + b"caf\xe9\n")
    document = bridge("inspect", "fix.patch", "--json").json
    assert document["format"] == "unified"
    assert [problem["code"] for problem in document["problems"]] == ["not-utf8"]
    first, second, third = document["files"]
    assert first["hunks"] == [
        {
            "old_start": 3,
            "old_count": 2,
            "new_start": 3,
            "new_count": 2,
            "section": "def f():",
            "added": 1,
            "removed": 1,
        }
    ]
    assert (first["path"], first["old_path"], first["status"]) == ("new\u202ename.py", "old name.py", "renamed")
    assert [(problem["code"], problem["line"]) for problem in first["problems"]] == [("recounted", 9)]
    # Unknown is not zero.
    assert (second["binary"], second["added"], second["removed"]) == (True, None, None)
    assert (third["added"], third["removed"], third["hunks"]) == (None, None, [])
    assert {notice["code"] for notice in document["notices"]} == {"not-utf8", "recounted", "word-diff"}


def test_from_stdin_with_names_that_are_no_unicode(tmp_path: Path) -> None:
    patch = b"--- a/caf\xe9\n+++ b/caf\xe9\n@@ -1 +1 @@\n-a\n+b\n"
    done = subprocess.run([*RUN, "inspect", "-"], input=patch, capture_output=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "stdin: unified, 1 file, +1 -1" in done.stdout.decode()
    assert "caf\ufffd" in done.stdout.decode()


def test_a_file_that_cannot_be_read(bridge: Callable[..., Done], tmp_path: Path) -> None:
    done = bridge("inspect", "fix.patch")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error: fix.patch: cannot be read:")


def test_a_folder_without_a_trace(bridge: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    done = bridge("inspect", "runs")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error: runs: there is no trace in it")


def test_problems_are_an_error_where_that_is_asked_for(bridge: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text("nothing here")
    assert bridge("inspect", "prose.txt").code == 0
    done = bridge("inspect", "prose.txt", "--notices", "raise")
    assert done.code == 6
    assert "no-patch" in done.err


def test_a_pipe_is_read(bridge: Callable[..., Done], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(
        ["sh", "-c", "printf -- '--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-a\\n+b\\n' > pipe"], cwd=tmp_path
    )
    assert "+1 -1" in bridge("inspect", "pipe").out
    writer.wait(timeout=60)

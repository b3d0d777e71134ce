"""The ledger: what it remembers, who may use it, and what is wrong with it."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from potato_bridge.errors import StateError
from potato_bridge.sync.ledger import FOLDER, Ledger

URL = "http://one"


def test_it_remembers(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    with Ledger.beside(config) as ledger:
        assert ledger.project(URL, "config.yaml") is None
        ledger.set_project(URL, "config.yaml", 7)
        ledger.set_stored(URL, 7, "expert_instruction", "a & b", "a &amp; b")
        batch = ledger.begin(URL, 7, 41, ["a", 'b"\n😀'])
    with Ledger.beside(config) as ledger:
        assert ledger.project(URL, "config.yaml") == 7
        assert ledger.project(URL, "other.yaml") is None
        assert ledger.project("http://two", "config.yaml") is None
        assert ledger.stored_as(URL, 7, "expert_instruction", "a & b") == "a &amp; b"
        assert ledger.stored_as(URL, 7, "expert_instruction", "other") is None
        (intent,) = ledger.intents(URL, 7)
        assert (intent.intent_id, intent.after, intent.markers) == (batch, 41, ["a", 'b"\n😀'])
        assert ledger.intents(URL, 8) == []
        ledger.end(batch)
        assert ledger.intents(URL, 7) == []


def test_a_stream_is_one_project_and_one_file(tmp_path: Path) -> None:
    with Ledger.beside(tmp_path / "config.yaml") as ledger:
        first = ledger.stream(URL, 7, tmp_path / "records.jsonl")
        assert (first.cursor, first.sha256) == ("", None)
        assert ledger.stream(URL, 7, tmp_path / "sub" / ".." / "records.jsonl") != first
        assert ledger.stream(URL, 7, tmp_path / "records.jsonl") == first
        assert ledger.stream(URL, 8, tmp_path / "records.jsonl") != first
        rows = [row for (row,) in ledger.db.execute("SELECT records FROM streams WHERE project = 8")]
    assert rows == ["records.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_the_folder_is_the_owners(tmp_path: Path) -> None:
    Ledger.beside(tmp_path / "config.yaml").close()
    assert stat.S_IMODE((tmp_path / FOLDER).stat().st_mode) == 0o700
    assert (tmp_path / FOLDER / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_one_run_at_a_time(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    with Ledger.beside(config) as ledger:
        with pytest.raises(StateError, match=r"another potato-bridge \(process \d+\) is at work"):
            Ledger.beside(config)
        with Ledger.beside(config, write=False) as looking:
            assert looking.project(URL, "config.yaml") is None
        ledger.set_project(URL, "config.yaml", 7)
    Ledger.beside(config).close()


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom potato_bridge.sync.ledger import Ledger\n"
        "ledger = Ledger.beside(Path(sys.argv[1]))\n"
        "ledger.begin('http://one', 7, 0, ['a'])\nos.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(config)], capture_output=True, text=True)
    assert done.returncode != 0 and not done.stderr
    with Ledger.beside(config) as ledger:
        assert [intent.markers for intent in ledger.intents(URL, 7)] == [["a"]]


def test_looking_makes_nothing(tmp_path: Path) -> None:
    with Ledger.beside(tmp_path / "config.yaml", write=False) as ledger:
        assert ledger.project(URL, "config.yaml") is None
        assert ledger.stream(URL, 7, tmp_path / "r.jsonl").stream_id == 0
        assert list(ledger.annotators(0)) == []
    assert list(tmp_path.iterdir()) == []


def test_a_newer_ledger(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    Ledger.beside(config).close()
    db = sqlite3.connect(tmp_path / FOLDER / "ledger.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StateError, match="newer version") as caught:
        Ledger.beside(config)
    assert "Update potato-bridge" in str(caught.value)


def test_a_damaged_ledger(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    Ledger.beside(config).close()
    for file in (tmp_path / FOLDER).glob("ledger.sqlite*"):
        file.write_bytes(b"not a database, but longer than its header would have to be " * 10)
    with pytest.raises(StateError, match="cannot be read") as caught:
        Ledger.beside(config)
    assert "Delete it" in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StateError, match="cannot make"):
        Ledger(tmp_path / "file" / FOLDER)

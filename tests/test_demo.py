"""`potato-bridge demo`, as `make demo` runs it: a server of its own, and nothing of it left at the end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.servers.label_studio import find_label_studio

#: Item and labels of the rows that the demo gives.
LABELS = {
    ("slugify-accents", (1, 1, 1, 1, 1)),
    ("empty-month", (1, 1, -1, -1, -1)),
    ("empty-month", (1, -1, -1, -1, -1)),
    ("log-level-option", (1, -1, -1, -1, -1)),
    ("remove-legacy-cache", (1, 1, 1)),
}


def test_demo_goes_all_the_way_and_ends_its_server(tmp_path: Path) -> None:
    server = find_label_studio()
    if server is None:
        pytest.fail("no Label Studio: run `make test`, which installs it", pytrace=False)
    done = subprocess.run(
        [sys.executable, "-c", "from potato_bridge.cli import main; main()", "demo", "--json", "-o", "demo"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{Path(server).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["answers"], told["left_out"]) == (8, {"status-skipped": 1})
    records = [json.loads(line) for line in (tmp_path / told["records"]).read_text().splitlines()]
    assert len(records) == 8 and all(record["demo"] is True for record in records)
    assert [record["status"] for record in records].count("skipped") == 1
    rows = [json.loads(line) for line in (tmp_path / told["documented"]).read_text().splitlines()]
    labels = {(row["trace_id"], tuple(step["label"] for step in row["steps"])) for row in rows}
    assert labels == LABELS
    card = (tmp_path / told["dataset"] / "README.md").read_text()
    assert "Demo answers" in card
    with pytest.raises(httpx.ConnectError):
        httpx.get(told["url"])


def test_demo_on_argilla_gives_the_same_rows(argilla, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from potato_bridge.cli import main; main()", "demo", "--backend", "argilla", "--json"],
        cwd=tmp_path,
        env={**os.environ, "ARGILLA_API_URL": argilla.url, "ARGILLA_API_KEY": argilla.api_key},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["answers"], told["left_out"]) == (8, {"status-skipped": 1})
    assert argilla.api_key not in done.stdout + done.stderr
    records = [json.loads(line) for line in (tmp_path / told["records"]).read_text().splitlines()]
    assert len(records) == 8 and all(record["demo"] is True for record in records)
    rows = [json.loads(line) for line in (tmp_path / told["documented"]).read_text().splitlines()]
    assert LABELS == {(row["trace_id"], tuple(step["label"] for step in row["steps"])) for row in rows}


def test_demo_touches_no_folder_that_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "thesis.txt").write_text("years of work")
    server = find_label_studio()
    path = f"{Path(server).parent}{os.pathsep}{os.environ['PATH']}" if server else os.environ["PATH"]
    done = subprocess.run(
        [sys.executable, "-c", "from potato_bridge.cli import main; main()", "demo"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "not a demo's" in done.stderr
    assert (tmp_path / "demo" / "thesis.txt").read_text() == "years of work"

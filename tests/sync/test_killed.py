"""A push or pull that is killed at any request goes on where it was: nothing lost, nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from potato_bridge.sync.locate import project_marker
from potato_bridge.sync.records import read_records
from tests.servers.label_studio import LabelStudio as Server
from tests.sync.world import World

ROOT = Path(__file__).resolve().parents[2]
ITEMS = 10

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")


def run(server: Server, verb: str, folder: Path, name: str, number: int = 0, when: str = "before") -> int:
    """Runs it; returns how many requests it made, 0 where it was killed."""
    command = [sys.executable, "-m", "tests.sync.killed_run", verb, str(folder), server.url, name]
    environment = {**os.environ, "LABEL_STUDIO_API_KEY": server.api_key, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, str(ITEMS), str(number), when], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    if done.returncode == -9:
        return 0
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("when", ["before", "after"])
def test_push_killed_at_each_request(label_studio: Server, tmp_path: Path, when: str) -> None:
    (tmp_path / "whole").mkdir()
    requests = run(label_studio, "push", tmp_path / "whole", f"whole {when}")
    assert requests == 6
    for number in range(1, requests + 1):
        folder, name = tmp_path / str(number), f"killed {when} {number}"
        folder.mkdir()
        assert run(label_studio, "push", folder, name, number, when) == 0
        run(label_studio, "push", folder, name)
        world = World(label_studio, folder, name)
        try:
            marker = project_marker(world.project)
            assert sum(marker in project.description for project in world.remote.projects()) == 1
            assert world.markers() == sorted(f"item_{i}" for i in range(ITEMS)), (when, number)
        finally:
            world.close()
    print(f"{requests} pushes killed {when} a request, each at another one: nothing lost, nothing twice")


@pytest.mark.parametrize("when", ["before", "after"])
def test_pull_killed_at_each_request(world: World, when: str) -> None:
    world.push()
    world.annotate("trace_0", "step_0")
    world.pull()
    for round_number in (1, 2):
        # Nothing of what the killed pulls began may hinder the last one, or be taken twice.
        world.annotate(f"trace_{round_number}", "step_1")
        requests = 5
        for number in range(1, requests + 1):
            assert run(world.server, "pull", world.folder, world.project.name, number, when) == 0, number
        # The last one was killed after everything was read; the file is as it was, and whole.
        assert len(list(read_records(world.records_file))) == round_number
        assert run(world.server, "pull", world.folder, world.project.name) == requests
        found = Counter(record.id for record in world.records())
        assert found == {f"trace_{i}": 1 for i in range(round_number + 1)}
    print(f"{2 * requests} pulls killed {when} a request: nothing lost, nothing twice")


def test_pull_killed_between_the_file_and_the_ledger(world: World) -> None:
    world.push()
    changed = world.annotate("trace_0", "step_0")
    world.pull()
    ledger = world.folder / ".potato-bridge" / "ledger.sqlite"
    before = ledger.read_bytes()
    world.change_answer(changed, "step_1")
    world.annotate("trace_1", "step_1")
    world.pull()
    written = world.records_file.read_bytes()
    # As if the process had died after the file took its place, and before the ledger was written.
    ledger.write_bytes(before)
    report = world.pull()
    assert (report.mode, report.new, report.changed, report.edited) == ("full", 0, 0, 0)
    assert world.records_file.read_bytes() == written
    assert world.pull().mode == "incremental"

"""A push or pull that is killed at any request goes on where it was: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from potato_bridge.converters.label_studio.fields import MARKER
from potato_bridge.sync.label_studio.locate import project_marker
from potato_bridge.sync.records import read_records
from tests.servers.label_studio import LabelStudio as Server
from tests.sync.world import World

ROOT = Path(__file__).resolve().parents[2]
#: Seven batches of four: with the project's listing, its making and its view, ten requests.
ITEMS = 28
SEED = 20

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
    assert requests == 10
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
def test_pull_killed_at_each_request(world: World, tmp_path: Path, when: str) -> None:
    rng = random.Random(SEED)
    world.push()
    old = world.annotate("trace_0", "step_0")
    world.pull()
    # What the killed pull has to fetch: new answers, a changed one, a skip.
    world.change_answer(old, "step_2")
    for item_id in rng.sample(sorted(world.items.keys() - {"trace_0"}), 6):
        world.annotate(item_id, f"step_{rng.randrange(4)}", was_cancelled=rng.random() < 0.3)
    answered = {
        (task["data"][MARKER], answer["id"], answer["was_cancelled"], answer["result"][0]["value"]["choices"][0])
        for task in world.on_server().values()
        for answer in task["annotations"]
    }

    def case(number: int) -> int:
        folder = tmp_path / f"killed_{number}"
        folder.mkdir()
        shutil.copytree(world.folder / ".potato-bridge", folder / ".potato-bridge")
        shutil.copy2(world.records_file, folder)
        before = (folder / "records.jsonl").read_bytes()
        lived = run(world.server, "pull", folder, world.project.name, number, when)
        if number and not lived:
            assert (folder / "records.jsonl").read_bytes() == before, "half a pull is in the file"
            run(world.server, "pull", folder, world.project.name)
        found = [
            (
                record.id,
                record.source.annotation,
                record.status == "skipped",
                f"step_{record.annotations['process_reward']['first_error_step']}",
            )
            for record in read_records(folder / "records.jsonl")
            if record.source
        ]
        assert len(found) == len(answered) and set(found) == answered, (when, number)
        return lived

    lived = case(0)
    assert lived >= 10
    # They change nothing on the server and have a folder each: two at a time.
    with ThreadPoolExecutor(2) as pool:
        assert not any(pool.map(case, range(1, lived + 1))), "a pull that should have been killed was not"
    print(f"pull killed {when} each of {lived} requests: {lived} cases, seed {SEED}")


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

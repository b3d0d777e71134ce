"""A push to Argilla or a pull that is killed at any request goes on where it was: nothing lost, nothing twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from potato_bridge.sync.records import read_records
from tests.sync.argilla.test_argilla_sync import Team

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")


def run(team: Team, verb: str, folder: Path, number: int = 0, when: str = "before", workspace: str = "") -> int:
    """Runs it; returns how many requests it made, 0 where it was killed."""
    command = [sys.executable, "-m", "tests.sync.argilla.killed_argilla_run", verb, str(folder), team.argilla.url]
    environment = {**os.environ, "ARGILLA_API_KEY": team.argilla.api_key, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, workspace or team.workspace_name, str(number), when],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode == -9:
        return 0
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.fixture
def team(argilla, tmp_path, request):
    (tmp_path / "team").mkdir()
    found = Team(argilla, tmp_path / "team", request.node.name)
    yield found
    found.close()


def test_push_killed_at_each_request(team, tmp_path):
    def case(name: str, number: int, when: str) -> tuple[int, list[str], list[str]]:
        folder = tmp_path / name
        shutil.copytree(team.folder, folder)
        workspace = team.argilla.add_workspace(f"ws-{name}-{os.getpid()}")
        lived = run(team, "push", folder, number, when, f"ws-{name}-{os.getpid()}")
        if number:
            assert not lived
            run(team, "push", folder, 0, when, f"ws-{name}-{os.getpid()}")
        datasets = team.remote.datasets(workspace)
        records = [record.external_id or "" for dataset in datasets for record in team.remote.records(dataset.id)]
        return lived, [dataset.status for dataset in datasets], sorted(records)

    requests, _, _ = case("whole", 0, "before")
    assert requests >= 12
    cases = [(when, number) for when in ("before", "after") for number in range(1, requests + 1)]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda one: case(f"{one[0]}-{one[1]}", one[1], one[0]), cases):
            assert found == (0, ["ready"], sorted(team.items))
    print(f"{len(cases)} pushes to Argilla killed at a request: nothing lost, nothing twice")


def test_pull_killed_at_each_request(team, tmp_path):
    team.push()
    ann, bob = team.annotator(), team.annotator()
    for n in range(6):
        team.answer(f"trace_{n}", n % 4, ann)
    team.pull()
    team.answer("trace_0", 3, ann)
    team.answer("trace_1", None, bob)
    team.answer("trace_7", 2, bob, status="discarded")
    wanted = {("trace_0", ann.username, 3), ("trace_1", ann.username, 1), ("trace_2", ann.username, 2)}
    wanted |= {("trace_3", ann.username, 3), ("trace_4", ann.username, 0), ("trace_5", ann.username, 1)}
    wanted |= {("trace_1", bob.username, None), ("trace_7", bob.username, 2)}

    def case(number: int) -> int:
        folder = tmp_path / f"pull_{number}"
        shutil.copytree(team.folder, folder)
        before = (folder / "records.jsonl").read_bytes()
        lived = run(team, "pull", folder, number, "after")
        if number and not lived:
            assert (folder / "records.jsonl").read_bytes() == before, "half a pull is in the file"
            run(team, "pull", folder)
        found = [
            (one.id, one.annotator, one.annotations["reward"]["first_error_step"])
            for one in read_records(folder / "records.jsonl")
        ]
        assert len(found) == len(wanted) and set(found) == wanted, number
        return lived

    lived = case(0)
    assert lived >= 4
    with ThreadPoolExecutor(2) as pool:
        assert not any(pool.map(case, range(1, lived + 1)))

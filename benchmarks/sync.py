"""Push and pull of many items, as ratios to the server's own work, and the peak memory of the client.

    python benchmarks/sync.py LABEL_STUDIO [ITEMS]

LABEL_STUDIO is the executable; a server of its own is started, on SQLite. Each line is a process of its own, one after
the other, against the same server:

* push: `potato-bridge push`, against posting the same tasks, made beforehand, in one request for each 250;
* pull: the first `potato-bridge pull` of as many annotated tasks, against the server's own export in JSON;
* pull with nothing new, against the first one.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import httpx

from potato_bridge.remotes.label_studio_server import LocalLabelStudio

BATCH = 250
STEPS = 5
CONFIG = """
annotation_task_name: "Benchmark of push and pull"
task_dir: .
data_files: [items.jsonl]
item_properties: {id_key: id, text_key: task}
output_annotation_dir: output
instance_display:
  fields:
    - {key: turns, type: coding_trace}
annotation_schemes:
  - {name: process_reward, annotation_type: process_reward, mode: first_error, description: Click the first wrong step}
"""
RAW = """
import json, sys, httpx
url, token, project, path, batch = sys.argv[1:]
tasks = json.load(open(path, "rb"))
with httpx.Client(base_url=url, headers={"Authorization": f"Token {token}"}, timeout=600) as client:
    for start in range(0, len(tasks), int(batch)):
        part = tasks[start : start + int(batch)]
        client.post(f"/api/projects/{project}/import", json=part).raise_for_status()
"""
EXPORT = """
import sys, httpx
url, token, project, path = sys.argv[1:]
with httpx.Client(base_url=url, headers={"Authorization": f"Token {token}"}, timeout=600) as client:
    with client.stream("GET", f"/api/projects/{project}/export?exportType=JSON") as answer, open(path, "wb") as file:
        answer.raise_for_status()
        for chunk in answer.iter_bytes():
            file.write(chunk)
"""
OURS = "from potato_bridge.cli import main; main()"


class Cost(NamedTuple):
    """Wall seconds and peak resident memory (MB) of one process."""

    seconds: float
    megabytes: float


def run(code: str, arguments: Sequence[object], environment: dict[str, str]) -> Cost:
    """Runs Python code in a process of its own."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"a measured process failed: {arguments}")
    return Cost(time.perf_counter() - start, usage.ru_maxrss / 1024)


def generate(folder: Path, count: int) -> None:
    """A project of `count` items; the same for the same count."""
    (folder / "config.yaml").write_text(CONFIG)
    with open(folder / "items.jsonl", "w") as file:
        for number in range(count):
            turns = [
                {
                    "role": "assistant",
                    "content": f"Step {step} of trace {number}.",
                    "tool_calls": [{"tool": "Bash", "input": {"command": f"make {step}"}, "output": "ok\n" * 5}],
                }
                for step in range(STEPS)
            ]
            file.write(json.dumps({"id": f"trace_{number:06}", "task": f"Task {number}", "turns": turns}) + "\n")


def new_project(client: httpx.Client, title: str, label_config: str) -> int:
    """An empty project; returns its id."""
    answer = client.post("/api/projects/", json={"title": title, "label_config": label_config}).raise_for_status()
    return int(answer.json()["id"])


def main() -> None:
    """Starts the server, measures, prints."""
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with LocalLabelStudio(Path(sys.argv[1]), folder / "server") as server:
            measure(folder, server, count)


def measure(folder: Path, server: LocalLabelStudio, count: int) -> None:
    """The three comparisons."""
    config, rendered = folder / "config.yaml", folder / "rendered"
    generate(folder, count)
    environment = {"LABEL_STUDIO_URL": server.url, "LABEL_STUDIO_API_KEY": server.token}
    run(OURS, ["render", config, "-o", rendered], {})
    label_config = (rendered / "label_config.xml").read_text()
    tasks = json.loads((rendered / "tasks.json").read_bytes())
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Token {server.token}"}, timeout=600) as client:
        raw_project = new_project(client, "raw", label_config)
        raw = run(RAW, [server.url, server.token, raw_project, rendered / "tasks.json", BATCH], {})
        pushed = run(OURS, ["push", config], environment)
        show("push", pushed, raw, "1.15")

        annotated = new_project(client, "annotated", label_config)
        for number, task in enumerate(tasks):
            choice = {"choices": [f"step_{number % STEPS}"]}
            result = {"from_name": "process_reward", "to_name": "task", "type": "choices", "value": choice}
            task["annotations"] = [{"result": [result], "lead_time": 1.0}]
        for start in range(0, count, BATCH):
            client.post(f"/api/projects/{annotated}/import", json=tasks[start : start + BATCH]).raise_for_status()
    export = run(EXPORT, [server.url, server.token, annotated, folder / "export.json"], {})
    pull = ["pull", config, "--project", annotated, "-o", folder / "records.jsonl"]
    first = run(OURS, pull, environment)
    assert sum(1 for _ in open(folder / "records.jsonl", "rb")) == count
    again = run(OURS, pull, environment)
    show("pull", first, export, "1.2")
    show("pull, nothing new", again, first, "0.05")


def show(what: str, ours: Cost, other: Cost, aim: str) -> None:
    """One line."""
    ratio = ours.seconds / other.seconds
    print(
        f"{what}: {ours.seconds:.1f} s against {other.seconds:.1f} s, ratio {ratio:.2f} (aim {aim}); "
        f"peak {ours.megabytes:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()

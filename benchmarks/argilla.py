"""Push to Argilla and pull from it, as ratios to what its SDK and its API take for the same records.

    python -m benchmarks.argilla [ITEMS]

The Argilla of the tests is started (`make test` installs it), on SQLite. Each line is a process of its own, one after
the other, against the same server; the second push and the second pull find nothing new.

* push: `potato-bridge push`, against the SDK's `records.log` of the same records, made beforehand, into a data set that
  is there;
* pull: the first `potato-bridge pull` of as many answers, against the API's own listing of all records with responses;
  and both again, in turns and without the start of their processes: medians.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.sync import CONFIG, OURS, STEPS
from potato_bridge.converters.argilla.layouts import LAYOUTS
from potato_bridge.converters.argilla.plan import Stored
from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import Record
from potato_bridge.model.process_reward import FirstError
from potato_bridge.notices import Notices
from tests.servers.argilla import Argilla, running_argilla

SDK = """
import json, sys
import argilla as rg
url, key, name, path = sys.argv[1:]
client = rg.Argilla(api_url=url, api_key=key)
dataset = client.datasets(name)
records = [json.loads(line) for line in open(path, encoding="utf-8")]
rows = [rg.Record(id=row["external_id"], fields=row["fields"], metadata=row["metadata"]) for row in records]
dataset.records.log(rows, batch_size=500)
"""
RAW = """
import sys, time, httpx
url, key, dataset, path = sys.argv[1:]
with httpx.Client(base_url=url, headers={"X-Argilla-Api-Key": key}, timeout=600) as client, open(path, "wb") as file:
    offset, began = 0, time.perf_counter()
    while True:
        params = {"include": "responses", "offset": offset, "limit": 1000}
        answer = client.get(f"/api/v1/datasets/{dataset}/records", params=params).raise_for_status()
        file.write(answer.content)
        page = answer.json()
        offset += len(page["items"])
        if not page["items"] or offset >= page["total"]:
            break
    print(time.perf_counter() - began)
"""
PULL = """
import os, sys, time
from pathlib import Path
from potato_bridge.converters.potato.config import read_project
from potato_bridge.notices import Notices
from potato_bridge.remotes.argilla import Argilla
from potato_bridge.sync.argilla.backend import ArgillaBackend
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import pull
project = read_project(Path("config.yaml"), Notices())
url, key = os.environ["ARGILLA_API_URL"], os.environ["ARGILLA_API_KEY"]
with Argilla(url, key) as remote, Ledger.beside(project.config) as ledger:
    backend, out = ArgillaBackend(project, remote), Path(sys.argv[1])
    began = time.perf_counter()
    pull(backend, ledger, out, notices=Notices())
    print(time.perf_counter() - began)
"""


def write(folder: Path, items: int) -> None:
    """A project of items with five steps of about 400 characters each."""
    (folder / "config.yaml").write_text(CONFIG)
    with open(folder / "items.jsonl", "w", encoding="utf-8") as file:
        for number in range(items):
            turns = [
                {
                    "role": "assistant",
                    "content": f"Step {step} of {number}. " + "I look at the function and change it. " * 4,
                    "tool_calls": [{"tool": "Bash", "input": {"command": "pytest -q"}, "output": "1 passed\n" * 20}],
                }
                for step in range(STEPS)
            ]
            file.write(json.dumps({"id": f"item-{number}", "task": f"Fix bug {number}", "turns": turns}) + "\n")


def timed(code: str, *arguments: str, folder: Path, environment: Mapping[str, str], inside: bool = False) -> float:
    """Seconds of a whole process, or (`inside`) those that it prints."""
    began = time.perf_counter()
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True)
    taken = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr[-2000:]}")
    return float(done.stdout) if inside else taken


def answer(server: Argilla, folder: Path, dataset: str) -> None:
    """One answer to each record."""
    project = read_project(folder / "config.yaml", Notices())
    offset = 0
    while found := server.http.get(
        f"/api/v1/datasets/{dataset}/records", params={"offset": offset, "limit": 500}
    ).json()["items"]:
        bulk: list[dict[str, Any]] = []
        for record in found:
            stored = Stored(record["external_id"], record["fields"], record["metadata"])
            value = FirstError(first_error_step=2, total_steps=STEPS).to_json()
            said = Record(id="x", annotator="", annotations={"process_reward": value})
            [values] = LAYOUTS["panel"].write_answer(project, said, [stored]).values()
            response = {
                "user_id": server.owner.id,
                "status": "submitted",
                "values": {key: {"value": one} for key, one in values.items()},
            }
            bulk.append({"external_id": record["external_id"], "responses": [response]})
        path = f"/api/v1/datasets/{dataset}/records/bulk"
        server.http.put(path, json={"items": bulk}).raise_for_status()
        offset += len(found)


def main(items: int) -> None:
    """Prints one line for each comparison."""
    with tempfile.TemporaryDirectory() as root, running_argilla(Path(root) / "server") as server:
        folder = Path(root) / "project"
        folder.mkdir()
        write(folder, items)
        workspace = server.add_workspace("benchmark")
        environment = {"ARGILLA_API_URL": server.url, "ARGILLA_API_KEY": server.api_key, "HF_HUB_OFFLINE": "1"}
        timed(OURS, "render", "config.yaml", "--backend", "argilla", folder=folder, environment=environment)
        settings = json.loads((folder / "render" / "settings.json").read_text())
        body = {"name": "by the SDK", "workspace_id": workspace, "allow_extra_metadata": True}
        made = server.http.post("/api/v1/datasets", json=body).raise_for_status().json()["id"]
        for what, key in (("fields",) * 2, ("questions",) * 2, ("metadata-properties", "metadata_properties")):
            for one in settings[key]:
                server.http.post(f"/api/v1/datasets/{made}/{what}", json=one).raise_for_status()
        server.http.put(f"/api/v1/datasets/{made}/publish").raise_for_status()

        ours = ("push", "config.yaml", "--workspace", "benchmark")
        push = timed(OURS, *ours, folder=folder, environment=environment)
        records = str(folder / "render" / "records.jsonl")
        sdk = timed(SDK, server.url, server.api_key, "by the SDK", records, folder=folder, environment=environment)
        again = timed(OURS, *ours, folder=folder, environment=environment)
        listed = server.http.get("/api/v1/me/datasets", params={"workspace_id": workspace}).json()["items"]
        [dataset] = [one["id"] for one in listed if one["id"] != made]
        answer(server, folder, dataset)
        pull = timed(OURS, "pull", "config.yaml", folder=folder, environment=environment)
        raw = timed(RAW, server.url, server.api_key, dataset, "raw.json", folder=folder, environment=environment)
        here: dict[str, Any] = {"folder": folder, "environment": environment}
        # In turns, as the server stops for its garbage every two thousand records, whoever asks.
        inside, listing = [], []
        for number in range(9):
            inside.append(timed(PULL, f"again-{number}.jsonl", **here, inside=True))
            listing.append(timed(RAW, server.url, server.api_key, dataset, "raw.json", **here, inside=True))
        nothing = timed(OURS, "pull", "config.yaml", folder=folder, environment=environment)
        count = len((folder / "output" / "records.jsonl").read_text().splitlines())
        assert count == items, count
        print(f"{items} records, {Path(records).stat().st_size / items / 1000:.1f} kB each")
        print(f"push {push:.2f} s, the SDK's records.log {sdk:.2f} s: {push / sdk:.2f}")
        print(f"push with nothing new {again:.2f} s: {again / push:.2f} of the first")
        print(f"pull {pull:.2f} s, the raw listing {raw:.2f} s: {pull / raw:.2f}")
        mine, theirs = median(inside), median(listing)
        print(f"pull in its process {mine:.2f} s, the listing {theirs:.2f} s: {mine / theirs:.2f}")
        print(f"pull with nothing new {nothing:.2f} s: {nothing / pull:.2f} of the first")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

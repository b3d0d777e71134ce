"""What the tests of push and pull act on: a config, its items, the real server, and the annotators."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from potato_bridge.converters.label_studio.fields import MARKER, META, OPTIONS
from potato_bridge.converters.label_studio.interface import Interface
from potato_bridge.model import ProcessReward, Project, Record
from potato_bridge.notices import Notices
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.remotes.label_studio_server import LocalUser
from potato_bridge.sync.label_studio.backend import LabelStudioBackend
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import PullReport, pull
from potato_bridge.sync.push import PushReport, push
from potato_bridge.sync.records import read_records
from potato_bridge.sync.status import StatusReport, status
from tests.servers.label_studio import LabelStudio as Server

CONTROL = "process_reward"
LABEL_CONFIG = f"""
<View>
  <Text name="task" value="$task"/>
  <Choices name="{CONTROL}" toName="task" value="${OPTIONS}" choice="single-radio"/>
</View>
"""


INTERFACE = Interface(LABEL_CONFIG, "<p>Find the first wrong step: a &lt; b &amp; c</p>", CONTROL)


def make_project(folder: Path, name: str) -> Project:
    return Project(
        name=name,
        config=folder / "config.yaml",
        task_dir=folder,
        id_key="id",
        text_key="task",
        output_dir=folder / "out",
        schemes=[ProcessReward(name=CONTROL, mode="first_error", steps_key="steps")],
    )


class CountingTransport(httpx.BaseTransport):
    """The network; writes down what goes over it."""

    def __init__(self) -> None:
        self._network = httpx.HTTPTransport()
        self.requests: list[tuple[str, str]] = []
        self.received = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append((request.method, request.url.raw_path.decode()))
        answer = self._network.handle_request(request)
        self.received += int(answer.headers.get("content-length", 0))
        return answer

    def close(self) -> None:
        self._network.close()

    def exported(self) -> list[int]:
        """The tasks that were downloaded."""
        params = [httpx.URL(path).params for method, path in self.requests if "/export" in path]
        return [int(task) for query in params for task in query.get_list("ids[]")]

    def writes(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path in self.requests if method != "GET"]


def make_task(item_id: str, text: str, steps: list[str]) -> dict[str, Any]:
    options = [{"value": f"step_{i}", "html": step} for i, step in enumerate(steps)]
    options.append({"value": "all_correct", "html": "All steps correct"})
    data = {MARKER: item_id, "task": text, OPTIONS: options}
    meta = {"id": item_id, "hash": _hash(data), "steps_hash": _hash(options), "total_steps": len(steps), "schema": 1}
    return {"data": data, "meta": {META: meta}}


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def choice(value: str) -> list[dict[str, Any]]:
    return [{"from_name": CONTROL, "to_name": "task", "type": "choices", "value": {"choices": [value]}}]


class World:
    """One project. `items` maps ids to (text, steps); change it and push again."""

    def __init__(self, server: Server, folder: Path, name: str = "project") -> None:
        self.server = server
        self.folder = folder
        self.project = make_project(folder, name)
        self.interface = INTERFACE
        self.items: dict[str, tuple[str, list[str]]] = {
            f"trace_{i}": (f"Fix bug {i}", [f"step {i}.{k}" for k in range(4)]) for i in range(10)
        }
        self.records_file = folder / "records.jsonl"
        self.transport = CountingTransport()
        self.remote = LabelStudio(server.url, server.api_key, transport=self.transport)
        self.notices = Notices()
        self.patience = 0.0

    def close(self) -> None:
        self.remote.close()

    def tasks(self, notices: Notices) -> Iterator[dict[str, Any]]:
        for item_id, (text, steps) in self.items.items():
            yield make_task(item_id, text, steps)

    def ledger(self) -> Ledger:
        return Ledger.beside(self.project.config)

    def backend(self, remote: LabelStudio | None = None, patience: float = 0.0) -> LabelStudioBackend:
        return LabelStudioBackend(self.project, remote or self.remote, self.interface, self.tasks, patience=patience)

    def push(self, remote: LabelStudio | None = None, **options: Any) -> PushReport:
        self.notices = Notices()
        self.transport.requests.clear()
        patience = options.pop("patience", self.patience)
        with self.ledger() as ledger:
            return push(self.backend(remote, patience), ledger, notices=self.notices, **options)

    def pull(self, remote: LabelStudio | None = None, **options: Any) -> PullReport:
        self.notices = Notices()
        self.transport.requests.clear()
        with self.ledger() as ledger:
            return pull(self.backend(remote), ledger, self.records_file, notices=self.notices, **options)

    def status(self) -> StatusReport:
        with Ledger.beside(self.project.config, write=False) as ledger:
            return status(self.backend(), self.items, ledger, notices=self.notices, records=self.records_file)

    def records(self) -> list[Record]:
        return list(read_records(self.records_file))

    def codes(self) -> set[str]:
        return {notice.code for notice in self.notices}

    # --- the server's side, as its own API gives it ---------------------------------------------------------------

    @property
    def project_id(self) -> int:
        with self.ledger() as ledger:
            found = ledger.project(self.server.url, self.project.config.name)
        assert found is not None
        return found

    def on_server(self) -> dict[int, dict[str, Any]]:
        """All tasks with their annotations, by task id."""
        path = f"/api/projects/{self.project_id}/export"
        params = {"exportType": "JSON", "download_all_tasks": "true"}
        answer = self.server.http.get(path, params=params).raise_for_status()
        return {task["id"]: task for task in answer.json()}

    def task_id(self, item_id: str) -> int:
        found = [number for number, task in self.on_server().items() if task["data"].get(MARKER) == item_id]
        assert len(found) == 1, (item_id, found)
        return found[0]

    def markers(self) -> list[str]:
        return sorted(task["data"].get(MARKER) for task in self.on_server().values())

    def annotate(self, item_id: str, value: str | None, user: LocalUser | None = None, **fields: Any) -> int:
        """Submits an answer; None: an empty one. Returns the annotation's number."""
        body = {"result": choice(value) if value else [], "lead_time": 12.5, **fields}
        path = f"/api/tasks/{self.task_id(item_id)}/annotations/"
        answer = self.client(user).post(path, json=body).raise_for_status()
        return int(answer.json()["id"])

    def change_answer(self, annotation: int, value: str) -> None:
        self.server.http.patch(f"/api/annotations/{annotation}/", json={"result": choice(value)}).raise_for_status()

    def delete_answer(self, annotation: int) -> None:
        self.server.http.delete(f"/api/annotations/{annotation}/").raise_for_status()

    def draft(self, item_id: str, value: str) -> None:
        path = f"/api/tasks/{self.task_id(item_id)}/drafts"
        self.server.http.post(path, json={"result": choice(value), "lead_time": 3}).raise_for_status()

    def client(self, user: LocalUser | None) -> httpx.Client:
        return self.server.client(user) if user else self.server.http

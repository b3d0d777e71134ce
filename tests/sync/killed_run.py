"""A push or pull in a process of its own, which dies by SIGKILL before or after its k-th request.

    python -m tests.sync.killed_run push|pull FOLDER URL NAME ITEMS k before|after

The token comes from the environment. k = 0: it lives.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import httpx

from potato_bridge.notices import Notices
from potato_bridge.remotes import label_studio
from potato_bridge.remotes.label_studio import LabelStudio
from potato_bridge.sync.label_studio import send
from potato_bridge.sync.label_studio.backend import LabelStudioBackend
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import pull
from potato_bridge.sync.push import push
from tests.sync.world import INTERFACE, make_project, make_task


class Deadly(httpx.BaseTransport):
    def __init__(self, number: int, when: str) -> None:
        self._network = httpx.HTTPTransport()
        self._number, self._when, self.count = number, when, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.count += 1
        if self._when == "before" and self.count == self._number:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = self._network.handle_request(request)
        if self._when == "after" and self.count == self._number:
            answer.read()
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    def close(self) -> None:
        self._network.close()


def main(verb: str, folder: Path, url: str, name: str, items: int, number: int, when: str) -> None:
    # Small portions: a run of ten requests.
    send.BATCH_TASKS = 4
    label_studio._EXPORT_FIRST = label_studio._EXPORT_IDS = 1
    project = make_project(folder, name)
    transport = Deadly(number, when)
    with (
        LabelStudio(url, os.environ["LABEL_STUDIO_API_KEY"], transport=transport) as remote,
        Ledger.beside(project.config) as ledger,
    ):
        if verb == "push":
            tasks = [make_task(f"item_{i}", "text", ["a", "b"]) for i in range(items)]
            backend = LabelStudioBackend(project, remote, INTERFACE, lambda notices: tasks, patience=0)
            push(backend, ledger, notices=Notices())
        else:
            pull(LabelStudioBackend(project, remote), ledger, folder / "records.jsonl", notices=Notices())
    print(transport.count)


if __name__ == "__main__":
    verb, folder, url, name, items, number, when = sys.argv[1:]
    main(verb, Path(folder), url, name, int(items), int(number), when)

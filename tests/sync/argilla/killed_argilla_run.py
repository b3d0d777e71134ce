"""A push to Argilla or a pull in a process of its own, which dies by SIGKILL before or after its k-th request.

    python -m tests.sync.argilla.killed_argilla_run push|pull FOLDER URL WORKSPACE k before|after

The key comes from the environment. k = 0: it lives.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from potato_bridge.converters.potato.config import read_project
from potato_bridge.notices import Notices
from potato_bridge.remotes.argilla import Argilla
from potato_bridge.sync.argilla import send
from potato_bridge.sync.argilla.backend import ArgillaBackend
from potato_bridge.sync.ledger import Ledger
from potato_bridge.sync.pull import pull
from potato_bridge.sync.push import push
from tests.sync.killed_run import Deadly


def main(verb: str, folder: Path, url: str, workspace: str, number: int, when: str) -> None:
    # Small portions: more requests to die at.
    send.BATCH_RECORDS = 4
    project = read_project(folder / "config.yaml", Notices())
    transport = Deadly(number, when)
    with (
        Argilla(url, os.environ["ARGILLA_API_KEY"], transport=transport) as remote,
        Ledger.beside(project.config) as ledger,
    ):
        backend = ArgillaBackend(project, remote, workspace=workspace)
        if verb == "push":
            push(backend, ledger, notices=Notices())
        else:
            pull(backend, ledger, folder / "records.jsonl", notices=Notices())
    print(transport.count)


if __name__ == "__main__":
    verb, folder, url, workspace, number, when = sys.argv[1:]
    main(verb, Path(folder), url, workspace, int(number), when)

"""The command line as a user runs it: a process of its own, in a folder of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

RUN = [sys.executable, "-c", "from potato_bridge.cli import main; main()"]


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


@pytest.fixture
def bridge(tmp_path: Path) -> Callable[..., Done]:
    """Runs `potato-bridge ARGUMENTS` in `tmp_path`, with only the environment that is given."""

    def run(*arguments: object, **environment: str) -> Done:
        inherited = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ}
        done = subprocess.run(
            [*RUN, *map(str, arguments)],
            cwd=tmp_path,
            env={**inherited, "HF_HUB_OFFLINE": "1", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run

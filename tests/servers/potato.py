"""The real Potato, run as a program: its server on a project, and its exporters.

Potato is GPL-3.0-or-later: nothing of it is imported or copied.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.servers.process import stop, wait

ROOT = Path(__file__).resolve().parents[2]
EXECUTABLE_VARIABLE = "POTATO_BRIDGE_TEST_POTATO"
START_SECONDS = 120


def find_potato() -> Path | None:
    """The `potato` command: what `make test` says, else the newest one that it installed."""
    named = os.environ.get(EXECUTABLE_VARIABLE)
    if named:
        return Path(named) if Path(named).is_file() else None
    stamps = (ROOT / ".cache" / "venvs").glob("potato-*/complete")
    newest = sorted(stamps, key=lambda stamp: stamp.stat().st_mtime)
    return newest[-1].parent / "bin" / "potato" if newest else None


@dataclass(frozen=True)
class Potato:
    """An installed Potato.

    Attributes:
        executable: The `potato` command.
        scratch: Where it may write what belongs to no project.
    """

    executable: Path
    scratch: Path

    @contextmanager
    def serving(self, config: Path) -> Iterator[str]:
        """Potato's server on a project, on a port of its own; gives its address. It is stopped at the end."""
        port = _free_port()
        log = self.scratch / f"server-{port}.log"
        command = [str(self.executable), "start", config.name, "-p", str(port), "--host", "127.0.0.1"]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=config.parent,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            url = f"http://127.0.0.1:{port}"
            answers = lambda: httpx.get(url, trust_env=False, timeout=5).status_code == 200  # noqa: E731
            wait(process, "Potato", answers, log, START_SECONDS)
            yield url
        finally:
            stop(process)

    def export(self, config: Path, exporter: str, out: Path) -> subprocess.CompletedProcess[str]:
        """One of Potato's own exporters."""
        command = [str(self.executable.with_name("python")), "-m", "potato.export"]
        return subprocess.run(
            [*command, "-c", str(config), "-f", exporter, "-o", str(out)],
            cwd=config.parent,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.scratch),
            # Else it writes its pages into its own package, under the name of the task.
            "POTATO_GENERATED_TEMPLATES_DIR": str(self.scratch / "templates"),
            "PYTHONUNBUFFERED": "1",
        }


def installed_potato(scratch: Path) -> Potato:
    """Fails, and never skips, where there is no Potato."""
    executable = find_potato()
    if executable is None:
        pytest.fail(f"no Potato: run `make test`, which installs it and sets {EXECUTABLE_VARIABLE}", pytrace=False)
    (scratch / "templates").mkdir(parents=True, exist_ok=True)
    return Potato(executable, scratch)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

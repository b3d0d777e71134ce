"""What the test servers that are programs have in common: waiting until one answers, and stopping it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

POLL_SECONDS = 0.1
STOP_SECONDS = 15


def wait(process: subprocess.Popen[bytes], name: str, answers: Callable[[], bool], log: Path, seconds: float) -> None:
    """Waits until a server answers, and fails the test where it ends or does not.

    Args:
        answers: Whether it does; may raise what httpx raises while it does not.
        log: What the server wrote; its end is shown.
        seconds: How long it may take.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.HTTPError):
            if answers():
                return
        with contextlib.suppress(subprocess.TimeoutExpired):
            # The pause, which ends early if the server does.
            process.wait(POLL_SECONDS)
            break
    tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
    state = "does not answer" if process.returncode is None else f"ended with status {process.returncode}"
    pytest.fail(f"{name} {state}:\n{tail}", pytrace=False)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a server and all of its group."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)

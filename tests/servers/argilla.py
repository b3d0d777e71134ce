"""The one real Argilla server that the tests share.

It is argilla-server in an environment of its own: its database, its API and its pages. The search engine and the Redis
that it asks for are stand-ins, see `argilla_launcher.py`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest

from tests.servers.process import stop, wait

ROOT = Path(__file__).resolve().parents[2]
PYTHON_VARIABLE = "POTATO_BRIDGE_TEST_ARGILLA"
LAUNCHER = Path(__file__).with_name("argilla_launcher.py")
DATABASE_NAME = "argilla.db"
START_SECONDS = 180

Role = Literal["owner", "admin", "annotator"]


def find_argilla() -> Path | None:
    """The Python of the server's environment: what `make test` says, else the newest one that it installed."""
    named = os.environ.get(PYTHON_VARIABLE)
    if named:
        return Path(named) if Path(named).is_file() else None
    stamps = (ROOT / ".cache" / "venvs").glob("argilla-*/complete")
    newest = sorted(stamps, key=lambda stamp: stamp.stat().st_mtime)
    return newest[-1].parent / "bin" / "python" if newest else None


@dataclass(frozen=True)
class ArgillaUser:
    """An account of the test server; the password in the clear, for the pages."""

    id: str
    username: str
    password: str
    api_key: str
    role: Role


@dataclass
class Argilla:
    """A running server as the tests see it.

    Attributes:
        http: A client that acts as the owner.
    """

    url: str
    owner: ArgillaUser
    log_path: Path
    http: httpx.Client
    _clients: dict[str, httpx.Client] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def api_key(self) -> str:
        """Of the owner."""
        return self.owner.api_key

    def add_user(self, role: Role = "annotator", *, workspace: str | None = None, name: str = "") -> ArgillaUser:
        """Another account, with a name of its own; a member of the workspace with this id."""
        username, password = name or f"{role}-{next(self._numbers)}", secrets.token_urlsafe(12)
        body = {"first_name": username, "username": username, "password": password, "role": role}
        made = self.http.post("/api/v1/users", json=body).raise_for_status().json()
        user = ArgillaUser(made["id"], username, password, made["api_key"], role)
        if workspace is not None:
            self.http.post(f"/api/v1/workspaces/{workspace}/users", json={"user_id": user.id}).raise_for_status()
        return user

    def add_workspace(self, name: str = "") -> str:
        """A new workspace; gives its id."""
        body = {"name": name or f"workspace-{next(self._numbers)}"}
        made: dict[str, Any] = self.http.post("/api/v1/workspaces", json=body).raise_for_status().json()
        return str(made["id"])

    def client(self, user: ArgillaUser) -> httpx.Client:
        """A client that acts as that user; closed at the end of the session."""
        if user.username not in self._clients:
            self._clients[user.username] = _client(self.url, user.api_key)
        return self._clients[user.username]

    def close(self) -> None:
        for client in (self.http, *self._clients.values()):
            client.close()


def _client(url: str, api_key: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"X-Argilla-Api-Key": api_key}, timeout=120, trust_env=False)


@contextmanager
def running_argilla(folder: Path) -> Iterator[Argilla]:
    """A server with an empty database; it is stopped at the end. Fails, and never skips, where there is none."""
    python = find_argilla()
    if python is None:
        pytest.fail(f"no Argilla: run `make test`, which installs it and sets {PYTHON_VARIABLE}", pytrace=False)
    folder.mkdir(parents=True, exist_ok=True)
    if python.is_relative_to(ROOT / ".cache" / "venvs"):
        shutil.copy(_seed(python), folder / DATABASE_NAME)
    else:
        _migrate(python, folder)
    name, password, key = "owner", secrets.token_urlsafe(12), secrets.token_urlsafe(32)
    log = folder / "server.log"
    account = {"OWNER_NAME": name, "OWNER_PASSWORD": password, "OWNER_KEY": key}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [python, LAUNCHER, folder],
            cwd=folder,
            env=_environment(folder) | account,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        address = folder / "address"
        wait(process, "Argilla", lambda: _answers(address), log, START_SECONDS)
        url = address.read_text()
        with contextlib.closing(_client(url, key)) as http:
            me = http.get("/api/v1/me").raise_for_status().json()
            argilla = Argilla(url, ArgillaUser(me["id"], name, password, key, "owner"), log, http)
            try:
                yield argilla
            finally:
                argilla.close()
    finally:
        stop(process)


def _environment(home: Path) -> dict[str, str]:
    # Nothing else is passed on: Argilla reads its settings from the environment.
    return {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}


def _seed(python: Path) -> Path:
    """A migrated database without accounts, made once per installed server: its migrations take seconds."""
    # The environment's name ends with the key of its pins.
    seed = ROOT / ".cache" / f"argilla-seed-{python.parents[1].name.removeprefix('argilla-')}.sqlite3"
    if not seed.exists():
        seed.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=seed.parent) as folder:
            _migrate(python, Path(folder))
            # In one step, so that an interrupted run leaves no half database.
            os.replace(Path(folder) / DATABASE_NAME, seed)
    return seed


def _migrate(python: Path, folder: Path) -> None:
    made = subprocess.run(
        [python, LAUNCHER, folder, "migrate"],
        env=_environment(folder),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if made.returncode or not (folder / DATABASE_NAME).exists():
        pytest.fail(f"Argilla cannot make its database:\n{made.stderr[-3000:]}", pytrace=False)


def _answers(address: Path) -> bool:
    # It listens before it is ready; the answer comes when it is.
    if not address.exists():
        return False
    return httpx.get(f"{address.read_text()}/api/v1/version", trust_env=False, timeout=30).status_code == 200

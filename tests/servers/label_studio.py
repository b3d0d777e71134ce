"""The one real Label Studio that the tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import httpx
import pytest

from potato_bridge.remotes.label_studio_server import (
    DATABASE_NAME,
    LocalLabelStudio,
    LocalUser,
    add_user,
    personal_access_token,
)

ROOT = Path(__file__).resolve().parents[2]
EXECUTABLE_VARIABLE = "POTATO_BRIDGE_TEST_LABEL_STUDIO"


def find_label_studio() -> Path | None:
    """The server's command: what `make test` says, else the newest one that it installed."""
    named = os.environ.get(EXECUTABLE_VARIABLE)
    if named:
        return Path(named) if Path(named).is_file() else None
    stamps = (ROOT / ".cache" / "venvs").glob("label-studio-*/complete")
    newest = sorted(stamps, key=lambda stamp: stamp.stat().st_mtime)
    return newest[-1].parent / "bin" / "label-studio" if newest else None


@dataclass
class LabelStudio:
    """A running server as the tests see it."""

    url: str
    admin: LocalUser
    log_path: Path
    http: httpx.Client
    _clients: dict[str, httpx.Client] = field(default_factory=dict)

    @property
    def api_key(self) -> str:
        """Legacy token of the admin."""
        return self.admin.token

    @property
    def username(self) -> str:
        return self.admin.email

    @property
    def password(self) -> str:
        return self.admin.password

    @cached_property
    def pat(self) -> str:
        """Personal access token of the admin; the server gives out one per user."""
        return personal_access_token(self.url, self.api_key)

    def add_user(self, email: str, password: str = "annotate-2-steps") -> LocalUser:
        """Another annotator. Each address can be used once in a test session."""
        return add_user(self.url, self.api_key, email, password)

    def client(self, user: LocalUser) -> httpx.Client:
        """A client that acts as that user; closed at the end of the session."""
        if user.email not in self._clients:
            self._clients[user.email] = _client(self.url, user.token)
        return self._clients[user.email]

    def close(self) -> None:
        for client in (self.http, *self._clients.values()):
            client.close()


def _client(url: str, token: str) -> httpx.Client:
    headers = {"Authorization": f"Token {token}"}
    return httpx.Client(base_url=url, headers=headers, timeout=120, trust_env=False)


@contextmanager
def running_label_studio(data_dir: Path) -> Iterator[LabelStudio]:
    executable = find_label_studio()
    if executable is None:
        pytest.fail(
            f"no Label Studio: run `make test`, which installs it and sets {EXECUTABLE_VARIABLE}",
            pytrace=False,
        )
    data_dir.mkdir(parents=True, exist_ok=True)
    if executable.is_relative_to(ROOT / ".cache" / "venvs"):
        shutil.copy(_seed(executable), data_dir / DATABASE_NAME)
    with LocalLabelStudio(executable, data_dir) as server:
        http = _client(server.url, server.token)
        me = http.get("/api/current-user/whoami").raise_for_status().json()
        admin = LocalUser(me["id"], server.username, server.password, server.token)
        label_studio = LabelStudio(server.url, admin, server.log_path, http)
        try:
            yield label_studio
        finally:
            label_studio.close()


def _seed(executable: Path) -> Path:
    """A migrated database without accounts, made once per installed server.

    The migrations take half a minute and always give the same file.
    """
    # The environment's name ends with the key of its pins.
    key = executable.parents[1].name.removeprefix("label-studio-")
    seed = ROOT / ".cache" / f"label-studio-seed-{key}.sqlite3"
    if not seed.exists():
        seed.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=seed.parent) as folder:
            environment = {
                "PATH": os.environ.get("PATH", ""),
                "HOME": folder,
                "LABEL_STUDIO_BASE_DATA_DIR": folder,
                "COLLECT_ANALYTICS": "0",
                "LATEST_VERSION_CHECK": "0",
                "SENTRY_DSN": "",
                "FRONTEND_SENTRY_DSN": "",
            }
            made = subprocess.run(
                [executable, "init", "--quiet"],
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=300,
            )
            database = Path(folder) / DATABASE_NAME
            if made.returncode or not database.exists():
                pytest.fail(
                    f"Label Studio cannot make its database:\n{made.stdout[-2000:]}\n{made.stderr[-2000:]}",
                    pytrace=False,
                )
            # In one step, so that an interrupted run leaves no half database.
            os.replace(database, seed)
    return seed

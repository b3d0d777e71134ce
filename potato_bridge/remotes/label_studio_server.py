"""A Label Studio server of our own, for the demo and the tests.

It is thrown away with its data folder: SQLite, no telemetry, bound to the loopback
address, accounts by invitation only, legacy tokens allowed.
"""

import contextlib
import html
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from potato_bridge.errors import RemoteError

HOST = "127.0.0.1"
DATABASE_NAME = "label_studio.sqlite3"

# What a server may inherit. Label Studio reads its settings from the environment, even
# under bare names such as USERNAME and PORT, so nothing else is passed on.
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "TZ")
_SETTINGS = {
    "COLLECT_ANALYTICS": "0",
    "LATEST_VERSION_CHECK": "0",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "SENTRY_RATE": "0",
    "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
    # Honoured only while the organization is made: on the first start of a data folder.
    "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
    # Empty: all paths in pages and tasks are relative to wherever the server answers.
    "LABEL_STUDIO_HOST": "",
    "PYTHONUNBUFFERED": "1",
}
_LOG_TAIL_LINES = 30
_STOP_SECONDS = 10.0
_PORT_ATTEMPTS = 3
_CSRF_FIELD = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_FIELD_ERROR = re.compile(r"<li>([^<]+)</li>")
# Terminal colours and the like: a log is shown, never obeyed.
_CONTROL = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class LocalUser:
    """An account on a local server.

    Attributes:
        id: The server's number of the user.
        email: What the user signs in with.
        password: The password, in the clear: these accounts are thrown away.
        token: The legacy API token.
    """

    id: int
    email: str
    password: str
    token: str


class _NotOursError(Exception):
    """The port was free when it was chosen; somebody else answers on it now."""


class LocalLabelStudio:
    """A Label Studio process, started and stopped by us.

    A data folder that was used before keeps its accounts: give the user name, the password
    and the token of its first start.

    Example:
        >>> with LocalLabelStudio("label-studio", "/tmp/ls") as server:  # doctest: +SKIP
        ...     print(server.url, server.token)
    """

    def __init__(
        self,
        executable: str | Path,
        data_dir: str | Path,
        *,
        port: int | None = None,
        username: str = "admin@example.com",
        password: str | None = None,
        token: str | None = None,
        timeout: float = 300.0,
    ) -> None:
        """Describe a server; nothing is started yet.

        Args:
            executable: The `label-studio` command, a path or a name on PATH.
            data_dir: Folder of the database, the media and the log; made if missing.
            port: Port to listen on; a free one is chosen if None.
            username: E-mail address of the first user, who may do everything.
            password: Password of the first user; a random one if None.
            token: Legacy API token of the first user, 40 characters; a random one if None.
            timeout: Seconds until the server must answer. A new data folder takes about
                half a minute of migrations.
        """
        # The server runs in its data folder, where a relative path would lead nowhere.
        found = shutil.which(executable)
        self.executable = str(Path(found).absolute()) if found else str(executable)
        self.data_dir = Path(data_dir).absolute()
        self.username = username
        self.password = password or secrets.token_urlsafe(16)
        self.token = token or secrets.token_hex(20)
        self.timeout = timeout
        self._wanted_port = port
        self._port: int | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Address of the running server, without a slash at the end."""
        if self._port is None:
            raise RemoteError("Label Studio is not running", hint="call start() first")
        return f"http://{HOST}:{self._port}"

    @property
    def log_path(self) -> Path:
        """File that holds everything the server has printed."""
        return self.data_dir / "server.log"

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def log_tail(self, lines: int = _LOG_TAIL_LINES) -> str:
        """The last lines of the log, without control characters."""
        try:
            text = self.log_path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(_CONTROL.sub("", line) for line in text.splitlines()[-lines:])

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            RemoteError: The command is missing, the wanted port is in use, or the server does
                not come up in time. The message ends with the last lines of the log.
        """
        if self.running:
            return
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            port = self._wanted_port or _free_port()
            if self._wanted_port and _answers(port):
                raise RemoteError(f"port {port} is in use", hint="choose another port, or none to get a free one")
            self._launch(port)
            try:
                self._wait(port)
            except _NotOursError as error:
                self.stop()
                if self._wanted_port or attempt == _PORT_ATTEMPTS:
                    hint = f"another server took the port, or {self.data_dir} was first started with another token"
                    raise self._failure(f"port {port} is not answered by our server", hint) from error
            except BaseException:
                self.stop()
                raise
            else:
                self._port = port
                return

    def stop(self) -> None:
        """End the server and everything it started; harmless if it is not running."""
        process, self._process, self._port = self._process, None, None
        if process is None:
            return
        _end_group(process, force=False)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # Also after a clean end: a child may have outlived its parent.
            _end_group(process, force=True)
            process.wait()

    def __enter__(self) -> Self:
        """Start the server."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server."""
        self.stop()

    def add_user(self, email: str, password: str) -> LocalUser:
        """Make another account; see `add_user`."""
        return add_user(self.url, self.token, email, password)

    def _environment(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        # The account goes through the environment: arguments are visible to every user.
        account = {
            "LABEL_STUDIO_USERNAME": self.username,
            "LABEL_STUDIO_PASSWORD": self.password,
            "LABEL_STUDIO_USER_TOKEN": self.token,
            "LABEL_STUDIO_BASE_DATA_DIR": str(self.data_dir),
        }
        return inherited | _SETTINGS | account

    def _launch(self, port: int) -> None:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        command = [self.executable, "start", "--no-browser"]
        command += ["--internal-host", HOST, "--port", str(port)]
        with self.log_path.open("wb") as log:
            try:
                self._process = subprocess.Popen(
                    command,
                    env=self._environment(),
                    cwd=self.data_dir,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise RemoteError(
                    f"cannot run {self.executable}: {error.strerror or error}",
                    hint="install it with: pip install 'potato-bridge[demo]'",
                ) from error

    def _wait(self, port: int) -> None:
        """Return when our server answers on the port."""
        process = self._process
        assert process is not None
        deadline = time.monotonic() + self.timeout
        with _client(f"http://{HOST}:{port}", self.token) as client:
            while True:
                with contextlib.suppress(httpx.TransportError):
                    if client.get("/health").status_code == 200:
                        return self._verify(client)
                # Label Studio silently takes the next port when its own is busy.
                if f"Port {port} is in use" in self.log_tail():
                    raise _NotOursError
                if time.monotonic() > deadline:
                    raise self._failure(f"Label Studio did not answer in {self.timeout:.0f} s")
                # Waiting for the end of the process also paces the loop.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(0.1)
                    raise self._failure(f"Label Studio ended with status {status}")

    def _verify(self, client: httpx.Client) -> None:
        # Only our server knows the token, so the answer tells whose it is.
        answer = client.get("/api/current-user/whoami")
        if answer.status_code != 200 or answer.json().get("email") != self.username:
            raise _NotOursError

    def _failure(self, message: str, hint: str = "") -> RemoteError:
        where = f"{self.log_path}, last lines:\n{self.log_tail()}"
        return RemoteError(f"{message}\n{where}", hint=hint)


def add_user(url: str, admin_token: str, email: str, password: str) -> LocalUser:
    """Make an account through the organization's invite link.

    Args:
        url: Address of the server.
        admin_token: Legacy token of a user who may invite.
        email: Address of the new user.
        password: Password of the new user; the server wants 8 characters or more.

    Returns:
        The new user, who is a member of the organization and can annotate every project.

    Raises:
        RemoteError: The server refuses the account.
    """
    with _client(url, admin_token) as admin:
        invite = _checked(admin.get("/api/invite")).json()["invite_url"]
    with _client(url) as client:
        form = _checked(client.get(invite))
        csrf = _CSRF_FIELD.search(form.text)
        if csrf is None:
            raise RemoteError(f"{url} shows no sign-up form behind its invite link")
        answer = client.post(
            invite,
            data={"csrfmiddlewaretoken": csrf[1], "email": email, "password": password},
            headers={"Referer": f"{url}/user/signup/"},
        )
        # A redirect is success; the form again is a refusal.
        if answer.status_code != 302:
            reasons = [html.unescape(reason) for reason in _FIELD_ERROR.findall(answer.text)]
            why = "; ".join(reasons) or f"status {answer.status_code}"
            raise RemoteError(f"cannot make the account {email}: {why}")
        me = _checked(client.get("/api/current-user/whoami")).json()
        token = _checked(client.get("/api/current-user/token")).json()["token"]
    return LocalUser(id=me["id"], email=email, password=password, token=token)


def personal_access_token(url: str, token: str) -> str:
    """Make the personal access token (a JWT) of a user.

    Args:
        url: Address of the server.
        token: Legacy token of the user.

    Raises:
        RemoteError: The user has a valid one already: the server gives out one per user.
    """
    with _client(url, token) as client:
        return str(_checked(client.post("/api/token/")).json()["token"])


def _client(url: str, token: str = "") -> httpx.Client:
    headers = {"Authorization": f"Token {token}"} if token else {}
    # Without the environment: a proxy cannot reach our loopback address.
    return httpx.Client(base_url=url, headers=headers, timeout=30.0, trust_env=False)


def _checked(answer: httpx.Response) -> httpx.Response:
    if answer.is_success:
        return answer
    request = answer.request
    raise RemoteError(f"{request.method} {request.url.path}: {answer.status_code} {answer.text[:300]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    assert isinstance(port, int)
    return port


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def _end_group(process: subprocess.Popen[bytes], *, force: bool) -> None:
    if sys.platform == "win32":
        process.kill() if force else process.terminate()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL if force else signal.SIGTERM)

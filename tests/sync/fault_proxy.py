"""A fault proxy: stands in front of a real server, passes requests on, and spoils the ones it is told to spoil."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import httpx

Fault = Literal[
    "lose-answer", "lose-request", "504-after", "504-before", "500-before", "login-page", "429", "cut-body", "later"
]


@dataclass
class FaultProxy:
    """Passes requests on to `target`; `requests` holds what came, as (method, path).

    A request with the fault `later` is answered at once, as a hosted Label Studio answers an import, and is passed on
    before the `listings`-th listing of tasks that comes after it; None: never.
    """

    target: str
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    listings: int | None = None
    _held: list[tuple[int, Callable[[], object]]] = field(default_factory=list)
    _faults: list[tuple[Callable[[str, str], bool], Fault, int]] = field(default_factory=list)

    def spoil(self, method: str, part: str, fault: Fault, *, times: int = 1) -> None:
        """Spoils the next requests of this method whose path holds this part."""
        self._faults.append((lambda m, p: m == method and part in p, fault, times))

    def due(self, method: str, path: str) -> Fault | None:
        for index, (matches, fault, times) in enumerate(self._faults):
            if times and matches(method, path):
                self._faults[index] = (matches, fault, times - 1)
                return fault
        return None

    def listed(self) -> None:
        """A listing of tasks is about to be passed on."""
        waiting = [(left - 1, send) for left, send in self._held]
        self._held = [(left, send) for left, send in waiting if left]
        for left, send in waiting:
            if not left:
                send()

    def hold(self, send: Callable[[], object]) -> None:
        if self.listings is not None:
            self._held.append((self.listings, send))


@contextmanager
def fault_proxy(target: str, prefix: str = "") -> Iterator[FaultProxy]:
    """A proxy in front of `target`, which it shows below the path `prefix`."""
    proxy = FaultProxy(target)
    upstream = httpx.Client(trust_env=False, timeout=120)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def answer(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            proxy.requests.append((self.command, self.path))
            fault = proxy.due(self.command, self.path)
            if fault == "lose-request":
                self.close_connection = True
                return
            if fault == "504-before":
                return self.answer(504, b"<html>gateway</html>", "text/html")
            if fault == "500-before":
                return self.answer(500, b'{"detail": "database is locked"}')
            if fault == "429":
                return self.answer(429, b'{"detail": "slow down"}', **{"Retry-After": "0.01"})
            if fault == "login-page":
                return self.answer(302, b"", Location="https://login.example.org/user/login/")
            headers = {
                name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")
            }
            if not self.path.startswith(prefix):
                return self.answer(404, b"<html><title>Not here</title></html>", "text/html")
            path = self.path.removeprefix(prefix)

            # The handler has another request by the time at which this one is sent later.
            def send(method: str = self.command) -> httpx.Response:
                return upstream.request(method, proxy.target + path, content=body, headers=headers)

            if fault == "later":
                proxy.hold(send)
                return self.answer(201, b'{"import": 7}')
            if self.command == "GET" and "/api/tasks/?" in path:
                proxy.listed()
            got = send()
            if fault == "lose-answer":
                self.close_connection = True
                return
            if fault == "504-after":
                return self.answer(504, b"<html>gateway</html>", "text/html")
            if fault == "cut-body":
                self.send_response(got.status_code)
                self.send_header("Content-Length", str(len(got.content)))
                self.end_headers()
                self.wfile.write(got.content[: len(got.content) // 2])
                self.close_connection = True
                return
            self.answer(got.status_code, got.content, got.headers.get("content-type", ""))

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}{prefix}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        upstream.close()

"""The Argilla server of the tests, in one process tree: run with the Python of the server's own environment.

    python argilla_launcher.py FOLDER     # serves until SIGTERM; the address is in FOLDER/address
    python argilla_launcher.py FOLDER migrate     # makes the empty database, and ends

Beside Argilla: a Redis that is a thread (fakeredis), a search engine that reads Argilla's own tables, and a worker for
the jobs that Argilla puts into its queue. Argilla itself is as its makers publish it. Its owner account is made from
OWNER_NAME, OWNER_PASSWORD and OWNER_KEY of the environment.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import socket
import sys
import threading
from pathlib import Path

from fakeredis import TcpFakeServer

HOST = "127.0.0.1"


def set_up(folder: Path, redis_port: int) -> None:
    """Argilla reads its settings once, when it is imported."""
    # Argilla copies its pages into a temporary folder and leaves them there.
    scratch = folder / "tmp"
    scratch.mkdir(exist_ok=True)
    os.environ |= {
        "ARGILLA_HOME_PATH": str(folder),
        "ARGILLA_DATABASE_URL": f"sqlite+aiosqlite:///{folder / 'argilla.db'}?check_same_thread=False",
        "ARGILLA_REDIS_URL": f"redis://{HOST}:{redis_port}/0",
        "ARGILLA_SEARCH_ENGINE": "tables",
        "ARGILLA_AUTH_SECRET_KEY": "of-the-tests",
        # No telemetry, and nothing asked of the Hub.
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_OFFLINE": "1",
        "TMPDIR": str(scratch),
    }
    # Registers the search engine; Python has put this folder on the path.
    import argilla_engine  # noqa: F401


def migrate() -> None:
    from argilla_server.cli.database.migrate import migrate_db

    migrate_db("head")


async def make_owner() -> None:
    from argilla_server.contexts import accounts
    from argilla_server.database import AsyncSessionLocal
    from argilla_server.models import User, UserRole

    async with AsyncSessionLocal() as session:
        await User.create(
            session,
            first_name=os.environ["OWNER_NAME"],
            username=os.environ["OWNER_NAME"],
            role=UserRole.owner,
            api_key=os.environ["OWNER_KEY"],
            password_hash=accounts.hash_password(os.environ["OWNER_PASSWORD"]),
            workspaces=[],
        )


def work() -> None:
    """Carries out the jobs of the queue, in a process of its own that ends with this one."""
    parent = os.getpid()
    if os.fork():
        return
    # 1: PR_SET_PDEATHSIG. A killed server must leave no worker behind.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    from argilla_server.jobs.queues import DEFAULT_QUEUE, HIGH_QUEUE, REDIS_CONNECTION
    from rq import Worker

    Worker([HIGH_QUEUE, DEFAULT_QUEUE], connection=REDIS_CONNECTION).work()
    os._exit(0)


def serve(folder: Path) -> None:
    import uvicorn
    from argilla_server import app

    listener = socket.create_server((HOST, 0))
    # Whole or not at all: it is waited for.
    written = folder / "address.new"
    written.write_text(f"http://{HOST}:{listener.getsockname()[1]}")
    written.replace(folder / "address")
    uvicorn.Server(uvicorn.Config(app, access_log=False)).run(sockets=[listener])


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    redis = TcpFakeServer((HOST, 0), server_type="redis")
    set_up(folder, redis.server_address[1])
    if sys.argv[2:] == ["migrate"]:
        return migrate()
    # Before there are threads and open connections; it waits for the Redis below.
    work()
    asyncio.run(make_owner())
    threading.Thread(target=redis.serve_forever, daemon=True).start()
    serve(folder)


if __name__ == "__main__":
    main()

"""The demo on an Argilla of its own: the server of the tests, which is gone when the demo has ended.

python -m tests.servers.argilla_demo [options of potato-bridge demo]
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from potato_bridge.cli import main
from tests.servers.argilla import running_argilla


def demo(arguments: list[str]) -> None:
    print("starting an Argilla (the first start takes half a minute)", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder, running_argilla(Path(folder)) as server:
        os.environ |= {"ARGILLA_API_URL": server.url, "ARGILLA_API_KEY": server.api_key}
        sys.argv = ["potato-bridge", "demo", "--backend", "argilla", *arguments]
        if "--keep" in arguments:
            owner = server.owner
            print(f"sign in as {owner.username} with the password {owner.password}", file=sys.stderr)
        main()


if __name__ == "__main__":
    demo(sys.argv[1:])

"""Make one of the project's virtual environments, once, and print its folder.

    python .ci/environment.py dev            # the package (editable) and the dev group
    python .ci/environment.py demo           # the package (editable) with its demo extra
    python .ci/environment.py label-studio   # the server alone, for the tests
    python .ci/environment.py potato         # Potato alone, for the tests
    python .ci/environment.py argilla        # the Argilla server alone, for the tests
    python .ci/environment.py trainers       # TRL's trainers alone, for `make test-trainers`

An environment is `.cache/venvs/<name>-<key>`. The key covers what decides its
content, so a changed pin makes a new environment and a changed lint setting does
not. Only the folder goes to standard output. Standard library only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
# Programs whose dependencies have pins of their own: they need not fit ours.
PROGRAMS = {name: ROOT / "tests" / "servers" / f"{name}-constraints.txt" for name in ("argilla", "potato")}
PROGRAMS["trainers"] = ROOT / "tests" / "trainers" / "constraints.txt"
ENVIRONMENTS = ("demo", "dev", "label-studio", *PROGRAMS)
STAMP = "complete"
BIN = "Scripts" if os.name == "nt" else "bin"


def requirements(name: str, project: dict[str, Any]) -> list[str]:
    """The pip arguments of an environment."""
    if name == "label-studio":
        # The same pin as the demo's: the tests then run the server that users get.
        return list(project["project"]["optional-dependencies"]["demo"])
    if name in PROGRAMS:
        return ["-r", str(PROGRAMS[name])]
    if name == "demo":
        return ["-e", f"{ROOT}[demo]"]
    # The dev group is spelled out because pip has no --group before 25.1.
    return ["-e", str(ROOT), *project["dependency-groups"]["dev"]]


def key_of(arguments: list[str], constraints: Path, project: dict[str, Any]) -> str:
    """A short hash of everything that decides the content of an environment."""
    parts: list[Any] = [
        arguments,
        constraints.read_text(encoding="utf-8"),
        sys.version,
        # Scripts hold the absolute path of their interpreter.
        sys.base_prefix,
        str(ROOT),
    ]
    if "-e" in arguments:
        parts += [project["build-system"], project["project"], project.get("tool", {}).get("hatch")]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def say(text: str) -> None:
    """Tell the person who waits."""
    print(f"[venv] {text}", file=sys.stderr, flush=True)


def run(command: list[str], **more: Any) -> bool:
    """Run a command and say whether it succeeded; its output goes to standard error."""
    return subprocess.run(command, stdout=sys.stderr, check=False, **more).returncode == 0


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Two targets started at once must not fill the same folder."""
    with path.open("w") as handle:
        try:
            import fcntl
        except ImportError:
            pass
        else:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def install(folder: Path, arguments: list[str], constraints: Path) -> None:
    """Install the packages, or end with an error."""
    python = str(folder / BIN / "python")
    constrained = ["-c", str(constraints)]
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *constrained]
    uv = [python, "-m", "uv", "pip", "install", "--quiet", "--python", python, *constrained]
    # uv is several times faster, but it does not read pip's configuration: where
    # packages come from a mirror that only pip knows, pip does the work.
    # Of torch, uv fetches the build for a GPU, which is larger by gigabytes.
    if (
        "torch" not in constraints.read_text(encoding="utf-8")
        and run([*pip, "uv"])
        and run([*uv, *arguments], cwd=ROOT)
    ):
        return
    say("uv could not install the packages: trying with pip")
    if not run([*pip, *arguments], cwd=ROOT):
        sys.exit(f"[venv] the installation failed; {folder} is made anew on the next run")


def main() -> None:
    """Make the environment if it is not there, and print its folder."""
    if len(sys.argv) != 2 or sys.argv[1] not in ENVIRONMENTS:
        sys.exit(f"usage: environment.py {'|'.join(ENVIRONMENTS)}")
    name = sys.argv[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    arguments = requirements(name, project)
    constraints = PROGRAMS.get(name, CONSTRAINTS)
    venvs = ROOT / ".cache" / "venvs"
    folder = venvs / f"{name}-{key_of(arguments, constraints, project)}"
    venvs.mkdir(parents=True, exist_ok=True)
    with locked(venvs / f"{folder.name}.lock"):
        # exists() follows the link, so an interpreter that was removed is noticed.
        if not ((folder / STAMP).exists() and (folder / BIN / "python").exists()):
            say(f"making {folder.relative_to(ROOT)} (Python {sys.version.split()[0]})")
            shutil.rmtree(folder, ignore_errors=True)
            venv.create(folder, with_pip=True, symlinks=os.name != "nt")
            install(folder, arguments, constraints)
            # Last, so that an interrupted installation is done again.
            (folder / STAMP).touch()
    print(folder)


if __name__ == "__main__":
    main()

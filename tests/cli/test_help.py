"""`--help` answers at once: it imports no SDK and nothing else that is heavy."""

import subprocess
import sys

import pytest

HEAVY = [
    "argilla",
    "datasets",
    "httpx",
    "jinja2",
    "label_studio_sdk",
    "msgspec",
    "pandas",
    "pyarrow",
    "sqlite3",
    "stamina",
    "unidiff",
    "yaml",
]
VERBS = ["check", "demo", "doctor", "export", "init", "inspect", "pull", "push", "render", "status"]

SCRIPT = """
import sys
from potato_bridge.cli import main
sys.argv = ["potato-bridge", *sys.argv[1:]]
try:
    main()
finally:
    print("IMPORTED", *sorted(name for name in sys.modules if "." not in name), file=sys.stderr)
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in VERBS)], ids=" ".join)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    imported = done.stderr.rsplit("IMPORTED", 1)[1].split()
    assert "typer" in imported
    assert [name for name in HEAVY if name in imported] == []


def test_help_names_every_verb() -> None:
    listed = run("--help").stdout
    assert [verb for verb in VERBS if verb not in listed] == []

"""Shell completion: the script of each shell, and what it is told when Tab is pressed."""

import os
import subprocess
import sys

import pytest

SCRIPT = 'import sys; from potato_bridge.cli import main; sys.argv = ["potato-bridge", *sys.argv[1:]]; main()'


def complete(instruction: str, **variables: str) -> str:
    environment = {**os.environ, "_POTATO_BRIDGE_COMPLETE": instruction, **variables}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script(shell: str) -> None:
    assert f"complete_{shell}" in complete(f"source_{shell}")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("potato-bridge pu", ["push", "pull"]),
        ("potato-bridge init --st", ["--steps-key"]),
        ("potato-bridge init --mode ", ["first_error", "per_step"]),
    ],
)
def test_verbs_options_and_values_are_offered(line: str, offered: list[str]) -> None:
    assert complete("complete_bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" "))).split() == offered

"""Names that `-f` takes, names that it does not take yet, and names that nobody knows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from potato_bridge.errors import UsageError
from potato_bridge.export.prm import Prm
from potato_bridge.export.targets import DOCUMENTS, NOT_YET, TARGETS, find_target

SUPPORTED = (
    "Supported: prm, dpo, reward, kto, sft, code_review, code_review_comments, trajectory_correction, swebench, "
    "github, sarif."
)


def test_targets_are_found_by_their_names() -> None:
    assert find_target("prm") is Prm
    known = {**TARGETS, **DOCUMENTS}
    assert {name: target.name for name, target in known.items()} == {name: name for name in known}  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NOT_YET)
def test_known_names_without_a_module(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is not supported yet") as error:
        find_target(name)
    assert error.value.hint == SUPPORTED


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="unknown export format 'swe-bench'") as error:
        find_target("swe-bench")
    assert error.value.hint == f"{SUPPORTED} Did you mean swebench?"
    with pytest.raises(UsageError) as error:
        find_target("nothing like it")
    assert error.value.hint == SUPPORTED


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, potato_bridge.export.dataset, potato_bridge.export.options;"
        "print([name for name in ('pyarrow', 'datasets', 'pandas', 'huggingface_hub') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

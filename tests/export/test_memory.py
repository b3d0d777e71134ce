"""Memory does not grow with the number of records, but for an index of where they stand."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from potato_bridge.model import CodeReviewScheme, ProcessReward, Project
from tests.export.helpers import first_error, open_project, record, write_lines

#: Ten times the records may cost so much more: held as objects they would take well over 100 MB.
ALLOWED_MB = 40

_EXPORT = """
import re, resource, sys
from pathlib import Path
from potato_bridge.export.dataset import export
from tests.export.test_memory import TARGETS

folder = Path(sys.argv[1])
report = export(TARGETS[sys.argv[2]](folder), folder / "records.jsonl", sys.argv[2], folder / "out")
status = Path("/proc/self/status")
if status.exists():  # on Linux, ru_maxrss of a new process begins with what its parent had
    peak = int(re.search("VmHWM:\\s+([0-9]+)", status.read_text())[1]) / 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
print(report.rows, peak)
"""


def _reviewed(folder: Path) -> Project:
    return open_project(folder, [ProcessReward(name="rewards", steps_key="steps"), CodeReviewScheme(name="review")])


#: Target to the project that it is measured with.
TARGETS = {
    "prm": open_project,
    "dpo": open_project,
    "sft": open_project,
    "code_review_comments": _reviewed,
    "github": _reviewed,
}


def _items(target: str, count: int) -> Iterator[dict[str, Any]]:
    for n in range(count):
        steps: list[Any] = [f"{n} {k} " * 60 for k in range(5)]
        if target in ("code_review_comments", "github"):
            content = "".join(f"line {k} of {n}\n" for k in range(40))
            steps = [{"tool": "Write", "input": {"file_path": "a.py", "content": content}, "output": "ok"}]
        yield {"id": f"t{n}", "task": f"Task {n // 2}", "steps": steps}


def _records(target: str, count: int) -> Iterator[dict[str, Any]]:
    comment = {"category": "bug", "file": "a.py", "line": 7, "side": "RIGHT", "text": "No " * 50}
    review = {"verdict": "approve", "comments": [comment] * 3, "file_ratings": {}}
    for n in range(count):
        if target in ("code_review_comments", "github"):
            yield record(f"t{n}", "ann", None) | {"annotations": {"review": review}}
        else:
            # Two traces of each task; a half of them is approved.
            yield record(f"t{n}", "ann", first_error(None if n % 2 else 2, 5))


def peak_mb(folder: Path, target: str, count: int) -> float:
    folder.mkdir()
    write_lines(folder / "items.jsonl", _items(target, count))
    write_lines(folder / "records.jsonl", _records(target, count))
    command = [sys.executable, "-c", _EXPORT, str(folder), target]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=root)
    rows, peak = done.stdout.split()
    assert int(rows) == count * {"code_review_comments": 3, "dpo": 0.5, "sft": 0.5}.get(target, 1)
    return float(peak)


@pytest.mark.parametrize(
    ("target", "count"),
    [("prm", 2_000), ("dpo", 2_000), ("sft", 2_000), ("code_review_comments", 1_000), ("github", 500)],
)
def test_memory_is_flat(target: str, count: int, tmp_path: Path) -> None:
    few, many = peak_mb(tmp_path / "few", target, count), peak_mb(tmp_path / "many", target, 10 * count)
    print(f"{target}: peak {few:.0f} MB for {count:,} records, {many:.0f} MB for {10 * count:,}")
    assert many - few < ALLOWED_MB

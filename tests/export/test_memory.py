"""Memory does not grow with the number of records, but for an index of where they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.export.helpers import first_error, make_project, record, write_lines

#: Ten times the records may cost so much more: held as objects they would take well over 100 MB.
ALLOWED_MB = 40

_EXPORT = """
import re, resource, sys
from pathlib import Path
from potato_bridge.export.dataset import export
from tests.export.helpers import open_project

folder = Path(sys.argv[1])
report = export(open_project(folder), folder / "records.jsonl", "prm", folder / "out")
status = Path("/proc/self/status")
if status.exists():  # on Linux, ru_maxrss of a new process begins with what its parent had
    peak = int(re.search("VmHWM:\\s+([0-9]+)", status.read_text())[1]) / 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
print(report.rows, peak)
"""


def peak_mb(folder: Path, count: int) -> float:
    folder.mkdir()
    items = ({"id": f"t{n}", "task": f"Task {n}", "steps": [f"{n} {k} " * 60 for k in range(5)]} for n in range(count))
    make_project(folder, items)
    write_lines(folder / "records.jsonl", (record(f"t{n}", "ann", first_error(2, 5)) for n in range(count)))
    command = [sys.executable, "-c", _EXPORT, str(folder)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=root)
    rows, peak = done.stdout.split()
    assert int(rows) == count
    return float(peak)


def test_memory_is_flat(tmp_path: Path) -> None:
    few, many = peak_mb(tmp_path / "few", 2_000), peak_mb(tmp_path / "many", 20_000)
    print(f"peak {few:.0f} MB for 2,000 records, {many:.0f} MB for 20,000")
    assert many - few < ALLOWED_MB

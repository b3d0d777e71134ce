"""Reading traces, as ratios to `json.loads` of the same bytes; and the memory of many.

    python -m benchmarks.traces [CORPUS] [TRACES]

For each file of a folder of real traces that is read: CPU of reading it into traces, against `json.loads` of its lines
or of the whole; the aim is at most 4. Then `convert` of so many sessions of Claude Code (20 steps each) and of half as
many, with the peak memory of both: flat is the same. Reading is in this process, converting in processes of its own.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from potato_bridge.converters.traces.inputs import Source, file_source
from potato_bridge.converters.traces.reader import LEAST, Report, readers

CONVERT = "from potato_bridge.cli import main; main()"


def cpu(work: Callable[[], object]) -> float:
    """The least CPU seconds of five times."""
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def decode(source: Source) -> None:
    """What `json.loads` alone does."""
    data = source.read()
    if source.form == "lines":
        for line in data.splitlines():
            json.loads(line)
    else:
        json.loads(data)


def files(folder: Path) -> None:
    """A line for each real file of more than 50 kB."""
    found = readers()
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.stat().st_size < 50_000:
            continue
        source = file_source(path)
        best = max(found, key=lambda reader: reader.score(file_source(path)))
        if best.score(source) >= LEAST:
            took = cpu(lambda: list(best.read(file_source(path), Report())))  # noqa: B023
            ratio = took / cpu(lambda: decode(file_source(path)))  # noqa: B023
            print(f"{best.name:<22} {path.stat().st_size / 1000:6.0f} kB  {ratio:.1f} times json.loads  {path.name}")


def session(number: int) -> str:
    """A session of twenty steps with a call and a result each, of 10 kB."""
    rows = [{"type": "user", "message": {"role": "user", "content": f"Fix bug {number}"}}]
    for step in range(20):
        call = {"type": "tool_use", "id": f"c{step}", "name": "Bash", "input": {"command": "pytest -q"}}
        came = {"type": "tool_result", "tool_use_id": f"c{step}", "content": "1 passed\n" * 10}
        rows.append({"type": "assistant", "message": {"role": "assistant", "id": f"m{step}", "content": [call]}})
        rows.append({"type": "user", "message": {"role": "user", "content": [came]}})
    for position, row in enumerate(rows):
        row |= {"uuid": f"{number}-{position}", "parentUuid": None, "sessionId": f"s{number}"}  # type: ignore[dict-item]
    return "".join(json.dumps(row) + "\n" for row in rows)


def many(count: int) -> None:
    """Converts so many sessions, a file each."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "runs"
        for number in range(count):
            path = folder / f"{number // 1000:04}" / f"{number}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(session(number))
        began = time.perf_counter()
        command = [sys.executable, "-c", CONVERT, "convert", str(folder), "-o", str(Path(root) / "items.jsonl")]
        subprocess.run(command, check=True, capture_output=True)
        took = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
        print(f"{count} traces: {took:.0f} s, {1000 * took / count:.1f} ms each, peak {peak:.0f} MB")


def main(folder: Path | None, count: int) -> None:
    """Prints the ratios, then the memory."""
    if folder is not None:
        files(folder)
    many(count // 2)
    many(count)


if __name__ == "__main__":
    main(
        Path(sys.argv[1]) if len(sys.argv) > 1 else None,
        int(sys.argv[2]) if len(sys.argv) > 2 else 50_000,
    )

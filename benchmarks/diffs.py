"""How fast patches are read, on one core: megabytes of patch a second, and against unidiff alone.

    python benchmarks/diffs.py [MEGABYTES]

The patch is like those of agents: files of a few hunks each, with context. Aim: 2 MB/s or better.
"""

import random
import sys
import time
from collections.abc import Callable

from unidiff.patch import PatchSet

from potato_bridge.converters.diffs.read import read_diff
from potato_bridge.converters.diffs.write import write_diff


def generate(size: int) -> str:
    """A git diff of about this many characters; the same for the same size."""
    rng = random.Random(1)
    words = [f"{rng.getrandbits(32):x}" for _ in range(5_000)]

    def line() -> str:
        return " " * rng.choice((0, 4, 8)) + " ".join(rng.choices(words, k=rng.randint(0, 6)))

    parts: list[str] = []
    length = number = 0
    while length < size:
        number += 1
        name = f"src/package_{number % 40}/module_{number}.py"
        part = [f"diff --git a/{name} b/{name}", f"index {number:07x}..{number + 1:07x} 100644"]
        part += [f"--- a/{name}", f"+++ b/{name}"]
        start = 1
        for _ in range(rng.randint(1, 6)):
            removed, added = rng.randint(0, 8), rng.randint(1, 12)
            part.append(f"@@ -{start},{6 + removed} +{start},{6 + added} @@ def {rng.choice(words)}():")
            part += [f" {line()}" for _ in range(3)]
            part += [f"-{line()}" for _ in range(removed)] + [f"+{line()}" for _ in range(added)]
            part += [f" {line()}" for _ in range(3)]
            start += 40
        text = "\n".join(part) + "\n"
        parts.append(text)
        length += len(text)
    return "".join(parts)


def rate(work: Callable[[], object], size: int) -> float:
    """Megabytes a second of CPU time, the best of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return size / min(times) / 1e6


def main() -> None:
    """Prints one line for each reader."""
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 4
    text = generate(int(megabytes * 1e6))
    data = text.encode()
    diff = read_diff(data)
    hunks = sum(len(file.hunks) for file in diff.files)
    assert not diff.problems and not any(file.problems for file in diff.files)
    print(f"{len(data) / 1e6:.1f} MB, {len(diff.files)} files, {hunks} hunks")
    print(f"read_diff     {rate(lambda: read_diff(data), len(data)):5.1f} MB/s")
    print(f"unidiff alone {rate(lambda: PatchSet(text), len(data)):5.1f} MB/s")
    print(f"write_diff    {rate(lambda: write_diff(diff), len(data)):5.1f} MB/s")


if __name__ == "__main__":
    main()

"""CPU and peak memory of `export -f prm`, against reading the same JSON and writing the same Parquet, no work between.

    python benchmarks/export.py [RECORDS]

Each is a process of its own, on the same files (2 kB of steps for each item). Aims: at most twice the CPU, and under
200 MB at 100,000 records.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = 8
CONFIG = """
annotation_task_name: "Benchmark"
task_dir: .
data_files: [items.jsonl]
item_properties: {id_key: id, text_key: task}
output_annotation_dir: output/
annotation_schemes:
  - {name: process_reward, annotation_type: process_reward, mode: first_error, description: "", steps_key: steps}
"""


def generate(folder: Path, count: int) -> None:
    """Items and one record each; the same for the same count."""
    rng = random.Random(1)
    words = [f"{rng.getrandbits(40):x}" for _ in range(20_000)]
    (folder / "config.yaml").write_text(CONFIG)
    with open(folder / "items.jsonl", "w") as items, open(folder / "records.jsonl", "w") as records:
        for n in range(count):
            name = f"trace_{n:07}"
            steps = [{"thought": " ".join(rng.choices(words, k=16)), "action": f"act[{n}]"} for _ in range(STEPS)]
            items.write(json.dumps({"id": name, "task": f"Task {n}", "steps": steps}) + "\n")
            error = n % (STEPS + 1)
            value = {
                "mode": "first_error",
                "first_error_step": error if error < STEPS else None,
                "total_steps": STEPS,
                "labels": [1] * error + [-1] * (STEPS - error),
            }
            source = {"backend": "label_studio", "project": 1, "task": n, "annotation": n}
            record = {"id": name, "annotator": f"annotator_{n % 7}", "status": "submitted", "source": source}
            records.write(json.dumps({**record, "annotations": {"process_reward": value}}) + "\n")


def ours(folder: Path) -> None:
    """The export."""
    from potato_bridge.converters.potato.config import read_project
    from potato_bridge.export.dataset import export
    from potato_bridge.notices import Notices

    export(read_project(folder / "config.yaml", Notices()), folder / "records.jsonl", "prm", folder / "ours")


def bare(folder: Path) -> None:
    """The JSON read with the standard library, and rows of the same columns written in the same batches."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    rows, writer = [], None
    with open(folder / "items.jsonl", "rb") as items, open(folder / "records.jsonl", "rb") as records:
        for item_line, record_line in zip(items, records, strict=True):
            item, record = json.loads(item_line), json.loads(record_line)
            value, source = record["annotations"]["process_reward"], record["source"]
            rows.append(
                {
                    "prompt": item["task"],
                    "completions": [step["thought"] + "\n" + step["action"] for step in item["steps"]],
                    "labels": [label > 0 for label in value["labels"]],
                    "id": record["id"],
                    "annotator": record["annotator"],
                    "scheme": "process_reward",
                    "mode": value["mode"],
                    "first_error": -1 if value["first_error_step"] is None else value["first_error_step"],
                    "scores": [float(label) for label in value["labels"]],
                    "step_ids": [str(n) for n in range(STEPS)],
                    **{key: str(source[key]) for key in ("backend", "project", "task", "annotation")},
                }
            )
            if len(rows) == 1000:
                batch = pyarrow.RecordBatch.from_pylist(rows)
                writer = writer or ParquetWriter(folder / "bare.parquet", batch.schema, compression="zstd")
                writer.write_batch(batch)
                rows = []
    if rows:
        batch = pyarrow.RecordBatch.from_pylist(rows)
        writer = writer or ParquetWriter(folder / "bare.parquet", batch.schema, compression="zstd")
        writer.write_batch(batch)
    if writer:
        writer.close()


def main() -> None:
    """Runs both and prints their figures."""
    if len(sys.argv) == 3:
        start = time.perf_counter()
        {"ours": ours, "bare": bare}[sys.argv[1]](Path(sys.argv[2]))
        used = resource.getrusage(resource.RUSAGE_SELF)
        wall = time.perf_counter() - start
        print(json.dumps([used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024]))
        return
    count = int(sys.argv[1]) if len(sys.argv) == 2 else 100_000
    with tempfile.TemporaryDirectory() as name:
        generate(Path(name), count)
        figures = {}
        for what in ("bare", "ours"):
            done = subprocess.run([sys.executable, __file__, what, name], stdout=subprocess.PIPE, check=True)
            cpu, wall, memory = figures[what] = json.loads(done.stdout)
            print(f"{what}: {cpu:.1f} s CPU, {wall:.1f} s wall, {memory:.0f} MB peak")
    print(f"{count} records: {figures['ours'][0] / figures['bare'][0]:.2f} times the CPU")


if __name__ == "__main__":
    main()

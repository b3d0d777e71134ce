"""A written data set, read again before it takes its place: rows as a trainer sees them, and as `datasets` loads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from potato_bridge.errors import BridgeError
from potato_bridge.export.parquet import Written
from potato_bridge.export.rows import Target

#: Up to so many bytes of rows a data set is loaded for the check; a larger one is only opened, since loading copies all
#: rows and maps the copy into memory.
LOADED_BYTES = 16_000_000


def verify_rows(written: Written, target: Target) -> None:
    """Reads the shards and asks the target whether its trainer takes each row.

    Raises:
        BridgeError: A row that does not train, or a row too many or too few: a defect.
    """
    import pyarrow.parquet

    open_shard: Any = pyarrow.parquet.ParquetFile
    rows = 0
    for file in written.files:
        # With read-ahead and threads, pyarrow holds far more than one row group in memory.
        with open_shard(file, pre_buffer=False) as shard:
            for group in range(shard.num_row_groups):
                table = shard.read_row_group(group, use_threads=False)
                rows += table.num_rows
                if problem := target.check(table):
                    raise _defect(problem)
    # What the pool holds on to would come on top of what importing `datasets` takes.
    pyarrow.default_memory_pool().release_unused()
    if rows != written.rows:
        raise _defect(f"{written.rows} rows were meant, {rows} were written")


def verify_folder(folder: Path, target: Target, written: Written, cache: Path) -> None:
    """Opens the folder with `load_dataset` and compares its columns and count.

    Args:
        folder: The data set.
        target: Its config.
        written: What is in it.
        cache: A folder that `datasets` may write to; the caller removes it.

    Raises:
        BridgeError: The folder is not what was meant: a defect, or a `datasets` that reads it otherwise.
    """
    from datasets import Features, load_dataset  # type: ignore[import-untyped]

    streaming = written.arrow_bytes > LOADED_BYTES
    with _quiet():
        try:
            loaded = load_dataset(str(folder), target.name, split="train", streaming=streaming, cache_dir=str(cache))
        except Exception as error:  # datasets raises whatever its readers raise
            raise _defect(f"datasets does not load it: {error}") from error
    if loaded.features != Features.from_arrow_schema(target.schema()):
        raise _defect(f"datasets reads other columns: {loaded.features}")
    # A stream is not read here: that `verify_rows` did. What the card says of it is compared.
    rows = loaded.info.splits["train"].num_examples if streaming else loaded.num_rows
    if rows != written.rows:
        raise _defect(f"{written.rows} rows were written, datasets finds {rows}")


def _defect(problem: str) -> BridgeError:
    return BridgeError(
        f"the data set failed its check: {problem}",
        hint="Nothing was written. This is a defect of potato-bridge, or of its pair with the installed datasets.",
    )


@contextmanager
def _quiet() -> Iterator[None]:
    import datasets

    shown = datasets.is_progress_bar_enabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()

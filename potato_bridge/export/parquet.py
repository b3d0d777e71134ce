"""Rows to Parquet shards at constant memory, the same bytes for the same rows.

pyarrow alone: `datasets` costs as much memory again, and is not imported before the rows are on the disk.
"""

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from potato_bridge.export.rows import Row

if TYPE_CHECKING:
    import pyarrow

#: Rows of a batch, which is a row group too.
BATCH_ROWS = 1000

#: A batch ends early at about so many bytes: a thousand long traces would not fit into memory.
BATCH_BYTES = 8_000_000

_UNNAMED = "shard-{:05d}.parquet"
_NAMED = "train-{:05d}-of-{:05d}.parquet"


@dataclass(frozen=True, slots=True)
class Written:
    """What the shards hold.

    Attributes:
        arrow_bytes: Size of the rows in memory, as the card's `num_bytes` counts it.
        file_bytes: Size of the shards on disk.
    """

    files: list[Path]
    rows: int
    arrow_bytes: int
    file_bytes: int


class ShardWriter:
    """Writes `train-00000-of-0000N.parquet` into a folder; use it as a context manager, then call `finish`.

    Args:
        folder: Made if it is not there.
        schema: The columns.
        shard_bytes: Size at which a shard ends.
    """

    def __init__(self, folder: Path, schema: "pyarrow.Schema", shard_bytes: int) -> None:
        self._folder = folder
        self._schema = schema
        self._stored = _stored(schema)
        self._shard_bytes = shard_bytes
        self._batch: list[Row] = []
        self._bytes = 0
        self._shards: list[Path] = []
        self._rows = 0
        self._arrow_bytes = 0
        self._file: Any = None
        self._writer: Any = None
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "ShardWriter":
        """The writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes the shard that is open, whatever happened."""
        self._close()

    def add(self, row: Row) -> None:
        """Adds a row; it reaches the disk with its batch."""
        self._batch.append(row)
        # Its JSON is as long as its texts, and msgspec is faster than walking it here.
        self._bytes += len(msgspec.json.encode(row))
        if len(self._batch) >= BATCH_ROWS or self._bytes >= BATCH_BYTES:
            self._flush()

    def finish(self) -> Written:
        """Writes what is left and gives the shards their names, which say how many there are."""
        if self._batch:
            self._flush()
        self._close()
        files = [self._folder / _NAMED.format(number, len(self._shards)) for number in range(len(self._shards))]
        for shard, file in zip(self._shards, files, strict=True):
            shard.rename(file)
        return Written(files, self._rows, self._arrow_bytes, sum(file.stat().st_size for file in files))

    def _flush(self) -> None:
        import pyarrow

        batch = pyarrow.RecordBatch.from_pylist(self._batch, schema=self._stored)
        if self._writer is None:
            self._open()
        if self._stored is self._schema:
            self._writer.write_batch(batch)
        else:
            # pyarrow builds no JSON inside of lists, and casts none either.
            from datasets.table import table_cast  # type: ignore[import-untyped]

            self._writer.write_table(table_cast(pyarrow.Table.from_batches([batch]), self._schema))
        self._rows += batch.num_rows
        self._arrow_bytes += batch.nbytes
        self._batch, self._bytes = [], 0
        if self._file.tell() >= self._shard_bytes:
            self._close()

    def _open(self) -> None:
        import pyarrow
        import pyarrow.parquet

        shard = self._folder / _UNNAMED.format(len(self._shards))
        self._shards.append(shard)
        self._file = pyarrow.OSFile(str(shard), "wb")
        # Content-defined chunks let the Hub store only what changed; the page index lets readers skip.
        make: Any = pyarrow.parquet.ParquetWriter
        self._writer = make(
            self._file, self._schema, compression="zstd", write_page_index=True, use_content_defined_chunking=True
        )

    def _close(self) -> None:
        writer, file, self._writer, self._file = self._writer, self._file, None, None
        try:
            if writer is not None:
                writer.close()
        finally:
            if file is not None:
                file.close()


def _stored(schema: "pyarrow.Schema") -> "pyarrow.Schema":
    """The schema with texts where there is JSON; the same one where there is none."""
    import pyarrow

    plain = pyarrow.schema([(field.name, _plain(field.type)) for field in schema])
    return schema if plain.equals(schema) else plain


def _plain(kind: "pyarrow.DataType") -> "pyarrow.DataType":
    import pyarrow

    if isinstance(kind, pyarrow.BaseExtensionType):
        return kind.storage_type
    if isinstance(kind, pyarrow.ListType):
        return pyarrow.list_(_plain(kind.value_type))
    if isinstance(kind, pyarrow.StructType):
        return pyarrow.struct([(field.name, _plain(field.type)) for field in kind])
    return kind

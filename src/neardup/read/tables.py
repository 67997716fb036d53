"""Parquet and Arrow files: read batch by batch, only the wanted columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InputError
from neardup.read.batch import Rows
from neardup.read.columnar import ROWS_AT_ONCE, TableColumns
from neardup.read.columns import Wanted

_READ_BYTES = 1 << 20
_ARROW_FILE = b"ARROW1"
_FEATHER_1 = b"FEA1"


def parquet_columns(file: Any, name: str, wanted: Wanted) -> TableColumns:
    """Check the columns of a Parquet file."""
    return TableColumns(name, _open_parquet(file).schema_arrow, wanted)


def read_parquet(
    file: Any, name: str, size: int, wanted: Wanted, batch_bytes: int
) -> Iterator[Rows]:
    """Read a Parquet file; `size` is what the whole counts as progress."""
    parquet = _open_parquet(file)
    columns = TableColumns(name, parquet.schema_arrow, wanted)
    total, seen = max(1, parquet.metadata.num_rows), 0
    batches = parquet.iter_batches(
        batch_size=_rows_per_batch(parquet.metadata, columns.names, batch_bytes),
        columns=columns.names,
        use_threads=False,
    )
    for batch in batches:
        done = size * (seen + batch.num_rows) // total
        yield from columns.rows(batch, seen, batch_bytes, done)
        seen += batch.num_rows


def arrow_columns(file: Any, name: str, wanted: Wanted) -> TableColumns:
    """Check the columns of an Arrow file or stream."""
    return TableColumns(name, _open_arrow(file, name).schema, wanted)


def read_arrow(file: Any, name: str, size: int, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read an Arrow file or stream, or Feather version 2, which is the former."""
    reader = _open_arrow(file, name)
    columns = TableColumns(name, reader.schema, wanted)
    whole, seen = max(1, file.size()), 0
    for batch in _batches(reader):
        done = size * min(file.tell(), whole) // whole
        yield from columns.rows(batch.select(columns.names), seen, batch_bytes, done)
        seen += batch.num_rows


def _open_parquet(file: Any) -> pq.ParquetFile:
    # Buffered and not fetched ahead: a row group of any size is read page by page.
    return pq.ParquetFile(file, buffer_size=_READ_BYTES, pre_buffer=False)


def _open_arrow(file: Any, name: str) -> Any:
    start = file.read(len(_ARROW_FILE))
    file.seek(0)
    if start.startswith(_FEATHER_1):
        raise InputError(f"{name} is Feather version 1, long replaced; write it again as version 2")
    # No included_fields: measured, they copy a mapped batch that otherwise stays in the file.
    options = pa.ipc.IpcReadOptions(use_threads=False)
    open_ipc = pa.ipc.open_file if start == _ARROW_FILE else pa.ipc.open_stream
    return open_ipc(file, options=options)


def _batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchStreamReader):
        yield from reader
        return
    for place in range(reader.num_record_batches):
        yield reader.get_batch(place)


def _rows_per_batch(metadata: Any, names: list[str], batch_bytes: int) -> int:
    """Guess from the sizes in the footer how many rows make a batch."""
    largest = 1.0
    for place in range(metadata.num_row_groups):
        group = metadata.row_group(place)
        chunks = (group.column(i) for i in range(group.num_columns))
        size = sum(
            chunk.total_uncompressed_size
            for chunk in chunks
            if any(f"{chunk.path_in_schema}.".startswith(f"{name}.") for name in names)
        )
        largest = max(largest, size / max(1, group.num_rows))
    return max(1, min(ROWS_AT_ONCE, int(batch_bytes / largest)))

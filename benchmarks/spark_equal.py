"""Whether two outputs of `neardup dedup` are the same, table by table, in order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.spark_runs import TABLES

_ROWS_AT_ONCE = 1 << 16


def equal_tables(ours: Path, theirs: Path) -> dict[str, bool]:
    """For each table whether rows, order and types are the same."""
    return {name: _equal(ours / f"{name}.parquet", theirs / f"{name}.parquet") for name in TABLES}


def _equal(a: Path, b: Path) -> bool:
    left, right = _Rows(a), _Rows(b)
    if left.schema != right.schema or left.count != right.count:
        return False
    others = right.batches()
    held = right.schema.empty_table()
    for batch in left.batches():
        while len(held) < len(batch):
            held = pa.concat_tables([held, pa.Table.from_batches([next(others)])])
        if not pa.Table.from_batches([batch]).equals(held.slice(0, len(batch))):
            return False
        held = held.slice(len(batch))
    return True


class _Rows:
    """The rows of a Parquet file, or of the parts in a folder by their names."""

    def __init__(self, path: Path) -> None:
        parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        self._files = [pq.ParquetFile(part) for part in parts]
        self.schema = self._files[0].schema_arrow.remove_metadata()
        self.count = sum(file.metadata.num_rows for file in self._files)

    def batches(self) -> Iterator[pa.RecordBatch]:
        for file in self._files:
            if file.schema_arrow.remove_metadata() != self.schema:
                raise SystemExit(f"the parts of a table have different columns: {self.schema}")
            for batch in file.iter_batches(_ROWS_AT_ONCE):
                yield batch.replace_schema_metadata(None)

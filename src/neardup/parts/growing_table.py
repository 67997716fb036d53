"""A table in a file, to which rows are added as they are found."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from typing_extensions import Self

_ROW_GROUP = 1 << 17


class GrowingTable:
    """A Parquet file that batches are added to; rows wait until they fill a row group.

    `schema` is asked for the schema of a file without rows.
    """

    def __init__(self, path: Path, schema: Callable[[], pa.Schema]) -> None:
        self._path, self._schema = path, schema
        self._stack = ExitStack()
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, rows: pa.Table) -> None:
        """Add rows, all of one schema."""
        if len(rows):
            self._waiting.append(rows)
            self._rows += len(rows)
        if self._rows >= _ROW_GROUP:
            self._write()

    def _write(self) -> None:
        rows = pa.concat_tables(self._waiting) if self._waiting else self._schema().empty_table()
        if self._writer is None:
            # Through a Python file, because Arrow does not accept names that are not UTF-8.
            file = self._stack.enter_context(self._path.open("wb"))
            self._writer = self._stack.enter_context(
                pq.ParquetWriter(file, rows.schema, compression="zstd")
            )
        self._writer.write_table(rows)
        self._waiting, self._rows = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and (self._rows or self._writer is None):
            self._write()
        self._stack.close()

"""The columns of all documents: in memory up to a limit, the rest in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO

import pyarrow as pa

from neardup.errors import NeardupError


class Records:
    """Columns of text by place, added batch by batch.

    What exceeds `memory` bytes goes to a temporary file (in `TMPDIR`), which disappears with this
    object; it is mapped into memory when a column is asked for.
    """

    def __init__(self, names: Sequence[str], memory: int) -> None:
        self.names = tuple(names)
        self._memory = memory
        self._schema = pa.schema([(name, pa.large_string()) for name in self.names])
        self._held: list[pa.RecordBatch] = []
        self._bytes = 0
        self._count = 0
        self._file: IO[bytes] | None = None
        self._writer: pa.RecordBatchFileWriter | None = None
        self._stored: pa.Table | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def held_bytes(self) -> int:
        """Bytes of text in memory."""
        return self._bytes

    def add(self, columns: Sequence[pa.Array]) -> None:
        """Keep the columns of the next documents; a missing text is empty."""
        texts = [column.fill_null("").cast(pa.large_string()) for column in columns]
        batch = pa.RecordBatch.from_arrays(texts, schema=self._schema)
        self._count += len(batch)
        if self._file is None and self._bytes + batch.nbytes <= self._memory:
            self._bytes += batch.nbytes
            self._held.append(batch)
            return
        try:
            if self._writer is None:
                # Closed and deleted with this object.
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
                self._writer = pa.ipc.new_file(self._file, self._schema)
            self._writer.write_batch(batch)
        except OSError as error:
            raise _no_room(error) from error

    def column(self, name: str) -> pa.ChunkedArray:
        """One column of all documents."""
        return self.table()[name]

    def table(self) -> pa.Table:
        """All columns of all documents."""
        held = pa.Table.from_batches(self._held, self._schema)
        if self._file is None:
            return held
        if self._writer is not None:
            try:
                self._writer.close()
                self._file.flush()
            except OSError as error:
                raise _no_room(error) from error
            self._writer = None
            # By its number: Windows opens no file a second time that is removed when closed.
            mapped = mmap(self._file.fileno(), 0, access=ACCESS_READ)
            self._stored = pa.ipc.open_file(pa.py_buffer(mapped)).read_all()
        return pa.concat_tables([held, self._stored])

    def store(self, path: Path) -> None:
        """Write all columns to a file, for `stored`."""
        # Through a Python file, because Arrow does not accept names that are not UTF-8.
        with path.open("wb") as file, pa.ipc.new_file(file, self._schema) as out:
            for batch in self.table().to_batches():
                out.write_batch(batch)

    @classmethod
    def stored(cls, path: Path, memory: int) -> Records:
        """The columns that an earlier run wrote to a file."""
        with path.open("rb") as file, pa.ipc.open_file(file) as batches:
            records = cls(batches.schema.names, memory)
            for number in range(batches.num_record_batches):
                records.add(batches.get_batch(number).columns)
        return records

    def release(self) -> None:
        """Give up the texts; the number of documents stays."""
        self._held.clear()
        self._bytes, self._stored = 0, None
        if self._file is not None:
            self._file.close()
            self._file, self._writer = None, None


def _no_room(error: OSError) -> NeardupError:
    return NeardupError(
        f"the fields do not fit the memory, and {tempfile.gettempdir()} cannot take them: "
        f"{error.strerror or error}; set TMPDIR to a folder with more room, or give more memory"
    )

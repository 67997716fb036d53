"""Text files that are one document each, many of them to a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from neardup.read.batch import Rejected, Rows
from neardup.read.columns import Wanted
from neardup.read.source import Source, explained
from neardup.read.stream import without_mark
from neardup.read.utf8 import invalid_utf8

FILE_COLUMNS = ("id", "text")


def read_whole_files(sources: Sequence[Source], wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read each file as a document; its id is its path."""
    wanted.require(sources[0].name, FILE_COLUMNS)
    batch = _FileBatch(wanted)
    for number, source in enumerate(sources):
        content = b"" if source.fault else _content(source)
        if batch.size and batch.size + len(content) > batch_bytes:
            yield batch.take(number)
        fault = source.fault or invalid_utf8(content)
        batch.bytes_done += source.size or 0
        if fault:
            batch.rejected.append(Rejected(source.name, 0, fault))
        else:
            batch.add(number, source, content)
    yield batch.take(len(sources))


def _content(source: Source) -> bytes:
    with explained(source.name), source.stream() as stream:
        return without_mark(stream.read())


class _FileBatch:
    def __init__(self, wanted: Wanted) -> None:
        self._has_ids = wanted.id == "id"
        self.bytes_done = 0
        self._clear()

    def _clear(self) -> None:
        self.size = 0
        self.rejected: list[Rejected] = []
        self._numbers: list[int] = []
        self._ids: list[str] = []
        self._texts: list[bytes] = []

    def add(self, number: int, source: Source, content: bytes) -> None:
        self._numbers.append(number)
        self._ids.append(source.document_id)
        self._texts.append(content)
        self.size += len(content)

    def take(self, seen: int) -> Rows:
        rows = Rows(
            text=pa.array(self._texts, pa.large_binary()).view(pa.large_string()),
            id=pa.array(self._ids, pa.string()) if self._has_ids else None,
            carried={},
            numbers=np.array(self._numbers, np.int64),
            rejected=tuple(self.rejected),
            seen=seen,
            bytes_done=self.bytes_done,
        )
        self._clear()
        return rows

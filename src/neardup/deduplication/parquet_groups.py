"""Parquet files put together from row groups that were encoded apart, in any threads.

Arrow writes the row groups of a file one after the other, and compressing them is most of the time
of an output. Here Arrow writes each as a file of its own, in memory. The bytes of its columns are
moved to the common file as they are, and the description at its end is adjusted: the positions of
the columns change (https://parquet.apache.org/docs/file-format).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.deduplication.thrift_compact import Struct, decoded, encoded
from neardup.frozen import dataclass

_MAGIC = b"PAR1"
_LENGTH_BYTES = 4
# Fields of the metadata, as numbered in parquet.thrift.
_NUM_ROWS, _ROW_GROUPS = 3, 4
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_CHUNK_OFFSET, _CHUNK_METADATA, _OFFSET_INDEX, _COLUMN_INDEX = 2, 3, 4, 6
_DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE, _BLOOM_FILTER = 9, 10, 11, 14


@dataclass(frozen=True, eq=False)
class EncodedGroups:
    """Row groups that are compressed: their bytes, and the metadata of a file with them alone."""

    body: memoryview
    metadata: Struct


@dataclass(frozen=True, eq=False)
class GroupEncoder:
    """Encodes rows of one schema; `dictionaries` are the columns that are stored by distinct value.

    It may be used in several threads at the same time.
    """

    schema: pa.Schema
    dictionaries: Sequence[str]

    def encoded(self, rows: pa.Table) -> EncodedGroups:
        """The rows as a row group; none if there are no rows."""
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(
            sink,
            self.schema,
            compression="zstd",
            use_dictionary=self.dictionaries,
            write_page_checksum=True,
        ) as writer:
            if len(rows):
                writer.write_table(rows)
        file = memoryview(sink.getvalue())
        end = len(file) - len(_MAGIC) - _LENGTH_BYTES
        start = end - int.from_bytes(file[end : end + _LENGTH_BYTES], "little")
        return EncodedGroups(file[len(_MAGIC) : start], decoded(file[start:end]))


class ParquetGroups:
    """A Parquet file that row groups are appended to; `finish` completes it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._at = file.write(_MAGIC)
        self._metadata: Struct | None = None
        self._groups: list[Struct] = []
        self._rows = 0

    def append(self, part: EncodedGroups) -> None:
        """Write the row groups of a part."""
        moved = self._at - len(_MAGIC)
        self._at += self._file.write(part.body)
        self._rows += part.metadata[_NUM_ROWS].value
        for group in part.metadata[_ROW_GROUPS].value.items:
            _move(group, moved)
            group.pop(_ORDINAL, None)  # optional, and needed in encrypted files only
            self._groups.append(group)
        if self._metadata is None:
            self._metadata = part.metadata

    def finish(self) -> None:
        """Write the metadata; at least one part must have been appended, if only an empty one."""
        assert self._metadata is not None
        self._metadata[_NUM_ROWS].value = self._rows
        self._metadata[_ROW_GROUPS].value.items = self._groups
        written = encoded(self._metadata)
        self._file.write(written + len(written).to_bytes(_LENGTH_BYTES, "little") + _MAGIC)


def _move(group: Struct, by: int) -> None:
    """Add to all positions of a row group."""
    _shift(group, by, _GROUP_OFFSET)
    for chunk in group[_COLUMNS].value.items:
        _shift(chunk, by, _CHUNK_OFFSET, _OFFSET_INDEX, _COLUMN_INDEX)
        described = chunk[_CHUNK_METADATA].value
        _shift(described, by, _DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE, _BLOOM_FILTER)


def _shift(struct: Struct, by: int, *fields: int) -> None:
    for field in fields:
        # A position of 0 means none.
        if field in struct and struct[field].value:
            struct[field].value += by

"""Parquet and Arrow files, read batch by batch and only the needed columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import UnreadableError
from neardup.read.columnar import ROWS_AT_ONCE, SPELT_BYTES, longest_text
from neardup.read.columns import Wanted, is_text
from neardup.read.file_kinds import SIGNATURE_BYTES, misnamed
from neardup.read.source import Part

_HEADER_BYTES = 32
_DICTIONARY_PAGE = 2


_READ_BYTES = 1 << 20
_PARQUET = b"PAR1"
_ARROW_FILE = b"ARROW1"
_ARROW_STREAM = b"\xff\xff\xff\xff"
_FEATHER_1 = b"FEA1"
R = TypeVar("R", covariant=True)


def rows_to_spell_out(
    file: Any, metadata: Any, names: list[str], groups: Iterable[int] | None = None
) -> int:
    """How many rows may be read together, even if each has the longest text of a dictionary.

    The footer does not give the size of decoded texts, so the dictionaries are read.
    """
    longest = 0
    for group in range(metadata.num_row_groups) if groups is None else groups:
        total = 0
        for place, size in _dictionaries(file, metadata.row_group(group), frozenset(names)):
            # Most dictionaries are too short to contain a long text.
            if size * ROWS_AT_ONCE > SPELT_BYTES:
                size = _longest_of(file, metadata, group, place)
            total += size
        longest = max(longest, total)
    return max(1, min(ROWS_AT_ONCE, SPELT_BYTES // max(1, longest)))


def _dictionaries(file: Any, group: Any, names: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The text columns with a dictionary, each with the size of its dictionary in bytes."""
    for place in range(group.num_columns):
        chunk = group.column(place)
        if chunk.physical_type != "BYTE_ARRAY" or chunk.path_in_schema not in names:
            continue
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        file.seek(start)
        size = _dictionary_size(file.read(_HEADER_BYTES))
        if size:
            yield place, size


def _dictionary_size(header: bytes) -> int:
    """The uncompressed size in the header of a page; 0 if it is not a dictionary page.

    The header is a Thrift struct in the compact protocol: type (1), uncompressed size (2), both
    i32.
    """
    kind, place = _number_after(header, 0)
    size, _ = _number_after(header, place)
    return size if kind == _DICTIONARY_PAGE else 0


def _number_after(header: bytes, place: int) -> tuple[int, int]:
    """The i32 field at a place, whose id is one more than the last, and the place after it."""
    if header[place : place + 1] != b"\x15":
        return 0, place
    value = shift = 0
    end = place + 1
    for end in range(place + 1, len(header)):
        value |= (header[end] & 0x7F) << shift
        shift += 7
        if header[end] < 0x80:
            break
    return (value >> 1) ^ -(value & 1), end + 1


def _longest_of(file: Any, metadata: Any, group: int, place: int) -> int:
    name = metadata.row_group(group).column(place).path_in_schema
    file.seek(0)
    # Without a size of the buffer, all of the column in the row group would be held.
    parquet = pq.ParquetFile(
        file,
        metadata=metadata,
        read_dictionary=[name],
        buffer_size=_READ_BYTES,
        pre_buffer=False,
    )
    batches = parquet.iter_batches(1, row_groups=[group], columns=[name], use_threads=False)
    for batch in batches:
        column = batch.column(0)
        if pa.types.is_dictionary(column.type) and is_text(column.type.value_type):
            return longest_text(column.dictionary)
    return 0


class Columns(Protocol[R]):
    """The needed columns of one table; cuts its batches into rows of bounded size."""

    @property
    def names(self) -> list[str]:
        """The columns to read."""

    def row_groups(self, count: int, /) -> list[list[int]]:
        """The row groups of a Parquet file that may share batches."""

    def rows(self, batch: pa.RecordBatch, first: int, most: int, bytes_done: int, /) -> Iterator[R]:
        """Cut a batch, whose first row has the number `first`, into rows of up to size `most`."""

    def rows_per_batch(self, metadata: Any, most: int, /) -> int:
        """Estimate from the footer of a Parquet file how many rows have the size `most`."""


ColumnsOf = Callable[[str, pa.Schema, Wanted], Columns[R]]


def parquet_schema(file: Any, name: str) -> pa.Schema:
    """The schema of a Parquet file."""
    return _open_parquet(file, name).schema_arrow


def read_parquet(
    columns_of: ColumnsOf[R],
    file: Any,
    name: str,
    size: int,
    wanted: Wanted,
    most: int,
    part: Part | None = None,
) -> Iterator[R]:
    """Read a Parquet file, or a part of it; `size` is its share of the progress in bytes."""
    parquet = _open_parquet(file, name)
    columns = columns_of(name, parquet.schema_arrow, wanted)
    total, seen = max(1, parquet.metadata.num_rows), 0 if part is None else part.first_row
    rows_per_batch = min(
        columns.rows_per_batch(parquet.metadata, most),
        rows_to_spell_out(
            file,
            parquet.metadata,
            columns.names,
            None if part is None else range(part.begin, part.end),
        ),
    )
    for groups in columns.row_groups(parquet.num_row_groups):
        wanted_groups = (
            groups if part is None else [g for g in groups if part.begin <= g < part.end]
        )
        batches = parquet.iter_batches(
            batch_size=rows_per_batch,
            row_groups=wanted_groups,
            columns=columns.names,
            use_threads=False,
        )
        for batch in batches:
            done = size * (seen + batch.num_rows) // total
            yield from columns.rows(batch, seen, most, done)
            seen += batch.num_rows


def arrow_schema(file: Any, name: str) -> pa.Schema:
    """The schema of an Arrow file or stream."""
    return _open_arrow(file, name).schema


def read_arrow(
    columns_of: ColumnsOf[R],
    file: Any,
    name: str,
    size: int,
    wanted: Wanted,
    most: int,
    part: Part | None = None,
) -> Iterator[R]:
    """Read an Arrow file or stream, always as a whole; Feather version 2 is an Arrow file."""
    assert part is None
    reader = _open_arrow(file, name)
    columns = columns_of(name, reader.schema, wanted)
    whole, seen = max(1, file.size()), 0
    for batch in _batches(reader):
        done = size * min(file.tell(), whole) // whole
        yield from columns.rows(batch.select(columns.names), seen, most, done)
        seen += batch.num_rows


def _open_parquet(file: Any, name: str) -> pq.ParquetFile:
    start = _beginning(file)
    if not start.startswith(_PARQUET):
        _refuse_misnamed(name, "a Parquet file", start)
    # Buffered, without prefetching: a row group of any size is read page by page.
    return pq.ParquetFile(file, buffer_size=_READ_BYTES, pre_buffer=False)


def _open_arrow(file: Any, name: str) -> Any:
    start = _beginning(file)
    if start.startswith(_FEATHER_1):
        raise UnreadableError(
            f"{name} is Feather version 1, long replaced; write it again as version 2"
        )
    if not start.startswith((_ARROW_FILE, _ARROW_STREAM)):
        _refuse_misnamed(name, "an Arrow file", start)
    # Without included_fields, which were measured to copy mapped batches.
    options = pa.ipc.IpcReadOptions(use_threads=False)
    open_ipc = pa.ipc.open_file if start.startswith(_ARROW_FILE) else pa.ipc.open_stream
    return open_ipc(file, options=options)


def _batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchStreamReader):
        yield from reader
        return
    for place in range(reader.num_record_batches):
        yield reader.get_batch(place)


def _beginning(file: Any) -> bytes:
    start: bytes = file.read(SIGNATURE_BYTES)
    file.seek(0)
    return start


def _refuse_misnamed(name: str, what: str, start: bytes) -> None:
    """Refuse a file of a known other format; Arrow refuses empty and unknown ones."""
    fault = misnamed(name, start)
    if fault:
        raise UnreadableError(f"{name} {fault}")
    if start and re.match(rb"[\s\x20-\x7e]*[{\[\w\x22]", start) and b"\x00" not in start:
        raise UnreadableError(
            f"{name} is text, not {what}; rename it to what it holds, such as .jsonl, .csv or .txt"
        )

"""Dictionaries of Parquet files: a long text that is stored once may stand in a million rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.read.column_types import is_text
from neardup.read.columnar import ROWS_AT_ONCE, SPELT_BYTES, longest_text

_HEADER_BYTES = 32
_DICTIONARY_PAGE = 2


def rows_to_spell_out(file: Any, metadata: Any, names: list[str]) -> int:
    """How many rows may be read together, even if each had the longest text of a dictionary.

    The footer does not tell how long texts are once they are spelt out; their dictionary does.
    """
    longest = 0
    for group in range(metadata.num_row_groups):
        total = 0
        for place, size in _dictionaries(file, metadata.row_group(group), frozenset(names)):
            # Most are so short that none of their texts can be too long.
            if size * ROWS_AT_ONCE > SPELT_BYTES:
                size = _longest_of(file, metadata, group, place)
            total += size
        longest = max(longest, total)
    return max(1, min(ROWS_AT_ONCE, SPELT_BYTES // max(1, longest)))


def _dictionaries(file: Any, group: Any, names: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The columns of texts that have a dictionary, each with the bytes of that."""
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
    """The uncompressed size that the header of a page gives, 0 if it is no dictionary.

    It is a Thrift struct in the compact protocol: type (1), uncompressed size (2), both i32.
    """
    kind, place = _number_after(header, 0)
    size, _ = _number_after(header, place)
    return size if kind == _DICTIONARY_PAGE else 0


def _number_after(header: bytes, place: int) -> tuple[int, int]:
    """The i32 field at a place, one more than the field before it, and the place behind."""
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
    parquet = pq.ParquetFile(file, metadata=metadata, read_dictionary=[name], pre_buffer=False)
    batches = parquet.iter_batches(1, row_groups=[group], columns=[name], use_threads=False)
    for batch in batches:
        column = batch.column(0)
        if pa.types.is_dictionary(column.type) and is_text(column.type.value_type):
            return longest_text(column.dictionary)
    return 0

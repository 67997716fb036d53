"""Columnar tables: the Arrow batches of Parquet and Arrow files → rows."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.read.batch import Rejected, Rows, bounded
from neardup.read.columns import (
    Wanted,
    carried_names,
    field_texts,
    is_field,
    is_id,
    is_string,
    is_text,
    plain_ids,
    plain_text,
    require_type,
    signed_ids,
)
from neardup.read.limits import invalid_texts, too_long

# Enough to keep the cost per batch small, and few enough that long repeated texts, which a
# dictionary stores once, do not exhaust memory when they are decoded.
ROWS_AT_ONCE = 16384
SPELT_BYTES = 1 << 26


class TableColumns:
    """The needed columns of one table; refuses a schema that does not fit."""

    def __init__(self, file: str, schema: pa.Schema, wanted: Wanted) -> None:
        wanted.require_once(file, schema.names)
        self._file = file
        self._text = wanted.text
        self._id = wanted.id if wanted.id in schema.names else None
        self._carried = carried_names(file, wanted.carried(schema.names))
        self._is_record = bool(wanted.fields)
        self._longest = wanted.max_document
        # With all columns carried, only the needed ones may cause a row to be rejected, because the
        # first pass reads the same rows without the others.
        self._mends = wanted.columns == "all"
        fits = is_field if self._is_record else is_text
        for name in wanted.fields or (self._text,):
            require_type(file, schema, name, "a text", "--text", fits)
        if self._id is not None:
            require_type(file, schema, self._id, "an id", "--id (or --id row)", is_id)

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        names = dict.fromkeys((self._text, self._id, *self._carried))
        return [name for name in names if name is not None]

    def rows(
        self, batch: pa.RecordBatch, first: int, batch_bytes: int, bytes_done: int
    ) -> Iterator[Rows]:
        """Cut a batch, whose first row has the number `first`, into rows of bounded size."""
        at_once = _rows_at_once(batch)
        for start in range(0, batch.num_rows, at_once):
            part = batch.slice(start, at_once)
            texts = self._texts(part.column(self._text))
            for begin, end in bounded(texts, batch_bytes):
                piece, count = part.slice(begin, end - begin), end - begin
                text = texts.slice(begin, count)
                yield self._settled(piece, text, first + start + begin, bytes_done)

    def _texts(self, column: pa.Array) -> pa.Array:
        return field_texts(column) if self._is_record else plain_text(column)

    def row_groups(self, count: int) -> list[list[int]]:
        """Batches may span all row groups of a Parquet file."""
        return [list(range(count))]

    def rows_per_batch(self, metadata: Any, batch_bytes: int) -> int:
        """Estimate the rows of a batch from the sizes in a Parquet footer."""
        return most_rows(metadata, self.names, batch_bytes, "total_uncompressed_size")

    def _settled(self, part: pa.RecordBatch, text: pa.Array, first: int, bytes_done: int) -> Rows:
        ids = None if self._id is None else plain_ids(part.column(self._id))
        carried = {new: part.column(name) for name, new in self._carried.items()}
        if self._mends:
            carried = {name: _mended(column) for name, column in carried.items()}
        numbers = np.arange(first, first + len(text), dtype=np.int64)
        faults = self._faults(text, ids, carried)
        if faults:
            good = np.ones(len(text), bool)
            good[list(faults)] = False
            mask, numbers = pa.array(good), numbers[good]
            text, ids = text.filter(mask), None if ids is None else ids.filter(mask)
            carried = {name: column.filter(mask) for name, column in carried.items()}
        if ids is not None and self._id is not None:
            ids = signed_ids(self._file, self._id, ids)
        rejected = tuple(
            Rejected(self._file, first + position, faults[position]) for position in sorted(faults)
        )
        return Rows(text, ids, carried, numbers, rejected, first + part.num_rows, bytes_done)

    def _faults(
        self, text: pa.Array, ids: pa.Array | None, carried: dict[str, pa.Array]
    ) -> dict[int, str]:
        strings = {new: column for new, column in carried.items() if is_string(column.type)}
        # The text comes last, so that its fault is the one reported.
        found = {
            position: f"{name!r}: {fault}"
            for name, column in strings.items()
            for position, fault in invalid_texts(column).items()
        }
        for name, column in ((self._id, ids), (self._text, text)):
            if column is None:
                continue
            if is_string(column.type):
                faults = invalid_texts(column)
                found |= {position: f"{name!r}: {fault}" for position, fault in faults.items()}
            if column.null_count:
                nulls = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
                found |= {int(position): f"{name!r} is null" for position in nulls}
        return found | self._long_ones(text)

    def _long_ones(self, text: pa.Array) -> dict[int, str]:
        if text.nbytes <= self._longest:
            return {}
        import pyarrow.compute as pc

        sizes = pc.binary_length(text).fill_null(0).to_numpy(zero_copy_only=False)
        return {
            int(position): f"{self._text!r}: {too_long(int(sizes[position]), self._longest)}"
            for position in np.flatnonzero(sizes > self._longest)
        }


def _rows_at_once(batch: pa.RecordBatch) -> int:
    """How many rows may be decoded together, even if each has the longest text of a dictionary."""
    longest = sum(
        longest_text(column.dictionary)
        for column in batch.columns
        if pa.types.is_dictionary(column.type) and is_text(column.type.value_type)
    )
    return max(1, min(ROWS_AT_ONCE, SPELT_BYTES // max(1, longest)))


def longest_text(texts: pa.Array) -> int:
    """The size in bytes of the longest text of a column."""
    import pyarrow.compute as pc

    return int(pc.max(pc.binary_length(plain_text(texts))).as_py() or 0)


def _mended(column: pa.Array) -> pa.Array:
    """A column of strings with replacement characters for invalid UTF-8."""
    if not is_string(column.type) or not invalid_texts(column):
        return column
    raw = column.view(pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary())
    values = [
        None if value is None else value.decode("utf-8", "replace") for value in raw.to_pylist()
    ]
    return pa.array(values, column.type)


def most_rows(metadata: Any, names: list[str], most: int, measure: str) -> int:
    """Estimate how many rows of these columns add up to `most`, by an attribute of their chunks."""
    wanted = set(names)
    largest = 1.0
    for place in range(metadata.num_row_groups):
        group = metadata.row_group(place)
        chunks = (group.column(i) for i in range(group.num_columns))
        size = sum(
            getattr(chunk, measure) for chunk in chunks if _is_of(chunk.path_in_schema, wanted)
        )
        largest = max(largest, size / max(1, group.num_rows))
    return max(1, min(ROWS_AT_ONCE, int(most / largest)))


def _is_of(path: str, names: Set[str]) -> bool:
    """Whether a path such as `a.list.element` is one of the columns or inside one."""
    parts = path.split(".")
    return any(".".join(parts[:end]) in names for end in range(1, len(parts) + 1))

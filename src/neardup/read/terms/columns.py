"""Term columns: the Arrow batches of Parquet and Arrow files with terms → rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import UnreadableError
from neardup.kernels import is_utf8
from neardup.read.batch import Rejected, bounded_offsets
from neardup.read.columnar import ROWS_AT_ONCE, most_rows
from neardup.read.columns import Wanted, is_id, plain_ids, plain_text, require_type, signed_ids
from neardup.read.terms.batch import TermRows
from neardup.read.terms.types import (
    WEIGHTS,
    brings_weights,
    column_faults,
    is_terms,
    is_weights,
    length_faults,
    taken_apart,
    term_faults,
    weight_faults,
)

_BYTES_PER_TERM = 64
_EXPECTED = (
    "terms, which are a list of strings, a map of strings to numbers, or a list of structs with "
    "a string and a number"
)


class TermColumns:
    """The columns of one table with terms, weights and ids; refuses a schema that does not fit."""

    def __init__(self, file: str, schema: pa.Schema, wanted: Wanted) -> None:
        wanted.require_once(file, schema.names)
        self._file = file
        self._terms = wanted.text
        self._id = wanted.id if wanted.id in schema.names else None
        self._weights: str | None = None
        require_type(file, schema, self._terms, _EXPECTED, "--text", is_terms)
        if self._id is not None:
            require_type(file, schema, self._id, "an id", "--id (or --id row)", is_id)
        beside = WEIGHTS in schema.names and WEIGHTS not in (self._terms, self._id)
        if beside and not brings_weights(schema.field(self._terms).type):
            self._weights = _fit_weights(file, schema)

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return [name for name in (self._terms, self._id, self._weights) if name is not None]

    def row_groups(self, count: int) -> list[list[int]]:
        """Batches must not span row groups, because each has its own dictionary.

        Arrow cannot read a list of dictionary values across row groups.
        """
        return [[group] for group in range(count)]

    def rows_per_batch(self, metadata: Any, batch_terms: int) -> int:
        """Estimate the rows of a batch from a Parquet footer, by number of terms and bytes."""
        return min(
            most_rows(metadata, [self._terms], batch_terms, "num_values"),
            most_rows(
                metadata, self.names, batch_terms * _BYTES_PER_TERM, "total_uncompressed_size"
            ),
        )

    def rows(
        self, batch: pa.RecordBatch, first: int, batch_terms: int, bytes_done: int
    ) -> Iterator[TermRows]:
        """Cut a batch, whose first row has the number `first`, into rows of bounded size."""
        dictionary = _Dictionary()
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            part = batch.slice(start, ROWS_AT_ONCE)
            offsets = taken_apart(part.column(self._terms)).offsets
            for begin, end in bounded_offsets(offsets, batch_terms):
                piece = part.slice(begin, end - begin)
                yield self._settled(piece, first + start + begin, bytes_done, dictionary)

    def _settled(
        self, part: pa.RecordBatch, first: int, bytes_done: int, dictionary: _Dictionary
    ) -> TermRows:
        ids = None if self._id is None else plain_ids(part.column(self._id))
        terms = taken_apart(part.column(self._terms))
        values = dictionary.plain(terms.values)
        numbers = np.arange(first, first + part.num_rows, dtype=np.int64)
        term_lists, weight_lists = _lists(terms.offsets, values), None
        # The terms come last, so that their fault is the one reported.
        faults = {} if ids is None or self._id is None else column_faults(self._id, ids)
        weights = terms if self._weights is None else taken_apart(part.column(self._weights))
        if self._weights is not None or terms.second is not None:
            amounts = _floats(weights.values if weights.second is None else weights.second)
            weight_lists = _lists(weights.offsets, pa.array(amounts))
            faults |= weight_faults(self._weights or self._terms, weights, amounts)
            faults |= length_faults(self._terms, terms, weights)
        faults |= term_faults(self._terms, terms, values)
        if faults:
            good = np.ones(part.num_rows, bool)
            good[list(faults)] = False
            mask, numbers = pa.array(good), numbers[good]
            term_lists, ids = term_lists.filter(mask), None if ids is None else ids.filter(mask)
            weight_lists = None if weight_lists is None else weight_lists.filter(mask)
        if weight_lists is not None:
            # The lengths are equal now, so the offsets are too.
            weight_lists = type(term_lists).from_arrays(term_lists.offsets, weight_lists.values)
        if ids is not None and self._id is not None:
            ids = signed_ids(self._file, self._id, ids)
        rejected = tuple(Rejected(self._file, first + row, faults[row]) for row in sorted(faults))
        seen = first + part.num_rows
        return TermRows(term_lists, weight_lists, ids, numbers, rejected, seen, bytes_done)


class _Dictionary:
    """Converts the terms of one batch; their shared dictionary is checked once."""

    def __init__(self) -> None:
        self._sound: pa.Array | None = None
        self._judged = False

    def plain(self, values: pa.Array) -> pa.Array:
        """Keep the dictionary if all of its values are valid, else decode the terms."""
        if not pa.types.is_dictionary(values.type):
            return plain_text(values)
        if not self._judged:
            plain = plain_text(values.dictionary)
            self._sound = plain if not plain.null_count and is_utf8(plain) else None
            self._judged = True
        if self._sound is None:
            return plain_text(values)
        return pa.DictionaryArray.from_arrays(values.indices, self._sound)


def _fit_weights(file: str, schema: pa.Schema) -> str:
    if schema.names.count(WEIGHTS) > 1:
        raise UnreadableError(f"{file} has more than one column {WEIGHTS!r}; rename one of them")
    kind = schema.field(WEIGHTS).type
    if not is_weights(kind):
        raise UnreadableError(
            f"{file} has the column {WEIGHTS!r} of type {kind}, which cannot be the weights of "
            "terms; make it a list of numbers, or give it another name"
        )
    return WEIGHTS


def _floats(values: pa.Array) -> npt.NDArray[np.float64]:
    """Weights as floats; nulls become NaN."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    floats = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(floats, np.float64)


def _lists(offsets: npt.NDArray[Any], values: pa.Array) -> pa.Array:
    kind = pa.LargeListArray if offsets.dtype == np.int64 else pa.ListArray
    return kind.from_arrays(pa.array(offsets), values)

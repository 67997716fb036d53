"""The domains in which families of passages occur."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.source import RowBatch

_ADDRESSES = ("url", "uri", "source_url", "link", "warc_target_uri")
_NAMES = ("domain", "host", "hostname", "site")
_HOST = r"^(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://)?(?:[^/@?#]*@)?(?:www\.)?(?P<host>[^/:?#\s]+)"
_SHOWN = 3
_MOST_PAIRS = 1 << 23


class DomainCounts:
    """Counts the documents of each family in each domain.

    The domain of a document is the host of its address, if a column has one (`url` and the like),
    or a column `domain`; else its file, or the folder of a file that is one document.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._pairs: list[NDArray[np.uint64]] = []
        self._counts: list[NDArray[np.int64]] = []
        self._held = 0

    def see(self, batch: RowBatch, family: NDArray[np.int64], row: NDArray[np.int64]) -> None:
        """See passages of a batch, by family and row."""
        if not len(family):
            return
        domains = self._domains(batch)[row]
        # A document counts once, however often a family occurs in it.
        both = family.astype(np.uint64) << np.uint64(32) | row.astype(np.uint64)
        pairs = np.unique(both, return_index=True)[1]
        packed = family[pairs].astype(np.uint64) << np.uint64(32) | domains[pairs].astype(np.uint64)
        distinct, counts = np.unique(packed, return_counts=True)
        self._pairs.append(distinct)
        self._counts.append(counts)
        self._held += len(distinct)
        if self._held > _MOST_PAIRS:
            self._merge()

    def of(self, families: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[list[str]]]:
        """How many domains families occur in, and the names of the most frequent ones."""
        self._merge()
        pairs, counts = self._pairs[0], self._counts[0]
        numbers = np.append(families, families[-1:] + 1).astype(np.uint64)
        bounds = np.searchsorted(pairs, numbers << np.uint64(32))
        names = []
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            inside = (pairs[begin:end] & np.uint64(0xFFFFFFFF)).astype(np.int64)
            order = np.argsort(-counts[begin:end], kind="stable")[:_SHOWN]
            names.append([self._names[one] for one in inside[order].tolist()])
        return np.diff(bounds), names

    def _merge(self) -> None:
        pairs = np.concatenate([np.zeros(0, np.uint64), *self._pairs])
        counts = np.concatenate([np.zeros(0, np.int64), *self._counts])
        distinct, places = np.unique(pairs, return_inverse=True)
        sums = np.zeros(len(distinct), np.int64)
        np.add.at(sums, places, counts)
        self._pairs, self._counts, self._held = [distinct], [sums], len(distinct)

    def _domains(self, batch: RowBatch) -> NDArray[np.int64]:
        """The number of the domain of each row."""
        column = _column(batch.rows)
        if column is None and not isinstance(batch.source, pa.Array):
            return np.full(len(batch.rows), self._number(batch.source or ""))
        values: Any = batch.source if column is None else column
        encoded = values.dictionary_encode()
        numbers = [self._number(value or "") for value in encoded.dictionary.to_pylist()]
        indices = encoded.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*numbers, self._number("")], np.int64)[indices])

    def _number(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number


def _column(rows: pa.RecordBatch) -> pa.Array | None:
    """The domain of each row, if a column tells."""
    import pyarrow.compute as pc

    names = {name.lower(): name for name in reversed(rows.schema.names)}
    for known in (*_NAMES, *_ADDRESSES):
        if known not in names:
            continue
        values = rows[names[known]]
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            continue
        if known in _NAMES:
            return values
        host = pc.struct_field(pc.extract_regex(values, _HOST), "host")
        return pc.utf8_lower(host)
    return None

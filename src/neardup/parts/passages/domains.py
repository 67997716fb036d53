"""The domains in which families of passages occur."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.source import RowBatch
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of, taken

_ADDRESSES = ("url", "uri", "source_url", "link", "warc_target_uri")
_NAMES = ("domain", "host", "hostname", "site")
_HOST = r"^(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://)?(?:[^/@?#]*@)?(?:www\.)?(?P<host>[^/:?#\s]+)"
_SHOWN = 3
_MOST_PAIRS = 1 << 23


@dataclass(frozen=True, eq=False)
class Domains:
    """The number of domains of each family, and a list of the names of some."""

    counts: NDArray[np.int64]
    names: pa.ListArray


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
        order = np.argsort(both, kind="stable")
        is_first = np.ones(len(order), np.bool_)
        np.not_equal(both[order[1:]], both[order[:-1]], out=is_first[1:])
        once = order[is_first]
        self._pairs.append(
            family[once].astype(np.uint64) << np.uint64(32) | domains[once].astype(np.uint64)
        )
        self._counts.append(np.ones(len(once), np.int64))
        self._held += len(once)
        if self._held > _MOST_PAIRS:
            self._merge()

    def of_families(self, families: int) -> Domains:
        """How many domains each family occurs in, and the names of the most frequent ones."""
        self._merge()
        family = (self._pairs[0] >> np.uint64(32)).astype(np.int64)
        domain = (self._pairs[0] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        counts = np.bincount(family, minlength=families)
        order = np.lexsort((-self._counts[0], family))
        begins = np.append(0, np.cumsum(counts))[:-1]
        shown = np.arange(len(order)) - begins[family] < _SHOWN  # families are in order already
        offsets = np.append(0, np.cumsum(np.minimum(counts, _SHOWN)))
        names = taken(pa.array(self._names, pa.string()), column_of(domain[order[shown]]))
        return Domains(counts, pa.ListArray.from_arrays(column_of(offsets.astype(np.int32)), names))

    def _merge(self) -> None:
        pairs = np.concatenate([np.zeros(0, np.uint64), *self._pairs])
        counts = np.concatenate([np.zeros(0, np.int64), *self._counts])
        order = np.argsort(pairs, kind="stable")
        pairs, counts = pairs[order], counts[order]
        is_first = np.ones(len(pairs), np.bool_)
        np.not_equal(pairs[1:], pairs[:-1], out=is_first[1:])
        begins = np.flatnonzero(is_first)
        sums = np.add.reduceat(counts, begins) if len(begins) else counts
        self._pairs, self._counts, self._held = [pairs[begins]], [sums], len(begins)

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

"""Records with each distinct value of a field once: what the comparison of fields works on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.records import Records
from neardup.features.hashed import text_sets
from neardup.features.spec import FeatureSpec, Field, FieldKind, TextColumn
from neardup.features.values import compared, values_of
from neardup.features.weighted import WeightedFeatures, joined
from neardup.frozen import dataclass
from neardup.kernels.hamming_join import group_rows
from neardup.kernels.set_join import similarities

__all__ = ["Encoded", "EncodedField", "Records", "encoded", "within"]

Codes = NDArray[np.int32]
# Values of one call of the kernels.
_VALUES_AT_ONCE = 1 << 17
# A tolerance is exceeded by more than what rounding of decimal numbers makes of it.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class EncodedField:
    """A field of all records: the code of each value, and the distinct values.

    Values with the same features have the same code; the code of an empty value is -1. `values`
    are the numbers or days of a field that is compared by them, NaN where a value is none;
    `unreadable` counts the records of those.
    """

    field: Field
    how: str
    codes: tuple[Codes, Codes | None]
    sets: WeightedFeatures
    values: NDArray[np.float64] | None
    unreadable: int = 0

    @property
    def is_binary(self) -> bool:
        """Whether two values agree or do not, and nothing between."""
        return self.field.kind is not None and not self.field.kind.size

    @property
    def is_ranged(self) -> bool:
        """Whether values agree that are not the same."""
        return self.values is not None

    @property
    def most_unequal(self) -> float:
        """The highest similarity that two different sets of features can have."""
        return 1 - 1 / (2 * int(np.diff(self.sets.offsets).max(initial=1)))

    def similarity(self, a: Codes, b: Codes, threads: int = 1) -> NDArray[np.float64]:
        """The similarity of values by their codes, none of which is -1."""
        same = a == b
        found = same.astype(np.float64)
        if self.values is not None and self.field.kind is not None:
            found[within(self.values[a], self.values[b], self.field.kind)] = 1.0
        elif not self.is_binary:
            rows = np.flatnonzero(~same)
            found[rows] = similarities(
                *self.sets.arrays,
                a[rows].astype(np.int64),
                b[rows].astype(np.int64),
                measure="jaccard",
                threads=threads,
            )
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class Encoded:
    """The fields of one collection, or of two."""

    fields: tuple[EncodedField, ...]

    @property
    def weights(self) -> NDArray[np.float64]:
        return np.array([one.field.weight for one in self.fields])

    @property
    def unreadable(self) -> list[EncodedField]:
        """The fields of numbers or dates with values that are none."""
        return [one for one in self.fields if one.unreadable]

    def codes(self, side: int) -> list[Codes]:
        """The codes of each field of the left collection (0) or the right one (1)."""
        found = [one.codes[side] for one in self.fields]
        return [codes for codes in found if codes is not None]


def within(a: NDArray[np.float64], b: NDArray[np.float64], kind: FieldKind) -> NDArray[np.bool_]:
    """Whether numbers or days agree; NaN agrees with nothing."""
    most = 0.0 if kind.tolerance is None else kind.tolerance * (1 + _ROUNDING)
    if kind.is_share:
        return np.asarray(np.abs(a - b) <= most * np.maximum(np.abs(a), np.abs(b)))
    return np.asarray(np.abs(a - b) <= most)


def encoded(
    fields: tuple[Field, ...],
    features: FeatureSpec,
    left: Records,
    right: Records | None,
    threads: int,
) -> Encoded:
    """Encode the records; fields without a kind of their own have these features."""
    return Encoded(tuple(_encoded(field, features, left, right, threads) for field in fields))


def _encoded(
    field: Field, features: FeatureSpec, left: Records, right: Records | None, threads: int
) -> EncodedField:
    chunks = left.column(field.name).chunks
    if right is not None:
        chunks = [*chunks, *right.column(field.name).chunks]
    column = pa.chunked_array(chunks, pa.large_string()).dictionary_encode()
    written = _dictionary(column)
    parts = list(_sets(written, field, features, threads))
    sets = joined(parts)
    filled = np.flatnonzero(np.diff(sets.offsets))
    groups = group_rows(sets.content_keys()[filled], threads=threads)
    code_of = np.full(len(written), -1, np.int32)
    code_of[filled] = groups.group_of
    firsts = filled[groups.firsts]
    indices = [chunk.indices.to_numpy() for chunk in column.chunks]
    codes = code_of[np.concatenate([np.zeros(0, np.int32), *indices])]
    values, unreadable = None, 0
    kind = field.kind
    if kind is not None and kind.how in ("number", "date"):
        values = values_of(written.take(pa.array(firsts)), kind)
        unreadable = int(np.isnan(values)[codes[codes >= 0]].sum())
    return EncodedField(
        field,
        str(features) if kind is None else kind.in_words,
        (codes[: len(left)], None if right is None else codes[len(left) :]),
        sets.take(firsts),
        values,
        unreadable,
    )


def _dictionary(column: pa.ChunkedArray) -> pa.Array:
    """The distinct texts of a column; all chunks share them."""
    if not column.num_chunks:
        return pa.nulls(0, pa.large_string())
    return column.chunk(column.num_chunks - 1).dictionary


def _sets(
    texts: pa.Array, field: Field, features: FeatureSpec, threads: int
) -> Iterator[WeightedFeatures]:
    for begin in range(0, max(1, len(texts)), _VALUES_AT_ONCE):
        some = TextColumn(texts.slice(begin, _VALUES_AT_ONCE), field)
        written, spec = compared(some, features)
        yield text_sets([TextColumn(written)], spec, threads)

"""Fingerprints and similarities of columns, row by row, for programs that work with columns.

A row in which a value is missing has none. A text without any word has no fingerprint either: it
is near nothing, and as null it equals nothing, not even another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.errors import InputError, SettingError
from neardup.features.spec import TextColumn
from neardup.fingerprints import Scheme, fingerprint, hamming
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.hashes import hash_family
from neardup.kernels import set_join
from neardup.kernels.columns import column_of, string_buffers
from neardup.read.batch import bounded_offsets
from neardup.read.memory import string_chunks
from neardup.settings import RECIPE, require_known

_MOST_BITS = 64
_TEXT_AT_ONCE = 8 << 20
_SCHEME = (*RECIPE, "idf", "threads")


@dataclass(frozen=True, eq=False)
class ColumnFingerprints:
    """Makes fingerprints of columns of texts, by the settings of `neardup.fingerprint`.

    They are checked when it is made, not when the first texts come.
    """

    recipe: dict[str, Any]

    @classmethod
    def of(cls, **recipe: Any) -> ColumnFingerprints:
        require_known(recipe, _SCHEME)
        scheme = fingerprint([], **recipe).scheme
        if scheme.bits > _MOST_BITS:
            raise SettingError(
                f"bits={scheme.bits}: a column of integers has fingerprints of up to {_MOST_BITS} "
                "bits; use neardup.fingerprint for longer ones"
            )
        _require_texts(scheme)
        if scheme.needs_idf and recipe.get("idf") is None:
            raise SettingError(
                f"features={str(scheme.features)!r} with weights={scheme.weights!r} depend on all "
                "texts, and a column may come in parts; count the texts first, with neardup.idf, "
                "and give the table as idf"
            )
        return cls(recipe)

    def __call__(self, texts: Any) -> pa.Array:
        """A column of uint64, one value for each text, equal to `neardup.fingerprint(texts)[i]`."""
        found = fingerprint(texts, **self.recipe)
        values = found.array[:, 0] >> np.uint64(_MOST_BITS - found.bits)
        return column_of(values, found.empty)


def hammings(a: pa.Array, b: pa.Array) -> pa.Array:
    """The number of differing bits of two columns of fingerprints, row by row."""
    _require_equal_lengths(a, b)
    missing = _missing(a) | _missing(b)
    return column_of(hamming(_integers(a), _integers(b)), missing)


@dataclass(frozen=True)
class ColumnSimilarity:
    """The Jaccard similarity of two columns of texts, row by row, as `neardup.dedup` has it."""

    features: str = "word:3"

    @classmethod
    def of(cls, features: str = "word:3") -> ColumnSimilarity:
        scheme = Scheme.of(features, "set")
        _require_texts(scheme)
        if scheme.needs_idf:
            raise SettingError(
                f"features={features!r} depend on all texts, and rows are compared one by one; "
                "use word:N or char:N features"
            )
        return cls(features)

    def __call__(self, a: Any, b: Any) -> pa.Array:
        """A column of doubles; 0 if a text has no word."""
        threads = kernels.thread_count(None)
        scheme = Scheme.of(self.features, "set")
        fingerprinter = Fingerprinter(scheme, hash_family(scheme.hash), threads)
        one, other = _texts(a), _texts(b)
        _require_equal_lengths(one, other)
        sizes = string_buffers(one)[1] + string_buffers(other)[1]
        found = np.zeros(len(one))
        # Features take several times the memory of the text.
        for begin, end in bounded_offsets(sizes, _TEXT_AT_ONCE):
            size = end - begin
            texts = pa.concat_arrays([one.slice(begin, size), other.slice(begin, size)])
            features = fingerprinter.features([TextColumn(texts)])
            rows = np.arange(size)
            found[begin:end] = set_join.similarities(
                *features.arrays, rows, rows + size, measure="jaccard", threads=threads
            )
        return column_of(found, _missing(one) | _missing(other))


def _require_texts(scheme: Scheme) -> None:
    if scheme.features.are_given:
        raise SettingError("features='terms' are no texts; use word:N or char:N features")


def _require_equal_lengths(a: pa.Array, b: pa.Array) -> None:
    if len(a) != len(b):
        raise InputError(f"{len(a)} rows cannot be compared with {len(b)} one by one")


def _texts(column: Any) -> pa.Array:
    return pa.concat_arrays([pa.array([], pa.large_string()), *string_chunks(column)])


def _integers(column: pa.Array) -> NDArray[np.uint64]:
    if not (pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
        raise InputError(
            f"fingerprints are whole numbers, not {column.type}; make them of a column of texts "
            "first"
        )
    try:
        filled = column.cast(pa.uint64()).fill_null(0)
    except pa.ArrowInvalid as error:
        raise InputError(f"a fingerprint is a number from 0 to 2**64 - 1: {error}") from None
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def _missing(column: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False))

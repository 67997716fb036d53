"""Documents given as terms, with or without weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.features.terms import Terms
from neardup.hashes.nd1 import feature_rows
from neardup.kernels import HashKey, is_utf8
from neardup.kernels.terms import Vocabulary
from neardup.read.columns import plain_text
from neardup.read.memory import table_of
from neardup.read.terms.types import Lists, is_terms, is_weights, taken_apart

_DOCUMENTS_AT_ONCE = 10_000
_STRINGS = pa.large_list(pa.large_string())
_NUMBERS = pa.large_list(pa.float64())
_EXPECTED = (
    "give each document as {term: weight}, as a list of terms or of (term, weight) pairs, or all "
    "of them as an Arrow map or list column or a table with the columns terms and weights"
)


def term_columns(documents: Any) -> Iterator[tuple[pa.Array, pa.Array | None]]:
    """Yield list arrays of terms, each with a list array of weights or None.

    Takes Python mappings and lists, Arrow map and list arrays, and tables with the columns `terms`
    and, optionally, `weights`. A missing document has no terms.
    """
    if isinstance(documents, str | bytes | Mapping):
        raise InputError(f"one document was given where many are expected; {_EXPECTED}")
    if isinstance(documents, pa.Array):
        yield _split(documents)
    elif isinstance(documents, pa.ChunkedArray):
        yield from map(_split, documents.chunks)
    elif (table := table_of(documents)) is not None:
        yield from _of_table(table)
    elif isinstance(documents, Iterable):
        yield from _of_objects(documents)
    else:
        raise InputError(f"documents of type {type(documents).__name__} have no terms; {_EXPECTED}")


def given_terms(
    terms: pa.Array, weights: pa.Array | None, how: str, key: HashKey | None = None
) -> Terms:
    """The terms of documents that are given as terms; `how` is the weighting.

    The weights of a repeated term add up. Repetitions are merged unless the weighting is `given`;
    with tf-idf the given weights are frequencies, with idf they do not count.
    """
    offsets = _offsets(terms)
    places, vocabulary = _numbered(terms.flatten())
    words = np.diff(offsets).astype(np.uint32)
    amounts = np.ones(len(places)) if weights is None else _flat_weights(weights, offsets)
    if how == "given":
        return _terms(offsets, places, amounts, vocabulary, words, key)
    documents = np.repeat(np.arange(len(words)), words)
    keys, order = np.unique(documents * max(1, len(vocabulary)) + places, return_inverse=True)
    owners, kept = np.divmod(keys, max(1, len(vocabulary)))
    # Only tf-idf uses the given weights as counts.
    each = amounts if how.startswith("tfidf") else np.ones(len(places))
    return _terms(
        np.searchsorted(owners, np.arange(len(words) + 1)).astype(np.int64),
        kept.astype(np.int32),
        np.bincount(order, each, len(keys)).astype(np.float64),
        vocabulary,
        words,
        key,
    )


def _terms(
    offsets: NDArray[np.int64],
    places: NDArray[np.int32],
    counts: NDArray[np.float64],
    vocabulary: Vocabulary,
    words: NDArray[np.uint32],
    key: HashKey | None,
) -> Terms:
    def keys() -> NDArray[np.uint64]:
        return feature_rows(vocabulary, 64, key)[:, 0]

    return Terms(offsets, places, counts, vocabulary, words, keys)


def _of_table(table: pa.Table) -> Iterator[tuple[pa.Array, pa.Array | None]]:
    if "terms" not in table.column_names:
        raise InputError(f"the table has no column 'terms', only {table.column_names}; {_EXPECTED}")
    for batch in table.to_batches():
        terms, weights = _split(batch["terms"])
        if weights is None and "weights" in batch.schema.names:
            column = batch["weights"]
            if not is_weights(column.type):
                raise InputError(f"weights are of Arrow type {column.type}; {_EXPECTED}")
            lists = taken_apart(column)
            weights = _lists(lists, lists.values)
        yield terms, weights


def _of_objects(documents: Iterable[Any]) -> Iterator[tuple[pa.Array, pa.Array | None]]:
    iterator, first = iter(documents), 0
    while some := list(islice(iterator, _DOCUMENTS_AT_ONCE)):
        pairs = [_pairs(document, first + i) for i, document in enumerate(some)]
        try:
            terms = pa.array([[term for term, _ in found] for found in pairs], _STRINGS)
            weights = pa.array([[weight for _, weight in found] for found in pairs], _NUMBERS)
        except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError, UnicodeEncodeError) as error:
            raise InputError(
                f"documents {first} to {first + len(some) - 1}: {error}; {_EXPECTED}"
            ) from None
        yield terms, weights
        first += len(some)


def _pairs(document: Any, place: int) -> list[tuple[Any, ...]]:
    if document is None:
        return []
    if isinstance(document, Mapping):
        return list(document.items())
    if isinstance(document, str) or not isinstance(document, Iterable):
        raise InputError(f"document {place} is of type {type(document).__name__}; {_EXPECTED}")
    return [tuple(term) if isinstance(term, tuple | list) else (term, 1.0) for term in document]


def _split(column: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """Separate terms and weights; a missing document becomes one without terms."""
    if not is_terms(column.type):
        raise InputError(f"terms are of Arrow type {column.type}; {_EXPECTED}")
    lists = taken_apart(column)
    weights = None if lists.second is None else _lists(lists, lists.second)
    return _lists(lists, lists.values), weights


def _lists(lists: Lists, values: pa.Array) -> pa.Array:
    """Build lists over these values; null lists become empty."""
    offsets = lists.offsets.astype(np.int64)
    if lists.valid is not None:
        lengths = np.diff(offsets)
        values = values.filter(pa.array(np.repeat(lists.valid, lengths)))
        offsets = np.concatenate(([0], np.cumsum(np.where(lists.valid, lengths, 0))))
    return pa.LargeListArray.from_arrays(pa.array(offsets), values)


def _numbered(terms: pa.Array) -> tuple[NDArray[np.int32], Vocabulary]:
    """The place of each term in the vocabulary, and the vocabulary itself."""
    if not pa.types.is_dictionary(terms.type):
        terms = plain_text(terms).dictionary_encode()
    distinct = plain_text(terms.dictionary)
    if terms.null_count or distinct.null_count:
        raise InputError("a term is missing (null); drop it or the document")
    if not is_utf8(distinct):
        raise InputError("a term is not UTF-8; decode it first, or drop it")
    places = terms.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return places, Vocabulary.of_strings(distinct)


def _offsets(lists: pa.Array) -> NDArray[np.int64]:
    offsets: NDArray[np.int64] = lists.offsets.to_numpy().astype(np.int64)
    offsets -= offsets[0]
    return offsets


def _flat_weights(weights: pa.Array, offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    if not np.array_equal(_offsets(weights), offsets):
        raise InputError("terms and weights must have the same number of items in every document")
    flat = weights.flatten()
    amounts: NDArray[np.float64] = flat.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if flat.null_count or not np.isfinite(amounts).all():
        raise InputError("a weight is missing or not finite; every term needs a number")
    return np.ascontiguousarray(amounts)

"""Texts → fingerprints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.errors import InputError
from neardup.features.given import given_terms, term_columns
from neardup.features.terms import Terms, shingle_terms
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.scheme import HashFunction, Scheme
from neardup.fingerprints.texts import LARGEST_TEXT, string_chunks
from neardup.hashes import HashFamily, hash_family


def fingerprint(
    texts: Any,
    features: str = "word:3",
    weights: str | None = None,
    bits: int = 64,
    hash: str | HashFunction = "nd1",
    tie: str = ">0",
    threads: int | None = None,
    projection: str | None = None,
) -> Fingerprints:
    """Fingerprint texts: a list, an iterator, a NumPy, pandas or Polars column, an Arrow array.

    A missing text, and one without any word, is *empty*: its fingerprint is all zero, `.empty`
    marks it, and it is near nothing, not even another empty one. `threads` (default: every
    core) changes the time it takes and nothing else.

    Each feature counts once (`weights="set"`, the default) or as often as it occurs (`"count"`).
    With `features="terms"` the documents bring their own: {term: weight} mappings, lists of terms,
    or a table with the columns `terms` and `weights`, weighted as `"given"`.

    `hash` is a family by name, or a function from bytes to int; `projection="sphere:42x64"` takes
    the signs of dot products with 64 vectors in place of the sums' own. Both are slower than
    `nd1` without a projection, which alone is native from text to bits.

    >>> import neardup as nd
    >>> fps = nd.fingerprint(["the quick brown fox", "The quick, brown fox!"])
    >>> fps.hex()[0] == fps.hex()[1]
    True
    >>> str(fps.scheme)
    'nd1/word:3/set/64'
    """
    family = hash_family(hash)
    scheme = Scheme.of(features, weights, bits, family, tie, projection)
    count = kernels.thread_count(threads)
    if scheme.features.are_given:
        given = (given_terms(*columns, scheme.weights) for columns in term_columns(texts))
        parts = [(fingerprint_terms(t, scheme, family, count), t.words) for t in given]
    else:
        parts = [fingerprint_array(chunk, scheme, family, count) for chunk in string_chunks(texts)]
    rows = [bits for bits, _ in parts] or [np.zeros((0, scheme.row_words), np.uint64)]
    words = [words for _, words in parts] or [np.zeros(0, np.uint32)]
    return Fingerprints(_joined(rows), scheme, _joined(words))


def fingerprint_array(
    texts: pa.Array, scheme: Scheme, family: HashFamily, threads: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Fingerprint one valid string array: rows of 64-bit words, and word counts (null: 0)."""
    if texts.null_count:
        texts = texts.fill_null("")
    if texts.nbytes > LARGEST_TEXT:
        _refuse_giants(texts)
    if not scheme.is_native:
        terms = shingle_terms(texts, scheme.features, scheme.weights)
        return fingerprint_terms(terms, scheme, family, threads), terms.words
    return kernels.fingerprint(
        texts,
        unit=scheme.features.unit,
        size=scheme.features.size,
        distinct=scheme.weights == "set",
        bits=scheme.bits,
        ties_up=scheme.tie == ">=0",
        threads=threads,
    )


def fingerprint_terms(
    terms: Terms, scheme: Scheme, family: HashFamily, threads: int
) -> NDArray[np.uint64]:
    """Fingerprint documents given by their terms: each distinct term is hashed once."""
    projection = scheme.projection
    bits = scheme.bits if projection is None else projection.dimension
    rows, sums = kernels.weigh(
        terms.offsets,
        terms.places,
        terms.weights,
        family.digest(terms.vocabulary, bits),
        bits=bits,
        ties_up=scheme.tie == ">=0",
        with_sums=projection is not None,
        threads=threads,
    )
    if projection is not None:
        rows = projection.bits(sums, ties_up=scheme.tie == ">=0")
        rows[np.diff(terms.offsets) == 0] = 0
    return rows


def _refuse_giants(texts: pa.Array) -> None:
    import pyarrow.compute as pc

    largest = pc.max(pc.binary_length(texts)).as_py()
    if largest > LARGEST_TEXT:
        raise InputError(f"a text of {largest} bytes is more than the 1 GiB a document may have")


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)

"""Texts → fingerprints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.errors import InputError
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.scheme import Scheme
from neardup.fingerprints.texts import LARGEST_TEXT, string_chunks


def fingerprint(
    texts: Any,
    features: str = "word:3",
    weights: str = "set",
    bits: int = 64,
    hash: str = "nd1",
    tie: str = ">0",
    threads: int | None = None,
) -> Fingerprints:
    """Fingerprint texts: a list, an iterator, a NumPy, pandas or Polars column, an Arrow array.

    A missing text, and one without any word, is *empty*: its fingerprint is all zero, `.empty`
    marks it, and it is near nothing, not even another empty one. `threads` (default: every
    core) changes the time it takes and nothing else.

    >>> import neardup as nd
    >>> fps = nd.fingerprint(["the quick brown fox", "The quick, brown fox!"])
    >>> fps.hex()[0] == fps.hex()[1]
    True
    >>> str(fps.scheme)
    'nd1/word:3/set/64'
    """
    scheme = Scheme.of(features, weights, bits, hash, tie)
    count = kernels.thread_count(threads)
    parts = [fingerprint_array(chunk, scheme, count) for chunk in string_chunks(texts)]
    rows = [bits for bits, _ in parts] or [np.zeros((0, scheme.row_words), np.uint64)]
    words = [words for _, words in parts] or [np.zeros(0, np.uint32)]
    return Fingerprints(_joined(rows), scheme, _joined(words))


def fingerprint_array(
    texts: pa.Array, scheme: Scheme, threads: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Fingerprint one valid string array: rows of 64-bit words, and word counts (null: 0)."""
    if texts.null_count:
        texts = texts.fill_null("")
    if texts.nbytes > LARGEST_TEXT:
        _refuse_giants(texts)
    return kernels.fingerprint(
        texts,
        unit=scheme.features.unit,
        size=scheme.features.size,
        distinct=scheme.weights == "set",
        bits=scheme.bits,
        ties_up=scheme.tie == ">=0",
        threads=threads,
    )


def _refuse_giants(texts: pa.Array) -> None:
    import pyarrow.compute as pc

    largest = pc.max(pc.binary_length(texts)).as_py()
    if largest > LARGEST_TEXT:
        raise InputError(f"a text of {largest} bytes is more than the 2 GiB a document may have")


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)

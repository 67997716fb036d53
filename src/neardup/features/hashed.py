"""Documents as features hashed by nd1, plain or keyed: 64-bit hashes, computed natively."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.features.spec import LARGEST_SIZE, FeatureKind, FeatureSpec, Field, TextColumn
from neardup.features.values import compared
from neardup.features.weighted import WeightedFeatures
from neardup.frozen import dataclass
from neardup.hashes.nd1 import hashes_in_field
from neardup.kernels import HashKey


@dataclass(frozen=True, eq=False)
class Features:
    """Document i has the features `hashes[offsets[i]:offsets[i + 1]]`, distinct and ascending.

    `counts` is how often each occurs, `scale` its factor (None: 1 for all), `words` the number of
    words of each document; a document without words has no features.
    """

    offsets: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    counts: NDArray[np.float64]
    words: NDArray[np.uint32]
    scale: NDArray[np.float64] | None = None


def text_features(
    columns: Sequence[TextColumn],
    spec: FeatureSpec,
    threads: int = 1,
    key: HashKey | None = None,
) -> Features:
    """The features of texts, or of records; the same text in two fields is different features.

    >>> found = text_features([TextColumn(pa.array(["to be or not to be"]))],
    ...                       FeatureSpec.parse("word:1"))
    >>> sorted(found.counts.tolist()), found.words.tolist()
    ([1.0, 1.0, 2.0, 2.0], [6])
    """
    parts = [
        _column_features(*compared(column, spec), threads=threads, key=key) for column in columns
    ]
    if len(parts) == 1 and columns[0].field is None:
        return parts[0]
    fields = [column.field or Field("") for column in columns]
    return _united(
        [_in_field(part, field.name, key) for part, field in zip(parts, fields, strict=True)],
        None if all(field.weight == 1 for field in fields) else [f.weight for f in fields],
        np.sum([part.words for part in parts], axis=0, dtype=np.uint32),
    )


def text_sets(
    columns: Sequence[TextColumn],
    spec: FeatureSpec,
    threads: int = 1,
    key: HashKey | None = None,
) -> WeightedFeatures:
    """Like `text_features` without counts; plain shingles take a faster path."""
    if len(columns) == 1 and columns[0].field is None and all(k.is_shingle for k in spec.kinds):
        shingles = [(kind.unit, kind.size) for kind in spec.kinds]
        offsets, hashes, words = kernels.find_sets(
            columns[0].texts, shingles, key=key, threads=threads
        )
        return WeightedFeatures(offsets, hashes, None, words)
    found = text_features(columns, spec, threads, key)
    return WeightedFeatures(found.offsets, found.hashes, None, found.words)


def _column_features(
    texts: pa.Array, spec: FeatureSpec, *, threads: int, key: HashKey | None
) -> Features:
    parts = []
    shingles = [(kind.unit, kind.size) for kind in spec.kinds if kind.is_shingle]
    if shingles:
        counted = kernels.find_features(texts, shingles, key=key, threads=threads)
        parts.append(Features(*_with_float_counts(counted)))
    others = [kind for kind in spec.kinds if not kind.is_shingle]
    if not others:
        return parts[0]
    words = kernels.find_sets(texts, [("word", LARGEST_SIZE)], threads=threads)[2]
    parts += [_sentence_features(texts, kind, words, threads, key) for kind in others]
    return _united(parts, None, words)


def _with_float_counts(
    found: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]],
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64], NDArray[np.uint32]]:
    offsets, hashes, counts, words = found
    return offsets, hashes, counts.astype(np.float64), words


def _sentence_features(
    texts: pa.Array,
    kind: FeatureKind,
    words: NDArray[np.uint32],
    threads: int,
    key: HashKey | None,
) -> Features:
    """Each selected sentence is one feature: the shingle of all its words; not yet in order."""
    from neardup.features.sentences import choose_sentences  # few runs need it

    chosen = choose_sentences(texts, kind, threads, key)
    return Features(chosen.offsets, chosen.hashes, np.ones(len(chosen.hashes)), words)


def _in_field(features: Features, field: str, key: HashKey | None) -> Features:
    hashes = hashes_in_field(features.hashes, field, key)
    return Features(features.offsets, hashes, features.counts, features.words)


def _united(
    parts: Sequence[Features], weights: Sequence[float] | None, words: NDArray[np.uint32]
) -> Features:
    """Merge the features of each document; the counts of equal ones add up."""
    documents = np.concatenate(
        [np.repeat(np.arange(len(words)), np.diff(part.offsets)) for part in parts]
    )
    hashes = np.concatenate([part.hashes for part in parts])
    order, starts = _equal_runs(documents, hashes)
    documents, hashes = documents[order], hashes[order]
    counts = np.concatenate([part.counts for part in parts])[order]
    scale = None
    if weights is not None:
        scale = np.repeat(weights, [len(part.hashes) for part in parts])[order][starts]
    return Features(
        np.searchsorted(documents[starts], np.arange(len(words) + 1)).astype(np.int64),
        hashes[starts],
        np.add.reduceat(counts, starts) if len(starts) else counts,
        words,
        scale,
    )


def _equal_runs(
    documents: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order by document and hash, and the start of each run of equal pairs in it."""
    order = np.lexsort((hashes, documents))
    first = np.ones(len(order), np.bool_)
    first[1:] = np.diff(documents[order]) != 0
    first[1:] |= np.diff(hashes[order]) != 0
    return order, np.flatnonzero(first)

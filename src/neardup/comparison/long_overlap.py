"""Overlap of two long texts: shingles counted natively by hash, examples taken from the diff."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.comparison.diff import Edit
from neardup.comparison.result import Shared
from neardup.features.hashed import text_features, text_sets
from neardup.features.spec import FeatureKind, FeatureSpec, TextColumn
from neardup.features.terms import kind_shingles
from neardup.features.words import find_words
from neardup.hashes.nd1 import shingle_hashes
from neardup.kernels import HashKey
from neardup.kernels.columns import text_column

_EXAMPLES = 5
_AROUND = 2_000  # characters on each side of a change
_PLACES = 1_000

Hashes = NDArray[np.uint64]


def shared_of_long(
    a: str,
    b: str,
    kind: FeatureKind,
    weights: str,
    edits: Sequence[Edit],
    key: HashKey | None = None,
) -> Shared:
    """Count the shingles of two texts by their hashes; `edits` is their diff."""
    texts = [TextColumn(text_column([a, b]))]
    spec = FeatureSpec((kind,))
    if weights == "count":
        found = text_features(texts, spec, key=key)
        counts: NDArray[np.float64] | None = found.counts
        offsets, hashes = found.offsets, found.hashes
    else:
        sets = text_sets(texts, spec, key=key)
        offsets, hashes, counts = sets.offsets, sets.hashes, None
    middle = int(offsets[1])
    in_a, in_b = hashes[:middle], hashes[middle:]
    both_a = _is_in(in_a, in_b)
    jaccard, cosine, inclusion_a, inclusion_b = _similarities(
        both_a,
        _is_in(in_b, in_a),
        None if counts is None else (counts[:middle], counts[middle:]),
        (len(in_a), len(in_b)),
    )
    return Shared(
        features_a=len(in_a),
        features_b=len(in_b),
        features=int(np.count_nonzero(both_a)),
        examples_a=_examples([edit.a for edit in edits], edits, kind, (in_a, in_b), key),
        examples_b=_examples([edit.b for edit in edits], edits, kind, (in_b, in_a), key),
        jaccard=jaccard,
        cosine=cosine,
        inclusion_a=inclusion_a,
        inclusion_b=inclusion_b,
    )


def _is_in(some: Hashes, others: Hashes) -> NDArray[np.bool_]:
    """Whether each hash is among `others`, which must be sorted."""
    if not len(others):
        return np.zeros(len(some), np.bool_)
    places = np.searchsorted(others, some)
    places[places == len(others)] = 0
    return np.asarray(others[places] == some)


def _similarities(
    both_a: NDArray[np.bool_],
    both_b: NDArray[np.bool_],
    counts: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    sizes: tuple[int, int],
) -> tuple[float, float, float, float]:
    """Jaccard, cosine and both inclusions, of sets or of counts; in integers up to the division."""
    if counts is None:
        dot = smaller = int(np.count_nonzero(both_a))
        larger = sum(sizes) - smaller
        square = sizes[0] * sizes[1]
        totals = sizes
    else:
        a, b = (side.astype(np.int64) for side in counts)
        shared_a, shared_b = a[both_a], b[both_b]  # both are sorted by hash, so they line up
        smaller = int(np.minimum(shared_a, shared_b).sum())
        totals = int(a.sum()), int(b.sum())
        larger = sum(totals) - smaller
        dot, square = int(shared_a @ shared_b), int(a @ a) * int(b @ b)
    return (
        smaller / larger if larger else 0.0,
        dot / math.sqrt(square) if square else 0.0,
        smaller / totals[0] if totals[0] else 0.0,
        smaller / totals[1] if totals[1] else 0.0,
    )


def _examples(
    sides: Sequence[str],
    edits: Sequence[Edit],
    kind: FeatureKind,
    hashes: tuple[Hashes, Hashes],
    key: HashKey | None,
) -> tuple[str, ...]:
    """The first few features that only one text has; each of them touches a change."""
    own, other = hashes
    between = "" if kind.unit == "char" else " "
    found: dict[str, None] = {}
    for window in _windows(sides, edits):
        shingles = kind_shingles(find_words(window), kind, key)
        values = shingle_hashes(shingles, key)
        alone = np.flatnonzero(_is_in(values, own) & ~_is_in(values, other))
        next_place = 0
        for place in alone.tolist():
            if place >= next_place:  # no two that overlap
                found.setdefault(between.join(shingles[place]))
                next_place = place + kind.size
            if len(found) == _EXAMPLES:
                return tuple(found)
    return tuple(found)


def _windows(sides: Sequence[str], edits: Sequence[Edit]) -> Iterator[str]:
    """The text of each change, with some characters of context."""
    changed = [place for place, edit in enumerate(edits) if edit.op not in ("equal", "variant")]
    for place in changed[:_PLACES]:
        before = sides[place - 1][-_AROUND:] if place else ""
        after = sides[place + 1][:_AROUND] if place + 1 < len(sides) else ""
        yield before + sides[place][: 10 * _AROUND] + after

"""Pairs from several searches, put in order, each once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.kernels.join import RowPairs, TooManyPairsError


def no_pairs() -> RowPairs:
    """None at all."""
    return RowPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint16))


def require_fewer(found: Sequence[RowPairs], most_pairs: int | None) -> None:
    """Raise `TooManyPairsError` where there are more pairs than may be held."""
    if most_pairs is not None and sum(map(len, found)) > most_pairs:
        raise TooManyPairsError(f"a search finds more than {most_pairs:,} pairs")


def pairs_in_order(found: Sequence[RowPairs]) -> RowPairs:
    """All pairs by (a, b), one that was found more than once kept once."""
    if not found:
        return no_pairs()
    a = np.concatenate([pairs.a for pairs in found])
    b = np.concatenate([pairs.b for pairs in found])
    distance = np.concatenate([pairs.distance for pairs in found])
    if not len(a):
        return no_pairs()
    # Positions are below 2^32, so a pair is one 64-bit key, which sorts faster than two columns.
    keys = a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
    _, places = np.unique(keys, return_index=True)
    return RowPairs(a[places], b[places], distance[places])

"""The pairs to label: as many at each similarity, by several measures, in a mixed order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.errors import InputError, SettingError
from neardup.lab.tune.measures import LONG_WORDS, Measure
from neardup.lab.tune.pool import Pool
from neardup.labels import PairsToLabel, PlacedLabels

Places = NDArray[np.int64]

DEFAULT_PAIRS = 200
_LOWEST, _WIDTH = 0.1, 0.1
_SEED = 2019
_DRAWN_PER_PAIR = 2

_BY = (
    Measure("word:1", "tfidf", "weighted-jaccard"),
    Measure("char:3", "set", "jaccard"),
    Measure("word:1", "tfidf", "cosine"),
)
_BY_OF_LONG = (
    Measure("word:3", "set", "jaccard"),
    Measure("word:1", "tfidf", "weighted-jaccard"),
)


def proposed_pairs(
    pool: Pool,
    chosen: Measure,
    median_words: int,
    number: int = DEFAULT_PAIRS,
    known: PlacedLabels | None = None,
) -> PairsToLabel:
    """Pairs spread evenly over the similarities of the chosen measure and of some others.

    One stratum is of pairs that are not similar at all.

    Exact copies are left out: nobody doubts them. Strata take turns, so that a part of the labels
    is spread as well. Pairs that are `known` are left out, too.
    """
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise SettingError(f"{number!r} pairs cannot be proposed; give a number from 1 on")
    others = _BY_OF_LONG if median_words >= LONG_WORDS else _BY
    measures = [chosen, *(one for one in others if str(one) != str(chosen))]
    kinds = pool.pairs(chosen, _LOWEST).kinds
    strata = [stratum for one in measures for stratum in _strata(pool, one)]
    if strata:
        strata.append(_unlike(pool, chosen, kinds, number))
    seen = set() if known is None else set((known.a * len(pool) + known.b).tolist())
    taken = _by_turns(strata, number, len(pool), seen)
    if not taken:
        raise InputError(
            "no two documents are similar without being exact copies, so there are no pairs to "
            "label"
        )
    a, b = np.array([pair for pair, _ in taken], np.int64).T
    return PairsToLabel(
        pool.ids.take(a),
        pool.ids.take(b),
        pool.texts(a),
        pool.texts(b),
        pool.similarities(chosen, a, b),
        [why for _, why in taken],
    )


def _strata(pool: Pool, measure: Measure) -> list[tuple[str, Places, Places]]:
    """The pairs of each tenth of similarity, in a random order that is always the same."""
    pairs = pool.pairs(measure, _LOWEST)
    random = np.random.default_rng(_SEED)
    order = random.permutation(len(pairs.a))
    step = np.minimum((pairs.similarity[order] / _WIDTH + 1e-9).astype(np.int64), 9)
    found = []
    for number in np.unique(step).tolist():
        rows = order[step == number]
        why = f"{measure} {number * _WIDTH:.1f} to {(number + 1) * _WIDTH:.1f}"
        found.append((why, pairs.a[rows], pairs.b[rows]))
    return found


def _unlike(pool: Pool, measure: Measure, kinds: Places, number: int) -> tuple[str, Places, Places]:
    """Pairs drawn at random that are not similar.

    Where all similar ones are the same, no others are different, and labels must be of both kinds.
    """
    firsts = np.flatnonzero(kinds == np.arange(len(kinds)))
    drawn = np.random.default_rng(_SEED).choice(firsts, (2, _DRAWN_PER_PAIR * number))
    a, b = np.sort(drawn, axis=0)
    rows = np.flatnonzero((a < b) & (pool.similarities(measure, a, b) < _LOWEST))
    return f"{measure} below {_LOWEST}", a[rows], b[rows]


def _by_turns(
    strata: Sequence[tuple[str, Places, Places]], number: int, count: int, seen: set[int]
) -> list[tuple[tuple[int, int], str]]:
    """Take a pair of each stratum in turn, each pair once, until there are enough.

    `seen` are pairs that are not taken, as a * `count` + b.
    """
    taken: list[tuple[tuple[int, int], str]] = []
    waiting = [(why, iter(zip(a.tolist(), b.tolist(), strict=True))) for why, a, b in strata]
    while waiting and len(taken) < number:
        still = []
        for why, pairs in waiting:
            fresh = next((pair for pair in pairs if pair[0] * count + pair[1] not in seen), None)
            if fresh is None:
                continue
            still.append((why, pairs))
            seen.add(fresh[0] * count + fresh[1])
            taken.append((fresh, why))
            if len(taken) == number:
                break
        waiting = still
    return taken

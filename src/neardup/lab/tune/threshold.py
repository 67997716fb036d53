"""Guess a threshold from how many pairs there are at each similarity.

Unrelated documents have more pairs the lower the similarity, many times more with each step down;
near-duplicates have about as many at each step. The threshold is in the gap between the two, if
there is one, else where the number of pairs stops falling steeply.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.frozen import dataclass
from neardup.lab.tune.measures import Measure
from neardup.lab.tune.pool import Pool, PoolPairs, Values

STEP = 0.05
# Unrelated pairs fall to less than this share with a step; near-duplicates do not.
_FLAT = 0.65
# Fewer pairs in a step than this share of the documents are no crowd of unrelated ones.
_FEW = 0.02
# Steps are equally frequent if they differ by less than this factor and by their chance error.
_ALIKE, _ERRORS, _FEWEST = 2.0, 3.0, 10
# If more of all pairs than this share are similar, they are what documents have in common.
_CROWD = 0.05
# Noisy copies of a long text share few of its shingles. Below this threshold shorter shingles,
# which noise spares, tell them apart from unrelated texts more surely.
_LOW = 0.2
# A lower threshold is not recommended: in a larger collection, unrelated texts would reach it.
_LOWEST = 0.1
# Where the gap of given features and fields is looked for: fields agree by chance more often.
_ORDINARY, _HIGH = 0.3, 0.8


@dataclass(frozen=True)
class Guess:
    """A threshold, and whether it is in a gap between unrelated pairs and near-duplicates."""

    measure: Measure
    threshold: float
    in_gap: bool


def guessed(pool: Pool, measures: Sequence[Measure], lowest: float, highest: float) -> Guess:
    """A threshold in the gap of one of the measures, tried in turn as far as texts are noisy.

    If there is no gap, the threshold of the first measure is between the two limits.
    """
    least = max(STEP, lowest - 2 * STEP)
    pairs = pool.pairs(measures[0], least)
    if pairs.least > least:
        # With too many pairs already, those of lower similarities would only take longer to find.
        gap = gap_in(pairs, pool.documents)
        gaps = [] if gap is None or gap > highest else [Guess(measures[0], gap, True)]
    else:
        gaps = _gaps(pool, measures, lowest, highest)
    if gaps:
        return gaps[-1]
    found = threshold_between(pairs, pool.documents, lowest, highest)
    return Guess(measures[0], found, False)


def gap_of(pool: Pool, measure: Measure) -> float | None:
    """The gap of one measure, from an ordinary similarity on."""
    pairs = pool.pairs(measure, _ORDINARY)
    gap = gap_in(pairs, pool.documents)
    return None if gap is None or gap > _HIGH else gap


def _gaps(pool: Pool, measures: Sequence[Measure], lowest: float, highest: float) -> list[Guess]:
    """The gaps of the measures, as far as they were tried."""
    gaps = []
    for measure in measures:
        pairs = pool.pairs(measure, STEP)
        gap = gap_in(pairs, pool.documents)
        if gap is not None and _LOWEST <= gap <= highest:
            gaps.append(Guess(measure, gap, True))
        finds_some = pairs.counts(np.array([lowest]))[0] > _FEW * pool.documents
        if finds_some if gap is None else gap >= _LOW:
            break
    return gaps


def threshold_between(pairs: PoolPairs, documents: int, lowest: float, highest: float) -> float:
    """The lowest step from `lowest` on at which the number of pairs stops falling steeply."""
    starts, counts = _steps(pairs)
    # Pairs below the first step were not looked for, so the second is the first that can be judged.
    first = max(1, int(np.searchsorted(starts, lowest - 1e-9)))
    steps = np.append(starts, highest)
    return float(round(min(steps[_end_of_fall(counts, documents, first)], highest), 2))


def gap_in(pairs: PoolPairs, documents: int) -> float | None:
    """The middle of the gap between unrelated pairs and near-duplicates, rounded up to a step.

    The gap is around the step with the fewest pairs that has clearly more in a step above it, and
    no more pairs between the end of the fall and itself than above.
    """
    starts, counts = _steps(pairs)
    above = np.append(np.cumsum(counts[::-1])[::-1], 0.0)[1:]
    error = _ERRORS * np.sqrt(float(pairs.stands_for.mean()) if len(pairs.a) else 1.0)
    alike = _ALIKE * counts + error * np.sqrt(counts)
    most = _CROWD * documents * (documents - 1) / 2
    end = _end_of_fall(counts, documents)
    before = max(0, end - 1)
    gaps = [
        step
        for step in range(before, len(counts) - 1)
        if counts[step + 1 :].max() > alike[step] + _FEWEST
        and counts[end:step].sum() <= above[step] <= most
    ]
    if not gaps:
        # Near-duplicates that are more frequent with each step from the first on: it is below.
        rises = len(counts) > 1 and 0 < counts[0] < counts[1] and counts.sum() <= most
        return float(starts[0]) if rises and pairs.least <= STEP else None
    deepest = min(gaps, key=lambda step: float(counts[step]))
    peak = deepest + 1 + int(counts[deepest + 1 :].argmax())
    first = last = deepest
    while first > before and counts[first - 1] <= alike[deepest]:
        first -= 1
    while last + 1 < peak and counts[last + 1] <= alike[deepest]:
        last += 1
    middle = np.ceil((starts[first] + starts[last] + STEP) / 2 / STEP - 1e-9) * STEP
    return float(round(max(middle, starts[end]), 2))


def _steps(pairs: PoolPairs) -> tuple[Values, Values]:
    """The steps from the least similarity that was looked for to 1, and their numbers of pairs."""
    first = int(np.ceil(pairs.least / STEP - 1e-9))
    starts = np.arange(first, round(1 / STEP), dtype=np.float64) * STEP
    reached = pairs.counts(np.append(starts, 2.0))
    return np.asarray(starts), -np.diff(reached)


def _end_of_fall(counts: Values, documents: int, first: int = 1) -> int:
    """The first step that has nearly as many pairs as the one below it, or follows few pairs."""
    for step in range(first, len(counts)):
        if counts[step - 1] <= _FEW * documents or counts[step] >= _FLAT * counts[step - 1]:
            return step
    return len(counts)

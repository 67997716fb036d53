"""The similar pairs of a sample, and how often bands of their fingerprints agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.collection.settings import DedupSettings
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.fingerprints.scheme import LARGEST_BITS
from neardup.kernels.set_join import components, join_similar
from neardup.lab.tune.sample import Sample
from neardup.pairs.choose import search_distance

MOST_PAIRS = 2000
# Memory of a similar pair with its similarity, its cluster and its weight.
_PAIR_BYTES, _FEWEST_PAIRS = 160, 1 << 17
_SEED = 7
_SURE = 1.96  # standard deviations on either side of a 95 % interval


@dataclass(frozen=True)
class Interval:
    """A share, with its 95 % confidence interval for the whole collection."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SamplePairs:
    """Pairs of distinct documents that reach the threshold, and the bits in which they differ.

    These are all `in_sample` pairs of the sample, or a random choice of them. `stands_for` is the
    number of pairs of the collection that each pair stands for, `total` the estimated number of
    pairs in the collection, `share` the part of `total` that is here. `differs[i]` marks the
    differing bits of pair i.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    similarity: NDArray[np.float64]
    stands_for: NDArray[np.float64]
    cluster: NDArray[np.int64]
    total: float
    share: float
    in_sample: int
    differs: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.a)

    @property
    def bits(self) -> int:
        """The widest fingerprint that can be tried."""
        return int(self.differs.shape[1])

    @cached_property
    def distance(self) -> NDArray[np.uint16]:
        """How many of the first bits differ: column i for the first i + 1."""
        return np.cumsum(self.differs, axis=1, dtype=np.uint16)

    def share_found(
        self, found: NDArray[np.bool_], chance: NDArray[np.float64] | None = None
    ) -> Interval:
        """Estimate the share of all similar pairs that is found, if these of the sample are.

        `chance` is the probability that a pair like each one is found. It applies to pairs outside
        of the sample, with less noise than the outcome of those inside. Pairs of one cluster are
        correlated, so they count as fewer.
        """
        outside = 1 - self.share
        likely = found.astype(np.float64)
        if chance is not None:
            likely = self.share * likely + outside * chance
        weights = self.stands_for / self.stands_for.sum()
        value = min(1.0, float(weights @ likely))
        if outside <= 0:
            return Interval(value, value, value)
        off = weights * (likely - value)
        together = np.bincount(np.unique(self.cluster, return_inverse=True)[1], off)
        noise = float((together**2).sum()) + value * (1 - value) / self.total
        number = value * (1 - value) / noise if value < 1 and noise else np.inf
        return _wilson(value, min(number, 1 / float((weights**2).sum())) / outside)


def similar_pairs(
    sample: Sample, fingerprinter: Fingerprinter, settings: DedupSettings
) -> SamplePairs:
    """Find all similar pairs of the sample exactly, and compute wide fingerprints for some.

    Raises `TooManyPairsError` if the pairs do not fit in memory.
    """
    features = sample.features
    found = join_similar(
        features.offsets,
        features.hashes,
        features.weights,
        measure=settings.similarity,
        threshold=settings.threshold,
        most_pairs=max(_FEWEST_PAIRS, settings.memory // _PAIR_BYTES),
        threads=fingerprinter.threads,
    )
    stands_for = sample.stands_for(found.a, found.b, fingerprinter.threads)
    total = float(stands_for.sum())
    cluster = components(len(sample), found.a, found.b)[found.a]
    chosen = np.arange(len(found))
    if len(chosen) > MOST_PAIRS:
        chosen = np.sort(np.random.default_rng(_SEED).permutation(chosen)[:MOST_PAIRS])
    a, b = found.a[chosen], found.b[chosen]
    return SamplePairs(
        a,
        b,
        found.similarity[chosen],
        stands_for[chosen] * (len(found) / max(1, len(chosen))),
        cluster[chosen],
        total,
        len(chosen) / total if total else 1.0,
        len(found),
        _differing_bits(sample, widest(fingerprinter), a, b),
    )


def widest(fingerprinter: Fingerprinter) -> Fingerprinter:
    """The fingerprinter with as many bits as its hash has; a projection keeps its own number."""
    if fingerprinter.scheme.projection is not None:
        return fingerprinter
    bits = min(LARGEST_BITS, fingerprinter.family.bits or LARGEST_BITS)
    return replace(fingerprinter, scheme=replace(fingerprinter.scheme, bits=bits))


def found_by(pairs: SamplePairs, width: int, settings: DedupSettings) -> Callable[[int], Interval]:
    """A function from a number of bands of `width` bits to the share of pairs that they find."""
    most = pairs.bits // width
    blocks = pairs.differs[:, : most * width].reshape(len(pairs), most, width)
    agree = ~np.any(blocks, axis=2)
    first = np.where(agree.any(axis=1), agree.argmax(axis=1), most)
    one_agrees = chance_to_agree(pairs.bits - pairs.distance[:, -1], pairs.bits, width)

    def found(bands: int) -> Interval:
        bits = bands * width
        near = pairs.distance[:, bits - 1] <= search_distance(bits, settings)
        return pairs.share_found((first < bands) & near, near * (1 - (1 - one_agrees) ** bands))

    return found


def bands_needed(
    pairs: SamplePairs, width: int, settings: DedupSettings
) -> tuple[int, Interval] | None:
    """The fewest bands of `width` bits whose recall has a sufficient lower bound; else None."""
    found = found_by(pairs, width, settings)
    low, high = 1, pairs.bits // width
    if high < 1 or found(high).low < settings.recall:
        return None
    while low < high:
        middle = (low + high) // 2
        if found(middle).low >= settings.recall:
            high = middle
        else:
            low = middle + 1
    return low, found(low)


def chance_to_agree(agreements: NDArray[Any], bits: int, width: int) -> NDArray[np.float64]:
    """The probability that pairs agree on `width` bits, if `agreements` of `bits` bits agree.

    The unbiased estimate is the share of all choices of `width` bits that agree; the share of
    agreeing bits to the power of `width` would favour pairs that agree by chance.
    """
    chance = np.ones(len(agreements))
    for taken in range(width):
        chance *= np.maximum(0.0, agreements.astype(np.float64) - taken) / (bits - taken)
    return chance


def _differing_bits(
    sample: Sample, fingerprinter: Fingerprinter, a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.bool_]:
    places, numbers = np.unique(np.concatenate((a, b)), return_inverse=True)
    rows = sample.rows(fingerprinter, places)
    left, right = rows[numbers[: len(a)]], rows[numbers[len(a) :]]
    data = (left ^ right).astype(">u8").view(np.uint8)
    return np.unpackbits(data, axis=1)[:, : fingerprinter.scheme.bits].astype(np.bool_)


def _wilson(value: float, number: float) -> Interval:
    """Wilson's interval, which stays within 0 and 1 even if all or none were found."""
    if number <= 0:
        return Interval(value, 0.0, 1.0)
    square = _SURE**2 / number
    middle = (value + square / 2) / (1 + square)
    reach = sqrt(square) * sqrt(value * (1 - value) + square / 4) / (1 + square)
    return Interval(value, max(0.0, middle - reach), min(1.0, middle + reach))

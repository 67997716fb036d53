"""Bands of fingerprints as a way to find pairs, with what they should find and cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from neardup.candidates import plan_of
from neardup.candidates.costs import Costs
from neardup.candidates.plan import bit_agreement, pairs_of, within_chance
from neardup.candidates.rows import Rows
from neardup.fingerprints import hamming
from neardup.fingerprints.maker import Maker
from neardup.kernels.similar import similarities
from neardup.lab.tuning_options import (
    BASE_BYTES,
    DOCUMENT_BYTES,
    Option,
    held_bytes,
    reading_seconds,
)
from neardup.lab.tuning_pairs import Interval, SimilarPairs, bands_needed, chance_to_agree
from neardup.lab.tuning_sample import Sample
from neardup.pipeline.dedup.plans import least_cosine, likely_distance
from neardup.pipeline.dedup.settings import DedupSettings

FEWEST_PAIRS = 30
_WIDTHS = range(8, 33)
_MEASURED = 3
_RANDOM_PAIRS = 50_000
_RANDOM_BITS = 512
_SEED = 11
# A candidate that is verified, if that was not timed, and its way there; and what it takes.
_VERIFY_NANOSECONDS, _GATHER_NANOSECONDS = 2000.0, 500.0
_CANDIDATE_BYTES = 100


@dataclass(frozen=True, eq=False)
class RandomPairs:
    """How many of `bits` bits agree in pairs taken at random, and what making them costs."""

    agreements: NDArray[np.int64]
    weights: NDArray[np.float64]
    bits: int
    seconds_a_word: float

    @property
    def mean_distance(self) -> float:
        """The mean share of bits that differ; one half for fair coins."""
        return 1 - float(self.agreements @ self.weights) / self.bits

    def agreement(self, width: int) -> float:
        """The chance of a random pair to agree on `width` bits."""
        return float(chance_to_agree(self.agreements, self.bits, width) @ self.weights)


def random_pairs(sample: Sample, maker: Maker) -> RandomPairs:
    """Pairs of the sample, weighted as they are in the collection."""
    bits = min(_RANDOM_BITS, maker.scheme.bits)
    started = time.perf_counter()
    rows = sample.rows(with_bits(maker, bits))
    spent = time.perf_counter() - started
    random = np.random.default_rng(_SEED)
    a, b = random.integers(0, len(sample), (2, _RANDOM_PAIRS))
    a, b = a[a != b], b[a != b]
    if not len(a):
        return RandomPairs(np.zeros(1, np.int64), np.ones(1), bits, 0.0)
    weights = sample.stands_for(a, b, maker.threads)
    agreements = bits - np.asarray(hamming(rows[a], rows[b]), np.int64)
    each = spent / len(sample) / rows.shape[1]
    return RandomPairs(agreements, weights / weights.sum(), bits, each)


def with_bits(maker: Maker, bits: int) -> Maker:
    """The same with other bits; a projection has its own number."""
    if maker.scheme.projection is not None:
        return maker
    return replace(maker, scheme=replace(maker.scheme, bits=bits))


def band_options(
    sample: Sample,
    pairs: SimilarPairs,
    at_random: RandomPairs,
    maker: Maker,
    settings: DedupSettings,
) -> list[Option]:
    """The bands that should take the least time, their candidates counted on the sample itself."""
    likely: list[tuple[float, float, _Bands]] = []
    for width in _WIDTHS:
        needed = (
            bands_needed(pairs, width, settings)
            if len(pairs) >= FEWEST_PAIRS
            else _by_formula(width, pairs.bits, settings)
        )
        if needed is not None:
            bands = _Bands(needed[0], width, needed[1])
            seconds, verifying = _search_seconds(bands, sample, at_random, maker, settings)
            likely.append((seconds + verifying, seconds, bands))
    likely.sort(key=lambda one: one[0])
    return [
        _option(bands, seconds, sample, maker, settings) for _, seconds, bands in likely[:_MEASURED]
    ]


@dataclass(frozen=True)
class _Bands:
    number: int
    width: int
    recall: Interval

    @property
    def bits(self) -> int:
        return self.number * self.width


def _by_formula(width: int, bits: int, settings: DedupSettings) -> tuple[int, Interval] | None:
    """Without pairs to judge by: enough bands for those at the threshold, the hardest."""
    agrees = bit_agreement(least_cosine(settings)) ** width
    number = max(1, ceil(log(1 - min(settings.recall, 0.9999)) / log(1 - agrees)))
    found = 1 - (1 - agrees) ** number
    return (number, Interval(found, found, 1.0)) if number * width <= bits else None


def _search_seconds(
    bands: _Bands, sample: Sample, at_random: RandomPairs, maker: Maker, settings: DedupSettings
) -> tuple[float, float]:
    """To make fingerprints, sort by each band and look at what agrees; and then to verify.

    What is verified is here random pairs alone, which are many where there are few bits.
    """
    contents = ceil(sample.contents)
    looks = pairs_of(contents) * bands.number * at_random.agreement(bands.width)
    making = sample.filled * at_random.seconds_a_word * ceil(bands.bits / 64)
    join = Costs.load().masks(contents, bands.bits, bands.number, looks)
    limit = likely_distance(bands.bits, settings)
    near = within_chance(bands.bits - bands.width, limit, 1 - at_random.mean_distance)
    return making + join / maker.threads, looks * near * _VERIFY_NANOSECONDS / 1e9


def _option(
    bands: _Bands, seconds: float, sample: Sample, maker: Maker, settings: DedupSettings
) -> Option:
    """Run the bands on the sample, to count what they bring and what verifying that takes."""
    maker = with_bits(maker, bands.bits)
    bits = maker.scheme.bits
    plan = plan_of(f"bands:{bands.number}x{bands.width}", bits)
    near = plan.join(
        Rows(sample.rows(maker), bits),
        None,
        max_distance=likely_distance(bits, settings),
        threads=maker.threads,
    )
    stands_for = sample.stands_for(near.a, near.b, maker.threads)
    candidates = float(stands_for.sum())
    features = sample.features
    started = time.perf_counter()
    similarities(
        *(features.offsets, features.hashes, features.weights),
        *(near.a, near.b),
        measure=settings.similarity,
        threads=maker.threads,
    )
    each = (time.perf_counter() - started) / max(1, len(near.a)) + _GATHER_NANOSECONDS / 1e9
    contents = ceil(sample.contents)
    row_bytes = 8 * ceil(bits / 64)
    return Option(
        plan.name,
        bits,
        bands.recall,
        candidates,
        reading_seconds(sample) + seconds + candidates * each,
        BASE_BYTES
        + sample.documents * (DOCUMENT_BYTES + row_bytes)
        + contents * row_bytes
        + plan.memory(contents)
        + held_bytes(sample, settings)
        + candidates * _CANDIDATE_BYTES,
    )

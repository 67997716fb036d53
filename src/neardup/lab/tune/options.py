"""Ways to search, the exact join and bands, each with expected recall and cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from neardup.collection.settings import EXACT, DedupSettings
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints import hamming
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.kernels.set_join import join_similar, predict_similar, similarities
from neardup.lab.tune.pairs import Interval, SamplePairs, bands_needed, chance_to_agree
from neardup.lab.tune.sample import Sample
from neardup.pairs.by_fingerprints import plan_of
from neardup.pairs.by_fingerprints.plan import bit_agreement, pairs_of, within_chance
from neardup.pairs.by_fingerprints.rows import Rows
from neardup.pairs.choose import least_cosine, likely_distance
from neardup.pairs.costs import Costs

# Nanoseconds of the join on one thread, for a feature and for a look at a posting.
_FEATURE_NANOSECONDS, _POSTING_NANOSECONDS = 40.0, 20.0
# What a process takes to read and write some batches, what it keeps of each document beside
# features, and what the join takes for each byte of features. All of these steer and promise
# nothing; `benchmarks/tune.py` compares them with what was measured.
BASE_BYTES, DOCUMENT_BYTES = 320_000_000, 100
_JOIN_BYTES = 0.5


@dataclass(frozen=True)
class Option:
    """A way to search, and what it should come to in the whole collection."""

    candidates: str
    bits: int
    recall: Interval
    candidate_pairs: float
    seconds: float
    memory_bytes: float


def exact_option(sample: Sample, fingerprinter: Fingerprinter, settings: DedupSettings) -> Option:
    """The join on the features: its work on the sample and on half of it, scaled up."""
    whole = _work(sample.features, fingerprinter, settings)
    half = _work(sample.features.take(sample.half()), fingerprinter, settings)
    times = sample.contents / max(1, len(sample))
    each = len(sample.features.hashes) / max(1, len(sample))
    work = sample.contents * each * _FEATURE_NANOSECONDS
    work += scaled(whole[0], half[0], times) * _POSTING_NANOSECONDS
    return Option(
        EXACT,
        settings.scheme.bits,
        Interval(1.0, 1.0, 1.0),
        scaled(whole[1], half[1], times),
        reading_seconds(sample) + work / 1e9 / fingerprinter.threads,
        BASE_BYTES + sample.documents * DOCUMENT_BYTES + held_bytes(sample, settings),
    )


def _work(
    features: WeightedFeatures, fingerprinter: Fingerprinter, settings: DedupSettings
) -> tuple[int, int]:
    """How many postings the join looks at, and how many pairs it compares."""
    documents = (features.offsets, features.hashes, features.weights)
    measure, threshold, threads = settings.similarity, settings.threshold, fingerprinter.threads
    postings = predict_similar(*documents, measure=measure, threshold=threshold, threads=threads)
    found = join_similar(*documents, measure=measure, threshold=threshold, threads=threads)
    return postings, found.compared


def scaled(whole: float, half: float, times: float) -> float:
    """What work on a sample and on half of it comes to in a collection so many times as large.

    The work among near-duplicates grows with the number of documents, since the sample keeps
    these together; among others it grows with the square.
    """
    square = min(whole, max(0.0, 2 * (whole - 2 * half)))
    return (whole - square) * times + square * times**2


def reading_seconds(sample: Sample) -> float:
    """How long it takes to read everything and cut it into features."""
    return sample.seconds / sample.looked


def held_bytes(sample: Sample, settings: DedupSettings) -> float:
    """What the features of all documents take, and the join; what is more goes to a file."""
    features = sample.features.nbytes / max(1, len(sample)) * sample.filled
    return min(settings.memory, features * (1 + _JOIN_BYTES))


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


def random_pairs(sample: Sample, fingerprinter: Fingerprinter) -> RandomPairs:
    """Pairs of the sample, weighted as they are in the collection."""
    bits = min(_RANDOM_BITS, fingerprinter.scheme.bits)
    started = time.perf_counter()
    rows = sample.rows(with_bits(fingerprinter, bits))
    spent = time.perf_counter() - started
    random = np.random.default_rng(_SEED)
    a, b = random.integers(0, len(sample), (2, _RANDOM_PAIRS))
    a, b = a[a != b], b[a != b]
    if not len(a):
        return RandomPairs(np.zeros(1, np.int64), np.ones(1), bits, 0.0)
    weights = sample.stands_for(a, b, fingerprinter.threads)
    agreements = bits - np.asarray(hamming(rows[a], rows[b]), np.int64)
    each = spent / len(sample) / rows.shape[1]
    return RandomPairs(agreements, weights / weights.sum(), bits, each)


def with_bits(fingerprinter: Fingerprinter, bits: int) -> Fingerprinter:
    """The same with other bits; a projection has its own number."""
    if fingerprinter.scheme.projection is not None:
        return fingerprinter
    return replace(fingerprinter, scheme=replace(fingerprinter.scheme, bits=bits))


def band_options(
    sample: Sample,
    pairs: SamplePairs,
    at_random: RandomPairs,
    fingerprinter: Fingerprinter,
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
            seconds, verifying = _search_seconds(bands, sample, at_random, fingerprinter, settings)
            likely.append((seconds + verifying, seconds, bands))
    likely.sort(key=lambda one: one[0])
    return [
        _option(bands, seconds, sample, fingerprinter, settings)
        for _, seconds, bands in likely[:_MEASURED]
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
    bands: _Bands,
    sample: Sample,
    at_random: RandomPairs,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
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
    return making + join / fingerprinter.threads, looks * near * _VERIFY_NANOSECONDS / 1e9


def _option(
    bands: _Bands,
    seconds: float,
    sample: Sample,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> Option:
    """Run the bands on the sample, to count what they bring and what verifying that takes."""
    fingerprinter = with_bits(fingerprinter, bands.bits)
    bits = fingerprinter.scheme.bits
    plan = plan_of(f"bands:{bands.number}x{bands.width}", bits)
    near = plan.join(
        Rows(sample.rows(fingerprinter), bits),
        None,
        max_distance=likely_distance(bits, settings),
        threads=fingerprinter.threads,
    )
    stands_for = sample.stands_for(near.a, near.b, fingerprinter.threads)
    candidates = float(stands_for.sum())
    features = sample.features
    started = time.perf_counter()
    similarities(
        *(features.offsets, features.hashes, features.weights),
        *(near.a, near.b),
        measure=settings.similarity,
        threads=fingerprinter.threads,
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

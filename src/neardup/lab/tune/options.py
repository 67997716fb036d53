"""Search options, the exact join and bands, each with expected recall and cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.feature_store import FeatureStore
from neardup.collection.settings import DedupSettings
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints import hamming
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.kernels.set_join import join_similar, predict_similar
from neardup.kernels.star_join import Decisions, DocumentCounts, StarJoin, StoredFeatures
from neardup.lab.tune.pairs import (
    Interval,
    SamplePairs,
    bands_needed,
    chance_to_agree,
    found_by,
)
from neardup.lab.tune.sample import Sample
from neardup.pairs.by_features.exact_join import JoinSide, Measure, keep_possible
from neardup.pairs.by_fingerprints import plan_of
from neardup.pairs.by_fingerprints.plan import pairs_of
from neardup.pairs.by_fingerprints.rows import Rows
from neardup.pairs.choose import (
    Bands,
    Work,
    cheapest_bands,
    least_cosine,
    most_postings,
    search_distance,
)
from neardup.pairs.costs import Costs
from neardup.pairs.recall import band_recall, bands_for, within_chance
from neardup.settings import EXACT

# Memory of a process that reads and writes batches, memory of a document besides its features, and
# memory of the join per byte of features. These are rough estimates; `benchmarks/tune.py` compares
# them with measurements.
BASE_BYTES, DOCUMENT_BYTES = 320_000_000, 100
_JOIN_BYTES = 0.5


FEWEST_PAIRS = 30
_WIDTHS = range(8, 33)
_MEASURED = 3
_RANDOM_PAIRS = 50_000
_RANDOM_BITS = 512
_SEED = 11
_CANDIDATE_BYTES = 100


@dataclass(frozen=True)
class Option:
    """A way to search, with its expected recall and cost on the whole collection."""

    candidates: str
    bits: int
    recall: Interval
    candidate_pairs: float
    seconds: float
    memory_bytes: float


@dataclass(frozen=True)
class ExactWork:
    """The work of the exact search on the whole collection, and the number of pairs it compares.

    A star search has no postings: what it reads of its index is in the price of a feature.
    """

    work: Work
    postings: float
    compared: float

    @classmethod
    def of(cls, sample: Sample, fingerprinter: Fingerprinter, settings: DedupSettings) -> ExactWork:
        """The work on the sample and on half of it, scaled up."""
        work = _star_work if settings.cluster == "star" else _join_work
        whole = work(sample.features, fingerprinter, settings)
        half = work(sample.features.take(sample.half()), fingerprinter, settings)
        times = sample.contents / max(1, len(sample))
        documents, features, postings, compared = (
            scaled(all_of_it, part, times) for all_of_it, part in zip(whole, half, strict=True)
        )
        weighted = not fingerprinter.scheme.are_sets
        return cls(Work(round(documents), round(features), weighted), postings, compared)


def exact_option(
    exact: ExactWork, sample: Sample, fingerprinter: Fingerprinter, settings: DedupSettings
) -> Option:
    """The exact search on the features."""
    costs, work = Costs.load(), exact.work
    seconds = costs.exact_join(work.features, exact.postings, work.weighted)
    if settings.cluster == "star":
        seconds += costs.verification(exact.compared, 2 * work.features / max(1, work.documents))
    return Option(
        EXACT,
        settings.scheme.bits,
        Interval(1.0, 1.0, 1.0),
        exact.compared,
        reading_seconds(sample) + seconds / fingerprinter.threads,
        BASE_BYTES + sample.documents * DOCUMENT_BYTES + held_bytes(sample, settings),
    )


def _star_work(
    features: WeightedFeatures, fingerprinter: Fingerprinter, settings: DedupSettings
) -> tuple[int, int, int, int]:
    """Documents and features, no postings, pairs compared."""
    documents, memory = np.arange(len(features)), Budget(settings.memory).work
    counts = DocumentCounts(len(features.hashes), memory)
    counts.see(features.arrays, np.ones(len(features), np.bool_), threads=fingerprinter.threads)
    stored = StoredFeatures(weighted=features.weights is not None)
    stored.add(features.arrays)
    join = StarJoin(
        stored,
        counts,
        measure=settings.similarity,
        threshold=settings.threshold,
        features=len(features.hashes),
        memory=settings.memory,
    )
    join.decide(documents, Decisions.none(documents), threads=fingerprinter.threads)
    return len(features), len(features.hashes), 0, join.compared


def _join_work(
    features: WeightedFeatures, fingerprinter: Fingerprinter, settings: DedupSettings
) -> tuple[int, int, int, int]:
    """Documents that can be in a pair, their features, postings read, pairs compared."""
    measure, threads = Measure(settings.similarity, settings.threshold), fingerprinter.threads
    store = FeatureStore(settings.memory)
    store.add(features)
    side = JoinSide.at(store, np.arange(len(features)))
    keep_possible([side], measure, memory=Budget(settings.memory).work, threads=threads)
    possible = features.take(np.flatnonzero(side.wanted))
    limits: dict[str, Any] = {"measure": measure.name, "threshold": measure.threshold}
    postings = predict_similar(*possible.arrays, **limits, threads=threads)
    found = join_similar(*possible.arrays, **limits, threads=threads)
    return len(possible), len(possible.hashes), postings, found.compared


def scaled(whole: float, half: float, times: float) -> float:
    """Extrapolate the work on a sample, and on half of it, to a collection `times` as large.

    The work on near-duplicates grows linearly with the number of documents, since the sample keeps
    these together; the work on all others grows with the square.
    """
    square = min(whole, max(0.0, 2 * (whole - 2 * half)))
    return (whole - square) * times + square * times**2


def reading_seconds(sample: Sample) -> float:
    """The time to read the whole collection and compute its features."""
    return sample.seconds / sample.looked


def held_bytes(sample: Sample, settings: DedupSettings) -> float:
    """Memory of all features and of the join; features that do not fit go to a file."""
    features = sample.features.nbytes / max(1, len(sample)) * sample.filled
    return min(settings.memory, features * (1 + _JOIN_BYTES))


@dataclass(frozen=True, eq=False)
class RandomPairs:
    """The number of `bits` bits that agree in random pairs, and the weights of these pairs."""

    agreements: NDArray[np.int64]
    weights: NDArray[np.float64]
    bits: int

    @property
    def mean_distance(self) -> float:
        """The mean share of bits that differ; one half for fair coins."""
        return 1 - float(self.agreements @ self.weights) / self.bits

    def agreement(self, width: int) -> float:
        """The probability that a random pair agrees on `width` bits."""
        return float(chance_to_agree(self.agreements, self.bits, width) @ self.weights)


def random_pairs(sample: Sample, fingerprinter: Fingerprinter) -> RandomPairs:
    """Random pairs of the sample, weighted to represent the collection."""
    bits = min(_RANDOM_BITS, fingerprinter.scheme.bits)
    rows = sample.rows(with_bits(fingerprinter, bits))
    random = np.random.default_rng(_SEED)
    a, b = random.integers(0, len(sample), (2, _RANDOM_PAIRS))
    a, b = a[a != b], b[a != b]
    if not len(a):
        return RandomPairs(np.zeros(1, np.int64), np.ones(1), bits)
    weights = sample.stands_for(a, b, fingerprinter.threads)
    agreements = bits - np.asarray(hamming(rows[a], rows[b]), np.int64)
    return RandomPairs(agreements, weights / weights.sum(), bits)


def with_bits(fingerprinter: Fingerprinter, bits: int) -> Fingerprinter:
    """The fingerprinter with another number of bits; a projection keeps its own."""
    if fingerprinter.scheme.projection is not None:
        return fingerprinter
    return replace(fingerprinter, scheme=replace(fingerprinter.scheme, bits=bits))


def preferred_bands(exact: ExactWork, settings: DedupSettings) -> Bands | None:
    """The bands that `candidates="auto"` chooses here; None if it chooses the exact search."""
    if settings.cluster == "star":
        return None
    bands = cheapest_bands(exact.work, settings)
    limit = most_postings(exact.work, bands, Budget(settings.memory).work)
    return None if limit is None or exact.postings <= limit else bands


def option_of(
    bands: Bands,
    sample: Sample,
    pairs: SamplePairs,
    at_random: RandomPairs,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> Option | None:
    """Bands as an option, with their recall on the sample; None if the hash is too short."""
    if bands.bits > pairs.bits:
        return None
    cosine = least_cosine(settings)
    at_threshold = band_recall(bands.count, cosine, bands.width)
    recall = Interval(at_threshold, at_threshold, 1.0)
    if len(pairs) >= FEWEST_PAIRS:
        recall = found_by(pairs, bands.width, settings)(bands.count)
    chosen = _Bands(bands.count, bands.width, recall)
    seconds, _ = _search_seconds(chosen, sample, at_random, fingerprinter, settings)
    return _option(chosen, seconds, sample, fingerprinter, settings)


def band_options(
    sample: Sample,
    pairs: SamplePairs,
    at_random: RandomPairs,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    most_seconds: float = inf,
) -> list[Option]:
    """The bands with the shortest estimated time; candidates are counted on the sample.

    Those that would take longer than `most_seconds` are left out: to count would take long, too.
    """
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
            if seconds + verifying <= most_seconds:
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
    """Without enough pairs in the sample: the bands for pairs at the threshold, the hardest."""
    cosine = least_cosine(settings)
    number = bands_for(settings.recall, cosine, width)
    found = band_recall(number, cosine, width)
    return (number, Interval(found, found, 1.0)) if number * width <= bits else None


def _search_seconds(
    bands: _Bands,
    sample: Sample,
    at_random: RandomPairs,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> tuple[float, float]:
    """Estimated seconds for fingerprints and search, and for verification.

    Verification counts only random pairs, which are many if there are few bits.
    """
    contents = ceil(sample.contents)
    looks = pairs_of(contents) * bands.number * at_random.agreement(bands.width)
    costs = Costs.load()
    making = costs.fingerprints(sample.filled * _features_each(sample), bands.bits)
    join = costs.masks(contents, bands.bits, bands.number, looks)
    limit = search_distance(bands.bits, settings)
    near = within_chance(bands.bits - bands.width, limit, 1 - at_random.mean_distance)
    verifying = costs.verification(looks * near, 2 * _features_each(sample))
    return (making + join) / fingerprinter.threads, verifying / fingerprinter.threads


def _features_each(sample: Sample) -> float:
    return len(sample.features.hashes) / max(1, len(sample))


def _option(
    bands: _Bands,
    seconds: float,
    sample: Sample,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> Option:
    """Make an option; the bands run on the sample to count their candidates."""
    fingerprinter = with_bits(fingerprinter, bands.bits)
    bits = fingerprinter.scheme.bits
    plan = plan_of(f"bands:{bands.number}x{bands.width}", bits)
    near = plan.join(
        Rows(sample.rows(fingerprinter), bits),
        None,
        max_distance=search_distance(bits, settings),
        threads=fingerprinter.threads,
    )
    stands_for = sample.stands_for(near.a, near.b, fingerprinter.threads)
    candidates = float(stands_for.sum())
    verifying = Costs.load().verification(candidates, 2 * _features_each(sample))
    contents = ceil(sample.contents)
    row_bytes = 8 * ceil(bits / 64)
    return Option(
        plan.name,
        bits,
        bands.recall,
        candidates,
        reading_seconds(sample) + seconds + verifying / fingerprinter.threads,
        BASE_BYTES
        + sample.documents * (DOCUMENT_BYTES + row_bytes)
        + contents * row_bytes
        + plan.memory(contents)
        + held_bytes(sample, settings)
        + candidates * _CANDIDATE_BYTES,
    )

"""Candidates and their true similarity: every accepted pair was computed on the features."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from neardup.candidates import Plan, choose, plan_of
from neardup.candidates.plan import bit_agreement
from neardup.candidates.rows import Rows
from neardup.fingerprints import hamming
from neardup.fingerprints.maker import Maker
from neardup.kernels.similar import join_similar, similarities
from neardup.pipeline.dedup.collected import Collected, features_at
from neardup.pipeline.dedup.settings import DedupSettings
from neardup.pipeline.dedup.source import Source

EXACT = "exact"
Csr = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64] | None]


@dataclass(frozen=True, eq=False)
class FoundPairs:
    """The accepted pairs of documents, by place (a < b, in order), and how they were found.

    `false_distances` are those of candidates that were refused, as far as they were worked out.
    `curve` is the chance to be found by similarity: nothing where every pair is, None if unknown.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64]
    candidates: int
    false_distances: NDArray[np.uint16]
    plan: str
    reason: str
    curve: tuple[tuple[float, float], ...] | None = ()


@dataclass(frozen=True, eq=False)
class Side:
    """A collection that is searched: what was collected of it, and where it can be read again."""

    collected: Collected
    source: Source

    @property
    def fits(self) -> bool:
        """Whether all its features are in memory."""
        return self.collected.features is not None

    def fingerprints(self, bits: int) -> Rows:
        """Those of the first document of each kind."""
        firsts = self.collected.firsts
        if self.collected.rows is None:
            raise ValueError("a search by fingerprints needs them")
        rows = np.ascontiguousarray(self.collected.rows[firsts])
        return Rows(rows, bits, self.collected.words[firsts])

    def rows(self, maker: Maker, kinds: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The fingerprints of the first document of some kinds."""
        if self.collected.rows is not None:
            return np.asarray(self.collected.rows[self.collected.firsts[kinds]])
        if self.collected.features is None:
            raise ValueError("without fingerprints there must be features")
        some, numbers = np.unique(kinds, return_inverse=True)
        rows = maker.rows_of_features(self.collected.features.take(some))
        return np.asarray(rows[numbers])

    def features(self, maker: Maker, kinds: NDArray[np.int64] | None = None) -> Csr:
        """Those of the first document of some kinds; read again where they were not kept."""
        kept = self.collected.features
        if kept is not None:
            found = kept if kinds is None else kept.take(kinds)
        elif kinds is None:
            raise ValueError("a join on the features needs all of them in memory")
        else:
            found = features_at(self.source, maker, self.collected.firsts[kinds])
        return found.offsets, found.hashes, found.weights


def find_exactly(
    left: Side, right: Side | None, maker: Maker, settings: DedupSettings
) -> FoundPairs:
    """Every pair of the wanted similarity, by a join on the features themselves."""
    found = join_similar(
        *left.features(maker),
        measure=settings.similarity,
        threshold=settings.threshold,
        right=None if right is None else right.features(maker),
        threads=maker.threads,
    )
    other = right or left
    return FoundPairs(
        left.collected.firsts[found.a],
        other.collected.firsts[found.b],
        distances(left.rows(maker, found.a), other.rows(maker, found.b)),
        found.similarity,
        found.compared,
        np.zeros(0, np.uint16),
        EXACT,
        "exact: a join on the features finds every pair, and they fit the memory",
    )


def find_by_plan(
    left: Side,
    right: Side | None,
    maker: Maker,
    plan: Plan,
    reason: str,
    settings: DedupSettings,
) -> FoundPairs:
    """Candidates by their fingerprints, then their true similarity."""
    near = plan.join(
        left.fingerprints(plan.bits),
        None if right is None else right.fingerprints(plan.bits),
        max_distance=likely_distance(plan.bits, settings),
        threads=maker.threads,
    )
    if settings.similarity == "hamming":
        similarity, accepted = 1 - near.distance / plan.bits, np.ones(len(near.a), np.bool_)
    else:
        similarity = _true_similarities(left, right, maker, near.a, near.b, settings)
        accepted = similarity >= settings.threshold
    return FoundPairs(
        left.collected.firsts[near.a[accepted]],
        (right or left).collected.firsts[near.b[accepted]],
        near.distance[accepted],
        similarity[accepted],
        len(near.a),
        near.distance[~accepted],
        plan.name,
        reason,
        _curve(plan, len(left.collected.copies.firsts), settings.similarity),
    )


def _true_similarities(
    left: Side,
    right: Side | None,
    maker: Maker,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    settings: DedupSettings,
) -> NDArray[np.float64]:
    """Of pairs of kinds: only the features of candidates are looked at."""
    if right is None:
        kinds, numbers = np.unique(np.concatenate((a, b)), return_inverse=True)
        numbers_a, numbers_b = numbers[: len(a)], numbers[len(a) :]
        other = None
    else:
        kinds, numbers_a = np.unique(a, return_inverse=True)
        others, numbers_b = np.unique(b, return_inverse=True)
        other = right.features(maker, others)
    return similarities(
        *left.features(maker, kinds),
        numbers_a.astype(np.int64),
        numbers_b.astype(np.int64),
        measure=settings.similarity,
        right=other,
        threads=maker.threads,
    )


def plan_for(n: int, settings: DedupSettings) -> tuple[Plan, str]:
    """The plan by name, or the cheapest bands that reach the wanted recall."""
    bits = settings.scheme.bits
    if settings.candidates not in ("auto", EXACT):
        plan = plan_of(settings.candidates, bits)
        return plan, plan.describe()
    if settings.similarity == "hamming":
        choice = choose(n, int(settings.threshold), bits)
        return choice.plan, choice.reason
    bands, width = cheapest_bands(n, settings)
    plan = plan_of(f"bands:{bands}x{width}", bits)
    return plan, (
        f"{plan}: finds {plan.recall(least_cosine(settings)):.3f} of the pairs at the threshold; "
        "a join on the features would not fit the memory"
    )


def cheapest_bands(n: int, settings: DedupSettings) -> tuple[int, int]:
    """Bands and bits of a band, so that pairs at the threshold are found often enough."""
    agrees = bit_agreement(least_cosine(settings))
    best: tuple[float, int, int] | None = None
    for width in range(8, 33):
        bands = max(1, ceil(log(1 - min(settings.recall, 0.9999)) / log(1 - agrees**width)))
        if bands * width > 4096:
            continue
        # Nanoseconds: a fingerprint word of a document, its way into a bucket, a look at a pair.
        cost = n * bands * (20.0 * width / 64 + 30.0) + n * n / 2 * bands * 2.0**-width * 8.0
        if best is None or cost < best[0]:
            best = (cost, bands, width)
    if best is None:
        return 4096 // 8, 8
    return best[1], best[2]


def least_cosine(settings: DedupSettings) -> float:
    """The smallest cosine that a pair at the threshold can have."""
    return _cosine_of(settings.threshold, settings.similarity)


def _cosine_of(similarity: float, measure: str) -> float:
    """The smallest cosine of a pair that is so similar by a measure."""
    if measure == "hamming":  # here the share of bits that agree
        return max(0.0, cos(pi * (1 - similarity)))
    return similarity if measure == "cosine" else 2 * similarity / (1 + similarity)


def likely_distance(bits: int, settings: DedupSettings) -> int:
    """The distance that nearly every pair at the threshold stays within (6 sigma)."""
    if settings.similarity == "hamming":
        return int(settings.threshold)
    differs = 1 - bit_agreement(least_cosine(settings))
    return min(bits, ceil(bits * differs + 6 * sqrt(bits * differs * (1 - differs))))


def distances(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """How many bits differ, row by row."""
    return np.asarray(hamming(a, b), np.uint16) if len(a) else np.zeros(0, np.uint16)


def _curve(plan: Plan, n: int, measure: str) -> tuple[tuple[float, float], ...] | None:
    """The chance to be found by similarity; None where the plan does not know."""
    points = []
    for step in range(51):
        recall = plan.recall(_cosine_of(step / 50, measure), n)
        if recall is None:
            return None
        points.append((step / 50, recall))
    return tuple(points)

"""Candidates and their true similarity: every accepted pair was computed on the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neardup.candidates import Plan, plan_of
from neardup.candidates.rows import Rows
from neardup.features.store import FeatureStore
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints import hamming
from neardup.fingerprints.maker import Maker
from neardup.kernels.similar import TooManyPostingsError, similarities
from neardup.pipeline.dedup.collected import Collected
from neardup.pipeline.dedup.exact_join import Chosen, Measure, join_chosen, keep_possible
from neardup.pipeline.dedup.plans import (
    Bands,
    cheapest_bands,
    curve_of,
    least_cosine,
    likely_distance,
)
from neardup.pipeline.dedup.settings import EXACT, DedupSettings

Places = NDArray[np.int64]


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
    """A collection that is searched."""

    collected: Collected

    @property
    def store(self) -> FeatureStore:
        """The features of all its documents."""
        if self.collected.features is None:
            raise ValueError("a similarity of features needs them")
        return self.collected.features

    def fingerprints(self, bits: int) -> Rows:
        """Those of the first document of each kind."""
        firsts = self.collected.firsts
        if self.collected.rows is None:
            raise ValueError("a search by fingerprints needs them")
        rows = np.ascontiguousarray(self.collected.rows[firsts])
        return Rows(rows, bits, self.collected.words[firsts])

    def rows(self, maker: Maker, places: Places) -> NDArray[np.uint64]:
        """The fingerprints of some documents."""
        if self.collected.rows is not None:
            return np.asarray(self.collected.rows[places])
        some, numbers = np.unique(places, return_inverse=True)
        return np.asarray(_rows_at(self.store, maker, some)[numbers])


def find_by_features(
    left: Side, right: Side | None, maker: Maker, settings: DedupSettings
) -> FoundPairs:
    """Every pair of the wanted similarity, by a join on the features themselves.

    Where `candidates` is `auto` and bands of fingerprints are far quicker, by those.
    """
    sides = [
        Chosen.at(side.store, side.collected.firsts) for side in (left, right) if side is not None
    ]
    measure = Measure(settings.similarity, settings.threshold)
    memory = settings.memory // 2
    keep_possible(sides, measure, memory=memory, threads=maker.threads)
    bands = cheapest_bands(sum(int(side.wanted.sum()) for side in sides), settings)
    weighted = not maker.scheme.are_sets
    try:
        found = join_chosen(
            sides[0],
            None if right is None else sides[1],
            measure,
            memory=memory,
            most_postings=None if settings.candidates == EXACT else bands.postings(weighted),
            threads=maker.threads,
        )
    except TooManyPostingsError as error:
        return _found_by_bands(left, right, sides, bands, error.postings, maker, settings)
    return FoundPairs(
        found.a,
        found.b,
        distances(left.rows(maker, found.a), (right or left).rows(maker, found.b)),
        found.similarity,
        found.compared,
        np.zeros(0, np.uint16),
        EXACT,
        "exact: a join on the features finds every pair",
    )


def _found_by_bands(
    left: Side,
    right: Side | None,
    sides: Sequence[Chosen],
    bands: Bands,
    postings: int,
    maker: Maker,
    settings: DedupSettings,
) -> FoundPairs:
    """By fingerprints as wide as the bands need, which the features give at once."""
    plan = plan_of(bands.plan, bands.bits)
    scheme = replace(maker.scheme, bits=bands.bits, projection=None)
    wide = replace(maker, scheme=scheme)
    places = [np.flatnonzero(side.wanted) for side in sides]
    rows = [
        Rows(_rows_at(side.store, wide, some), bands.bits)
        for side, some in zip(sides, places, strict=True)
    ]
    near = plan.join(
        rows[0],
        None if right is None else rows[1],
        max_distance=likely_distance(bands.bits, settings),
        threads=maker.threads,
    )
    a, b = places[0][near.a], places[-1][near.b]
    distance = distances(left.rows(maker, a), (right or left).rows(maker, b))
    similarity = _true_similarities(left, right, a, b, settings.similarity, maker.threads)
    accepted = similarity >= settings.threshold
    reason = (
        f"{plan} on {bands.bits} bits: finds {plan.recall(least_cosine(settings)):.3f} of the "
        f"pairs at the threshold; a join on the features, with {postings:,} postings to look at, "
        "would take far longer"
    )
    curve = curve_of(plan, sum(map(len, places)), settings.similarity)
    return FoundPairs(
        a[accepted],
        b[accepted],
        distance[accepted],
        similarity[accepted],
        len(a),
        distance[~accepted],
        plan.name,
        reason,
        curve,
    )


def _rows_at(store: FeatureStore, maker: Maker, places: Places) -> NDArray[np.uint64]:
    """The fingerprints of documents at these places, which ascend, batch by batch."""
    rows = [np.zeros((0, -(-maker.scheme.bits // 64)), np.uint64)]
    for where, part in store.parts():
        begin, end = np.searchsorted(places, [where.start, where.stop])
        if begin < end:
            rows.append(maker.rows_of_features(part.take(places[begin:end] - where.start)))
    return np.concatenate(rows)


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
    a, b = left.collected.firsts[near.a], (right or left).collected.firsts[near.b]
    if settings.similarity == "hamming":
        similarity, accepted = 1 - near.distance / plan.bits, np.ones(len(a), np.bool_)
    else:
        similarity = _true_similarities(left, right, a, b, settings.similarity, maker.threads)
        accepted = similarity >= settings.threshold
    return FoundPairs(
        a[accepted],
        b[accepted],
        near.distance[accepted],
        similarity[accepted],
        len(a),
        near.distance[~accepted],
        plan.name,
        reason,
        curve_of(plan, len(left.collected.copies.firsts), settings.similarity),
    )


def _true_similarities(
    left: Side, right: Side | None, a: Places, b: Places, measure: str, threads: int
) -> NDArray[np.float64]:
    """Of pairs of documents: only the features of candidates are looked at."""
    others: WeightedFeatures | None = None
    if right is None:
        places, numbers = np.unique(np.concatenate((a, b)), return_inverse=True)
        numbers_a, numbers_b = numbers[: len(a)], numbers[len(a) :]
    else:
        places, numbers_a = np.unique(a, return_inverse=True)
        other_places, numbers_b = np.unique(b, return_inverse=True)
        others = right.store.take(other_places)
    return similarities(
        *left.store.take(places).arrays,
        numbers_a.astype(np.int64),
        numbers_b.astype(np.int64),
        measure=measure,
        right=None if others is None else others.arrays,
        threads=threads,
    )


def distances(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """How many bits differ, row by row."""
    return np.asarray(hamming(a, b), np.uint16) if len(a) else np.zeros(0, np.uint16)

"""Containment and inclusion of documents of very different sizes, against every pair."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.kernels import set_join
from neardup.kernels.star_join import Decisions, DocumentCounts, StarJoin, StoredFeatures

MEASURES = ["containment", "inclusion"]


def lopsided(random: np.random.Generator, count: int) -> list[np.ndarray]:
    """Sets of 1 to 3,000 features: many are parts of larger ones, some with a few more features.

    A third of the features are frequent, as the words of a template are.
    """
    frequent = random.integers(0, 2**63, 400).astype(np.uint64)
    found: list[np.ndarray] = []
    for _ in range(count):
        size = int(random.choice([1, 5, 40, 300, 3000]))
        some = random.integers(0, 2**63, size - size // 3).astype(np.uint64)
        document = np.concatenate((some, random.choice(frequent, size // 3)))
        if found and random.random() < 0.7:
            whole = found[int(random.integers(len(found)))]
            part = random.choice(whole, max(1, int(len(whole) * random.random() ** 2)))
            more = random.random() < 0.5
            document = np.concatenate((part, document[: len(part) // 3])) if more else part
        found.append(np.unique(document))
    return found


def arrays_of(documents: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    sizes = [len(document) for document in documents]
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64), np.concatenate(documents)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
def test_every_pair_is_found(measure: str, weighted: bool, threshold: float) -> None:
    random = np.random.default_rng(5)
    offsets, hashes = arrays_of(lopsided(random, 400))
    weights = (1 + hashes % 7 + random.integers(0, 2, len(hashes))) / 7 if weighted else None
    arrays = offsets, hashes, weights
    a, b = np.nonzero(~np.eye(400, dtype=np.bool_))
    if measure == "containment":
        a, b = a[a < b], b[a < b]
    near = set_join.similarities(*arrays, a, b, measure=measure)
    expected = near >= threshold
    assert expected.sum() > (0 if weighted and threshold == 1 else 50)
    for threads in (1, 3):
        limits = {"measure": measure, "threshold": threshold, "threads": threads}
        found = set_join.join_similar(*arrays, **limits)
        np.testing.assert_array_equal(found.a, a[expected])
        np.testing.assert_array_equal(found.b, b[expected])
        np.testing.assert_array_equal(found.similarity, near[expected])
        left = offsets[:151], hashes, weights
        right = offsets[150:], hashes, weights
        between = set_join.join_similar(*left, right=right, **limits)
        across = expected & (a < 150) & (b >= 150)
        np.testing.assert_array_equal(between.a, a[across])
        np.testing.assert_array_equal(between.b, b[across] - 150)
    assert found.compared < len(a) / 4


@pytest.mark.parametrize("measure", MEASURES)
def test_any_shared_feature_leaves_a_document_possible(measure: str) -> None:
    """A document of thousands of its own features can contain a short one."""
    random = np.random.default_rng(6)
    large = np.unique(random.integers(0, 2**63, 5000).astype(np.uint64))
    offsets, hashes = arrays_of([large, large[10:13], np.unique(large[:1] + np.uint64(1))])
    arrays = offsets, hashes, None
    possible = np.ones(3, np.bool_)
    partners = set_join.PossiblePartners(5004, measure=measure, threshold=0.8)
    partners.see(arrays, possible)
    partners.keep_possible(arrays, possible)
    assert possible[:2].all()
    found = set_join.join_similar(*arrays, measure=measure, threshold=0.8)
    assert found.similarity.tolist() == [1.0]
    assert {int(found.a[0]), int(found.b[0])} == {0, 1}
    assert measure == "containment" or found.a.tolist() == [1]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["any", "largest", "smallest"])
@pytest.mark.parametrize("threads", [1, 3])
def test_stars(measure: str, weighted: bool, order: str, threads: int) -> None:
    """Each document goes for the kept one that has the largest part of it, or of which it has."""
    random = np.random.default_rng(7)
    offsets, hashes = arrays_of(lopsided(random, 350))
    weights = (1 + hashes % 7 + random.integers(0, 2, len(hashes))) / 7 if weighted else None
    sizes = np.diff(offsets)
    places = {
        "any": random.permutation(350),
        "largest": np.argsort(-sizes, kind="stable"),
        "smallest": np.argsort(sizes, kind="stable"),
    }[order]
    a, b = (side.ravel() for side in np.indices((350, 350)))
    near = set_join.similarities(offsets, hashes, weights, a, b, measure=measure)
    truth = near.reshape(350, 350)
    for threshold in (0.5, 0.8):
        kept: list[int] = []
        expected = np.arange(350)
        for place in places.tolist():
            best = max(kept, key=lambda one: truth[place, one], default=place)
            if best != place and truth[place, best] >= threshold:
                expected[place] = best
            else:
                kept.append(place)
        assert 20 < len(kept) < 330
        for memory in (200_000, 1 << 30):
            features = StoredFeatures(weighted=weighted)
            features.add((offsets, hashes, weights))
            counts = DocumentCounts(len(hashes), 1 << 20)
            counts.see((offsets, hashes, weights), np.ones(350, np.bool_), threads=threads)
            limits = {"measure": measure, "threshold": threshold}
            join = StarJoin(features, counts, **limits, features=len(hashes), memory=memory)
            known, rest = Decisions.none(np.arange(350)), places
            while len(rest):
                rest = rest[join.decide(rest, known, threads=threads) :]
                join.look_up(rest, known, threads=threads)
                join.clear()
            np.testing.assert_array_equal(known.kept_for, expected)
            removed = np.flatnonzero(expected != np.arange(350))
            np.testing.assert_array_equal(
                known.similarity[removed], truth[removed, expected[removed]]
            )

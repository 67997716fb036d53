"""Similarities equal the twin's to the last bit, and the join finds every pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.kernels.set_join_documents import collections, packed, planted

from neardup.kernels import set_join
from neardup.kernels.reference import set_join as twin
from neardup.pairs.similarity import containment, cosine, inclusion, jaccard, weighted_jaccard

MEASURES = ["jaccard", "weighted-jaccard", "cosine", "containment", "inclusion"]
# Many pairs have exactly one of these similarities.
THRESHOLDS = [1e-9, 0.2, 1 / 3, 0.5, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1 - 2**-53, 1.0]


def lists(pairs):
    assert (pairs.a.dtype, pairs.b.dtype) == (np.int64, np.int64)
    assert pairs.similarity.dtype == np.float64
    return list(zip(pairs.a.tolist(), pairs.b.tolist(), pairs.similarity.tolist(), strict=True))


@st.composite
def measured(draw):
    """A collection as arrays, the measure for it, and whether it has weights."""
    measure = draw(st.sampled_from(MEASURES))
    weighted = measure != "jaccard" and draw(st.booleans())
    documents = draw(collections(weighted))
    offsets, hashes, weights = packed(documents)
    return documents, (offsets, hashes, weights if weighted else None), measure


def both_sides(arrays, at):
    """The documents before `at` and from `at` on, sharing the memory of the features."""
    offsets, hashes, weights = arrays
    return (offsets[: at + 1], hashes, weights), (offsets[at:], hashes, weights)


def similarities(kernels, arrays, a, b, **options):
    offsets, hashes, weights = arrays
    return kernels.similarities(offsets, hashes, weights, a, b, **options)


@settings(max_examples=120)
@given(measured())
def test_similarities_are_those_of_the_twin_and_of_verify(drawn):
    documents, arrays, measure = drawn
    a, b = (places.ravel() for places in np.indices((len(documents), len(documents))))
    found = similarities(set_join, arrays, a, b, measure=measure)
    assert found.dtype == np.float64
    expected = similarities(twin, arrays, a, b, measure=measure)
    assert found.tolist() == expected.tolist()
    for threads in (2, 3):
        again = similarities(set_join, arrays, a, b, measure=measure, threads=threads)
        assert again.tolist() == expected.tolist()
    slow: dict[str, Any] = {
        "jaccard": lambda x, y: jaccard(x.keys(), y.keys()),
        "cosine": cosine,
        "containment": containment,
        "inclusion": inclusion,
    }
    told = slow.get(measure, weighted_jaccard)
    assert [told(x, y) for x in documents for y in documents] == expected.tolist()


@settings(max_examples=120)
@given(measured(), st.floats(0, 1))
def test_similarities_between_two_collections(drawn, share):
    documents, arrays, measure = drawn
    at = int(share * len(documents))
    left, right = both_sides(arrays, at)
    a, b = (places.ravel() for places in np.indices((at, len(documents) - at)))
    found = similarities(set_join, left, a, b, measure=measure, right=right)
    expected = similarities(set_join, arrays, a, b + at, measure=measure)
    assert found.tolist() == expected.tolist()


@settings(max_examples=250)
@given(measured(), st.one_of(st.sampled_from(THRESHOLDS), st.floats(1e-6, 1)))
def test_join(drawn, threshold):
    _, arrays, measure = drawn
    limits = {"measure": measure, "threshold": threshold}
    expected = twin.join_similar(*arrays, **limits)
    found = set_join.join_similar(*arrays, **limits)
    assert lists(found) == lists(expected)
    assert len(found) <= found.compared <= expected.compared
    predicted = set_join.predict_similar(*arrays, **limits)
    assert found.compared <= predicted
    assert predicted <= twin.predict_similar(*arrays, **limits)
    assert lists(set_join.join_similar(*arrays, most_postings=predicted, **limits)) == lists(found)
    if predicted:
        with pytest.raises(set_join.TooManyPostingsError, match=str(predicted)):
            set_join.join_similar(*arrays, most_postings=predicted - 1, **limits)


@settings(max_examples=150)
@given(measured(), st.sampled_from(THRESHOLDS), st.floats(0, 1), st.booleans(), st.data())
def test_documents_of_pairs_stay_possible(drawn, threshold, share, two, data):
    documents, arrays, measure = drawn
    limits = {"measure": measure, "threshold": threshold}
    at = int(share * len(documents))
    flags = st.lists(st.booleans(), min_size=len(documents), max_size=len(documents))
    before = np.array(data.draw(flags), np.bool_)
    parts = list(zip(both_sides(arrays, at), (slice(0, at), slice(at, None)), strict=True))
    partners = set_join.PossiblePartners(30, two=two, threads=2, **limits)
    for number, (part, where) in enumerate(parts):
        partners.see(part, before[where], right=two and number > 0)
    after = before.copy()
    for part, where in parts:
        partners.keep_possible(part, after[where])
    assert not np.any(after & ~before)
    pairs = twin.join_similar(*arrays, **limits)
    counts = before[pairs.a] & before[pairs.b]
    if two:
        counts &= (pairs.a < at) & (pairs.b >= at)
    assert after[pairs.a[counts]].all()
    assert after[pairs.b[counts]].all()


def test_documents_that_share_too_little_are_impossible():
    random = np.random.default_rng(7)
    documents = [np.sort(random.integers(0, 2**63, 50)).astype(np.uint64) for _ in range(200)]
    documents[7] = np.sort(np.concatenate((documents[3][:45], documents[7][:5])))
    arrays = np.arange(0, 50 * 201, 50), np.concatenate(documents), None
    possible = np.ones(200, np.bool_)
    partners = set_join.PossiblePartners(10_000, measure="jaccard", threshold=0.8)
    partners.see(arrays, possible)
    partners.keep_possible(arrays, possible)
    assert np.flatnonzero(possible).tolist() == [3, 7]


@settings(max_examples=120)
@given(measured(), st.data())
def test_join_at_a_similarity_that_is_there(drawn, data):
    """The threshold is the similarity of a pair, or the next double above it."""
    _, arrays, measure = drawn
    every = twin.join_similar(*arrays, measure=measure, threshold=1e-300)
    if not len(every):
        return
    threshold = data.draw(st.sampled_from(every.similarity.tolist()))
    threshold = data.draw(st.sampled_from([threshold, min(np.nextafter(threshold, 2.0), 1.0)]))
    expected = [pair for pair in lists(every) if pair[2] >= threshold]
    for threads in (1, 2, 3):
        found = set_join.join_similar(
            *arrays, measure=measure, threshold=threshold, threads=threads
        )
        assert lists(found) == expected


@settings(max_examples=120)
@given(measured(), st.floats(0, 1), st.sampled_from(THRESHOLDS))
def test_join_between_two_collections(drawn, share, threshold):
    documents, arrays, measure = drawn
    left, right = both_sides(arrays, int(share * len(documents)))
    limits = {"measure": measure, "threshold": threshold, "right": right}
    expected = twin.join_similar(*left, **limits)
    found = set_join.join_similar(*left, **limits)
    assert lists(found) == lists(expected)
    assert found.compared <= set_join.predict_similar(*left, **limits)
    assert set_join.predict_similar(*left, **limits) <= twin.predict_similar(*left, **limits)


def every_pair(arrays, measure, threshold):
    """All pairs by the kernel that compares given pairs: tested above, and fast enough."""
    count = len(arrays[0]) - 1
    a, b = np.triu_indices(count, 1)
    if measure == "inclusion":
        a, b = np.nonzero(~np.eye(count, dtype=np.bool_))
    found = similarities(set_join, arrays, a, b, measure=measure, threads=2)
    near = found >= threshold
    return list(zip(a[near].tolist(), b[near].tolist(), found[near].tolist(), strict=True))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("pool", [None, 3000])
def test_planted_documents_on_any_number_of_threads(measure, weighted, pool):
    """Enough documents for several tasks, with rare features, or some that nearly all have."""
    if weighted and measure == "jaccard":
        pytest.skip("jaccard takes no weights")
    random = np.random.default_rng(7)
    offsets, hashes = planted(random, 1000, 60, 0.4, 25, pool)
    # A feature has about the same weight in all documents.
    weights = (1 + hashes % 7 + random.integers(0, 2, len(hashes))) / 7 if weighted else None
    arrays = offsets, hashes, weights
    half = 450
    left, right = both_sides(arrays, half)
    for threshold in (0.3, 0.6, 0.8, 1.0):
        expected = every_pair(arrays, measure, threshold)
        assert threshold == 1.0 or len(expected) > 40
        between = [(a, b - half, near) for a, b, near in expected if a < half <= b]
        compared = set()
        for threads in (1, 2, 3):
            limits = {"measure": measure, "threshold": threshold, "threads": threads}
            found = set_join.join_similar(*arrays, **limits)
            assert lists(found) == expected
            compared.add(found.compared)
            assert lists(set_join.join_similar(*left, right=right, **limits)) == between
        assert len(compared) == 1


def tight(random, pairs):
    """Pairs that share all of their frequent features in proportion, and none of the rare ones.

    What they can share by the bounds on their rests is then exactly what they share. Others have
    the rare features too, so that these are ranked.
    """
    pool, documents = random.integers(0, 2**64, 200, dtype=np.uint64), []
    for _ in range(pairs):
        common = random.choice(pool, int(random.integers(20, 90)), replace=False)
        weights = random.integers(1, 9, len(common)) * random.choice([0.1, 1.0, 1 / 3])
        for factor in (1.0, random.choice([1.0, 3.0])):
            rare = random.integers(0, 2**64, int(random.integers(1, 12)), dtype=np.uint64)
            alone = dict.fromkeys(rare.tolist(), float(random.random()) * factor)
            documents.append(dict(zip(common.tolist(), factor * weights, strict=True)) | alone)
            documents.append(dict.fromkeys(rare.tolist(), 1.0))
    return documents


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_that_are_reached_exactly(measure, weighted):
    """The threshold is the similarity of a pair whose bounds leave no room at all."""
    if weighted and measure == "jaccard":
        pytest.skip("jaccard takes no weights")
    random = np.random.default_rng(11)
    offsets, hashes, weights = packed(tight(random, 30))
    arrays = offsets, hashes, weights if weighted else None
    every = every_pair(arrays, measure, 1e-300)
    planned = [near for a, b, near in every if a % 4 == 0 and b == a + 2]
    assert len(planned) == 30
    for near in planned:
        for threshold in (near, min(np.nextafter(near, 2.0), 1.0)):
            found = set_join.join_similar(*arrays, measure=measure, threshold=threshold)
            assert lists(found) == [pair for pair in every if pair[2] >= threshold]


def test_boilerplate_makes_no_pairs_to_look_at():
    """Time stays nearly linear for documents that share only fifty features."""
    random = np.random.default_rng(1)
    boilerplate = random.integers(0, 2**64, 50, dtype=np.uint64)
    documents = [
        np.unique(np.concatenate([boilerplate, random.integers(0, 2**64, own, dtype=np.uint64)]))
        for own in random.integers(7, 40, 3000)
    ]
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    arrays = offsets, np.concatenate(documents), None
    limits = {"measure": "jaccard", "threshold": 0.8}
    assert set_join.predict_similar(*arrays, **limits) < 30_000
    assert len(set_join.join_similar(*arrays, **limits)) == 0


@settings(max_examples=120)
@given(st.data())
def test_components(data):
    n = data.draw(st.integers(0, 30))
    place = st.integers(0, max(n - 1, 0))
    pairs = data.draw(st.lists(st.tuples(place, place), max_size=40 if n else 0))
    a, b = np.array(pairs, np.int64).reshape(-1, 2).T
    found = set_join.components(n, a, b)
    assert found.dtype == np.int64
    assert found.tolist() == twin.components(n, a, b).tolist()


@pytest.mark.parametrize("order", [1, -1])
def test_components_of_a_long_chain(order):
    places = np.arange(200_000, dtype=np.int64)[::order].copy()
    assert not set_join.components(len(places), places[:-1], places[1:]).any()

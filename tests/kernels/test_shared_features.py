"""Features that documents share: the kernels equal their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from neardup.errors import NeardupError
from neardup.kernels import shared_features as native
from neardup.kernels.reference import shared_features as twin

# Hashes of few buckets and few values, and any.
hashes = st.integers(0, 2**64 - 1) | st.tuples(st.integers(0, 3), st.integers(0, 3)).map(
    lambda both: both[0] << 62 | both[1] << 40
)
widths = st.integers(1, 6)


def array(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint64)


@given(st.lists(hashes, max_size=60), widths)
def test_buckets_equal_those_of_the_twin(some, width):
    sizes, values = native.to_buckets(array(some), width)
    expected_sizes, expected_values = twin.to_buckets(array(some), width)
    assert (sizes.dtype, values.dtype) == (expected_sizes.dtype, expected_values.dtype)
    assert np.array_equal(sizes, expected_sizes)
    assert np.array_equal(values, expected_values)


@given(st.lists(hashes, max_size=60))
def test_answers_come_back_to_their_hashes(some):
    # The byte after the bucket is asked, and answered as it is.
    _, values = native.to_buckets(array(some), 1)
    expected = [hash >> 40 & 255 for hash in some]
    assert native.from_buckets(array(some), values[:, 0]).tolist() == expected
    assert twin.from_buckets(array(some), values[:, 0]).tolist() == expected


@given(st.lists(st.lists(hashes, max_size=40), max_size=5), widths)
def test_frequencies_equal_those_of_the_twin(tasks, width):
    asked = [native.to_buckets(array(some), width) for some in tasks]
    found, expected = native.answer_frequencies(asked), twin.answer_frequencies(asked)
    assert [one.tolist() for one in found] == [one.tolist() for one in expected]


@pytest.mark.parametrize("distinct", [1, 100, 30_000, 2**60])
def test_frequencies_of_many_features(distinct):
    state = np.random.default_rng(distinct)
    values = state.integers(0, distinct, 100_000, np.uint64, endpoint=True) << np.uint64(3)
    asked = [native.to_buckets(part, 6) for part in np.split(values, [30_000, 30_001])]
    for found, expected in zip(
        native.answer_frequencies(asked), twin.answer_frequencies(asked), strict=True
    ):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("count", [1, 2, 127, 128, 143, 144, 255, 256, 300, 70_000])
def test_frequencies_of_many_documents_are_on_a_scale(count):
    (found,) = native.answer_frequencies([native.to_buckets(array([5 << 40] * count), 6)])
    assert set(found.tolist()) == {twin.frequency_of(count)}


def test_the_scale_never_falls_and_is_exact_for_rare_features():
    scale = [twin.frequency_of(count) for count in range(1 << 16)]
    assert scale[:128] == list(range(128))
    assert scale == sorted(scale)
    assert twin.frequency_of((1 << 32) - 1) == 255


documents = st.lists(
    st.lists(st.tuples(st.integers(1, 255), st.integers(1, 50)), max_size=20), max_size=8
)


@given(
    documents,
    st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.8, 1.0]),
    st.sampled_from(["none", "plain", "squared"]),
)
def test_first_features_equal_those_of_the_twin(some, share, weighted):
    every = [feature for document in some for feature in document]
    frequency = np.array([frequency for frequency, _ in every], np.uint8)
    given_weights = np.array([float(weight) for _, weight in every])
    offsets = np.cumsum([0, *map(len, some)])
    side = (
        offsets,
        np.arange(len(every), dtype=np.uint64),
        None if weighted == "none" else given_weights,
    )
    squared = weighted == "squared"
    found = native.first_features(side, frequency, share, squared=squared)
    expected = twin.first_features(side, frequency, share, squared=squared)
    assert [one.tolist() for one in found] == [one.tolist() for one in expected]


postings = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 12)), max_size=40
)


@given(postings, st.sampled_from([0.0, 0.5, 0.8, 1.0]), st.booleans())
def test_links_equal_those_of_the_twin(some, ratio, spread):
    # The size of a document is the same in all its postings.
    sizes = np.array([1.0 + document % 7 for _, _, document in some])
    values = array([value << 60 | more if spread else value for value, more, _ in some])
    places = np.array([document << 33 for _, _, document in some], np.int64)
    found = native.link_alike(values, sizes, places, ratio)
    expected = twin.link_alike(values, sizes, places, ratio)
    assert found.documents.tolist() == expected.documents.tolist()
    assert found.firsts.tolist() == expected.firsts.tolist()
    assert found.links == expected.links
    assert (places[found.postings] == found.documents).all()


def test_links_of_many_documents():
    """A chain through all documents, more than the first table of documents holds."""
    count = 50_000
    values = np.repeat(np.arange(count, dtype=np.uint64), 2)
    documents = np.minimum(values.astype(np.int64) + np.tile([0, 1], count), count - 1)
    found = native.link_alike(values, np.ones(2 * count), documents[::-1] * 7, 0.9)
    assert np.array_equal(found.documents, np.arange(count) * 7)
    assert not found.firsts.any()


def test_what_does_not_fit_together_is_refused():
    sizes, values = native.to_buckets(array([1, 2]), 2)
    with pytest.raises(NeardupError, match="width=7 must be from 1 to 6"):
        native.to_buckets(array([1]), 7)
    with pytest.raises(ValueError, match="the same buckets"):
        native.answer_frequencies([(sizes, values[:1])])
    with pytest.raises(ValueError, match="every hash needs its answer"):
        native.from_buckets(array([1, 2]), np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match="every feature needs its frequency"):
        native.first_features(
            (np.array([0, 2]), array([1, 2]), None), np.zeros(1, np.uint8), 0.5, squared=False
        )
    with pytest.raises(ValueError, match="every value needs its document"):
        native.link_alike(array([1, 2]), np.ones(1), np.zeros(2, np.int64), 0.5)

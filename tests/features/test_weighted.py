"""Weighted features: joining, selecting, and content keys."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from neardup import kernels
from neardup.features.spec import TextColumn
from neardup.features.weighted import WeightedFeatures, in_order, joined
from neardup.fingerprints import Scheme
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.hashes import hash_family
from neardup.kernels.reference import text as reference

DOCUMENTS = st.lists(
    st.dictionaries(st.integers(0, 2**64 - 1), st.floats(0.1, 9), max_size=5), max_size=6
)


def features_of(documents, weighted=True):
    rows = [sorted(document.items()) for document in documents]
    flat = [pair for row in rows for pair in row]
    return WeightedFeatures(
        np.cumsum([0, *map(len, rows)]).astype(np.int64),
        np.array([feature for feature, _ in flat], np.uint64),
        np.array([weight for _, weight in flat], np.float64) if weighted else None,
        np.array([len(row) for row in rows], np.uint32),
    )


def documents_of(features):
    weights = np.ones(len(features.hashes)) if features.weights is None else features.weights
    return [
        dict(zip(features.hashes[begin:end].tolist(), weights[begin:end].tolist(), strict=True))
        for begin, end in zip(features.offsets[:-1], features.offsets[1:], strict=True)
    ]


@given(DOCUMENTS, st.booleans())
def test_content_keys_are_equal_where_the_features_are(documents, weighted):
    documents = [*documents, *documents[:2]]
    keys = features_of(documents, weighted).content_keys().tolist()
    contents = documents if weighted else [set(document) for document in documents]
    for one, key in zip(contents, keys, strict=True):
        for other, other_key in zip(contents, keys, strict=True):
            assert (one == other) == (key == other_key)


@given(DOCUMENTS, st.booleans())
def test_content_keys_equal_their_twin(documents, weighted):
    keys = features_of(documents, weighted).content_keys()
    rows = [sorted(document.items()) for document in documents]
    assert [tuple(key) for key in keys.tolist()] == [
        reference.content_key(
            [feature for feature, _ in row], [weight for _, weight in row] if weighted else None
        )
        for row in rows
    ]


def test_documents_that_are_not_there_are_not_taken():
    features = features_of([{1: 1.0}, {2: 2.0}])
    for place in (-1, 2, 2**62):
        with pytest.raises(ValueError, match="no document"):
            features.take(np.array([place]))


def test_content_keys_refuse_what_lies_outside():
    hashes = np.arange(3, dtype=np.uint64)
    for offsets in ([], [0, 4], [-1, 2], [0, 2, 1]):
        with pytest.raises(ValueError, match=r"offset"):
            kernels.content_keys(np.array(offsets, np.int64), hashes)
    with pytest.raises(ValueError, match="weight"):
        kernels.content_keys(np.array([0, 3]), hashes, np.ones(2))


@given(DOCUMENTS, DOCUMENTS, st.booleans(), st.data())
def test_batches_are_joined_and_documents_taken(first, second, weighted, data):
    every = [*first, *second]
    if not weighted:
        every = [dict.fromkeys(document, 1.0) for document in every]
    together = joined([features_of(first, weighted), features_of(second, weighted)])
    assert documents_of(together) == every
    places = data.draw(st.lists(st.sampled_from(range(len(every))))) if every else []
    taken = together.take(np.array(places, np.int64))
    assert documents_of(taken) == [every[place] for place in places]
    assert taken.words.tolist() == [len(every[place]) for place in places]


def test_nothing_is_joined_to_nothing():
    assert len(joined([])) == 0
    assert joined([]).offsets.tolist() == [0]


def test_equal_features_become_one():
    found = in_order(
        np.array([0, 3, 3, 4]),
        np.array([9, 2, 9, 5], np.uint64),
        np.array([1.0, 2.0, 0.5, 1.0]),
        np.array([3, 0, 1], np.uint32),
    )
    assert documents_of(found) == [{2: 2.0, 9: 1.5}, {}, {5: 1.0}]


def test_fingerprints_of_features_are_those_of_the_text():
    texts = [TextColumn(pa.array(["to be or not to be", "", "one", "猫坐在垫子上"]))]
    for features, weights, bits in (("word:1", "set", 64), ("word:2+char:3", "count", 130)):
        fingerprinter = Fingerprinter(Scheme.of(features, weights, bits), hash_family("nd1"), 1)
        rows, _ = fingerprinter.rows(texts)
        assert (
            fingerprinter.rows_of_features(fingerprinter.features(texts)).tolist() == rows.tolist()
        )

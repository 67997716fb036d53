"""Features in a file are those that were in memory."""

import tempfile

import numpy as np
import pytest
from hypothesis import given, strategies as st

from neardup.collection.feature_store import FeatureStore
from neardup.errors import NeardupError
from neardup.features.weighted import WeightedFeatures

DOCUMENTS = st.lists(
    st.dictionaries(st.integers(0, 2**64 - 1), st.floats(0.5, 9), max_size=5), max_size=6
)


def features_of(documents, weighted=True):
    items = [item for document in documents for item in sorted(document.items())]
    sizes = [len(document) for document in documents]
    return WeightedFeatures(
        np.cumsum([0, *sizes]).astype(np.int64),
        np.array([key for key, _ in items], np.uint64),
        np.array([weight for _, weight in items]) if weighted else None,
        np.array(sizes, np.uint32),
    )


def plain(features):
    weights = None if features.weights is None else features.weights.tolist()
    return features.offsets.tolist(), features.hashes.tolist(), weights, features.words.tolist()


@given(st.lists(DOCUMENTS, max_size=5), st.booleans(), st.integers(0, 2000), st.data())
def test_parts_come_back_as_they_were(batches, weighted, memory, data):
    store = FeatureStore(memory)
    parts = [features_of(documents, weighted) for documents in batches]
    for part in parts:
        store.add(part)
    every = [document for documents in batches for document in documents]
    assert len(store) == len(every)
    assert store.sizes.tolist() == [len(document) for document in every]
    assert store.held_bytes <= memory
    if sum(part.nbytes for part in parts) <= memory:
        assert store.spilled_bytes == 0
    elif store.held_bytes == 0 and every:
        assert store.spilled_bytes > 0
    for _ in range(2):
        again = list(store.parts())
        assert [plain(part) for _, part in again] == [plain(part) for part in parts]
        assert [range(len(every))[where] for where, _ in again] == [
            range(len(every))[sum(map(len, parts[:i])) :][: len(part)]
            for i, part in enumerate(parts)
        ]
    places = sorted(data.draw(st.sets(st.sampled_from(range(len(every)))))) if every else []
    taken = store.take(np.array(places, np.int64))
    expected = features_of([every[place] for place in places], weighted and bool(places))
    assert plain(taken) == plain(expected)


def test_a_full_disk_is_said_in_a_sentence(monkeypatch):
    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(NeardupError, match="No space left on device; set TMPDIR"):
        FeatureStore(0).add(features_of([{1: 1.0}]))

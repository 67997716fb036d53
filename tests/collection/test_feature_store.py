"""Features in a file are those that were in memory."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from xxhash import xxh3_128

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


@given(st.lists(DOCUMENTS, max_size=5), st.booleans(), st.integers(0, 2000), st.integers(0, 2000))
def test_features_come_back_from_the_file_of_another_store(batches, weighted, before, now):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "features")
        store = FeatureStore(before, path)
        for documents in batches:
            store.add(features_of(documents, weighted))
        assert xxh3_128(path.read_bytes()).hexdigest() == store.checksum
        again = FeatureStore.stored(path, store.stored_parts(), now)
        assert again.held_bytes <= now
        assert again.weighted == store.weighted
        assert again.sizes.tolist() == store.sizes.tolist()
        assert FeatureStore.released(store.stored_parts()).sizes.tolist() == store.sizes.tolist()
        found, expected = (
            [(where, plain(part)) for where, part in one.parts()] for one in (again, store)
        )
        assert found == expected
        for one in (store, again):
            one.release()


def test_a_full_disk_is_said_in_a_sentence(monkeypatch):
    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(NeardupError, match="No space left on device; set TMPDIR"):
        FeatureStore(0).add(features_of([{1: 1.0}]))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is full")
@pytest.mark.parametrize("features", [1, 100_000])
def test_a_full_disk_is_noticed_at_the_first_byte(features):
    store = FeatureStore(0, Path("/dev/full"))
    with pytest.raises(NeardupError, match="No space left on device; make room on the disk"):
        store.add(features_of([dict.fromkeys(range(features), 1.0)]))

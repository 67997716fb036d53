"""Dense clusters of documents: order, copies, the other collection."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import neardup as nd
from neardup.cluster import dense


def drawn(seed, largest=60):
    random = np.random.default_rng(seed)
    count = int(random.integers(2, largest))
    a, b = np.triu_indices(count, 1)
    some = random.permutation(len(a))[: int(random.integers(1, 3 * count))]
    return random, count, a[some], b[some], random.uniform(0.5, 1, len(some))


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_pairs_does_not_matter(seed):
    print("seed", seed)
    random, count, a, b, similarity = drawn(seed)
    similarity = np.round(similarity, 1)  # many ties
    kinds = np.arange(count)
    found = dense(kinds, count, a, b, similarity, 0.3)
    for _ in range(3):
        order = random.permutation(len(a))
        again = dense(kinds, count, a[order], b[order], similarity[order], 0.3)
        assert again.tolist() == found.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_without_ties_the_order_of_documents_does_not_matter(seed):
    print("seed", seed)
    random, count, a, b, similarity = drawn(seed)
    found = dense(np.arange(count), count, a, b, similarity, 0.3)
    place = random.permutation(count)
    one, other = np.minimum(place[a], place[b]), np.maximum(place[a], place[b])
    moved = dense(np.arange(count), count, one, other, similarity, 0.3)[place]
    together = found[:, None] == found[None, :]
    assert (together == (moved[:, None] == moved[None, :])).all()


def test_copies_count_as_often_as_they_are_there():
    # 1 is similar to 0 and 2, which are not similar; 3 and 4 are copies of 0.
    a, b, similarity = np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.8])
    alone = dense(np.arange(3), 3, a, b, similarity, 0.5)
    assert alone.tolist() == [0, 0, 0]
    copied = dense(np.array([0, 1, 2, 0, 0]), 5, a, b, similarity, 0.5)
    assert copied[:3].tolist() == [0, 0, 2]  # 1 of 4 cross pairs


def test_the_other_collection_is_not_compared_with_itself():
    # 0 is similar to 1 and 2 of the other collection, of which nobody knows whether they are.
    a, b, similarity = np.array([0, 0]), np.array([1, 2]), np.array([0.9, 0.8])
    assert dense(np.arange(3), 1, a, b, similarity, 1.0).tolist() == [0, 0, 0]
    assert dense(np.arange(3), 3, a, b, similarity, 1.0).tolist() == [0, 0, 2]


@settings(max_examples=40)
@given(
    st.lists(st.text("abcd ", max_size=12), max_size=20),
    st.sampled_from([0.2, 0.4]),
    st.sampled_from(["dense", "dense:0.6"]),
)
def test_threads_and_the_way_to_search_do_not_matter(texts, threshold, cluster):
    chosen = {"features": "char:1", "threshold": threshold, "cluster": cluster}
    one = nd.dedup(texts, threads=1, **chosen)
    assert nd.dedup(texts, threads=4, **chosen).clusters.equals(one.clusters)
    every = nd.dedup(texts, threads=2, pairs="all", candidates="exact", **chosen)
    assert every.clusters.equals(one.clusters)


@settings(max_examples=40)
@given(st.lists(st.text("abcd ", max_size=12), max_size=20), st.sampled_from([0.2, 0.4, 0.7]))
def test_a_tiny_share_removes_what_components_remove(texts, threshold):
    chosen = {"features": "char:1", "threshold": threshold}
    found = nd.dedup(texts, cluster="dense:1e-9", **chosen)
    assert found.clusters.equals(nd.dedup(texts, cluster="components", **chosen).clusters)


@settings(max_examples=40)
@given(st.lists(st.text("abcd ", max_size=12), max_size=20), st.sampled_from([0.2, 0.4, 0.7]))
def test_a_share_of_one_proves_every_removal(texts, threshold):
    found = nd.dedup(texts, features="char:1", threshold=threshold, cluster="dense:1")
    assert found.summary["unproven"] == 0
    assert all(row["similarity"] >= threshold for row in found.removed.to_pylist())

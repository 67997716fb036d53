"""The kernel of dense clusters: as its twin, and what follows from the definition."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from neardup.errors import SettingError
from neardup.kernels import _native, set_join
from neardup.kernels.reference import set_join as twin

SHARES = st.sampled_from([1e-12, 0.07, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0])


@st.composite
def graphs(draw, largest=14):
    """Nodes that stand for documents, the pairs in the order they are taken, those apart."""
    count = draw(st.integers(0, largest))
    other = draw(st.integers(0, count))
    every = [(a, b) for a in range(count) for b in range(a + 1, count)]
    pairs = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    apart = draw(st.lists(st.sampled_from(every), max_size=4)) if every else []
    certain = draw(st.integers(0, len(pairs))) if draw(st.booleans()) else 0
    pairs[certain:] = [pair for pair in pairs[certain:] if pair[0] < other]
    turned = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    pairs = [pair[::-1] if turn else pair for pair, turn in zip(pairs, turned, strict=True)]
    sizes = draw(st.lists(st.sampled_from([1, 1, 1, 2, 7]), min_size=count, max_size=count))
    return {
        "documents": np.array(sizes, np.int64),
        "a": columns(pairs)[0],
        "b": columns(pairs)[1],
        "first_other": other,
        "certain": certain,
        "apart": columns(apart),
    }


def columns(pairs):
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


@settings(max_examples=400)
@given(graphs(), SHARES)
def test_as_the_twin(graph, share):
    found = set_join.dense_clusters(**graph, share=share)
    assert found.dtype == np.int64
    assert found.tolist() == twin.dense_clusters(**graph, share=share).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_as_the_twin_in_large_graphs(seed):
    """Clusters that grow, so that the table of edges is emptied and filled many times."""
    print("seed", seed)
    random = np.random.default_rng(seed)
    count = int(random.integers(40, 90))
    # Points on a line: near ones are pairs, so that clusters chain.
    at = np.sort(random.uniform(0, 1, count))
    a, b = np.triu_indices(count, 1)
    distance = np.abs(at[a] - at[b]) + random.uniform(0, 0.02, len(a))
    taken = np.argsort(distance, kind="stable")[: int(random.integers(50, 400))]
    sizes = random.integers(1, 4, count)
    for share in (0.01, 0.25, 0.5, 1.0):
        found = set_join.dense_clusters(sizes, a[taken], b[taken], share)
        assert found.tolist() == twin.dense_clusters(sizes, a[taken], b[taken], share).tolist()


@settings(max_examples=200)
@given(graphs())
def test_a_tiny_share_gives_connected_components(graph):
    graph |= {"apart": columns([])}
    found = set_join.dense_clusters(**graph, share=1e-15)
    expected = set_join.components(len(graph["documents"]), graph["a"], graph["b"])
    assert found.tolist() == expected.tolist()


@settings(max_examples=200)
@given(graphs())
def test_a_share_of_one_gives_cliques(graph):
    graph |= {"certain": 0, "first_other": len(graph["documents"])}
    found = set_join.dense_clusters(**graph, share=1.0)
    pairs = set(zip(graph["a"].tolist(), graph["b"].tolist(), strict=True))
    members = [np.flatnonzero(found == label).tolist() for label in np.unique(found)]
    for cluster in members:
        for one in cluster:
            for other in cluster:
                assert one == other or (one, other) in pairs or (other, one) in pairs


@settings(max_examples=200)
@given(graphs(), SHARES)
def test_a_node_is_as_good_as_its_documents(graph, share):
    """Copies that are joined beforehand count as they do within one node."""
    sizes = graph["documents"]
    graph |= {"certain": 0, "first_other": len(sizes), "apart": columns([])}
    begins = np.concatenate(([0], np.cumsum(sizes)))
    documents = [list(range(begins[node], begins[node + 1])) for node in range(len(sizes))]
    copies = [(one[0], other) for one in documents for other in one[1:]]
    copies += [(x, y) for one in documents for x in one[1:] for y in one if x < y]
    pairs = [
        (x, y)
        for a, b in zip(graph["a"].tolist(), graph["b"].tolist(), strict=True)
        for x in documents[a]
        for y in documents[b]
    ]
    a, b = columns(copies + pairs)
    every = set_join.dense_clusters(np.ones(begins[-1], np.int64), a, b, share, certain=len(copies))
    found = set_join.dense_clusters(**graph, share=share)
    assert every[begins[:-1]].tolist() == begins[:-1][found].tolist()


def test_many_pairs_of_one_chain_take_little_time():
    """Joined in the worst order for lists that are not handed over by their size."""
    count = 100_000
    places = np.arange(count, dtype=np.int64)
    hub = np.full(count - 1, count - 1)
    a = np.concatenate((places[:-1], places[:-2]))
    b = np.concatenate((hub, places[1:-1]))
    found = set_join.dense_clusters(np.ones(count, np.int64), a, b, 1e-9)
    assert not found.any()


def test_the_share_of_pairs_is_the_number_that_was_given():
    """7 of 100 cross pairs are a share of 0.07, although 0.07 * 100 > 7."""
    assert 0.07 * 100 > 7
    # One document beside a cluster of 7 and 93, of which it is similar to the 7.
    sizes, (a, b) = np.array([1, 7, 93]), columns([(1, 2), (0, 1)])
    assert set_join.dense_clusters(sizes, a, b, 0.07).tolist() == [0, 0, 0]
    assert set_join.dense_clusters(sizes, a, b, 0.0701).tolist() == [0, 1, 1]


PAIR = np.array([0]), np.array([1])
ONES = np.ones(3, np.int64)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"a": np.array([3])}, "a names"),
        ({"b": np.array([-1])}, "b names"),
        ({"b": np.array([0])}, "one document twice"),
        ({"a": np.array([0, 1]), "b": np.array([1, 0])}, "named twice"),
        ({"a": np.array([0, 1])}, "one length"),
        ({"share": 0.0}, "share"),
        ({"share": 1.5}, "share"),
        ({"share": float("nan")}, "share"),
        ({"documents": np.array([1, -1, 1])}, "negative"),
        ({"documents": np.array([1, 0, 1])}, "without documents"),
        ({"documents": np.array([1, 2**33, 1])}, "too large"),
        ({"documents": np.array([2**31, 2**31, 1])}, "too many"),
        ({"first_other": 0}, "within the other"),
        ({"apart": (np.array([4]), np.array([1]))}, "apart names"),
        ({"apart": (np.array([1]), np.array([1]))}, "one document twice"),
    ],
)
def test_wrong_arguments(given, sentence):
    arguments = {"documents": ONES, "a": PAIR[0], "b": PAIR[1], "share": 0.5, **given}
    with pytest.raises(SettingError, match=sentence):
        set_join.dense_clusters(**arguments)


@pytest.mark.parametrize("wrong", [[3], [-1], [2**62]])
def test_the_native_module_checks_every_place(wrong):
    none = np.zeros(0, np.int64)
    places = np.array(wrong)
    for a, b in ((places, PAIR[1]), (PAIR[0], places)):
        more = {"first_other": 3, "certain": 0}
        with pytest.raises(ValueError, match="not there"):
            _native.dense_clusters(ONES, a, b, 0.5, apart_a=none, apart_b=none, **more)
        with pytest.raises(ValueError, match="not there"):
            _native.dense_clusters(ONES, none, none, 0.5, apart_a=a, apart_b=b, **more)

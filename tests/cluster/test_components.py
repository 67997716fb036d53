import networkx as nx
import numpy as np
import pytest
from tests.cluster.random_graphs import collection

from neardup.cluster import components


def by_networkx(n, edges):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    found = [0] * n
    for members in nx.connected_components(graph):
        for member in members:
            found[member] = min(members)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_as_networkx_finds_them(seed):
    print("seed", seed)
    drawn = collection(seed, largest=300)
    assert components(drawn.n, drawn.a, drawn.b).tolist() == by_networkx(drawn.n, drawn.edges)


@pytest.mark.parametrize("seed", range(20))
def test_neither_the_order_nor_the_repetition_of_pairs_matters(seed):
    print("seed", seed)
    drawn = collection(seed)
    order = np.random.default_rng(seed).integers(0, max(len(drawn.a), 1), 3 * len(drawn.a))
    order = np.concatenate([order, np.arange(len(drawn.a))[::-1]]).astype(np.int64)
    found = components(drawn.n, drawn.b[order], drawn.a[order])
    assert found.tolist() == components(drawn.n, drawn.a, drawn.b).tolist()


def places(*values):
    return np.array(values, np.int64)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_without_pairs_everyone_is_alone(n):
    assert components(n, places(), places()).tolist() == list(range(n))


@pytest.mark.parametrize("n", [2, 3, 1000, 65537])
def test_a_long_chain_is_one_component(n):
    backwards = np.arange(n - 1)[::-1]
    assert not components(n, backwards, backwards + 1).any()


def test_a_star_around_the_last_document():
    n = 5000
    leaves = np.arange(1, n - 1)
    expected = [0, *[1] * (n - 1)]
    assert components(n, leaves, np.full(n - 2, n - 1)).tolist() == expected


def test_a_comb_whose_labels_zigzag():
    order = np.random.default_rng(3).permutation(20_000)
    assert not components(20_000, order[:-1], order[1:]).any()
    evens = np.arange(0, 20_000, 2)
    found = components(20_000, evens[:-1], evens[1:])
    assert (found[::2] == 0).all()
    assert (found[1::2] == np.arange(1, 20_000, 2)).all()

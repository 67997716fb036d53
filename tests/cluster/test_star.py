import networkx as nx
import numpy as np
import pytest
from tests.cluster.random_graphs import collection

from neardup.cluster import star


def as_it_is_told(n, edges, order):
    """Go through all in order; who is still there stays and removes its neighbours."""
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    found = {}
    for place in order:
        if place not in found:
            found[place] = place
            for near in graph[place]:
                found.setdefault(near, place)
    return [found[place] for place in range(n)]


@pytest.mark.parametrize("seed", range(100))
def test_greedy_by_order(seed):
    print("seed", seed)
    drawn = collection(seed, largest=120)
    order = np.random.default_rng(seed).permutation(drawn.n)
    found = star(drawn.a, drawn.b, order)
    assert found.tolist() == as_it_is_told(drawn.n, drawn.edges, order.tolist())
    kept = set(np.flatnonzero(found == np.arange(drawn.n)).tolist())
    graph = nx.Graph(drawn.edges)
    assert not graph.subgraph(kept).edges
    assert all(graph.has_edge(i, head) for i, head in enumerate(found.tolist()) if i != head)


def test_a_chain_loses_every_second_one():
    n = 70_001  # more pairs than are taken at a time
    found = star(np.arange(n - 1), np.arange(1, n), np.arange(n))
    assert found.tolist() == [place - place % 2 for place in range(n)]


def test_the_middle_of_a_chain_removes_both_ends_if_it_is_preferred():
    assert star(np.array([0, 1]), np.array([1, 2]), np.array([1, 0, 2])).tolist() == [1, 1, 1]


def test_nothing_to_do():
    none = np.array([], np.int64)
    assert star(none, none, none).tolist() == []
    assert star(none, none, np.array([1, 0])).tolist() == [0, 1]

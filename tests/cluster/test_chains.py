import networkx as nx
import numpy as np
import pytest
from tests.cluster.random_graphs import collection

from neardup.cluster import chains, components


@pytest.mark.parametrize("seed", range(60))
def test_shortest_chains_with_ties_to_the_first(seed):
    print("seed", seed)
    drawn = collection(seed, largest=80)
    random = np.random.default_rng(seed)
    labels = components(drawn.n, drawn.a, drawn.b)
    kept = np.unique([random.choice(np.flatnonzero(labels == label)) for label in set(labels)])
    if seed % 2:
        kept = np.unique(np.append(kept, random.integers(0, drawn.n, 3)))
    found = chains(drawn.n, drawn.a, drawn.b, kept)
    graph = nx.Graph()
    graph.add_nodes_from(range(drawn.n))
    graph.add_edges_from(drawn.edges)
    distance = nx.multi_source_dijkstra_path_length(graph, set(kept.tolist()))
    for place in range(drawn.n):
        if place in kept:
            assert (found.kept[place], found.next[place], found.pair[place]) == (place, -1, -1)
            continue
        nearer = [one for one in graph[place] if distance[one] == distance[place] - 1]
        assert found.next[place] == min(nearer)
        assert found.kept[place] == found.kept[min(nearer)]
        row = found.pair[place]
        assert {drawn.a[row], drawn.b[row]} == {place, min(nearer)}


def test_what_no_chain_connects_has_none():
    found = chains(3, np.array([0]), np.array([1]), np.array([0]))
    assert (found.kept.tolist(), found.next.tolist()) == ([0, 0, -1], [-1, 0, -1])
    nothing = np.zeros(0, np.int64)
    assert chains(0, nothing, nothing, nothing).next.tolist() == []


def test_a_long_chain():
    n = 5000
    found = chains(n, np.arange(n - 1), np.arange(1, n), np.array([0]))
    assert found.next.tolist() == list(range(-1, n - 1))
    assert not found.kept.any()

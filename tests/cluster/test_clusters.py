import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from tests.cluster.random_graphs import collection

from neardup.cluster import WAYS, Clusters, Copies, Pairs
from neardup.errors import SettingError

POLICIES = ["first", "longest", "shortest", "max:rank", "min:rank"]
NONE = np.array([], np.int64)


def whole_graph(drawn):
    """Every document with its copies and with all that these are similar to."""
    stands_for = drawn.stands_for()
    known = dict(zip(drawn.edges, drawn.similarity.tolist(), strict=True))
    graph = nx.Graph()
    graph.add_nodes_from(range(drawn.n))
    for one in range(drawn.n):
        for other in range(one + 1, drawn.n):
            kinds = tuple(sorted((stands_for[one], stands_for[other])))
            if kinds[0] == kinds[1]:
                graph.add_edge(one, other, similarity=1.0)
            elif kinds in known:
                graph.add_edge(one, other, similarity=known[kinds])
    return graph


def preferred(policy, drawn, ranks):
    key = {
        "first": lambda place: 0,
        "longest": lambda place: -drawn.lengths[place],
        "shortest": lambda place: drawn.lengths[place],
        "max:rank": lambda place: (ranks[place] is None, -(ranks[place] or 0)),
        "min:rank": lambda place: (ranks[place] is None, ranks[place] or 0),
    }[policy]
    return lambda place: (key(place), place)


def rows_as_told(graph, way, key):
    """The table by the rules, one document after the other."""
    kept_for = {}
    if way == "star":
        for place in sorted(graph, key=key):
            if place not in kept_for:
                kept_for[place] = place
                for near in graph[place]:
                    kept_for.setdefault(near, place)
    else:
        for members in nx.connected_components(graph):
            kept_for |= dict.fromkeys(members, min(members, key=key))
    heads = {}
    for place in graph:
        heads.setdefault(kept_for[place], []).append(place)
    rows = []
    for number, members in enumerate(members for members in heads.values() if len(members) > 1):
        for place in members:
            head = kept_for[place]
            pair = graph.get_edge_data(place, head) or {}
            kept = place == head
            rows.append((number, place, kept, None if kept else head, pair.get("similarity")))
    return rows


def clusters_of(drawn, **settings):
    return Clusters.of(
        drawn.n,
        Copies(drawn.members, drawn.representatives),
        Pairs(drawn.a, drawn.b, drawn.similarity),
        **settings,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(25))
def test_every_row_as_the_rules_tell(seed, policy, way):
    print("seed", seed)
    drawn = collection(seed)
    random = np.random.default_rng(seed)
    ranks = [None if random.random() < 0.2 else int(random.integers(4)) for _ in range(drawn.n)]
    found = clusters_of(
        drawn,
        way=way,
        policy=policy,
        lengths=drawn.lengths,
        values=pa.array(ranks, pa.int64()),
    )
    rows = rows_as_told(whole_graph(drawn), way, preferred(policy, drawn, ranks))
    assert [tuple(row.values()) for row in found.table().to_pylist()] == rows
    assert len(found) == len({row[0] for row in rows})
    assert found.removed.tolist() == sorted(row[1] for row in rows if not row[2])
    assert found.sizes.sum() == len(rows)


def test_a_chain_is_one_cluster_or_two_stars():
    chain = Pairs(np.array([1, 2, 3]), np.array([2, 3, 4]), np.array([0.9, 0.85, 0.8]))
    together = Clusters.of(6, Copies(NONE, NONE), chain).table()
    assert together.to_pydict() == {
        "cluster": [0, 0, 0, 0],
        "id": [1, 2, 3, 4],
        "kept": [True, False, False, False],
        "duplicate_of": [None, 1, 1, 1],
        "similarity": [None, 0.9, None, None],
    }
    stars = Clusters.of(6, Copies(NONE, NONE), chain, way="star").table()
    assert stars.to_pydict() == {
        "cluster": [0, 0, 1, 1],
        "id": [1, 2, 3, 4],
        "kept": [True, False, True, False],
        "duplicate_of": [None, 1, None, 3],
        "similarity": [None, 0.9, None, 0.8],
    }


def test_a_copy_of_the_kept_document_is_kept_where_the_policy_likes_it_better():
    copies = Copies(np.array([2]), np.array([0]))
    pairs = Pairs(np.array([0]), np.array([1]), np.array([0.9]))
    for way in WAYS:
        found = Clusters.of(
            3, copies, pairs, way=way, policy="longest", lengths=np.array([5, 5, 6])
        )
        assert found.table().to_pydict() == {
            "cluster": [0, 0, 0],
            "id": [0, 1, 2],
            "kept": [False, False, True],
            "duplicate_of": [2, 2, None],
            "similarity": [1.0, 0.9, None],
        }


def test_ids_take_the_place_of_places():
    ids = pa.array(["x", "y", "z"])
    found = Clusters.of(3, Copies(np.array([2]), np.array([1])), Pairs(NONE, NONE, np.array([])))
    table = found.table(ids)
    assert table["id"].to_pylist() == ["y", "z"]
    assert table["duplicate_of"].to_pylist() == [None, "y"]


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("way", WAYS)
def test_without_copies_and_pairs_the_table_is_empty(n, way):
    found = Clusters.of(n, Copies(NONE, NONE), Pairs(NONE, NONE, np.array([])), way=way)
    table = found.table()
    assert (len(found), table.num_rows) == (0, 0)
    assert table.schema.names == ["cluster", "id", "kept", "duplicate_of", "similarity"]
    assert [str(kind) for kind in table.schema.types] == [
        "int64",
        "int64",
        "bool",
        "int64",
        "double",
    ]
    assert found.sizes.tolist() == []


def test_a_representative_listed_as_its_own_member_is_no_cluster():
    own = np.array([0, 1])
    assert len(Clusters.of(2, Copies(own, own), Pairs(NONE, NONE, np.array([])))) == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_giant_group_has_a_row_for_each_member(way):
    n = 200_000
    copies = Copies(np.arange(1, n), np.zeros(n - 1, np.int64))
    found = Clusters.of(n + 10, copies, Pairs(NONE, NONE, np.array([])), way=way)
    assert len(found.place) == n
    assert found.table()["similarity"].null_count == 1
    assert len(found.removed) == n - 1


def test_an_unknown_way():
    with pytest.raises(SettingError, match="cluster='chain' is unknown; choose components or star"):
        Clusters.of(0, Copies(NONE, NONE), Pairs(NONE, NONE, np.array([])), way="chain")

import numpy as np
import pyarrow as pa
import pytest
from tests.cluster.random_graphs import stars

from neardup.cluster import Clusters, KeepPolicy

NAN = float("nan")
COLUMNS = ["cluster", "id", "kept", "duplicate_of", "similarity"]


def of(kept_for, similarity, **more):
    return Clusters.of(np.array(kept_for, np.int64), np.array(similarity, float), **more)


def rows_as_told(kept_for, similarity, policy="first"):
    """The table by the rules, one document after the other."""
    heads = {}
    for place, head in enumerate(kept_for):
        heads.setdefault(head, []).append(place)
    rows = []
    clusters = [(head, members) for head, members in heads.items() if {*members, head} != {head}]
    clusters.sort(key=lambda cluster: min(cluster[1]))
    for number, (head, members) in enumerate(clusters):
        others = [place for place in members if place != head]
        most = {"first": 1, "none": 0}[policy] if policy in ("first", "none") else int(policy[-1])
        kept = [head, *others][:most]
        for place in members:
            if place in kept:
                rows.append((number, place, True, None, None))
            elif place == head:
                best = max(others, key=lambda other: (similarity[other], -other))
                rows.append((number, place, False, best, similarity[best]))
            else:
                rows.append((number, place, False, head, similarity[place]))
    return rows


@pytest.mark.parametrize("policy", ["first", "none", "each:1", "each:2", "each:4"])
@pytest.mark.parametrize("seed", range(40))
def test_every_row_as_the_rules_tell(seed, policy):
    print("seed", seed)
    kept_for, similarity = stars(seed, other=seed % 3)
    told = "first" if policy == "each:1" else policy
    rows = rows_as_told(kept_for.tolist(), similarity.tolist(), told)
    found = Clusters.of(kept_for, similarity, policy=KeepPolicy.parse(policy))
    assert [tuple(row.values()) for row in found.table().to_pylist()] == rows
    assert len(found) == len({row[0] for row in rows})
    assert found.removed.tolist() == sorted(row[1] for row in rows if not row[2])
    assert found.sizes.sum() == len(rows)
    copies = found.copies()
    gone = {row[1]: row[3] for row in rows if not row[2]}
    for place in range(len(kept_for)):
        expected = 0 if place in gone else 1 + sum(head == place for head in gone.values())
        assert copies[place] == expected


def test_a_cluster_around_a_document_of_the_other_collection_has_removed_rows_only():
    found = of([0, 3, 3], [NAN, 0.9, 1.0])
    assert found.table().to_pydict() == {
        "cluster": [0, 0],
        "id": [1, 2],
        "kept": [False, False],
        "duplicate_of": [3, 3],
        "similarity": [0.9, 1.0],
    }
    assert found.copies().tolist() == [1, 0, 0]


def test_none_removes_the_middle_of_a_cluster_for_its_most_similar_member():
    found = of([0, 0, 0, 0], [NAN, 0.8, 0.9, 0.9], policy=KeepPolicy.parse("none"))
    assert found.kept_for.tolist() == [2, 0, 0, 0]
    assert found.similarity.tolist() == [0.9, 0.8, 0.9, 0.9]
    assert found.around.tolist() == [0, 0, 0, 0]


def test_each_counts_a_document_of_the_other_collection():
    found = of(
        [9, 9, 9] + [3] * 6, [0.8, 0.9, 1.0, NAN] + [0.9] * 5, policy=KeepPolicy.parse("each:2")
    )
    assert found.removed.tolist() == [1, 2, 5, 6, 7, 8]


def test_chains_are_shown_by_via():
    via, link = np.array([0, 0, 1]), np.array([NAN, 0.9, 0.85])
    found = of([0, 0, 0], [NAN, 0.9, 0.5], via=via, link=link)
    assert found.table().to_pydict() == {
        "cluster": [0, 0, 0],
        "id": [0, 1, 2],
        "kept": [True, False, False],
        "duplicate_of": [None, 0, 0],
        "similarity": [None, 0.9, 0.5],
        "via": [None, 0, 1],
    }
    none = of([0, 0, 0], [NAN, 0.8, 0.9], via=via, link=link, policy=KeepPolicy.parse("none"))
    assert none.kept_for.tolist() == [1, 0, 0]  # the one with a pair, not the end of the chain
    assert none.via.tolist() == [1, 0, 1]
    each = of([0, 0, 0], [NAN, 0.8, 0.5], via=via, link=link, policy=KeepPolicy.parse("each:2"))
    assert each.table()["via"].to_pylist() == [None, None, 1]


def test_ids_take_the_place_of_places():
    table = of([0, 1, 1], [NAN, NAN, 1.0]).table(pa.array(["x", "y", "z"]))
    assert table["id"].to_pylist() == ["y", "z"]
    assert table["duplicate_of"].to_pylist() == [None, "y"]


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("policy", ["first", "none", "each:3"])
def test_without_removals_the_table_is_empty(n, policy):
    found = of(range(n), [NAN] * n, policy=KeepPolicy.parse(policy))
    table = found.table()
    assert (len(found), table.num_rows) == (0, 0)
    assert table.schema.names == COLUMNS
    assert [str(kind) for kind in table.schema.types] == [
        "int64",
        "int64",
        "bool",
        "int64",
        "double",
    ]
    assert found.sizes.tolist() == []
    assert found.copies().tolist() == [1] * n


def test_a_giant_cluster_has_a_row_for_each_member():
    n = 200_000
    similarity = np.ones(n)
    similarity[0] = NAN
    found = Clusters.of(np.zeros(n, np.int64), similarity)
    assert len(found.place) == n
    assert found.table()["similarity"].null_count == 1
    assert len(found.removed) == n - 1
    assert found.copies()[0] == n

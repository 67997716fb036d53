"""Every removal is proven: stars and components against their definitions, by brute force."""

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from tests.deduplication.brute_force import compared, dense, keep_order, stars

import neardup as nd

# Documents of few different words: most have near-duplicates, and many form chains.
DOCUMENTS = st.lists(
    st.lists(st.sampled_from("abcdefg"), max_size=7).map(" ".join), min_size=1, max_size=9
)
POLICIES = st.sampled_from(["first", "longest", "shortest", "max:rank", "min:rank"])
RECIPES = {
    "jaccard": {"features": "word:1"},
    "weighted-jaccard": {"features": "word:1", "weights": "count"},
    "cosine": {"features": "word:1", "weights": "count"},
    "hamming": {"features": "word:1"},
}
THRESHOLDS: dict[str, list[float]] = {
    "jaccard": [0.3, 0.5, 0.6, 0.75, 1.0],
    "weighted-jaccard": [0.3, 0.5, 0.6, 0.75, 1.0],
    "cosine": [0.5, 0.7, 0.8, 0.9],
    "hamming": [0, 5, 12, 20],
}
ENGINES = [(measure, engine) for measure in RECIPES for engine in ("auto", "exact", "named")]
RANKS = st.none() | st.integers(0, 3)


def plan_by_name(measure, threshold):
    """A plan that may miss pairs, or for bits one that finds all."""
    return f"blocks:{threshold}" if measure == "hamming" else "bands:8x4"


def removed_by(result):
    return {
        row["id"]: (row["duplicate_of"], row["similarity"])
        for row in result.clusters.to_pylist()
        if not row["kept"]
    }


@pytest.mark.parametrize(("measure", "engine"), ENGINES)
@settings(max_examples=60)
@given(DOCUMENTS, POLICIES, st.data())
def test_every_removal_is_proven(measure, engine, texts, policy, data):
    if (measure, engine) == ("hamming", "exact"):
        engine = "all"
    threshold = data.draw(st.sampled_from(THRESHOLDS[measure]))
    ranks = data.draw(st.lists(RANKS, min_size=len(texts), max_size=len(texts)))
    table = pa.table({"text": texts, "rank": pa.array(ranks, pa.int64())})
    candidates = plan_by_name(measure, threshold) if engine == "named" else engine
    chosen = {"similarity": measure, "threshold": threshold, "candidates": candidates}
    result = nd.dedup(table, keep=policy, **chosen, **RECIPES[measure])
    truth = compared(texts, measure, **RECIPES[measure])
    near = truth.reach(threshold, measure)
    found = removed_by(result)
    for place, (kept, similarity) in found.items():
        assert kept not in found
        assert near[place, kept]
        assert similarity == truth.similarity[place, kept]
    if engine != "named" or measure == "hamming":
        expected = stars(keep_order(policy, texts, ranks), truth.similarity, near)
        assert {place: kept for place, (kept, _) in found.items()} == expected
        stay = [place for place in range(len(texts)) if place not in found]
        assert not any(near[one, other] for one in stay for other in stay if one != other)
    assert result.summary["unproven"] == 0
    assert result.summary["pairs"] == len(result.pairs) == len(found)
    evidence = {frozenset((row["a"], row["b"])): row for row in result.pairs.to_pylist()}
    for place, (kept, similarity) in found.items():
        row = evidence[frozenset((place, kept))]
        assert row["a"] < row["b"]
        assert row["similarity"] == similarity
        assert row["distance"] == truth.distance[place, kept]


@pytest.mark.parametrize("measure", RECIPES)
@settings(max_examples=40)
@given(DOCUMENTS, DOCUMENTS, st.booleans(), POLICIES, st.data())
def test_removals_against_another_collection(measure, texts, old, within, policy, data):
    threshold = data.draw(st.sampled_from(THRESHOLDS[measure]))
    ranks = data.draw(st.lists(RANKS, min_size=len(texts), max_size=len(texts)))
    table = pa.table({"text": texts, "rank": pa.array(ranks, pa.int64())})
    recipe = {"similarity": measure, "threshold": threshold, **RECIPES[measure]}
    result = nd.dedup(table, against=old, within=within, keep=policy, **recipe)
    n = len(texts)
    truth = compared([*texts, *old], measure, **RECIPES[measure])
    near = truth.reach(threshold, measure)
    others = range(n, n + len(old))
    order = keep_order(policy, texts, ranks)
    expected = stars(order, truth.similarity, near, others, within)
    clustering = result.clustering
    gone = ~clustering.kept
    found = dict(
        zip(clustering.place[gone].tolist(), clustering.kept_for[gone].tolist(), strict=True)
    )
    assert found == expected
    for place, similarity in zip(clustering.place[gone], clustering.similarity[gone], strict=True):
        assert similarity == truth.similarity[place, expected[int(place)]]
    assert len(result.pairs) == len(found)
    named = {row["id"]: row["duplicate_of"] for row in result.clusters.to_pylist()}
    for place, kept in found.items():
        assert named[place] == (kept if kept < n else kept - n)


SHARES = st.sampled_from([1e-9, 0.1, 0.25, 0.4, 0.5, 0.75, 1.0])


@pytest.mark.parametrize("measure", RECIPES)
@settings(max_examples=60)
@given(DOCUMENTS, POLICIES, st.none() | SHARES, st.data())
def test_components_tell_the_true_similarity_and_the_chain(measure, texts, policy, share, data):
    threshold = data.draw(st.sampled_from(THRESHOLDS[measure]))
    ranks = data.draw(st.lists(RANKS, min_size=len(texts), max_size=len(texts)))
    table = pa.table({"text": texts, "rank": pa.array(ranks, pa.int64())})
    recipe = {"similarity": measure, "threshold": threshold, **RECIPES[measure]}
    result = nd.dedup(table, keep=policy, cluster=named(share), **recipe)
    truth = compared(texts, measure, **RECIPES[measure])
    near = inside(result, truth, truth.reach(threshold, measure), share)
    check_components(result, truth, near, keep_order(policy, texts, ranks))


def named(share):
    return "components" if share is None else f"dense:{share}"


def inside(result, truth, near, share):
    """The pairs that count: all of them, or those inside dense clusters."""
    if share is None:
        return near
    cluster = dense(truth.similarity, near, len(result.both.left), result.both.kinds, share)
    return near & (cluster[:, None] == cluster[None, :])


def check_components(result, truth, near, order):
    graph = nx.Graph()
    graph.add_nodes_from(order)
    graph.add_edges_from((int(a), int(b)) for a, b in np.argwhere(near) if a != b)
    expected = {}
    for members in nx.connected_components(graph):
        kept = min(members, key=order.index)
        expected |= {place: kept for place in members if place != kept}
    rows = {row["id"]: row for row in result.clusters.to_pylist() if not row["kept"]}
    assert {place: row["duplicate_of"] for place, row in rows.items()} == expected
    pairs = {(row["a"], row["b"]): row for row in result.pairs.to_pylist()}
    unproven = 0
    for place, row in rows.items():
        kept, via = row["duplicate_of"], row["via"]
        assert row["similarity"] == truth.similarity[place, kept]
        assert near[place, via]
        assert (via == kept) == bool(near[place, kept])
        steps = nx.shortest_path_length(graph, place, kept)
        assert nx.shortest_path_length(graph, via, kept) == steps - 1
        unproven += not near[place, kept]
        pair = pairs[min(place, via), max(place, via)]
        assert pair["similarity"] == truth.similarity[place, via]
        assert pair["distance"] == truth.distance[place, via]
    assert result.summary["unproven"] == unproven


@settings(max_examples=120)
@given(DOCUMENTS, DOCUMENTS, st.sampled_from([0.3, 0.5, 0.75]), st.none() | SHARES)
def test_components_with_another_collection_and_within(texts, old, threshold, share):
    recipe = {"features": "word:1"}
    result = nd.dedup(
        texts, against=old, within=True, cluster=named(share), threshold=threshold, **recipe
    )
    n = len(texts)
    truth = compared([*texts, *old], "jaccard", **recipe)
    near = truth.reach(threshold, "jaccard")
    near = inside(result, truth, near, share)
    near[n:, n:] = False
    graph = nx.Graph()
    graph.add_nodes_from(range(n + len(old)))
    graph.add_edges_from((int(a), int(b)) for a, b in np.argwhere(near) if a != b)
    clustering = result.clustering
    found = {place: row for row, place in enumerate(clustering.place.tolist())}
    for members in nx.connected_components(graph):
        own = sorted(one for one in members if one < n)
        others = sorted(members - set(own))
        for place in own:
            if not others and (place == own[0] or len(own) == 1):
                assert place not in found or clustering.kept[found[place]]
                continue
            row = found[place]
            kept_for = int(clustering.kept_for[row])
            assert clustering.similarity[row] == truth.similarity[place, kept_for]
            if not others:
                assert kept_for == own[0]
                continue
            steps = {one: nx.shortest_path_length(graph, place, one) for one in others}
            assert steps[kept_for] == min(steps.values())


@settings(max_examples=60)
@given(
    DOCUMENTS,
    st.sampled_from([0.3, 0.5, 0.75]),
    st.sampled_from(["star", "components", "dense", "dense:0.5"]),
)
def test_policies_that_keep_none_or_several(texts, threshold, cluster):
    chosen = {"features": "word:1", "threshold": threshold, "cluster": cluster}
    first = nd.dedup(texts, **chosen)
    members = {}
    for row in first.clusters.to_pylist():
        members.setdefault(row["cluster"], []).append(row)
    none = nd.dedup(texts, keep="none", **chosen)
    assert set(removed_by(none)) == {row["id"] for row in first.clusters.to_pylist()}
    for rows in members.values():
        (head,) = (row["id"] for row in rows if row["kept"])
        others = {row["id"]: row["similarity"] for row in rows if not row["kept"]}
        partner, similarity = removed_by(none)[head]
        assert similarity == others[partner] == max(others.values())
        assert partner == min(one for one in others if others[one] == similarity)
        for one, value in others.items():
            assert removed_by(none)[one] == (head, value)
    assert len(none.pairs) == none.summary["removed"]
    two = nd.dedup(texts, keep="each:2", **chosen)
    gone = set()
    for rows in members.values():
        gone |= {row["id"] for row in rows[2:]}
    assert set(removed_by(two)) == gone
    assert two.summary["removed"] == len(gone) == len(two.pairs)


@settings(max_examples=40)
@given(
    DOCUMENTS, st.sampled_from(["star", "components", "dense", "dense:0.5"]), POLICIES, st.data()
)
def test_another_threshold_afterwards_is_one_beforehand(texts, cluster, policy, data):
    table = pa.table({"text": texts, "rank": pa.array([None] * len(texts), pa.int64())})
    chosen = {"features": "word:1", "cluster": cluster, "keep": policy}
    known = nd.dedup(table, threshold=0.6, floor=0.3, **chosen)
    threshold = data.draw(st.sampled_from([0.3, 0.5, 0.6, 0.75, 1.0]))
    again = known.rethreshold(threshold)
    fresh = nd.dedup(table, threshold=threshold, **chosen)
    assert again.clusters.equals(fresh.clusters)
    assert again.evidence.a.tolist() == fresh.evidence.a.tolist()
    assert again.evidence.distance.tolist() == fresh.evidence.distance.tolist()
    assert again.evidence.similarity.tolist() == fresh.evidence.similarity.tolist()
    assert again.pairs.equals(known.pairs)

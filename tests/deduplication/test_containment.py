"""Containment and inclusion: removals and lists of pairs against their definitions."""

import itertools

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from tests.deduplication.brute_force import compared, copies_together, keep_order, stars

import neardup as nd
from neardup.errors import SettingError
from neardup.evaluation.found import FoundByRun

ARTICLE = (
    "The quick brown fox jumps over the lazy dog and then runs away into the deep dark forest, "
    "where nobody can find it again tonight."
)
PAGE = (
    f"Home | News | About | Contact | Log in. {ARTICLE} More of our stories: a cat that sings, a "
    "horse that counts, and what the weather will be like in the mountains. Imprint, privacy, terms"
)
OTHER = "Something else entirely, with words that none of the other documents in this test has"

# Documents of few different words and very different lengths.
DOCUMENTS = st.lists(
    st.one_of(
        st.lists(st.sampled_from("abcdefghij"), max_size=4),
        st.lists(st.sampled_from("abcdefghij"), max_size=25),
    ).map(" ".join),
    min_size=1,
    max_size=10,
)
POLICIES = st.sampled_from(["first", "longest", "shortest", "max:rank", "min:rank"])
MEASURES = ["containment", "inclusion"]
RECIPES = [
    {"features": "word:1"},
    {"features": "word:1", "weights": "count"},
    {"features": "word:2", "weights": "tfidf"},
    {"features": "word:1", "weights": "idf"},
]
THRESHOLDS = st.sampled_from([0.3, 0.5, 2 / 3, 0.75, 0.8, 1.0])


def removed_by(result):
    return {
        row["id"]: (row["duplicate_of"], row["similarity"])
        for row in result.clusters.to_pylist()
        if not row["kept"]
    }


def order_of(result, policy, texts, ranks):
    """The keep order; by inclusion, copies stand together in it."""
    order = keep_order(policy, texts, ranks)
    if result.settings.similarity == "inclusion":
        return copies_together(order, result.both.kinds.tolist())
    return order


def ranked(texts, data):
    ranks = st.lists(st.none() | st.integers(0, 3), min_size=len(texts), max_size=len(texts))
    drawn = data.draw(ranks)
    return pa.table({"text": texts, "rank": pa.array(drawn, pa.int64())}), drawn


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.get("weights", "set"))
@settings(max_examples=40)
@given(DOCUMENTS, POLICIES, THRESHOLDS, st.sampled_from([1, 3]), st.data())
def test_every_removal_is_proven(measure, recipe, texts, policy, threshold, threads, data):
    """For inclusion, the truth is how much of the removed document the kept one has."""
    table, ranks = ranked(texts, data)
    chosen = {"similarity": measure, "threshold": threshold, "threads": threads, **recipe}
    result = nd.dedup(table, keep=policy, **chosen)
    truth = compared(texts, measure, **recipe)
    near = truth.reach(threshold, measure)
    order = order_of(result, policy, texts, ranks)
    found = removed_by(result)
    assert {one: kept for one, (kept, _) in found.items()} == stars(order, truth.similarity, near)
    for place, (kept, similarity) in found.items():
        assert kept not in found
        assert similarity == truth.similarity[place, kept] >= threshold
    stay = [place for place in order if place not in found]
    for turn, place in enumerate(stay):
        assert not any(near[place, kept] for kept in stay[:turn])


@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=60)
@given(DOCUMENTS, DOCUMENTS, st.booleans(), POLICIES, THRESHOLDS, st.data())
def test_removals_against_another_collection(measure, texts, old, within, policy, threshold, data):
    table, ranks = ranked(texts, data)
    recipe = {"features": "word:1", "similarity": measure}
    result = nd.dedup(table, against=old, within=within, keep=policy, threshold=threshold, **recipe)
    n = len(texts)
    truth = compared([*texts, *old], measure, features="word:1")
    near = truth.reach(threshold, measure)
    order, others = order_of(result, policy, texts, ranks), range(n, n + len(old))
    expected = stars(order, truth.similarity, near, others, within)
    rows, gone = result.clustering, ~result.clustering.kept
    found = zip(rows.place[gone].tolist(), rows.kept_for[gone].tolist(), strict=True)
    assert dict(found) == expected
    for place, similarity in zip(rows.place[gone].tolist(), rows.similarity[gone], strict=True):
        assert similarity == truth.similarity[place, expected[place]]


@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=60)
@given(DOCUMENTS, POLICIES, st.sampled_from([1, 2]), st.data())
def test_all_pairs_and_another_threshold(measure, texts, policy, threads, data):
    """A pair is listed by the part of the later document, in keep order, for inclusion."""
    table, ranks = ranked(texts, data)
    chosen = {"features": "word:1", "similarity": measure, "keep": policy, "threads": threads}
    known = nd.dedup(table, threshold=0.75, floor=0.3, **chosen)
    truth = compared(texts, measure, features="word:1")
    order = order_of(known, policy, texts, ranks)
    turn = {place: turn for turn, place in enumerate(order)}
    kinds = known.both.kinds
    firsts = sorted(set(kinds[kinds >= 0].tolist()))
    earliest = {kind: min(turn[p] for p in turn if kinds[p] == kind) for kind in firsts}
    expected = {}
    for a, b in itertools.combinations(firsts, 2):
        later, earlier = (a, b) if earliest[a] > earliest[b] else (b, a)
        if truth.similarity[later, earlier] >= 0.3:
            expected[a, b] = truth.similarity[later, earlier]
    listed = {(row["a"], row["b"]): row["similarity"] for row in known.pairs.to_pylist()}
    copies = {(a, b) for a, b in listed if kinds[a] == kinds[b]}
    assert {pair: listed[pair] for pair in listed.keys() - copies} == expected
    assert all(listed[pair] == 1 for pair in copies)
    for threshold in (0.3, 0.5, 1.0):
        again = known.rethreshold(threshold)
        assert again.clusters.equals(nd.dedup(table, threshold=threshold, **chosen).clusters)


@settings(max_examples=40)
@given(DOCUMENTS, DOCUMENTS, st.booleans())
def test_all_pairs_with_another_collection(texts, old, within):
    result = nd.dedup(
        texts,
        against=old,
        within=within,
        features="word:1",
        similarity="inclusion",
        threshold=0.5,
        pairs="all",
    )
    truth = compared([*texts, *old], "inclusion", features="word:1")
    batches = list(result.all_pairs.batches())
    found = {
        (a, b): similarity
        for batch in batches
        for a, b, similarity in zip(
            batch.a.tolist(), batch.b.tolist(), batch.similarity.tolist(), strict=True
        )
    }
    n, kinds = len(texts), result.both.kinds
    firsts = [place for place in range(n + len(old)) if kinds[place] == place]
    expected = {}
    for a, b in itertools.combinations(firsts, 2):
        later, earlier = (b, a) if b < n else (a, b)
        if a < n and (b >= n or within) and truth.similarity[later, earlier] >= 0.5:
            expected[a, b] = truth.similarity[later, earlier]
    assert found == expected


@settings(max_examples=60)
@given(DOCUMENTS, THRESHOLDS)
def test_components_of_containment(texts, threshold):
    chosen = {"features": "word:1", "similarity": "containment", "threshold": threshold}
    result = nd.dedup(texts, cluster="components", **chosen)
    near = compared(texts, "containment", features="word:1").reach(threshold, "containment")
    graph = nx.Graph()
    graph.add_nodes_from(range(len(texts)))
    graph.add_edges_from((int(a), int(b)) for a, b in np.argwhere(near) if a != b)
    expected = {
        place: min(members) for members in nx.connected_components(graph) for place in members
    }
    found = {place: kept for place, (kept, _) in removed_by(result).items()}
    assert found == {place: kept for place, kept in expected.items() if place != kept}
    dense = nd.dedup(texts, cluster="dense:1.0", **chosen)
    assert set(removed_by(dense)) <= set(found)


@settings(max_examples=60)
@given(DOCUMENTS, THRESHOLDS, st.sampled_from(RECIPES))
def test_exact_pairs(texts, threshold, recipe):
    for measure in MEASURES:
        found = nd.exact_pairs(texts, threshold, measure, **recipe).to_pylist()
        truth = compared(texts, measure, **recipe)
        near = truth.reach(threshold, measure)
        every = itertools.permutations if measure == "inclusion" else itertools.combinations
        expected = [
            {"a": a, "b": b, "similarity": truth.similarity[a, b]}
            for a, b in sorted(every(range(len(texts)), 2))
            if near[a, b]
        ]
        assert found == expected


@pytest.mark.parametrize("measure", MEASURES)
def test_an_article_inside_a_page_is_removed(measure):
    texts = [ARTICLE, OTHER, PAGE, "", ARTICLE, ""]
    result = nd.dedup(texts, similarity=measure, keep="longest")
    assert result.kept["text"].to_pylist() == [OTHER, PAGE, "", ""]
    assert removed_by(result) == {0: (2, 1.0), 4: (2, 1.0)}
    assert nd.dedup(texts, keep="longest").summary["removed"] == 1  # the copy


def test_in_the_order_of_the_input_inclusion_keeps_what_is_not_there_yet():
    """The page has more than the article: by inclusion it stays, by containment it goes."""
    assert removed_by(nd.dedup([ARTICLE, PAGE], similarity="inclusion")) == {}
    assert removed_by(nd.dedup([ARTICLE, PAGE], similarity="containment")) == {1: (0, 1.0)}
    assert removed_by(nd.dedup([PAGE, ARTICLE], similarity="inclusion")) == {1: (0, 1.0)}


@pytest.mark.parametrize("measure", MEASURES)
def test_chinese(measure):
    poem = "床前明月光疑是地上霜举头望明月低头思故乡"
    page = f"唐诗三百首 李白 静夜思 {poem} 这首诗写的是游子在寂静的月夜思念家乡的感受,历来广为传诵"
    result = nd.dedup([poem, page, "春眠不觉晓处处闻啼鸟"], similarity=measure, keep="longest")
    assert removed_by(result) == {0: (1, 1.0)}


@pytest.mark.parametrize("measure", MEASURES)
def test_a_threshold_that_is_reached_exactly(measure):
    """0.1 + 0.2 is not 0.3 as floats: the sums are exact, and so is what reaches the threshold."""
    a = {"x": 0.1, "y": 0.2, "z": 0.7}
    b = {"x": 0.1, "y": 0.2, "w": 5.0}
    chosen = {"features": "terms", "similarity": measure}
    (pair,) = nd.exact_pairs([a, b], 1e-9, **chosen).to_pylist()[:1]
    similarity = pair["similarity"]
    assert len(nd.exact_pairs([a, b], similarity, **chosen)) == 1
    assert len(nd.exact_pairs([a, b], float(np.nextafter(similarity, 1)), **chosen)) == 0
    words = [" ".join(f"w{i}" for i in range(10)), " ".join(f"w{i}" for i in range(8))]
    words[1] += " " + " ".join(f"v{i}" for i in range(40))
    found = nd.dedup(words, similarity=measure, features="word:1", keep="longest", threshold=0.8)
    assert removed_by(found) == {0: (1, 0.8)}


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"similarity": "inclusion", "cluster": "components"}, "use cluster='star'"),
        ({"similarity": "inclusion", "cluster": "dense"}, "similarity='containment'"),
        ({"similarity": "inclusion", "keep": "none"}, "use keep='first'"),
        ({"similarity": "containment", "candidates": "bands:8x8"}, "use auto or exact"),
        ({"similarity": "inclusion", "candidates": "blocks:3"}, "use auto or exact"),
    ],
)
def test_what_has_no_meaning_is_refused(chosen, message):
    with pytest.raises(SettingError, match=message):
        nd.dedup([ARTICLE, PAGE], **chosen)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_template_with_many_bodies_needs_no_list_of_pairs(measure):
    """Two million pairs, of which the search compares one for each removed document."""
    random = np.random.default_rng(3)
    template = [" ".join(f"t{i}" for i in range(start, start + 100)) for start in (0, 100)]
    texts = [
        " ".join((template[0], *(f"w{i}" for i in random.integers(0, 10**6, 15)), template[1]))
        for _ in range(2000)
    ]
    result = nd.dedup(texts, similarity=measure, keep="longest")
    assert result.summary["removed"] == 1999
    assert result.found.candidates < 10_000


@settings(max_examples=40)
@given(DOCUMENTS, DOCUMENTS, POLICIES.filter(lambda policy: ":" not in policy))
def test_an_evaluation_sees_inclusion_as_the_run_does(texts, old, policy):
    """Pairs that the run does not list are compared in its direction."""
    result = nd.dedup(
        texts, against=old, within=True, similarity="inclusion", features="word:1", keep=policy
    )
    n = len(texts)
    truth = compared([*texts, *old], "inclusion", features="word:1")
    order = order_of(result, policy, texts, [])
    kinds = result.both.kinds
    pairs = [
        (a, b)
        for a, b in itertools.combinations(range(n + len(old)), 2)
        if a < n and kinds[a] == a and kinds[b] == b
    ]
    if not pairs:
        return
    a, b = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    found = FoundByRun(result).similarities(a, b).values
    turns = {kind: min(order.index(p) for p in range(n) if kinds[p] == kind) for kind in a}
    for one, other, similarity in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        later, earlier = one, other
        if other < n and min(order.index(p) for p in range(n) if kinds[p] == other) > turns[one]:
            later, earlier = other, one
        assert similarity == truth.similarity[later, earlier]

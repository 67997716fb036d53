"""The default similarity is that of the weights, the same one in every command."""

import math
from collections import Counter

import pytest
from hypothesis import given, strategies as st
from tests.comparison.test_view import printed
from tests.lab.tune.test_tune import edited_texts

import neardup as nd
from neardup.comparison.view import ComparisonView
from neardup.deduplication.result import Result

SENTENCES = st.lists(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6).map(" ".join), max_size=10
)
BY_RARITY = [
    {"features": "word:1", "weights": "tfidf"},
    {"features": "word:1", "weights": "idf"},
    {"features": "word:1", "weights": "tfidf:lab"},
]


def weighed(texts, weights):
    """Each text as {word: weight}, by the formulas of the scheme page."""
    counts = [Counter(text.split()) for text in texts]
    frequencies = Counter(word for words in counts for word in words)
    rarity = {word: math.log(1 + len(texts) / n) for word, n in frequencies.items()}
    return [
        {word: rarity[word] * (n if weights == "tfidf" else 1) for word, n in words.items()}
        for words in counts
    ]


@given(SENTENCES, st.sampled_from(["tfidf", "idf"]))
def test_all_pairs_are_those_of_the_formula(texts, weights):
    documents = weighed(texts, weights)
    found = nd.exact_pairs(texts, 0.3, features="word:1", weights=weights).to_pylist()
    expected = {
        (a, b): nd.weighted_jaccard(documents[a], documents[b])
        for b in range(len(texts))
        for a in range(b)
    }
    near = {pair: value for pair, value in expected.items() if value >= 0.3}
    assert {(row["a"], row["b"]): row["similarity"] for row in found} == pytest.approx(near)


@pytest.mark.parametrize("settings", BY_RARITY, ids=lambda settings: settings["weights"])
def test_weights_by_rarity_are_compared_by_weighted_jaccard(settings, tmp_path):
    texts = edited_texts(40)
    result = nd.dedup(texts, threshold=0.5, pairs="all", **settings)
    assert result.summary["settings"]["similarity"] == "weighted-jaccard"
    chosen = nd.dedup(texts, threshold=0.5, pairs="all", similarity="weighted-jaccard", **settings)
    assert result.pairs == chosen.pairs
    assert len(result.pairs)
    everywhere = nd.exact_pairs(texts, 0.5, **settings)
    by_measure = nd.exact_pairs(texts, 0.5, "weighted-jaccard", **settings)
    assert everywhere == by_measure
    result.save(tmp_path / "out")
    assert Result.load(tmp_path / "out").settings.similarity == "weighted-jaccard"


@pytest.mark.parametrize("settings", BY_RARITY, ids=lambda settings: settings["weights"])
def test_tune_and_sweep_compare_by_weighted_jaccard(settings):
    texts = edited_texts(60)
    assert nd.tune(texts, threshold=0.5, **settings).settings["similarity"] == "weighted-jaccard"
    table = nd.sweep(texts, bands=4, band_bits=16, threshold=0.5, **settings)
    assert table.similarity == "weighted-jaccard"


@pytest.mark.parametrize("weights", ["tfidf", "idf"])
def test_an_index_and_compare_give_the_same_similarity(weights):
    texts = ["the red fox", "the red hen", "the old oak", "the old old oak tree"]
    table = nd.idf(texts)
    a, b = weighed(texts, weights)[2:4]
    expected = pytest.approx(nd.weighted_jaccard(a, b))
    with nd.MemoryIndex(features="word:1", weights=weights, idf=table, threshold=0.3) as index:
        index.add("oak", texts[2])
        (match,) = index.query(texts[3])
    assert match.similarity == expected
    compared = nd.compare(texts[2], texts[3], features="word:1", weights=weights, idf=table)
    assert compared.jaccard == expected
    assert "weighted jaccard" in str(compared)
    assert "weighted Jaccard" in printed(ComparisonView(compared), color_system=None)


def test_the_other_defaults():
    for settings, expected in (
        ({}, "jaccard"),
        ({"weights": "count"}, "weighted-jaccard"),
        ({"features": "keywords:5"}, "weighted-jaccard"),
        ({"features": "keywords:5", "weights": "set"}, "jaccard"),
    ):
        found = nd.dedup(["one two three"], **settings).summary["settings"]["similarity"]
        assert found == expected, settings
    documents = [{"one": 1.0, "two": 2.0}, {"one": 9.0, "two": 1.0}]
    by_weights = nd.dedup(documents, features="terms")
    assert by_weights.summary["settings"]["similarity"] == "cosine"
    assert len(by_weights.pairs) == 0
    by_presence = nd.dedup(documents, features="terms", weights="set")
    assert by_presence.summary["settings"]["similarity"] == "jaccard"
    assert by_presence.pairs["similarity"].to_pylist() == [1.0]

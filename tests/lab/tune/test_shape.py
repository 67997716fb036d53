"""What is recommended without labels: what suits short and long texts."""

import numpy as np
import pytest
from tests.lab.tune import made

import neardup as nd
from neardup.lab.tune.shape import (
    LONG,
    MIDDLE,
    SHORT,
    Shape,
    case_of,
    suits_dense,
)


def test_pairs_of_a_sample_count_for_as_many_as_they_stand_for():
    pairs = made.pool_pairs([0, 1, 2], [3, 4, 5], [0.2, 0.4, 0.6], 6)
    heavy = type(pairs)(
        pairs.a, pairs.b, pairs.similarity, pairs.kinds, 0.1, np.array([9.0, 2.0, 1.0])
    )
    assert pairs.counts(np.array([0.1, 0.4, 0.5, 0.9])).tolist() == [3, 2, 1, 0]
    assert heavy.counts(np.array([0.1, 0.4, 0.5, 0.9])).tolist() == [12, 3, 1, 0]
    assert heavy.above(0.4).counts(np.array([0.1])).tolist() == [3]


def test_length_decides():
    assert case_of(Shape(100, 50, 5, 0)) is SHORT
    assert case_of(Shape(100, 51, 40, 0)) is MIDDLE
    assert case_of(Shape(100, 251, 40, 0)) is LONG


def test_characters_of_scripts_without_spaces_are_less_than_words():
    assert case_of(Shape(100, 20, 5, 0, letters=1.2)) is MIDDLE
    random = np.random.default_rng(1)
    poems = ["".join(map(chr, random.integers(0x4E00, 0x5E00, 28))) for _ in range(40)]
    assert nd.tune(poems).settings["features"] == "word:2"


@pytest.mark.parametrize("table", [made.people(), made.titles()])
def test_short_texts_are_compared_by_single_rare_words(table):
    for asked in ({}, {"threshold": 0.3}, {"threshold": 0.9}):
        settings = nd.tune(table, **asked).settings
        assert settings["features"] == "word:1"
        assert settings["weights"] == "tfidf"


def test_a_guess_says_so_and_shows_pairs():
    tuning = nd.tune(made.people())
    assert tuning.guessed
    assert any("is a guess" in problem for problem in tuning.problems)
    assert 1 <= len(tuning.shown) <= 3
    similarity = [one[2] for one in tuning.shown]
    assert similarity == sorted(similarity, reverse=True)
    assert all(abs(one - tuning.settings["threshold"]) < 0.15 for one in similarity)
    given = nd.tune(made.people(), threshold=0.5)
    assert not given.guessed
    assert given.shown == ()


def test_given_weights_and_similarity_stay():
    texts = made.titles()
    for asked, weights, similarity in (
        ({"similarity": "jaccard"}, "set", "jaccard"),
        ({"similarity": "cosine"}, "tfidf", "cosine"),
        ({"weights": "idf"}, "idf", "weighted-jaccard"),
        ({"weights": "set"}, "set", "jaccard"),
        ({"cluster": "components"}, "tfidf", "weighted-jaccard"),
    ):
        settings = nd.tune(texts, **asked).settings
        assert (settings["weights"], settings["similarity"]) == (weights, similarity)
        assert nd.dedup(texts, **settings).summary["removed"] > 0


@pytest.mark.parametrize(
    "texts",
    [
        ["one"],
        ["one two", "one three"],
        ["the same words"] * 50,
        ["采石江邊李白墳，遶田無限草連雲。", "採石江邊李白墳，繞田無限草連雲。"] * 3,
        ["مرحبا بالعالم 1", "مرحبا بالعالم 2", "😀 😀 😂", "😀 😂 🙃"],
        ["short text one", "short text two", "lorem ipsum dolor " * 200_000],
    ],
)
def test_odd_collections_have_settings_too(texts):
    tuning = nd.tune(texts)
    assert tuning.guessed
    assert nd.dedup(texts, **tuning.settings).summary["documents"] == len(texts)


def test_groups_that_hold_together_suit_dense_clusters():
    cliques = [(4 * n + i, 4 * n + j) for n in range(50) for i in range(4) for j in range(i + 1, 4)]
    chains = [(n, n + 1) for n in range(199)]
    couples = [(2 * n, 2 * n + 1) for n in range(100)]
    family = [(i, j) for i in range(60) for j in range(i + 1, 60)]
    for pairs, suits in (
        (cliques, True),
        (chains, False),
        (couples, False),
        (family, False),
        ([], False),
    ):
        a, b = np.array(pairs, np.int64).reshape(-1, 2).T
        found = made.pool_pairs(a, b, np.full(len(a), 0.5), 200)
        assert suits_dense(found, 0.5) == suits
        assert not suits_dense(found, 0.6)

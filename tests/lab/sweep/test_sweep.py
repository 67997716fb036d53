"""The counts of a sweep are those of comparing every pair, bit by bit and feature by feature."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import neardup as nd
from neardup.errors import SettingError
from neardup.lab.sweep import counts as sweep_counts

GRID = {"bands": [1, 2, 3], "band_bits": [2, 5]}
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
GOLDEN = {  # candidates, true at 0.9, true at 0.8: data/README.md of the shared data
    "bands:2x10": (3_300_231, 17_088, 17_579),
    "bands:3x12": (1_283_956, 17_473, 18_018),
    "bands:3x18": (38_837, 16_377, 16_563),
    "bands:2x27": (14_353, 14_287, 14_312),
    "bands:3x22": (17_406, 15_735, 15_842),
    "bands:4x18": (45_890, 16_911, 17_149),
    "bands:5x18": (53_307, 17_302, 17_599),
}

texts_of_words = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join), min_size=1, max_size=14
)


def slow_counts(texts, plan, bits, threshold, **scheme):
    """Candidates and true ones, by fingerprints of just that width and by sets of words."""
    fps = nd.fingerprint(texts, "word:1", bits=bits, **scheme)
    pairs = nd.find_pairs(fps, candidates=plan)
    found = list(zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True))
    true = [(a, b) for a, b in found if similarity(texts[a], texts[b]) >= threshold]
    return len(found), len(true)


def similarity(a, b):
    return nd.jaccard(set(a.split()), set(b.split()))


@given(texts_of_words, st.booleans(), st.sampled_from(["nd1", "md5", "dek"]))
@settings(max_examples=25)
def test_counts_are_those_of_every_pair(texts, exact, family):
    named = ["blocks:1", "rotate:3", "length:0.5", "probe:1", "all"]
    table = nd.sweep(
        texts,
        **GRID,
        plans=named,
        bits=16,
        threshold=0.6,
        exact=exact,
        features="word:1",
        hash=family,
    )
    assert [row.plan for row in table.rows[6:]] == named
    filled = [text for text in texts if text]
    every = sum(similarity(a, b) >= 0.6 for a, b in combinations(filled, 2))
    for row in table.rows:
        wanted = slow_counts(texts, row.plan, row.bits, 0.6, hash=family)
        assert (row.candidates, row.true) == wanted, row.plan
        assert row.false == row.candidates - row.true
        if exact and every:
            assert row.recall == row.true / every
        elif not exact:
            assert row.recall is None


@given(texts_of_words)
@settings(max_examples=10)
def test_portions_change_nothing(texts):
    def counts():
        table = nd.sweep(texts, **GRID, plans=["rotate:3", "all"], features="word:1", threshold=0.5)
        return [(row.plan, row.candidates, row.true) for row in table.rows]

    at_once = counts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep_counts, "_likely_pairs", lambda *_: float("inf"))
        assert counts() == at_once


def test_several_thresholds_are_several_sweeps():
    texts = [" ".join(WORDS[i : i + 5]) for i in range(6)] * 2
    both = nd.sweep(texts, **GRID, features="word:1", threshold=[0.4, 0.6], exact=True)
    assert both.thresholds == (0.6, 0.4)
    for threshold in both.thresholds:
        one = nd.sweep(texts, **GRID, features="word:1", threshold=threshold, exact=True)
        rows = [row for row in both.rows if row.threshold == threshold]
        for wanted, row in zip(one.rows, rows, strict=True):
            assert (row.plan, row.true, row.recall) == (wanted.plan, wanted.true, wanted.recall)


def test_weights_and_threads_change_no_count():
    texts = [f"{WORDS[i % 10]} {WORDS[i % 7]} {WORDS[i % 3]} and more" for i in range(60)]
    options = {"features": "word:1", "weights": "tfidf", "threshold": 0.7, "exact": True}
    one, two = (nd.sweep(texts, **GRID, **options, threads=threads) for threads in (1, 2))
    assert one.similarity == "weighted-jaccard"
    for first, second in zip(one.rows, two.rows, strict=True):
        assert first.candidates == second.candidates
        assert (first.true, first.predicted_recall) == (second.true, second.predicted_recall)


def test_top_pairs_are_the_most_similar_ones_first_in_the_input():
    texts = ["a b c d", "x y", "a b c d", "a b c e", "a b c d", ""]
    table = nd.sweep(texts, plans=["all"], features="word:1", threshold=0.5, top=5)
    found = [(pair.a, pair.b, pair.similarity) for pair in table.rows[0].top]
    assert found == [(0, 2, 1.0), (0, 4, 1.0), (2, 4, 1.0), (0, 3, 0.6), (2, 3, 0.6)]


def test_a_preset_says_what_to_sweep():
    records = ["a b c d e", "a b c d e f", "g h"]
    table = nd.sweep(records, preset="irrs", exact=True)
    assert [row.plan for row in table.rows] == ["bands:3x18"]
    assert table.scheme.startswith("md5/word:1/tfidf:lab/54")


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({}, "nothing to sweep"),
        ({**GRID, "threshold": []}, "threshold is an empty list"),
        ({**GRID, "threshold": 1.5}, r"threshold=1\.5 must be"),
        ({**GRID, "similarity": "hamming", "threshold": 3}, "which hamming is not"),
        ({**GRID, "preset": "blog"}, "which hamming is not"),
        ({**GRID, "keep": "first"}, "unknown setting 'keep'"),
        ({**GRID, "preset": "sphere", "similarity": "cosine", "threshold": 0.8}, "one width"),
        ({"bands": 4, "band_bits": 40, "hash": "md5"}, "gives 128 bits, 160 are asked for"),
    ],
)
def test_what_cannot_be_swept(chosen, words):
    with pytest.raises(SettingError, match=words):
        nd.sweep(["a b c"], **chosen)


@pytest.mark.parametrize("texts", [[], ["", "..."], ["one two three"]])
@pytest.mark.parametrize("exact", [True, False])
def test_nothing_to_find(texts, exact):
    table = nd.sweep(texts, **GRID, plans=["rotate:2", "length:0.1"], exact=exact, top=3)
    assert {(row.candidates, row.true, row.precision) for row in table.rows} == {(0, 0, None)}
    assert json.loads(json.dumps(table.as_dict()))["documents"] == len(texts)
    assert f"{len(texts)} documents" in str(table)


@pytest.fixture(scope="module")
def arxiv(shared_data):
    features = shared_data / "arxiv" / "features.parquet"
    return nd.sweep(
        features,
        plans=list(GOLDEN),
        features="terms",
        hash="md5",
        threshold=[0.9, 0.8],
        exact=True,
    )


def test_golden_counts_of_arxiv(arxiv):
    assert arxiv.true_pairs == (19_130, 20_806)
    for row in arxiv.rows:
        candidates, high, low = GOLDEN[row.plan]
        assert (row.candidates, row.true) == (candidates, high if row.threshold == 0.9 else low)
    row = next(row for row in arxiv.rows if row.plan == "bands:3x12")
    assert row.recall == 17_473 / 19_130


def test_predictions_for_arxiv_hold(arxiv):
    for row in arxiv.rows:
        assert row.predicted_recall == pytest.approx(row.recall, abs=0.01)
        assert row.predicted_candidates == pytest.approx(row.candidates, rel=0.05)


def test_recall_is_predicted_without_the_truth():
    random = np.random.default_rng(7)
    texts = []
    for _ in range(400):
        words = random.choice(5000, 60)
        for _ in range(2):
            words[random.integers(0, 60, 6)] = random.integers(0, 5000, 6)
            texts.append(" ".join(map(str, words)))
    options = {"bands": [2, 4], "band_bits": [8, 12], "features": "word:1", "threshold": 0.6}
    told, known = nd.sweep(texts, **options), nd.sweep(texts, **options, exact=True)
    for guess, row in zip(told.rows, known.rows, strict=True):
        assert (guess.candidates, guess.true) == (row.candidates, row.true)
        assert guess.predicted_recall == pytest.approx(row.recall, abs=0.06)
        assert guess.predicted_candidates == pytest.approx(row.candidates, rel=0.3)

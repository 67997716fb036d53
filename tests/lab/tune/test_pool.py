"""The pool: all documents, or a sample that keeps near-duplicates together and labels in."""

import numpy as np
import pyarrow as pa
import pytest
from tests.lab.tune import made

from neardup.fingerprints.fingerprinter import fitted
from neardup.lab.tune.measures import Measure
from neardup.labels import read_labels

TFIDF = Measure("word:1", "tfidf", "weighted-jaccard")
WORDS = Measure("word:1", "set", "jaccard")


def test_a_small_collection_is_taken_whole():
    table = made.titles()
    pool = made.pool(table)
    assert pool.is_whole
    assert pool.ids.to_pylist() == table["id"].to_pylist()
    assert (pool.pairs(WORDS, 0.3).stands_for == 1).all()


def test_a_sample_keeps_near_duplicates_together():
    table = made.people(4000)
    pool = made.pool(table, sample=1000)
    assert not pool.is_whole
    assert len(pool) == pytest.approx(1000, rel=0.25)
    kinds = dict(zip(table["id"].to_pylist(), table["kind"].to_pylist(), strict=True))
    sampled = [kinds[one] for one in pool.ids.to_pylist()]
    together = len(sampled) - len(set(sampled))
    uniform = (len(pool) / len(table)) ** 2 * len(made.true_pairs(table))
    assert together > 1.8 * uniform


def test_pairs_of_a_sample_stand_for_those_of_all():
    table = made.people(4000)
    whole = made.pool(table).pairs(TFIDF, 0.2).counts(np.array([0.2, 0.4]))
    some = made.pool(table, sample=1500).pairs(TFIDF, 0.2).counts(np.array([0.2, 0.4]))
    assert some == pytest.approx(whole, rel=0.25)


def test_labelled_documents_are_always_in_the_sample():
    table = made.people(2000)
    ids = table["id"].to_pylist()
    labels = read_labels(pa.table({"a": ids[:50], "b": ids[50:100], "same": [True, False] * 25}))
    pool = made.pool(table, sample=100, labels=labels)
    assert len(pool) < 400
    placed = labels.at(pool.ids)
    assert (len(placed), placed.unknown) == (50, 0)
    pairs = pool.pairs(WORDS, 0.1)
    drawn = set(made.pool(table, sample=100).ids.to_pylist())
    by_chance = [one in drawn for one in pool.ids.to_pylist()]
    for a, b, number in zip(pairs.a, pairs.b, pairs.stands_for, strict=True):
        assert (number > 0) == (by_chance[a] and by_chance[b])


@pytest.mark.parametrize("measure", [TFIDF, WORDS, Measure("char:3", "idf", "weighted-jaccard")])
def test_weights_of_a_sample_are_those_of_the_collection(measure):
    table = made.titles(1500)
    whole, some = made.pool(table), made.pool(table, sample=300)
    places = {id: place for place, id in enumerate(whole.ids.to_pylist())}
    at = np.array([places[id] for id in some.ids.to_pylist()])
    expected, found = whole.features(measure).take(at), some.features(measure)
    assert found.hashes.tolist() == expected.hashes.tolist()
    assert found.arrays[2] is None or found.weights.tolist() == expected.weights.tolist()


def test_similarities_of_some_pairs_are_those_of_the_join():
    pool = made.pool(made.titles())
    for measure in (TFIDF, WORDS):
        pairs = pool.pairs(measure, 0.2)
        found = pool.similarities(measure, pairs.a, pairs.b)
        assert found == pytest.approx(pairs.similarity)


def test_pairs_from_a_higher_similarity_on_are_not_searched_again(monkeypatch):
    pool = made.pool(made.titles())
    low = pool.pairs(TFIDF, 0.2)
    monkeypatch.setattr(pool, "_join", None)
    assert pool.pairs(TFIDF, 0.2) is low
    high = pool.pairs(TFIDF, 0.5)
    assert high.least == 0.5
    assert high.similarity.tolist() == [x for x in low.similarity.tolist() if x >= 0.5]


def test_rarity_is_counted_once_for_all_weights(monkeypatch):
    from neardup.lab.tune import pool as module

    counted = []

    def counting(*given):
        counted.append(1)
        return fitted(*given)

    monkeypatch.setattr(module, "fitted", counting)
    pool = made.pool(made.titles())
    for weights, similarity in (
        ("tfidf", "weighted-jaccard"),
        ("idf", "cosine"),
        ("tfidf", "cosine"),
    ):
        pool.features(Measure("word:1", weights, similarity))
    assert len(counted) == 1


def test_too_many_pairs_are_listed_from_a_higher_similarity_on():
    texts = [f"a b c d x{n} y{n}" for n in range(600)]
    pairs = made.pool(texts).pairs(WORDS, 0.1)
    assert pairs.least > 0.45  # every two share four of eight words
    assert len(pairs.a) == 0


def test_copies_are_counted_not_listed():
    pairs = made.pool(["a b c"] * 4 + ["d e f"] * 2 + ["", "g h a"]).pairs(WORDS, 0.1)
    assert pairs.copies == 7
    assert pairs.kinds.tolist() == [0, 0, 0, 0, 4, 4, -1, 7]
    assert list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)) == [(0, 7)]

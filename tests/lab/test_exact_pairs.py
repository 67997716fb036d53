"""`exact_pairs` finds what comparing every document with every other one finds."""

from itertools import combinations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import neardup as nd
from neardup.kernels.reference import text as reference

MEASURES = {"jaccard": None, "weighted-jaccard": nd.weighted_jaccard, "cosine": nd.cosine}
# Few words, so that shingles meet; cut and joined, so that texts are edits of each other.
words = st.sampled_from(["sea", "wind", "sand", "ship", "fog", "潮", "Wind"])
texts = st.lists(st.lists(words, max_size=9).map(" ".join), max_size=9)
weights = st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.5])
terms = st.lists(st.dictionaries(words, weights, max_size=6), max_size=9)
# Many pairs are exactly as similar as one of these.
thresholds = st.sampled_from([0.01, 0.2, 1 / 3, 0.5, 2 / 3, 0.75, 0.8, 1.0])


def brute_force(documents, similarity, threshold):
    """Every pair, compared."""
    compared = (
        (i, j, similarity(documents[i], documents[j]))
        for i, j in combinations(range(len(documents)), 2)
    )
    return [(i, j, found) for i, j, found in compared if found >= threshold]


def rows(pairs):
    return [(row["a"], row["b"], row["similarity"]) for row in pairs.to_pylist()]


@settings(max_examples=80)
@given(texts, thresholds, st.integers(1, 3))
def test_every_pair_of_texts_is_found(documents, threshold, size):
    found = nd.exact_pairs(documents, threshold, features=f"word:{size}")
    sets = []
    for text in documents:
        tokens = reference.words(text)
        sets.append(set(reference.shingles(tokens, size)) if tokens else set())
    assert rows(found) == brute_force(sets, nd.jaccard, threshold)


@settings(max_examples=80)
@given(terms, thresholds, st.sampled_from(["weighted-jaccard", "cosine"]))
def test_every_pair_of_weighted_terms_is_found(documents, threshold, similarity):
    found = nd.exact_pairs(documents, threshold, similarity, features="terms")
    assert rows(found) == brute_force(documents, MEASURES[similarity], threshold)


def test_threads_change_nothing():
    documents = [f"{i % 7} {i % 5} {i % 3} and so on it goes" for i in range(300)]
    one, two = (nd.exact_pairs(documents, 0.5, threads=threads) for threads in (1, 2))
    assert one.num_rows > 300
    assert one.equals(two)


def test_copies_are_paired_each_with_each():
    assert len(rows(nd.exact_pairs(["one two three four"] * 4, 1.0))) == 6


def test_documents_without_a_word_are_near_nothing():
    assert rows(nd.exact_pairs(["", "", "…", None], 0.01)) == []


def test_weights_by_tfidf_are_those_of_the_collection():
    documents = ["the red fox", "the red hen", "the old oak"]
    (pair,) = rows(nd.exact_pairs(documents, 0.05, features="word:1", weights="tfidf:lab"))
    assert pair[:2] == (0, 1)
    plain = rows(nd.exact_pairs(documents, 0.05, features="word:1", weights="count"))
    assert len(plain) == 3


def test_ids_are_given_where_there_are_any(tmp_path):
    table = pa.table({"id": ["p", "q", "r"], "text": ["a b c d", "x y z", "a b c d"]})
    pq.write_table(table, tmp_path / "docs.parquet")
    for source in (table, table.to_pandas(), tmp_path / "docs.parquet"):
        assert rows(nd.exact_pairs(source)) == [("p", "r", 1.0)]


def test_a_column_has_places():
    assert rows(nd.exact_pairs(pd.Series(["a b c", "d e f", "a b c"]))) == [(0, 2, 1.0)]


def test_distances_of_bits_are_for_another_function():
    with pytest.raises(nd.SettingError, match="find_pairs"):
        nd.exact_pairs(["a"], 3, "hamming")


@pytest.mark.parametrize("threshold", [0, 1.5, "much"])
def test_a_threshold_is_a_share(threshold):
    with pytest.raises(nd.SettingError, match="threshold"):
        nd.exact_pairs(["a"], threshold)


def test_the_golden_pairs_of_arxiv(shared_data):
    found = nd.exact_pairs(shared_data / "arxiv" / "features.parquet", 0.9, features="terms")
    assert found.num_rows == 19_130

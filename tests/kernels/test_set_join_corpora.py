"""The join finds every similar pair of real collections with known pairs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from neardup import kernels
from neardup.kernels import set_join


def places(column, ids):
    return pc.index_in(column, value_set=ids).to_numpy().astype(np.int64)


def known_pairs(pairs, ids, name):
    """Places (a, b), a < b, as one number each, and their similarity."""
    a, b = places(pairs["a"], ids), places(pairs["b"], ids)
    return as_numbers(np.minimum(a, b), np.maximum(a, b)), pairs[name].to_numpy()


def as_numbers(a, b):
    return a << 32 | b


@pytest.mark.parametrize(("threshold", "count"), [(0.8, 20_806), (0.9, 19_130)])
def test_arxiv_vectors(shared_data, threshold, count):
    table = pq.read_table(shared_data / "arxiv" / "features.parquet")
    terms = table["terms"].combine_chunks()
    numbers = terms.values.dictionary_encode().indices.to_numpy().astype(np.uint64)
    hashes = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    offsets = terms.offsets.to_numpy().astype(np.int64)
    weights = table["weights"].combine_chunks().values.to_numpy().astype(np.float64)
    order = np.lexsort((hashes, np.repeat(np.arange(len(table)), np.diff(offsets))))
    found = set_join.join_similar(
        offsets, hashes[order], weights[order], measure="cosine", threshold=threshold, threads=2
    )
    assert len(found) == count
    pairs = pq.read_table(shared_data / "arxiv" / "pairs.parquet")
    known, _ = known_pairs(pairs, table["id"].combine_chunks(), "cosine")
    assert np.isin(as_numbers(found.a, found.b), known).all()


def test_licences(shared_data):
    table = pq.read_table(shared_data / "licenses" / "docs.parquet")
    table = table.filter(
        pc.and_(pc.equal(table["language"], "en"), pc.greater(table["n_words"], 19))
    )
    texts = table["text"].combine_chunks().cast(pa.large_string())
    offsets, hashes, _, _ = kernels.find_features(texts, [("word", 3)], threads=2)
    pairs = pq.read_table(shared_data / "licenses" / "pairs.parquet")
    known, similarity = known_pairs(pairs, table["id"].combine_chunks(), "jaccard3")
    assert (len(table), len(known)) == (15_167, 569_631)
    for threshold, more in ((0.7, 2), (0.8, 1)):
        found = set_join.join_similar(
            offsets, hashes, None, measure="jaccard", threshold=threshold, threads=2
        )
        numbers = as_numbers(found.a, found.b)
        assert np.isin(known[similarity >= threshold], numbers).all()
        # The known pairs were computed with other word rules, which differ in two texts.
        assert np.count_nonzero(~np.isin(numbers, known[similarity >= threshold])) == more

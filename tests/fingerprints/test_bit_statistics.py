"""Unrelated documents look like coin flips to each other, bit by bit."""

from __future__ import annotations

import random

import numpy as np
import pyarrow.parquet as pq
import pytest

import neardup as nd


def unrelated_documents(count, words=121):
    """Documents that share next to no word; 121 words make 119 shingles of three: no ties."""
    rng = random.Random(20)
    return [" ".join(f"{rng.getrandbits(32):x}" for _ in range(words)) for _ in range(count)]


def distances(fps, pairs=20_000, seed=1):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, len(fps), (2, pairs))
    different = a != b
    return nd.hamming(fps[a[different]], fps[b[different]])


def as_bits(fps):
    return np.unpackbits(fps.row_bytes(), axis=1)[:, : fps.bits].astype(np.int64)


@pytest.fixture(scope="module")
def documents():
    return unrelated_documents(2000)


@pytest.mark.parametrize("bits", [32, 64, 128, 512])
@pytest.mark.parametrize("features", ["word:1", "word:3", "char:8"])
def test_distances_are_those_of_coin_flips(documents, features, bits):
    found = distances(nd.fingerprint(documents, features, bits=bits))
    assert found.mean() == pytest.approx(bits / 2, abs=bits / 64)
    assert found.var() == pytest.approx(bits / 4, rel=0.12)


def test_every_bit_is_set_half_of_the_time(documents):
    """Within five standard deviations, over 2000 documents."""
    shares = as_bits(nd.fingerprint(documents, bits=512)).mean(axis=0)
    assert np.abs(shares - 0.5).max() < 5 * 0.5 / 2000**0.5


def test_no_bit_tells_of_another(documents):
    """Also not across the 64-bit words, which are all made from one hash of each feature."""
    bits = as_bits(nd.fingerprint(documents, bits=512))
    correlations = np.corrcoef(bits.T)[np.triu_indices(512, 1)]
    assert np.abs(correlations).max() < 6 / 2000**0.5
    assert correlations.std() == pytest.approx(2000**-0.5, rel=0.05)


def test_near_documents_are_near():
    """One word of 121 changes 3 of 119 shingles: their cosine is 116 / 119.

    The bits in which two fingerprints differ are then arccos(116 / 119) / pi of all, on average.
    """
    originals = unrelated_documents(500)
    changed = [text.replace(f" {text.split()[60]} ", " changed ", 1) for text in originals]
    found = nd.hamming(nd.fingerprint(originals, bits=512), nd.fingerprint(changed, bits=512))
    expected = 512 * np.arccos(116 / 119) / np.pi
    assert found.mean() == pytest.approx(expected, rel=0.05)
    assert found.max() < 2 * expected


def test_unrelated_arxiv_abstracts_lie_half_the_bits_apart(shared_data):
    path = shared_data / "arxiv" / "docs.parquet"
    if not path.exists():
        pytest.skip(f"there is no {path}")
    texts = pq.read_table(path, columns=["text"])["text"].slice(0, 20_000)
    fps = nd.fingerprint(texts)
    found = distances(fps[~fps.empty], pairs=200_000)
    assert found.mean() == pytest.approx(32, abs=1)
    assert found.var() == pytest.approx(16, abs=2)

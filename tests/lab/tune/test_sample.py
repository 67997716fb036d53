"""Samples keep near-duplicates together, and say how many pairs each of theirs stands for."""

import numpy as np
import pyarrow as pa
import pytest

from neardup.collection.settings import DedupSettings
from neardup.collection.source import fitted_to
from neardup.deduplication.sources import source_of
from neardup.kernels.set_join import join_similar
from neardup.lab.tune.sample import (
    MOST_LOOKED_AT,
    draw_sample,
    frequent_features,
    look_at,
    rare_features,
)

MEMORY = 2_000_000_000


def texts_with_pairs(count, copies, seed=0, header=""):
    """Unrelated texts of 40 words; a tenth of them with a word changed, and some exact copies."""
    random = np.random.default_rng(seed)
    words = random.integers(0, 20_000, (count, 40))
    words[: count // 10] = words[count // 10 : 2 * (count // 10)]
    words[: count // 10, 20] = 99_999
    lines = [header + " ".join(f"w{word}" for word in row) for row in words]
    lines += lines[len(lines) - copies :]
    return [lines[place] for place in random.permutation(len(lines))]


def sampled(texts, most, looked=1.0):
    settings = DedupSettings.of(threads=1)
    source = source_of(texts, settings)
    fingerprinter = fitted_to(source, settings.scheme, settings.threads)
    frequent = frequent_features(look_at(source, MEMORY, 1).features(fingerprinter))
    return draw_sample(source, fingerprinter, frequent, most=most, memory=MEMORY, looked=looked)


def estimated_pairs(sample):
    features = sample.features
    found = join_similar(features.offsets, features.hashes, None, measure="jaccard", threshold=0.8)
    return len(found), float(sample.stands_for(found.a, found.b).sum())


def test_what_fits_is_taken_whole():
    sample = sampled([*texts_with_pairs(100, 20), "", "…"], 1000)
    assert sample.is_whole
    assert (len(sample), sample.documents, sample.filled) == (100, 122, 120)
    assert sorted(sample.copies.tolist()) == [1] * 80 + [2] * 20
    assert sample.contents == 100
    assert estimated_pairs(sample) == (10, 10.0)


@pytest.mark.parametrize(
    "header", ["", "all of these begin with the same twelve words and then go on "]
)
def test_a_small_sample_still_has_pairs_and_tells_their_number(header):
    found, estimate = estimated_pairs(sampled(texts_with_pairs(6000, 0, header=header), 1500))
    # A uniform sample of so many would have 600 / 16 of them at the most.
    assert found > 75
    assert estimate == pytest.approx(600, rel=0.2)


def test_fewer_documents_looked_at_stand_for_more():
    sample = sampled(texts_with_pairs(6000, 0), 100_000, looked=0.5)
    assert not sample.is_whole
    assert len(sample) == pytest.approx(3000, rel=0.1)
    assert sample.filled == pytest.approx(6000, rel=0.1)
    assert estimated_pairs(sample)[1] == pytest.approx(600, rel=0.3)


def test_no_more_are_kept_than_wanted_and_not_far_fewer():
    for most in (50, 300, 2000):
        sample = sampled(texts_with_pairs(3000, 500), most)
        assert 0.4 * most <= len(sample) <= most
        assert sample.contents == pytest.approx(3000, rel=0.25)


def test_half_a_sample_is_about_half_of_it():
    sample = sampled(texts_with_pairs(3000, 0), 2000)
    assert len(sample.half()) == pytest.approx(len(sample) / 2, rel=0.15)


def test_the_same_input_gives_the_same_sample():
    first, again = (sampled(texts_with_pairs(2000, 100), 500) for _ in range(2))
    assert first.features.hashes.tolist() == again.features.hashes.tolist()


def test_fingerprints_of_some_are_those_of_all():
    settings = DedupSettings.of(bits=96, threads=1)
    sample = sampled(texts_with_pairs(300, 0), 1000)
    fingerprinter = fitted_to(source_of(["a"], settings), settings.scheme, settings.threads)
    places = np.array([0, 7, 123, 299])
    assert (
        sample.rows(fingerprinter, places).tolist() == sample.rows(fingerprinter)[places].tolist()
    )


def test_rare_features_are_those_that_are_not_frequent():
    sample = sampled(["a b c d", "b c d e"], 10)
    hashes = sample.features.hashes
    frequent = np.intersect1d(hashes[:2], hashes[2:])
    rare = rare_features(sample.features, frequent)
    assert len(frequent) == 1
    assert np.diff(rare.offsets).tolist() == [1, 1]
    assert not np.isin(rare.hashes, frequent).any()


def test_a_look_is_spread_over_all():
    settings = DedupSettings.of(threads=1)
    look = look_at(source_of(pa.array([f"text {i}" for i in range(20_000)]), settings), MEMORY, 1)
    seen = [int(text.split()[1]) for part in look.columns for text in part[0].texts.to_pylist()]
    assert MOST_LOOKED_AT / 2 * 0.9 < len(seen) <= MOST_LOOKED_AT
    assert np.mean(seen) == pytest.approx(10_000, rel=0.05)
    assert look.documents == 20_000

"""The choice between the exact join and bands: one rule for `dedup`, `tune` and the costs."""

import pytest
from tests.deduplication.planted import planted_texts

import neardup as nd
from neardup.collection.settings import DedupSettings
from neardup.pairs import choose
from neardup.pairs.choose import Work, cheapest_bands, most_postings
from neardup.pairs.costs import Costs
from neardup.pairs.recall import band_recall, bands_for, cosine_of

WORK = Work(documents=100_000, features=15_000_000, weighted=False)


@pytest.mark.parametrize("threshold", [0.6, 0.8])
@pytest.mark.parametrize("weights", ["set", "count"])
@pytest.mark.parametrize("preference", [0.0, 0.3, 1.0, 3.0, 30.0])
def test_tune_names_what_auto_takes(monkeypatch, preference, weights, threshold):
    """Wherever the border between the two ways lies, both see a collection on the same side."""
    monkeypatch.setattr(choose, "_ALWAYS_AFFORDED", 0.0)
    monkeypatch.setattr(choose, "_PREFERENCE", preference)
    texts = planted_texts(800)
    given = {"features": "word:2", "weights": weights, "threshold": threshold, "recall": 0.97}
    given |= {"cluster": "components"}
    tuning = nd.tune(texts, **given)
    assert nd.dedup(texts, **given).found.plan == tuning.settings["candidates"]
    assert (tuning.choice.candidates == "exact") or preference < 30


def test_both_ways_are_chosen(monkeypatch):
    texts = planted_texts(300)
    assert nd.tune(texts, features="word:3").settings["candidates"] == "exact"
    monkeypatch.setattr(choose, "_ALWAYS_AFFORDED", 0.0)
    monkeypatch.setattr(choose, "_PREFERENCE", 0.0)
    tuning = nd.tune(texts, features="word:3", cluster="components")
    assert tuning.settings["candidates"].startswith("bands:")
    assert any(option.candidates == "exact" for option in tuning.alternatives)
    # Stars are always searched for by features.
    assert nd.tune(texts, features="word:3").settings["candidates"] == "exact"
    assert nd.dedup(texts).summary["plan"] == "exact"


@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.95])
def test_bands_have_the_recall_that_is_asked_for(recall, threshold):
    settings = DedupSettings.of(threshold=threshold, recall=recall)
    bands = cheapest_bands(WORK, settings)
    cosine = cosine_of(threshold, "jaccard")
    assert band_recall(bands.count, cosine, bands.width) >= min(recall, 0.9999) - 1e-12
    if bands.count > 1:
        assert band_recall(bands.count - 1, cosine, bands.width) < recall
    assert bands_for(recall, cosine, bands.width) == bands.count


def test_no_bands_for_pairs_that_are_hardly_similar():
    bands = cheapest_bands(WORK, DedupSettings.of(threshold=0.02, recall=0.999))
    assert bands is None
    assert most_postings(WORK, bands, 10**9) is None


def test_bands_that_do_not_fit_the_memory_are_no_alternative():
    bands = cheapest_bands(WORK, DedupSettings.of())
    assert most_postings(WORK, bands, 10**9) is not None
    assert most_postings(WORK, bands, 1000) is None


def test_the_limit_of_postings_is_where_the_join_takes_too_long():
    bands = cheapest_bands(WORK, DedupSettings.of())
    limit = most_postings(WORK, bands, 10**9)
    patience = max(choose._ALWAYS_AFFORDED, choose._PREFERENCE * bands.seconds)
    costs = Costs.load()
    assert costs.exact_join(WORK.features, limit, False) <= patience
    assert costs.exact_join(WORK.features, limit + 1, False) > patience

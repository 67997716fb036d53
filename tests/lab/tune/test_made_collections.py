"""What `tune` recommends on collections whose duplicates are known, against the best of a grid."""

import pytest
from tests.lab.tune import made

import neardup as nd
from neardup.deduplication.sources import source_of
from neardup.lab.tune.run import tuned

GRID = [
    ("word:1", "tfidf", "weighted-jaccard"),
    ("word:1", "set", "jaccard"),
    ("char:3", "set", "jaccard"),
    ("word:3", "set", "jaccard"),
]
MADE = {"people": made.people, "titles": made.titles, "articles": made.articles}


def rate(table, settings):
    """The F1 of the pairs in one cluster, all of which are known."""
    found = nd.dedup(table, **settings)
    return nd.evaluate(found, column="kind").pairs


def best_f1(table):
    rates = []
    for features, weights, similarity in GRID:
        for step in range(1, 10):
            settings = {"features": features, "weights": weights, "similarity": similarity}
            rates.append(rate(table, {**settings, "threshold": step / 10}).f1)
    return max(rates)


@pytest.fixture(scope="module", params=MADE)
def collection(request):
    table = MADE[request.param]()
    return table, best_f1(table)


def proposal(table, number):
    found = tuned(lambda settings: source_of(table, settings), None, {}, propose=number)
    return made.labelled(table, found.proposed)


def test_with_200_labels_it_is_as_good_as_the_best_of_the_grid(collection):
    table, best = collection
    tuning = nd.tune(table, labels=proposal(table, 200))
    found = rate(table, tuning.settings)
    assert found.f1 >= 0.95 * best
    report = tuning.labels
    assert report.low <= report.f1 <= report.high
    whole = report.in_collection
    assert whole.low <= whole.f1 <= whole.high


def test_without_labels_it_is_not_far_from_it(collection):
    table, best = collection
    found = rate(table, nd.tune(table).settings)
    assert found.f1 >= 0.75 * best


@pytest.mark.parametrize("with_labels", [False, True])
def test_not_far_more_is_removed_than_there_is(collection, with_labels):
    table, _ = collection
    labels = proposal(table, 200) if with_labels else None
    removed = nd.dedup(table, **nd.tune(table, labels=labels).settings).summary["removed"]
    true = len(table) - len(set(table["kind"].to_pylist()))
    assert removed <= 1.3 * true


def test_what_is_expected_of_the_collection_is_near_the_truth(collection):
    table, _ = collection
    tuning = nd.tune(table, labels=proposal(table, 200))
    whole = tuning.labels.in_collection
    found = rate(table, tuning.settings).f1
    assert whole.low - 0.1 <= found <= whole.high + 0.1

"""Scores against brute force over all pairs, and scikit-learn for the adjusted Rand index."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from neardup.evaluation.scores import (
    PairCounts,
    Rates,
    adjusted_rand,
    bcubed,
    pair_counts,
    pairwise,
    wilson,
)

LABELS = st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), max_size=30)


def arrays(labels):
    both = np.array(labels, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def together(labels, i, j):
    return i == j or (labels[i] == labels[j] and labels[i] >= 0)


def alone_apart(labels):
    """-1 replaced by a label of its own for each."""
    return [label if label >= 0 else 1000 + row for row, label in enumerate(labels)]


@given(LABELS)
def test_pairs_are_counted_as_by_brute_force(labels):
    truth, found = arrays(labels)
    every = list(combinations(range(len(truth)), 2))
    true = {pair for pair in every if together(truth, *pair)}
    guessed = {pair for pair in every if together(found, *pair)}
    counts = pair_counts(truth, found)
    assert counts == PairCounts(len(true & guessed), len(guessed), len(true))
    rates = pairwise(truth, found)
    for value, part, whole in (
        (rates.precision, len(true & guessed), len(guessed)),
        (rates.recall, len(true & guessed), len(true)),
        (rates.f1, 2 * len(true & guessed), len(guessed) + len(true)),
    ):
        assert math.isnan(value) if whole == 0 else value == part / whole


@given(LABELS.filter(bool))
def test_bcubed_is_the_mean_over_documents(labels):
    truth, found = arrays(labels)
    rows = range(len(truth))
    precision, recall = [], []
    for i in rows:
        mine = {j for j in rows if together(found, i, j)}
        real = {j for j in rows if together(truth, i, j)}
        precision.append(len(mine & real) / len(mine))
        recall.append(len(mine & real) / len(real))
    rates = bcubed(truth, found)
    assert rates.precision == pytest.approx(np.mean(precision))
    assert rates.recall == pytest.approx(np.mean(recall))
    harmonic = 2 / (1 / np.mean(precision) + 1 / np.mean(recall))
    assert rates.f1 == pytest.approx(harmonic)


@given(LABELS)
def test_adjusted_rand_is_that_of_its_definition(labels):
    truth, found = arrays(labels)
    counts, n = pair_counts(truth, found), len(truth)
    every = n * (n - 1) / 2
    by_chance = counts.found * counts.true / every if every else 0.0
    most = (counts.found + counts.true) / 2
    expected = 1.0 if most == by_chance else (counts.right - by_chance) / (most - by_chance)
    assert adjusted_rand(truth, found) == pytest.approx(expected)


@given(LABELS.filter(bool))
def test_adjusted_rand_is_that_of_scikit_learn(labels):
    metrics = pytest.importorskip("sklearn.metrics")
    truth, found = arrays(labels)
    expected = metrics.adjusted_rand_score(alone_apart(truth), alone_apart(found))
    assert adjusted_rand(truth, found) == pytest.approx(expected)


def test_no_documents():
    none = np.zeros(0, np.int64)
    assert pair_counts(none, none) == PairCounts(0, 0, 0)
    assert math.isnan(bcubed(none, none).f1)
    assert adjusted_rand(none, none) == 1.0


def test_everything_in_one_cluster_of_a_million():
    """The products of the adjusted Rand index are beyond 64 bits."""
    n = 1_000_000
    truth, found = np.arange(n) // 2, np.zeros(n, np.int64)
    counts = pair_counts(truth, found)
    assert counts == PairCounts(n // 2, n * (n - 1) // 2, n // 2)
    assert adjusted_rand(truth, found) == pytest.approx(0.0, abs=1e-12)
    assert bcubed(truth, found).precision == pytest.approx(2 / n)


def test_lengths_must_be_the_same():
    with pytest.raises(ValueError, match="2 true labels and 3 found ones"):
        pairwise(np.zeros(2, np.int64), np.zeros(3, np.int64))


def test_nothing_found_has_no_precision():
    rates = Rates.of_counts(right=0, found=0, true=4)
    assert math.isnan(rates.precision)
    assert (rates.recall, rates.f1) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # By R's binom::binom.confint(x, n, methods="wilson").
    [(0, 10, 0.0, 0.2775328), (10, 10, 0.7224672, 1.0), (5, 10, 0.2365931, 0.7634069)],
)
def test_wilson_intervals(successes, trials, low, high):
    interval = wilson(successes, trials)
    assert interval.low == pytest.approx(low, abs=1e-6)
    assert interval.high == pytest.approx(high, abs=1e-6)


def test_wilson_of_no_trials():
    assert math.isnan(wilson(0, 0).low)

"""The guessed threshold: in a gap between unrelated pairs and near-duplicates, or past a fall."""

import numpy as np
import pytest
from tests.lab.tune import made

import neardup as nd
from neardup.lab.tune.shape import LONG
from neardup.lab.tune.threshold import Guess, gap_in, guessed, threshold_between


def histogram(counts, documents=1000, least=0.1):
    """Pairs with so many in each step of 0.05 from `least` on."""
    similarity = np.repeat(least + 0.025 + 0.05 * np.arange(len(counts)), counts)
    nothing = np.zeros(len(similarity), np.int64)
    return made.pool_pairs(nothing, nothing, similarity, documents, least)


@pytest.mark.parametrize(
    ("counts", "threshold"),
    [
        # Unrelated pairs fall to a third with each step, until duplicates are as many.
        ([9000, 3000, 1000, 330, 110, 100, 100, 100], 0.35),
        # Flat from the beginning.
        ([200, 200, 200, 200, 200, 200], 0.25),
        # So few that they are no crowd.
        ([100, 30, 2, 0, 0, 0], 0.25),
        # Never flat: the highest threshold.
        ([4 ** (10 - step) for step in range(11)], 0.6),
        ([], 0.25),
    ],
)
def test_without_a_gap_the_threshold_is_where_pairs_stop_falling(counts, threshold):
    documents = 100
    found = threshold_between(histogram(counts, documents), documents, 0.25, 0.6)
    assert found == threshold


def test_pairs_that_were_too_many_to_list_raise_the_threshold():
    pairs = histogram([100, 100, 100], least=0.42)
    assert threshold_between(pairs, 1000, 0.25, 0.8) >= 0.45
    assert threshold_between(histogram([100], least=0.9), 1000, 0.25, 0.6) == 0.6
    # The steps below 0.25 have no pairs because nobody looked for them, not because they are few.
    falling = [4**step for step in range(9, 0, -1)]
    assert threshold_between(histogram(falling, least=0.25), 1000, 0.25, 0.6) == 0.6


@pytest.mark.parametrize(
    ("counts", "gap"),
    [
        # A narrow gap at 0.25, and one that is 0.15 wide.
        ([9000, 900, 90, 5, 200, 300, 200, 100], 0.3),
        ([9000, 900, 90, 10, 9, 10, 200, 300, 200], 0.35),
        # A gap that ends with the last step.
        ([9000, 900, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 500], 0.6),
        # Without more pairs above it, the lowest step is no gap, and chance makes none.
        ([9000, 900, 90, 9, 8, 9, 8, 9, 8], None),
        ([9000, 900, 100, 80, 110, 90, 105], None),
        # Few near-copies at the end of a long slope that is no gap.
        ([9000, 4000, 3000, 2000, 1500, 1000, 800, 500, 300, 50, 200], None),
        ([], None),
    ],
)
def test_the_gap_between_unrelated_pairs_and_near_duplicates(counts, gap):
    assert gap_in(histogram(counts), 1000) == gap


def test_pairs_that_rise_from_the_first_step_on_have_their_gap_below_it():
    rising = [100, 150, 200, 100, 50]
    assert gap_in(histogram(rising, least=0.05), 1000) == 0.05
    assert gap_in(histogram(rising, least=0.15), 1000) is None  # lower ones were not looked for


class OneMeasure:
    """A pool whose pairs are given."""

    documents = 1000

    def __init__(self, pairs):
        self._pairs = pairs

    def pairs(self, measure, least):
        return self._pairs


@pytest.mark.parametrize(
    ("counts", "guess"),
    [
        ([9000, 5, 100, 200, 100], Guess(LONG.measure, 0.15, True)),
        ([100, 150, 200, 100, 50], Guess(LONG.measure, 0.5, False)),  # the gap is below 0.1
    ],
)
def test_a_gap_at_very_low_similarities_is_not_recommended(counts, guess):
    pool = OneMeasure(histogram(counts, least=0.05))
    assert guessed(pool, LONG.measures[:1], LONG.lowest, LONG.highest) == guess


@pytest.mark.parametrize("rate", [0.002, 0.03, 0.06])
def test_noise_takes_shorter_shingles(rate):
    """Copies with many wrong letters share hardly a longer shingle."""
    table = made.scans(rate)
    settings = nd.tune(table).settings
    assert (settings["features"] == "word:3") == (rate < 0.01)
    assert nd.evaluate(nd.dedup(table, **settings), column="kind").pairs.f1 >= 0.9

"""Logistic regression: the same coefficients as scikit-learn's, and no surprise at the edges."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import neardup as nd
from neardup.scoring.fit import FOLDS, fit, folds_of, log_odds, minimized, probability


def sample(seed, rows=200, columns=6):
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, columns))
    same = values @ random.normal(size=columns) + random.normal(size=rows) > 0.5
    return values, same, random.uniform(0.1, 5, rows)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("strength", [0.1, 1.0, 10.0])
def test_the_coefficients_are_those_of_scikit_learn(seed, strength):
    values, same, weights = sample(seed)
    theirs = LogisticRegression(C=1 / strength, tol=1e-10, max_iter=10_000)
    theirs.fit(values, same, sample_weight=weights)
    ours = minimized(values, same, weights, strength)
    assert ours[1:] == pytest.approx(theirs.coef_[0], abs=1e-4)
    assert ours[0] == pytest.approx(theirs.intercept_[0], abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_slope_is_zero_at_the_minimum(seed):
    values, same, weights = sample(seed)
    found = minimized(values, same, weights, 0.3)
    chance = 1 / (1 + np.exp(-(found[0] + values @ found[1:])))
    assert weights @ (chance - same) == pytest.approx(0, abs=1e-4)
    slope = values.T @ (weights * (chance - same)) + 0.3 * found[1:]
    assert slope == pytest.approx(np.zeros(6), abs=1e-4)


def test_labels_without_error_give_finite_coefficients():
    values = np.linspace(0, 1, 60)[:, None]
    found = fit(values, values[:, 0] > 0.5)
    assert np.isfinite(found.coefficients).all()
    assert np.abs(found.coefficients).max() < 100
    assert ((found.log_odds(values) > 0) == (values[:, 0] > 0.5)).mean() > 0.95


def test_constant_and_repeated_columns_do_no_harm():
    values, same, _ = sample(1)
    wide = np.column_stack((values, np.ones(len(values)), values[:, 0]))
    found = fit(wide, same)
    assert found.coefficients[6] == 0
    assert found.coefficients[0] == pytest.approx(found.coefficients[7])


def test_a_missing_value_adds_what_was_learned():
    random = np.random.default_rng(2)
    same = np.arange(400) % 2 == 0
    values = np.where(same, 0.9, 0.1)[:, None] + random.normal(scale=0.2, size=(400, 1))
    values[same & (np.arange(400) % 4 == 0)] = np.nan  # missing means the same here
    found = fit(values, same)
    assert found.if_missing[0] > found.coefficients[0] * np.nanmean(values)
    odds = found.log_odds(np.array([[np.nan], [0.1]]))
    assert odds[0] == pytest.approx(found.intercept + found.if_missing[0])
    assert odds[1] == pytest.approx(found.intercept + 0.1 * found.coefficients[0])


def test_a_column_that_was_never_missing_is_neutral_where_it_is():
    values, same, _ = sample(3)
    found = fit(values, same)
    means = np.where(np.eye(6, dtype=bool)[0], np.nan, values.mean(axis=0))[None]
    assert found.log_odds(means)[0] == pytest.approx(
        found.log_odds(values.mean(axis=0)[None])[0], abs=1e-9
    )


def test_weights_count_as_repetitions():
    values, same, _ = sample(4, rows=80)
    weights = np.where(np.arange(80) % 3 == 0, 3.0, 1.0)
    repeated = np.repeat(np.arange(80), weights.astype(int))
    once = minimized(values, same, weights, 1.0)
    often = minimized(values[repeated], same[repeated], np.ones(len(repeated)), 1.0)
    assert once == pytest.approx(often, abs=1e-6)


def test_pairs_are_judged_by_fits_that_have_not_seen_them():
    random = np.random.default_rng(5)
    values, same = random.normal(size=(40, 20)), np.arange(40) % 2 == 0
    found = fit(values, same, strengths=(0.1,))
    seen = probability(found.log_odds(values)) >= 0.5
    unseen = found.out_of_fold >= 0.5
    assert (seen == same).mean() > 0.85  # noise, learned by heart
    assert (unseen == same).mean() < 0.75
    assert (np.bincount(folds_of(same)) == 40 // FOLDS).all()


@pytest.mark.parametrize(("same", "different"), [(9, 50), (50, 9), (0, 0)])
def test_too_few_labels_are_refused_in_a_sentence(same, different):
    about = f"at least 10 pairs .* the labels have {same} and {different}: label more pairs"
    with pytest.raises(nd.SettingError, match=about):
        fit(np.zeros((same + different, 1)), np.arange(same + different) < same)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf])
def test_weights_that_are_none_are_refused(wrong):
    values, same, weights = sample(6)
    weights[3] = wrong
    with pytest.raises(nd.SettingError, match="must be numbers above 0"):
        fit(values, same, weights)


def test_the_fit_is_always_the_same():
    values, same, weights = sample(7)
    one, other = fit(values, same, weights), fit(values, same, weights)
    assert one.coefficients.tobytes() == other.coefficients.tobytes()
    assert one.out_of_fold.tobytes() == other.out_of_fold.tobytes()


def test_log_odds_add_up_column_by_column():
    values = np.array([[0.5, np.nan], [1.0, 2.0]])
    assert log_odds(values, -1.0, [2.0, 3.0], [0.0, 0.25]).tolist() == [0.25, 7.0]

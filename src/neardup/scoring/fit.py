"""Logistic regression, fitted by Newton's method with an L2 penalty, and cross-validated.

    P(same) = 1 / (1 + exp(-(intercept + sum of coefficient × value)))

A missing value (NaN) adds `if_missing` instead: what it means that a side is empty is learned, too.
The fit is deterministic, finite for labels that can be told apart without error, and takes columns
that are constant or repeat others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.frozen import dataclass

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# How strongly coefficients, of values scaled to a spread of 1, are drawn to 0.
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
FEWEST = 10
FOLDS = 5
_MOST_STEPS = 100
_GOOD_ENOUGH = 1e-10
_SHORTEST_STEP = 1e-8
# Log losses that differ by less are the same; the stronger penalty wins.
_SAME_LOSS = 1e-3


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients, one for each column of values.

    `if_missing` of columns without missing values is neutral: what their mean adds. `strength` is
    the chosen penalty; `out_of_fold` has the probability of each labelled pair by a fit that has
    not seen it, and `fold` the number of its fold.
    """

    intercept: float
    coefficients: Floats
    if_missing: Floats
    strength: float
    out_of_fold: Floats
    fold: NDArray[np.int64]

    def log_odds(self, values: Floats) -> Floats:
        return log_odds(
            values, self.intercept, self.coefficients.tolist(), self.if_missing.tolist()
        )


def log_odds(
    values: Floats, intercept: float, coefficients: Sequence[float], if_missing: Sequence[float]
) -> Floats:
    """Add up the parts, column by column: the order of sums must not depend on the machine."""
    total = np.full(len(values), float(intercept))
    for column, coefficient, missing in zip(values.T, coefficients, if_missing, strict=True):
        total += np.where(np.isnan(column), missing, coefficient * column)
    return total


def probability(log_odds: Floats) -> Floats:
    """Log-odds as probabilities, to 9 decimals.

    Beyond these, NumPy's exponential depends on the CPU.

    >>> probability(np.array([0.0, -1000.0, 1000.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    small = np.exp(-np.abs(log_odds))
    found = np.where(log_odds >= 0, 1.0, small) / (1.0 + small)
    return np.asarray(np.round(found, 9))


def fit(
    values: Floats,
    same: Flags,
    weights: Floats | None = None,
    *,
    strengths: Sequence[float] = STRENGTHS,
) -> Fit:
    """Fit to labelled pairs: a row of similarities for each, and whether the two are the same.

    The penalty is the one of `strengths` with the least cross-validated loss. `weights` say for how
    many pairs each labelled one stands; only their proportions matter.

    Raises `SettingError` for fewer than 10 pairs of either kind.

    >>> values = np.linspace(0, 1, 40)[:, None]
    >>> found = fit(values, values[:, 0] > 0.5)
    >>> probability(found.log_odds(np.array([[0.1], [0.9]]))).round(2).tolist()
    [0.0, 1.0]
    """
    same = np.asarray(same, np.bool_)
    require_labels(int(same.sum()), int((~same).sum()))
    if weights is None:
        weights = np.ones(len(same))
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise SettingError("the weights of labelled pairs must be numbers above 0")
    weights = weights / weights.mean()
    columns, sources = _columns(values)
    fold = folds_of(same)
    best: tuple[float, float, Floats] | None = None
    for strength in sorted(strengths, reverse=True):
        found = np.empty(len(same))
        for number in range(FOLDS):
            train = fold != number
            start, slopes = _fitted(columns[train], same[train], weights[train], strength)
            found[~train] = start + columns[~train] @ slopes
        loss = float((weights * np.logaddexp(0, np.where(same, -found, found))).mean())
        if best is None or loss < best[0] - _SAME_LOSS:
            best = loss, strength, found
    assert best is not None
    intercept, own = _fitted(columns, same, weights, best[1])
    coefficients, if_missing = np.zeros(values.shape[1]), np.zeros(values.shape[1])
    for place, (column, is_missing) in enumerate(sources):
        if is_missing:
            if_missing[column] = own[place]
        else:
            coefficients[column] = own[place]
            if_missing[column] = own[place] * float(weights @ columns[:, place] / weights.sum())
    return Fit(intercept, coefficients, if_missing, best[1], probability(best[2]), fold)


def require_labels(same: int, different: int) -> None:
    """Refuse too few labels to fit a model."""
    if min(same, different) < FEWEST:
        raise SettingError(
            f"a model needs at least {FEWEST} pairs that are the same and {FEWEST} that are "
            f"different; the labels have {same} and {different}: label more pairs"
        )


def folds_of(same: Flags) -> NDArray[np.int64]:
    """The fold of each pair, at random but always alike; both kinds are spread evenly."""
    random = np.random.default_rng(0)
    fold = np.empty(len(same), np.int64)
    for kind in (False, True):
        rows = np.flatnonzero(same == kind)
        fold[random.permutation(rows)] = np.arange(len(rows)) % FOLDS
    return fold


def _columns(values: Floats) -> tuple[Floats, list[tuple[int, bool]]]:
    """Values with 0 for missing ones, each such column followed by one that says where."""
    columns, sources = [], []
    for place, column in enumerate(values.T):
        missing = np.isnan(column)
        columns.append(np.where(missing, 0.0, column))
        sources.append((place, False))
        if missing.any():
            columns.append(missing.astype(np.float64))
            sources.append((place, True))
    return np.column_stack(columns), sources


def _fitted(columns: Floats, same: Flags, weights: Floats, strength: float) -> tuple[float, Floats]:
    """The intercept and coefficients of the least penalized loss, for values as they are."""
    mean = weights @ columns / weights.sum()
    spread = np.sqrt(weights @ (columns - mean) ** 2 / weights.sum())
    # A column without spread says nothing; its coefficient is 0.
    varies = spread > 1e-9
    scale = np.divide(1.0, spread, out=np.zeros(len(spread)), where=varies)
    found = minimized((columns - mean) * scale, same, weights, strength)
    coefficients = found[1:] * scale
    return float(found[0] - coefficients @ mean), coefficients


def minimized(columns: Floats, same: Flags, weights: Floats, strength: float) -> Floats:
    """Newton's method with a line search; the intercept comes first and is not penalized."""
    matrix = np.column_stack((np.ones(len(columns)), columns))
    target = same.astype(np.float64)
    penalty = np.full(matrix.shape[1], strength)
    penalty[0] = 0.0
    share = float(np.clip(weights @ target / weights.sum(), 1e-6, 1 - 1e-6))
    found = np.zeros(matrix.shape[1])
    found[0] = np.log(share / (1 - share))

    def loss(at: Floats) -> float:
        odds = matrix @ at
        return float(weights @ (np.logaddexp(0, odds) - target * odds) + penalty @ at**2 / 2)

    now = loss(found)
    for _ in range(_MOST_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(matrix @ found, -500, 500)))
        slope = matrix.T @ (weights * (chance - target)) + penalty * found
        curvature = (matrix * (weights * chance * (1 - chance))[:, None]).T @ matrix
        curvature += np.diag(penalty + 1e-12)
        step = -np.linalg.solve(curvature, slope)
        gain = -float(slope @ step)
        if gain < _GOOD_ENOUGH:
            break
        size = 1.0
        while size > _SHORTEST_STEP and loss(found + size * step) > now - 1e-4 * size * gain:
            size /= 2
        found = found + size * step
        now = loss(found)
    return found

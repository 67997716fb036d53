"""Chooses settings by labelled pairs: measure, threshold and clusters, with the F1 to expect.

F1 is that of the labelled pairs, averaged over neighbouring thresholds, because the exact peak of a
few hundred labels is chance. A threshold that pairs up far more documents than there are is
marked down: labels are mostly drawn among similar pairs, and say little about the many others.
Of the measures that the labels like best, the pairs of all documents are then found, to see what
clusters they make. What is reported as F1 was measured on labels that the choice had not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import components, dense, pairs_in
from neardup.cluster.rule import ClusterRule
from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.kernels.star_join import Decisions, stars_of_pairs
from neardup.lab.tune.measures import Measure
from neardup.lab.tune.pool import PAIRS_PER_DOCUMENT, Pool, PoolPairs
from neardup.labels import PlacedLabels
from neardup.scoring.fit_scorer import f1_with_interval

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]
Places = NDArray[np.int64]

THRESHOLDS = np.round(np.arange(0.05, 1.0, 0.01), 2)
FEWEST_OF_A_KIND = 5
_NEIGHBOURS = 6  # steps of a threshold on either side over which F1 is averaged
_AS_HIGH = 1e-3  # F1 that is no less high
_FOLDS, _DRAWS, _SEED = 5, 20, 19
_LOOKED_AT = 4  # measures of which all pairs are found
# How far below its threshold the pairs of a measure are looked at, down to a least similarity.
_LOWER, _LEAST_LOOKED_AT = 0.12, 0.05
_TOO_MANY = 0.04  # F1 given up for half as many pairs, from as many pairs as documents on
# Rules for clusters, and how much better than the ones before one must be to be chosen.
_CLUSTERS = (("star", 0.0), ("dense:0.75", 0.005), ("dense", 0.01), ("components", 0.02))
# Clusters that imply so many times more pairs than are similar are held together by chains.
_CHAINED = 3.0
LEAST, _BINS = 0.1, 10  # similarity from which on pairs are counted, and groups of labels
_STEPS = (-0.08, -0.04, 0.0, 0.04, 0.08)
_WORTH = 0.01  # an expected gain in F1 for which twice as many labels pay


@dataclass(frozen=True)
class Rated:
    """Settings with their F1 on the labels."""

    settings: dict[str, Any]
    f1: float


@dataclass(frozen=True)
class Expected:
    """An F1 with its 95 % interval, for the pairs from a similarity on."""

    f1: float
    low: float
    high: float
    least: float


@dataclass(frozen=True)
class LabelReport:
    """What the labels say about the chosen settings.

    `f1`, with the interval `low` to `high`, `precision` and `recall` are of labelled pairs that the
    choice had not seen. `in_collection` is the F1 if each label stands for the pairs of the
    collection that are as similar. `runner_ups` are the next best measures. `learning` is the F1 to
    expect from fewer labels, as (labels, F1). `unknown` labels name documents that are not in the
    input.
    """

    labels: int
    same: int
    unknown: int
    f1: float
    low: float
    high: float
    precision: float
    recall: float
    in_collection: Expected
    runner_ups: tuple[Rated, ...]
    learning: tuple[tuple[int, float], ...]
    advice: str


@dataclass(frozen=True)
class LabelChoice:
    """The chosen settings of `dedup`, and the report."""

    measure: Measure
    settings: dict[str, Any]
    report: LabelReport


def choose_by_labels(
    pool: Pool,
    labels: PlacedLabels,
    measures: Sequence[Measure],
    *,
    threshold: float | None = None,
    cluster: str | None = None,
) -> LabelChoice:
    """Choose what separates the labelled pairs best; a given threshold or rule stays."""
    same = labels.same
    require_both_kinds(same)
    thresholds = THRESHOLDS if threshold is None else np.array([threshold])
    similarity = np.stack([pool.similarities(one, labels.a, labels.b) for one in measures])
    bonus = np.array([one.bonus for one in measures])
    rates = smoothed_f1(similarity, same, thresholds)
    ranked = np.argsort(-(rates.max(axis=1) + bonus), kind="stable")
    best: tuple[float, int, int, PoolPairs] | None = None
    for number in ranked[:_LOOKED_AT].tolist():
        least = max(_LEAST_LOOKED_AT, round(float(thresholds[peak_of(rates[number])]) - _LOWER, 2))
        pairs = pool.pairs(measures[number], least)
        valued = rates[number] + bonus[number] - too_many(pairs, pool.documents, thresholds)
        valued = np.where(thresholds >= least - 1e-9, valued, -1)
        peak = peak_of(valued)
        if best is None or valued[peak] > best[0]:
            best = float(valued[peak]), number, peak, pairs
    assert best is not None
    _, number, peak, pairs = best
    rule, found = _clustered(
        pairs, labels, float(thresholds[peak]), cluster, moves=threshold is None
    )
    chosen = {**measures[number].settings, "threshold": found, "cluster": rule}
    chooser = _Chooser(similarity, same, bonus, thresholds)
    return LabelChoice(
        measures[number], chosen, _report(pool, labels, chooser, rates, measures, number, ranked)
    )


def require_both_kinds(same: Flags) -> None:
    """Refuse labels that cannot show what separates duplicates from others."""
    for kind, count in (("same", int(same.sum())), ("different", int((~same).sum()))):
        if count < FEWEST_OF_A_KIND:
            raise SettingError(
                f"the labels have {count} {'pair' if count == 1 else 'pairs'} labelled {kind}; at "
                f"least {FEWEST_OF_A_KIND} of each kind are needed, and 200 in all are a good "
                "number"
            )


def f1_by_threshold(similarity: Values, same: Flags, thresholds: Values = THRESHOLDS) -> Values:
    """The F1 of each measure (row) at each threshold, on these labels."""
    count = len(thresholds)
    reaches = np.searchsorted(thresholds, similarity + 1e-9, side="right")
    found = np.zeros((len(similarity), count + 1))
    right = np.zeros_like(found)
    for row, steps in enumerate(reaches):
        found[row] = np.bincount(steps, minlength=count + 1)
        right[row] = np.bincount(steps[same], minlength=count + 1)
    found, right = (np.cumsum(counts[:, ::-1], axis=1)[:, ::-1][:, 1:] for counts in (found, right))
    return np.asarray(2 * right / np.maximum(found + same.sum(), 1))


def smoothed_f1(similarity: Values, same: Flags, thresholds: Values = THRESHOLDS) -> Values:
    """`f1_by_threshold`, averaged over neighbouring thresholds."""
    rates = f1_by_threshold(similarity, same, thresholds)
    width = 2 * _NEIGHBOURS + 1
    padded = np.pad(rates, ((0, 0), (_NEIGHBOURS, _NEIGHBOURS)), mode="edge")
    sums = np.cumsum(np.pad(padded, ((0, 0), (1, 0))), axis=1)
    return np.asarray((sums[:, width:] - sums[:, :-width]) / width)


def peak_of(rates: Values) -> int:
    """Where the rate is highest; of neighbours that are as high, the one in the middle.

    Labels that are far apart leave a wide gap, and its middle is the furthest from both kinds.
    """
    first = last = int(rates.argmax())
    high = rates >= rates[first] - _AS_HIGH
    while first > 0 and high[first - 1]:
        first -= 1
    while last < len(rates) - 1 and high[last + 1]:
        last += 1
    return (first + last + 1) // 2


def too_many(pairs: PoolPairs, documents: int, thresholds: Values = THRESHOLDS) -> Values:
    """What is taken off the F1 at each threshold, because so many pairs reach it.

    Below the similarity from which on pairs could be listed, as many as can be listed are assumed.
    """
    per_document = pairs.counts(thresholds) / max(1, documents)
    unknown = thresholds < pairs.least - 1e-9
    per_document = np.where(unknown, np.maximum(per_document, PAIRS_PER_DOCUMENT), per_document)
    return np.asarray(_TOO_MANY * np.log2(np.maximum(per_document, 1)))


def _clustered(
    pairs: PoolPairs, labels: PlacedLabels, threshold: float, rule: str | None, *, moves: bool
) -> tuple[str, float]:
    """The rule for clusters and the threshold, by the labelled pairs that are in one cluster.

    Chains join what no pair does, so each rule has its own best threshold near that of the pairs.
    """
    if rule is not None:
        return rule, threshold
    if threshold < pairs.least - 1e-9:  # more pairs than can be listed: clusters are not known
        return _CLUSTERS[0][0], threshold
    steps = [round(threshold + step, 2) for step in _STEPS] if moves else [threshold]
    steps = [step for step in steps if pairs.least <= step <= 1] or [threshold]
    rates = {
        name: np.array([cluster_f1(pairs, labels, step, name) for step in steps])
        for name, _ in _CLUSTERS
    }
    best_name, best_at, best_rate = _CLUSTERS[0][0], threshold, -1.0
    for name, margin in _CLUSTERS:
        smooth = np.convolve(np.pad(rates[name], 1, mode="edge"), np.full(3, 1 / 3), "valid")
        # Of equal ones the nearest to the threshold of the pairs.
        order = np.lexsort((np.abs(np.array(steps) - threshold), -np.round(smooth, 3)))
        at = int(order[0])
        if smooth[at] - margin > best_rate:
            best_name, best_at, best_rate = name, steps[at], float(smooth[at]) - margin
    return best_name, best_at


def cluster_f1(pairs: PoolPairs, labels: PlacedLabels, threshold: float, rule: str) -> float:
    """The F1 of the labelled pairs in one cluster; 0 if chains hold the clusters together."""
    cluster = clusters_at(pairs, threshold, rule)
    if rule != _CLUSTERS[0][0] and _are_chained(cluster, pairs, threshold):
        return 0.0
    found = cluster[labels.a] == cluster[labels.b]
    right = int((found & labels.same).sum())
    return 2 * right / max(1, int(found.sum() + labels.same.sum()))


def _are_chained(cluster: Places, pairs: PoolPairs, threshold: float) -> bool:
    """Whether clusters have grown far beyond the similar pairs, which labels may not show."""
    cluster = cluster[pairs.kinds == np.arange(len(cluster))]  # exact copies do not count
    similar = int(np.count_nonzero(pairs.similarity >= threshold))
    return pairs_in(np.bincount(cluster)) > _CHAINED * similar


def clusters_at(pairs: PoolPairs, threshold: float, rule: str) -> Places:
    """The cluster of each document, as a number: the place of one of its documents."""
    parsed = ClusterRule.parse(rule)
    some = pairs.similarity >= threshold
    a, b, similarity = pairs.a[some], pairs.b[some], pairs.similarity[some]
    kinds = np.where(pairs.kinds < 0, np.arange(len(pairs.kinds)), pairs.kinds)
    count = len(kinds)
    if parsed.kind == "components":
        return np.asarray(components(count, a, b)[kinds])
    if parsed.share is not None:
        return np.asarray(dense(kinds, count, a, b, similarity, parsed.share)[kinds])
    known = Decisions.none(kinds)
    stars_of_pairs(np.arange(count), a, b, similarity, known)
    return known.kept_for  # a copy may come after a kept document that is nearer


@dataclass(frozen=True, eq=False)
class _Chooser:
    """The choice of a measure and a threshold by some labels alone."""

    similarity: Values
    same: Flags
    bonus: Values
    thresholds: Values

    def found(self, learned: Flags, asked: Flags) -> Flags:
        """Which of the labels `asked` the settings chosen by those `learned` find."""
        rates = smoothed_f1(self.similarity[:, learned], self.same[learned], self.thresholds)
        number = int((rates.max(axis=1) + self.bonus).argmax())
        at = self.thresholds[peak_of(rates[number])]
        return np.asarray(self.similarity[number, asked] >= at - 1e-9)

    def f1(self, learned: Flags, asked: Flags) -> float:
        found, same = self.found(learned, asked), self.same[asked]
        return 2 * int((found & same).sum()) / max(1, int(found.sum() + same.sum()))


def _report(
    pool: Pool,
    labels: PlacedLabels,
    chooser: _Chooser,
    rates: Values,
    measures: Sequence[Measure],
    chosen: int,
    ranked: NDArray[np.int64],
) -> LabelReport:
    same = labels.same
    fold = folds_of(labels)
    found = np.zeros(len(same), np.bool_)
    for number in range(_FOLDS):
        own = fold == number
        if own.any() and same[~own].any():
            found[own] = chooser.found(~own, own)
    f1, low, high = f1_with_interval(same, found, np.ones(len(same)))
    right = int((found & same).sum())
    learning = _learning(chooser, same)
    others = [number for number in ranked.tolist() if number != chosen][:3]
    return LabelReport(
        labels=len(same),
        same=int(same.sum()),
        unknown=labels.unknown,
        f1=f1,
        low=low,
        high=high,
        precision=right / max(1, int(found.sum())),
        recall=right / max(1, int(same.sum())),
        in_collection=_expected(
            pool.pairs(measures[chosen], LEAST), chooser.similarity[chosen], same, found
        ),
        runner_ups=tuple(
            Rated(
                {
                    **measures[number].settings,
                    "threshold": float(chooser.thresholds[peak_of(rates[number])]),
                },
                float(rates[number].max()),
            )
            for number in others
        ),
        learning=learning,
        advice=_advice(learning, len(same)),
    )


def stands_for(pairs: PoolPairs, similarity: Values) -> Values:
    """For how many pairs of the collection each label stands: those that are as similar.

    Labels are mostly spread evenly over similarities, and pairs are not: most are dissimilar.
    Labels below the similarity that pairs are listed from count as the lowest that are listed.
    """
    similarity = np.maximum(similarity, pairs.least)
    edges = np.unique(np.quantile(similarity, np.linspace(0, 1, _BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, similarity, side="right")
    of_pairs = np.searchsorted(edges, pairs.similarity, side="right")
    counts = np.bincount(of_pairs, pairs.stands_for, minlength=len(edges) + 1)
    counts[-1] += pairs.copies
    each = counts / np.maximum(np.bincount(bins, minlength=len(edges) + 1), 1)
    return np.asarray(np.maximum(each[bins], 1e-9))


def _expected(pairs: PoolPairs, similarity: Values, same: Flags, found: Flags) -> Expected:
    """The F1 if each label counts for the pairs of the collection that are as similar."""
    known = similarity >= pairs.least
    if not known.any() or not len(pairs.similarity):
        return Expected(0.0, 0.0, 0.0, pairs.least)
    weights = stands_for(pairs, similarity[known])
    return Expected(*f1_with_interval(same[known], found[known], weights), pairs.least)


def folds_of(labels: PlacedLabels) -> Places:
    """A fold for each label; labels that share documents are in one, as far as that is fair."""
    count = int(max(labels.a.max(initial=0), labels.b.max(initial=0))) + 1
    group = components(count, labels.a, labels.b)[labels.a]
    _, group, sizes = np.unique(group, return_inverse=True, return_counts=True)
    if sizes.max(initial=0) > len(group) / _FOLDS:  # one family would be a fold by itself
        group, sizes = np.arange(len(group)), np.ones(len(group), np.int64)
    order = np.random.default_rng(_SEED).permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of_group, filled = np.zeros(len(sizes), np.int64), np.zeros(_FOLDS, np.int64)
    for one in order.tolist():
        fold_of_group[one] = smallest = int(filled.argmin())
        filled[smallest] += sizes[one]
    return np.asarray(fold_of_group[group])


def _learning(chooser: _Chooser, same: Flags) -> tuple[tuple[int, float], ...]:
    """The F1 on the other labels, if a quarter, a half or three quarters of them choose."""
    random, count = np.random.default_rng(_SEED), len(same)
    points = []
    for quarters in (1, 2, 3):
        rates = []
        for _ in range(_DRAWS):
            learned = np.zeros(count, np.bool_)
            learned[random.permutation(count)[: count * quarters // 4]] = True
            if same[learned].any() and same[~learned].any():
                rates.append(chooser.f1(learned, ~learned))
        if rates:
            points.append((count * quarters // 4, float(np.mean(rates))))
    return tuple(points)


def _advice(learning: tuple[tuple[int, float], ...], count: int) -> str:
    """Whether more labels would pay, from what the last ones brought."""
    if len(learning) < 2:
        return f"label more pairs: {count} are too few to say what more would bring"
    gain = learning[-1][1] - learning[0][1]
    # From a quarter to three quarters is a little more than a doubling and a half.
    expected = max(0.0, gain / 1.6)
    if expected < _WORTH:
        return (
            f"more labels would hardly pay: a quarter of these would have given an F1 of "
            f"{learning[0][1]:.2f}, three quarters {learning[-1][1]:.2f}"
        )
    return (
        f"more labels would pay: from a quarter of these to three quarters, F1 rose from "
        f"{learning[0][1]:.2f} to {learning[-1][1]:.2f}; about {count} more might add "
        f"{min(expected, 1 - learning[-1][1]):.2f}"
    )

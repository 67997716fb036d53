"""Rates by threshold: of pairs, and of the clusters that each threshold gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation.found import FoundByRun, SomeSimilarities
from neardup.evaluation.judge import Judge, ListedJudge
from neardup.evaluation.scores import PairCounts, Rates
from neardup.frozen import dataclass

_STEPS = 100
# Clusters are made anew at so many thresholds, at fewer if documents and pairs are many.
_MOST_CLUSTERINGS, _FEWEST_CLUSTERINGS = 50, 8
_WORK = 50_000_000


@dataclass(frozen=True)
class CurvePoint:
    """The pairs at one threshold; for `hamming`, it is the number of differing bits."""

    threshold: float
    counts: PairCounts

    @property
    def rates(self) -> Rates:
        return self.counts.rates


@dataclass(frozen=True)
class Curve:
    """Rates by threshold, the lowest similarity first.

    `pairs` counts pairs whose similarity reaches the threshold, `clusters` those that are in one
    cluster of the run at this threshold; either may be empty. With `at_least`, precision is a lower
    bound; without `has_precision`, recall alone is known of pairs. Without `has_exact_clusters`,
    clusters are those of the removals that reach the threshold.
    """

    pairs: tuple[CurvePoint, ...]
    clusters: tuple[CurvePoint, ...]
    threshold: float
    at_least: bool
    has_precision: bool
    has_exact_clusters: bool
    pair_notes: tuple[str, ...]
    cluster_notes: tuple[str, ...]

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """The curve of clusters, or of pairs if that of clusters is not exact."""
        if self.has_exact_clusters or not self.has_precision or not self.pairs:
            return self.clusters if len(self.clusters) > 1 else self.pairs
        return self.pairs

    @property
    def notes(self) -> tuple[str, ...]:
        """How far the curve of `points` goes, and why."""
        return self.cluster_notes if self.points is self.clusters else self.pair_notes

    @property
    def best(self) -> CurvePoint | None:
        """The point with the highest F1, nearest to the threshold of the run if several have it."""
        known = [point for point in self.points if point.rates.f1 == point.rates.f1]
        if not known or self.at_least:
            return None
        return max(known, key=lambda one: (one.rates.f1, -abs(one.threshold - self.threshold)))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        best = self.best
        return {
            "of_pairs": [_row(point, self.has_precision) for point in self.pairs],
            "of_clusters": [_row(point, True) for point in self.clusters],
            "best_threshold": None if best is None else best.threshold,
            "best_f1": None if best is None else best.rates.f1,
            "notes_of_pairs": list(self.pair_notes),
            "notes_of_clusters": list(self.cluster_notes),
        }


def _row(point: CurvePoint, has_precision: bool) -> dict[str, Any]:
    counts, rates = point.counts, point.rates
    found: dict[str, Any] = {"threshold": point.threshold, "right": counts.right}
    if has_precision:
        found |= {"found": counts.found, "precision": rates.precision}
    found |= {"true": counts.true, "recall": rates.recall}
    return {**found, "f1": rates.f1} if has_precision else found


def curve_of(judge: Judge, similarities: SomeSimilarities | None) -> Curve:
    """The curve; `similarities` are those of the labelled pairs, if labels are pairs."""
    found = judge.found
    notes: list[str] = []
    has_precision = True
    if judge.only_labelled or (similarities is not None and not found.lists_all):
        assert similarities is not None
        grid = _whole_grid(found)
        pairs = _of_labelled(judge, grid, similarities)
        has_precision = judge.only_labelled
        if has_precision:
            notes.append(
                "The curve is of labelled pairs by their own similarity, at any threshold. "
                f"{_reach(found)}"
            )
        else:
            notes.append("The curve of pairs has recall alone: the run does not list all pairs.")
        if not similarities.are_all:
            notes.append(
                f"Of {similarities.unlisted:,} labelled pairs that the run does not list, a random "
                f"sample of {similarities.compared:,} was compared for the curve."
            )
    elif found.lists_all:
        grid = _listed_grid(found)
        counts = ListedJudge(judge).counts(_similarities(found, grid))
        pairs = [CurvePoint(t, one) for t, one in zip(grid, counts, strict=True)]
    else:
        pairs = []
    clusters = _of_clusters(judge)
    return Curve(
        tuple(pairs),
        tuple(clusters),
        found.result.settings.threshold,
        judge.at_least,
        has_precision,
        found.can_recluster,
        tuple(notes),
        (_reach(found),),
    )


def _of_labelled(
    judge: Judge, grid: list[float], similarities: SomeSimilarities
) -> list[CurvePoint]:
    truth = judge.truth
    known = ~np.isnan(similarities.values)
    least = _similarities(judge.found, grid)
    level = np.searchsorted(least, similarities.values[known], "right")
    weights, same = similarities.weights, truth.same
    reach = [
        np.cumsum(np.bincount(level[flags], w, minlength=len(grid) + 1)[::-1])[::-1][1:]
        for flags, w in (
            (same[known], weights[known][same[known]]),
            (slice(None), weights[known]),
        )
    ]
    true = truth.listed_same
    return [
        CurvePoint(t, PairCounts(round(right), round(found), true))
        for t, right, found in zip(grid, *(side.tolist() for side in reach), strict=True)
    ]


def _of_clusters(judge: Judge) -> list[CurvePoint]:
    found = judge.found
    grid = _listed_grid(found)
    if not found.can_recluster and found.result.settings.floor is not None:
        threshold = found.result.settings.threshold
        grid = [step for step in grid if step >= threshold]
    work = found.count + (len(found.result.all_pairs) if found.result.all_pairs is not None else 0)
    most = max(_FEWEST_CLUSTERINGS, min(_MOST_CLUSTERINGS, _WORK // max(1, work)))
    thinned = _thinned(grid, most, found.result.settings.threshold)
    return [CurvePoint(t, judge.partners(found.clusters_at(t)).counts) for t in thinned]


def _thinned(grid: list[float], most: int, always: float) -> list[float]:
    if len(grid) <= most:
        return grid
    chosen = {grid[place] for place in np.linspace(0, len(grid) - 1, most).round().astype(int)}
    return [one for one in grid if one in chosen or one == always]


def _listed_grid(found: FoundByRun) -> list[float]:
    """Steps of 0.01, or of one bit, from the lowest threshold at which all pairs are listed."""
    settings = found.result.settings
    if found.by_distance:
        return _thinned([float(bits) for bits in range(int(settings.threshold), -1, -1)], 101, 0)
    first = int(np.ceil(found.lowest * _STEPS - 1e-9))
    steps = [step / _STEPS for step in range(first, _STEPS + 1)]
    return sorted({found.lowest, settings.threshold, *steps})


def _whole_grid(found: FoundByRun) -> list[float]:
    """Steps over all similarities."""
    settings = found.result.settings
    if found.by_distance:
        most = max(settings.scheme.bits // 2, int(settings.threshold))
        return _thinned([float(bits) for bits in range(most, -1, -1)], 101, settings.threshold)
    return sorted({settings.threshold, *(step / _STEPS for step in range(1, _STEPS + 1))})


def _similarities(found: FoundByRun, grid: list[float]) -> NDArray[np.float64]:
    steps = np.array(grid)
    return 1 - steps / found.result.settings.scheme.bits if found.by_distance else steps


def _reach(found: FoundByRun) -> str:
    """How far the curve of clusters goes, and what to do to see more of it."""
    settings = found.result.settings
    if found.can_recluster:
        if settings.floor is not None:
            return f"The curve of clusters begins at the floor of the run, {settings.floor:g}."
        if found.by_distance:
            return "The curve of clusters ends at the threshold: the run lists no other pairs."
    removals = "The curve of clusters counts the removals of this run that reach a threshold"
    if not found.is_alone:
        return f"{removals}, and goes up only."
    if found.by_distance:
        return f"{removals}; for exact clusters, run neardup dedup with --pairs all."
    floor = f"neardup dedup with a --floor, such as {max(0.05, round(found.lowest / 2, 2)):g}"
    if found.can_recluster:
        return f"The curve of clusters goes up only; to see lower thresholds, run {floor}."
    return f"{removals}, and goes up only; for exact clusters, also at lower ones, run {floor}."

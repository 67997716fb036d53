"""Counts for the plots of an overview."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.runs.cluster_table import ClusterTable
from neardup.runs.folder import RunFolder
from neardup.runs.links import PairFile
from neardup.runs.places import Removals
from neardup.runs.views import Histogram, Matrix

SOURCE = "source"
_MOST_NAMES = 20
_SMALL = 10
_STEPS = 100  # bins of a similarity from 0 to 1


def histograms_of(
    folder: RunFolder, removals: Removals, clusters: ClusterTable, pairs: PairFile
) -> dict[str, Histogram]:
    """All histograms by name: similarity, size, distance and length."""
    near_misses = np.zeros(_STEPS, np.int64)
    distances = np.zeros(int(folder.settings["bits"]) + 1, np.int64)
    for some in pairs.batches():
        missed = some["similarity"] < folder.threshold
        near_misses += _by_similarity(some["similarity"][missed])
        distances += np.bincount(some["distance"], minlength=len(distances))
    return {
        "similarity": _similarity(folder, removals, near_misses),
        "size": _in_ranges(clusters.size, {"clusters": np.ones(len(clusters), np.bool_)}),
        "distance": _distance(distances),
        "length": _in_ranges(removals.words, {"kept": removals.kept, "removed": ~removals.kept}),
    }


def _by_similarity(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Counts in bins of 0.01; 0.29 is in the bin that begins there, although 0.29 * 100 < 29."""
    bins = np.minimum((values * _STEPS + 1e-9).astype(np.int64), _STEPS - 1)
    return np.bincount(np.maximum(bins, 0), minlength=_STEPS)


def _similarity(folder: RunFolder, removals: Removals, near_misses: NDArray[np.int64]) -> Histogram:
    copies = removals.is_copy
    near = removals.similarity[~removals.kept & ~copies]
    counts = {"removed": _by_similarity(near), "near_misses": near_misses}
    least = folder.threshold if folder.floor is None else folder.floor
    used = np.flatnonzero(counts["removed"] + near_misses)
    first = min(int(least * _STEPS + 1e-9), _STEPS - 1, *used[:1].tolist())
    edges = [round(step / _STEPS, 2) for step in range(first, _STEPS + 1)]
    return Histogram(
        tuple(edges[:-1]),
        tuple(edges[1:]),
        {name: tuple(values[first:].tolist()) for name, values in counts.items()},
        {"copies": int(copies.sum())},
    )


def _distance(counts: NDArray[np.int64]) -> Histogram:
    used = np.flatnonzero(counts)
    last = int(used[-1]) + 1 if len(used) else 0
    bits = tuple(map(float, range(last)))
    return Histogram(bits, bits, {"pairs": tuple(counts[:last].tolist())}, {})


def _in_ranges(values: NDArray[np.integer], series: dict[str, NDArray[np.bool_]]) -> Histogram:
    """Counts of numbers: one by one up to ten, then in ranges that double: 11–20, 21–40."""
    if not len(values):
        return Histogram((), (), dict.fromkeys(series, ()), {})
    least, most = int(values.min()), int(values.max())
    begins = [*range(_SMALL + 1)]
    while begins[-1] < most:
        begins.append((begins[-1] - 1) * 2 + 1 if begins[-1] > _SMALL else _SMALL + 1)
    edges = np.array([*begins, begins[-1] * 2])
    first = int(np.searchsorted(edges, least, "right")) - 1
    last = int(np.searchsorted(edges, most, "right"))
    begins, edges = begins[first:last], edges[first : last + 1]
    ends = [*(begin - 1 for begin in begins[1:]), max(most, begins[-1])]
    counts = {
        name: tuple(np.histogram(values[flags], edges)[0].tolist())
        for name, flags in series.items()
    }
    return Histogram(tuple(map(float, begins)), tuple(map(float, ends)), counts, {})


def source_matrix(removals: Removals) -> Matrix:
    """Which source repeats which."""
    return matrix_of(SOURCE, removals.sources, removals.source_names, *_removed_and_kept(removals))


def _removed_and_kept(removals: Removals) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    return removals.removed, removals.kept_for[removals.removed], removals.documents


def matrix_of(
    column: str,
    numbers: NDArray[np.int32],
    names: Sequence[str],
    removed: NDArray[np.int64],
    kept_for: NDArray[np.int64],
    documents: int,
) -> Matrix:
    """Which value repeats which: `numbers` has the value of each document, or -1 for none."""
    inside = kept_for < documents
    rows = numbers[removed].astype(np.int64)
    columns = np.full(len(removed), -1, np.int64)
    columns[inside] = numbers[kept_for[inside]]
    used = np.bincount(rows[rows >= 0], minlength=len(names))
    used += np.bincount(columns[columns >= 0], minlength=len(names))
    order = np.lexsort((np.arange(len(names)), -used))
    order = order[used[order] > 0]
    shown, rest = order[:_MOST_NAMES], len(order) - _MOST_NAMES
    size = len(shown) + (rest > 0)
    of_name = np.full(len(names) + 1, -1, np.int64)  # the last is for no value
    of_name[order] = len(shown)
    of_name[shown] = np.arange(len(shown))
    row, col = of_name[rows], of_name[columns]
    known = inside & (row >= 0) & (col >= 0)
    counts = np.zeros((size, size), np.int64)
    np.add.at(counts, (row[known], col[known]), 1)
    against = None
    if not inside.all():
        outside = ~inside & (row >= 0)
        against = tuple(np.bincount(row[outside], minlength=size).tolist())
    labels = [names[number] for number in shown.tolist()]
    return Matrix(
        column,
        tuple([*labels, "other"] if rest > 0 else labels),
        tuple(tuple(line) for line in counts.tolist()),
        max(0, rest),
        against,
    )

"""Warnings about results that remove more than was probably meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

_LARGE, _LARGE_SHARE = 100, 0.01
_UNPROVEN_SHARE = 0.1
_MOST_NAMED = 3
_MOST_CONFLICTS = 5
_REMEDY = "look at report.html; then raise --threshold or use longer features such as word:5"


def cautions(result: Result) -> list[str]:
    """A sentence or two for each reason to look at the result before using it."""
    return [*_most_are_removed(result), *_loose_clusters(result), *_about_decisions(result)]


def _about_decisions(result: Result) -> Iterator[str]:
    """Decisions that could not be obeyed; the first of each kind are named."""
    if result.obeyed is None:
        return
    conflicts, stale = result.obeyed.all_conflicts, result.obeyed.stale
    for sentence in conflicts[:_MOST_CONFLICTS]:
        yield f"Conflict of decisions: {sentence}."
    if len(conflicts) > _MOST_CONFLICTS:
        more = len(conflicts) - _MOST_CONFLICTS
        yield f"{more:,} more conflicts of decisions are in summary.json."
    if stale:
        count = "1 decision names" if len(stale) == 1 else f"{len(stale):,} decisions name"
        yield (
            f"{count} documents that are not in the input, or have another content now. "
            f"The first: {stale[0]}."
        )


def _most_are_removed(result: Result) -> Iterator[str]:
    filled = len(result.collected.filled)
    # What people decided on is meant.
    removed = len(result.clustering.removed) - int(result.decided.sum())
    if removed > filled / 2:
        yield (
            f"{removed:,} of {filled:,} documents that are not empty are removed "
            f"({removed / filled:.0%}). If that is not what you expect, {_REMEDY}."
        )


def _loose_clusters(result: Result) -> Iterator[str]:
    """Large clusters whose members hardly reach the threshold, or do not; the largest first."""
    clustering = result.clustering
    sizes = clustering.sizes
    starts = np.searchsorted(clustering.cluster, np.arange(len(clustering) + 1))
    large = max(_LARGE, _LARGE_SHARE * len(result.collected))
    by_size = np.argsort(-sizes, kind="stable")
    found = 0
    for number in by_size[sizes[by_size] >= large].tolist():
        why = _looseness(result, slice(int(starts[number]), int(starts[number + 1])))
        if why:
            found += 1
            if found <= _MOST_NAMED:
                around = result.id_at(int(clustering.around[starts[number]]))
                yield f"The cluster around {around} has {sizes[number]:,} documents, and {why}."
    if found > _MOST_NAMED:
        yield f"{found - _MOST_NAMED:,} more clusters are as large and loose."


def _looseness(result: Result, rows: slice) -> str | None:
    """Why a cluster is loose, and what to do; None if it is not."""
    clustering, least = result.clustering, result.settings.least
    by_similarity = (clustering.place[rows] != clustering.around[rows]) & ~result.decided[rows]
    similarity = clustering.similarity[rows][by_similarity]
    similarity = similarity[~np.isnan(similarity)]
    if clustering.via is not None:
        below = int((similarity < least).sum())
        if below <= _UNPROVEN_SHARE * (rows.stop - rows.start):
            return None
        return (
            f"{below:,} of them are below the threshold: only chains of pairs connect them to it. "
            f"Use --cluster star, or {_REMEDY}"
        )
    near = similarity[similarity < 1]
    if not len(near) or np.median(near) >= least + (1 - least) / 4:
        return None
    return (
        f"half of those that are not identical to it have a similarity of {np.median(near):.3f} or "
        f"less, near the threshold of {least:.3g}. They may share a template rather than their "
        f"content: {_REMEDY}"
    )

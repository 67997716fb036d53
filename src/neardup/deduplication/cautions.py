"""Warnings about results that remove more than was probably meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

_LARGE, _LARGE_SHARE = 100, 0.01
_UNPROVEN_SHARE = 0.1
_REMEDY = "look at report.html; then raise --threshold or use longer features such as word:5"


def cautions(result: Result) -> list[str]:
    """A sentence or two for each reason to look at the result before using it."""
    return [*_most_are_removed(result), *_loose_clusters(result)]


def _most_are_removed(result: Result) -> Iterator[str]:
    filled, removed = len(result.collected.filled), len(result.clustering.removed)
    if removed > filled / 2:
        yield (
            f"{removed:,} of {filled:,} documents that are not empty are removed "
            f"({removed / filled:.0%}). If that is not what you expect, {_REMEDY}."
        )


def _loose_clusters(result: Result) -> Iterator[str]:
    """Large clusters whose members hardly reach the threshold, or do not."""
    clustering, least = result.clustering, result.settings.least
    in_components = clustering.via is not None
    large = max(_LARGE, _LARGE_SHARE * len(result.collected))
    starts = np.searchsorted(clustering.cluster, np.arange(len(clustering) + 1))
    sizes = clustering.sizes
    for number in np.flatnonzero(sizes >= large).tolist():
        rows = slice(int(starts[number]), int(starts[number + 1]))
        member = clustering.place[rows] != clustering.around[rows]
        similarity = clustering.similarity[rows][member]
        similarity = similarity[~np.isnan(similarity)]
        around = result.ids_at(clustering.around[rows][:1])[0].as_py()
        begin = f"The cluster around {around!r} has {sizes[number]:,} documents, and "
        if in_components:
            below = int((similarity < least).sum())
            if below > _UNPROVEN_SHARE * sizes[number]:
                yield (
                    f"{begin}{below:,} of them are below the threshold: only chains of pairs "
                    f"connect them to it. Use --cluster star, or {_REMEDY}."
                )
            continue
        near = similarity[similarity < 1]
        if len(near) and np.median(near) < least + (1 - least) / 4:
            yield (
                f"{begin}half of those that are not identical to it have a similarity below "
                f"{np.median(near):.3f}, near the threshold of {least:.3g}. They may share a "
                f"template rather than their content: {_REMEDY}."
            )

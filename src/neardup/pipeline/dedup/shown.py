"""Which documents are shown to people: some of the largest clusters, and the weakest pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from neardup.pipeline.dedup.result import Result

CLUSTERS = 10
PAIRS = 10
_MEMBERS = 4


@dataclass(frozen=True, eq=False)
class ShownCluster:
    """A cluster of `size` documents: the row of its kept one, and some rows of others."""

    size: int
    first: int
    others: NDArray[np.int64]


def largest_clusters(result: Result, count: int = CLUSTERS) -> list[ShownCluster]:
    """The largest clusters; of those that keep none, the first document stands first."""
    groups = result.groups
    order = np.argsort(-groups.sizes, kind="stable")[:count]
    starts = np.searchsorted(groups.cluster, order)
    found = []
    for number, start in zip(order.tolist(), starts.tolist(), strict=True):
        size = int(groups.sizes[number])
        rows = np.arange(start, start + size)
        kept = rows[groups.kept[rows]]
        others = rows[~groups.kept[rows]][:_MEMBERS]
        first = int(kept[0]) if len(kept) else int(others[0])
        found.append(ShownCluster(size, first, others[others != first]))
    return found


def shown_places(result: Result) -> NDArray[np.int64]:
    """The places of all documents of the result's own source that are shown."""
    rows = [np.append(one.others, one.first) for one in largest_clusters(result)]
    places = [result.groups.place[some] for some in rows]
    weakest = result.weakest_rows(PAIRS)
    pairs = [result.found.a[weakest]]
    if result.other_source is result.source:
        pairs.append(result.found.b[weakest])
    return np.concatenate([np.zeros(0, np.int64), *places, *pairs])

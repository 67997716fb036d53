"""Numbers about what was found, small enough to be collected from all splits and added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.settings import DedupSettings
from neardup.frozen import dataclass

SHOWN = 10  # clusters and removals of the report
MEMBERS = 4  # of a shown cluster
_STEPS = 1000  # of similarity, in a histogram
_MOST_SIZES = 1 << 22


def counted(settings: DedupSettings, stored: Mapping[str, Any]) -> dict[str, Any]:
    """What a split has to tell of its removals, clusters and pairs."""
    removed, clusters, pairs = (stored.get(name) for name in ("removed", "clusters", "pairs"))
    found: dict[str, Any] = {"removed": 0, "exact": 0, "unproven": 0, "clusters": 0, "pairs": 0}
    if removed is not None:
        similarity = _numbers(removed["similarity"])
        copied = _numbers(removed["copied"]).astype(np.bool_)
        near = similarity[~copied]
        found["removed"], found["exact"] = len(removed), int(copied.sum())
        found["unproven"] = int((similarity < settings.least).sum())
        found["near"] = np.bincount(_step(near), minlength=_STEPS + 1)
    if clusters is not None:
        firsts, starts, sizes = np.unique(
            stored["clusters_first"], return_index=True, return_counts=True
        )
        found["clusters"] = len(firsts)
        found["sizes"], found["with_size"] = np.unique(sizes, return_counts=True)
        found |= _largest(clusters, starts, sizes) | _weakest(clusters)
    if pairs is not None:
        found["pairs"] = len(pairs)
        found["distances"] = np.bincount(_numbers(pairs["distance"]).astype(np.int64))
    return found


def _step(similarity: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.clip(np.rint(similarity * _STEPS), 0, _STEPS).astype(np.int64)


def _numbers(column: pa.Array) -> NDArray[Any]:
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _largest(
    clusters: pa.RecordBatch, starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> dict[str, Any]:
    """The largest clusters of a split: the document in the middle, and some of the others."""
    rows, owner = [], []
    for number in np.argsort(-sizes, kind="stable")[:SHOWN].tolist():
        every = np.arange(starts[number], starts[number] + sizes[number])
        places, kept = _numbers(clusters["_place"])[every], _numbers(clusters["kept"])[every]
        others = every[~kept.astype(np.bool_) & (places != _numbers(clusters["_around"])[every])]
        chosen = np.concatenate((every[:1], others[:MEMBERS]))
        rows.append(chosen)
        owner.append(np.full(len(chosen), sizes[number]))
    taken = clusters.take(pa.array(np.concatenate(rows)))
    return {"largest": taken, "largest_size": np.concatenate(owner)}


def _weakest(clusters: pa.RecordBatch) -> dict[str, Any]:
    """The removals of a split that are least similar."""
    removed = np.flatnonzero(~_numbers(clusters["kept"]).astype(np.bool_))
    similarity = _numbers(clusters["similarity"])[removed]
    best = removed[np.argsort(similarity, kind="stable")[:SHOWN]]
    return {"weakest": clusters.take(pa.array(best))}


@dataclass(frozen=True, eq=False)
class Figures:
    """The numbers of all splits together."""

    parts: Sequence[Mapping[str, Any]]

    def total(self, name: str) -> int:
        """The sum of a count."""
        return sum(int(part.get(name, 0)) for part in self.parts)

    def cluster_sizes(self) -> NDArray[np.int64]:
        """The size of each cluster; beyond some millions, of a share of them."""
        sizes, counts = self._added("sizes", "with_size")
        share = max(1.0, counts.sum() / _MOST_SIZES)
        return np.repeat(sizes, np.ceil(counts / share).astype(np.int64))

    def near_similarities(self) -> NDArray[np.float64]:
        """The similarities of near copies, rounded to a thousandth."""
        steps = np.zeros(_STEPS + 1, np.int64)
        for part in self.parts:
            if "near" in part:
                steps += part["near"]
        share = max(1.0, steps.sum() / _MOST_SIZES)
        return np.repeat(np.arange(_STEPS + 1) / _STEPS, np.ceil(steps / share).astype(np.int64))

    def distances(self, bits: int) -> NDArray[np.int64]:
        """The number of listed pairs by the bits in which they differ."""
        found = np.zeros(bits + 1, np.int64)
        for part in self.parts:
            if "distances" in part:
                found[: len(part["distances"])] += part["distances"]
        return found

    def _added(self, values: str, counts: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        every = [part for part in self.parts if values in part]
        none = np.zeros(0, np.int64)
        value = np.concatenate([none, *(part[values] for part in every)])
        count = np.concatenate([none, *(part[counts] for part in every)])
        found, which = np.unique(value, return_inverse=True)
        return found, np.bincount(which, count, len(found)).astype(np.int64)

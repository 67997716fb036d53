"""What a run found: its clusters by document, its listed pairs, and any similarity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import components
from neardup.deduplication.result import Result
from neardup.deduplication.rethreshold import clusters_at, true_similarities
from neardup.frozen import dataclass
from neardup.pairs.all_pairs import PairBatch, turns_of
from neardup.settings import INCLUSION

Places = NDArray[np.int64]
Similarities = NDArray[np.float64]
Flags = NDArray[np.bool_]

ALONE = -1
# Features are made of the documents of so many words at once, about 0.5 GB.
_MOST_WORDS = 20_000_000
_SEED = 20240229


class FoundByRun:
    """A result by places, which go on through the other collection, if there is one."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.both = result.both
        self.documents, self.count = len(self.both.left), self.both.count
        self.is_alone = self.both.right is None
        self.clusters = self._numbers(result.clustering.place, result.clustering.cluster)
        around = result.clustering.around
        others = around >= self.documents
        self.clusters[around[others]] = result.clustering.cluster[others]

    @property
    def lists_all(self) -> bool:
        """Whether every pair that reaches the threshold is known, and none by decision."""
        result = self.result
        return result.all_pairs is not None and result.obeyed is None and self.is_alone

    @property
    def by_distance(self) -> bool:
        return self.result.settings.similarity == "hamming"

    @property
    def lowest(self) -> float:
        """The lowest threshold at which all pairs are known; with `by_distance`, the highest."""
        settings = self.result.settings
        return settings.threshold if settings.floor is None else settings.floor

    def _numbers(self, places: Places, clusters: Places) -> Places:
        found = np.full(self.count, ALONE, np.int64)
        found[places] = clusters
        return found

    def partners(self, clusters: Places | None = None) -> Places:
        """How many documents each is in a cluster with, of those that the run compared it with.

        Two documents of the other collection are not compared, nor are two of the input if the run
        compares it with the other collection alone. Without `clusters`, those of the run count.
        """
        clusters = self.clusters if clusters is None else clusters
        number = np.maximum(clusters, 0)
        most = int(number.max()) + 1 if self.count else 1
        own, others = (
            np.bincount(number[part][clusters[part] >= 0], minlength=most)[number]
            for part in (slice(self.documents), slice(self.documents, None))
        )
        found = others + (own - 1 if self.both.within else 0)
        found[self.documents :] = own[self.documents :]
        found[clusters < 0] = 0
        return np.asarray(found)

    def together(self, a: Places, b: Places, clusters: Places | None = None) -> Flags:
        """Whether two documents are in one cluster; a place of -1 is in none."""
        clusters = np.append(self.clusters if clusters is None else clusters, ALONE)
        one, other = clusters[a], clusters[b]
        return np.asarray((one == other) & (one >= 0))

    def clusters_at(self, threshold: float) -> Places:
        """The clusters at another threshold.

        If the run lists all pairs, these are the clusters it would make; else the removals of the
        run that reach the threshold.
        """
        if self.can_recluster:
            found = clusters_at(self.result, threshold)
            return self._numbers(found.place, found.cluster)
        batch = next(self.listed())
        if self.by_distance:
            threshold = 1 - threshold / self.result.settings.scheme.bits
        enough = batch.similarity >= threshold
        nodes = components(self.count, batch.a[enough], batch.b[enough])
        sizes = np.bincount(nodes, minlength=self.count)
        return np.where(sizes[nodes] > 1, nodes, ALONE) if self.count else nodes

    @property
    def can_recluster(self) -> bool:
        """Whether the clusters at other thresholds are known."""
        return self.result.all_pairs is not None and self.is_alone

    def listed(self) -> Iterator[PairBatch]:
        """The pairs that the run lists, without exact copies: all, or one for each removal."""
        result = self.result
        if result.all_pairs is not None:
            yield from result.all_pairs.batches()
            return
        evidence = result.evidence
        distance = evidence.distance
        if distance is None:
            distance = np.zeros(len(evidence.a), np.uint16)
        yield PairBatch(evidence.a, evidence.b, distance, evidence.similarity)

    def listed_similarities(self, a: Places, b: Places) -> tuple[Similarities, Flags]:
        """The similarity of pairs that are listed or exact copies, and whether it is known.

        It is known, and NaN, for a place of -1 and for documents without words.
        """
        kinds = self.both.kinds
        found = np.full(len(a), np.nan)
        known = np.zeros(len(a), np.bool_)
        outside = (a < 0) | (b < 0)
        one, other = (np.where(outside, ALONE, kinds[x]) for x in (a, b))
        nothing = outside | (one < 0) | (other < 0)
        known |= nothing
        is_copy = ~nothing & (one == other)
        found[is_copy], known[is_copy] = 1.0, True
        self._look_up(np.minimum(one, other), np.maximum(one, other), found, known)
        return found, known

    def similarities(self, a: Places, b: Places) -> SomeSimilarities:
        """The true similarity of pairs (a < b), from the list of pairs or the texts.

        It is NaN for a place of -1 and for documents without words. Where texts are too many to be
        read for all, it is known of some pairs only, which are chosen at random.
        """
        found, known = self.listed_similarities(a, b)
        rest = np.flatnonzero(~known)
        rows = rest[self._affordable(a[rest], b[rest])]
        weights = known.astype(np.float64)
        if len(rows):
            found[rows] = true_similarities(self.result, *self._directed(a[rows], b[rows]))
            weights[rows] = len(rest) / len(rows)
        return SomeSimilarities(found, weights, len(rest), len(rows))

    def _directed(self, a: Places, b: Places) -> tuple[Places, Places]:
        """The documents of pairs (a < b) in the direction of the run: for inclusion, the later one.

        All others are compared as they are.
        """
        if self.result.settings.similarity != INCLUSION:
            return a, b
        turns = turns_of(self.result.order)
        inside = b < len(self.both.left)
        turned = inside & (turns[a] < turns[np.where(inside, b, 0)])
        return np.where(turned, b, a), np.where(turned, a, b)

    def _look_up(self, a: Places, b: Places, found: Similarities, known: Flags) -> None:
        """Fill in what the list of pairs has, by the first documents of groups of copies."""
        keys = np.where(known, -1, a * self.count + b)
        order = np.argsort(keys, kind="stable")
        in_order = keys[order]
        for batch in self.listed():
            kinds = self.both.kinds
            one, other = kinds[batch.a], kinds[batch.b]
            listed = np.minimum(one, other) * self.count + np.maximum(one, other)
            first = np.argsort(listed, kind="stable")
            at = np.searchsorted(listed[first], in_order)
            at = np.minimum(at, max(0, len(first) - 1))
            if not len(first):
                continue
            hit = (listed[first][at] == in_order) & (in_order >= 0)
            found[order[hit]] = batch.similarity[first[at[hit]]]
            known[order[hit]] = True

    def _affordable(self, a: Places, b: Places) -> Places:
        """All rows, or as many at random as have texts that fit into memory."""
        words = np.ones(self.count, np.int64)
        words[: self.documents] = np.maximum(1, self.both.left.words)
        words[self.documents :] = int(words[: self.documents].mean()) if self.documents else 1
        if int(words[np.union1d(a, b)].sum()) <= _MOST_WORDS:
            return np.arange(len(a))
        mixed = np.random.default_rng(_SEED).permutation(len(a))
        spent = np.cumsum(words[a[mixed]] + words[b[mixed]])
        return np.sort(mixed[spent <= _MOST_WORDS])


@dataclass(frozen=True, eq=False)
class SomeSimilarities:
    """Similarities of pairs, NaN where there is none or none is known.

    `weights` says how many pairs each stands for: 0 for one that is not known. `compared` of
    `unlisted` pairs were compared, those that the run does not list.
    """

    values: Similarities
    weights: NDArray[np.float64]
    unlisted: int
    compared: int

    @property
    def are_all(self) -> bool:
        return self.compared == self.unlisted

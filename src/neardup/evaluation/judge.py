"""Clusters and listed pairs held against the truth: how many are right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import pairs_in
from neardup.evaluation.found import FoundByRun
from neardup.evaluation.rates import Partners, partners_of_clusters, partners_of_pairs
from neardup.evaluation.scores import PairCounts
from neardup.evaluation.truth import Truth
from neardup.frozen import dataclass

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Judge:
    """Says how right clusters are, as far as the labels go.

    A column, or pairs that are complete, tell about every pair; pairs labelled same and different
    only about themselves. If no pair is labelled different, every other one counts as false, and
    precision is a lower bound.
    """

    def __init__(self, found: FoundByRun, truth: Truth) -> None:
        self.found, self.truth = found, truth
        self._known = np.flatnonzero(truth.labelled)

    @property
    def only_labelled(self) -> bool:
        """Whether pairs without a label do not count."""
        return not self.truth.is_complete and self.truth.has_different

    @property
    def at_least(self) -> bool:
        """Whether precision is a lower bound."""
        return not self.truth.has_different

    def clusters(self) -> Places:
        """The true clusters of the documents that `partners` counts."""
        truth = self.truth
        return truth.clusters[self._known] if truth.from_column else truth.clusters

    def partners(self, clusters: Places) -> Partners:
        """How many partners each document has in these clusters, by the labels as they are."""
        truth = self.truth
        if truth.from_column:
            return partners_of_clusters(truth.clusters[self._known], clusters[self._known])
        together = self.found.together(truth.a, truth.b, clusters)
        of_pairs = partners_of_pairs(self.found.count, truth.a, truth.b, truth.same, together)
        if self.only_labelled:
            return of_pairs
        return Partners(of_pairs.right, self.found.partners(clusters), of_pairs.true)

    def closed_partners(self, clusters: Places) -> Partners:
        """The same if a = b and b = c mean a = c."""
        if self.only_labelled:
            return self._closed_labelled(clusters)
        return partners_of_clusters(self.truth.clusters, clusters)

    def _closed_labelled(self, clusters: Places) -> Partners:
        """All pairs that labels connect are the same; those labelled different are different."""
        truth = self.truth
        closed = partners_of_clusters(truth.clusters, clusters)
        different = ~truth.same
        different[truth.contradictions] = False
        a, b = truth.a[different], truth.b[different]
        together = self.found.together(a, b, clusters)
        no = np.zeros(len(a), np.bool_)
        false = partners_of_pairs(self.found.count, a, b, no, together)
        return Partners(closed.right, closed.right + false.found, closed.true)

    def is_true(self, a: Places, b: Places) -> Flags:
        """Whether two documents are in one true cluster."""
        one, other = self.truth.clusters[a], self.truth.clusters[b]
        return np.asarray((one == other) & (one >= 0))


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Groups of exact copies, and how many documents of each true cluster they have.

    `entries` are groups with a true cluster, in order: `number` of the group, then of the cluster.
    """

    sizes: Places  # of each group, by its first document
    keys: Places
    counts: Places
    begins: Places  # the first entry of each group, by its first document
    width: int

    @classmethod
    def of(cls, kinds: Places, labels: Places, labelled: Flags) -> _Kinds:
        count = len(kinds)
        known = labelled & (kinds >= 0)
        width = int(labels.max(initial=0)) + 1
        named = known & (labels >= 0)
        keys, counts = np.unique(kinds[named] * width + labels[named], return_counts=True)
        sizes = np.bincount(kinds[known], minlength=count)
        begins = np.searchsorted(keys, np.arange(count + 1) * width)
        return cls(sizes, keys, counts, begins, width)

    def matches(self, a: Places, b: Places) -> tuple[Places, Places, Places]:
        """Entries of both sides of pairs of groups with one true cluster, and whose pair it is."""
        entries = self.begins[a + 1] - self.begins[a]
        pair = np.repeat(np.arange(len(a)), entries)
        first = np.concatenate(([0], np.cumsum(entries)[:-1])) if len(a) else entries
        one = np.arange(len(pair)) - first[pair] + self.begins[a[pair]]
        wanted = b[pair] * self.width + self.keys[one] % self.width
        other = np.minimum(np.searchsorted(self.keys, wanted), max(0, len(self.keys) - 1))
        hit = self.keys[other] == wanted if len(self.keys) else np.zeros(len(pair), np.bool_)
        return one[hit], other[hit], pair[hit]


class ListedJudge:
    """Counts all pairs that a run lists, those of exact copies included.

    It is for a run that lists all pairs, and labels that tell about every pair, or take those
    without a label as false.
    """

    def __init__(self, judge: Judge) -> None:
        self._found, self._truth = judge.found, judge.truth
        truth, count = self._truth, self._found.count
        labelled = truth.labelled if truth.from_column else np.ones(count, np.bool_)
        self._known = np.flatnonzero(labelled)
        self._kinds = _Kinds.of(self._found.both.kinds, truth.clusters, labelled)

    def counts(self, least: NDArray[np.float64]) -> list[PairCounts]:
        """The pairs that reach each similarity; these ascend."""
        kinds, truth = self._kinds, self._truth
        found = np.zeros(len(least) + 1, np.int64)
        right = np.zeros(len(least) + 1, np.int64)
        for batch in self._found.listed():
            level = np.searchsorted(least, batch.similarity, "right")
            np.add.at(found, level, kinds.sizes[batch.a] * kinds.sizes[batch.b])
            if truth.from_column:
                one, other, pair = kinds.matches(batch.a, batch.b)
                np.add.at(right, level[pair], kinds.counts[one] * kinds.counts[other])
        found[-1] += pairs_in(kinds.sizes)
        if truth.from_column:
            right[-1] += pairs_in(kinds.counts)
            true = pairs_in(np.bincount(truth.clusters[truth.clusters >= 0]))
        else:
            a, b = truth.a[truth.same], truth.b[truth.same]
            similarity, _ = self._found.listed_similarities(a, b)
            reached = similarity[~np.isnan(similarity)]
            np.add.at(right, np.searchsorted(least, reached, "right"), 1)
            true = truth.listed_same
        # A pair of level k reaches the first k similarities.
        reach = [np.cumsum(side[::-1])[::-1][1:].tolist() for side in (right, found)]
        return [PairCounts(r, f, true) for r, f in zip(*reach, strict=True)]

    def partners(self, least: float) -> Partners:
        """How many partners each document has in pairs that reach a similarity."""
        kinds, truth, count = self._kinds, self._truth, self._found.count
        of_kind = self._found.both.kinds
        found = np.maximum(kinds.sizes - 1, 0)
        right = kinds.counts - 1
        for batch in self._found.listed():
            enough = batch.similarity >= least
            a, b = batch.a[enough], batch.b[enough]
            np.add.at(found, a, kinds.sizes[b])
            np.add.at(found, b, kinds.sizes[a])
            if truth.from_column:
                one, other, _ = kinds.matches(a, b)
                np.add.at(right, one, kinds.counts[other])
                np.add.at(right, other, kinds.counts[one])
        found_of = np.where(of_kind >= 0, found[of_kind], 0)
        if not truth.from_column:
            similarity, _ = self._found.listed_similarities(truth.a, truth.b)
            pairs = partners_of_pairs(count, truth.a, truth.b, truth.same, similarity >= least)
            return Partners(pairs.right, found_of, pairs.true)
        named = (of_kind >= 0) & (truth.clusters >= 0)
        entry = np.searchsorted(kinds.keys, of_kind[named] * kinds.width + truth.clusters[named])
        right_of = np.zeros(count, np.int64)
        right_of[named] = right[entry]
        known = self._known
        true = partners_of_clusters(truth.clusters[known], truth.clusters[known]).true
        return Partners(right_of[known], found_of[known], true)

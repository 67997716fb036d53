"""Which documents are removed, for which kept document, and the proof of each removal."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import Clusters, KeepPolicy, chains, components, dense
from neardup.collection.budget import Budget
from neardup.collection.collected import Collected
from neardup.collection.deliveries import NearDocuments
from neardup.collection.settings import DedupSettings
from neardup.collection.source import DocumentProgress
from neardup.deduplication.listed_pairs import HeldPairs, PairList, PairsBeside
from neardup.deduplication.told_components import told_components
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.pairs.all_pairs import PairBatch, joined
from neardup.pairs.by_features.verify import Searched, TrueSimilarity
from neardup.pairs.search import distances, search_both
from neardup.pairs.stars import Before, find_stars, stars_after
from neardup.pairs.told import Told

Places = NDArray[np.int64]
Similarities = NDArray[np.float64]
# The true similarity of documents of the collection to others, both by their places.
SimilarityOf = Callable[[Places, Places], Similarities]
DistancesOf = Callable[[Places, Places], NDArray[np.uint16]]


@dataclass(frozen=True, eq=False)
class Both:
    """A collection, and the other one that it is compared with, if there is one.

    Places go on through the other collection. Without `within`, documents are compared with those
    of the other collection only.
    """

    left: Collected
    right: Collected | None
    within: bool = True

    @property
    def count(self) -> int:
        """The number of documents of both."""
        return len(self.left) + (0 if self.right is None else len(self.right))

    @cached_property
    def kinds(self) -> Places:
        """The place of the first document with the same features; -1 for empty documents."""
        found = np.full(self.count, -1, np.int64)
        begins = 0
        for side in (self.left, self.right):
            if side is not None:
                found[begins + side.filled] = begins + side.firsts[side.copies.group_of]
                begins += len(side)
        return found

    def distances(self, a: Places, b: Places, fingerprinter: Fingerprinter) -> NDArray[np.uint16]:
        """The differing bits of documents of the collection (`a`) and of any others (`b`)."""
        own = b < len(self.left)
        # One call for both: it may read all features from a file.
        left = self.left.rows_at(np.concatenate((a, b[own])), fingerprinter)
        others = np.empty((len(b), left.shape[1]), np.uint64)
        others[own] = left[len(a) :]
        if self.right is not None and not own.all():
            others[~own] = self.right.rows_at(b[~own] - len(self.left), fingerprinter)
        return distances(left[: len(a)], others)

    def similarities(
        self, a: Places, b: Places, fingerprinter: Fingerprinter, settings: DedupSettings
    ) -> Similarities:
        """The true similarity of documents of the collection (`a`) and of any others (`b`)."""
        if settings.similarity == "hamming":
            return 1 - self.distances(a, b, fingerprinter) / fingerprinter.scheme.bits
        found = np.zeros(len(a))
        for side, chosen, begins in self._sides_of(b):
            one, other = a[chosen], b[chosen] - begins
            if settings.is_scored:
                from neardup.pairs.by_score import score_pairs  # few runs need it

                others = None if side is self.left else side
                found[chosen] = score_pairs(self.left, others, one, other, fingerprinter, settings)
                continue
            sides = [
                Searched(self.left.store, np.unique(one)),
                Searched(side.store, np.unique(other)),
            ]
            if side is self.left:
                sides = [Searched(self.left.store, np.union1d(one, other))]
            true = TrueSimilarity(
                sides,
                settings.similarity,
                Budget(settings.memory).work // 2,
                fingerprinter.threads,
            )
            by_first = np.argsort(one, kind="stable")
            some = np.empty(len(one))
            some[by_first] = true.of(one[by_first], other[by_first])
            found[chosen] = some
        return found

    def _sides_of(self, places: Places) -> list[tuple[Collected, Places, int]]:
        """The collections that the places are in, which of the places, and where it begins."""
        n = len(self.left)
        own, others = np.flatnonzero(places < n), np.flatnonzero(places >= n)
        sides = [(self.left, own, 0)] if len(own) else []
        if self.right is not None and len(others):
            sides.append((self.right, others, n))
        return sides


@dataclass(frozen=True, eq=False)
class Found:
    """How the search went: what it compared, by which plan, and what the plan finds.

    `accepted` is the number of accepted pairs, None if the search did not look for all of them.
    """

    candidates: int
    false_by_distance: NDArray[np.int64]
    plan: str
    reason: str
    curve: tuple[tuple[float, float], ...] | None
    accepted: int | None


@dataclass(frozen=True, eq=False)
class Removals:
    """For each document the kept one it is a duplicate of (or itself), and their similarity.

    In connected components and dense clusters, `via` is the next document in the chain of pairs to
    the kept one, and `link` the similarity to that one. `clashes` are pairs of documents that
    people want to keep although they are similar.
    """

    kept_for: Places
    similarity: Similarities
    via: Places | None = None
    link: Similarities | None = None
    clashes: Places | None = None

    def clusters(self, policy: KeepPolicy, told: Told | None = None) -> Clusters:
        """The clusters around the kept documents; those that people want to keep stay."""
        return Clusters.of(
            self.kept_for,
            self.similarity,
            via=self.via,
            link=self.link,
            policy=policy,
            pinned=None if told is None else np.array(sorted(told.pinned), np.int64),
        )


@dataclass(frozen=True, eq=False)
class Evidence:
    """One pair for each removed document, by places (a < b, in order): why it was removed.

    It is the pair of the document and of the one it is a duplicate of; in connected components and
    dense clusters, of the document and of the next one in the chain. `distance` is None if pairs
    are not listed.
    """

    a: Places
    b: Places
    distance: NDArray[np.uint16] | None
    similarity: Similarities


def find_removals(
    both: Both,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    progress: DocumentProgress | None = None,
    told: Told | None = None,
) -> tuple[Removals, Found, PairList | None]:
    """The removals by the clusters of the settings, and all pairs if they are known."""
    if settings.cluster != "star" and both.within:
        return removals_by_components(both, order, fingerprinter, settings, told)
    return removals_by_stars(both, order, fingerprinter, settings, progress, told)


def removals_by_stars(
    both: Both,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    progress: DocumentProgress | None,
    told: Told | None = None,
) -> tuple[Removals, Found, PairList | None]:
    """The removals, each for the most similar kept document, and all pairs if they are known."""
    stars = find_stars(
        both.left,
        both.right,
        order,
        fingerprinter,
        settings,
        within=both.within,
        progress=progress,
        told=told,
    )
    pairs = None if stars.pairs is None else HeldPairs.of(stars.pairs)
    found = Found(
        stars.candidates,
        stars.false_by_distance,
        stars.plan,
        stars.reason,
        stars.curve,
        None if pairs is None else len(pairs),
    )
    removals = Removals(stars.kept_for, stars.similarity, clashes=stars.clashes)
    return (
        with_similarities(removals, lambda a, b: both.similarities(a, b, fingerprinter, settings)),
        found,
        pairs,
    )


def with_similarities(removals: Removals, similarity_of: SimilarityOf) -> Removals:
    """Fill in the true similarity of documents that are removed because people said so."""
    kept_for = removals.kept_for
    unknown = np.flatnonzero(np.isnan(removals.similarity) & (kept_for != np.arange(len(kept_for))))
    if len(unknown):
        removals.similarity[unknown] = similarity_of(unknown, kept_for[unknown])
    return removals


def removals_after(
    both: Both,
    near: NearDocuments,
    reason: str,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    progress: DocumentProgress | None,
) -> tuple[Removals, Found, PairList | None]:
    """The removals by stars, if an index has told which of its documents are near.

    `reason` says how the documents of the index were found.
    """
    assert both.right is not None
    a, b, similarity = near.best
    enough = similarity >= settings.threshold
    before = Before(a[enough], len(both.left) + b[enough], similarity[enough])
    stars = stars_after(
        both.left,
        both.right,
        before,
        order,
        fingerprinter,
        settings,
        within=both.within,
        progress=progress,
    )
    own = f"{stars.reason}; " if stars.reason else ""
    found = Found(
        stars.candidates,
        stars.false_by_distance,
        stars.plan,
        own + reason,
        stars.curve,
        None,
    )
    return Removals(stars.kept_for, stars.similarity), found, None


def removals_by_components(
    both: Both,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    told: Told | None = None,
) -> tuple[Removals, Found, PairList]:
    """The removals by connected components or dense clusters of all pairs, and the pairs."""
    searched = search_both(both.left, both.right, fingerprinter, settings, within=both.within)
    pairs = HeldPairs.of(searched)
    found = Found(
        searched.candidates,
        searched.false_by_distance,
        searched.plan,
        searched.reason,
        searched.curve,
        len(pairs),
    )

    def similarity_of(a: Places, b: Places) -> Similarities:
        return both.similarities(a, b, fingerprinter, settings)

    removals = components_of(both, order, pairs, similarity_of, told, settings.share)
    return removals, found, pairs


def components_of(
    both: Both,
    order: Places,
    pairs: PairList,
    similarity_of: SimilarityOf,
    told: Told | None = None,
    share: float | None = None,
) -> Removals:
    """The connected components of pairs and copies: one document of each is kept.

    It is the first in `order`. A document that is connected to the other collection is removed for
    the nearest document of that. `similarity_of` is asked for the similarity of documents that only
    a chain connects to the kept one. With a `share`, only pairs inside dense clusters count, so
    that these are the components, and no chain leaves them.
    """
    n, kinds = len(both.left), both.kinds
    listed = joined(list(pairs.batches()))
    if told is not None:
        found = told_components(kinds, n, order, listed, similarity_of, told, share)
        return Removals(**vars(found))
    if share is not None:
        clusters = dense(kinds, n, listed.a, listed.b, listed.similarity, share)
        listed = listed.take(clusters[listed.a] == clusters[listed.b])
    labels = components(both.count, listed.a, listed.b)[kinds]
    rank = np.empty(both.count, np.int64)
    rank[np.concatenate((np.arange(n, both.count), order))] = np.arange(both.count)
    filled = np.flatnonzero(kinds >= 0)
    best = np.full(both.count, both.count, np.int64)
    np.minimum.at(best, labels[filled], rank[filled])
    at_rank = np.argsort(rank)
    kept_for = np.arange(n)
    own = filled[filled < n]
    kept_for[own] = at_rank[best[labels[own]]]

    others = np.unique(listed.b[listed.b >= n])
    kept_kinds = np.unique(kinds[kept_for[own]])
    links = chains(both.count, listed.a, listed.b, np.union1d(kept_kinds, others))
    is_of_other = kept_for >= n
    kept_for[is_of_other] = links.kept[kinds[:n][is_of_other]]
    removed = own[kept_for[own] != own]
    kind, kept = kinds[removed], kept_for[removed]
    is_copy = kinds[kept] == kind
    following, pair = links.next[kind], links.pair[kind]
    is_direct = following == kinds[kept]
    via, link = np.arange(n), np.full(n, np.nan)
    via[removed] = np.where(is_copy | is_direct, kept, following)
    link[removed] = 1.0
    link[removed[~is_copy]] = listed.similarity[pair[~is_copy]]
    similarity = link.copy()
    chained = ~is_copy & ~is_direct
    some, which = np.unique(kind[chained], return_inverse=True)
    if len(some):
        partners = np.empty_like(some)
        partners[which] = kinds[kept[chained]]
        similarity[removed[chained]] = similarity_of(some, partners)[which]
    return Removals(kept_for, similarity, via, link)


def evidence_of(both: Both, clusters: Clusters, distances_of: DistancesOf | None) -> Evidence:
    """The pair of each removed document; without `distances_of` they have no distances."""
    rows = np.flatnonzero(~clusters.kept)
    place, similarity = clusters.place[rows], clusters.similarity[rows]
    partner = clusters.kept_for[rows]
    if clusters.via is not None and clusters.link is not None:
        partner, similarity = clusters.via[rows], clusters.link[rows]
    distance = None
    if distances_of is not None:
        # Decisions may remove empty documents, which have no kind.
        kinds = np.where(both.kinds < 0, np.arange(both.count), both.kinds)
        kind, other = kinds[place], kinds[partner]
        differ = np.flatnonzero(kind != other)
        distance = np.zeros(len(place), np.uint16)
        if len(differ):
            distance[differ] = distances_of(kind[differ], other[differ])
    a, b = np.minimum(place, partner), np.maximum(place, partner)
    order = np.lexsort((b, a))
    return Evidence(
        a[order], b[order], None if distance is None else distance[order], similarity[order]
    )


def beside_evidence(pairs: PairList, evidence: Evidence, both: Both, told: Told) -> PairList:
    """All pairs, and those that removed a document because people said so and are not listed."""
    assert evidence.distance is not None
    kinds = np.where(both.kinds < 0, np.arange(both.count), both.kinds)
    # Of copies in the other collection the first is listed; decisions may have chosen a later one.
    is_other = evidence.b >= len(both.left)
    one, other = kinds[evidence.a], np.where(is_other, evidence.b, kinds[evidence.b])
    a, b = np.minimum(one, other), np.maximum(one, other)
    is_told = np.zeros(both.count, np.bool_)
    is_told[list(told.units)] = True
    later = is_other & (kinds[evidence.b] != evidence.b)
    rows = np.flatnonzero((is_told[evidence.a] | is_told[evidence.b] | later) & (a != b))
    keys = a[rows] * both.count + b[rows]
    keys, first = np.unique(keys, return_index=True)
    rows = rows[first]
    for batch in pairs.batches():
        unlisted = ~np.isin(keys, batch.a * both.count + batch.b)
        keys, rows = keys[unlisted], rows[unlisted]
    more = PairBatch(a[rows], b[rows], evidence.distance[rows], evidence.similarity[rows])
    return PairsBeside(pairs, more) if len(rows) else pairs

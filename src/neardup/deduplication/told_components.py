"""Connected components and dense clusters that obey what people have decided.

Documents that are the same are connected first. Pairs follow, the most similar first, where two
documents that differ would otherwise come together. In dense clusters, exact copies come between
the two: they are joined in any case, unless they differ by decision.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import chains, components
from neardup.frozen import dataclass
from neardup.kernels.set_join import dense_clusters
from neardup.pairs.all_pairs import PairBatch
from neardup.pairs.told import Told

Places = NDArray[np.int64]
Similarities = NDArray[np.float64]
SimilarityOf = Callable[[Places, Places], Similarities]


@dataclass(frozen=True, eq=False)
class ToldComponents:
    """For each document the kept one, and the next on a chain of pairs to it, as in `Removals`."""

    kept_for: Places
    similarity: Similarities
    via: Places
    link: Similarities
    clashes: Places


def told_components(
    kinds: Places,
    documents: int,
    order: Places,
    pairs: PairBatch,
    similarity_of: SimilarityOf,
    told: Told,
    share: float | None = None,
) -> ToldComponents:
    """The components of pairs, copies and decisions: one document of each is kept.

    That is each pinned one or, without any, the first in `order`. A document that is connected to
    the other collection, whose places begin at `documents`, is removed for the nearest document of
    that or the nearest pinned one. `kinds` are the first documents with the same features, -1 for
    empty ones. With a `share`, only edges inside dense clusters count.
    """
    count, n = len(kinds), documents
    nodes = _Nodes(kinds, told)
    edges = _edges(nodes, pairs, told, n)
    if share is None:
        edges = edges.take(~_violating(nodes, edges, told))
    else:
        edges = _inside_dense(kinds, n, nodes, edges, told, share)
    inside = edges.take((edges.a < n) | (edges.b < n))
    labels = components(count, inside.a, inside.b)[nodes.of]
    rank = np.empty(count, np.int64)
    rank[np.concatenate((np.arange(n, count), order))] = np.arange(count)
    takes_part = kinds >= 0
    takes_part[told.special] = True
    own = np.flatnonzero(takes_part[:n])
    pinned = np.array(sorted(told.pinned), np.int64)
    ends = np.concatenate((inside.a, inside.b))
    others = np.unique(ends[ends >= n])

    fixed = np.concatenate((others, pinned))
    is_fixed = np.zeros(count, np.bool_)
    is_fixed[labels[fixed]] = True
    free = own[~is_fixed[labels[own]]]
    best = np.full(count, count, np.int64)
    np.minimum.at(best, labels[free], rank[free])
    at_rank = np.argsort(rank)
    firsts = at_rank[np.unique(best[labels[free]])]
    kept_at = np.full(count, -1, np.int64)  # the kept document of a node
    for some in (others, pinned, firsts):
        kept_at[nodes.of[some]] = some
    links = chains(count, inside.a, inside.b, np.flatnonzero(kept_at >= 0))

    kept_for = np.arange(n)
    kept_for[own] = kept_at[links.kept[nodes.of[own]]]
    removed = own[kept_for[own] != own]
    node, kept = nodes.of[removed], kept_for[removed]
    is_copy = nodes.of[kept] == node
    following, pair = links.next[node], links.pair[node]
    is_direct = following == nodes.of[kept]
    via, link = np.arange(n), np.full(n, np.nan)
    via[removed] = np.where(is_copy | is_direct, kept, following)
    link[removed] = 1.0
    link[removed[~is_copy]] = inside.similarity[pair[~is_copy]]
    unknown = removed[np.isnan(link[removed])]
    if len(unknown):
        link[unknown] = similarity_of(unknown, via[unknown])
    similarity = link.copy()
    chained = removed[~is_copy & ~is_direct]
    if len(chained):
        # Documents of one node have the same features, and the same kept document.
        some, rows, which = np.unique(nodes.of[chained], return_index=True, return_inverse=True)
        similarity[chained] = similarity_of(some, kept_for[chained[rows]])[which]
    return ToldComponents(
        kept_for, similarity, via, link, _clashes(told.order(order), labels, told)
    )


def _clashes(order: Places, labels: Places, told: Told) -> Places:
    """Pinned documents of one component: the first in keep order, and each of the others."""
    first: dict[int, int] = {}
    found = []
    for place in order[: len(told.pinned)].tolist():
        other = first.setdefault(int(labels[place]), place)
        if other != place and other not in told.unit(place):
            found.append((min(place, other), max(place, other)))
    return np.array(sorted(found), np.int64).reshape(-1, 2)


class _Nodes:
    """Exact copies are one node, except that special documents have nodes of their own.

    Special copies that are the same and not pinned share one. `of` is the node of each place.
    """

    def __init__(self, kinds: Places, told: Told) -> None:
        self.of = np.where(kinds < 0, np.arange(len(kinds)), kinds)
        special = told.special
        affected = np.unique(self.of[special])
        self.kinds: dict[int, list[int]] = {kind: [] for kind in affected.tolist()}
        members = np.flatnonzero(np.isin(self.of, affected))
        kind_of, is_special = self.of[members].tolist(), np.isin(members, special).tolist()
        named: dict[tuple[int, int], int] = {}
        for place, kind, told_of in zip(members.tolist(), kind_of, is_special, strict=True):
            if not told_of:
                tag = -1
            elif place in told.pinned or place not in told.units:
                tag = place
            else:  # the first of a unit may be pinned, and is then a node of its own
                tag = len(kinds) + told.units[place][0]
            node = named.setdefault((kind, tag), place)
            self.of[place] = node
            if node == place:
                self.kinds[kind].append(node)


@dataclass(frozen=True, eq=False)
class _Edges:
    """Edges between nodes, those of decisions first; a similarity that is not known is NaN."""

    a: Places
    b: Places
    similarity: Similarities
    told: int

    def take(self, which: NDArray[np.bool_]) -> _Edges:
        return _Edges(
            self.a[which],
            self.b[which],
            self.similarity[which],
            int(which[: self.told].sum()),
        )


def _edges(nodes: _Nodes, pairs: PairBatch, told: Told, documents: int) -> _Edges:
    """Decisions, pairs and copies as edges, without pairs that differ.

    Copies within the other collection are none: nothing is compared there.
    """
    is_affected = np.zeros(len(nodes.of), np.bool_)
    is_affected[list(nodes.kinds)] = True
    affected = is_affected[pairs.a] | is_affected[pairs.b]
    similar: dict[tuple[int, int], float] = {}
    for kind, kind_nodes in nodes.kinds.items():
        if kind < documents:
            similar.update(dict.fromkeys(combinations(kind_nodes, 2), 1.0))
    for a, b, similarity in zip(
        pairs.a[affected].tolist(),
        pairs.b[affected].tolist(),
        pairs.similarity[affected].tolist(),
        strict=True,
    ):
        for one, other in product(nodes.kinds.get(a, [a]), nodes.kinds.get(b, [b])):
            similar[min(one, other), max(one, other)] = similarity
    for place, enemies in told.different.items():
        for enemy in enemies:
            one, other = int(nodes.of[place]), int(nodes.of[enemy])
            similar.pop((min(one, other), max(one, other)), None)
    links: dict[tuple[int, int], float] = {}
    for a, b in told.links:
        one, other = sorted((int(nodes.of[a]), int(nodes.of[b])))
        if one != other:
            links[one, other] = similar.pop((one, other), np.nan)
    more = {**links, **similar}
    ends = np.array(list(more), np.int64).reshape(-1, 2)
    return _Edges(
        np.concatenate((ends[:, 0], pairs.a[~affected])),
        np.concatenate((ends[:, 1], pairs.b[~affected])),
        np.concatenate((np.array(list(more.values()), np.float64), pairs.similarity[~affected])),
        len(links),
    )


def _violating(nodes: _Nodes, edges: _Edges, told: Told) -> NDArray[np.bool_]:
    """Which edges are left out, so that no two documents that differ are connected."""
    left_out = np.zeros(len(edges.a), np.bool_)
    enemies: dict[int, set[int]] = {}
    for place, others in told.different.items():
        enemies.setdefault(int(nodes.of[place]), set()).update(nodes.of[list(others)].tolist())
    labels = components(len(nodes.of), edges.a, edges.b)
    violated = np.zeros(len(nodes.of), np.bool_)
    for node, foes in enemies.items():
        together = any(labels[node] == labels[foe] for foe in foes)
        violated[labels[node]] |= together
    rows = np.flatnonzero(violated[labels[edges.a]])
    strongest = np.lexsort((edges.b[rows], edges.a[rows], -np.nan_to_num(edges.similarity[rows])))
    rows = rows[strongest]
    rows = np.concatenate((rows[rows < edges.told], rows[rows >= edges.told]))
    group: dict[int, list[int]] = {}
    for row in rows.tolist():
        a, b = int(edges.a[row]), int(edges.b[row])
        one, other = group.setdefault(a, [a]), group.setdefault(b, [b])
        if one is other:
            continue
        small, large = sorted((one, other), key=len)
        if any(group.get(foe) is large for node in small for foe in enemies.get(node, ())):
            left_out[row] = True
            continue
        large += small
        for node in small:
            group[node] = large
    return left_out


def _inside_dense(
    kinds: Places, documents: int, nodes: _Nodes, edges: _Edges, told: Told, share: float
) -> _Edges:
    """The edges inside dense clusters, in which no two documents differ.

    Pairs are taken as without decisions, ties by the first copies.
    """
    is_told = np.arange(len(edges.a)) < edges.told
    one, other = kinds[edges.a], kinds[edges.b]
    is_copy = ~is_told & (one == other)
    phase = np.where(is_told, 0, np.where(is_copy, 1, 2))
    taken = np.lexsort(
        (
            edges.b,
            edges.a,
            np.maximum(one, other),
            np.minimum(one, other),
            -np.nan_to_num(edges.similarity),
            phase,
        )
    )
    sizes = np.bincount(nodes.of[:documents], minlength=len(kinds))
    sizes[documents:] = 1
    apart = [(place, enemy) for place, enemies in told.different.items() for enemy in enemies]
    ends = nodes.of[np.array(apart, np.int64).reshape(-1, 2)]
    clusters = dense_clusters(
        sizes,
        edges.a[taken],
        edges.b[taken],
        share,
        first_other=documents,
        certain=int((phase < 2).sum()),
        apart=(ends[:, 0], ends[:, 1]),
    )
    return edges.take(clusters[edges.a] == clusters[edges.b])

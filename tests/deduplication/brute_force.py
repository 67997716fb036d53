"""Removals by their definition: every pair compared by the twin, one document after the other."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa

import neardup as nd
from neardup.features.spec import TextColumn
from neardup.kernels.reference import set_join


@dataclass(frozen=True)
class Compared:
    """The similarity of every two documents, and their differing bits."""

    similarity: np.ndarray
    distance: np.ndarray
    filled: list[bool]

    def reach(self, threshold, measure):
        """Which pairs reach the threshold; empty documents do not."""
        near = self.distance <= threshold if measure == "hamming" else self.similarity >= threshold
        filled = np.array(self.filled, bool)
        return near & filled[:, None] & filled[None, :]


def compared(texts, measure, **recipe):
    """Compare all documents by `measure`, with the features of the recipe."""
    n = len(texts)
    if not n:
        return Compared(np.zeros((0, 0)), np.zeros((0, 0), int), [])
    result = nd.dedup(texts, similarity=measure, threshold=1, candidates="auto", **recipe)
    features = result.fingerprinter.features([TextColumn(pa.array(texts, pa.large_string()))])
    a, b = (places.ravel() for places in np.indices((n, n)))
    bits = result.scheme.bits
    fingerprints = nd.fingerprint(texts, **recipe)
    distance = np.array(
        [
            int(nd.hamming(fingerprints[i : i + 1], fingerprints[j : j + 1])[0])
            for i, j in zip(a, b, strict=True)
        ]
    ).reshape(n, n)
    if measure == "hamming":
        similarity = 1 - distance / bits
    else:
        similarity = set_join.similarities(*features.arrays, a, b, measure=measure).reshape(n, n)
    return Compared(similarity, distance, [bool(text.split()) for text in texts])


def keep_order(policy, texts, ranks):
    """The places, the preferred one first."""
    lengths = [len(text.split()) for text in texts]
    key = {
        "first": lambda place: 0,
        "longest": lambda place: -lengths[place],
        "shortest": lambda place: lengths[place],
        "max:rank": lambda place: (ranks[place] is None, -(ranks[place] or 0)),
        "min:rank": lambda place: (ranks[place] is None, ranks[place] or 0),
    }[policy]
    return sorted(range(len(texts)), key=lambda place: (key(place), place))


def copies_together(order, kinds):
    """The order with exact copies right after the first of their kind, as inclusion has it."""
    turn = {place: turn for turn, place in enumerate(order)}
    first = {}
    for place in order:
        if kinds[place] >= 0:
            first.setdefault(kinds[place], turn[place])
    return sorted(order, key=lambda one: (first.get(kinds[one], turn[one]), turn[one]))


def stars(order, similarity, near, others=(), within=True):
    """For each removed document the most similar kept one before it, ties to the first.

    `others` are kept and come first; without `within` documents are compared with those only.
    """
    kept, removed = list(others), {}
    for place in order:
        options = [one for one in kept if near[place, one]]
        if options:
            best = max(similarity[place, one] for one in options)
            removed[place] = next(one for one in options if similarity[place, one] == best)
        elif within:
            kept.append(place)
    return removed


def dense(similarity, near, n, kinds, share):
    """The dense cluster of each document: the first member of it, document by document.

    Exact copies come first, then pairs, the strongest first, ties by the first copies. A pair joins
    two clusters if at least `share` of their cross pairs reach the threshold. Documents from `n` on
    are of the other collection, in which copies count once and nothing is compared.
    """
    counted = [place for place in range(len(near)) if place < n or kinds[place] == place]
    whole = {place: frozenset([place]) for place in counted}
    pairs = [(a, b) for a, b in combinations(counted, 2) if a < n and near[a, b]]

    def turn(pair):
        ends = sorted(kinds[one] for one in pair)
        return ends[0] != ends[1], -similarity[pair], ends, pair

    for a, b in sorted(pairs, key=turn):
        one, other = whole[a], whole[b]
        if one is other:
            continue
        crosses = [(x, y) for x in one for y in other if x < n or y < n]
        if sum(near[cross] for cross in crosses) / len(crosses) >= share:
            whole |= dict.fromkeys(one | other, one | other)
    firsts = {place: min(members) for place, members in whole.items()}
    return np.array([firsts.get(place, firsts.get(kinds[place])) for place in range(len(near))])

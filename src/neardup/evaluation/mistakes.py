"""The worst mistakes of a run: pairs it found that are different, and pairs it missed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.comparison.compare import compare
from neardup.comparison.diff import Edit
from neardup.evaluation.found import FoundByRun, SomeSimilarities
from neardup.evaluation.judge import Judge
from neardup.frozen import dataclass

Places = NDArray[np.int64]
Similarities = NDArray[np.float64]

SHOWN = 10
# So many candidates are compared to choose those shown.
_MOST_COMPARED = 200_000
_MOST_INSIDE = 20_000
_MOST_OF_BATCH = 1_000
_SEED = 20240229


@dataclass(frozen=True, eq=False)
class Mistake:
    """Two documents, by ids, with their texts, their similarity and why it is a mistake.

    The similarity is None if a document has no words.
    """

    a: Any
    b: Any
    similarity: float | None
    why: str
    a_text: str
    b_text: str

    @property
    def diff(self) -> tuple[Edit, ...]:
        """The changes from `a` to `b`, by words."""
        return compare(self.a_text, self.b_text).diff

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "a": self.a,
            "b": self.b,
            "similarity": self.similarity,
            "why": self.why,
            "a_text": self.a_text,
            "b_text": self.b_text,
            "diff": [vars(edit) for edit in self.diff],
        }


@dataclass(frozen=True, eq=False)
class _Pairs:
    a: Places
    b: Places
    similarity: Similarities

    def take(self, rows: Any) -> _Pairs:
        return _Pairs(self.a[rows], self.b[rows], self.similarity[rows])


def false_pairs(judge: Judge, similarities: SomeSimilarities | None) -> tuple[Mistake, ...]:
    """Pairs in one cluster that are different, the most similar first, of each cluster one."""
    if judge.at_least:
        return ()
    found, truth = judge.found, judge.truth
    if judge.only_labelled:
        assert similarities is not None
        rows = np.flatnonzero(~truth.same & found.together(truth.a, truth.b))
        pairs = _Pairs(truth.a[rows], truth.b[rows], similarities.values[rows])
    else:
        pairs = _false_of_all(judge)
    clusters = found.clusters[pairs.a]
    order = np.lexsort((pairs.b, pairs.a, -_or_nothing(pairs.similarity)))
    chosen = pairs.take(_spread(order, clusters))
    return _shown(found, chosen, [_why_false(found, pair) for pair in _each(chosen)])


def _false_of_all(judge: Judge) -> _Pairs:
    """Listed pairs and copies that are false; then pairs that only a cluster brings together."""
    found = judge.found
    pairs = _joined([_false_copies(judge), *_false_listed(judge)])
    # A run without all pairs lists copies, too.
    pairs = pairs.take(np.unique(pairs.a * found.count + pairs.b, return_index=True)[1])
    if len(np.unique(found.clusters[pairs.a])) < SHOWN:
        inside = _inside_clusters(found)
        false = ~judge.is_true(inside[0], inside[1]) & _labelled(judge, *inside)
        a, b = inside[0][false], inside[1][false]
        known = pairs.a * found.count + pairs.b
        new = ~np.isin(a * found.count + b, known)
        some = _Pairs(a[new], b[new], found.similarities(a[new], b[new]).values)
        pairs = _joined([pairs, some])
    return pairs


def _labelled(judge: Judge, a: Places, b: Places) -> NDArray[np.bool_]:
    labelled = judge.truth.labelled
    return np.asarray(labelled[a] & labelled[b])


def _false_listed(judge: Judge) -> Iterator[_Pairs]:
    found = judge.found
    for batch in found.listed():
        false = ~judge.is_true(batch.a, batch.b) & found.together(batch.a, batch.b)
        rows = np.flatnonzero(false & _labelled(judge, batch.a, batch.b))
        best = rows[np.argsort(-batch.similarity[rows], kind="stable")[:_MOST_OF_BATCH]]
        yield _Pairs(batch.a[best], batch.b[best], batch.similarity[best])


def _false_copies(judge: Judge) -> _Pairs:
    """Exact copies in one cluster with the first of their kind, of which they differ."""
    found, n = judge.found, judge.found.documents
    kinds = found.both.kinds[:n]
    members = np.flatnonzero((kinds >= 0) & (kinds != np.arange(n)))
    firsts = kinds[members]
    false = ~judge.is_true(firsts, members) & found.together(firsts, members)
    rows = np.flatnonzero(false & _labelled(judge, firsts, members))[:_MOST_OF_BATCH]
    return _Pairs(firsts[rows], members[rows], np.ones(len(rows)))


def _inside_clusters(found: FoundByRun) -> tuple[Places, Places]:
    """Pairs of documents of the input that are in one cluster, up to a number of them."""
    places = np.flatnonzero(found.clusters[: found.documents] >= 0)
    return _pairs_of_groups(places, found.clusters[places], _MOST_INSIDE)[:2]


def missed_pairs(
    judge: Judge, similarities: SomeSimilarities | None
) -> tuple[tuple[Mistake, ...], Missed]:
    """Pairs that are the same and in two clusters, the least similar first, of each cluster one."""
    found, truth = judge.found, judge.truth
    if truth.from_column:
        places = np.flatnonzero(truth.clusters >= 0)
        a, b, is_sample = _pairs_of_groups(places, truth.clusters[places], _MOST_COMPARED)
        missed = ~found.together(a, b)
        a, b = a[missed], b[missed]
        values = found.similarities(a, b)
        similarity, weights = values.values, values.weights
        is_sample |= not values.are_all
    else:
        assert similarities is not None
        rows = np.flatnonzero(truth.same & ~found.together(truth.a, truth.b))
        a, b, similarity = truth.a[rows], truth.b[rows], similarities.values[rows]
        weights, is_sample = similarities.weights[rows], not similarities.are_all
    known = weights > 0
    by_similarity = Missed.of(similarity[known], found.result.settings.least, is_sample)
    known &= (a >= 0) & (b >= 0)
    pairs = _Pairs(a[known], b[known], similarity[known])
    order = np.lexsort((pairs.b, pairs.a, _or_nothing(pairs.similarity)))
    chosen = pairs.take(_spread(order, truth.clusters[pairs.a]))
    whys = [_why_missed(found, pair) for pair in _each(chosen)]
    return _shown(found, chosen, whys), by_similarity


@dataclass(frozen=True)
class Missed:
    """Missed pairs by similarity, in ten equal steps; `nothing` have a document without words.

    `reaching` of them reach the threshold; they are missed by the search or by the clustering.
    """

    counts: tuple[int, ...]
    nothing: int
    reaching: int
    is_sample: bool

    @classmethod
    def of(cls, similarities: Similarities, least: float, is_sample: bool) -> Missed:
        """Count similarities; NaN is none."""
        known = similarities[~np.isnan(similarities)]
        step = np.clip((known * 10 + 1e-9).astype(np.int64), 0, 9)
        return cls(
            tuple(np.bincount(step, minlength=10).tolist()),
            len(similarities) - len(known),
            int((known >= least).sum()),
            is_sample,
        )

    @property
    def total(self) -> int:
        return sum(self.counts) + self.nothing

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "by_similarity": [
                {"from": step / 10, "pairs": count} for step, count in enumerate(self.counts)
            ],
            "without_words": self.nothing,
            "reach_the_threshold": self.reaching,
            "is_sample": self.is_sample,
        }


def _pairs_of_groups(places: Places, groups: Places, most: int) -> tuple[Places, Places, bool]:
    """All pairs within groups (a < b), or a random sample of them, and whether it is one."""
    order = np.argsort(groups, kind="stable")
    places = places[order]
    _, begins, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    count = sizes * (sizes - 1) // 2
    total = int(count.sum())
    ends = np.cumsum(count)
    if total <= most:
        number = np.arange(total)
    else:
        number = np.unique(np.random.default_rng(_SEED).integers(0, total, most))
    group = np.searchsorted(ends, number, "right")
    within = number - (ends - count)[group]
    # Pair k of a group is (i, j) with i < j and k = j (j - 1) / 2 + i.
    j = ((1 + np.sqrt(1 + 8 * within.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > within
    j += (j + 1) * j // 2 <= within
    i = within - j * (j - 1) // 2
    a, b = places[begins[group] + i], places[begins[group] + j]
    return np.minimum(a, b), np.maximum(a, b), total > most


def _spread(order: Places, groups: Places) -> Places:
    """The first rows in this order, one of each group; more only if there are too few groups."""
    _, firsts = np.unique(groups[order], return_index=True)
    alone = np.flatnonzero(groups[order] < 0)
    first = np.zeros(len(order), np.bool_)
    first[firsts] = first[alone] = True
    chosen = np.flatnonzero(first)[:SHOWN]
    if len(chosen) < SHOWN:
        more = np.flatnonzero(~first)[: SHOWN - len(chosen)]
        chosen = np.sort(np.concatenate((chosen, more)))
    return order[chosen]


def _or_nothing(similarity: Similarities) -> Similarities:
    return np.where(np.isnan(similarity), -1.0, similarity)


def _joined(parts: list[_Pairs]) -> _Pairs:
    return _Pairs(
        np.concatenate([part.a for part in parts]),
        np.concatenate([part.b for part in parts]),
        np.concatenate([part.similarity for part in parts]),
    )


def _each(pairs: _Pairs) -> list[tuple[int, int, float]]:
    columns = (pairs.a.tolist(), pairs.b.tolist(), pairs.similarity.tolist())
    return list(zip(*columns, strict=True))


def _why_false(found: FoundByRun, pair: tuple[int, int, float]) -> str:
    a, b, similarity = pair
    kinds = found.both.kinds
    if kinds[a] == kinds[b] and kinds[a] >= 0:
        return "exact copies by their features, and different by the labels"
    if similarity >= found.result.settings.least:
        return f"reaches {found.result.settings.limit}"
    return "not similar enough itself; other documents of the cluster connect the two"


def _why_missed(found: FoundByRun, pair: tuple[int, int, float]) -> str:
    similarity = pair[2]
    if np.isnan(similarity):
        return "a document without words is never similar to another"
    settings = found.result.settings
    if similarity < settings.least:
        return f"below {settings.limit}"
    is_certain = found.result.found.curve == ()  # the plan finds every pair
    kept_apart = "the clustering" if is_certain else "the search or the clustering"
    return f"reaches {settings.limit}; {kept_apart} kept the two apart"


def _shown(found: FoundByRun, pairs: _Pairs, whys: list[str]) -> tuple[Mistake, ...]:
    texts = found.result.texts_at(np.concatenate((pairs.a, pairs.b)))
    rows = _each(pairs)
    return tuple(
        Mistake(
            _id_of(found, a),
            _id_of(found, b),
            None if np.isnan(similarity) else similarity,
            why,
            texts.get(a, ""),
            texts.get(b, ""),
        )
        for (a, b, similarity), why in zip(rows, whys, strict=True)
    )


def _id_of(found: FoundByRun, place: int) -> Any:
    if place < found.documents:
        return found.both.left.ids[place].as_py()
    return found.result.other_id(place)

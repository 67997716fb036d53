"""Pairs by a scorer: candidates that it brings together, each scored, some at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.collected import Collected
from neardup.collection.rarity import Rarity
from neardup.collection.records import Records
from neardup.collection.settings import DedupSettings
from neardup.features.spec import Fields
from neardup.fingerprints import hamming
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.scoring.fields import FieldScorer
from neardup.scoring.parts import Among, Scorer

Places = NDArray[np.int64]
_ACCEPTED_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """The pairs that reach the threshold, by place (a < b, in order), and how they were found.

    In two collections, b is a place of the second one.
    """

    a: Places
    b: Places
    similarity: NDArray[np.float64]
    distance: NDArray[np.uint16]
    candidates: int
    promise: str


def scorer_of(settings: DedupSettings, threads: int, rarity: Rarity | None) -> Scorer:
    """The scorer that the settings name; a model needs to know how rare words are."""
    if settings.fitted is not None:
        from neardup.scoring.by_model import ModelScorer  # few runs need it

        if rarity is None:
            raise ValueError("the rarity of words was not counted")
        return ModelScorer(settings.fitted, rarity, threads)
    fields = settings.scheme.fields or Fields.named(settings.columns)
    return FieldScorer(fields, settings.scheme.features, threads)


def records_of(collected: Collected) -> Records:
    """The columns of a collection, which scorers compare."""
    if collected.records is None:
        raise ValueError("the columns of the documents were not collected")
    return collected.records


def find_by_score(
    left: Collected,
    right: Collected | None,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    *,
    among: Among | None = None,
) -> ScoredPairs:
    """Every candidate of the scorer that reaches the threshold.

    Without `among`, the first of each group of exact copies takes part.
    """
    scorer = scorer_of(settings, fingerprinter.threads, left.rarity)
    ours, theirs = records_of(left), None if right is None else records_of(right)
    budget = Budget(settings.memory)
    room = budget.pairs(budget.work + ours.held_bytes + (theirs.held_bytes if theirs else 0))
    accepted, candidates = _Accepted(room), 0
    if among is None:
        among = Among(left.firsts, None if right is None else right.firsts)
    found = scorer.candidates(
        ours, theirs, settings.threshold, among=among, memory=budget.work // 2
    )
    for a, b in found:
        candidates += len(a)
        similarity = scorer.scores(ours, theirs, a, b, at_least=settings.threshold)
        holds = similarity >= settings.threshold
        if not accepted.add(a[holds], b[holds], similarity[holds]):
            raise budget.too_many_pairs(room, settings.limit)
    a, b, similarity = accepted.together()
    return ScoredPairs(
        a,
        b,
        similarity,
        _distances(left, right or left, a, b, fingerprinter),
        candidates,
        scorer.promise(settings.threshold),
    )


def score_pairs(
    left: Collected,
    right: Collected | None,
    a: Places,
    b: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> NDArray[np.float64]:
    """The scores of documents, whether they reach the threshold or not."""
    scorer = scorer_of(settings, fingerprinter.threads, left.rarity)
    return scorer.scores(records_of(left), None if right is None else records_of(right), a, b)


class _Accepted:
    """The accepted pairs so far, each once in the end."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[tuple[Places, Places, NDArray[np.float64]]] = []
        self._new = 0

    def add(self, a: Places, b: Places, similarity: NDArray[np.float64]) -> bool:
        """Keep more pairs; False if there are too many."""
        self._parts.append((a, b, similarity))
        self._new += len(a)
        if self._new > max(_ACCEPTED_AT_ONCE, self._most // 2):
            self._parts, self._new = [self.together()], 0
        return sum(len(part[0]) for part in self._parts) <= self._most or self._few()

    def _few(self) -> bool:
        self._parts, self._new = [self.together()], 0
        return len(self._parts[0][0]) <= self._most

    def together(self) -> tuple[Places, Places, NDArray[np.float64]]:
        """All pairs in order; those that were found twice once."""
        a = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in self._parts)])
        b = np.concatenate([np.zeros(0, np.int64), *(part[1] for part in self._parts)])
        similarity = np.concatenate([np.zeros(0), *(part[2] for part in self._parts)])
        order = np.lexsort((b, a))
        a, b, similarity = a[order], b[order], similarity[order]
        first = np.ones(len(a), np.bool_)
        first[1:] = (np.diff(a) != 0) | (np.diff(b) != 0)
        return a[first], b[first], similarity[first]


def _distances(
    left: Collected, right: Collected, a: Places, b: Places, fingerprinter: Fingerprinter
) -> NDArray[np.uint16]:
    if not len(a):
        return np.zeros(0, np.uint16)
    rows = left.rows_at(a, fingerprinter), right.rows_at(b, fingerprinter)
    return np.asarray(hamming(*rows), np.uint16)

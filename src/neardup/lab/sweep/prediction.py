"""Predicts the candidates and the recall of plans from the cosines of pairs.

A plan finds a pair of cosine s with a known probability. The expected number of candidates is the
sum of that probability over all pairs: over the similar pairs, which are known individually, and
over all others, of which a sample is drawn. Assuming random fingerprints, in which each bit agrees
with probability 1/2, would underestimate it: even unrelated documents share words.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.lab.curves import chances
from neardup.lab.sweep.counts import PlanCounts, TruePairs, true_similarities
from neardup.lab.sweep.documents import SweptDocuments
from neardup.pairs.by_fingerprints import LengthPlan, Plan
from neardup.pairs.by_fingerprints.plan import pairs_of

_SAMPLED_PAIRS = 200_000
_SEED = 20_240_229

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KnownSimilarities:
    """True pairs with their cosine, and the number of pairs of documents each stands for."""

    similarity: Numbers
    cosine: Numbers
    count: Numbers

    @classmethod
    def of(cls, documents: SweptDocuments, true: TruePairs) -> KnownSimilarities:
        """From the complete list of true pairs."""
        cosine = true_similarities(documents, "cosine", true.a, true.b)
        return cls(true.similarity, cosine, documents.pairs(true.a, true.b).astype(np.float64))

    @classmethod
    def estimated(
        cls, documents: SweptDocuments, counts: list[PlanCounts]
    ) -> KnownSimilarities | None:
        """From the pairs of the best plan: one found with probability 1/3 counts as three."""
        n = len(documents.features)
        best: tuple[float, KnownSimilarities] | None = None
        for one in counts:
            pairs = cls.of(documents, one.true)
            chance = chances(one.plan, pairs.cosine, n)
            if chance is None:
                continue
            found = float(pairs.count.sum())
            weighted = np.divide(pairs.count, chance, out=np.zeros_like(chance), where=chance > 0)
            if best is None or found > best[0]:
                best = found, cls(pairs.similarity, pairs.cosine, weighted)
        return None if best is None else best[1]


@dataclass(frozen=True, eq=False)
class Prediction:
    """The pairs of a collection, as the model needs them."""

    documents: SweptDocuments
    similar: KnownSimilarities | None
    others: Numbers  # cosines of a sample of the pairs that are not similar
    other_pairs: float  # the number of all such pairs
    verifying: float  # seconds to verify one pair, as timed on the sample

    @classmethod
    def of(
        cls,
        documents: SweptDocuments,
        similar: KnownSimilarities | None,
        measure: str,
        threshold: float,
    ) -> Prediction:
        """Draw the sample, without pairs that reach the threshold: `similar` has those."""
        n = len(documents.kind_of)
        a, b = _some_pairs(documents.kind_of)
        began = time.perf_counter()
        reached = true_similarities(documents, measure, a, b)
        spent = time.perf_counter() - began
        cosine = reached if measure == "cosine" else true_similarities(documents, "cosine", a, b)
        other = reached < threshold
        known = 0.0 if similar is None else float(similar.count.sum())
        return cls(
            documents,
            similar,
            cosine[other],
            max(0.0, pairs_of(n) - documents.same_pairs - known),
            spent / max(1, len(a)),
        )

    def candidates(self, plan: Plan) -> float | None:
        """The expected number of candidates; None if there is no model to compute it."""
        if isinstance(plan, LengthPlan):
            words = self.documents.features.words[self.documents.kind_of]
            return float(plan.comparisons(words))
        n = len(self.documents.features)
        if plan.needs_all:  # neighbours at any distance: only their number is known
            expected = plan.expected_candidates(n)
            each = (len(self.documents.kind_of) / max(1, n)) ** 2
            return None if expected is None else each * expected + self.documents.same_pairs
        by_chance = chances(plan, self.others, n)
        if self.similar is None or by_chance is None:
            return None
        similar = chances(plan, self.similar.cosine, n)
        found = 0.0 if similar is None else float((similar * self.similar.count).sum())
        share = float(by_chance.mean()) if len(by_chance) else 0.0
        return self.documents.same_pairs + found + self.other_pairs * share

    def recall(self, plan: Plan, threshold: float) -> float | None:
        """The expected share of the true pairs that is found; None if it is unknown."""
        if self.similar is None:
            return None
        chance = chances(plan, self.similar.cosine, len(self.documents.features))
        if chance is None:
            return None
        count = np.where(self.similar.similarity >= threshold, self.similar.count, 0.0)
        same = self.documents.same_pairs
        total = float(count.sum()) + same
        return (float((count * chance).sum()) + same) / total if total else None


def _some_pairs(kind_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of distinct documents by their numbers, sorted: all pairs, or a sample."""
    n = len(kind_of)
    if pairs_of(n) <= _SAMPLED_PAIRS:
        a, b = kind_of[np.stack(np.triu_indices(n, 1))]
    else:
        a, b = kind_of[np.random.default_rng(_SEED).integers(0, n, (2, _SAMPLED_PAIRS))]
    order = np.argsort(a, kind="stable")
    order = order[a[order] != b[order]]
    return a[order], b[order]

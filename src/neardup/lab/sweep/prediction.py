"""What the model says beforehand: candidates and recall by the cosines of pairs.

A plan finds a pair of cosine s with a known chance. So the candidates to expect are the sum of
that chance over all pairs: over the similar ones, which are known one by one, and over all others,
of which a sample is drawn. Random fingerprints, where every bit agrees by halves, would
understate them: documents share words even where they have nothing to do with each other.
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
    """True pairs with their cosine, and for how many pairs of documents each stands."""

    similarity: Numbers
    cosine: Numbers
    count: Numbers

    @classmethod
    def of(cls, documents: SweptDocuments, true: TruePairs) -> KnownSimilarities:
        """All of them are known."""
        cosine = true_similarities(documents, "cosine", true.a, true.b)
        return cls(true.similarity, cosine, documents.pairs(true.a, true.b).astype(np.float64))

    @classmethod
    def estimated(
        cls, documents: SweptDocuments, counts: list[PlanCounts]
    ) -> KnownSimilarities | None:
        """Reckoned from those that the best plan found: one found with chance 1/3 is three."""
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
    """The pairs of a collection as the model sees them."""

    documents: SweptDocuments
    similar: KnownSimilarities | None
    others: Numbers  # cosines of a sample of the pairs that are not similar
    other_pairs: float  # how many of those there are
    verifying: float  # seconds that a pair of kinds takes to verify, as timed on the sample

    @classmethod
    def of(
        cls,
        documents: SweptDocuments,
        similar: KnownSimilarities | None,
        measure: str,
        threshold: float,
    ) -> Prediction:
        """Draw the sample; pairs that reach the threshold are known otherwise."""
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
        """How many candidates to expect; None where the plan or the similar pairs are unknown."""
        if isinstance(plan, LengthPlan):
            words = self.documents.features.words[self.documents.kind_of]
            return float(plan.comparisons(words))
        n = len(self.documents.features)
        if plan.needs_all:  # neighbours, however near: their number is known, not their chance
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
        """The share of the true pairs to expect; None where it cannot be told."""
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
    """Pairs of documents of different kinds, as kinds, in order: all there are, or a sample."""
    n = len(kind_of)
    if pairs_of(n) <= _SAMPLED_PAIRS:
        a, b = kind_of[np.stack(np.triu_indices(n, 1))]
    else:
        a, b = kind_of[np.random.default_rng(_SEED).integers(0, n, (2, _SAMPLED_PAIRS))]
    order = np.argsort(a, kind="stable")
    order = order[a[order] != b[order]]
    return a[order], b[order]

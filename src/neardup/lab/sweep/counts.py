"""Counts for one plan: candidates, true pairs, and time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.errors import NeardupError
from neardup.kernels.hamming_join import count_masks
from neardup.kernels.set_join import TooManyPairsError, join_similar, similarities
from neardup.lab.sweep.documents import SweptDocuments
from neardup.pairs.by_fingerprints import LengthPlan, MaskPlan, Plan, Search
from neardup.pairs.by_fingerprints.rows import Rows
from neardup.settings import INCLUSION

Places = NDArray[np.int64]
Similarities = NDArray[np.float64]
_HALF = np.uint64(32)
# Memory of a true pair: in the truth, in the result of each plan, and while sorting.
_TRUE_PAIR_BYTES, _FEWEST_PAIRS = 160, 1 << 17


# Memory of a pair during the search; pairs that do not fit in half of the memory come in batches.
_FOUND_PAIR_BYTES, _LEAST_MEMORY = 64, 32 << 20


class TruePairs:
    """Pairs of distinct documents that reach the lowest threshold: a < b, sorted by (a, b)."""

    def __init__(self, a: Places, b: Places, similarity: Similarities) -> None:
        self.a, self.b, self.similarity = a, b, similarity

    def __len__(self) -> int:
        return len(self.a)

    @classmethod
    def none(cls) -> TruePairs:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def joined(cls, parts: list[TruePairs]) -> TruePairs:
        """Merge several lists that have no pair in common."""
        a = np.concatenate([part.a for part in parts])
        b = np.concatenate([part.b for part in parts])
        order = np.argsort(_keys(a, b))
        similarity = np.concatenate([part.similarity for part in parts])
        return cls(a[order], b[order], similarity[order])

    def among(self, a: Places, b: Places) -> TruePairs:
        """The pairs that are also in this list, which must be sorted by (a, b)."""
        if not len(a):
            return TruePairs.none()
        listed, wanted = _keys(a, b), _keys(self.a, self.b)
        places = np.minimum(np.searchsorted(listed, wanted), len(listed) - 1)
        return self.where(listed[places] == wanted)

    def without(self, others: TruePairs) -> TruePairs:
        """The pairs that are not among the others."""
        return self.where(~np.isin(_keys(self.a, self.b), _keys(others.a, others.b)))

    def where(self, chosen: NDArray[np.bool_]) -> TruePairs:
        return TruePairs(self.a[chosen], self.b[chosen], self.similarity[chosen])


class Judge(Protocol):
    """Decides which candidates are true pairs."""

    def true_among(self, plan: Plan, a: Places, b: Places) -> TruePairs:
        """The true pairs among some candidates of a plan, which are sorted by (a, b)."""

    def finish(self, plan: Plan) -> None:
        """Called when all candidates of a plan have been judged."""


class LookUp:
    """Finds every true pair beforehand, with an exact join on the features."""

    def __init__(
        self, documents: SweptDocuments, measure: str, threshold: float, memory: int
    ) -> None:
        features, most = documents.features, _most_pairs(memory)
        try:
            found = join_similar(
                features.offsets,
                features.hashes,
                features.weights,
                measure=measure,
                threshold=threshold,
                most_pairs=most,
                threads=documents.threads,
            )
        except TooManyPairsError:
            raise _too_many(most, measure, threshold) from None
        self.truth = TruePairs(found.a, found.b, found.similarity)
        if measure == INCLUSION:  # of the later document in the earlier one
            later = found.a > found.b
            parts = TruePairs(found.b[later], found.a[later], found.similarity[later])
            self.truth = TruePairs.joined([parts])

    def true_among(self, plan: Plan, a: Places, b: Places) -> TruePairs:
        """Look up the true pairs among the candidates, which are many more."""
        return self.truth.among(a, b)

    def finish(self, plan: Plan) -> None:
        """There is nothing to remember."""


class Verification:
    """Verifies candidates on their features, each candidate once for all plans.

    A pair was judged before if it agrees on a mask of an earlier plan, so only true pairs need to
    be stored.
    """

    def __init__(
        self, documents: SweptDocuments, measure: str, threshold: float, memory: int
    ) -> None:
        self._documents, self._measure, self._threshold = documents, measure, threshold
        self._most = _most_pairs(memory)
        self._found = TruePairs.none()
        self._masks: dict[int, list[NDArray[np.uint64]]] = {}
        self.verified = 0

    def true_among(self, plan: Plan, a: Places, b: Places) -> TruePairs:
        """Verify the candidates that no earlier plan had."""
        seen = self._were_judged(a, b)
        before = self._found.among(a, b)
        x, y = a[~seen], b[~seen]
        self.verified += len(x)
        reached = true_similarities(self._documents, self._measure, x, y)
        true = reached >= self._threshold
        # Pairs found by a plan without masks are verified again, but are already in the list.
        new = TruePairs(x[true], y[true], reached[true]).without(before)
        if len(new):
            self._found = TruePairs.joined([self._found, new])
            if len(self._found) > self._most:
                raise _too_many(self._most, self._measure, self._threshold)
        return TruePairs.joined([before, new])

    def finish(self, plan: Plan) -> None:
        """Remember the masks of the plan."""
        if isinstance(plan, MaskPlan):
            width = self._documents.widths[plan.bits]
            words = self._documents.rows[width].shape[1]
            masks = plan.mask_rows()
            padded = np.zeros((len(masks), words), np.uint64)
            padded[:, : masks.shape[1]] = masks
            self._masks.setdefault(width, []).extend(padded)

    def _were_judged(self, a: Places, b: Places) -> NDArray[np.bool_]:
        judged = np.zeros(len(a), np.bool_)
        for width, masks in self._masks.items():
            rows = self._documents.rows[width]
            differing = rows[a] ^ rows[b]
            for mask in masks:
                judged |= ~(differing & mask).any(axis=1)
        return judged


def true_similarities(
    documents: SweptDocuments, measure: str, a: Places, b: Places
) -> Similarities:
    """The true similarity of pairs of distinct documents, a < b.

    Inclusion is that of the later document in the earlier one, as for `dedup`.
    """
    features = documents.features
    if measure == INCLUSION:
        a, b = b, a
    return similarities(
        features.offsets,
        features.hashes,
        features.weights,
        a,
        b,
        measure=measure,
        threads=documents.threads,
    )


def _most_pairs(memory: int) -> int:
    return max(_FEWEST_PAIRS, memory // _TRUE_PAIR_BYTES)


def _too_many(most: int, measure: str, threshold: float) -> NeardupError:
    return NeardupError(
        f"more than {most:,} pairs have {measure} ≥ {threshold:g}, too many for the memory; "
        "raise the threshold, sweep a sample of the input, or give more memory (--memory)"
    )


def _keys(a: Places, b: Places) -> NDArray[np.uint64]:
    """Each pair as one number that sorts by (a, b); places are below 2^32."""
    return np.asarray(a.astype(np.uint64) << _HALF | b.astype(np.uint64))


@dataclass(frozen=True, eq=False)
class PlanCounts:
    """What one plan found.

    `candidates` counts pairs of documents; `compared` and `true` are pairs of distinct documents.
    `seconds` has the time of the search and of the verification in this sweep.
    """

    plan: Plan
    candidates: int
    compared: int
    true: TruePairs
    seconds: dict[str, float]


def count_plan(plan: Plan, documents: SweptDocuments, judge: Judge, memory: int) -> PlanCounts:
    """Search with a plan and judge every candidate; these take up to `memory` bytes."""
    candidates, compared, finding, judging = documents.same_pairs, 0, 0.0, 0.0
    true = [TruePairs.none()]
    began = time.perf_counter()
    for a, b in _candidates(plan, documents, max(memory, _LEAST_MEMORY)):
        candidates += int(documents.pairs(a, b).sum())
        compared += len(a)
        found = time.perf_counter()
        true.append(judge.true_among(plan, a, b))
        finding += found - began
        began = time.perf_counter()
        judging += began - found
    finding += time.perf_counter() - began
    judge.finish(plan)
    seconds = {"candidates": finding, "verify": judging}
    return PlanCounts(plan, candidates, compared, TruePairs.joined(true), seconds)


def _candidates(
    plan: Plan, documents: SweptDocuments, memory: int
) -> Iterator[tuple[Places, Places]]:
    """Pairs of distinct documents sorted by (a, b), all at once or in batches."""
    fingerprints = documents.fingerprints(plan.bits)
    rows = Rows(fingerprints.array, plan.bits, fingerprints.words)
    # A plan that compares neighbours must see each fingerprint once: Search merges equal ones.
    most = memory // 2 // _FOUND_PAIR_BYTES
    if not plan.needs_all and _likely_pairs(plan, rows, documents.threads) <= most:
        try:
            found = plan.join(
                rows, None, max_distance=None, threads=documents.threads, most_pairs=most
            )
        except TooManyPairsError:
            pass  # more pairs than estimated: search in batches
        else:
            yield found.a, found.b
            return
    search = Search.of(
        fingerprints, None, None, plan, threads=documents.threads, memory=memory // 2
    )
    for batch in search.batches():
        yield batch["a"].to_numpy(), batch["b"].to_numpy()


def _likely_pairs(plan: Plan, rows: Rows, threads: int) -> float:
    """The number of candidate pairs, counted or estimated."""
    if isinstance(plan, MaskPlan):
        return count_masks(rows.array, masks=plan.mask_rows(), threads=threads)
    if isinstance(plan, LengthPlan):
        return plan.comparisons(plan.words_of(rows))
    return plan.expected_candidates(len(rows)) or 0.0

"""One plan over the documents: how many candidates, which of them are true, in what time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.candidates import LengthPlan, MaskPlan, Plan, Search
from neardup.candidates.rows import Rows
from neardup.kernels.join import TooManyPairsError, count_masks
from neardup.lab.sweep_documents import SweptDocuments
from neardup.lab.sweep_judges import Judge, TruePairs

# What a pair takes while it is found; those that do not fit half of the memory come in portions.
_PAIR_BYTES, _LEAST_MEMORY = 64, 32 << 20

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PlanCounts:
    """What one plan found: `candidates` in pairs of documents, `compared` and `true` of kinds.

    `seconds` are those of the search and of the judgement, as it was done here.
    """

    plan: Plan
    candidates: int
    compared: int
    true: TruePairs
    seconds: dict[str, float]


def count_plan(plan: Plan, documents: SweptDocuments, judge: Judge, memory: int) -> PlanCounts:
    """Search by the plan and judge every candidate, with `memory` bytes for these."""
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
    """Pairs of kinds by (a, b), all at once or in portions."""
    fingerprints = documents.fingerprints(plan.bits)
    rows = Rows(fingerprints.array, plan.bits, fingerprints.words)
    # A plan that looks at neighbours must not see the same fingerprint twice: Search groups them.
    most = memory // 2 // _PAIR_BYTES
    if not plan.needs_all and _likely_pairs(plan, rows, documents.threads) <= most:
        try:
            found = plan.join(
                rows, None, max_distance=None, threads=documents.threads, most_pairs=most
            )
        except TooManyPairsError:
            pass  # not so likely after all: in portions, then
        else:
            yield found.a, found.b
            return
    search = Search.of(
        fingerprints, None, None, plan, threads=documents.threads, memory=memory // 2
    )
    for batch in search.batches():
        yield batch["a"].to_numpy(), batch["b"].to_numpy()


def _likely_pairs(plan: Plan, rows: Rows, threads: int) -> float:
    """How many pairs there are, or may be."""
    if isinstance(plan, MaskPlan):
        return count_masks(rows.array, masks=plan.mask_rows(), threads=threads)
    if isinstance(plan, LengthPlan):
        return plan.comparisons(plan.words_of(rows))
    return plan.expected_candidates(len(rows)) or 0.0

"""Plans by name, and the choice of the cheapest complete one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from neardup.errors import SettingError
from neardup.pairs.by_fingerprints.blocks import BandPlan, BlockPlan, EveryPair, PrefixPlan
from neardup.pairs.by_fingerprints.length import LengthPlan
from neardup.pairs.by_fingerprints.masks import MaskPlan
from neardup.pairs.by_fingerprints.plan import Plan, pairs_of
from neardup.pairs.by_fingerprints.probe import MOST_PROBES, ProbePlan
from neardup.pairs.by_fingerprints.rotate import RotatePlan
from neardup.pairs.costs import Costs

KNOWN = (
    "auto, all, blocks:K, blocks:K/M, bands:MxK, rotate:R, rotate:R:WINDOW, probe:K, prefix:D "
    "or length:SHARE"
)

_NUMBER = r"(\d{1,6})"
_FORMS: list[tuple[str, Callable[[Sequence[str], int], Plan]]] = [
    ("all", lambda _, bits: EveryPair(bits)),
    (f"blocks:{_NUMBER}", lambda part, bits: BlockPlan.of_blocks(int(part[0]), None, bits)),
    (
        f"blocks:{_NUMBER}/{_NUMBER}",
        lambda part, bits: BlockPlan.of_blocks(int(part[0]), int(part[1]), bits),
    ),
    (
        f"bands:{_NUMBER}x{_NUMBER}",
        lambda part, bits: BandPlan.of_bands(int(part[0]), int(part[1]), bits),
    ),
    (f"prefix:{_NUMBER}", lambda part, bits: PrefixPlan.of_prefix(int(part[0]), bits)),
    (f"probe:{_NUMBER}", lambda part, bits: ProbePlan.of_flips(int(part[0]), bits)),
    (f"rotate:{_NUMBER}", lambda part, bits: RotatePlan.of_rotations(int(part[0]), 1, bits)),
    (
        f"rotate:{_NUMBER}:{_NUMBER}",
        lambda part, bits: RotatePlan.of_rotations(int(part[0]), int(part[1]), bits),
    ),
    (
        r"length:(\d{1,3}(?:\.\d{1,6})?)",
        lambda part, bits: LengthPlan.of_share(Fraction(part[0]), bits),
    ),
]


# More tables than these were never the cheapest; they are not worth a line.
_MOST_TABLES = 100
_MORE_BLOCKS = 3


def plan_of(candidates: Any, bits: int) -> Plan:
    """The plan for fingerprints of `bits` bits: by name, of masks, or as it is.

    >>> plan_of("bands:3x18", 64).tables
    3
    """
    if isinstance(candidates, Plan):
        if candidates.bits != bits:
            raise SettingError(
                f"the plan {candidates} is for {candidates.bits} bits, but these fingerprints "
                f"have {bits}"
            )
        return candidates
    if isinstance(candidates, str):
        return _by_name(candidates, bits)
    if isinstance(candidates, Sequence | np.ndarray) and np.ndim(candidates) == 1:
        return MaskPlan.of(list(candidates), bits)
    raise SettingError(
        f"candidates={candidates!r} is neither a plan, its name, nor a list of masks; "
        f"choose {KNOWN}"
    )


def _by_name(name: str, bits: int) -> Plan:
    for form, make in _FORMS:
        found = re.fullmatch(form, name, re.ASCII)
        if found:
            return make(found.groups(), bits)
    raise SettingError(f"candidates={name!r} is unknown; choose {KNOWN}")


@dataclass(frozen=True)
class Estimate:
    """A plan with what it should cost."""

    plan: Plan
    seconds: float


@dataclass(frozen=True)
class Choice:
    """The cheapest complete plan, what else could be done, cheapest first, and the reason."""

    plan: Plan
    reason: str
    alternatives: tuple[Estimate, ...]


def choose(
    n: int,
    max_distance: int | None,
    bits: int,
    *,
    pairs: float | None = None,
    costs: Costs | None = None,
) -> Choice:
    """The plan that should find every pair within `max_distance` soonest.

    Between two collections n counts both, and `pairs` is the product of their sizes.

    >>> choose(10**7, 3, 64).plan.name
    'blocks:3'
    """
    if max_distance is None:
        raise SettingError(
            "candidates='auto' needs max_distance, the largest number of differing bits to look "
            "for; or name a plan, for example candidates='bands:4x16'"
        )
    costs = costs or Costs.load()
    pairs = pairs_of(n) if pairs is None else pairs
    estimates = [
        Estimate(plan, plan.seconds(n, costs, pairs) or 0.0)
        for plan in complete_plans(max_distance, bits)
    ]
    estimates.sort(key=lambda estimate: estimate.seconds)
    return Choice(
        estimates[0].plan, _reason(estimates, pairs, max_distance, bits), tuple(estimates)
    )


def complete_plans(max_distance: int, bits: int) -> list[Plan]:
    """Every plan that is worth a thought and finds all pairs within a distance."""
    plans: list[Plan] = [EveryPair(bits)]
    if max_distance >= bits:
        return plans
    plans.append(BlockPlan.of_blocks(max_distance, None, bits))
    plans += [
        BlockPlan.of_blocks(max_distance, blocks, bits)
        for blocks in range(max_distance + 2, min(max_distance + 1 + _MORE_BLOCKS, bits) + 1)
        if max_distance and comb(blocks, max_distance) <= _MOST_TABLES
    ]
    if sum(comb(bits, flips) for flips in range(max_distance + 1)) <= MOST_PROBES:
        plans.append(ProbePlan.of_flips(max_distance, bits))
    return plans


def _reason(estimates: list[Estimate], pairs: float, max_distance: int, bits: int) -> str:
    best = estimates[0]
    if max_distance >= bits:
        return f"all: any two fingerprints of {bits} bits differ in at most {bits} bits"
    if isinstance(best.plan, EveryPair):
        return (
            f"all: comparing the {pairs:,.0f} pairs directly takes "
            f"{duration(best.seconds)}, and no other complete plan is faster for distance "
            f"{max_distance} (the next, {estimates[1].plan}: {duration(estimates[1].seconds)})"
        )
    brute = next(one for one in estimates if isinstance(one.plan, EveryPair))
    return (
        f"{best.plan}: complete to distance {best.plan.guarantee}, "
        f"{duration(best.seconds)} on one thread; comparing every pair would take "
        f"{duration(brute.seconds)}"
    )


def duration(seconds: float) -> str:
    """Seconds as people say them: `about 20 ms`, `about 3.5 s`, `about 2.0 hours`."""
    if seconds < 0.001:
        return "under 1 ms"
    if seconds < 1:
        return f"about {seconds * 1e3:.0f} ms"
    for unit, size, next_size in (
        ("s", 1, 120),
        ("minutes", 60, 7200),
        ("hours", 3600, 172_800),
        ("days", 86_400, 63_072_000),
    ):
        if seconds < next_size:
            return f"about {seconds / size:,.1f} {unit}"
    return f"about {seconds / 31_536_000:,.0f} years"

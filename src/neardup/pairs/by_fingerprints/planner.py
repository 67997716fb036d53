"""The choice of a plan: the cheapest one that finds every pair, and why."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from neardup.errors import SettingError
from neardup.pairs.by_fingerprints.blocks import BlockPlan
from neardup.pairs.by_fingerprints.every import EveryPair
from neardup.pairs.by_fingerprints.plan import Plan, pairs_of
from neardup.pairs.by_fingerprints.probe import MOST_PROBES, ProbePlan
from neardup.pairs.costs import Costs

# More tables than these were never the cheapest; they are not worth a line.
_MOST_TABLES = 100
_MORE_BLOCKS = 3


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

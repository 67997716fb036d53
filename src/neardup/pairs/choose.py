"""Which fingerprints and bands find the pairs of a threshold, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, inf, isinf, log, pi, sqrt

from neardup.collection.settings import DedupSettings
from neardup.pairs.by_fingerprints import Plan, choose, plan_of
from neardup.pairs.by_fingerprints.plan import bit_agreement

_MOST_BITS = 4096
# Nanoseconds: a word of a document's fingerprint, its way into a bucket, a look at a pair there.
_WORD, _INTO_BUCKET, _LOOK = 20.0, 30.0, 8.0
# A look at a posting, with its share of the comparisons that follow (licences, arXiv).
_SET_POSTING, _WEIGHTED_POSTING = 12.0, 40.0
# A join is preferred while it takes at most so many times as long as bands, or half a minute.
_PREFERENCE, _ALWAYS_AFFORDED = 3.0, 30e9


@dataclass(frozen=True)
class Bands:
    """So many bands of so many bits, and about how long they take."""

    count: int
    width: int
    nanoseconds: float

    @property
    def bits(self) -> int:
        """Of a fingerprint."""
        return self.count * self.width

    @property
    def plan(self) -> str:
        """By name."""
        return f"bands:{self.count}x{self.width}"

    def postings(self, weighted: bool) -> int | None:
        """How many postings a join may have to be preferred, as it misses nothing; None: any."""
        if isinf(self.nanoseconds):
            return None
        patience = max(_ALWAYS_AFFORDED, _PREFERENCE * self.nanoseconds)
        return int(patience / (_WEIGHTED_POSTING if weighted else _SET_POSTING))


def plan_for(n: int, settings: DedupSettings) -> tuple[Plan, str]:
    """The plan by name, or for `hamming` the cheapest one that is complete."""
    bits = settings.scheme.bits
    if settings.candidates != "auto":
        plan = plan_of(settings.candidates, bits)
        return plan, plan.describe()
    choice = choose(n, int(settings.threshold), bits)
    return choice.plan, choice.reason


def cheapest_bands(n: int, settings: DedupSettings) -> Bands:
    """Bands that find pairs at the threshold often enough, with fingerprints as wide as needed."""
    agrees = bit_agreement(least_cosine(settings))
    found = []
    for width in range(8, 33):
        meets = agrees**width
        bands = 1 if meets == 1 else ceil(log(1 - min(settings.recall, 0.9999)) / log(1 - meets))
        if bands * width <= _MOST_BITS:
            cost = n * bands * (_WORD * width / 64 + _INTO_BUCKET)
            cost += n * n / 2 * bands * 2.0**-width * _LOOK
            found.append(Bands(bands, width, cost))
    if not found:
        return Bands(_MOST_BITS // 8, 8, inf)
    return min(found, key=lambda bands: bands.nanoseconds)


def least_cosine(settings: DedupSettings) -> float:
    """The smallest cosine that a pair at the threshold can have."""
    return _cosine_of(settings.threshold, settings.similarity)


def _cosine_of(similarity: float, measure: str) -> float:
    """The smallest cosine of a pair that is so similar by a measure."""
    if measure == "hamming":  # here the share of bits that agree
        return max(0.0, cos(pi * (1 - similarity)))
    return similarity if measure == "cosine" else 2 * similarity / (1 + similarity)


def likely_distance(bits: int, settings: DedupSettings) -> int:
    """The distance that nearly every pair at the threshold stays within (6 sigma)."""
    if settings.similarity == "hamming":
        return int(settings.threshold)
    differs = 1 - bit_agreement(least_cosine(settings))
    return min(bits, ceil(bits * differs + 6 * sqrt(bits * differs * (1 - differs))))


def curve_of(plan: Plan, n: int, measure: str) -> tuple[tuple[float, float], ...] | None:
    """The chance to be found by similarity; None where the plan does not know."""
    points = []
    for step in range(51):
        recall = plan.recall(_cosine_of(step / 50, measure), n)
        if recall is None:
            return None
        points.append((step / 50, recall))
    return tuple(points)

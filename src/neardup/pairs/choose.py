"""The choice between the exact join on features and bands of fingerprints: one rule for all.

`dedup --candidates auto` and `tune` both use it. The exact join misses nothing, so it is chosen
unless bands are far faster; the same `Costs` estimate both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.collection.settings import DedupSettings
from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.pairs.recall import bands_for, cosine_of, likely_distance, within_chance
from neardup.settings import AUTO, EXACT

# The plans and their costs are imported where they are used: the default run needs none of them.
if TYPE_CHECKING:
    from neardup.pairs.by_fingerprints import Plan

_MOST_BITS = 4096
_WIDTHS = range(8, 33)
# The exact join is chosen if it takes at most 3 times as long as bands, or at most 30 seconds.
_PREFERENCE, _ALWAYS_AFFORDED = 3.0, 30.0


@dataclass(frozen=True)
class Work:
    """The size of a search: documents that can be in a pair, and their features."""

    documents: int
    features: int
    weighted: bool


@dataclass(frozen=True)
class Bands:
    """`count` bands of `width` bits, and how many seconds they should take on one thread."""

    count: int
    width: int
    seconds: float

    @property
    def bits(self) -> int:
        """The width of the fingerprints that they need."""
        return self.count * self.width

    @property
    def name(self) -> str:
        """The plan by its name."""
        return f"bands:{self.count}x{self.width}"


def cheapest_bands(work: Work, settings: DedupSettings) -> Bands | None:
    """The cheapest bands with the requested recall at the threshold; None if all are too wide."""
    cosine = least_cosine(settings)
    found = []
    for width in _WIDTHS:
        count = bands_for(settings.recall, cosine, width)
        if count * width <= _MOST_BITS:
            found.append(Bands(count, width, band_seconds(count, width, work, settings)))
    return min(found, key=lambda bands: bands.seconds, default=None)


def band_seconds(count: int, width: int, work: Work, settings: DedupSettings) -> float:
    """Seconds on one thread: make fingerprints, sort by each band, verify what agrees by chance."""
    from neardup.pairs.by_fingerprints.plan import pairs_of
    from neardup.pairs.costs import Costs

    costs, bits = Costs.load(), count * width
    looks = pairs_of(work.documents) * count * 2.0**-width
    near = within_chance(bits - width, search_distance(bits, settings), 0.5)
    features_of_a_pair = 2 * work.features / max(1, work.documents)
    return (
        costs.fingerprints(work.features, bits)
        + costs.masks(work.documents, bits, count, looks)
        + costs.verification(looks * near, features_of_a_pair)
    )


def most_postings(work: Work, bands: Bands | None, memory: int) -> int | None:
    """The number of postings up to which the exact join is chosen; None: always.

    Bands are not considered if their fingerprints do not fit `memory`.
    """
    if bands is None or work.documents * bands.bits // 8 > memory:
        return None
    from neardup.pairs.costs import Costs

    patience = max(_ALWAYS_AFFORDED, _PREFERENCE * bands.seconds)
    return Costs.load().postings_within(patience, work.features, work.weighted)


def joins_features(settings: DedupSettings) -> bool:
    """Whether the exact join is used, or at least tried first."""
    by_features = settings.similarity != "hamming" and not settings.is_scored
    return by_features and settings.candidates in (AUTO, EXACT)


@dataclass(frozen=True)
class Collects:
    """What is collected of each document for the search."""

    features: bool
    rows: bool
    records: bool = False


def collects(settings: DedupSettings) -> Collects:
    """What the search needs.

    The exact join needs no fingerprints, and those of its pairs can be made of hashed features.
    """
    made_of_features = joins_features(settings) and settings.scheme.is_hashed
    return Collects(
        features=settings.similarity != "hamming",
        rows=not made_of_features,
        records=settings.is_scored,
    )


def require_plan(settings: DedupSettings) -> None:
    """Refuse `candidates` that name no plan, or one that misses pairs within the threshold."""
    if settings.candidates == AUTO:
        return
    by_bits = settings.similarity == "hamming"
    if settings.candidates == EXACT:
        if by_bits:
            raise SettingError(
                "candidates='exact' joins on features, but similarity='hamming' compares "
                "fingerprints; use auto, or a plan such as blocks:3"
            )
        return
    if settings.is_scored:
        raise SettingError(
            f"candidates={settings.candidates!r} searches by fingerprints, but "
            f"similarity={settings.similarity!r} has a search of its own; leave it out"
        )
    from neardup.pairs.by_fingerprints import plan_of

    plan = plan_of(settings.candidates, settings.scheme.bits)
    if settings.is_containment:
        raise SettingError(
            f"candidates={settings.candidates!r} searches by fingerprints, which say nothing of a "
            f"short document in a long one; with similarity={settings.similarity!r} use auto or "
            "exact, which find every pair"
        )
    if by_bits:
        plan.require_distance(int(settings.threshold))


def plan_for(n: int, settings: DedupSettings) -> tuple[Plan, str]:
    """The plan by name, or for `hamming` the cheapest one that is complete."""
    from neardup.pairs.by_fingerprints import choose, plan_of

    bits = settings.scheme.bits
    if settings.candidates != AUTO:
        plan = plan_of(settings.candidates, bits)
        return plan, plan.describe()
    choice = choose(n, int(settings.threshold), bits)
    return choice.plan, choice.reason


def least_cosine(settings: DedupSettings) -> float:
    """The smallest cosine that a pair at the threshold can have."""
    return cosine_of(settings.threshold, settings.similarity)


def search_distance(bits: int, settings: DedupSettings) -> int:
    """The maximum distance of candidates: the threshold, or 6 sigma beyond what it implies."""
    if settings.similarity == "hamming":
        return int(settings.threshold)
    return likely_distance(bits, least_cosine(settings))


def curve_of(plan: Plan, n: int, measure: str) -> tuple[tuple[float, float], ...] | None:
    """The chance of being found, by similarity; None if the plan cannot tell."""
    points = []
    for step in range(51):
        recall = plan.recall(cosine_of(step / 50, measure), n)
        if recall is None:
            return None
        points.append((step / 50, recall))
    return tuple(points)

"""From a similarity to the chance of being found: the formulas that every search shares.

A bit of two fingerprints agrees with the chance 1 − θ/π, where θ is the angle between the feature
vectors (Charikar 2002). Everything else follows: what a band finds, how many bands a recall takes,
and how far apart the fingerprints of similar documents can be.
"""

from __future__ import annotations

from math import acos, ceil, cos, exp, lgamma, log, log1p, pi, sqrt

from neardup.errors import SettingError

_SIGMAS = 6
_SUREST = 0.9999  # no number of bands finds all pairs


def cosine_of(similarity: float, measure: str) -> float:
    """The smallest cosine of a pair of that similarity.

    Sets of Jaccard index j have a cosine of at least 2j / (1 + j): the sets of equal size have the
    smallest. The same holds for weighted Jaccard. For `hamming`, `similarity` is the share of bits
    that agree.
    """
    if measure == "hamming":
        return max(0.0, cos(pi * (1 - similarity)))
    return similarity if measure == "cosine" else 2 * similarity / (1 + similarity)


def bit_agreement(cosine: float) -> float:
    """The chance 1 − θ/π that a bit is the same in two documents of that cosine."""
    if not -1 <= cosine <= 1:
        raise SettingError(f"similarity={cosine!r} must be a cosine, from -1 to 1")
    return 1 - acos(cosine) / pi


def bands_for(recall: float, cosine: float, width: int) -> int:
    """How many bands of `width` bits find that share of the pairs of a cosine."""
    meets = bit_agreement(cosine) ** width
    return 1 if meets == 1 else max(1, ceil(log(1 - min(recall, _SUREST)) / log(1 - meets)))


def band_recall(bands: int, cosine: float, width: int) -> float:
    """The share of the pairs of a cosine that so many bands find."""
    return 1.0 - (1.0 - bit_agreement(cosine) ** width) ** bands


def likely_distance(bits: int, cosine: float) -> int:
    """The distance that nearly every pair of at least that cosine stays within (6 sigma)."""
    differs = 1 - bit_agreement(cosine)
    return min(bits, ceil(bits * differs + _SIGMAS * sqrt(bits * differs * (1 - differs))))


def within_chance(bits: int, k: int, agrees: float) -> float:
    """The chance that at most k of the bits differ, where each agrees independently."""
    if agrees in (0, 1):
        return 1.0 if agrees or k >= bits else 0.0
    log_chances = (
        lgamma(bits + 1)
        - lgamma(flips + 1)
        - lgamma(bits - flips + 1)
        + flips * log(1 - agrees)
        + (bits - flips) * log(agrees)
        for flips in range(min(k, bits) + 1)
    )
    return min(1.0, sum(map(exp, log_chances)))


# Of the pairs at the threshold, MinHash bands miss one in 1,250.
_BANDS_MISS = 0.0008
_MOST_MINIMA = 6


def minhash_bands(threshold: float) -> tuple[int, int]:
    """How many MinHash bands find pairs of that Jaccard index, and of how many minima each is.

    A band is shared with the chance threshold ** minima. Its minima are as many as keep that near
    0.4: with fewer, unrelated documents share bands too, and more take more bands.

    >>> [minhash_bands(threshold) for threshold in (0.7, 0.8, 0.9)]
    [(17, 3), (14, 4), (10, 6)]
    """
    if threshold >= 1:
        return 1, _MOST_MINIMA
    minima = min(max(ceil(log(0.41) / log(threshold)), 2), _MOST_MINIMA)
    return ceil(log(_BANDS_MISS) / log1p(-(threshold**minima))), minima


def minhash_recall(bands: int, minima: int, similarity: float) -> float:
    """The share of the pairs of a Jaccard index that so many bands find."""
    return float(1.0 - (1.0 - similarity**minima) ** bands)

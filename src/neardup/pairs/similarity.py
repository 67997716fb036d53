"""True similarity of two documents, from the features themselves.

Documents are sets of features, or mappings from a feature to its weight (0 or more). An empty
document has similarity 0 to everything, itself included: it never matches.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Set
from typing import TypeVar

Feature = TypeVar("Feature", bound=Hashable)
Features = Set[Feature] | Mapping[Feature, float]


def jaccard(a: Set[Hashable], b: Set[Hashable]) -> float:
    """Shared features as a part of all features of both.

    >>> jaccard({"x", "y"}, {"y", "z"})
    0.3333333333333333
    >>> jaccard(set(), set())
    0.0
    """
    shared = _shared(a, b)
    union = len(a) + len(b) - shared
    return shared / union if union else 0.0


def weighted_jaccard(a: Mapping[Feature, float], b: Mapping[Feature, float]) -> float:
    """Divide the smaller weights of the features, summed, by the larger ones.

    >>> weighted_jaccard({"x": 2, "y": 1}, {"x": 1, "y": 1})
    0.6666666666666666
    """
    smaller = math.fsum(min(weight, b[key]) for key, weight in a.items() if key in b)
    larger = math.fsum(max(weight, b.get(key, 0)) for key, weight in a.items())
    larger += math.fsum(weight for key, weight in b.items() if key not in a)
    return min(smaller / larger, 1.0) if larger else 0.0


def cosine(a: Mapping[Feature, float], b: Mapping[Feature, float]) -> float:
    """Take the cosine of the angle between the two weight vectors.

    >>> cosine({"x": 3, "y": 4}, {"x": 3})
    0.6
    """
    dot = math.fsum(weight * b[key] for key, weight in a.items() if key in b)
    if not dot:
        return 0.0
    # This order of operations gives exactly 1 for equal vectors, and does not overflow.
    return min(math.sqrt((dot / _square(a)) * (dot / _square(b))), 1.0)


def containment(a: Features[Feature], b: Features[Feature]) -> float:
    """The smaller weights of shared features, as a part of all weights of the lighter document.

    >>> containment({"x", "y"}, {"x", "y", "z"})
    1.0
    """
    return max(inclusion(a, b), inclusion(b, a))


def inclusion(a: Features[Feature], b: Features[Feature]) -> float:
    """The smaller weights of shared features, as a part of all weights of `a`: how much is in `b`.

    >>> inclusion({"x", "y"}, {"x", "y", "z", "w"})
    1.0
    >>> inclusion({"x": 1, "y": 3}, {"x": 2, "y": 1})
    0.5
    """
    one, other = _weights(a), _weights(b)
    smaller = math.fsum(min(weight, other[key]) for key, weight in one.items() if key in other)
    return min(smaller / math.fsum(one.values()), 1.0) if smaller else 0.0


def _weights(document: Features[Feature]) -> Mapping[Feature, float]:
    return document if isinstance(document, Mapping) else dict.fromkeys(document, 1.0)


def _shared(a: Set[Hashable], b: Set[Hashable]) -> int:
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    return sum(feature in large for feature in small)


def _square(weights: Mapping[Feature, float]) -> float:
    return math.fsum(weight * weight for weight in weights.values())

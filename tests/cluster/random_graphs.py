"""Random collections of copies and pairs, each with its seed."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Collection:
    n: int
    members: np.ndarray
    representatives: np.ndarray
    a: np.ndarray
    b: np.ndarray
    similarity: np.ndarray
    lengths: np.ndarray

    @property
    def edges(self):
        return list(zip(self.a.tolist(), self.b.tolist(), strict=True))

    def stands_for(self):
        found = list(range(self.n))
        for member, representative in zip(self.members, self.representatives, strict=True):
            found[member] = int(representative)
        return found


def collection(seed, largest=60):
    """Some documents are copies of earlier ones; some of the others are paired."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, largest))
    stands_for = np.arange(n)
    for place in range(1, n):
        if random.random() < 0.3:
            stands_for[place] = stands_for[random.integers(place)]
    members = np.flatnonzero(stands_for != np.arange(n))
    firsts = np.flatnonzero(stands_for == np.arange(n))
    wanted = int(random.integers(0, 2 * len(firsts) + 1))
    ends = np.sort(random.choice(firsts, (wanted, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    return Collection(
        n,
        members,
        stands_for[members],
        ends[:, 0],
        ends[:, 1],
        random.uniform(0.8, 1.0, len(ends)),
        random.integers(0, 5, n),
    )


def stars(seed, other=0, largest=60):
    """Kept documents, and others that are removed for one of them or for one of `other` more."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, largest))
    kept_for = np.arange(n)
    similarity = np.full(n, np.nan)
    kept = [0, *range(n, n + other)]
    for place in range(1, n):
        if random.random() < 0.6:
            kept_for[place] = random.choice(kept)
            similarity[place] = random.choice([0.8, 0.85, 0.9, 1.0])
        else:
            kept.append(place)
    return kept_for, similarity

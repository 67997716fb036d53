"""What the steps of a search cost, as measured by `benchmarks/calibrate.py`.

The costs decide which search is chosen and what `plan` and `tune` predict, never a result.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from neardup.errors import NeardupError


@dataclass(frozen=True)
class Costs:
    """Nanoseconds on one thread, and bytes, for fingerprints of 64 bits.

    `compare` is one comparison in brute force, `move` puts a row into its bucket, `table` sorts a
    row by one mask, `look` compares a pair that agrees on a mask, `sort` is a row's share of a
    NumPy sort, `probe` one binary search. `row_bytes` is the maximum that a join keeps for each
    fingerprint.

    In the exact join, `feature` indexes one feature, and `posting` (sets) or `weighted_posting`
    looks at one entry of the index, with its share of the comparisons that follow. `majority` adds
    a feature to 64 bits of a fingerprint, `verify` is a feature's share in verifying a pair.
    """

    compare: float
    move: float
    table: float
    look: float
    sort: float
    probe: float
    row_bytes: float
    feature: float
    posting: float
    weighted_posting: float
    majority: float
    verify: float

    @classmethod
    @lru_cache(maxsize=1)
    def load(cls) -> Costs:
        """The costs measured for this version."""
        stored = files("neardup.pairs").joinpath("costs.json").read_text(encoding="utf-8")
        try:
            return cls(**json.loads(stored))
        except (TypeError, ValueError) as error:
            raise NeardupError(
                f"costs.json of neardup.pairs is damaged ({error}); "
                "write it anew with python -m benchmarks.calibrate"
            ) from None

    def brute_force(self, pairs: float, bits: int) -> float:
        """Seconds to compare so many pairs."""
        return self.compare * _words(bits) * pairs / 1e9

    def within(self, n: int, pairs: float, bits: int, k: int) -> float:
        """Seconds of the join that divides the bits into blocks, and large buckets again.

        A row is either compared with its share of the bucket, or goes into one smaller bucket
        for each block; after r differing blocks, k − r bits may still differ.
        """

        def divided(partners: float, k: int, bits: int) -> float:
            width = bits // (k + 1)
            fewer = partners * 0.5**width
            return sum(self.move + of_row(fewer, left, bits - width) for left in range(k + 1))

        @cache
        def of_row(partners: float, k: int, bits: int) -> float:
            compared = self.compare * _words(bits) * partners
            if bits <= k or compared <= (k + 1) * self.move:
                return compared
            return min(compared, divided(partners, k, bits))

        return n * divided(pairs / max(1, n), k, bits) / 1e9

    def masks(self, n: int, bits: int, tables: int, agreements: float) -> float:
        """Seconds to sort by each mask and compare the pairs that agree, as often as they do."""
        return (tables * n * self.table + agreements * self.look) * _words(bits) / 1e9

    def probes(self, n: int, patterns: int) -> float:
        """Seconds to look up so many patterns of each fingerprint."""
        return (n * self.sort + n * patterns * self.probe) / 1e9

    def sorted_windows(self, n: int, sortings: int, candidates: float) -> float:
        """Seconds to sort `sortings` times and compare neighbours."""
        return (n * sortings * self.sort + candidates * self.look) / 1e9

    def exact_join(self, features: float, postings: float, weighted: bool) -> float:
        """Seconds of the join on features that looks at so many postings."""
        posting = self.weighted_posting if weighted else self.posting
        return (features * self.feature + postings * posting) / 1e9

    def postings_within(self, seconds: float, features: float, weighted: bool) -> int:
        """How many postings the join on features looks at in so many seconds."""
        left = max(0.0, seconds - self.exact_join(features, 0, weighted))
        return int(left * 1e9 / (self.weighted_posting if weighted else self.posting))

    def fingerprints(self, features: float, bits: int) -> float:
        """Seconds to make fingerprints of so many features."""
        return features * _words(bits) * self.majority / 1e9

    def verification(self, pairs: float, features_of_a_pair: float) -> float:
        """Seconds to compute the true similarity of so many pairs."""
        return pairs * features_of_a_pair * self.verify / 1e9

    def join_bytes(self, n: int, bits: int) -> int:
        """Bytes that a join of n fingerprints keeps beside them."""
        return int(n * (self.row_bytes + 8 * (_words(bits) - 1)))


def _words(bits: int) -> int:
    return max(1, -(-bits // 64))

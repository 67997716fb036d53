"""Plans of bit masks: two fingerprints are candidates when they agree on all bits of one mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup.candidates.agreement import agreement, guarantee
from neardup.candidates.costs import Costs
from neardup.candidates.plan import Plan, bit_agreement, pairs_of
from neardup.candidates.rows import Rows
from neardup.errors import SettingError
from neardup.kernels.join import RowPairs, join_masks

MOST_TABLES = 10_000


@dataclass(frozen=True, repr=False)
class MaskPlan(Plan):
    """Candidates agree on every bit of at least one mask; each is given once.

    A mask is an int of `bits` binary digits, bit 0 the most significant, as a fingerprint is.

    >>> plan = MaskPlan.of([0b1100, 0b0011], bits=4)
    >>> plan.tables, plan.guarantee, plan.recall(1.0)
    (2, 1, 1.0)
    """

    name: str
    bits: int
    masks: tuple[int, ...] = field(repr=False)
    reach: int

    @classmethod
    def of(cls, masks: Sequence[int], bits: int) -> MaskPlan:
        """A plan of any masks, which finds out for itself how far it is complete."""
        require_tables(len(masks), "this list")
        for mask in masks:
            if isinstance(mask, bool) or not isinstance(mask, int | np.integer):
                raise SettingError(f"a mask is an int, not {mask!r}")
            if mask < 0 or int(mask) >> bits:
                raise SettingError(
                    f"mask {hex(mask)} does not fit fingerprints of {bits} bits; "
                    "bit 0 is the most significant of them"
                )
        distinct = tuple(dict.fromkeys(map(int, masks)))
        return cls(f"masks:{len(distinct)}", bits, distinct, guarantee(distinct, bits))

    @property
    def tables(self) -> int:
        """One table for each mask."""
        return len(self.masks)

    @property
    def guarantee(self) -> int:
        """Up to this distance some mask agrees, wherever the differing bits are."""
        return self.reach

    @property
    def promise(self) -> str:
        """What is found for certain and what is not, in a sentence."""
        if self.reach == 0:
            return "finds identical fingerprints for certain, others by chance"
        return f"finds every pair up to distance {self.reach}, others by chance"

    def recall(self, similarity: float, n: int | None = None) -> float:
        """The chance that a pair of that cosine agrees on a mask; n makes no difference."""
        return agreement(self.masks, self.bits, bit_agreement(similarity))

    def expected_candidates(self, n: int) -> float:
        """Pairs of random fingerprints, whose bits agree by halves."""
        return pairs_of(n) * agreement(self.masks, self.bits, 0.5)

    def memory(self, n: int) -> int:
        """One table is kept at a time."""
        return Costs.load().join_bytes(n, self.bits)

    def seconds(self, n: int, costs: Costs, pairs: float | None = None) -> float:
        """Sort once for each mask, then look at what agrees, each time that it does."""
        pairs = pairs_of(n) if pairs is None else pairs
        looks = pairs * sum(0.5 ** mask.bit_count() for mask in self.masks)
        return costs.masks(n, self.bits, self.tables, looks)

    def mask_rows(self) -> NDArray[np.uint64]:
        """The masks as the kernels take them: rows of 64-bit words."""
        words = -(-self.bits // 64)
        shift = 64 * words - self.bits
        data = b"".join((mask << shift).to_bytes(8 * words, "big") for mask in self.masks)
        return np.frombuffer(data, ">u8").astype(np.uint64).reshape(self.tables, words)

    def join(
        self,
        left: Rows,
        right: Rows | None,
        *,
        max_distance: int | None,
        threads: int,
        most_pairs: int | None = None,
    ) -> RowPairs:
        """Bucket by each mask in turn; a pair is given by the first mask on which it agrees."""
        return join_masks(
            left.array,
            None if right is None else right.array,
            masks=self.mask_rows(),
            max_distance=max_distance,
            most_pairs=most_pairs,
            threads=threads,
        )


def require_tables(count: int, name: str) -> None:
    """Refuse what would sort the collection more often than anyone would wait for."""
    if not 1 <= count <= MOST_TABLES:
        raise SettingError(
            f"{name} has {count:,} tables; a plan has from 1 to {MOST_TABLES:,}, "
            "so take fewer masks or blocks"
        )


def mask_of(start: int, stop: int, bits: int) -> int:
    """The mask of the bits from `start` up to `stop`, bit 0 the most significant of `bits`."""
    return ((1 << (stop - start)) - 1) << (bits - stop)

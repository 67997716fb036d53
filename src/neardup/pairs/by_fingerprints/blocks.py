"""The simple plans: blocks, bands, a prefix, and all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb

from neardup.errors import SettingError
from neardup.kernels.hamming_join import RowPairs, join_all, join_within
from neardup.pairs.by_fingerprints.masks import MaskPlan, mask_of, require_tables
from neardup.pairs.by_fingerprints.plan import Plan, pairs_of
from neardup.pairs.by_fingerprints.rows import Rows
from neardup.pairs.costs import Costs


@dataclass(frozen=True, repr=False)
class BlockPlan(MaskPlan):
    """Every pair within k bits: k differing bits leave some of m blocks untouched.

    With m = k + 1 blocks at least one is equal, so each block is a table (`blocks:3`: four
    tables). With more blocks, m − k are equal together, and every choice of them is a table
    (`blocks:3/6`: 20 tables of about 32 bits): more tables, but far fewer candidates
    (Manku, Jain and Das Sarma, 2007).

    It does not promise any pair beyond k, and refuses a larger `max_distance`.
    """

    is_exact = True
    blocks: int

    @classmethod
    def of_blocks(cls, k: int, blocks: int | None, bits: int) -> BlockPlan:
        """Cut the bits into `blocks` (k + 1 where None) and take every choice of all but k."""
        name = f"blocks:{k}" if blocks is None else f"blocks:{k}/{blocks}"
        blocks = k + 1 if blocks is None else blocks
        if not k < blocks <= bits:
            raise SettingError(
                f"candidates='{name}' needs from {k + 1} to {bits} blocks for fingerprints of "
                f"{bits} bits, not {blocks}"
            )
        require_tables(comb(blocks, k), name)
        parts = [mask_of(start, stop, bits) for start, stop in cut(bits, blocks)]
        masks = tuple(sum(chosen) for chosen in combinations(parts, blocks - k))
        return cls(name, bits, masks, k, blocks)

    @property
    def promise(self) -> str:
        return f"finds every pair up to distance {self.reach}, none beyond is promised"

    def seconds(self, n: int, costs: Costs, pairs: float | None = None) -> float:
        """Blocks are searched block by block within blocks, where that is cheaper."""
        if self.blocks > self.reach + 1:
            return super().seconds(n, costs, pairs)
        return costs.within(n, pairs_of(n) if pairs is None else pairs, self.bits, self.reach)

    def join(
        self,
        left: Rows,
        right: Rows | None,
        *,
        max_distance: int | None,
        threads: int,
        most_pairs: int | None = None,
    ) -> RowPairs:
        """As tables; one block a table goes through the join that cuts large buckets again."""
        if max_distance is None or self.blocks > self.reach + 1:
            return super().join(
                left, right, max_distance=max_distance, threads=threads, most_pairs=most_pairs
            )
        return join_within(
            left.array,
            None if right is None else right.array,
            bits=self.bits,
            distance=max_distance,
            blocks=cut(self.bits, self.blocks),
            most_pairs=most_pairs,
            threads=threads,
        )


@dataclass(frozen=True, repr=False)
class BandPlan(MaskPlan):
    """M tables of K bits each, from the front: the more tables, the more is found.

    A pair of cosine s is found with the chance 1 − (1 − p^K)^M, p = 1 − θ/π. It promises
    only the pairs that differ in fewer than M bits.
    """

    @classmethod
    def of_bands(cls, bands: int, width: int, bits: int) -> BandPlan:
        """`bands` tables of `width` bits."""
        name = f"bands:{bands}x{width}"
        if width < 1:
            raise SettingError(
                f"candidates='{name}' cannot work: a band of no bits holds every document; "
                "bands:MxK is M bands of K bits each, K at least 1"
            )
        if bands * width > bits:
            raise SettingError(
                f"candidates='{name}' needs {bands * width} bits, but these fingerprints have "
                f"{bits}; make wider ones or take fewer bands"
            )
        require_tables(bands, name)
        masks = (mask_of(band * width, (band + 1) * width, bits) for band in range(bands))
        return cls(name, bits, tuple(masks), bands - 1)


@dataclass(frozen=True, repr=False)
class PrefixPlan(MaskPlan):
    """The top d bits of the sorted table: one sort, and only pairs whose first d bits agree.

    It promises identical fingerprints and no more: one differing bit among the first d loses
    a pair.
    """

    @classmethod
    def of_prefix(cls, depth: int, bits: int) -> PrefixPlan:
        """The mask of the first `depth` bits."""
        if depth > bits:
            raise SettingError(
                f"candidates='prefix:{depth}' asks for more than the {bits} bits there are"
            )
        return cls(f"prefix:{depth}", bits, (mask_of(0, depth, bits),), 0 if depth else bits)


def cut(bits: int, blocks: int) -> list[tuple[int, int]]:
    """Cut the bits into blocks whose widths differ by one at most, the wider ones first."""
    width, wider = divmod(bits, blocks)
    edges = [block * width + min(block, wider) for block in range(blocks + 1)]
    return list(pairwise(edges))


@dataclass(frozen=True, repr=False)
class EveryPair(Plan):
    """Every pair is a candidate: complete at any distance, and the square of n in work.

    It does not promise to end soon: a million fingerprints are half a trillion comparisons.
    """

    bits: int
    name = "all"

    @property
    def tables(self) -> int:
        """The fingerprints as they are."""
        return 1

    @property
    def guarantee(self) -> int:
        """Whatever the distance."""
        return self.bits

    @property
    def promise(self) -> str:
        return "finds every pair, but the work grows with the square of the number"

    def recall(self, similarity: float, n: int | None = None) -> float:
        """Nothing is missed."""
        return 1.0

    def expected_candidates(self, n: int) -> float:
        """All pairs."""
        return pairs_of(n)

    def memory(self, n: int) -> int:
        """Nothing is kept beside the fingerprints."""
        return 0

    def seconds(self, n: int, costs: Costs, pairs: float | None = None) -> float:
        """A comparison for each pair."""
        return costs.brute_force(pairs_of(n) if pairs is None else pairs, self.bits)

    def join(
        self,
        left: Rows,
        right: Rows | None,
        *,
        max_distance: int | None,
        threads: int,
        most_pairs: int | None = None,
    ) -> RowPairs:
        """Compare tile by tile."""
        other = None if right is None else right.array
        return join_all(
            left.array, other, max_distance=max_distance, most_pairs=most_pairs, threads=threads
        )

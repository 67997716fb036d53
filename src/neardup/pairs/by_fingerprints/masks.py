"""Plans of bit masks: two fingerprints are candidates when they agree on all bits of one mask.

Bits that belong to the same masks are alike, so both questions are asked of *atoms*: classes of
such bits. Masks that share no bit, not even by way of others, are independent parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import expm1, inf, log1p

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels.hamming_join import RowPairs, join_masks
from neardup.pairs.by_fingerprints.plan import Plan, pairs_of
from neardup.pairs.by_fingerprints.rows import Rows
from neardup.pairs.costs import Costs
from neardup.pairs.recall import bit_agreement

_MOST_STATES = 1 << 16
_MOST_STEPS = 50_000


MOST_TABLES = 10_000


@dataclass(frozen=True)
class Atom:
    """Bits that belong to exactly the same masks; `masks` is a set of mask numbers, as bits."""

    masks: int
    size: int


def atoms_of(masks: Sequence[int], bits: int) -> list[Atom]:
    """The classes of bits that masks tell apart."""
    membership = _membership(masks, bits)
    columns, sizes = np.unique(membership, axis=1, return_counts=True)
    found = []
    for column, size in zip(columns.T, sizes.tolist(), strict=True):
        owners = int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little")
        if owners:
            found.append(Atom(owners, size))
    return found


def agreement(masks: Sequence[int], bits: int, bit_agrees: float) -> float:
    """The chance that two fingerprints agree on a whole mask, where bits agree independently."""
    if not masks:
        return 0.0
    if 0 in masks:
        return 1.0
    missed = 0.0  # the logarithm of the chance that no mask agrees
    for part in _parts(atoms_of(masks, bits)):
        found = _part_agrees(part, bit_agrees)
        if found >= 1:
            return 1.0
        missed += log1p(-found)
    return -expm1(missed)


def guarantee(masks: Sequence[int], bits: int) -> int:
    """How many bits may differ, wherever they are, with one mask still agreeing; -1 for no mask.

    That is one less than the fewest bits that touch every mask. Finding them is hard in
    general; where masks overlap too much to finish, the answer is what could be proven.
    """
    if 0 in masks:
        return bits
    return sum(_fewest_touching_all(part) for part in _parts(atoms_of(masks, bits))) - 1


def _membership(masks: Sequence[int], bits: int) -> NDArray[np.uint8]:
    size = -(-bits // 8)
    data = b"".join((mask << (8 * size - bits)).to_bytes(size, "big") for mask in masks)
    rows = np.frombuffer(data, np.uint8).reshape(len(masks), size)
    return np.unpackbits(rows, axis=1)[:, :bits]


def _parts(atoms: list[Atom]) -> list[list[Atom]]:
    """Atoms, gathered so that no mask reaches into two parts."""
    parts: list[tuple[int, list[Atom]]] = []
    for atom in atoms:
        touching = [part for part in parts if part[0] & atom.masks]
        parts = [part for part in parts if not part[0] & atom.masks]
        owners, joined = atom.masks, [atom]
        for masks, others in touching:
            owners |= masks
            joined += others
        parts.append((owners, joined))
    return [joined for _, joined in parts]


def _part_agrees(atoms: list[Atom], bit_agrees: float) -> float:
    """Walk over the atoms, keeping the chance of every set of masks that is still unharmed."""
    alive = 0
    for atom in atoms:
        alive |= atom.masks
    chances = {alive: 1.0}
    agreed = 0.0
    for place, atom in enumerate(atoms):
        later = 0
        for other in atoms[place + 1 :]:
            later |= other.masks
        whole = bit_agrees**atom.size
        following: dict[int, float] = {}
        for unharmed, chance in chances.items():
            for left, share in ((unharmed, whole), (unharmed & ~atom.masks, 1 - whole)):
                if left & ~later:
                    agreed += chance * share
                elif left:
                    following[left] = following.get(left, 0.0) + chance * share
        if len(following) > _MOST_STATES:
            raise SettingError(
                "these masks overlap too much to tell their recall; fewer masks, or masks that "
                "share whole blocks of bits, can be told"
            )
        chances = following
    return agreed


def _fewest_touching_all(atoms: list[Atom]) -> int:
    """The size of the smallest set of atoms that touches every mask, or a proven lower bound."""
    every = 0
    for atom in atoms:
        every |= atom.masks
    # An atom whose masks are all touched by another one is never needed.
    useful = [
        atom.masks
        for atom in atoms
        if not any(atom.masks != other.masks and not atom.masks & ~other.masks for other in atoms)
    ]
    steps = _Steps(_MOST_STEPS)
    size = 1
    while not _can_touch(every, useful, size, steps):
        if steps.left <= 0:
            return size
        size += 1
    return size


@dataclass
class _Steps:
    left: float = inf


def _can_touch(untouched: int, atoms: list[int], size: int, steps: _Steps) -> bool:
    """Whether `size` atoms touch all masks; when the steps run out the answer is no."""
    steps.left -= 1
    if not untouched:
        return True
    if size == 0 or steps.left <= 0:
        return False
    mask = untouched & -untouched
    return any(
        _can_touch(untouched & ~atom, atoms, size - 1, steps) for atom in atoms if atom & mask
    )


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

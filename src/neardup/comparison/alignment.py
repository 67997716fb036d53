"""Align the words of two documents, in bounded time.

Long documents are pinned together at runs of words that occur once in each (the idea of Bram
Cohen's patience diff), coarse runs first; only the short gaps between the pins are searched for
the shortest edit script. A budget limits the number of steps: gaps it does not reach stay
unaligned, and the result says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass

Block = tuple[int, int, int]
"""`(i, j, n)`: n elements from place i of the first sequence equal those from j of the second."""


Numbers = NDArray[np.int32]
# About five seconds of work at most; documents of a few thousand words need a thousandth of it.
_STEPS = 10_000_000
_SHORT_GAP = 100
_MOST_EDITS = 600
_MOST_LEVELS = 12
_PIN_WORDS = (5, 2, 1)
_HASH_BASE = np.uint64(0x9E3779B97F4A7C15)


class Budget:
    """The number of steps that may still be taken."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def spend(self, steps: int) -> bool:
        """Spend steps; if too few are left, spend none and return False."""
        if steps > self.steps:
            return False
        self.steps -= steps
        return True


def shortest_script(
    a: Sequence[int], b: Sequence[int], most_edits: int, budget: Budget
) -> list[Block] | None:
    """Find the longest common subsequence as blocks; None beyond `most_edits` or the budget.

    The greedy algorithm of E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
    """
    furthest = {1: 0}
    history = []
    for edits in range(min(most_edits, len(a) + len(b)) + 1):
        history.append(furthest.copy())
        walked = 0
        for diagonal in range(-edits, edits + 1, 2):
            start = i = _start(furthest, diagonal, edits)
            j = i - diagonal
            while i < len(a) and j < len(b) and a[i] == b[j]:
                i += 1
                j += 1
            walked += i - start + 1
            furthest[diagonal] = i
            if i >= len(a) and j >= len(b):
                return _trace(history, i, j)
        if not budget.spend(walked):
            return None
    return None


def _comes_down(furthest: dict[int, int], diagonal: int, edits: int) -> bool:
    """Whether the furthest path onto a diagonal ends with an insertion, not a deletion."""
    return diagonal == -edits or (
        diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
    )


def _start(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    """The position on a diagonal at which the furthest path with one more edit begins."""
    if _comes_down(furthest, diagonal, edits):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _trace(history: list[dict[int, int]], i: int, j: int) -> list[Block]:
    """Walk back from the end through the recorded rounds."""
    blocks = []
    for edits in range(len(history) - 1, -1, -1):
        furthest, diagonal = history[edits], i - j
        start = _start(furthest, diagonal, edits)
        if i > start:
            blocks.append((start, start - diagonal, i - start))
        down = _comes_down(furthest, diagonal, edits)
        i, j = (start, start - diagonal - 1) if down else (start - 1, start - diagonal)
    return blocks[::-1]


@dataclass(frozen=True)
class Alignment:
    """Blocks `(i, j, n)` of n equal words, in order; `complete` if no gap was given up."""

    blocks: tuple[Block, ...]
    complete: bool


@dataclass(frozen=True)
class _Gap:
    a: int
    a_end: int
    b: int
    b_end: int
    level: int = 0


def align(a: Numbers, b: Numbers, steps: int = _STEPS) -> Alignment:
    """Align two documents given as word numbers, the same number for the same word."""
    budget = Budget(steps)
    blocks: list[Block] = []
    complete = True
    gaps = deque([_Gap(0, len(a), 0, len(b))])
    while gaps:  # first in, first out: coarse pins everywhere before fine work anywhere
        gap = _trimmed(a, b, gaps.popleft(), blocks)
        if gap.a == gap.a_end or gap.b == gap.b_end:
            continue
        pins = _pins(a, b, gap, budget)
        if pins:
            blocks.extend(pins)
            gaps.extend(_between(pins, gap))
            continue
        found = _searched(a[gap.a : gap.a_end], b[gap.b : gap.b_end], budget)
        complete = complete and found is not None
        blocks.extend((gap.a + i, gap.b + j, n) for i, j, n in found or ())
    return Alignment(tuple(_without_islands(_merged(blocks), len(a), len(b))), complete)


def _trimmed(a: Numbers, b: Numbers, gap: _Gap, blocks: list[Block]) -> _Gap:
    """Add the common beginning and end of a gap to the blocks; return the rest of the gap."""
    room = min(gap.a_end - gap.a, gap.b_end - gap.b)
    head = _equal_run(a[gap.a : gap.a + room], b[gap.b : gap.b + room])
    room -= head
    tail = _equal_run(a[gap.a_end - room : gap.a_end][::-1], b[gap.b_end - room : gap.b_end][::-1])
    if head:
        blocks.append((gap.a, gap.b, head))
    if tail:
        blocks.append((gap.a_end - tail, gap.b_end - tail, tail))
    return _Gap(gap.a + head, gap.a_end - tail, gap.b + head, gap.b_end - tail, gap.level)


def _equal_run(a: Numbers, b: Numbers) -> int:
    different = a != b
    return int(different.argmax()) if different.any() else len(a)


def _pins(a: Numbers, b: Numbers, gap: _Gap, budget: Budget) -> list[Block]:
    """Find the heaviest ordered chain of runs that occur once on each side; none in a short gap."""
    length = max(gap.a_end - gap.a, gap.b_end - gap.b)
    if length <= _SHORT_GAP or gap.level == _MOST_LEVELS:
        return []
    for words in _PIN_WORDS:
        if not budget.spend(1000 + length // 8):
            return []
        pins = _heaviest_chain(_common_once(a[gap.a : gap.a_end], b[gap.b : gap.b_end], words))
        if pins:
            return [(gap.a + i, gap.b + j, n) for i, j, n in pins]
    return []


def _searched(a: Numbers, b: Numbers, budget: Budget) -> list[Block] | None:
    """Find the longest common subsequence among the words that both sides have."""
    places_a, places_b = np.flatnonzero(np.isin(a, b)), np.flatnonzero(np.isin(b, a))
    found = shortest_script(a[places_a].tolist(), b[places_b].tolist(), _MOST_EDITS, budget)
    if found is None:
        return None
    return [
        (int(places_a[i + step]), int(places_b[j + step]), 1)
        for i, j, n in found
        for step in range(n)
    ]


def _common_once(a: Numbers, b: Numbers, words: int) -> list[Block]:
    """Find runs made of shingles of `words` words that occur once in each, ordered by a."""
    if min(len(a), len(b)) < words:
        return []
    values_a, places_a = _once(_hashed_shingles(a, words))
    values_b, places_b = _once(_hashed_shingles(b, words))
    _, in_a, in_b = np.intersect1d(values_a, values_b, assume_unique=True, return_indices=True)
    i, j = places_a[in_a], places_b[in_b]
    order = np.argsort(i)
    i, j = i[order], j[order]
    for place in range(words):  # hashes can collide: compare the words
        same = a[i + place] == b[j + place]
        i, j = i[same], j[same]
    if not len(i):
        return []
    broken = np.flatnonzero((np.diff(i) != 1) | (np.diff(j) != 1)) + 1
    first = np.concatenate(([0], broken))
    lengths = np.diff(np.append(first, len(i))) + words - 1
    return list(zip(i[first].tolist(), j[first].tolist(), lengths.tolist(), strict=True))


def _hashed_shingles(units: Numbers, size: int) -> NDArray[np.uint64]:
    count = len(units) - size + 1
    hashes = np.zeros(count, np.uint64)
    for place in range(size):
        hashes *= _HASH_BASE
        hashes += units[place : place + count].astype(np.uint64)
    return hashes


def _once(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    distinct, places, counts = np.unique(values, return_index=True, return_counts=True)
    return distinct[counts == 1], places[counts == 1]


def _heaviest_chain(runs: list[Block]) -> list[Block]:
    """Choose runs in ascending order in both with the most words, cut where they overlap."""
    # A frontier of chain ends, ascending in b and in weight: the best one is found by bisection.
    ends: list[int] = []
    weights: list[int] = []
    owners: list[int] = []
    previous: list[int] = []
    for place, (_, j, n) in enumerate(runs):
        at = bisect_left(ends, j)
        weight = n + (weights[at - 1] if at else 0)
        previous.append(owners[at - 1] if at else -1)
        beaten = at
        while beaten < len(ends) and weights[beaten] <= weight:
            beaten += 1
        ends[at:beaten], weights[at:beaten], owners[at:beaten] = [j], [weight], [place]
    chain = []
    place = owners[-1] if owners else -1
    while place >= 0:
        chain.append(runs[place])
        place = previous[place]
    return _without_overlaps(chain[::-1])


def _without_overlaps(chain: list[Block]) -> list[Block]:
    kept: list[Block] = []
    i_end = j_end = 0
    for i, j, n in chain:
        cut = max(0, i_end - i, j_end - j)
        if cut < n:
            kept.append((i + cut, j + cut, n - cut))
            i_end, j_end = i + n, j + n
    return kept


def _between(pins: list[Block], gap: _Gap) -> list[_Gap]:
    """List the gaps before, between and after pins."""
    gaps = []
    a, b = gap.a, gap.b
    for i, j, n in [*pins, (gap.a_end, gap.b_end, 0)]:
        if i > a and j > b:
            gaps.append(_Gap(a, i, b, j, gap.level + 1))
        a, b = i + n, j + n
    return gaps


def _merged(blocks: list[Block]) -> list[Block]:
    merged: list[Block] = []
    for i, j, n in sorted(blocks):
        if merged and merged[-1][0] + merged[-1][2] == i and merged[-1][1] + merged[-1][2] == j:
            i, j, n = merged[-1][0], merged[-1][1], merged.pop()[2] + n
        merged.append((i, j, n))
    return merged


def _without_islands(blocks: list[Block], a_words: int, b_words: int) -> list[Block]:
    """Drop blocks smaller than the changes on both sides: a lone "the" explains nothing."""
    kept: list[Block] = []
    for block in [*blocks, (a_words, b_words, 0)]:
        while kept and kept[-1][2] < min(
            _change(kept[-2] if len(kept) > 1 else (0, 0, 0), kept[-1]), _change(kept[-1], block)
        ):
            kept.pop()
        kept.append(block)
    return kept[:-1]


def _change(left: Block, right: Block) -> int:
    """The number of words between two blocks, in the document that has more."""
    return max(right[0] - left[0] - left[2], right[1] - left[1] - left[2])

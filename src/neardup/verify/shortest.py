"""The shortest edit script between two short sequences, or none if it would take too long."""

from __future__ import annotations

from collections.abc import Sequence

Block = tuple[int, int, int]
"""`(i, j, n)`: n elements from place i of the first sequence equal those from j of the second."""


class Budget:
    """Steps that may still be taken; whoever works spends them."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def spend(self, steps: int) -> bool:
        """Take steps away; false, and none taken, when there are too few left."""
        if steps > self.steps:
            return False
        self.steps -= steps
        return True


def shortest_script(
    a: Sequence[int], b: Sequence[int], most_edits: int, budget: Budget
) -> list[Block] | None:
    """Find the longest common subsequence as blocks; None past `most_edits` or the budget.

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
    """Where on a diagonal the furthest path with one edit more begins."""
    if _comes_down(furthest, diagonal, edits):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _trace(history: list[dict[int, int]], i: int, j: int) -> list[Block]:
    """Walk back from the end through what each round knew."""
    blocks = []
    for edits in range(len(history) - 1, -1, -1):
        furthest, diagonal = history[edits], i - j
        start = _start(furthest, diagonal, edits)
        if i > start:
            blocks.append((start, start - diagonal, i - start))
        down = _comes_down(furthest, diagonal, edits)
        i, j = (start, start - diagonal - 1) if down else (start - 1, start - diagonal)
    return blocks[::-1]

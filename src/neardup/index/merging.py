"""When segments are packed together: so few that queries are fast, so seldom that adding is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.index.state import Segment, State

# So many documents are held in memory by whoever opens the index, before they are packed.
MOST_IN_TAIL = 1024
# A value of LMDB has less than 4 GB, and while it is written it is in memory.
_MOST_BYTES = 1_500_000_000
# A segment is at least so many times as large as all that come behind it.
_RATIO = 2
# While many documents are added, as many segments of one size are let stand.
_CROWD = 8


@dataclass(frozen=True, eq=False)
class Packing:
    """The plan that segments are packed by, and how long the tail may become."""

    masks: NDArray[np.uint64]
    bits: int
    tail: int

    @property
    def plan(self) -> tuple[NDArray[np.uint64], int]:
        """The masks as rows, and the bits of a fingerprint."""
        return self.masks, self.bits

    @property
    def most(self) -> int:
        """How many documents a segment may hold."""
        tables, words = (int(size) for size in self.masks.shape)
        return _MOST_BYTES // (8 * words + 12 + 9 * tables)

    def everything(self, state: State) -> list[list[Segment]]:
        """All segments, in as few runs as there must be; those that are as they should be not."""
        runs: list[list[Segment]] = []
        room = 0
        for segment in state.segments:
            if segment.alive > room:
                runs.append([])
                room = self.most
            runs[-1].append(segment)
            room -= segment.alive
        return [run for run in runs if len(run) > 1 or run[0].held > run[0].alive]

    def hollow(self, state: State) -> list[Segment]:
        """A segment of which more than half is gone."""
        return [part for part in state.segments if part.dead > part.documents // 2][:1]


def chosen_run(segments: Sequence[Segment], packing: Packing) -> list[Segment]:
    """The last segments, from the first on that is less than twice as large as those behind it."""
    run, total = 0, 0
    for place, segment in enumerate(reversed(segments), 1):
        if segment.alive + total > packing.most:
            break
        if place > 1 and segment.alive < _RATIO * total:
            run = place
        total += segment.alive
    return list(segments[len(segments) - run :])


def crowded_run(segments: Sequence[Segment], packing: Packing) -> list[Segment]:
    """The last segments, if as many of one size stand there as may."""
    run, total = 0, 0
    tier = _tier(segments[-1], packing) if segments else 0
    for segment in reversed(segments):
        if _tier(segment, packing) > tier or segment.alive + total > packing.most:
            break
        run, total = run + 1, total + segment.alive
    return list(segments[-run:]) if run >= _CROWD else []


def _tier(segment: Segment, packing: Packing) -> int:
    tier, size = 0, segment.alive // packing.tail
    while size >= _CROWD:
        tier, size = tier + 1, size // _CROWD
    return tier

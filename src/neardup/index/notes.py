"""Notes of the dead: the numbers of documents that are gone, but still packed in a segment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from neardup.index.state import Segment, State
from neardup.index.stored import Stored

Numbers = NDArray[np.uint64]
_NONE = np.zeros(0, np.uint64)
_AT_MOST = 256


def note(stored: Stored, segment: Segment, numbers: Numbers) -> Segment:
    """Note that documents of a segment are gone.

    Now and then all notes become one. Notes are numbered on and on, so whoever has read some of
    them finds in the later ones whatever is new, and perhaps some that he knows.
    """
    if segment.notes % _AT_MOST == _AT_MOST - 1:
        numbers = np.union1d(numbers, read_notes(stored, segment.key))
        stored.delete_notes(segment.key)
        dead = len(numbers)
    else:
        dead = segment.dead + len(numbers)
    stored.put_note(segment.key, segment.notes, numbers.tobytes())
    return replace(segment, dead=dead, notes=segment.notes + 1)


def read_notes(stored: Stored, key: int, first: int = 0) -> Numbers:
    """The dead of a segment, as they were noted from one note on."""
    parts = [np.frombuffer(bytes(note), np.uint64) for note in stored.notes(key, first)]
    return np.concatenate([_NONE, *parts])


class Dead:
    """The dead of every segment at a revision, ascending; reads only what is new."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[int, Numbers]] = {}

    def follow(self, stored: Stored, state: State) -> dict[int, Numbers]:
        """The dead of each segment of that state, which stay as they are for whoever has them."""
        now = {}
        for segment in state.segments:
            notes, numbers = self._of.get(segment.key, (0, _NONE))
            if segment.notes != notes:
                numbers = np.union1d(numbers, read_notes(stored, segment.key, notes))
            now[segment.key] = (segment.notes, numbers)
        self._of = now
        return {key: numbers for key, (_, numbers) in now.items()}

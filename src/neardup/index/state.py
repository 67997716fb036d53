"""The state of a durable index: its segments, and where the tail begins."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from typing import Any

import orjson

from neardup.kernels.living import MOST_NUMBER

# The key under which the dead of the tail are noted; segments count from 1.
TAIL = 0


@dataclass(frozen=True)
class Segment:
    """Documents that are packed together: their key, their numbers, and how many there are.

    `documents` were packed, `dead` of them are gone since, noted in `notes` entries. `held` are
    the records that blocks hold of these numbers, those long gone among them.
    """

    key: int
    first: int
    last: int
    documents: int
    held: int
    dead: int = 0
    notes: int = 0

    @property
    def alive(self) -> int:
        """How many documents there are."""
        return self.documents - self.dead


@dataclass(frozen=True)
class State:
    """What a commit leaves behind. Documents from `tail.first` on are in no segment yet."""

    revision: int
    next_number: int
    next_key: int
    segments: tuple[Segment, ...]
    tail: Segment

    @classmethod
    def new(cls) -> State:
        """That of an index without documents."""
        return cls(0, 0, TAIL + 1, (), Segment(TAIL, 0, 0, 0, 0))

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.tail.alive + sum(segment.alive for segment in self.segments)

    @property
    def parts(self) -> tuple[Segment, ...]:
        """The segments and the tail."""
        return (*self.segments, self.tail)

    def to_bytes(self) -> bytes:
        """As JSON, to be stored."""
        return orjson.dumps(asdict(self))

    @classmethod
    def of_bytes(cls, data: bytes | memoryview) -> State:
        """Read back what `to_bytes` wrote."""
        held: dict[str, Any] = orjson.loads(data)
        segments = tuple(Segment(**segment) for segment in held.pop("segments"))
        state = cls(**{**held, "segments": segments, "tail": Segment(**held["tail"])})
        state.require_possible()
        return state

    def require_possible(self) -> None:
        """ValueError unless this could be a state: all that is counted on elsewhere holds."""
        counts = [self.revision, self.next_number, self.next_key]
        counts += [value for part in self.parts for value in astuple(part)]
        if any(type(count) is not int or not 0 <= count <= MOST_NUMBER for count in counts):
            raise ValueError("it has a number that is none")
        begin = 0  # of the numbers that no segment before has
        for segment in self.segments:
            if not (begin <= segment.first <= segment.last and TAIL < segment.key < self.next_key):
                raise ValueError("its segments are not in order")
            begin = segment.last + 1
        if not begin <= self.tail.first <= self.next_number or self.tail.key != TAIL:
            raise ValueError("its tail is not behind its segments")
        if len({part.key for part in self.parts}) < len(self.parts):
            raise ValueError("it has a segment twice")
        for part in self.segments:
            if not part.dead <= part.documents <= part.held <= part.last + 1 - part.first:
                raise ValueError("it counts more documents than there are numbers")
        if not self.tail.dead <= self.tail.documents <= self.next_number - self.tail.first:
            raise ValueError("it counts more documents than there are numbers")

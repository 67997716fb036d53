"""The state of a durable index: its segments, and where the tail begins."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import orjson

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
        return cls(**{**held, "segments": segments, "tail": Segment(**held["tail"])})

"""Keys and values of the index on disk: its state, segments, and removed documents.

All keys are in one LMDB table. The first byte is the type of the key:

    a  about the whole index: `format`, `settings`, `state` and, if weights need it, `idf`
    b  a block of records, under the number of its last document
    d  notes of removed ("dead") documents, under the segment's key and the number of the note
    i  the ids of a segment, under its key
    s  the packed fingerprints of a segment, under its key
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup.index.disk.block import Block
from neardup.index.disk.damage import DamageError
from neardup.index.disk.id_table import IdTable
from neardup.kernels.index_tables import MOST_NUMBER

# The key for the dead of the tail; segments count from 1.
TAIL = 0


FORMAT_KEY, SETTINGS_KEY, IDF_KEY, STATE_KEY = b"aformat", b"asettings", b"aidf", b"astate"
_BLOCK, _NOTE, _IDS, _TABLES = b"b", b"d", b"i", b"s"
# Smaller values (up to half a page) may share a page at odd addresses, and move with it.
_LARGE = 1 << 16
_KEY = struct.Struct(">cQ")
_NOTE_KEY = struct.Struct(">cQQ")
Numbers = NDArray[np.uint64]
_NONE = np.zeros(0, np.uint64)
_AT_MOST = 256


@dataclass(frozen=True)
class Segment:
    """A set of documents packed together: its key, its first and last number, and counts.

    `documents` were packed; `dead` of them were removed since, recorded in `notes` notes. `held` is
    the number of records in the blocks of this range, including those of removed documents.
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
        """Number of documents that are not dead."""
        return self.documents - self.dead


@dataclass(frozen=True)
class State:
    """The state after a commit. Documents from `tail.first` on are in no segment yet."""

    revision: int
    next_number: int
    next_key: int
    segments: tuple[Segment, ...]
    tail: Segment

    @classmethod
    def new(cls) -> State:
        """The state of an empty index."""
        return cls(0, 0, TAIL + 1, (), Segment(TAIL, 0, 0, 0, 0))

    @property
    def documents(self) -> int:
        return self.tail.alive + sum(segment.alive for segment in self.segments)

    @property
    def parts(self) -> tuple[Segment, ...]:
        """The segments, then the tail."""
        return (*self.segments, self.tail)

    def to_bytes(self) -> bytes:
        """As JSON, to store in the index."""
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
        """Raise a ValueError unless the invariants that other modules rely on hold."""
        counts = [self.revision, self.next_number, self.next_key]
        counts += [value for part in self.parts for value in astuple(part)]
        if any(type(count) is not int or not 0 <= count <= MOST_NUMBER for count in counts):
            raise ValueError("a number is out of range")
        begin = 0  # the first number not in an earlier segment
        for segment in self.segments:
            if not (begin <= segment.first <= segment.last and TAIL < segment.key < self.next_key):
                raise ValueError("its segments are not in order")
            begin = segment.last + 1
        if not begin <= self.tail.first <= self.next_number or self.tail.key != TAIL:
            raise ValueError("its tail is not after its segments")
        if len({part.key for part in self.parts}) < len(self.parts):
            raise ValueError("a segment occurs twice")
        for part in self.segments:
            if not part.dead <= part.documents <= part.held <= part.last + 1 - part.first:
                raise ValueError("it counts more documents than there are numbers")
        if not self.tail.dead <= self.tail.documents <= self.next_number - self.tail.first:
            raise ValueError("it counts more documents than there are numbers")


class Mapped:
    """A cache of segment values: addresses in the map, by type and key.

    py-lmdb touches every page of a value on each access: 90 µs for 53 MB. But the value of a
    segment never changes, and stays in place as long as the state has the segment and the map
    does not grow.
    """

    def __init__(self) -> None:
        self._map = 0
        self._revision = -1
        self._values: dict[tuple[bytes, int], memoryview] = {}

    def follow(self, state: State, map_number: int) -> None:
        """Forget values that are not in this state or belong to another map."""
        if map_number != self._map:
            self._values = {}
        elif state.revision != self._revision:
            named = {segment.key for segment in state.segments}
            self._values = {key: data for key, data in self._values.items() if key[1] in named}
        self._map = map_number
        self._revision = state.revision

    def get(self, kind: bytes, key: int) -> memoryview | None:
        return self._values.get((kind, key))

    def put(self, kind: bytes, key: int, data: memoryview) -> None:
        """Remember a committed value."""
        self._values[kind, key] = data


class Stored:
    """The keys and values as one transaction sees them.

    Values of segments are looked up in `mapped` first; with `adds`, a transaction adds to it, which
    only read transactions may do. `row_words` is the width of a fingerprint in 64-bit words.
    """

    def __init__(self, transaction: Any, mapped: Mapped, *, adds: bool, row_words: int = 0) -> None:
        self._transaction = transaction
        self._mapped = mapped
        self._adds = adds
        self._row_words = row_words

    def about(self, key: bytes) -> memoryview | None:
        """A value about the whole index."""
        found: memoryview | None = self._transaction.get(key)
        return found

    def put_about(self, key: bytes, value: bytes) -> None:
        """Store a value about the whole index."""
        self._transaction.put(key, value)

    def is_empty(self) -> bool:
        """Whether nothing was ever committed."""
        return not self._transaction.stat()["entries"]

    def state(self) -> State:
        """The state of the last commit."""
        data = self.about(STATE_KEY)
        if data is None:
            raise DamageError("its state is missing")
        return _state(bytes(data))

    def block(self, number: int) -> Block | None:
        """The first block whose last number is `number` or higher."""
        with self._transaction.cursor() as cursor:
            if cursor.set_range(_KEY.pack(_BLOCK, number)) and _is_of(cursor, _BLOCK):
                return self._block(cursor)
        return None

    def blocks_from(self, first: int) -> Iterator[Block]:
        """The blocks of documents from this number on, in order."""
        with self._transaction.cursor() as cursor:
            found = cursor.set_range(_KEY.pack(_BLOCK, first))
            while found and _is_of(cursor, _BLOCK):
                yield self._block(cursor)
                found = cursor.next()

    def put_block(self, last: int, data: bytes) -> None:
        """Store a block under the number of its last document."""
        self._transaction.put(_KEY.pack(_BLOCK, last), data)

    def delete_blocks(self, first: int, last: int) -> None:
        """Delete the blocks of documents from `first` to `last`."""
        with self._transaction.cursor() as cursor:
            found = cursor.set_range(_KEY.pack(_BLOCK, first))
            while found and bytes(cursor.key()) <= _KEY.pack(_BLOCK, last):
                found = cursor.delete()

    def segment(self, key: int) -> memoryview | bytes:
        """The packed fingerprints of a segment."""
        data = self._value(_TABLES, key)
        return data if len(data) >= _LARGE else bytes(data)

    def id_table(self, key: int) -> IdTable:
        return IdTable(self._value(_IDS, key))

    def put_segment(self, key: int, tables: bytes, ids: bytes) -> None:
        self._transaction.put(_KEY.pack(_TABLES, key), tables)
        self._transaction.put(_KEY.pack(_IDS, key), ids)

    def delete_segment(self, key: int) -> None:
        for kind in (_TABLES, _IDS):
            self._transaction.delete(_KEY.pack(kind, key))
        self.delete_notes(key)

    def notes(self, key: int, first: int) -> Iterator[memoryview]:
        """The notes of a segment's dead, from note `first` on."""
        with self._transaction.cursor() as cursor:
            found = cursor.set_range(_NOTE_KEY.pack(_NOTE, key, first))
            while found and bytes(cursor.key())[:9] == _KEY.pack(_NOTE, key):
                yield cursor.value()
                found = cursor.next()

    def put_note(self, key: int, number: int, data: bytes) -> None:
        """Store a note of dead documents of a segment."""
        self._transaction.put(_NOTE_KEY.pack(_NOTE, key, number), data)

    def delete_notes(self, key: int) -> None:
        """Delete all notes of a segment."""
        with self._transaction.cursor() as cursor:
            found = cursor.set_range(_NOTE_KEY.pack(_NOTE, key, 0))
            while found and bytes(cursor.key())[:9] == _KEY.pack(_NOTE, key):
                found = cursor.delete()

    def _block(self, cursor: Any) -> Block:
        key = bytes(cursor.key())
        if len(key) != _KEY.size:
            raise DamageError("a block of records has no number")
        return Block(cursor.value(), _KEY.unpack(key)[1], self._row_words)

    def _value(self, kind: bytes, key: int) -> memoryview:
        known = self._mapped.get(kind, key)
        if known is not None:
            return known
        found: memoryview | None = self._transaction.get(_KEY.pack(kind, key))
        if found is None:
            raise DamageError(f"segment {key} is missing")
        if self._adds and len(found) >= _LARGE:
            self._mapped.put(kind, key, found)
        return found


@lru_cache(64)
def _state(data: bytes) -> State:
    try:
        return State.of_bytes(data)
    except (KeyError, TypeError, ValueError) as error:
        raise DamageError(f"its state cannot be read: {error}") from None


def _is_of(cursor: Any, kind: bytes) -> bool:
    return bool(cursor.key()[:1] == kind)


def note(stored: Stored, segment: Segment, numbers: Numbers) -> Segment:
    """Record that documents of a segment were removed.

    From time to time all notes are merged into one. Note numbers only grow, so a reader that knows
    earlier notes finds everything new in later ones, perhaps with some repetitions.
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
    """The dead of a segment, from note `first` on."""
    parts = [np.frombuffer(bytes(note), np.uint64) for note in stored.notes(key, first)]
    return np.concatenate([_NONE, *parts])


class Dead:
    """The dead of every segment at a revision, ascending; reads only new notes."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[int, Numbers]] = {}

    def follow(self, stored: Stored, state: State) -> dict[int, Numbers]:
        """The dead of each segment of this state; arrays returned earlier do not change."""
        now = {}
        for segment in state.segments:
            notes, numbers = self._of.get(segment.key, (0, _NONE))
            if segment.notes != notes:
                numbers = np.union1d(numbers, read_notes(stored, segment.key, notes))
            now[segment.key] = (segment.notes, numbers)
        self._of = now
        return {key: numbers for key, (_, numbers) in now.items()}

"""Keys and values of the index on disk: its state, segments, and removed documents.

All keys are in one LMDB table. The first byte is the type of the key:

    a  about the whole index: `format`, `settings`, `state` and, if weights need it, `idf`
    b  a block of records, under the number of its last document
    d  notes of removed ("dead") documents, under the segment's key and the number of the note
    i  the ids of a segment, under its key
    s  the tables of a segment, under its key
    t  how often and when a document was seen again, under its number
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup.index.disk.block import Block
from neardup.index.disk.damage import DamageError
from neardup.index.disk.id_table import IdTable
from neardup.kernels.index_tables import MOST_NUMBER
from neardup.kernels.set_index import FeatureBlock, SetSegment

# The key for the dead of the tail; segments count from 1.
TAIL = 0


FORMAT_KEY, SETTINGS_KEY, IDF_KEY, STATE_KEY = b"aformat", b"asettings", b"aidf", b"astate"
_BLOCK, _NOTE, _IDS, _TABLES, _SEEN = b"b", b"d", b"i", b"s", b"t"
# Smaller values (up to half a page) may share a page at odd addresses, and move with it.
_LARGE = 1 << 16
_KEY = struct.Struct(">cQ")
_NOTE_KEY = struct.Struct(">cQQ")
_STATE = struct.Struct("<4sQQQI")
_STATE_MAGIC = b"NDs2"
_SEGMENT = struct.Struct("<7Q")
_SEEN_VALUE = struct.Struct("<Qq")
Numbers = NDArray[np.uint64]
_NONE = np.zeros(0, np.uint64)
_AT_MOST = 256


class Segment(NamedTuple):
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


class State(NamedTuple):
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
        """The bytes to store in the index."""
        counts = (self.revision, self.next_number, self.next_key, len(self.segments))
        parts = [_STATE.pack(_STATE_MAGIC, *counts), _SEGMENT.pack(*self.tail)]
        parts += [_SEGMENT.pack(*segment) for segment in self.segments]
        return b"".join(parts)

    @classmethod
    def of_bytes(cls, data: bytes) -> State:
        """Read back what `to_bytes` wrote, or the JSON of format 1."""
        if data[:1] == b"{":
            held: dict[str, Any] = orjson.loads(data)
            segments = tuple(Segment(**segment) for segment in held.pop("segments"))
            state = cls(**{**held, "segments": segments, "tail": Segment(**held["tail"])})
        else:
            if len(data) < _STATE.size:
                raise ValueError("it is cut off")
            magic, revision, next_number, next_key, count = _STATE.unpack_from(data)
            if magic != _STATE_MAGIC or len(data) != _STATE.size + (count + 1) * _SEGMENT.size:
                raise ValueError("it is not as it was written")
            tail, *others = map(Segment._make, _SEGMENT.iter_unpack(data[_STATE.size :]))
            state = cls(revision, next_number, next_key, tuple(others), tail)
        state.require_possible()
        return state

    def require_possible(self) -> None:
        """Raise a ValueError unless the invariants that other modules rely on hold."""
        counts = [self.revision, self.next_number, self.next_key]
        counts += [value for part in self.parts for value in part]
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


KnownState = tuple[bytes, State]


class OpenSegment:
    """A segment ready to be searched: its tables, its table of ids, and for sets its blocks."""

    def __init__(self, data: memoryview | bytes, ids: IdTable) -> None:
        self.data = data
        self.ids = ids
        self.sets: SetSegment | None = None


class OpenSegments:
    """The segments that were opened, by key.

    py-lmdb touches every page of a value on each access: 90 µs for 53 MB. But the values of a
    segment never change, and stay in place as long as the state has the segment and the map does
    not grow; the same holds for the blocks of its documents.
    """

    def __init__(self) -> None:
        self._map = 0
        self._revision = -1
        self._of: dict[int, OpenSegment] = {}

    def follow(self, state: State, map_number: int) -> None:
        """Forget segments that are not in this state or belong to another map."""
        if map_number != self._map:
            self._of = {}
        elif state.revision != self._revision:
            named = {segment.key for segment in state.segments}
            self._of = {key: opened for key, opened in self._of.items() if key in named}
        self._map = map_number
        self._revision = state.revision

    def get(self, key: int) -> OpenSegment | None:
        return self._of.get(key)

    def put(self, key: int, opened: OpenSegment) -> None:
        """Remember a committed segment."""
        self._of[key] = opened


class Stored:
    """The keys and values as one transaction sees them.

    Segments are looked up in `opened` first, and the state in `known`, which has the bytes of one.
    `row_words` is the width of a fingerprint in 64-bit words. What the transaction itself wrote of
    segments and blocks is kept in memory until it ends, because LMDB may move it.
    """

    def __init__(
        self,
        transaction: Any,
        opened: OpenSegments,
        *,
        known: KnownState | None = None,
        row_words: int = 0,
    ) -> None:
        self._transaction = transaction
        self._known = known
        self._opened = opened
        self._row_words = row_words
        self._own_segments: dict[int, OpenSegment] = {}
        self._own_blocks: dict[int, bytes] = {}

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
        data = self.state_bytes()
        known = self._known
        return known[1] if known is not None and data == known[0] else state_of(data)

    def state_bytes(self) -> bytes:
        """The state of the last commit, as stored."""
        data = self.about(STATE_KEY)
        if data is None:
            raise DamageError("its state is missing")
        return bytes(data)

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

    def blocks_between(self, first: int, last: int) -> Iterator[Block]:
        """The blocks of documents from `first` to `last`."""
        for block in self.blocks_from(first):
            if block.first > last:
                return
            yield block

    def put_block(self, last: int, data: bytes, *, kept: bool = False) -> None:
        """Store a block under the number of its last document.

        `kept` keeps it in memory, too, for searches in this transaction.
        """
        self._transaction.put(_KEY.pack(_BLOCK, last), data)
        self._own_blocks.pop(last, None)
        if kept:
            self._own_blocks[last] = data

    def delete_blocks(self, first: int, last: int) -> None:
        """Delete the blocks of documents from `first` to `last`."""
        with self._transaction.cursor() as cursor:
            found = cursor.set_range(_KEY.pack(_BLOCK, first))
            while found and bytes(cursor.key()) <= _KEY.pack(_BLOCK, last):
                found = cursor.delete()

    def segment(self, key: int) -> OpenSegment:
        """A segment, opened once."""
        found = self._own_segments.get(key) or self._opened.get(key)
        if found is None:
            data, ids = self._value(_TABLES, key), self._value(_IDS, key)
            found = OpenSegment(data, IdTable(ids))
            self._opened.put(key, found)
        return found

    def sets(self, segment: Segment) -> SetSegment:
        """A segment of sets, with the blocks that its features are in."""
        opened = self.segment(segment.key)
        if opened.sets is None:
            blocks = self.feature_blocks(segment.first, segment.last)
            opened.sets = SetSegment(np.frombuffer(opened.data, np.uint8), blocks)
        return opened.sets

    def feature_blocks(self, first: int, last: int) -> list[FeatureBlock]:
        """Where the features of documents from `first` to `last` are."""
        found = []
        for block in self.blocks_between(first, last):
            if block.has_features:
                own = self._own_blocks.get(block.last)
                data = block.data if own is None else own
                found.append(block.feature_block(data if len(data) >= _LARGE else bytes(data)))
        return found

    def put_segment(self, key: int, tables: bytes, ids: bytes) -> None:
        self._transaction.put(_KEY.pack(_TABLES, key), tables)
        self._transaction.put(_KEY.pack(_IDS, key), ids)
        self._own_segments[key] = OpenSegment(tables, IdTable(memoryview(ids)))

    def delete_segment(self, key: int) -> None:
        for kind in (_TABLES, _IDS):
            self._transaction.delete(_KEY.pack(kind, key))
        self._own_segments.pop(key, None)
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

    def seen(self, number: int) -> tuple[int, int] | None:
        """How often a document was seen again, and when for the last time; None if never."""
        data = self._transaction.get(_KEY.pack(_SEEN, number))
        if data is None:
            return None
        if len(data) != _SEEN_VALUE.size:
            raise DamageError("a count of documents seen is not as it was written")
        times, last = _SEEN_VALUE.unpack(data)
        return times, last

    def put_seen(self, number: int, times: int, last: int) -> None:
        self._transaction.put(_KEY.pack(_SEEN, number), _SEEN_VALUE.pack(times, last))

    def delete_seen(self, number: int) -> None:
        self._transaction.delete(_KEY.pack(_SEEN, number))

    def _block(self, cursor: Any) -> Block:
        key = bytes(cursor.key())
        if len(key) != _KEY.size:
            raise DamageError("a block of records has no number")
        return Block(cursor.value(), _KEY.unpack(key)[1], self._row_words)

    def _value(self, kind: bytes, key: int) -> memoryview | bytes:
        found: memoryview | None = self._transaction.get(_KEY.pack(kind, key))
        if found is None:
            raise DamageError(f"segment {key} is missing")
        return found if len(found) >= _LARGE else bytes(found)


@lru_cache(64)
def state_of(data: bytes) -> State:
    """The state in bytes; a `DamageError` if it cannot be read."""
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
    return segment._replace(dead=dead, notes=segment.notes + 1)


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

"""What a durable index stores, read and written under its keys.

All keys are in one table of LMDB. The first byte says what a key is of:

    a  about the whole index: `format`, `settings`, `state` and, where weights need it, `idf`
    b  a block of records, under the number of its last document
    d  notes of the dead, under the segment's key and the number of the note
    i  the ids of a segment, under its key
    s  the packed fingerprints of a segment, under its key
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from neardup.index.block import Block
from neardup.index.id_table import IdTable
from neardup.index.mapped import Mapped
from neardup.index.soundness import DamageError
from neardup.index.state import State

FORMAT_KEY, SETTINGS_KEY, IDF_KEY, STATE_KEY = b"aformat", b"asettings", b"aidf", b"astate"
_BLOCK, _NOTE, _IDS, _TABLES = b"b", b"d", b"i", b"s"
# Smaller values may lie among others, at odd addresses, and be moved with those: up to half a page.
_LARGE = 1 << 16
_KEY = struct.Struct(">cQ")
_NOTE_KEY = struct.Struct(">cQQ")


class Stored:
    """All that is stored, as one transaction sees it.

    `mapped` is asked first for what belongs to segments; a transaction that only reads adds to it.
    `row_words` are those of a fingerprint, for whoever reads blocks.
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
        """Write a value about the whole index."""
        self._transaction.put(key, value)

    def is_empty(self) -> bool:
        """Whether nothing was ever stored."""
        return not self._transaction.stat()["entries"]

    def state(self) -> State:
        """The state that the last commit left behind."""
        data = self.about(STATE_KEY)
        if data is None:
            raise DamageError("its state is missing")
        return _state(bytes(data))

    def block(self, number: int) -> Block | None:
        """The first block whose last document has that number or a higher one."""
        with self._transaction.cursor() as cursor:
            if cursor.set_range(_KEY.pack(_BLOCK, number)) and _is_of(cursor, _BLOCK):
                return self._block(cursor)
        return None

    def blocks_from(self, first: int) -> Iterator[Block]:
        """The blocks of documents from that number on, in order."""
        with self._transaction.cursor() as cursor:
            found = cursor.set_range(_KEY.pack(_BLOCK, first))
            while found and _is_of(cursor, _BLOCK):
                yield self._block(cursor)
                found = cursor.next()

    def put_block(self, last: int, data: bytes) -> None:
        """Write a block, under the number of its last document."""
        self._transaction.put(_KEY.pack(_BLOCK, last), data)

    def delete_blocks(self, first: int, last: int) -> None:
        """Remove the blocks of documents from one number to another."""
        with self._transaction.cursor() as cursor:
            found = cursor.set_range(_KEY.pack(_BLOCK, first))
            while found and bytes(cursor.key()) <= _KEY.pack(_BLOCK, last):
                found = cursor.delete()

    def segment(self, key: int) -> memoryview | bytes:
        """The packed fingerprints of a segment."""
        data = self._value(_TABLES, key)
        return data if len(data) >= _LARGE else bytes(data)

    def id_table(self, key: int) -> IdTable:
        """The ids of a segment."""
        return IdTable(self._value(_IDS, key))

    def put_segment(self, key: int, tables: bytes, ids: bytes) -> None:
        """Write a segment."""
        self._transaction.put(_KEY.pack(_TABLES, key), tables)
        self._transaction.put(_KEY.pack(_IDS, key), ids)

    def delete_segment(self, key: int) -> None:
        """Remove a segment."""
        for kind in (_TABLES, _IDS):
            self._transaction.delete(_KEY.pack(kind, key))
        self.delete_notes(key)

    def notes(self, key: int, first: int) -> Iterator[memoryview]:
        """What was noted of a segment's dead, from one note on."""
        with self._transaction.cursor() as cursor:
            found = cursor.set_range(_NOTE_KEY.pack(_NOTE, key, first))
            while found and bytes(cursor.key())[:9] == _KEY.pack(_NOTE, key):
                yield cursor.value()
                found = cursor.next()

    def put_note(self, key: int, number: int, data: bytes) -> None:
        """Note some of a segment's dead."""
        self._transaction.put(_NOTE_KEY.pack(_NOTE, key, number), data)

    def delete_notes(self, key: int) -> None:
        """Forget the dead of a segment."""
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

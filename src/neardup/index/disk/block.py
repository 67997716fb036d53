"""Blocks: the records of several documents in one value, column by column.

A block is little-endian, in parts aligned to 8 bytes:

    head      magic, documents, the first number, words of a row, kinds, the sizes in bytes of
              ids, metadata and contents, checksum of everything after the head
    numbers   uint32, relative to the first number
    words     uint32
    rows      uint64, one row of words each
    ids       int64; or strings: uint32 offsets, one more than documents, then UTF-8
    metadata  like strings, JSON, if any document has metadata
    contents  like strings, if contents are stored
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.index.disk.damage import DamageError
from neardup.index.entries import Entries, Id, Record, int_array, is_text

MAGIC = b"NDb1"
MOST_DOCUMENTS = 1 << 14
MOST_BYTES = 1 << 22
_HEAD = struct.Struct("<4sIQIIQQQII")
_OFFSET = struct.Struct("<I")
_OFFSETS = struct.Struct("<II")
_INT = struct.Struct("<q")
_TEXT_IDS, _HAS_METADATA, _HAS_CONTENTS = 1, 2, 4

Numbers = NDArray[np.uint64]


def pieces(entries: Entries) -> Iterator[tuple[int, int]]:
    """The begin and end of each block of bounded size."""
    sizes = np.zeros(len(entries), np.int64)
    for column in (
        entries.metadata,
        entries.contents,
        entries.ids if is_text(entries.ids) else None,
    ):
        if column is not None:
            sizes += np.diff(_offsets(column))
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(entries):
        done = int(ends[begin - 1]) if begin else 0
        end = int(np.searchsorted(ends, done + MOST_BYTES, "right"))
        end = max(begin + 1, min(end, begin + MOST_DOCUMENTS, len(entries)))
        yield begin, end
        begin = end


def packed(numbers: Numbers, entries: Entries) -> bytes:
    """The bytes of a block; `numbers` ascend."""
    ids = _strings(entries.ids) if is_text(entries.ids) else _padded(_ints(entries.ids))
    metadata = b"" if entries.metadata is None else _strings(entries.metadata)
    contents = b"" if entries.contents is None else _strings(entries.contents)
    kinds = (
        (_TEXT_IDS if is_text(entries.ids) else 0)
        | (_HAS_METADATA if metadata else 0)
        | (_HAS_CONTENTS if contents else 0)
    )
    first = int(numbers[0])
    body = b"".join(
        (
            _padded((numbers - numbers[0]).astype(np.uint32).tobytes()),
            _padded(entries.words.astype(np.uint32).tobytes()),
            np.ascontiguousarray(entries.rows).tobytes(),
            ids,
            metadata,
            contents,
        )
    )
    sizes = (len(ids), len(metadata), len(contents))
    width = entries.rows.shape[1]
    return _HEAD.pack(MAGIC, len(numbers), first, width, kinds, *sizes, crc32(body), 0) + body


class Block:
    """A view of a stored block; values are copied on access.

    Whatever its bytes are, nothing outside the block is read; invalid ones raise a `DamageError`.
    """

    def __init__(self, data: memoryview, last: int, width: int) -> None:
        self._data = data
        if len(data) < _HEAD.size:
            raise DamageError("a block of records is cut off")
        magic, self.count, self.first, self.width, kinds, *sizes, self._sum, _ = _HEAD.unpack_from(
            data
        )
        self._numbers_at = _HEAD.size
        self._words_at = self._numbers_at + _even(4 * self.count)
        self._rows_at = self._words_at + _even(4 * self.count)
        self._ids_at = self._rows_at + 8 * self.width * self.count
        self._metadata_at = self._ids_at + sizes[0]
        self._contents_at = self._metadata_at + sizes[1]
        self._kinds = kinds
        self._sizes = sizes
        starts = _even(4 * (self.count + 1))
        least = (
            starts if kinds & _TEXT_IDS else 8 * self.count,
            starts if kinds & _HAS_METADATA else 0,
            starts if kinds & _HAS_CONTENTS else 0,
        )
        if (
            magic != MAGIC
            or not self.count
            or self.width != width
            or self._contents_at + sizes[2] != len(data)
            or any(size < needed for size, needed in zip(sizes, least, strict=True))
            or self.last != last
        ):
            raise _damage()

    def place(self, number: int) -> int | None:
        """The place of a document in the block, or None."""
        wanted: int = number - self.first
        if wanted < 0:
            return None
        if wanted < self.count and self._number(wanted) == wanted:  # no gaps before it
            return wanted
        place = int(np.searchsorted(self._relative(), wanted))
        return place if place < self.count and self._number(place) == wanted else None

    @property
    def last(self) -> int:
        return int(self.first) + self._number(self.count - 1)

    def places(self, numbers: Numbers) -> NDArray[np.int64]:
        """The places of documents in the block; a `DamageError` if one is missing."""
        wanted = (numbers - np.uint64(self.first)).astype(np.uint32)
        relative = self._relative()
        places = np.minimum(relative.searchsorted(wanted), self.count - 1)
        if not np.array_equal(relative[places], wanted):
            raise DamageError("a record is missing")
        return np.asarray(places, np.int64)

    def ids(self, places: NDArray[np.int64]) -> list[Id]:
        if self._kinds & _TEXT_IDS:
            return [self.id(place) for place in places.tolist()]
        every = np.frombuffer(self._data, np.int64, self.count, self._ids_at)
        ids: list[Id] = every[places].tolist()
        return ids

    def metadatas(self, places: NDArray[np.int64]) -> list[bytes]:
        if not self._kinds & _HAS_METADATA:
            return [b""] * len(places)
        return [self.metadata(place) for place in places.tolist()]

    def numbers(self) -> Numbers:
        """The numbers of all documents, ascending."""
        relative = self._relative()
        if relative[0] != 0 or (relative[1:] <= relative[:-1]).any():
            raise _damage()
        return relative.astype(np.uint64) + np.uint64(self.first)

    def id(self, place: int) -> Id:
        if self._kinds & _TEXT_IDS:
            return str(self._string(self._ids_at, self._sizes[0], place), "utf-8")
        number: int = _INT.unpack_from(self._data, self._ids_at + 8 * place)[0]
        return number

    def words(self, place: int) -> int:
        count: int = _OFFSET.unpack_from(self._data, self._words_at + 4 * place)[0]
        return count

    def row(self, place: int) -> NDArray[np.uint64]:
        at = self._rows_at + 8 * self.width * place
        return np.frombuffer(self._data, np.uint64, self.width, at).copy()

    def metadata(self, place: int) -> bytes:
        """The metadata of one document as JSON; b"" for none."""
        if not self._kinds & _HAS_METADATA:
            return b""
        return bytes(self._string(self._metadata_at, self._sizes[1], place))

    def content(self, place: int) -> bytes:
        """The stored contents of one document; b"" for none."""
        if not self._kinds & _HAS_CONTENTS:
            return b""
        return bytes(self._string(self._contents_at, self._sizes[2], place))

    def record(self, place: int) -> Record:
        return Record(
            self.id(place),
            self.words(place),
            self.row(place),
            self.metadata(place),
            self.content(place),
        )

    def entries(self, *, whole: bool = True) -> Entries:
        """All documents, after verifying the checksum.

        Metadata and contents are left out unless `whole`.
        """
        if crc32(self._data[_HEAD.size :]) != self._sum:
            raise _damage()
        count = self.count
        rows = np.frombuffer(self._data, np.uint64, count * self.width, self._rows_at)
        if self._kinds & _TEXT_IDS:
            ids = self._column(self._ids_at, self._sizes[0], pa.string())
        else:
            ids = int_array(np.frombuffer(self._data, np.int64, count, self._ids_at).copy())
        return Entries(
            ids,
            np.frombuffer(self._data, np.uint32, count, self._words_at).copy(),
            rows.reshape(count, self.width).copy(),
            self._column(self._metadata_at, self._sizes[1], pa.large_binary())
            if whole and self._kinds & _HAS_METADATA
            else None,
            self._column(self._contents_at, self._sizes[2], pa.large_binary())
            if whole and self._kinds & _HAS_CONTENTS
            else None,
        )

    def _relative(self) -> NDArray[np.uint32]:
        return np.frombuffer(self._data, np.uint32, self.count, self._numbers_at)

    def _number(self, place: int) -> int:
        number: int = _OFFSET.unpack_from(self._data, self._numbers_at + 4 * place)[0]
        return number

    def _string(self, at: int, size: int, place: int) -> memoryview:
        begin, end = _OFFSETS.unpack_from(self._data, at + 4 * place)
        start = at + _even(4 * (self.count + 1))
        if not begin <= end <= at + size - start:
            raise _damage()
        return self._data[start + begin : start + end]

    def _column(self, at: int, size: int, kind: pa.DataType) -> pa.Array:
        wide = pa.types.is_large_binary(kind)
        offsets = np.frombuffer(self._data, np.uint32, self.count + 1, at)
        start = at + _even(4 * (self.count + 1))
        if offsets[-1] > at + size - start or (offsets[1:] < offsets[:-1]).any():
            raise _damage()
        buffers = [
            None,
            pa.py_buffer(offsets.astype(np.int64 if wide else np.int32)),
            pa.py_buffer(bytes(self._data[start : at + size])),
        ]
        column = pa.Array.from_buffers(kind, self.count, buffers)
        if not wide:
            column.validate(full=True)  # checks UTF-8
        return column


def _damage() -> DamageError:
    return DamageError("a block of records is not as it was written")


def _offsets(column: pa.Array) -> NDArray[np.int64]:
    """The offsets of the strings of an array, which may be a slice."""
    kind = np.int32 if pa.types.is_string(column.type) else np.int64
    every = np.frombuffer(column.buffers()[1], kind)
    offsets = every[column.offset : column.offset + len(column) + 1].astype(np.int64)
    return offsets


def _strings(column: pa.Array) -> bytes:
    offsets = _offsets(column)
    data = column.buffers()[2]
    text = b"" if data is None else memoryview(data)[int(offsets[0]) : int(offsets[-1])]
    return _padded((offsets - offsets[0]).astype(np.uint32).tobytes()) + _padded(bytes(text))


def _ints(ids: pa.Array) -> bytes:
    return np.asarray(ids.to_numpy(zero_copy_only=False), np.int64).tobytes()


def _even(size: int) -> int:
    return -(-size // 8) * 8


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)

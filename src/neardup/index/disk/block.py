"""Blocks: the records of several documents in one value, column by column.

A block is little-endian, in parts aligned to 8 bytes:

    head      magic, documents, the first number, words of a row, kinds, the sizes in bytes of
              ids, metadata, contents and features, checksum of everything after the head
    numbers   uint32, relative to the first number
    words     uint32
    rows      uint64, one row of words each
    added     int64, milliseconds since 1970
    expires   int64, if any document expires
    ids       int64; or strings: uint32 offsets, one more than documents, then UTF-8
    metadata  like strings, JSON, if any document has metadata
    contents  like strings, if texts are stored
    features  like strings, if features are stored

Blocks of format 1 have no times and no features; what they store of a document is its contents.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.index.disk.damage import DamageError
from neardup.index.entries import Entries, Id, Record, int_array, is_text
from neardup.kernels.set_index import NEVER, FeatureBlock

MAGIC, MAGIC_1 = b"NDb2", b"NDb1"
MOST_DOCUMENTS = 1 << 14
MOST_BYTES = 1 << 22
_HEAD = struct.Struct("<4sIQIIQQQQII")
_HEAD_1 = struct.Struct("<4sIQIIQQQII")
_OFFSET = struct.Struct("<I")
_OFFSETS = struct.Struct("<II")
_INT = struct.Struct("<q")
_MOST_RELATIVE = 2**32 - 1
_TEXT_IDS, _HAS_METADATA, _HAS_CONTENTS, _HAS_FEATURES, _HAS_EXPIRES = 1, 2, 4, 8, 16

Numbers = NDArray[np.uint64]


def pieces(entries: Entries) -> Iterator[tuple[int, int]]:
    """The begin and end of each block of bounded size."""
    sizes = np.zeros(len(entries), np.int64)
    for column in (
        entries.metadata,
        entries.contents,
        entries.features,
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
    added = np.zeros(len(entries), np.int64) if entries.added is None else entries.added
    columns = (entries.metadata, entries.contents, entries.features)
    return _joined(
        int(numbers[0]),
        len(numbers),
        entries.rows.shape[1],
        is_text(entries.ids),
        (numbers - numbers[0]).astype(np.uint32).tobytes(),
        entries.words.astype(np.uint32).tobytes(),
        np.ascontiguousarray(entries.rows).tobytes(),
        added.tobytes(),
        b"" if entries.expires is None else entries.expires.tobytes(),
        _strings(entries.ids) if is_text(entries.ids) else _ints(entries.ids),
        [b"" if column is None else _strings(column) for column in columns],
    )


def packed_records(numbers: Sequence[int], records: Sequence[Record]) -> bytes:
    """The bytes of a block of a few records, whose ids are of one type."""
    count, first = len(numbers), numbers[0]
    if numbers[-1] - first > _MOST_RELATIVE:
        raise DamageError("the numbers of records are too far apart")
    ids, words, rows, metadata, contents, features, added, expires = zip(*records, strict=True)
    are_text = isinstance(ids[0], str)
    uints, ints = f"<{count}I", f"<{count}q"
    return _joined(
        first,
        count,
        len(rows[0]) // 8,
        are_text,
        struct.pack(uints, *[number - first for number in numbers]),
        struct.pack(uints, *words),
        b"".join(rows),
        struct.pack(ints, *added),
        struct.pack(ints, *expires) if min(expires) < NEVER else b"",
        _few_strings([id.encode() for id in ids]) if are_text else struct.pack(ints, *ids),
        [_few_strings(each) if any(each) else b"" for each in (metadata, contents, features)],
    )


def record_pieces(records: Sequence[tuple[int, Record]]) -> Iterator[list[tuple[int, Record]]]:
    """Numbered records in lists of bounded size, each with ids of one type."""
    some: list[tuple[int, Record]] = []
    size = 0
    for number, record in records:
        stored = len(record.metadata) + len(record.content) + len(record.features)
        if some and (
            size + stored > MOST_BYTES
            or len(some) == MOST_DOCUMENTS
            or isinstance(record.id, str) != isinstance(some[-1][1].id, str)
        ):
            yield some
            some, size = [], 0
        some.append((number, record))
        size += stored
    if some:
        yield some


def _joined(
    first: int,
    count: int,
    width: int,
    are_text: bool,
    numbers: bytes,
    words: bytes,
    rows: bytes,
    added: bytes,
    expires: bytes,
    ids: bytes,
    columns: Sequence[bytes],
) -> bytes:
    kinds = _TEXT_IDS if are_text else 0
    for flag, column in zip((_HAS_METADATA, _HAS_CONTENTS, _HAS_FEATURES), columns, strict=True):
        kinds |= flag if column else 0
    kinds |= _HAS_EXPIRES if expires else 0
    body = b"".join((_padded(numbers), _padded(words), rows, added, expires, ids, *columns))
    sizes = (len(ids), *map(len, columns))
    return _HEAD.pack(MAGIC, count, first, width, kinds, *sizes, crc32(body), 0) + body


class Block:
    """A view of a stored block; values are copied on access.

    Whatever its bytes are, nothing outside the block is read; invalid ones raise a `DamageError`.
    """

    def __init__(self, data: memoryview | bytes, last: int, width: int) -> None:
        self._data = memoryview(data)
        is_old = self._data[:4] == MAGIC_1
        head = _HEAD_1 if is_old else _HEAD
        if len(data) < head.size:
            raise DamageError("a block of records is cut off")
        magic, self.count, self.first, self.width, kinds, *sizes, self._sum, _ = head.unpack_from(
            data
        )
        if is_old:
            sizes.append(0)
        count = self.count
        self._body_at = self._numbers_at = head.size
        self._words_at = self._numbers_at + _even(4 * count)
        self._rows_at = self._words_at + _even(4 * count)
        self._added_at = self._rows_at + 8 * self.width * count
        self._has_times = not is_old
        self._expires_at = self._added_at + (0 if is_old else 8 * count)
        self._ids_at = self._expires_at + (8 * count if kinds & _HAS_EXPIRES else 0)
        self._metadata_at = self._ids_at + sizes[0]
        self._contents_at = self._metadata_at + sizes[1]
        self._features_at = self._contents_at + sizes[2]
        self._kinds = kinds
        self._sizes = sizes
        starts = _even(4 * (count + 1))
        least = (
            starts if kinds & _TEXT_IDS else 8 * count,
            starts if kinds & _HAS_METADATA else 0,
            starts if kinds & _HAS_CONTENTS else 0,
            starts if kinds & _HAS_FEATURES else 0,
        )
        if (
            magic not in (MAGIC, MAGIC_1)
            or not count
            or self.width != width
            or self._features_at + sizes[3] != len(data)
            or any(size < needed for size, needed in zip(sizes, least, strict=True))
            or self.last != last
        ):
            raise _damage()

    @property
    def last(self) -> int:
        return int(self.first) + self._number(self.count - 1)

    @property
    def data(self) -> memoryview:
        return self._data

    def feature_block(self, data: bytes | memoryview) -> FeatureBlock:
        """Where the numbers, times and features are, for native code that reads `data`.

        `data` has the bytes of this block, perhaps as a copy.
        """
        starts = self._features_at
        expires = self._expires_at if self._kinds & _HAS_EXPIRES else 0
        if not self._kinds & _HAS_FEATURES:
            raise _damage()
        return (
            np.frombuffer(data, np.uint8),
            self.first,
            self.count,
            self._numbers_at,
            expires,
            starts,
            starts + _even(4 * (self.count + 1)),
        )

    @property
    def has_features(self) -> bool:
        return bool(self._kinds & _HAS_FEATURES)

    def place(self, number: int) -> int | None:
        """The place of a document in the block, or None."""
        wanted: int = number - self.first
        if wanted < 0:
            return None
        if wanted < self.count and self._number(wanted) == wanted:  # no gaps before it
            return wanted
        place = int(np.searchsorted(self._relative(), wanted))
        return place if place < self.count and self._number(place) == wanted else None

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

    def rows(self, places: NDArray[np.int64]) -> list[bytes]:
        return [self.row(place) for place in places.tolist()]

    def numbers(self) -> Numbers:
        """The numbers of all documents, ascending."""
        relative = self._relative()
        if relative[0] != 0 or (relative[1:] <= relative[:-1]).any():
            raise _damage()
        return relative.astype(np.uint64) + np.uint64(self.first)

    def added(self) -> NDArray[np.int64]:
        """When the documents were added; 0 if that is not known."""
        if not self._has_times:
            return np.zeros(self.count, np.int64)
        return np.frombuffer(self._data, np.int64, self.count, self._added_at)

    def expires(self) -> NDArray[np.int64] | None:
        """When the documents expire; None if none does."""
        if not self._kinds & _HAS_EXPIRES:
            return None
        return np.frombuffer(self._data, np.int64, self.count, self._expires_at)

    def id(self, place: int) -> Id:
        if self._kinds & _TEXT_IDS:
            return str(self._string(self._ids_at, self._sizes[0], place), "utf-8")
        number: int = _INT.unpack_from(self._data, self._ids_at + 8 * place)[0]
        return number

    def words(self, place: int) -> int:
        count: int = _OFFSET.unpack_from(self._data, self._words_at + 4 * place)[0]
        return count

    def row(self, place: int) -> bytes:
        at = self._rows_at + 8 * self.width * place
        return bytes(self._data[at : at + 8 * self.width])

    def metadata(self, place: int) -> bytes:
        """The metadata of one document as JSON; b"" for none."""
        if not self._kinds & _HAS_METADATA:
            return b""
        return bytes(self._string(self._metadata_at, self._sizes[1], place))

    def content(self, place: int) -> bytes:
        """The stored text of one document; b"" for none."""
        if not self._kinds & _HAS_CONTENTS:
            return b""
        return bytes(self._string(self._contents_at, self._sizes[2], place))

    def features(self, place: int) -> bytes:
        """The stored features of one document; b"" for none."""
        if not self._kinds & _HAS_FEATURES:
            return b""
        return bytes(self._string(self._features_at, self._sizes[3], place))

    def record(self, place: int) -> Record:
        at = 8 * place
        added = _INT.unpack_from(self._data, self._added_at + at)[0] if self._has_times else 0
        expires = NEVER
        if self._kinds & _HAS_EXPIRES:
            expires = _INT.unpack_from(self._data, self._expires_at + at)[0]
        return Record(
            self.id(place),
            self.words(place),
            self.row(place),
            self.metadata(place),
            self.content(place),
            self.features(place),
            added,
            expires,
        )

    def check(self) -> None:
        """Raise a `DamageError` unless the checksum is right."""
        if crc32(self._data[self._body_at :]) != self._sum:
            raise _damage()

    def entries(self, *, whole: bool = True) -> Entries:
        """All documents, after verifying the checksum.

        Metadata, texts and features are left out unless `whole`.
        """
        self.check()
        count = self.count
        rows = np.frombuffer(self._data, np.uint64, count * self.width, self._rows_at)
        if self._kinds & _TEXT_IDS:
            ids = self._column(self._ids_at, self._sizes[0], pa.string())
        else:
            ids = int_array(np.frombuffer(self._data, np.int64, count, self._ids_at).copy())
        columns = [
            self._column(at, size, pa.large_binary()) if whole and self._kinds & flag else None
            for at, size, flag in (
                (self._metadata_at, self._sizes[1], _HAS_METADATA),
                (self._contents_at, self._sizes[2], _HAS_CONTENTS),
                (self._features_at, self._sizes[3], _HAS_FEATURES),
            )
        ]
        expires = self.expires()
        return Entries(
            ids,
            np.frombuffer(self._data, np.uint32, count, self._words_at).copy(),
            rows.reshape(count, self.width).copy(),
            columns[0],
            columns[1],
            features=columns[2],
            added=self.added().copy(),
            expires=None if expires is None else expires.copy(),
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


def _few_strings(values: Sequence[bytes]) -> bytes:
    offsets = list(accumulate(map(len, values), initial=0))
    return _padded(struct.pack(f"<{len(offsets)}I", *offsets)) + _padded(b"".join(values))


def _ints(ids: pa.Array) -> bytes:
    return np.asarray(ids.to_numpy(zero_copy_only=False), np.int64).tobytes()


def _even(size: int) -> int:
    return -(-size // 8) * 8


def _padded(data: bytes) -> bytes:
    rest = -len(data) % 8
    return data + bytes(rest) if rest else data

"""Entries: a batch of documents with ids, as an index stores them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from neardup.errors import InputError
from neardup.kernels.set_index import NEVER

Id = int | str

_LARGEST = 2**63
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_SALT = np.uint64(0x6E65617264757031)
_ALL_BITS = 2**64 - 1


def checked_id(id: Any) -> Id:
    """The id as int or str; an InputError for anything else."""
    if isinstance(id, str):
        if not id.isascii():
            _require_unicode(id)
        return id
    if type(id) is int and -_LARGEST <= id < _LARGEST:  # asking for SupportsIndex takes 7 µs
        return id
    if isinstance(id, bool) or not isinstance(id, SupportsIndex):
        raise InputError(f"the id {id!r} is of type {type(id).__name__}; ids are int or str")
    number = int(id)
    if not -_LARGEST <= number < _LARGEST:
        raise InputError(
            f"the id {number} does not fit into 64 bits; use a smaller one or a string"
        )
    return number


def _require_unicode(id: str) -> None:
    try:
        id.encode()
    except UnicodeEncodeError:
        raise InputError(f"the id {id!r} is not valid Unicode; repair it") from None


def id_array(ids: list[Id]) -> pa.Array:
    """Ids that are all int or all str as an Arrow array of int64 or string."""
    return pa.array(ids, pa.string() if isinstance(ids[0], str) else pa.int64())


def id_column(column: pa.Array) -> pa.Array:
    """A column of ids cast to int64 or string; an InputError if that is impossible."""
    if column.null_count:
        raise InputError("an id is missing; an index needs one for every document")
    if pa.types.is_integer(column.type):
        return column.cast(pa.int64())
    if pa.types.is_string(column.type):
        return column
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"ids are of Arrow type {column.type}; integers or strings are needed"
        ) from None


def is_text(ids: pa.Array) -> bool:
    """Whether ids are strings rather than int64."""
    return bool(pa.types.is_string(ids.type))


def now_ms() -> int:
    """The time now, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def id_hash(id: Id) -> int:
    """The hash of one id, as `id_hashes` gives it."""
    if isinstance(id, str):
        return xxh3_64_intdigest(id.encode())
    value = (id ^ 0x6E65617264757031) & _ALL_BITS
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & _ALL_BITS
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & _ALL_BITS
    return value ^ value >> 31


def id_hashes(ids: pa.Array) -> NDArray[np.uint64]:
    """A 64-bit hash for each id; 1 and "1" have different hashes."""
    if is_text(ids):
        hashes = map(xxh3_64_intdigest, ids.cast(pa.binary()).to_pylist())
        return np.fromiter(hashes, np.uint64, len(ids))
    values = ids.to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64) ^ _SALT
    values = (values ^ (values >> _SHIFTS[0])) * _FACTORS[0]
    values = (values ^ (values >> _SHIFTS[1])) * _FACTORS[1]
    return np.asarray(values ^ (values >> _SHIFTS[2]))


def id_order(id: Id) -> tuple[bool, Id]:
    """Sort key: numbers before strings."""
    return isinstance(id, str), id


@dataclass(frozen=True, eq=False)
class Entries:
    """Documents: ids, word counts, fingerprints, metadata as JSON, contents, features and times.

    Ids are all int64 or all strings. `metadata`, `contents` (texts) and `features` are binary
    arrays without nulls (b"" means none), or None if no document has any. `made` ids were
    generated, not given by the user, and never replace an existing document.

    `added` and `expires` are milliseconds since 1970; they are None until the documents are put
    into an index, which then counts `ttl` milliseconds from there.
    """

    ids: pa.Array
    words: NDArray[np.uint32]
    rows: NDArray[np.uint64]
    metadata: pa.Array | None = None
    contents: pa.Array | None = None
    made: bool = False
    features: pa.Array | None = None
    added: NDArray[np.int64] | None = None
    expires: NDArray[np.int64] | None = None
    ttl: int | None = None

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        return id_hashes(self.ids)

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which documents are not empty; empty documents have no near-duplicates."""
        return np.asarray(self.words > 0)

    @property
    def nbytes(self) -> int:
        """Approximate size in memory."""
        columns = (self.ids, self.rows, self.metadata, self.contents, self.features)
        return sum(int(column.nbytes) for column in columns if column is not None)

    def stamped(self, now: int) -> Entries:
        """The documents with the time at which they are added, and the one at which they expire."""
        added = np.full(len(self), now, np.int64)
        return replace(
            self, added=added, expires=None if self.ttl is None else added + np.int64(self.ttl)
        )

    def take(self, places: NDArray[np.int64]) -> Entries:
        """The documents at these places, in this order."""
        chosen = int_array(places)
        return self._each(
            lambda column: column.take(chosen), lambda values: np.ascontiguousarray(values[places])
        )

    def slice(self, begin: int, end: int) -> Entries:
        """The documents from `begin` to `end`, exclusive."""
        return self._each(
            lambda column: column.slice(begin, end - begin), lambda values: values[begin:end]
        )

    def _each(
        self,
        of_column: Callable[[pa.Array], pa.Array],
        of_values: Callable[[NDArray[Any]], NDArray[Any]],
    ) -> Entries:
        return replace(
            self,
            ids=of_column(self.ids),
            words=of_values(self.words),
            rows=of_values(self.rows),
            metadata=None if self.metadata is None else of_column(self.metadata),
            contents=None if self.contents is None else of_column(self.contents),
            features=None if self.features is None else of_column(self.features),
            added=None if self.added is None else of_values(self.added),
            expires=None if self.expires is None else of_values(self.expires),
        )


def int_array(values: NDArray[np.int64]) -> pa.Array:
    """An int64 array, built from buffers because pa.array imports pandas if it is installed."""
    data = pa.py_buffer(np.ascontiguousarray(values, np.int64))
    return pa.Array.from_buffers(pa.int64(), len(values), [None, data])


def joined(parts: Sequence[Entries]) -> list[Entries]:
    """Concatenate batches in order; a new batch starts where the type of id changes."""
    runs: list[list[Entries]] = []
    for part in parts:
        if runs and is_text(runs[-1][-1].ids) == is_text(part.ids):
            runs[-1].append(part)
        else:
            runs.append([part])
    return [_one(run) for run in runs]


def by_kind(parts: Sequence[Entries]) -> list[Entries]:
    """Concatenate batches into at most two: one for each type of id."""
    kinds: dict[bool, list[Entries]] = {}
    for part in parts:
        kinds.setdefault(is_text(part.ids), []).append(part)
    return [_one(kind) for kind in kinds.values()]


def _one(parts: list[Entries]) -> Entries:
    if len(parts) == 1:
        return parts[0]
    return Entries(
        pa.concat_arrays([part.ids for part in parts]),
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.rows for part in parts]),
        _columns([(part.metadata, len(part)) for part in parts]),
        _columns([(part.contents, len(part)) for part in parts]),
        parts[0].made,
        _columns([(part.features, len(part)) for part in parts]),
        _times([(part.added, len(part)) for part in parts], 0),
        _times([(part.expires, len(part)) for part in parts], NEVER),
        parts[0].ttl,
    )


def _columns(parts: list[tuple[pa.Array | None, int]]) -> pa.Array | None:
    if all(column is None for column, _ in parts):
        return None
    return pa.concat_arrays(
        [
            pa.array([b""] * size, pa.large_binary()) if column is None else column
            for column, size in parts
        ]
    )


def _times(
    parts: list[tuple[NDArray[np.int64] | None, int]], missing: int
) -> NDArray[np.int64] | None:
    if all(times is None for times, _ in parts):
        return None
    return np.concatenate(
        [np.full(size, missing, np.int64) if times is None else times for times, size in parts]
    )


def metadata_of(json: bytes) -> Any:
    """Metadata parsed from JSON; None for b""."""
    return orjson.loads(json) if json else None


class Record(NamedTuple):
    """One stored document; times are milliseconds since 1970."""

    id: Id
    words: int
    row: bytes
    metadata: bytes
    content: bytes
    features: bytes
    added: int
    expires: int


def records_of(entries: Entries) -> Iterator[Record]:
    """The documents one by one, without times."""
    none = [b""] * len(entries)
    columns = [
        none if column is None else column.to_pylist()
        for column in (entries.metadata, entries.contents, entries.features)
    ]
    for id, words, row, metadata, content, features in zip(
        entries.ids.to_pylist(), entries.words.tolist(), entries.rows, *columns, strict=True
    ):
        yield Record(id, words, row.tobytes(), metadata, content, features, 0, NEVER)

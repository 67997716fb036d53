"""Documents on their way into an index, and out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from neardup.index.ids import Id, id_hashes, is_text


@dataclass(frozen=True, eq=False)
class Entries:
    """Documents: ids of one kind, words, fingerprints, metadata as JSON, and what is stored.

    `metadata` and `contents` are binary arrays, without nulls; b"" stands for none. Each is None
    where no document has any. Ids that are `made` were not given, and replace nothing.
    """

    ids: pa.Array
    words: NDArray[np.uint32]
    rows: NDArray[np.uint64]
    metadata: pa.Array | None = None
    contents: pa.Array | None = None
    made: bool = False

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Those of the ids."""
        return id_hashes(self.ids)

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which documents are not empty, and so can be near anything."""
        return np.asarray(self.words > 0)

    @property
    def nbytes(self) -> int:
        """About how much room they take."""
        columns = (column for column in (self.metadata, self.contents) if column is not None)
        every = (self.ids, self.rows, *columns)
        return sum(int(column.nbytes) for column in every)

    def take(self, places: NDArray[np.int64]) -> Entries:
        """Fewer documents, in this order."""
        chosen = int_array(places)
        return Entries(
            self.ids.take(chosen),
            self.words[places],
            np.ascontiguousarray(self.rows[places]),
            None if self.metadata is None else self.metadata.take(chosen),
            None if self.contents is None else self.contents.take(chosen),
            self.made,
        )

    def slice(self, begin: int, end: int) -> Entries:
        """The documents from `begin` up to `end`."""
        size = end - begin
        return Entries(
            self.ids.slice(begin, size),
            self.words[begin:end],
            self.rows[begin:end],
            None if self.metadata is None else self.metadata.slice(begin, size),
            None if self.contents is None else self.contents.slice(begin, size),
            self.made,
        )


def int_array(values: NDArray[np.int64]) -> pa.Array:
    """From buffers, because pa.array would import pandas, where it is installed, to look at it."""
    data = pa.py_buffer(np.ascontiguousarray(values, np.int64))
    return pa.Array.from_buffers(pa.int64(), len(values), [None, data])


def joined(parts: Sequence[Entries]) -> list[Entries]:
    """The documents of several batches in as few as there are runs of one kind of id."""
    runs: list[list[Entries]] = []
    for part in parts:
        if runs and is_text(runs[-1][-1].ids) == is_text(part.ids):
            runs[-1].append(part)
        else:
            runs.append([part])
    return [_one(run) for run in runs]


def by_kind(parts: Sequence[Entries]) -> list[Entries]:
    """The documents of several batches in two at most: one for each kind of id."""
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


def metadata_of(json: bytes) -> Any:
    """Metadata from its JSON; None for none."""
    return orjson.loads(json) if json else None


@dataclass(frozen=True)
class Record:
    """One document as it is stored."""

    id: Id
    words: int
    row: NDArray[np.uint64]
    metadata: bytes
    content: bytes

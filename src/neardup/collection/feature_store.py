"""The features of a whole collection: in memory up to a limit, the rest in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128

from neardup.errors import NeardupError
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.kernels.star_join import StoredFeatures


@dataclass(frozen=True, eq=False)
class _Stored:
    """The position of a batch in the file; its offsets stay in memory."""

    offsets: NDArray[np.int64]
    at: int
    features: int
    weighted: bool

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    @property
    def weights_at(self) -> int:
        return self.at + 8 * self.features

    @property
    def nbytes(self) -> int:
        """The bytes that the batch takes in memory."""
        arrays = 2 if self.weighted else 1
        return self.offsets.nbytes + 8 * arrays * self.features + 4 * self.documents


@dataclass(frozen=True, eq=False)
class StoredParts:
    """The positions of all batches in a file that holds all features.

    Each batch has an entry in the arrays; `offsets` are those of all batches, one after the other.
    """

    offsets: NDArray[np.int64]
    documents: NDArray[np.int64]
    at: NDArray[np.int64]
    features: NDArray[np.int64]
    weighted: NDArray[np.bool_]

    def parts(self) -> Iterator[_Stored]:
        """The position of each batch."""
        ends = np.cumsum(self.documents + 1)
        for number, end in enumerate(ends.tolist()):
            yield _Stored(
                self.offsets[end - int(self.documents[number]) - 1 : end],
                int(self.at[number]),
                int(self.features[number]),
                bool(self.weighted[number]),
            )


class FeatureStore:
    """Features, added batch by batch and read many times in the same order.

    What exceeds `memory` bytes goes to an unnamed temporary file (in `TMPDIR`), which disappears
    with this object. If `path` is given, all features go to that file, which stays; those that fit
    are held in memory as well.
    """

    def __init__(self, memory: int, path: Path | None = None) -> None:
        self._memory = memory
        self._path = path
        self._checksum = xxh3_128()
        self._positions: list[_Stored] = []  # of all parts, if all are in the file
        self._parts: list[WeightedFeatures | _Stored] = []
        self._firsts = [0]
        self._file: IO[bytes] | None = None
        self._held = 0
        self._spilled = 0
        self._sizes: list[NDArray[np.int32]] = []
        if path is not None:
            try:
                self._file = path.open("w+b", buffering=0)
            except OSError as error:
                raise _unstored(path, error) from error

    @classmethod
    def stored(cls, path: Path, parts: StoredParts, memory: int) -> FeatureStore:
        """The features in a file that an earlier store wrote; what fits is read into memory."""
        store = cls(memory)
        store._file = path.open("rb", buffering=0)
        for number, part in enumerate(parts.parts()):
            store._count(part.offsets)
            store._parts.append(part)
            if store._held + part.nbytes <= memory:
                store._held += part.nbytes
                store._parts[number] = store._read(number)
        store._spilled = path.stat().st_size
        return store

    @classmethod
    def released(cls, parts: StoredParts) -> FeatureStore:
        """A store whose features were released."""
        store = cls(0)
        for part in parts.parts():
            store._count(part.offsets)
        return store

    def __len__(self) -> int:
        return self._firsts[-1]

    @property
    def sizes(self) -> NDArray[np.int32]:
        """How many features each document has."""
        if len(self._sizes) != 1:
            self._sizes = [np.concatenate([np.zeros(0, np.int32), *self._sizes])]
        return self._sizes[0]

    @property
    def weighted(self) -> bool:
        """Whether the features have weights."""
        return any(
            part.weighted if isinstance(part, _Stored) else part.weights is not None
            for part in self._parts
        )

    @property
    def held_bytes(self) -> int:
        """Bytes of features in memory."""
        return self._held

    @property
    def spilled_bytes(self) -> int:
        """Bytes of features in the file."""
        return self._spilled

    @property
    def checksum(self) -> str:
        """The XXH3 (128 bits) of all that was written to the file."""
        return self._checksum.hexdigest()

    def stored_parts(self) -> StoredParts:
        """Where the features are in the file that the store was given."""
        every = self._positions
        return StoredParts(
            np.concatenate([np.zeros(0, np.int64), *(part.offsets for part in every)]),
            np.array([part.documents for part in every], np.int64),
            np.array([part.at for part in every], np.int64),
            np.array([part.features for part in every], np.int64),
            np.array([part.weighted for part in every], np.bool_),
        )

    def add(self, part: WeightedFeatures) -> None:
        """Keep the features of the next documents."""
        self._count(part.offsets)
        fits = self._held + part.nbytes <= self._memory
        position = None
        if self._path is not None or not fits:
            position = self._written(part)
        if self._path is not None and position is not None:
            self._positions.append(position)
        if fits or position is None:
            self._held += part.nbytes
            self._parts.append(part)
        else:
            self._parts.append(position)

    def release(self) -> None:
        """Release all features; the counts stay."""
        self._parts.clear()
        self._held = 0
        if self._file is not None:
            self._file.close()

    def parts(self) -> Iterator[tuple[slice, WeightedFeatures]]:
        """The batches, each with the places of its documents."""
        for number in range(len(self._parts)):
            yield self._places(number), self._read(number)

    def take(self, places: NDArray[np.int64]) -> WeightedFeatures:
        """The features of the documents at these places, which ascend."""
        chosen = []
        for number in range(len(self._parts)):
            where = self._places(number)
            begin, end = np.searchsorted(places, [where.start, where.stop])
            if begin < end:
                part = self._read(number)
                some = end - begin < len(part)
                chosen.append(part.take(places[begin:end] - where.start) if some else part)
        return joined(chosen)

    def rows(self, fingerprinter: Fingerprinter, places: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The fingerprints of the documents at these places, which ascend, batch by batch."""
        rows = [fingerprinter.no_rows()]
        for where, part in self.parts():
            begin, end = np.searchsorted(places, [where.start, where.stop])
            if begin < end:
                some = part.take(places[begin:end] - where.start)
                rows.append(fingerprinter.rows_of_features(some))
        return np.concatenate(rows)

    def add_to(self, stored: StoredFeatures) -> None:
        """Let a star join read the features where they are; not beyond `release`."""
        for part in self._parts:
            if isinstance(part, WeightedFeatures):
                stored.add(part.arrays)
            elif self._file is not None:
                stored.add_from_file(
                    self._file.fileno(),
                    part.offsets,
                    hashes_at=part.at,
                    weights_at=part.weights_at,
                )

    def _count(self, offsets: NDArray[np.int64]) -> None:
        self._firsts.append(len(self) + len(offsets) - 1)
        self._sizes.append(np.diff(offsets).astype(np.int32))

    def _places(self, number: int) -> slice:
        return slice(self._firsts[number], self._firsts[number + 1])

    def _written(self, part: WeightedFeatures) -> _Stored:
        try:
            if self._file is None:
                # Closed and deleted with this object.
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
            at = self._file.seek(0, 2)
            odd = np.zeros(len(part.words) % 2, np.uint32)  # the next part is aligned
            for array in (part.hashes, part.weights, part.words, odd):
                if array is not None:
                    self._write(self._file, array)
        except OSError as error:
            if self._path is not None:
                raise _unstored(self._path, error) from error
            raise NeardupError(
                f"features do not fit the memory, and {tempfile.gettempdir()} cannot take them: "
                f"{error.strerror or error}; set TMPDIR to a folder with more room, or give more "
                "memory"
            ) from error
        self._spilled = self._file.tell()
        return _Stored(part.offsets, at, len(part.hashes), part.weights is not None)

    def _write(self, file: IO[bytes], array: NDArray[Any]) -> None:
        """Write an array; unlike `tofile`, this finds out that the disk is full."""
        left = np.ascontiguousarray(array).view(np.uint8).data
        if self._path is not None:
            self._checksum.update(left)
        while left:
            left = left[file.write(left) :]

    def _read(self, number: int) -> WeightedFeatures:
        part = self._parts[number]
        if isinstance(part, WeightedFeatures):
            return part
        if self._file is None:
            raise ValueError("a part is in a file that was never made")
        end = self._file.seek(0, 2)
        self._file.seek(part.at)
        read = self._file
        found = WeightedFeatures(
            part.offsets,
            np.fromfile(read, np.uint64, part.features),
            np.fromfile(read, np.float64, part.features) if part.weighted else None,
            np.fromfile(read, np.uint32, part.documents),
        )
        self._file.seek(end)
        return found


def _unstored(path: Path, error: OSError) -> NeardupError:
    return NeardupError(
        f"cannot store features in {path}: {error.strerror or error}; make room on the disk, or "
        "run without --resume"
    )

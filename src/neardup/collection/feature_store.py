"""The features of a whole collection: in memory up to a limit, the rest in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from neardup.errors import NeardupError
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints.fingerprinter import Fingerprinter
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


class FeatureStore:
    """Features, added batch by batch and read many times in the same order.

    What exceeds `memory` bytes goes to an unnamed temporary file (in `TMPDIR`), which disappears
    with this object.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._parts: list[WeightedFeatures | _Stored] = []
        self._firsts = [0]
        self._file: IO[bytes] | None = None
        self._held = 0
        self._spilled = 0
        self._sizes: list[NDArray[np.int32]] = []

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

    def add(self, part: WeightedFeatures) -> None:
        """Keep the features of the next documents."""
        self._firsts.append(len(self) + len(part))
        self._sizes.append(np.diff(part.offsets).astype(np.int32))
        if self._held + part.nbytes <= self._memory:
            self._held += part.nbytes
            self._parts.append(part)
        else:
            self._parts.append(self._written(part))

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

    def _places(self, number: int) -> slice:
        return slice(self._firsts[number], self._firsts[number + 1])

    def _written(self, part: WeightedFeatures) -> _Stored:
        try:
            if self._file is None:
                # Closed and deleted with this object.
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
            at = self._file.tell()
            for array in (part.hashes, part.weights, part.words):
                if array is not None:
                    array.tofile(self._file)
            self._file.write(bytes(-self._file.tell() % 8))  # the next part is aligned
        except OSError as error:
            raise NeardupError(
                f"features do not fit the memory, and {tempfile.gettempdir()} cannot take them: "
                f"{error.strerror or error}; set TMPDIR to a folder with more room, or give more "
                "memory"
            ) from error
        self._spilled = self._file.tell()
        return _Stored(part.offsets, at, len(part.hashes), part.weights is not None)

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

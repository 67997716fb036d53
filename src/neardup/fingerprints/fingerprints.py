"""`Fingerprints`: the fingerprints of many documents, of one scheme."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.fingerprints.scheme import Scheme
from neardup.kernels.columns import column_of


def unsigned(values: Any) -> NDArray[Any]:
    """An array of unsigned integers; signed ones are accepted if none is negative."""
    array = np.asarray(values)
    if array.dtype.kind == "i" and (array.size == 0 or array.min() >= 0):
        array = array.astype(np.uint64)
    if array.size == 0:
        array = array.astype(np.uint64)
    if array.dtype.kind != "u":
        raise SettingError(f"fingerprints are unsigned integers, not {array.dtype} values")
    return array


class Fingerprints:
    """Fingerprints as rows of 64-bit words, with their scheme and the documents' word counts.

    Bit 0 is the most significant bit of a row's first word; unused bits at the end are zero.
    An integer index gives one fingerprint as an int of `bits` binary digits; a slice, a mask or
    an array of places gives `Fingerprints`.

    >>> import neardup as nd
    >>> fps = nd.fingerprint(["to be or not to be", "..."], bits=16)
    >>> fps.array.shape, len(fps), fps.empty.tolist()
    ((2, 1), 2, [False, True])
    >>> f"{fps[0]:04x}" == fps.hex()[0]
    True
    """

    def __init__(
        self,
        array: NDArray[np.uint64],
        scheme: Scheme | str,
        words: NDArray[np.uint32] | None = None,
        ids: pa.Array | Sequence[Any] | None = None,
    ) -> None:
        self.scheme = Scheme.parse(scheme) if isinstance(scheme, str) else scheme
        array = unsigned(array).astype(np.uint64, copy=False)
        if array.ndim == 1 and self.scheme.row_words == 1:
            array = array.reshape(-1, 1)
        if array.ndim != 2 or array.shape[1] != self.scheme.row_words:
            raise SettingError(
                f"an array of shape {array.shape} cannot hold fingerprints of {self.scheme}; "
                f"it must have {self.scheme.row_words} columns"
            )
        self.array = array
        self.words = np.ones(len(array), np.uint32) if words is None else np.asarray(words)
        self.ids = ids if ids is None or isinstance(ids, pa.Array) else pa.array(ids)
        for name, column in (("words", self.words), ("ids", self.ids)):
            if column is not None and len(column) != len(array):
                raise SettingError(f"{len(array)} fingerprints cannot have {len(column)} {name}")

    @property
    def bits(self) -> int:
        """The number of bits of a fingerprint."""
        return self.scheme.bits

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Which documents have no words; these match nothing."""
        return np.asarray(self.words == 0)

    def hex(self) -> list[str]:
        """Every fingerprint as hexadecimal digits, most significant bit first."""
        return [row.tobytes().hex() for row in self.row_bytes()]

    def row_bytes(self) -> NDArray[np.uint8]:
        """Every fingerprint as ceil(bits / 8) bytes, most significant bit first."""
        swapped = np.ascontiguousarray(self.array.astype(">u8"))
        every = swapped.view(np.uint8).reshape(len(self), 8 * self.scheme.row_words)
        return np.ascontiguousarray(every[:, : self.scheme.row_bytes])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write id, words and fingerprint as Parquet; without ids, row numbers are used."""
        from neardup.fingerprints.files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Fingerprints:
        """Read what `save` or `neardup fingerprint` wrote."""
        from neardup.fingerprints.files import load

        return load(path)

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[int]:
        return (self[place] for place in range(len(self)))

    @overload
    def __getitem__(self, place: int | np.integer[Any]) -> int: ...
    @overload
    def __getitem__(self, place: slice | NDArray[Any] | Sequence[int]) -> Fingerprints: ...

    def __getitem__(
        self, place: int | np.integer[Any] | slice | NDArray[Any] | Sequence[int]
    ) -> int | Fingerprints:
        if isinstance(place, int | np.integer) and not isinstance(place, bool):
            row = self.array[place]
            value = int.from_bytes(row.astype(">u8").tobytes(), "big")
            return value >> (64 * self.scheme.row_words - self.bits)
        if not isinstance(place, slice):
            place = np.asarray(place)
            place = place if place.size else place.astype(np.int64)
        places = np.arange(len(self))[place]
        ids = None if self.ids is None else self.ids.take(column_of(places))
        return Fingerprints(self.array[places], self.scheme, self.words[places], ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fingerprints):
            return NotImplemented
        return (
            self.scheme == other.scheme
            and np.array_equal(self.array, other.array)
            and np.array_equal(self.empty, other.empty)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} Fingerprints of {self.scheme}, {int(self.empty.sum())} empty>"

"""Idf tables: in how many documents of a collection each feature occurs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels import FeatureCounts

# Above this many features at once the rarest are forgotten: 400 MB.
MOST_FEATURES = 3 << 23
_HASH_DIGITS = 12


class IdfTable:
    """The document frequencies of the features of a collection, to weigh other documents alike.

    `features` says what was counted, `documents` how many had any; features of a single document
    are not stored, and one that is not in the table counts as one of a single document.
    `forgotten` is the frequency up to which features may be missing or counted short, 0 unless
    there were too many to count them all.
    """

    def __init__(
        self,
        features: str,
        documents: int,
        hashes: NDArray[np.uint64],
        counts: NDArray[np.uint32],
        forgotten: int = 0,
    ) -> None:
        self.features = features
        self.documents = documents
        self.hashes = hashes
        self.counts = counts
        self.forgotten = forgotten

    @cached_property
    def content(self) -> str:
        """A name for the table by what it holds."""
        digest = sha256(f"{self.features}\n{self.documents}\n".encode())
        digest.update(self.hashes.astype("<u8").tobytes())
        digest.update(self.counts.astype("<u4").tobytes())
        return digest.hexdigest()[:_HASH_DIGITS]

    def __len__(self) -> int:
        return len(self.hashes)

    def require(self, features: str) -> None:
        """Refuse a table that counted something else."""
        if self.features != features:
            raise SettingError(
                f"the idf table counts {self.features}, not {features}; make one of {features} "
                "with neardup idf" + (" --hash" if "/nd1:" in features else "")
            )

    def idf(self, hashes: NDArray[np.uint64], how: str) -> NDArray[np.float64]:
        """The idf of features: ln(1 + N / df) or, for `tfidf:lab`, log2(N / df)."""
        frequencies = self._lookup.look_up(np.ascontiguousarray(hashes))
        return (self._lab if how == "tfidf:lab" else self._natural)[frequencies]

    @cached_property
    def _lookup(self) -> FeatureCounts:
        lookup = FeatureCounts(MOST_FEATURES)
        lookup.set(self.hashes, self.counts)
        return lookup

    @cached_property
    def _natural(self) -> NDArray[np.float64]:
        return self._by_frequency(lambda frequency: math.log(1 + self.documents / frequency))

    @cached_property
    def _lab(self) -> NDArray[np.float64]:
        return self._by_frequency(lambda frequency: math.log2(max(1, self.documents) / frequency))

    def _by_frequency(self, idf: Callable[[int], float]) -> NDArray[np.float64]:
        """A value for each frequency; by `math`, because NumPy's logarithm depends on the CPU."""
        values = np.zeros(int(self.counts.max(initial=1)) + 1)
        for frequency in {1, *np.unique(self.counts).tolist()}:
            values[frequency] = idf(frequency)
        values[0] = values[1]  # unknown features
        return values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as Parquet: feature, documents."""
        from neardup.features.idf_store import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IdfTable:
        """Read what `save` or `neardup idf` wrote."""
        from neardup.features.idf_store import load

        return load(path)

    def __repr__(self) -> str:
        return f"<IdfTable {self.content}: {len(self)} features of {self.documents} documents>"


class IdfCounter:
    """Counts the documents of each feature, batch by batch, in bounded memory."""

    def __init__(self, features: str, limit: int = MOST_FEATURES) -> None:
        self._features = features
        self._counts = FeatureCounts(limit)
        self._documents = 0

    def add(self, offsets: NDArray[np.int64], hashes: NDArray[np.uint64]) -> None:
        """Count documents by their features, each given once; those without any do not count."""
        self._documents += int(np.count_nonzero(np.diff(offsets)))
        self._counts.add(np.ascontiguousarray(hashes))

    def table(self) -> IdfTable:
        """The table of what was counted."""
        hashes, counts = self._counts.items(2)
        return IdfTable(self._features, self._documents, hashes, counts, self._counts.floor)

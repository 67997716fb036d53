"""Idf tables: the document frequency of each feature, in memory and as Parquet files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.atomic import replacing
from neardup.errors import InputError, SettingError
from neardup.kernels import FeatureCounts

FORMAT = "neardup idf 1"
_SCHEMA = pa.schema([pa.field("feature", pa.uint64()), pa.field("documents", pa.uint32())])
_ADVICE = "make one with `neardup idf`"


# With more features than this, the rarest are dropped; this many take 400 MB.
MOST_FEATURES = 3 << 23
_HASH_DIGITS = 12


def save(table: IdfTable, path: str | os.PathLike[str]) -> None:
    """Write a table as Parquet: columns feature and documents, the rest as metadata."""
    about = {
        "neardup.format": FORMAT,
        "neardup.features": table.features,
        "neardup.documents": str(table.documents),
        "neardup.forgotten": str(table.forgotten),
        "neardup.content": table.content,
    }
    columns = [pa.array(table.hashes, pa.uint64()), pa.array(table.counts, pa.uint32())]
    rows = pa.table(columns, schema=_SCHEMA.with_metadata(about))
    # Through a Python file, because Arrow does not accept names that are not UTF-8.
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        pq.write_table(rows, file, compression="zstd", write_page_checksum=True)


def load(path: str | os.PathLike[str]) -> IdfTable:
    """Read an idf table; `InputError` if the file is not one, or is damaged."""
    try:
        rows = pq.read_table(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; {_ADVICE}") from None
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} cannot be read as an idf table ({error}); {_ADVICE}") from None
    about = {
        key.decode(errors="replace"): value.decode(errors="replace")
        for key, value in (rows.schema.metadata or {}).items()
    }
    found = about.get("neardup.format", "of an unknown format")
    if found != FORMAT:
        raise InputError(f"{path} is {found}, not {FORMAT}; {_ADVICE}")
    numbers = [about.get(f"neardup.{name}", "") for name in ("documents", "forgotten")]
    sound = rows.schema.equals(_SCHEMA) and all(number.isdecimal() for number in numbers)
    if sound:
        table = IdfTable(
            about.get("neardup.features", ""),
            int(numbers[0]),
            rows["feature"].to_numpy().astype(np.uint64),
            rows["documents"].to_numpy().astype(np.uint32),
            int(numbers[1]),
        )
    if not sound or table.content != about.get("neardup.content"):
        raise InputError(f"{path} is a damaged idf table; {_ADVICE} again")
    return table


class IdfTable:
    """The document frequencies of the features of a collection, for weights by rarity.

    `features` says what was counted, `documents` how many documents had features. Features of a
    single document are not stored; a feature that is not in the table counts as one of those.
    `forgotten` is the frequency up to which features may be missing or undercounted; it is 0 unless
    there were too many features to count.
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
        """The first 12 hexadecimal digits of a SHA-256 of the contents."""
        from hashlib import sha256

        digest = sha256(f"{self.features}\n{self.documents}\n".encode())
        digest.update(self.hashes.astype("<u8").tobytes())
        digest.update(self.counts.astype("<u4").tobytes())
        return digest.hexdigest()[:_HASH_DIGITS]

    def __len__(self) -> int:
        return len(self.hashes)

    def require(self, features: str) -> None:
        """Refuse a table that counts other features."""
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
        """The idf for each frequency, by `math`, because NumPy's logarithm depends on the CPU."""
        values = np.zeros(int(self.counts.max(initial=1)) + 1)
        for frequency in {1, *np.unique(self.counts).tolist()}:
            values[frequency] = idf(frequency)
        values[0] = values[1]  # unknown features
        return values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as Parquet, with columns feature and documents."""
        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IdfTable:
        """Read a table that `save` or `neardup idf` wrote."""
        return load(path)

    def __repr__(self) -> str:
        return f"<IdfTable {self.content}: {len(self)} features of {self.documents} documents>"


class IdfCounter:
    """Counts the documents of each feature, batch by batch and in bounded memory."""

    def __init__(self, features: str, limit: int = MOST_FEATURES) -> None:
        self._features = features
        self._counts = FeatureCounts(limit)
        self._documents = 0

    def add(self, offsets: NDArray[np.int64], hashes: NDArray[np.uint64]) -> None:
        """Count the distinct features of documents; documents without features are not counted."""
        self._documents += int(np.count_nonzero(np.diff(offsets)))
        self._counts.add(np.ascontiguousarray(hashes))

    @property
    def documents(self) -> int:
        """How many documents with features were counted."""
        return self._documents

    def items(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """All features so far, with the number of documents that have each."""
        return self._counts.items(1)

    def table(self) -> IdfTable:
        hashes, counts = self._counts.items(2)
        return IdfTable(self._features, self._documents, hashes, counts, self._counts.floor)

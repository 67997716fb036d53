"""Documents for a reproduction: their fingerprints by a preset, and known near-duplicates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.collection.settings import DedupSettings
from neardup.collection.source import FileSource, MemorySource, Source, fingerprinter_of
from neardup.errors import InputError
from neardup.fingerprints import Fingerprints
from neardup.fingerprints.fingerprinter import fitted
from neardup.presets import Preset
from neardup.read.source import explained

_SAME_COLLECTION = (
    "give the pairs of the same collection, and --id if its ids are in another column"
)


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """Known near-duplicates, as places of documents."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.a)


def fingerprinted(
    inputs: Sequence[str] | pa.Table,
    known: Preset,
    *,
    text: str | None,
    id: str | None,
    threads: int | None,
) -> tuple[Fingerprints, pa.Array]:
    """Read files or a table and fingerprint them with a preset; return fingerprints and ids."""
    settings = DedupSettings.of(preset=known.name, text=text, id=id, threads=threads)
    source: Source
    if isinstance(inputs, pa.Table):
        source = MemorySource(inputs, settings)
    else:
        source = FileSource(inputs, settings)
    fingerprinter = fingerprinter_of(settings.scheme, threads)
    fingerprinter = fitted(fingerprinter, (batch.columns for batch in source.batches()), None)
    ids: list[pa.Array] = []
    rows, words = [], []
    for batch in source.batches():
        made = fingerprinter.rows(batch.columns)
        ids.append(batch.ids)
        rows.append(made[0])
        words.append(made[1])
    if not sum(map(len, ids)):
        raise InputError("the input has no documents; give documents with texts")
    found = Fingerprints(np.concatenate(rows), fingerprinter.scheme, np.concatenate(words))
    return found, pa.concat_arrays(ids)


@dataclass(frozen=True, eq=False)
class KnownIds:
    """Pairs of ids, the columns a and b of the Parquet file `path`."""

    path: str
    pairs: pa.Table

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> KnownIds:
        """Read the file; it is checked before anything else is read."""
        if not os.path.isfile(path):
            raise InputError(f"{path} is not a file; give known pairs as a Parquet file")
        with explained(os.fspath(path)):
            names = pq.read_schema(path).names
            if missing := {"a", "b"} - set(names):
                raise InputError(
                    f"{path} has no column {min(missing)!r}; a file of known pairs has their ids "
                    "as a and b"
                )
            return cls(os.fspath(path), pq.read_table(path, columns=["a", "b"]))

    def among(self, ids: pa.Array) -> KnownPairs:
        """The pairs as places in these ids."""
        places = []
        for side in ("a", "b"):
            named = self.pairs[side]
            try:
                found = pc.index_in(named.cast(ids.type), value_set=ids)
            except pa.ArrowException:
                raise InputError(
                    f"{self.path} has ids of type {named.type}, but those of the input are "
                    f"{ids.type}; {_SAME_COLLECTION}"
                ) from None
            if found.null_count:
                unknown = named.filter(pc.is_null(found))[0]
                raise InputError(
                    f"{self.path} names the document {unknown}, which the input does not have; "
                    f"{_SAME_COLLECTION}"
                )
            places.append(np.asarray(found.combine_chunks().to_numpy(), np.int64))
        return KnownPairs(*places)

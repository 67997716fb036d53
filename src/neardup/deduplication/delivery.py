"""Deliveries: the input of one run, as an index remembers it."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh3_64

from neardup.collection.collected import Collected
from neardup.collection.deliveries import Delivery, Origins
from neardup.collection.source import Source

_IN_MEMORY = "memory"
_IDS_AT_ONCE = 1 << 16


def delivery_of(source: Source, collected: Collected) -> Delivery:
    """The delivery of a collection, named by its inputs."""
    names = _names(source)
    key = xxh3_64("\0".join(names).encode())
    for part in (collected.words, *_id_parts(collected.ids), *_content(collected)):
        key.update(np.ascontiguousarray(part).view(np.uint8).data if len(part) else b"")
    return Delivery(source_name(source), key.hexdigest())


def origins_of(source: Source, sources: list[str | None], added: NDArray[np.int64]) -> Origins:
    """Where the documents of an index come from, beside those of a collection."""
    first = next(iter(source.batches()), None)
    numbered = first is not None and first.made_ids is not None
    return Origins(source_name(source), numbered, sources, added)


def given_ids(source: Source) -> frozenset[int | str]:
    """The ids of the documents that have one of their own."""
    return frozenset(
        id for batch in source.batches() if batch.made_ids is None for id in batch.ids.to_pylist()
    )


def source_name(source: Source) -> str:
    """The input in a few words: the first file, and how many more."""
    names = _names(source)
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more"


def _names(source: Source) -> list[str]:
    """The inputs as they were named, in the form in which ids made of file and row have them."""
    return [
        os.fsencode(name if "://" in name else os.path.normpath(name)).decode(
            errors="backslashreplace"
        )
        for name in source.places or (_IN_MEMORY,)
    ]


def _id_parts(ids: pa.Array) -> Sequence[np.ndarray]:
    if pa.types.is_integer(ids.type):
        return [ids.to_numpy(zero_copy_only=False)]
    digest = xxh3_64()
    for begin in range(0, len(ids), _IDS_AT_ONCE):
        some = map(str, ids.slice(begin, _IDS_AT_ONCE).to_pylist())
        digest.update("".join(f"{id}\0" for id in some).encode(errors="surrogatepass"))
    return [np.array([digest.intdigest()], np.uint64)]


def _content(collected: Collected) -> Sequence[np.ndarray]:
    """The features of all documents, or their fingerprints if there are no features."""
    if collected.features is None:
        return collected.rows
    # One digest for each array: where one part of the store ends makes no difference.
    hashes, weights = xxh3_64(), xxh3_64()
    for _, part in collected.store.parts():
        hashes.update(np.ascontiguousarray(part.hashes).view(np.uint8).data)
        if part.weights is not None:
            weights.update(np.ascontiguousarray(part.weights).view(np.uint8).data)
    digests = np.array([hashes.intdigest(), weights.intdigest()], np.uint64)
    return [collected.store.sizes, digests]

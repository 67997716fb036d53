"""`MemoryIndex`, and `unique`, which filters a stream with one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from neardup import kernels
from neardup.errors import InputError
from neardup.features.idf import IdfTable
from neardup.fingerprints.scheme import HashChoice
from neardup.index.api import BaseIndex
from neardup.index.disk.opening import made
from neardup.index.disk.store import DiskStore
from neardup.index.entries import checked_id
from neardup.index.memory.environment import MemoryEnvironment
from neardup.index.memory.store import MemoryStore
from neardup.index.settings import IndexSettings
from neardup.index.store import Store
from neardup.settings import suggests_settings

Item = TypeVar("Item")


class MemoryIndex(BaseIndex):
    """An index in memory with the methods of `Index`; it is lost when the program ends.

    Args:
        features: What a document consists of, for example `word:3`. Default: word:3.
        weights: Weight of a feature: `set`, `count`, `tfidf`, `idf`, `tfidf:lab` or `given`.
            Default: set; given for terms; tfidf for keywords.
        bits: Bits of a fingerprint, 1 to 4096. Default: 64.
        hash: Hash family by name, one with a secret key (`nd.keyed`), or a function from bytes to
            int. Default: nd1.
        tie: Whether a sum of zero leaves a bit clear (`>0`) or sets it (`>=0`). Default: >0.
        projection: Project the sums onto a sphere before taking signs. Default: none.
        text: Fields of records with optional weights, for example `name*2+street+city`. Default:
            documents are plain texts.
        idf: Table for weights by rarity, from `nd.idf` or a saved file.
        similarity: Similarity measure: `containment` (the shared part of the smaller document),
            `inclusion` (the part of a query that a stored document has), or the default: jaccard
            for sets, cosine for given terms, else weighted-jaccard.
        threshold: Minimum similarity of near-duplicates, as in `dedup`. Default: 0.8, unless
            `max_distance` or `plan` is given.
        complete: Miss nothing. Without it, an index by similarity finds an expected 99.9 % of the
            pairs at the threshold and practically all above, in a third of the table space.
        ttl: Time until a document expires, in seconds or for example "30d". Default: never.
        max_distance: Find documents by their fingerprints, up to this number of differing bits, as
            Google's crawler did with 3 of 64: pages that differ in a counter or a date. Edited
            texts differ in more bits.
        plan: How to search by fingerprints: `blocks:K`, `blocks:K/M`, `bands:MxK`, `prefix:D`, or a
            list of masks. Default: blocks:K, where K is `max_distance`.
        store_text: Store the texts, to be returned by `get` and exported.
        store_features: With `max_distance`: store the features, so that queries give similarities.
        threads: Number of threads. Default: one per core.

    >>> import neardup as nd
    >>> index = nd.MemoryIndex()
    >>> index.add("a", "the quick brown fox jumps over the lazy dog")
    >>> index.query("The quick brown fox jumps over the lazy dog!")
    [Match(id='a', distance=0, similarity=1.0, metadata=None)]
    """

    @suggests_settings
    def __init__(
        self,
        *,
        features: str | None = None,
        weights: str | None = None,
        bits: int | None = None,
        hash: HashChoice | None = None,
        tie: str | None = None,
        projection: str | None = None,
        text: str | None = None,
        idf: IdfTable | str | os.PathLike[str] | None = None,
        similarity: str | None = None,
        threshold: float | None = None,
        complete: bool | None = None,
        ttl: str | float | None = None,
        max_distance: int | None = None,
        plan: Any = None,
        store_text: bool | None = None,
        store_features: bool | None = None,
        threads: int | None = None,
    ) -> None:
        given = {
            "features": features,
            "weights": weights,
            "bits": bits,
            "hash": hash,
            "tie": tie,
            "projection": projection,
            "text": text,
            "similarity": similarity,
            "threshold": threshold,
            "complete": complete,
            "ttl": ttl,
            "max_distance": max_distance,
            "plan": plan,
            "store_text": store_text,
            "store_features": store_features,
        }
        settings = IndexSettings.of({k: v for k, v in given.items() if v is not None})
        workers = kernels.thread_count(threads)
        fingerprinter = settings.fingerprinter(hash, idf, workers)
        super().__init__(_store_of(settings, workers), settings, fingerprinter, threads)

    def __repr__(self) -> str:
        return f"<MemoryIndex of {len(self):,} documents, {self.scheme}, {self.settings.finds}>"


def _store_of(settings: IndexSettings, threads: int) -> Store:
    """Tables of fingerprints, or the store of an index on disk with values in memory."""
    if settings.plan is not None:
        return MemoryStore(settings.plan.mask_rows(), settings.plan.bits)
    environment = MemoryEnvironment()
    return DiskStore(environment, *made(environment, settings, None), threads=threads)


@suggests_settings
def unique(
    stream: Iterable[Item],
    index: BaseIndex | None = None,
    *,
    keep_per_group: int = 1,
    max_distance: int | None = None,
    threshold: float | None = None,
) -> Iterator[Item]:
    """Yield the documents of a stream that are not near an earlier one, and add them to an index.

    Empty documents have no near-duplicates, so all of them are yielded.

    Args:
        stream: The documents: texts, (id, text) pairs, or dicts with `text` and optional `id`.
            Items are yielded unchanged. Those without an id are numbered; one whose id is in the
            index is skipped.
        index: The index to query and to fill. Default: a new `MemoryIndex` of this `threshold` or
            `max_distance`.
        keep_per_group: How many documents of a kind to yield.
        max_distance: Maximum number of differing bits, of an index by distance.
        threshold: Minimum similarity. Default: that of the index, or 0.8.

    >>> import neardup as nd
    >>> list(nd.unique(["one two three four", "Something else", "One, two, three, four!"]))
    ['one two three four', 'Something else']
    """
    if index is None:
        index = MemoryIndex(threshold=threshold, max_distance=max_distance)
    number = len(index)
    for item in stream:
        id, document = _parts(item)
        if id is None:
            while number in index:
                number += 1
            id = number
        elif id in index:
            continue
        verdict = index.check(
            id,
            document,
            keep_per_group=keep_per_group,
            max_distance=max_distance,
            threshold=threshold,
            limit=1,
        )
        if verdict.is_new:
            yield item


def _parts(item: Any) -> tuple[Any, Any]:
    if isinstance(item, tuple | list) and len(item) in (2, 3):
        return checked_id(item[0]), item[1]
    if isinstance(item, Mapping):
        if "text" not in item:
            raise InputError(f"a document of the stream has no 'text', only {sorted(item)}")
        id = item.get("id")
        return None if id is None else checked_id(id), item["text"]
    return None, item

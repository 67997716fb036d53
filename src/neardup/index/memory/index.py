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
from neardup.index.entries import checked_id
from neardup.index.memory.store import MemoryStore
from neardup.index.settings import IndexSettings
from neardup.settings import suggests_settings

Item = TypeVar("Item")


class MemoryIndex(BaseIndex):
    """An index in memory with the methods of `Index`; it is lost when the program ends.

    Args:
        features: What a document consists of, for example `word:3`. Default: word:3.
        weights: Weight of a feature: `set`, `count`, `tfidf`, `tfidf:lab` or `given`. Default: set;
            given for terms; tfidf for keywords.
        bits: Bits of a fingerprint, 1 to 4096. Default: 64.
        hash: Hash family by name, one with a secret key (`nd.keyed`), or a function from bytes to
            int. Default: nd1.
        tie: Whether a sum of zero leaves a bit clear (`>0`) or sets it (`>=0`). Default: >0.
        projection: Project the sums onto a sphere before taking signs. Default: none.
        text: Fields of records with optional weights, for example `name*2+street+city`. Default:
            documents are plain texts.
        idf: Table for tf-idf weights, from `nd.idf` or a saved file.
        plan: How to search: `blocks:K`, `blocks:K/M`, `bands:MxK`, `prefix:D`, or a list of masks.
            Default: blocks:K, where K is `max_distance`.
        max_distance: Default maximum number of differing bits for queries. Default: the distance
            up to which the plan is complete, or 3.
        store_text: Store the texts, so that queries compute the true similarity.
        store_features: Store the features instead, for terms and records.
        threads: Number of threads. Default: one per core.

    >>> import neardup as nd
    >>> index = nd.MemoryIndex()
    >>> index.add("a", "the quick brown fox jumps over the lazy dog")
    >>> index.query("The quick brown fox jumps over the lazy dog!")
    [Match(id='a', distance=0, similarity=None, metadata=None)]
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
        plan: Any = None,
        max_distance: int | None = None,
        store_text: bool = False,
        store_features: bool = False,
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
            "plan": plan,
            "max_distance": max_distance,
            "store_text": store_text,
            "store_features": store_features,
        }
        settings = IndexSettings.of({k: v for k, v in given.items() if v is not None})
        fingerprinter = settings.fingerprinter(hash, idf, kernels.thread_count(threads))
        store = MemoryStore(settings.plan.mask_rows(), settings.plan.bits)
        super().__init__(store, settings, fingerprinter, threads)

    def __repr__(self) -> str:
        return f"<MemoryIndex of {len(self):,} documents, {self.scheme}, {self.settings.plan}>"


@suggests_settings
def unique(
    stream: Iterable[Item],
    index: BaseIndex | None = None,
    *,
    max_distance: int | None = None,
    threshold: float | None = None,
) -> Iterator[Item]:
    """Yield the documents of a stream that are not near an earlier one, and add them to an index.

    Empty documents have no near-duplicates, so all of them are yielded.

    Args:
        stream: The documents: texts, (id, text) pairs, or dicts with `text` and optional `id`.
            Items are yielded unchanged. Those without an id are numbered; one whose id is in the
            index is skipped.
        index: The index to query and to fill. Default: a new `MemoryIndex`.
        max_distance: Maximum number of differing bits. Default: that of the index.
        threshold: Minimum similarity; needs an index that stores texts or features.

    >>> import neardup as nd
    >>> list(nd.unique(["one two three four", "Something else", "One, two, three, four!"]))
    ['one two three four', 'Something else']
    """
    seen = MemoryIndex() if index is None else index
    number = len(seen)
    for item in stream:
        id, document = _parts(item)
        if id is None:
            while number in seen:
                number += 1
            id = number
        elif id in seen:
            continue
        if not seen.query(document, max_distance, threshold, 1):
            seen.add(id, document)
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

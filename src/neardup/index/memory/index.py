"""`MemoryIndex`: the index for streams, in native memory."""

from __future__ import annotations

import os
from typing import Any

from neardup import kernels
from neardup.features.idf import IdfTable
from neardup.fingerprints.scheme import HashChoice
from neardup.index.api import BaseIndex
from neardup.index.memory.store import MemoryStore
from neardup.index.settings import IndexSettings


class MemoryIndex(BaseIndex):
    """An index in memory, with all that `Index` offers, for as long as the program runs.

    >>> import neardup as nd
    >>> index = nd.MemoryIndex()
    >>> index.add("a", "the quick brown fox jumps over the lazy dog")
    >>> index.query("The quick brown fox jumps over the lazy dog!")
    [Match(id='a', distance=0, similarity=None, metadata=None)]
    """

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

"""`Index`: the index on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from weakref import finalize

from neardup import kernels
from neardup.features.idf import IdfTable
from neardup.fingerprints.scheme import HashChoice
from neardup.index.api import BaseIndex
from neardup.index.disk.store import DiskStore, open_store
from neardup.settings import suggests_settings


class Index(BaseIndex):
    """An index in a folder, for one writer at a time and any number of readers.

    An existing index keeps its settings; different ones are an error. When `add` returns, the
    document is durable: it survives a crash of the program and, unless `sync` is False, of the
    machine.

    Args:
        path: The folder.
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
        sync: Wait for the disk after each change.
        create: Create the index if there is none; False opens only an existing one.
        readonly: Open for reading only.
        threads: Number of threads. Default: one per core.

    >>> import neardup as nd, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with nd.Index(folder.name + "/seen.index") as index:
    ...     index.add(1, "the quick brown fox jumps over the lazy dog")
    >>> with nd.Index(folder.name + "/seen.index") as index:
    ...     [match.id for match in index.query("The quick brown fox jumps over the lazy dog!")]
    [1]
    """

    _store: DiskStore

    @suggests_settings
    def __init__(
        self,
        path: str | os.PathLike[str],
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
        store_text: bool | None = None,
        store_features: bool | None = None,
        sync: bool = True,
        create: bool = True,
        readonly: bool = False,
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
            "idf": idf,
            "plan": plan,
            "max_distance": max_distance,
            "store_text": store_text,
            "store_features": store_features,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        workers = kernels.thread_count(threads)
        self.path = Path(path)
        store = open_store(self.path, chosen, create=create, readonly=readonly, sync=sync)
        try:
            settings = store.settings
            fingerprinter = settings.fingerprinter(hash, store.idf, workers)
        except BaseException:
            store.close()
            raise
        super().__init__(store, settings, fingerprinter, workers)
        # Closes the files of an index that is garbage-collected without being closed.
        self._closing = finalize(self, store.close)

    def flush(self) -> None:
        """Wait until all changes are on disk; needed only if `sync` is False."""
        self._store.flush()

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        self._closing()

    def __repr__(self) -> str:
        return f"<Index {self.path} of {self.scheme}, {self.settings.plan}>"

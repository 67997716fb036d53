"""`Index`: the index that lasts, in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from weakref import finalize

from neardup import kernels
from neardup.features.idf import IdfTable
from neardup.fingerprints.scheme import HashChoice
from neardup.index.api import BaseIndex
from neardup.index.disk.store import DurableStore, open_store


class Index(BaseIndex):
    """An index in a folder: durable, for one writer at a time and any number of readers.

    Opened again it knows its settings; others than it was made with are refused. What a call
    of `add` returned from survives the program's end at any moment and, unless `sync` is False,
    that of the machine. `create=False` opens only what is there, `readonly` never writes.

    >>> import neardup as nd, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with nd.Index(folder.name + "/seen.index") as index:
    ...     index.add(1, "the quick brown fox jumps over the lazy dog")
    >>> with nd.Index(folder.name + "/seen.index") as index:
    ...     [match.id for match in index.query("The quick brown fox jumps over the lazy dog!")]
    [1]
    """

    _store: DurableStore

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
        # An index that is let go without being closed leaves nothing open either.
        self._closing = finalize(self, store.close)

    def flush(self) -> None:
        """Wait until the disk has all that was added; of use where `sync` is False."""
        self._store.flush()

    def close(self) -> None:
        """Close the files; closing again does nothing."""
        self._closing()

    def __repr__(self) -> str:
        return f"<Index {self.path} of {self.scheme}, {self.settings.plan}>"

"""`Index`: the index on disk."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any
from weakref import finalize

from neardup import kernels
from neardup.errors import SettingError
from neardup.features.idf import IdfTable
from neardup.fingerprints.scheme import HashChoice
from neardup.index.api import BaseIndex
from neardup.index.disk.backup import backup
from neardup.index.disk.opening import open_store
from neardup.index.disk.store import DEFAULT_TIMEOUT, DiskStore
from neardup.settings import suggests_settings


class Index(BaseIndex):
    """An index in a folder, for one writer at a time and any number of readers.

    It finds edited documents by their similarity. An existing index keeps its settings; different
    ones are an error. When `add` or `check` returns, the document is durable: it survives a crash
    of the program and, unless `sync` is False, of the machine.

    Args:
        path: The folder.
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
        sync: Wait for the disk after each change.
        create: Create the index if there is none; False opens only an existing one.
        readonly: Open for reading only.
        timeout: How many seconds a change waits for other programs and threads that write.
        threads: Number of threads. Default: one per core.

    >>> import neardup as nd, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> page = "the quick brown fox jumps over the lazy dog and runs away from it all day long"
    >>> with nd.Index(folder.name + "/seen.index") as index:
    ...     index.check("first", page).is_new
    True
    >>> with nd.Index(folder.name + "/seen.index") as index:
    ...     verdict = index.check("second", page + "!")
    >>> verdict.is_new, verdict.match.id, verdict.match.similarity
    (False, 'first', 1.0)
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
        similarity: str | None = None,
        threshold: float | None = None,
        complete: bool | None = None,
        ttl: str | float | None = None,
        max_distance: int | None = None,
        plan: Any = None,
        store_text: bool | None = None,
        store_features: bool | None = None,
        sync: bool = True,
        create: bool = True,
        readonly: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
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
            "similarity": similarity,
            "threshold": threshold,
            "complete": complete,
            "ttl": ttl,
            "max_distance": max_distance,
            "plan": plan,
            "store_text": store_text,
            "store_features": store_features,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        workers = kernels.thread_count(threads)
        self.path = Path(path)
        store = open_store(
            self.path,
            chosen,
            create=create,
            readonly=readonly,
            sync=sync,
            threads=workers,
            timeout=_checked_timeout(timeout),
        )
        try:
            settings = store.settings
            fingerprinter = settings.fingerprinter(hash, store.idf, workers)
        except BaseException:
            store.close()
            raise
        super().__init__(store, settings, fingerprinter, workers)
        # Closes the files of an index that is garbage-collected without being closed.
        self._closing = finalize(self, store.close)

    @property
    def idf(self) -> IdfTable | None:
        """The table for weights by rarity that the index was created with."""
        return self._store.idf

    def flush(self) -> None:
        """Wait until all changes are on disk; needed only if `sync` is False."""
        self._store.flush()

    def backup(self, destination: str | os.PathLike[str]) -> int:
        """Write a copy of the last commit to a new folder, and verify it; return its documents.

        The copy is an index of its own. Other programs and threads may write meanwhile.
        """
        return backup(self._store, Path(destination))

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        self._closing()

    def __repr__(self) -> str:
        return f"<Index {self.path} of {self.scheme}, {self.settings.finds}>"


def _checked_timeout(timeout: Any) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout >= 0:
        raise SettingError(f"timeout={timeout!r} must be a number of seconds, 0 or more")
    return min(float(timeout), threading.TIMEOUT_MAX)

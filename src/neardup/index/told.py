"""What an index tells: a document as it is stored, and the size, age and growth of all of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from neardup.fingerprints import Fingerprints, Scheme
from neardup.index.contents import text_of
from neardup.index.entries import Id, Record, metadata_of, now_ms
from neardup.index.settings import IndexSettings
from neardup.index.store import Part, Store
from neardup.kernels.set_index import NEVER

_AGES = {"hour": 3_600_000, "day": 86_400_000, "week": 604_800_000}


@dataclass(frozen=True)
class Seen:
    """How often `add` and `check` met a document, and when first and last, in seconds since 1970.

    `first` is None if it is not known.
    """

    times: int
    first: float | None
    last: float | None


@dataclass(frozen=True)
class StoredDocument:
    """A document as the index stores it; `fingerprint` is None for an empty document.

    `expires` is in seconds since 1970, None if it does not expire.
    """

    id: Id
    fingerprint: int | None
    words: int
    metadata: Any
    text: str | None
    seen: Seen
    expires: float | None

    @classmethod
    def of(
        cls, record: Record, seen: tuple[int, int] | None, scheme: Scheme, has_text: bool
    ) -> StoredDocument:
        """A record, with how often and when it was seen again."""
        again, last = seen or (0, record.added)
        row = np.frombuffer(record.row, np.uint64)[None]
        return cls(
            record.id,
            Fingerprints(row, scheme)[0] if record.words else None,
            record.words,
            metadata_of(record.metadata),
            text_of(record.content) if has_text and record.content else None,
            Seen(1 + again, _seconds(record.added), _seconds(last)),
            None if record.expires == NEVER else record.expires / 1000,
        )


@dataclass(frozen=True)
class IndexStats:
    """Size, age and growth of an index.

    `finds` says what a query finds. `bytes` has the size of each part, `segments` the documents,
    removed documents and bytes of each segment and, last, of the newest documents. `oldest` and
    `newest` are the times of the first and the last addition, in seconds since 1970; `added` counts
    the documents added in the last hour, day and week; `expired` ones are still stored.
    `largest_buckets` has the sizes of the largest sets of distinct fingerprints that agree on a
    mask, for an index by distance.
    """

    scheme: str
    finds: str
    documents: int
    bytes: dict[str, int]
    segments: list[Part]
    oldest: float | None
    newest: float | None
    added: dict[str, int]
    expired: int
    largest_buckets: list[int]

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, for JSON."""
        return asdict(self)


def stats_of(store: Store, settings: IndexSettings, scheme: Scheme, buckets: int) -> IndexStats:
    """The figures of an index, with the sizes of its `buckets` largest buckets."""
    now = now_ms()
    with store.view() as view:
        count = len(view)
        added, expired = view.times(now)
    return IndexStats(
        str(scheme),
        settings.finds,
        count,
        store.sizes(),
        store.parts(),
        _seconds(int(added.min())) if len(added) else None,
        _seconds(int(added.max())) if len(added) else None,
        {name: int((added > now - age).sum()) for name, age in _AGES.items()},
        expired,
        store.largest_buckets(buckets) if buckets else [],
    )


def _seconds(milliseconds: int) -> float | None:
    """A time in seconds since 1970; None if it is not known."""
    return milliseconds / 1000 if milliseconds else None

"""Documents that come again: within a batch, or as they are already there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.index.entries import Entries, Record


def last_of_each(entries: Entries) -> Entries:
    """Of documents with the same id only the last."""
    if len(entries) < 2 or np.diff(np.sort(entries.hashes)).all():
        return entries
    last = dict(zip(entries.ids.to_pylist(), range(len(entries)), strict=True))
    return entries.take(np.array(sorted(last.values()), np.int64))


def unchanged(
    entries: Entries, places: NDArray[np.int64], records: Sequence[Record]
) -> NDArray[np.bool_]:
    """Which documents at these places are just as the records say; empty ones have no row."""
    some = entries.take(places)
    metadata = [b""] * len(some) if some.metadata is None else some.metadata.to_pylist()
    contents = [b""] * len(some) if some.contents is None else some.contents.to_pylist()
    return np.array(
        [
            record.words == words
            and record.metadata == about
            and record.content == content
            and (not words or np.array_equal(record.row, row))
            for record, words, about, content, row in zip(
                records, some.words.tolist(), metadata, contents, some.rows, strict=True
            )
        ],
        np.bool_,
    )

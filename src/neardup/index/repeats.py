"""Documents that come again: within a batch, or as they are already there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest

from neardup.index.entries import Entries, Record
from neardup.index.ids import Id, id_array
from neardup.index.view import View


def named_apart(entries: Entries, view: View) -> tuple[Entries, set[Id]]:
    """Documents with made ids, those whose ids other documents have with new ones, and the new.

    A new id has a hash of what the document holds behind the old. So the same documents added
    again get the same ids again, and are found to be there.
    """
    ids = entries.ids.to_pylist()
    taken = _taken(entries, view)
    new: set[Id] = set()
    while len(taken):
        hashes = _content_hashes(entries.take(taken))
        for place, hash in zip(taken.tolist(), hashes, strict=True):
            ids[place] = f"{ids[place]}#{hash}"
            new.add(ids[place])
        some = replace(entries.take(taken), ids=id_array([ids[place] for place in taken.tolist()]))
        taken = taken[_taken(some, view)]
    return (replace(entries, ids=id_array(ids)) if new else entries), new


def count_of(entries: Entries, ids: set[Id]) -> int:
    """How many documents have one of these ids."""
    return sum(id in ids for id in entries.ids.to_pylist()) if ids else 0


def _taken(entries: Entries, view: View) -> NDArray[np.int64]:
    """The places of documents whose ids are those of others."""
    old = view.numbers_of(entries)
    there = np.flatnonzero(old >= 0)
    return there[~unchanged(entries, there, view.records(old[there].tolist()))]


def _content_hashes(entries: Entries) -> list[str]:
    nothing = [b""] * len(entries)
    metadata = nothing if entries.metadata is None else entries.metadata.to_pylist()
    contents = nothing if entries.contents is None else entries.contents.to_pylist()
    hashes = []
    for words, row, about, content in zip(
        entries.words.tolist(), entries.rows, metadata, contents, strict=True
    ):
        bits = row.tobytes() if words else b""
        hashes.append(
            xxh3_64_hexdigest(b"%d %d %b%b%b" % (words, len(about), about, content, bits))
        )
    return hashes


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

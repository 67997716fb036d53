"""Families: passages that are alike, where they occur, and in how many documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.parts.passages.copies import PARTITIONS, Copies, Places
from neardup.parts.passages.near import NearPassages, documents_at
from neardup.parts.spill import Spill

_MEMBER = np.dtype([("source", "i8"), ("passage", "i8"), ("bytes", "u4")])
_MOST_BYTES = 500
_PLACED = np.dtype([("passage", "i8"), ("source", "i8")])


@dataclass(frozen=True, eq=False)
class Families:
    """Passages in two or more documents, by families, the largest pieces of boilerplate first.

    `source` is the passage that stands for each family, `source_document` its document and
    `source_bytes` its size; `documents` and `passages` count where the family occurs, and
    `repeated_bytes` those outside of that document.

    The largest is the one with the most documents times bytes, of which 500 count at most: a long
    passage in two documents is a copy rather than boilerplate.
    """

    source: Places
    source_document: Places
    source_bytes: Places
    documents: Places
    passages: Places
    repeated_bytes: Places

    def __len__(self) -> int:
        return len(self.source)


class Members:
    """The family of each passage that has one, by ranges of passages."""

    def __init__(self, placed: Spill, families: Families, passages: int) -> None:
        self._placed, self._passages = placed, max(1, passages)
        self._order = np.argsort(families.source)
        self._sources = families.source[self._order]
        self._loaded = -1
        self._held: tuple[Places, Places] = (np.zeros(0, np.int64), np.zeros(0, np.int64))

    def between(self, first: int, last: int) -> tuple[Places, Places]:
        """The passages from `first` to before `last` that are in families, and these families."""
        parts = []
        if last > first:
            numbers = _range_of(np.array([first, last - 1]), self._passages)
            for number in range(int(numbers[0]), int(numbers[1]) + 1):
                passages, family = self._range(number)
                begin, end = np.searchsorted(passages, [first, last])
                parts.append((passages[begin:end], family[begin:end]))
        none = np.zeros(0, np.int64)
        return (
            np.concatenate([none, *(one for one, _ in parts)]),
            np.concatenate([none, *(one for _, one in parts)]),
        )

    def _range(self, number: int) -> tuple[Places, Places]:
        if number != self._loaded:
            records = self._placed.partition(number)
            # Small families were not known to be so when their passages were stored.
            places = np.searchsorted(self._sources, records["source"])
            places = np.minimum(places, max(0, len(self._sources) - 1))
            known = np.zeros(len(records), np.bool_)
            if len(self._sources):
                known = self._sources[places] == records["source"]
            order = np.argsort(records["passage"][known])
            family = self._order[places[known]] if len(self._order) else places[known]
            self._held = records["passage"][known][order], family[order]
            self._loaded = number
        return self._held


def _range_of(passages: Places, count: int) -> Places:
    return np.asarray(passages * PARTITIONS // count)


def find_families(
    copies: Copies, near: NearPassages, first_passages: Places, passages: int, memory: int
) -> tuple[Families, Members]:
    """Put copies and near ones together; families of one document are left out."""
    by_source = Spill(_MEMBER, PARTITIONS, memory)
    for members in _members(copies, near):
        spread = members["source"].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        by_source.add(members, (spread >> np.uint64(58)).astype(np.int64))
    placed = Spill(_PLACED, PARTITIONS, memory)
    found = [_families_in(part, first_passages) for part in by_source if len(part)]
    families = _together(found)
    for part in by_source:
        records = np.zeros(len(part), _PLACED)
        records["passage"], records["source"] = part["passage"], part["source"]
        placed.add(records, _range_of(part["passage"], max(1, passages)))
    return families, Members(placed, families, passages)


def _members(copies: Copies, near: NearPassages) -> Iterator[NDArray[np.void]]:
    """Every occurrence of a passage that has a copy or a near one, with the source it is like."""
    seen = np.zeros(len(near.passages), np.bool_)
    for part in copies.repeated:
        members = np.zeros(len(part), _MEMBER)
        members["passage"], members["bytes"] = part["passage"], part["bytes"]
        members["source"] = part["like"]
        if len(near.passages):
            places = np.searchsorted(near.passages, part["like"])
            places = np.minimum(places, len(near.passages) - 1)
            is_near = near.passages[places] == part["like"]
            members["source"][is_near] = near.like[places[is_near]]
            seen[places[is_near]] = True
        yield members
    alone = np.zeros(int((~seen).sum()), _MEMBER)
    alone["passage"], alone["source"] = near.passages[~seen], near.like[~seen]
    alone["bytes"] = near.sizes[~seen]
    yield alone


def _families_in(members: NDArray[np.void], first_passages: Places) -> Families:
    """The families of some members, in any order."""
    order = np.lexsort((members["passage"], members["source"]))
    source, passage = members["source"][order], members["passage"][order]
    sizes = members["bytes"][order].astype(np.int64)
    document = documents_at(passage, first_passages)
    is_first = np.ones(len(source), np.bool_)
    is_first[1:] = source[1:] != source[:-1]
    begins = np.flatnonzero(is_first)
    fresh = is_first.copy()  # the first passage of a document in a family
    fresh[1:] |= document[1:] != document[:-1]
    documents = np.add.reduceat(fresh.astype(np.int64), begins)
    sources = source[begins]
    source_document = documents_at(sources, first_passages)
    counts = np.diff(np.append(begins, len(source)))
    elsewhere = document != np.repeat(source_document, counts)
    repeated = np.add.reduceat(np.where(elsewhere, sizes, 0), begins)
    several = documents > 1
    source_bytes = np.add.reduceat(np.where(passage == source, sizes, 0), begins)
    return Families(
        sources[several],
        source_document[several],
        source_bytes[several],
        documents[several],
        counts[several],
        repeated[several],
    )


def _together(parts: list[Families]) -> Families:
    none = np.zeros(0, np.int64)
    names = [field.name for field in fields(Families)]
    columns = {
        name: np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in names
    }
    weight = columns["documents"] * np.minimum(columns["source_bytes"], _MOST_BYTES)
    order = np.lexsort((columns["source"], -weight))
    return Families(**{name: column[order] for name, column in columns.items()})

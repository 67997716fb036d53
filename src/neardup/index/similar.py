"""Queries and checks of an index by similarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.index.disk.change import DiskChange
from neardup.index.disk.view import DiskView
from neardup.index.entries import Record, metadata_of
from neardup.index.intake import One
from neardup.index.match import Answers, Match, MatchList, Verdict, in_order_of_similarity
from neardup.index.settings import IndexSettings
from neardup.index.store import is_same
from neardup.kernels.set_index import NEVER, NO_NUMBER, SetDocuments, SetView
from neardup.pairs.search import distances

ADDS = ("new", "always", "never")


@dataclass(frozen=True)
class Rules:
    """How `check` decides: what is added, how many of a kind, and which matches are listed.

    `ttl` is in milliseconds. `max_distance` is of an index by distance.
    """

    add: str
    keep_per_group: int
    ttl: int | None
    threshold: float | None
    max_distance: int | None
    limit: int | None

    def __post_init__(self) -> None:
        if self.add not in ADDS:
            raise SettingError(f"add={self.add!r} is unknown; choose {', '.join(ADDS)}")
        keep = self.keep_per_group
        if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
            raise SettingError(f"keep_per_group={keep!r} must be a whole number, 1 or more")

    @property
    def needed(self) -> int | None:
        """How many matches decide, and are listed."""
        return None if self.limit is None else max(self.limit, self.keep_per_group)


def threshold_of(settings: IndexSettings, threshold: Any, max_distance: Any) -> float:
    """The threshold of a query of an index by similarity, at least that of the index."""
    least = settings.threshold
    assert least is not None
    if max_distance is not None:
        raise SettingError(
            f"this index finds documents by similarity ({settings.finds}), not by max_distance; "
            "give a threshold, or create an index with max_distance"
        )
    if threshold is None:
        return least
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise SettingError(f"threshold={threshold!r} must be a number above 0, at most 1")
    if not least <= threshold <= 1:
        raise SettingError(
            f"threshold={threshold!r} must be from {least:g}, the threshold of the index, to 1; "
            "create an index with a lower one to find less similar documents"
        )
    return float(threshold)


def query_one(
    view: DiskView,
    sets: SetView,
    document: tuple[SetDocuments, int, bytes],
    *,
    threshold: float,
    limit: int | None,
    now: int,
) -> list[Match]:
    """The documents most similar to one."""
    documents, words, row = document
    if not words:
        return MatchList()
    found = sets.search_one(documents, 0, threshold, limit, now, NO_NUMBER)
    return _matches(view, found, row)


def query_all(
    view: DiskView,
    sets: SetView,
    documents: SetDocuments,
    rows: NDArray[np.uint64],
    *,
    threshold: float,
    limit: int | None,
    now: int,
    threads: int,
) -> Answers:
    """The documents most similar to each of many."""
    offsets, numbers, similarities = sets.search(
        documents,
        threshold=threshold,
        limit=limit,
        now=now,
        skip=None,
        threads=threads,
        isa="auto",
    )
    found = numbers.tolist()
    others = np.frombuffer(b"".join(view.rows_of(found)), np.uint64).reshape(-1, rows.shape[1])
    owners = np.repeat(np.arange(len(rows)), np.diff(offsets))
    return Answers(
        offsets,
        view.ids_of(found),
        distances(rows[owners], others),
        similarities,
        view.metadata_of(found),
        by_similarity=True,
    )


def check(change: DiskChange, one: One, rules: Rules, settings: IndexSettings, now: int) -> Verdict:
    """Look a document up, decide whether it is new, and add it if the rules say so."""
    record = one.record
    number = change.number_of(record.id)
    found: list[tuple[int, float]] = []
    if record.words:
        assert one.sets is not None
        assert settings.threshold is not None
        found = change.search_one(
            one.sets,
            one.place,
            threshold=settings.threshold if rules.threshold is None else rules.threshold,
            limit=rules.needed,
            now=now,
            skip=number,
        )
    is_new = len(found) < rules.keep_per_group
    added = rules.add == "always" or (rules.add == "new" and is_new)
    if added:
        put(change, one, number, now, rules.ttl)
    matches = _matches(change, found[: rules.limit], record.row)
    if found and not added:
        best = found[0][0]
        if len(matches) > 1 and found[1][1] == found[0][1]:  # the first of several, by id
            first = change.number_of(matches[0].id)
            best = best if first is None else first
        change.saw(best, now)
    return Verdict(is_new, matches[0] if matches else None, matches, added)


def put(change: DiskChange, one: One, number: int | None, now: int, ttl: int | None) -> bool:
    """Add a document; `number` is that of the document with its id. Return False if unchanged."""
    record = one.record
    if number is not None:
        old = change.records([number])[0]
        if old.expires > now and _unchanged(old, record):
            change.saw(number, now)
            return False
        change.remove(np.array([number], np.uint64))
    expires = NEVER if ttl is None else now + ttl
    assert one.sets is not None
    change.put_one(record._replace(added=now, expires=expires), one.sets, one.place)
    return True


def _unchanged(old: Record, new: Record) -> bool:
    return is_same(old, new.words, new.metadata, new.content, new.features, new.row)


def _matches(view: DiskView, found: list[tuple[int, float]], row: bytes) -> list[Match]:
    if not found:
        return MatchList()
    own = int.from_bytes(row, "little")
    matches = []
    for number, similarity in found:
        id, other, about = view.summary_of(number)
        distance = (own ^ int.from_bytes(other, "little")).bit_count()
        matches.append(Match(id, distance, similarity, metadata_of(about)))
    return in_order_of_similarity(matches)

"""What a write does to an index: prepared outside of the transaction, answered after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import orjson

from neardup.errors import InputError
from neardup.index import Index, Verdict
from neardup.index.disk.damage import DamagedIndexError
from neardup.index.similar import Rules
from neardup.index.store import Change
from neardup.service.metrics import Counters
from neardup.service.problems import Problem, problem_of
from neardup.service.results import Row, stored_row, verdict_row

_MOST_KNOWN = 100
# (id, document, metadata), as a worker has read it
Given = Sequence[Any]
Work = Callable[[Change], Any]


class Prepared(NamedTuple):
    """What a `Write` does, before it is known for whom."""

    prepare: Callable[[Index], Any]
    finish: Callable[[Any], Any]
    alone: bool = False
    quick: bool = False


def check_one(given: Given, rules: dict[str, Any], counters: Counters) -> Prepared:
    """Check one document; the answer is JSON."""

    def finish(verdict: Verdict) -> bytes:
        _count([verdict], counters)
        return orjson.dumps(verdict_row(given[0], verdict))

    id, document, metadata = given
    return Prepared(
        lambda index: index.checking(id, document, metadata, rules_of(index, rules)),
        finish,
        quick=True,
    )


def rules_of(index: Index, rules: dict[str, Any]) -> Rules:
    """The rules of a check; nearly all requests have the same."""
    known: dict[Any, Rules] = _known_rules.setdefault(index, {})
    key = tuple(rules.values())
    found = known.get(key)
    if found is None:
        if len(known) >= _MOST_KNOWN:
            known.clear()
        found = known[key] = index.rules(**rules)
    return found


_known_rules: WeakKeyDictionary[Index, dict[Any, Rules]] = WeakKeyDictionary()


def check_many(given: Sequence[Given], rules: dict[str, Any], counters: Counters) -> Prepared:
    """Check many documents, in order and in one transaction; the answer is a row for each."""

    def prepare(index: Index) -> Work:
        checked = rules_of(index, rules)
        try:
            return index.checking_many(map(tuple, given), checked)
        except InputError as error:
            if isinstance(error, DamagedIndexError):
                raise
        return _each(given, lambda one: index.checking(one[0], one[1], one[2], checked))

    def finish(verdicts: Sequence[Verdict | Problem]) -> list[Row]:
        _count([one for one in verdicts if isinstance(one, Verdict)], counters)
        return [
            verdict_row(one[0], found) if isinstance(found, Verdict) else _faulty(one, found)
            for one, found in zip(given, verdicts, strict=True)
        ]

    return Prepared(prepare, finish)


def add_many(given: Sequence[Given], ttl: str | None, counters: Counters) -> Prepared:
    """Add documents in one transaction; the answer is a row for each."""

    def prepare(index: Index) -> Work:
        try:
            if len(given) == 1:
                return _each(given, lambda one: index.adding(*one, ttl=ttl))
            work = index.adding_many(map(tuple, given), ttl=ttl)
            return lambda change: (work(change), [None] * len(given))[1]
        except InputError as error:
            if isinstance(error, DamagedIndexError):
                raise
        return _each(given, lambda one: index.adding(*one, ttl=ttl))

    def finish(faults: Sequence[Problem | None]) -> list[Row]:
        counters.add("documents_added_total", sum(fault is None for fault in faults))
        return [
            stored_row(one[0]) if fault is None else _faulty(one, fault)
            for one, fault in zip(given, faults, strict=True)
        ]

    return Prepared(prepare, finish, quick=len(given) == 1)


def delete_many(ids: Sequence[Any], counters: Counters) -> Prepared:
    """Delete documents in one transaction; the answer is how many there were."""

    def finish(deleted: int) -> int:
        counters.add("documents_deleted_total", deleted)
        return deleted

    return Prepared(lambda index: index.deleting_many(ids), finish)


def settle() -> Prepared:
    """Merge small segments after many additions, so that queries look into fewer."""
    return Prepared(lambda index: lambda change: change.settle(), lambda done: None)


def compact() -> Prepared:
    """Merge all segments; the answer is the number of documents."""

    def work(index: Index) -> int:
        index.compact()
        return len(index)

    return Prepared(work, lambda documents: {"documents": documents}, alone=True)


def expire() -> Prepared:
    """Remove the documents whose time is over."""

    def work(index: Index) -> Row:
        return {"removed": index.expire(), "documents": len(index)}

    return Prepared(work, lambda done: done, alone=True)


def _each(given: Sequence[Given], prepare: Callable[[Given], Work]) -> Work:
    """Prepare documents one by one, so that an error concerns only its cause."""
    works: list[Work] = []
    for one in given:
        try:
            works.append(prepare(one))
        except InputError as error:
            works.append(_always(problem_of(error)))
    return lambda change: [work(change) for work in works]


def _always(result: Any) -> Work:
    return lambda change: result


def _faulty(given: Given, fault: Problem) -> Row:
    return {"id": given[0], "error": fault.row()}


def _count(verdicts: Sequence[Verdict], counters: Counters) -> None:
    counters.add("documents_checked_total", len(verdicts))
    counters.add("documents_added_total", sum(verdict.added for verdict in verdicts))
    counters.add("matches_total", sum(verdict.match is not None for verdict in verdicts))

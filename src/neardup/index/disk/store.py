"""The store of an index: documents in an environment, which is a folder or memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from neardup.errors import NeardupError
from neardup.features.idf import IdfTable
from neardup.index.disk import environment as environments
from neardup.index.disk.change import DiskChange
from neardup.index.disk.damage import DamageError, damage_told
from neardup.index.disk.environment import Environment
from neardup.index.disk.id_table import in_sorted
from neardup.index.disk.kinds import ByDistance, BySimilarity, kind_of
from neardup.index.disk.records import (
    Dead,
    KnownState,
    OpenSegments,
    State,
    Stored,
)
from neardup.index.disk.turns import Grouped, waited_too_long
from neardup.index.disk.view import DiskView, Tail
from neardup.index.entries import Entries
from neardup.index.match import Match
from neardup.index.settings import IndexSettings
from neardup.index.store import Change, Part, Store
from neardup.kernels.index_tables import MemoryTables, check_segment, segment_rows
from neardup.kernels.set_index import SetView

DEFAULT_TIMEOUT = 60.0
Found = TypeVar("Found")


class Transactions(Protocol):
    """Where the keys and values are: a folder, or memory."""

    path: Path
    map_number: int

    def reading(self) -> Any: ...
    def write(self, work: Callable[[Any], Found], timeout: float) -> Found: ...
    def used_bytes(self) -> int: ...
    def flush(self) -> None: ...


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A committed state that threads search without a lock: its bytes, its map, its tables."""

    data: bytes
    map_number: int
    state: State
    sets: SetView


class DiskStore(Store):
    """Documents in an environment, for any number of readers and one writer at a time."""

    def __init__(
        self,
        environment: Transactions,
        settings: IndexSettings,
        idf: IdfTable | None,
        *,
        threads: int,
        timeout: float = DEFAULT_TIMEOUT,
        writable: bool = True,
    ) -> None:
        self.environment = environment
        self._path = environment.path
        self.settings = settings
        self.idf = idf
        self._timeout = timeout
        self._writable = writable
        self._kind = kind_of(settings, threads)
        self._lock = threading.Lock()  # of what follows
        self._tail = Tail(self._kind)
        self._dead = Dead()
        self._opened = OpenSegments()
        self._known: KnownState | None = None  # what this process wrote last
        self._snapshot: Snapshot | None = None
        self._grouped = Grouped[Callable[[Change], Any], Any](
            self._change_all, lambda: waited_too_long(self._path, timeout)
        )

    @contextmanager
    def view(self) -> Iterator[DiskView]:
        """The state of the last commit, for one thread at a time, as threads share the tail."""
        with self._lock, damage_told(self._path), self.environment.reading() as transaction:
            stored = self._stored(transaction)
            state = stored.state()
            yield DiskView(self._kind, stored, state, *self._followed(stored, state))

    @contextmanager
    def searching(self) -> Iterator[tuple[DiskView, SetView]]:
        """The state of the last commit, for searches by similarity of many threads at a time."""
        with damage_told(self._path), ExitStack() as inside:
            stored = self._stored(inside.enter_context(self.environment.reading()))
            snapshot = self._snapshot
            if (
                snapshot is None
                or snapshot.data != stored.state_bytes()
                or snapshot.map_number != self.environment.map_number
            ):
                # Nobody waits for the lock inside a transaction: a writer that enlarges the map
                # waits until all transactions have ended.
                inside.close()
                with self._lock:
                    stored = self._stored(inside.enter_context(self.environment.reading()))
                    snapshot = self._taken(stored)
            yield DiskView(self._kind, stored, snapshot.state, self._tail, {}), snapshot.sets

    def nearest(self, row: bytes, max_distance: int, limit: int | None) -> list[Match]:
        with self.view() as view:
            return view.nearest(row, max_distance, limit)

    def change(self, work: Callable[[Change], Found]) -> Found:
        """Run `work` in one transaction."""
        self._require_writable()
        last: DiskChange | None = None
        publishing = ExitStack()

        def attempt(transaction: Any) -> Found:
            nonlocal last
            publishing.close()  # if the map was too small for an earlier attempt
            if last is not None:
                last.undo()
            stored = self._stored(transaction)
            state = stored.state()
            with self._lock:
                last = DiskChange(self._kind, stored, state, *self._followed(stored, state))
            try:
                found = work(last)
                last.finish()
            except BaseException:
                last.undo()
                raise
            # A reader that sees the commit must not read what the tail has already.
            publishing.enter_context(self._lock)
            return found

        with damage_told(self._path), publishing:
            try:
                found = self.environment.write(attempt, self._timeout)
            except BaseException:
                if last is not None:
                    last.undo()
                raise
            assert last is not None
            self._tail = last.new_tail() or self._tail
            self._known = last.written
            return found

    def change_together(self, work: Callable[[Change], Found]) -> Found:
        """Run `work` in a transaction, perhaps together with that of other threads."""
        found: Found = self._grouped.submit(work, self._timeout)
        return found

    def adds_quickly(self, count: int) -> bool:
        """An index by distance merges at every change, and one of another program is unknown."""
        known = self._known
        return (
            known is not None
            and isinstance(self._kind, BySimilarity)
            and isinstance(self.environment, Environment)
            and known[1].tail.documents + count < self._kind.tail_size
            and self.environment.is_free()
        )

    def _change_all(self, works: list[Callable[[Change], Any]]) -> list[Any]:
        return self.change(lambda change: [work(change) for work in works])

    def entries(self, *, whole: bool = True) -> Iterator[Entries]:
        """One transaction for each block, so that a slow reader delays no writer."""
        with self.view() as view:
            alive = view.numbers()
        first = 0
        while True:
            with self.view() as view:
                found = view.stored.block(first)
                if found is None:
                    return
                numbers = found.numbers()
                first = int(numbers[-1]) + 1
                some = found.entries(whole=whole).take(np.flatnonzero(in_sorted(numbers, alive)))
            if len(some):
                yield some

    def sizes(self) -> dict[str, int]:
        """Bytes of segments, id tables and everything."""
        with self.view() as view:
            segments = [view.stored.segment(segment.key) for segment in view.state.segments]
            return {
                "segments": sum(len(segment.data) for segment in segments),
                "ids": sum(segment.ids.nbytes for segment in segments),
                "file": self.environment.used_bytes(),
            }

    def parts(self) -> list[Part]:
        """The segments and the tail, with their documents and bytes."""
        with self.view() as view:
            found = [
                Part(segment.alive, segment.dead, len(view.stored.segment(segment.key).data))
                for segment in view.state.segments
            ]
            tail = view.state.tail
            return [*found, Part(tail.alive, tail.dead, 0)]

    def largest_buckets(self, count: int) -> list[int]:
        """Load all fingerprints into tables in memory, and count there."""
        kind = self._kind
        if not isinstance(kind, ByDistance):
            return []
        tables = MemoryTables(kind.masks, kind.bits)
        with self.view() as view:
            for segment in view.state.segments:
                numbers, rows = segment_rows(view.stored.segment(segment.key).data)
                alive = ~in_sorted(numbers, view.dead[segment.key])
                tables.add(numbers[alive], np.ascontiguousarray(rows[alive]))
            for number, row in view.tail.rows():
                tables.add(np.array([number], np.uint64), np.frombuffer(row, np.uint64)[None])
        return tables.largest_buckets(count)

    def verify(self) -> int:
        """Read everything and check all checksums; return the number of documents."""
        with damage_told(self._path):
            return self._verified()

    def _verified(self) -> int:
        with self.view() as view:
            for segment in view.state.segments:
                opened = view.stored.segment(segment.key)
                opened.ids.check()
                if isinstance(self._kind, ByDistance):
                    check_segment(opened.data)
                else:
                    view.stored.sets(segment).check()
            count = len(view)
        read = sum(map(len, self.entries()))
        if read != count:
            raise DamageError(f"{read:,} of {count:,} documents can be read")
        return count

    def flush(self) -> None:
        """Wait until all commits are on disk."""
        self.environment.flush()

    def close(self) -> None:
        """Close the files, unless another `Index` of this program uses them."""
        with self._lock:
            self._snapshot = None
            self._opened = OpenSegments()
            self._tail = Tail(self._kind)
            if isinstance(self.environment, Environment):
                environments.release(self.environment)

    def _require_writable(self) -> None:
        if not self._writable:
            raise NeardupError(
                f"{self._path} is of an earlier version, which can be read but not changed; "
                "convert it with neardup index upgrade"
            )

    def _stored(self, transaction: Any) -> Stored:
        return Stored(
            transaction,
            self._opened,
            known=self._known,
            row_words=self.settings.scheme.row_words,
        )

    def _followed(self, stored: Stored, state: State) -> tuple[Tail, dict[int, Any]]:
        """The tail and the dead of a state; the caller holds the lock."""
        self._opened.follow(state, self.environment.map_number)
        tail = self._tail
        if state.revision < tail.revision:  # of a reader that began before the last commit
            tail = Tail(self._kind, state.tail.first)
        tail.follow(stored, state)
        return tail, self._dead.follow(stored, state)

    def _taken(self, stored: Stored) -> Snapshot:
        """A snapshot of a state, remembered for the next reader; the caller holds the lock."""
        data, state = stored.state_bytes(), stored.state()
        view = DiskView(self._kind, stored, state, *self._followed(stored, state))
        taken = Snapshot(data, self.environment.map_number, state, view.sets())
        if view.tail is self._tail:
            self._snapshot = taken
        return taken

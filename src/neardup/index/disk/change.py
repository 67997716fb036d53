"""Changes of the index on disk: add, remove, and merge segments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from neardup.index.disk import block, id_table
from neardup.index.disk.kinds import ByDistance, Kind, TailOfRows, TailOfSets
from neardup.index.disk.records import (
    STATE_KEY,
    TAIL,
    KnownState,
    Segment,
    State,
    Stored,
    note,
    read_notes,
)
from neardup.index.disk.view import DiskView, Summary, Tail, together
from neardup.index.entries import Entries, Id, Record, id_hash, now_ms
from neardup.index.store import Change, Put, count_of, last_of_each, named_apart, unchanged
from neardup.kernels.index_tables import Matches
from neardup.kernels.set_index import NO_NUMBER, SetDocuments, SetView

# After settling, a segment is at least this many times as large as all later ones together.
_RATIO = 2
# While many documents are added, this many segments of one size are merged at a time.
_CROWD = 8


Numbers = NDArray[np.uint64]


def every_run(state: State, most: int) -> list[list[Segment]]:
    """Runs of segments to merge on compaction; skips a lone segment without removed ones."""
    runs: list[list[Segment]] = []
    room = 0
    for segment in state.segments:
        if not runs or segment.alive > room:
            runs.append([])
            room = most
        runs[-1].append(segment)
        room -= segment.alive
    return [run for run in runs if len(run) > 1 or run[0].held > run[0].alive]


def hollow(state: State) -> list[Segment]:
    """The first segment of which more than half was removed, if any."""
    return [part for part in state.segments if part.dead > part.documents // 2][:1]


def chosen_run(segments: Sequence[Segment], kind: Kind) -> list[Segment]:
    """The segments to merge: from the first less than twice as large as all later ones on."""
    run, total = 0, 0
    for place, segment in enumerate(reversed(segments), 1):
        if segment.alive + total > kind.most:
            break
        if place > 1 and segment.alive < _RATIO * total:
            run = place
        total += segment.alive
    return list(segments[len(segments) - run :])


def crowded_run(segments: Sequence[Segment], kind: Kind) -> list[Segment]:
    """The last segments, if `_CROWD` or more are of one size."""
    run, total = 0, 0
    tier = _tier(segments[-1], kind) if segments else 0
    for segment in reversed(segments):
        if _tier(segment, kind) > tier or segment.alive + total > kind.most:
            break
        run, total = run + 1, total + segment.alive
    return list(segments[-run:]) if run >= _CROWD else []


def _tier(segment: Segment, kind: Kind) -> int:
    tier, size = 0, segment.alive // kind.tail_size
    while size >= _CROWD:
        tier, size = tier + 1, size // _CROWD
    return tier


class DiskChange(DiskView, Change):
    """The next state; it takes effect when `finish` was called and the transaction commits.

    Documents that are put one by one are found at once. They wait in memory until a block of them
    is written, at the latest by `finish`.
    """

    def __init__(
        self, kind: Kind, stored: Stored, state: State, tail: Tail, dead: dict[int, Numbers]
    ) -> None:
        super().__init__(kind, stored, state, tail, dead)
        self.revision = state.revision + 1
        self._committed_tail = tail
        self._knows_tail = True  # whether it knows all that it puts into the tail
        self._waiting: dict[int, Record] = {}  # not yet written
        self._own: dict[int, Record] = {}  # put into the tail by this transaction
        self._own_ids: dict[Id, int] = {}
        self._own_rows: TailOfRows | None = None
        self._gone: set[int] = set()  # removed from the tail by this transaction
        self._view: SetView | None = None

    @property
    def tail_revision(self) -> int:
        return self.revision

    def number_of(self, id: Id) -> int | None:
        """Look among the documents of this transaction first."""
        own = self._own_ids.get(id)
        if own is not None:
            return own
        found = super().number_of(id)
        return None if found in self._gone else found

    def numbers_of(self, entries: Entries) -> NDArray[np.int64]:
        found = super().numbers_of(entries)
        if self._own_ids or self._gone:
            for place, id in enumerate(entries.ids.to_pylist()):
                own = self._own_ids.get(id)
                if own is not None:
                    found[place] = own
                elif int(found[place]) in self._gone:
                    found[place] = -1
        return found

    def summary_of(self, number: int) -> Summary:
        own = self._own.get(number)
        return super().summary_of(number) if own is None else (own.id, own.row, own.metadata)

    def records(self, numbers: Sequence[int]) -> list[Record]:
        """Documents that were put one by one may not be written yet."""
        if self._waiting and not self._waiting.keys().isdisjoint(numbers):
            self._write_waiting()
        return super().records(numbers)

    def find(
        self, rows: NDArray[np.uint64], *, max_distance: int, limit: int | None, threads: int
    ) -> Matches:
        """Leave out documents removed in this transaction, and look at those it added."""
        more = None if limit is None else limit + len(self._gone)
        found = super().find(rows, max_distance=max_distance, limit=more, threads=threads)
        if self._own_rows is not None:
            own = self._own_rows.query(rows, max_distance=max_distance, limit=more, threads=threads)
            found = together([found, own], None)
        return together([found.without(self._gone)], limit) if self._gone else found

    def search_one(
        self,
        documents: SetDocuments,
        place: int,
        *,
        threshold: float,
        limit: int | None,
        now: int,
        skip: int | None,
    ) -> list[tuple[int, float]]:
        """The documents most similar to one, except that of number `skip`."""
        if self._view is None:
            self._view = self.sets()
        number = NO_NUMBER if skip is None else skip
        return self._view.search_one(documents, place, threshold, limit, now, number)

    def put(self, entries: Entries) -> Put:
        """Add documents to the tail; a full tail becomes a segment."""
        self._write_waiting()
        given, new = len(entries), set[Id]()
        if entries.made:
            entries, new = named_apart(entries, self)
        entries = last_of_each(entries)
        replaced = 0 if entries.made else given - len(entries)
        old = self.numbers_of(entries)
        there = np.flatnonzero(old >= 0)
        if len(there):
            now, records = now_ms(), self.records(old[there].tolist())
            same = unchanged(entries, there, records)
            same &= np.array([record.expires > now for record in records])
            self.remove(old[there[~same]].astype(np.uint64))
            replaced += int((~same).sum())
            fresh = np.ones(len(entries), np.bool_)
            fresh[there[same]] = False
            entries = entries.take(np.flatnonzero(fresh))
        if len(entries):
            self._append(entries.stamped(now_ms()))
        return Put(len(entries), replaced, count_of(entries, new))

    def put_one(self, record: Record, sets: SetDocuments, place: int) -> None:
        """Add one document to an index of sets; its id must not be there."""
        number = self.state.next_number
        self.state = self.state._replace(next_number=number + 1)
        self._waiting[number] = record
        self._own[number] = record
        self._own_ids[record.id] = number
        if record.words:
            assert isinstance(self.tail.tables, TailOfSets)
            self.tail.tables.sets.add(sets, place, number, record.expires, self.revision)
        if self.state.tail.documents + len(self._waiting) >= self.kind.tail_size:
            self._write_waiting()
            self._pack_tail([])
            self._merge_crowds()

    def remove(self, numbers: Numbers) -> None:
        """Mark documents as removed; rewrite segments of which more than half is removed."""
        if not len(numbers):
            return
        self._write_waiting()
        self._view = None
        numbers = np.sort(numbers)
        parts = []
        for part in self.state.parts:
            edges = np.array([part.first, self._end(part)], np.uint64)
            begin, end = np.searchsorted(numbers, edges)
            if begin < end:
                part = note(self.stored, part, numbers[begin:end])
                if part.key == TAIL:
                    self._remove_from_tail(numbers[begin:end].tolist())
                else:
                    known = self.dead[part.key]
                    self.dead[part.key] = np.union1d(known, numbers[begin:end])
            parts.append(part)
        self.state = self.state._replace(segments=tuple(parts[:-1]), tail=parts[-1])
        for number in numbers.tolist():
            self.stored.delete_seen(number)
        while run := hollow(self.state):
            self.pack(run)

    def saw(self, number: int, now: int) -> None:
        """Count that a document was seen again."""
        times, _ = self.stored.seen(number) or (0, 0)
        self.stored.put_seen(number, times + 1, now)

    def undo(self) -> None:
        """After a failure: leave the tail of the last commit as it was."""
        if isinstance(self._committed_tail.tables, TailOfSets):
            self._committed_tail.tables.sets.undo(self.revision)

    def new_tail(self) -> Tail | None:
        """After the commit: the tail of the new state, or None if it must be read."""
        if not isinstance(self.tail.tables, TailOfSets):
            return None
        if not self._knows_tail:
            self.undo()
            return None
        for number in self._gone:
            self.tail.remove(number, self.revision)
        for number, record in self._own.items():
            if number not in self._gone:
                self.tail.append(number, record)
        self.tail.commit(self.state)
        return self.tail

    def settle(self) -> None:
        """Merge small segments into larger ones."""
        self.pack(chosen_run(self.state.segments, self.kind))

    def compact(self) -> None:
        """Merge all segments, and delete the records of removed documents."""
        self._write_waiting()
        self._pack_tail([])
        for run in every_run(self.state, self.kind.most):
            self.pack(run, rewrite=True)

    def finish(self) -> None:
        """Write the state under the next revision."""
        self._write_waiting()
        self.state = self.state._replace(revision=self.revision)
        data = self.state.to_bytes()
        self.stored.put_about(STATE_KEY, data)
        self.written: KnownState = (data, self.state)

    def pack(self, segments: Sequence[Segment], *, rewrite: bool = False) -> None:
        """Merge neighbouring segments into one, without removed documents."""
        if not segments:
            return
        self._view = None
        dead = np.sort(np.concatenate([self.dead[segment.key] for segment in segments]))
        ids = [self.stored.segment(segment.key).ids for segment in segments]
        for table in ids:
            table.check()
        hashes, numbers = id_table.merged(ids, dead)
        packed_ids = id_table.packed(hashes, numbers)
        tables = self.kind.merge(self.stored, segments, dead, np.sort(numbers))
        held = sum(segment.held for segment in segments)
        if held > len(numbers) and (rewrite or held > 2 * len(numbers)):
            self._rewrite(segments[0].first, segments[-1].last, np.sort(numbers))
            held = len(numbers)
        new = self._put_segment(
            segments[0].first, segments[-1].last, len(numbers), held, tables, packed_ids
        )
        for segment in segments:
            self.stored.delete_segment(segment.key)
            del self.dead[segment.key]
        keys = {segment.key for segment in segments}
        kept = [segment for segment in self.state.segments if segment.key not in keys]
        if len(numbers):
            kept.append(new)
        else:
            self.stored.delete_segment(new.key)
        self._set_segments(kept)

    def _append(self, entries: Entries) -> None:
        if self.state.tail.documents + len(entries) >= self.kind.tail_size:
            self._pack_tail([entries])
            self._merge_crowds()
            return
        numbers = self._new_numbers(len(entries))
        self._put_blocks(entries, numbers)
        self._added_to_tail(len(entries))
        self._knows_tail = False
        self._own_ids.update(zip(entries.ids.to_pylist(), numbers.tolist(), strict=True))
        if isinstance(self.kind, ByDistance):
            self._own_rows = self._own_rows or self.kind.tail()
            self._own_rows.add(numbers[entries.filled], entries.rows[entries.filled])

    def _write_waiting(self) -> None:
        """Write the documents that were put one by one, a block for each run of ids of a type."""
        for _, run in groupby(self._waiting.items(), key=_has_text_id):
            numbers, records = zip(*run, strict=True)
            self.stored.put_block(numbers[-1], block.packed_records(numbers, records), kept=True)
            self._added_to_tail(len(numbers))
        self._waiting = {}

    def _remove_from_tail(self, numbers: list[int]) -> None:
        self._gone.update(numbers)
        for number in numbers:
            own = self._own.get(number)
            if own is not None and self._own_ids.get(own.id) == number:
                del self._own_ids[own.id]
            if isinstance(self.tail.tables, TailOfSets):
                self.tail.tables.sets.remove(number, self.revision)

    def _begin_tail(self) -> None:
        """Put documents into an empty tail from here on."""
        self.tail = Tail(self.kind, self.state.tail.first)
        self._knows_tail = True
        self._waiting, self._own, self._own_ids, self._gone = {}, {}, {}, set()
        self._own_rows = self._view = None

    def _merge_crowds(self) -> None:
        while run := crowded_run(self.state.segments, self.kind):
            self.pack(run)

    def _added_to_tail(self, count: int) -> None:
        tail = self.state.tail
        self.state = self.state._replace(tail=tail._replace(documents=tail.documents + count))

    def _pack_tail(self, more: list[Entries]) -> None:
        """Pack the tail and the new documents after it into a segment."""
        records = self._tail_records()
        self.stored.delete_blocks(self.state.tail.first, self.state.next_number)
        self.stored.delete_notes(TAIL)
        for some in block.record_pieces(records):
            data = block.packed_records([number for number, _ in some], [each for _, each in some])
            self.stored.put_block(some[-1][0], data, kept=True)
        numbers = [np.array([number for number, _ in records], np.uint64)]
        hashes = [np.array([id_hash(record.id) for _, record in records], np.uint64)]
        for entries in more:
            numbers.append(self._new_numbers(len(entries)))
            hashes.append(entries.hashes)
            self._put_blocks(entries, numbers[-1])
        every = np.concatenate(numbers)
        if len(every):
            begins, ends = int(every[0]), int(every[-1])
            new = self._put_segment(
                begins,
                ends,
                len(every),
                len(every),
                self.kind.pack(self.stored, begins, ends),
                id_table.packed(np.concatenate(hashes), every),
            )
            self._set_segments([*self.state.segments, new])
        self.state = self.state._replace(tail=Segment(TAIL, self.state.next_number, 0, 0, 0))
        self._begin_tail()

    def _tail_records(self) -> list[tuple[int, Record]]:
        """The documents of the tail that are not removed, as stored in this transaction."""
        gone = set(read_notes(self.stored, TAIL).tolist())
        found = []
        for each in self.stored.blocks_from(self.state.tail.first):
            each.check()
            for place, number in enumerate(each.numbers().tolist()):
                if number not in gone:
                    found.append((number, each.record(place)))
        return found

    def _rewrite(self, first: int, last: int, alive: Numbers) -> None:
        """Rewrite the blocks of these numbers without the records of removed documents."""
        while first <= last:
            found = self.stored.block(first)
            if found is None or found.first > last:
                return
            numbers = found.numbers()
            first = int(numbers[-1]) + 1
            chosen = id_table.in_sorted(numbers, alive)
            if not chosen.all():
                fewer = found.entries().take(np.flatnonzero(chosen))
                self.stored.delete_blocks(int(numbers[0]), int(numbers[-1]))
                self._put_blocks(fewer, numbers[chosen], kept=False)

    def _put_blocks(self, entries: Entries, numbers: Numbers, *, kept: bool = True) -> None:
        for begin, end in block.pieces(entries):
            data = block.packed(numbers[begin:end], entries.slice(begin, end))
            self.stored.put_block(int(numbers[end - 1]), data, kept=kept)

    def _put_segment(
        self, first: int, last: int, documents: int, held: int, tables: bytes, ids: bytes
    ) -> Segment:
        key = self.state.next_key
        self.state = self.state._replace(next_key=key + 1)
        self.stored.put_segment(key, tables, ids)
        self.dead[key] = np.zeros(0, np.uint64)
        return Segment(key, first, last, documents, held)

    def _set_segments(self, segments: list[Segment]) -> None:
        ordered = tuple(sorted(segments, key=lambda segment: segment.first))
        self.state = self.state._replace(segments=ordered)

    def _new_numbers(self, count: int) -> Numbers:
        first = self.state.next_number
        self.state = self.state._replace(next_number=first + count)
        return np.arange(first, first + count, dtype=np.uint64)

    def _end(self, part: Segment) -> int:
        return self.state.next_number if part.key == TAIL else part.last + 1


def _has_text_id(item: tuple[int, Record]) -> bool:
    return isinstance(item[1].id, str)

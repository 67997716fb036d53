"""Changes of the index on disk: add, remove, and merge segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neardup.index.disk import block, id_table
from neardup.index.disk.records import STATE_KEY, TAIL, Segment, State, note, read_notes
from neardup.index.disk.view import DiskView
from neardup.index.entries import Entries, Id, joined
from neardup.index.store import Change, Put, count_of, last_of_each, named_apart, unchanged
from neardup.kernels.index_tables import merge_segments, pack_segment

# The tail has at most this many documents, which every open index holds in memory.
MOST_IN_TAIL = 1024
# An LMDB value is limited to 4 GB, and is held in memory while it is written.
_MOST_BYTES = 1_500_000_000
# After settling, a segment is at least this many times as large as all later ones together.
_RATIO = 2
# While many documents are added, this many segments of one size are merged at a time.
_CROWD = 8


Numbers = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Packing:
    """How segments are packed: masks and bits of the plan, and the maximum size of the tail."""

    masks: NDArray[np.uint64]
    bits: int
    tail: int

    @property
    def plan(self) -> tuple[NDArray[np.uint64], int]:
        """Masks and bits, the arguments of `pack_segment`."""
        return self.masks, self.bits

    @property
    def most(self) -> int:
        """Maximum number of documents in a segment."""
        tables, words = (int(size) for size in self.masks.shape)
        return _MOST_BYTES // (8 * words + 12 + 9 * tables)

    def everything(self, state: State) -> list[list[Segment]]:
        """Runs of segments to merge on compaction; skips a lone segment without removed ones."""
        runs: list[list[Segment]] = []
        room = 0
        for segment in state.segments:
            if segment.alive > room:
                runs.append([])
                room = self.most
            runs[-1].append(segment)
            room -= segment.alive
        return [run for run in runs if len(run) > 1 or run[0].held > run[0].alive]

    def hollow(self, state: State) -> list[Segment]:
        """The first segment of which more than half was removed, if any."""
        return [part for part in state.segments if part.dead > part.documents // 2][:1]


def chosen_run(segments: Sequence[Segment], packing: Packing) -> list[Segment]:
    """The segments to merge: from the first less than twice as large as all later ones on."""
    run, total = 0, 0
    for place, segment in enumerate(reversed(segments), 1):
        if segment.alive + total > packing.most:
            break
        if place > 1 and segment.alive < _RATIO * total:
            run = place
        total += segment.alive
    return list(segments[len(segments) - run :])


def crowded_run(segments: Sequence[Segment], packing: Packing) -> list[Segment]:
    """The last segments, if `_CROWD` or more are of one size."""
    run, total = 0, 0
    tier = _tier(segments[-1], packing) if segments else 0
    for segment in reversed(segments):
        if _tier(segment, packing) > tier or segment.alive + total > packing.most:
            break
        run, total = run + 1, total + segment.alive
    return list(segments[-run:]) if run >= _CROWD else []


def _tier(segment: Segment, packing: Packing) -> int:
    tier, size = 0, segment.alive // packing.tail
    while size >= _CROWD:
        tier, size = tier + 1, size // _CROWD
    return tier


class DiskChange(DiskView, Change):
    """The next state; it takes effect when `finish` was called and the transaction commits."""

    packing: Packing

    def put(self, entries: Entries) -> Put:
        """Add documents to the tail; a full tail becomes a segment."""
        given, new = len(entries), set[Id]()
        if entries.made:
            entries, new = named_apart(entries, self)
        entries = last_of_each(entries)
        replaced = 0 if entries.made else given - len(entries)
        old = self.numbers_of(entries)
        there = np.flatnonzero(old >= 0)
        if len(there):
            same = unchanged(entries, there, self.records(old[there].tolist()))
            self.remove(old[there[~same]].astype(np.uint64))
            replaced += int((~same).sum())
            fresh = np.ones(len(entries), np.bool_)
            fresh[there[same]] = False
            entries = entries.take(np.flatnonzero(fresh))
        if len(entries):
            self._append(entries)
        return Put(len(entries), replaced, count_of(entries, new))

    def remove(self, numbers: Numbers) -> None:
        """Mark documents as removed; rewrite segments of which more than half is removed."""
        if not len(numbers):
            return
        numbers = np.sort(numbers)
        parts = []
        for part in self.state.parts:
            edges = np.array([part.first, self._end(part)], np.uint64)
            begin, end = np.searchsorted(numbers, edges)
            if begin < end:
                part = note(self.stored, part, numbers[begin:end])
                if part.key != TAIL:
                    known = self.dead[part.key]
                    self.dead[part.key] = np.union1d(known, numbers[begin:end])
            parts.append(part)
        self.state = replace(self.state, segments=tuple(parts[:-1]), tail=parts[-1])
        self.pack(self.packing.hollow(self.state))

    def settle(self) -> None:
        """Merge small segments into larger ones."""
        self.pack(chosen_run(self.state.segments, self.packing))

    def compact(self) -> None:
        """Merge all segments, and delete the records of removed documents."""
        self._pack_tail([])
        for run in self.packing.everything(self.state):
            self.pack(run, rewrite=True)

    def finish(self) -> None:
        """Write the state under the next revision."""
        self.state = replace(self.state, revision=self.state.revision + 1)
        self.stored.put_about(STATE_KEY, self.state.to_bytes())

    def pack(self, segments: Sequence[Segment], *, rewrite: bool = False) -> None:
        """Merge neighbouring segments into one, without removed documents."""
        if not segments:
            return
        dead = np.concatenate([self.dead[segment.key] for segment in segments])
        buffers = [self.stored.segment(segment.key) for segment in segments]
        tables = merge_segments(buffers, np.sort(dead))
        ids = [self.stored.id_table(segment.key) for segment in segments]
        for table in ids:
            table.check()
        hashes, numbers = id_table.merged(ids, np.sort(dead))
        packed_ids = id_table.packed(hashes, numbers)
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
        if self.state.tail.documents + len(entries) >= self.packing.tail:
            self._pack_tail([entries])
            while run := crowded_run(self.state.segments, self.packing):
                self.pack(run)
            return
        self._put_blocks(entries, self._new_numbers(len(entries)))
        tail = self.state.tail
        self.state = replace(
            self.state, tail=replace(tail, documents=tail.documents + len(entries))
        )

    def _pack_tail(self, more: list[Entries]) -> None:
        """Pack the tail and the new documents after it into a segment."""
        first = self.state.tail.first
        parts, numbers = self._tail_entries()
        self.stored.delete_blocks(first, self.state.next_number)
        self.stored.delete_notes(TAIL)
        parts += more
        numbers += [self._new_numbers(len(entries)) for entries in more]
        every = np.concatenate([np.zeros(0, np.uint64), *numbers])
        begin = 0
        for run in joined(parts):
            self._put_blocks(run, every[begin : begin + len(run)])
            begin += len(run)
        if len(every):
            filled = np.concatenate([part.filled for part in parts])
            rows = np.concatenate([part.rows for part in parts])
            new = self._put_segment(
                int(every[0]),
                int(every[-1]),
                len(every),
                len(every),
                pack_segment(every[filled], np.ascontiguousarray(rows[filled]), *self.packing.plan),
                id_table.packed(np.concatenate([part.hashes for part in parts]), every),
            )
            self._set_segments([*self.state.segments, new])
        self.state = replace(self.state, tail=Segment(TAIL, self.state.next_number, 0, 0, 0))

    def _tail_entries(self) -> tuple[list[Entries], list[Numbers]]:
        """The documents of the tail that are not removed, as stored in this transaction."""
        gone = np.sort(read_notes(self.stored, TAIL))
        parts, numbers = [], []
        for found in self.stored.blocks_from(self.state.tail.first):
            alive = ~id_table.in_sorted(found.numbers(), gone)
            if alive.any():
                parts.append(found.entries().take(np.flatnonzero(alive)))
                numbers.append(found.numbers()[alive])
        return parts, numbers

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
                self._put_blocks(fewer, numbers[chosen])

    def _put_blocks(self, entries: Entries, numbers: Numbers) -> None:
        for begin, end in block.pieces(entries):
            data = block.packed(numbers[begin:end], entries.slice(begin, end))
            self.stored.put_block(int(numbers[end - 1]), data)

    def _put_segment(
        self, first: int, last: int, documents: int, held: int, tables: bytes, ids: bytes
    ) -> Segment:
        key = self.state.next_key
        self.state = replace(self.state, next_key=key + 1)
        self.stored.put_segment(key, tables, ids)
        self.dead[key] = np.zeros(0, np.uint64)
        return Segment(key, first, last, documents, held)

    def _set_segments(self, segments: list[Segment]) -> None:
        ordered = tuple(sorted(segments, key=lambda segment: segment.first))
        self.state = replace(self.state, segments=ordered)

    def _new_numbers(self, count: int) -> Numbers:
        first = self.state.next_number
        self.state = replace(self.state, next_number=first + count)
        return np.arange(first, first + count, dtype=np.uint64)

    def _end(self, part: Segment) -> int:
        return self.state.next_number if part.key == TAIL else part.last + 1

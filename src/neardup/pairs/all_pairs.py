"""All pairs, however many: listed by the star join, and kept in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import IO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.collected import Collected
from neardup.collection.settings import DedupSettings
from neardup.collection.source import DocumentProgress
from neardup.errors import NeardupError
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of
from neardup.pairs.by_features.exact_join import Measure
from neardup.pairs.by_features.star_search import StarSearch
from neardup.pairs.by_features.verify import Searched, TrueSimilarity
from neardup.pairs.choose import joins_features
from neardup.pairs.search import distances, search_both
from neardup.settings import CONTAINMENT, INCLUSION

Places = NDArray[np.int64]

PAIRS_AT_ONCE = 1 << 20
# From so many pairs on, a run should say beforehand how long listing them takes. 4.9 million pairs
# of pages of 600 features took 10.6 s on one thread, and 2 bytes each in the output; with the
# spool beside it (2.3), 8 is on the safe side.
MANY_PAIRS, PAIRS_A_SECOND, PAIR_BYTES = 10**8, 500_000, 8
# Documents between two reports of progress.
_AT_ONCE = 1 << 11
_SAMPLE = 2000
_SCHEMA = pa.schema(
    {"a": pa.uint32(), "b": pa.uint32(), "distance": pa.uint16(), "similarity": pa.float64()}
)


@dataclass(frozen=True, eq=False)
class PairBatch:
    """Pairs by their places, a < b."""

    a: Places
    b: Places
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.a)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64] | slice) -> PairBatch:
        """Some of the pairs."""
        return PairBatch(self.a[rows], self.b[rows], self.distance[rows], self.similarity[rows])

    def in_order(self) -> PairBatch:
        """The pairs by their first, then by their second document."""
        return self.take(np.lexsort((self.b, self.a)))


def joined(parts: Sequence[PairBatch]) -> PairBatch:
    """All pairs of the parts, one part after the other."""
    return PairBatch(
        np.concatenate([np.zeros(0, np.int64), *(part.a for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.b for part in parts)]),
        np.concatenate([np.zeros(0, np.uint16), *(part.distance for part in parts)]),
        np.concatenate([np.zeros(0), *(part.similarity for part in parts)]),
    )


@dataclass(eq=False)
class _Run:
    """Batches of descending `a` in a temporary file, which disappears with this object."""

    file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    writer: pa.RecordBatchFileWriter | None = None
    reader: pa.RecordBatchFileReader | None = None

    def add(self, pairs: PairBatch) -> None:
        if self.writer is None:
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            self.writer = pa.ipc.new_file(self.file, _SCHEMA, options=options)
        columns = (pairs.a.astype(np.uint32), pairs.b.astype(np.uint32))
        arrays = [column_of(one) for one in (*columns, pairs.distance, pairs.similarity)]
        self.writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA))

    def finish(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None
            self.file.flush()
            self.reader = pa.ipc.open_file(self.file)

    def ascending(self) -> Iterator[PairBatch]:
        if self.reader is None:
            return
        for number in reversed(range(self.reader.num_record_batches)):
            a, b, distance, similarity = (
                column.to_numpy() for column in self.reader.get_batch(number).columns
            )
            yield PairBatch(a.astype(np.int64), b.astype(np.int64), distance, similarity)


class PairSpool:
    """All pairs of a collection, or of two whose places run on, in a temporary file.

    Exact copies are not among them: pairs are between the first documents of two groups of copies.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def begin_run(self) -> None:
        """Further pairs may have any `a`, and within this run, `a` descends from call to call."""
        self._runs.append(_Run())

    def add(self, pairs: PairBatch) -> None:
        """More pairs, sorted by (a, b)."""
        if len(pairs):
            self._count += len(pairs)
            with _disk_errors():
                self._runs[-1].add(pairs)

    def finish(self) -> None:
        """No more pairs will come."""
        with _disk_errors():
            for run in self._runs:
                run.finish()

    def batches(self, most: int = PAIRS_AT_ONCE) -> Iterator[PairBatch]:
        """All pairs, sorted by (a, b), about `most` at a time or more."""
        streams = [run.ascending() for run in self._runs]
        heads = [next(stream, None) for stream in streams]
        while any(head is not None for head in heads):
            # Up to where the first of the heads ends, all pairs are at hand.
            bound = min(int(head.a[-1]) for head in heads if head is not None)
            ready = []
            for number, head in enumerate(heads):
                if head is None:
                    continue
                end = int(np.searchsorted(head.a, bound, side="right"))
                ready.append(head.take(slice(0, end)))
                rest = head.take(slice(end, None))
                heads[number] = rest if len(rest) else next(streams[number], None)
            merged = ready[0] if len(ready) == 1 else joined(ready).in_order()
            for start in range(0, len(merged), most):
                yield merged.take(slice(start, start + most))

    def close(self) -> None:
        """Give up the pairs."""
        for run in self._runs:
            run.reader = None
            run.file.close()
        self._runs.clear()


def find_all_pairs(
    left: Collected,
    right: Collected | None,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    *,
    floor: float,
    within: bool = True,
    order: Places | None = None,
    progress: DocumentProgress | None = None,
) -> PairSpool:
    """Every pair of similarity `floor` or more (hamming: up to that distance), without copies.

    With `right` its documents are second in pairs, at places that run on; without `within` there
    are no others. The join on features takes bounded memory for any number of pairs; those of a
    plan by name must fit the memory. The inclusion of a pair is that of the later document in the
    earlier one by keep order: `order`, in which copies stand together, or that of the input, for
    `left`, after all of `right`.
    """
    spool = PairSpool()
    if not joins_features(settings):
        lower = replace(settings, threshold=floor)
        known = search_both(left, right, fingerprinter, lower, within=within)
        spool.begin_run()
        spool.add(PairBatch(known.a, known.b, known.distance, known.similarity))
        spool.finish()
        return spool
    across = right is not None and not within
    sides = [left] if right is None else [left, right]
    search = StarSearch(
        sides,
        Measure(_searched(settings), floor),
        across=across,
        memory=settings.memory,
        threads=fingerprinter.threads,
    )
    distance_of = _distances(left, right, search.possible, fingerprinter, settings)
    included = None
    if settings.similarity == INCLUSION:
        turns = np.arange(len(left)) if order is None else turns_of(order)
        included = _Included(left, right, turns, floor, settings, fingerprinter.threads)
    # The last document first: each is looked up among those that come after it.
    own = search.possible[search.possible < len(left)][::-1]
    others = search.possible[search.possible >= len(left)]
    try:
        while len(own):
            spool.begin_run()
            others = others[_inserted(search, others) :]
            found = _Found(search, spool, distance_of, included, progress)
            done = 0 if across or len(others) else found.list_pairs(own, insert=True)
            found.list_pairs(own[done:], insert=False)
            own = own[done:]
            if across and not len(others):
                break
            search.join.clear()
        spool.finish()
    except BaseException:
        spool.close()
        raise
    return spool


def estimated_pairs(
    left: Collected,
    right: Collected | None,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    *,
    floor: float,
    within: bool = True,
) -> int:
    """About how many pairs `find_all_pairs` will find, from all pairs of a random sample."""
    across = right is not None and not within
    random = np.random.default_rng(0)
    sides = [left] if right is None else [left, right]
    chosen = [random.permutation(len(one.firsts))[:_SAMPLE] for one in sides]
    search = StarSearch(
        sides,
        Measure(_searched(settings), floor),
        across=False,
        memory=settings.memory,
        threads=fingerprinter.threads,
        only=[one.firsts[np.sort(some)] for one, some in zip(sides, chosen, strict=True)],
    )
    own = search.possible[search.possible < len(left)]
    others = search.possible[search.possible >= len(left)]
    _inserted(search, others)
    most, threads = 1 << 62, fingerprinter.threads
    _, a, b, _ = search.join.pairs(own, search=True, insert=not across, most=most, threads=threads)
    scale = [len(one.firsts) / max(1, len(some)) for one, some in zip(sides, chosen, strict=True)]
    between = int((b >= len(left)).sum())
    return round((len(a) - between) * scale[0] ** 2 + between * scale[0] * scale[-1])


def _searched(settings: DedupSettings) -> str:
    """The measure to search by: inclusion is at most the containment, whichever comes first."""
    return CONTAINMENT if settings.similarity == INCLUSION else settings.similarity


class _Included:
    """Of pairs by containment, those of which the later document is included in the earlier one."""

    def __init__(
        self,
        left: Collected,
        right: Collected | None,
        turns: Places,
        floor: float,
        settings: DedupSettings,
        threads: int,
    ) -> None:
        self._n, self._turns, self._floor = len(left), turns, floor
        memory = Budget(settings.memory).work // 4
        sides = [
            Searched(one.store, np.sort(one.firsts)) for one in (left, right) if one is not None
        ]
        self._own = TrueSimilarity(sides[:1], INCLUSION, memory, threads)
        self._others = TrueSimilarity(sides, INCLUSION, memory, threads) if sides[1:] else None

    def of(self, a: Places, b: Places) -> tuple[Places, Places, NDArray[np.float64]]:
        """The pairs that reach the floor, in the same order, and their inclusion."""
        found = np.empty(len(a))
        inside = b < self._n
        later = np.where(self._turns[a] > self._turns[np.where(inside, b, 0)], a, b)[inside]
        earlier = (a + b)[inside] - later
        by_first = np.argsort(later, kind="stable")
        own = np.empty(len(later))
        own[by_first] = self._own.of(later[by_first], earlier[by_first])
        found[inside] = own
        if self._others is not None:
            found[~inside] = self._others.of(a[~inside], b[~inside] - self._n)
        enough = found >= self._floor
        return a[enough], b[enough], found[enough]


def turns_of(order: Places) -> Places:
    """The turn of each document, by its place."""
    turns = np.empty_like(order)
    turns[order] = np.arange(len(order))
    return turns


def _inserted(search: StarSearch, places: Places) -> int:
    """Put documents into the index, until it is full; how many."""
    most, threads = 1 << 62, search.threads
    done, *_ = search.join.pairs(places, search=False, insert=True, most=most, threads=threads)
    return done


@dataclass(frozen=True, eq=False)
class _Found:
    """Lists pairs into the spool, with their distances."""

    search: StarSearch
    spool: PairSpool
    distance_of: Callable[[Places, Places], NDArray[np.uint16]]
    included: _Included | None
    progress: DocumentProgress | None

    def list_pairs(self, places: Places, *, insert: bool) -> int:
        """Look documents up, and with `insert` index them, until the index is full; how many."""
        done, join, threads = 0, self.search.join, self.search.threads
        while done < len(places):
            some = places[done : done + _AT_ONCE]
            now, a, b, similarity = join.pairs(
                some, search=True, insert=insert, most=PAIRS_AT_ONCE, threads=threads
            )
            if self.included is not None:
                a, b, similarity = self.included.of(a, b)
            self.spool.add(PairBatch(a, b, self.distance_of(a, b), similarity))
            done += now
            if self.progress is not None:
                self.progress(done, len(places))
            if insert and join.full:
                break
        return done


def _distances(
    left: Collected,
    right: Collected | None,
    possible: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> Callable[[Places, Places], NDArray[np.uint16]]:
    """The distances of pairs: of fingerprints made beforehand if they fit, else for each batch."""

    def rows_at(places: Places) -> NDArray[np.uint64]:
        rows = [left.rows_at(places[places < len(left)], fingerprinter)]
        if right is not None:
            rows.append(right.rows_at(places[places >= len(left)] - len(left), fingerprinter))
        return np.concatenate(rows)

    def of_batch(a: Places, b: Places) -> NDArray[np.uint16]:
        places, numbers = np.unique(np.concatenate((a, b)), return_inverse=True)
        rows = rows_at(places)
        return distances(rows[numbers[: len(a)]], rows[numbers[len(a) :]])

    if len(possible) * fingerprinter.scheme.bits // 8 > Budget(settings.memory).work // 4:
        return of_batch
    known = rows_at(possible)

    def of_known(a: Places, b: Places) -> NDArray[np.uint16]:
        return distances(known[np.searchsorted(possible, a)], known[np.searchsorted(possible, b)])

    return of_known


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NeardupError(
            f"{tempfile.gettempdir()} cannot take all pairs: {error.strerror or error}; set TMPDIR "
            "to a folder with more room, or use --pairs evidence"
        ) from error

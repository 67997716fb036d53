"""Documents: the whole input as one run of bounded batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import pyarrow as pa

from neardup.errors import InputError, SettingError
from neardup.read.batch import Batch, Rows
from neardup.read.columns import Wanted
from neardup.read.expand import expand
from neardup.read.formats import check_columns, read_source
from neardup.read.ids import IdLedger
from neardup.read.source import Source
from neardup.read.whole_files import read_whole_files

BATCH_BYTES = 4 << 20


class Documents:
    """Every document of files, folders, globs, URLs and standard input, batch by batch.

    `inputs`, one or several, are read in the order given, the files of a folder or a glob in
    sorted order.
    `text` and `id` name columns (by default `text`, and `id` where there is one); `id="row"`
    numbers the rows instead. `columns` are carried along, "all" carries every other one.
    Iterating again reads again, except from standard input.

    Raises `InputError` for whatever is missing or unreadable: at once where the names and the
    headers tell, else when it is met. Single bad rows are set aside in each batch's `rejected`.
    """

    def __init__(
        self,
        inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        text: str | None = None,
        id: str | None = None,
        columns: Sequence[str] | Literal["all"] = (),
        batch_bytes: int = BATCH_BYTES,
    ) -> None:
        if batch_bytes < 1:
            raise SettingError(f"batch_bytes={batch_bytes} must be at least 1")
        self._wanted = Wanted.of(text, id, columns)
        self._batch_bytes = batch_bytes
        named = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
        self._runs = _runs(expand(named), self._wanted)
        sizes = [run.size for run in self._runs]
        known = [size for size in sizes if size is not None]
        self.total_bytes: int | None = sum(known) if len(known) == len(sizes) else None
        self.done_bytes = 0
        self._began = False

    def __iter__(self) -> Iterator[Batch]:
        if self._began and any(run.is_standard_input for run in self._runs):
            raise InputError("standard input can be read only once; store it in a file first")
        self._began = True
        self.done_bytes = place = 0
        ledger = IdLedger()
        for run in self._runs:
            ledger.begin(run.names, place)
            before, seen = self.done_bytes, 0
            for rows in run.rows(self._wanted, self._batch_bytes):
                self.done_bytes = before + rows.bytes_done
                seen = rows.seen
                yield _batch(rows, place, ledger)
            place += seen
            if run.size is not None:
                self.done_bytes = before + run.size


@dataclass(frozen=True)
class _Run:
    """What one reader reads: a file with rows, or many files that are one row each."""

    sources: tuple[Source, ...]

    @property
    def is_standard_input(self) -> bool:
        return self.sources[0].is_standard_input

    @property
    def names(self) -> list[str]:
        return [source.name for source in self.sources]

    @property
    def size(self) -> int | None:
        sizes = [source.size for source in self.sources]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def rows(self, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
        if self.sources[0].format == "document":
            return read_whole_files(self.sources, wanted, batch_bytes)
        return read_source(self.sources[0], wanted, batch_bytes)


def _runs(sources: list[Source], wanted: Wanted) -> list[_Run]:
    for source in sources:
        if source.is_local and not source.fault:
            check_columns(source, wanted)
    runs: list[_Run] = []
    for whole, group in groupby(sources, key=lambda source: source.format == "document"):
        files = tuple(group)
        runs += [_Run(files)] if whole else [_Run((file,)) for file in files]
    return runs


def _batch(rows: Rows, first_place: int, ledger: IdLedger) -> Batch:
    places = rows.numbers + first_place
    columns = {"id": ledger.settle(rows, places), "text": rows.text, **rows.carried}
    return Batch(pa.RecordBatch.from_pydict(columns), places, rows.rejected)

"""Runs: the whole input, reader after reader, with its progress and its ids."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import InputError
from neardup.read.expand import expand
from neardup.read.ids import IdLedger
from neardup.read.source import Source

Inputs = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class CountedRows(Protocol):
    """What the rows of every reader tell: see `neardup.read.batch.Rows`."""

    @property
    def id(self) -> pa.Array | None: ...  # noqa: D102
    @property
    def numbers(self) -> npt.NDArray[np.int64]: ...  # noqa: D102
    @property
    def seen(self) -> int: ...  # noqa: D102
    @property
    def bytes_done(self) -> int: ...  # noqa: D102


R = TypeVar("R", bound=CountedRows)
MadeIds = Callable[[], pa.Array]


@dataclass(frozen=True)
class Run:
    """What one reader reads: a file with rows, or many files that are one row each."""

    sources: tuple[Source, ...]

    @property
    def is_whole_files(self) -> bool:
        """Whether each file is a row."""
        return self.sources[0].format == "document"

    @property
    def is_standard_input(self) -> bool:
        """Whether this can be read only once."""
        return self.sources[0].is_standard_input

    @property
    def names(self) -> list[str]:
        """The names that people see."""
        return [source.name for source in self.sources]

    @property
    def size(self) -> int | None:
        """The bytes of all files, None where they cannot be told."""
        sizes = [source.size for source in self.sources]
        return None if None in sizes else sum(size or 0 for size in sizes)


class InputRuns(Generic[R]):
    """All that the user named, read in order, with the progress in bytes.

    `check` is called at once with every file that is to be read, and refuses what cannot be.
    """

    def __init__(self, inputs: Inputs, check: Callable[[Source], None]) -> None:
        named = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
        sources = expand(named)
        for source in sources:
            if not source.fault:
                check(source)
        self._runs: list[Run] = []
        for whole, group in groupby(sources, key=lambda source: source.format == "document"):
            files = tuple(group)
            self._runs += [Run(files)] if whole else [Run((file,)) for file in files]
        sizes = [run.size for run in self._runs]
        known = [size for size in sizes if size is not None]
        self.total_bytes: int | None = sum(known) if len(known) == len(sizes) else None
        self.done_bytes = 0
        self._began = False

    @property
    def only_once(self) -> bool:
        """Whether the input can be read but once, because standard input is part of it."""
        return any(run.is_standard_input for run in self._runs)

    def settled(
        self, read: Callable[[Run], Iterator[R]]
    ) -> Iterator[tuple[R, pa.Array, npt.NDArray[np.int64], MadeIds | None]]:
        """Read every run with `read`: rows, their ids, and their places in the whole input.

        The last is what makes names of files and rows, for those that have no ids of their own.
        """
        if self._began and self.only_once:
            raise InputError("standard input can be read only once; store it in a file first")
        self._began = True
        self.done_bytes = place = 0
        ledger = IdLedger()
        for run in self._runs:
            ledger.begin(run.names, place)
            before, seen = self.done_bytes, 0
            for rows in read(run):
                self.done_bytes = before + rows.bytes_done
                seen = rows.seen
                places = rows.numbers + place
                ids = ledger.settle(rows.id, places)
                made = None
                if rows.id is None:
                    made = partial(_row_names, run, rows.numbers)
                elif run.is_whole_files:
                    made = partial(_as_they_are, ids)
                yield rows, ids, places, made
            place += seen
            if run.size is not None:
                self.done_bytes = before + run.size


def _row_names(run: Run, numbers: npt.NDArray[np.int64]) -> pa.Array:
    """File and row, as "a.jsonl:17"; of a file that is one row, its name."""
    files = [name if "://" in name else os.path.normpath(name) for name in run.names]
    if run.is_whole_files:
        return pa.array([files[number] for number in numbers.tolist()], pa.string())
    return pa.array([f"{files[0]}:{number}" for number in numbers.tolist()], pa.string())


def _as_they_are(ids: pa.Array) -> pa.Array:
    return ids

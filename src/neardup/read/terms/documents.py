"""Documents given as terms: the whole input as one sequence of bounded batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from neardup.errors import InputError, SettingError
from neardup.read.batch import Rejected
from neardup.read.choice import Choice
from neardup.read.columns import Wanted
from neardup.read.documents import InputRuns, Inputs, Run
from neardup.read.expand import Expansion
from neardup.read.foreign.copied import FOREIGN
from neardup.read.formats import Formats
from neardup.read.limits import MAX_DOCUMENT
from neardup.read.source import SNIFF, Source
from neardup.read.terms.batch import TermBatch, TermRows, no_terms
from neardup.read.terms.columns import TermColumns
from neardup.read.terms.json import read_term_json, read_term_lines

BATCH_TERMS = 1 << 20
_FORMATS: Formats[TermRows] = Formats(
    {"jsonl": read_term_lines, "json": read_term_json},
    TermColumns,
    refusal="is of a format that cannot hold terms; "
    "write them as JSON lines (.jsonl), JSON (.json), Parquet (.parquet) or Arrow (.arrow)",
)


class TermDocuments(InputRuns[TermRows]):
    """The documents of the inputs as terms, with weights if they have any, batch by batch.

    `inputs`, `id`, `max_document`, `read_as`, `suffix` and `again` are as in `Documents`. `terms`
    names the column (default: `terms`): a list of strings, optionally with a column `weights` of
    numbers, a map of strings to numbers, or a list of structs. Either all documents have weights or
    none has.
    A batch has up to about `batch_terms` terms; a document with more is a batch by itself.

    Missing or unreadable inputs raise `InputError`: immediately if names or headers show it, else
    during the iteration. Bad rows are listed in each batch's `rejected`.
    """

    def __init__(
        self,
        inputs: Inputs,
        *,
        terms: str | None = None,
        id: str | None = None,
        batch_terms: int = BATCH_TERMS,
        max_document: int = MAX_DOCUMENT,
        read_as: str | None = None,
        suffix: str | None = None,
        again: bool = False,
    ) -> None:
        if batch_terms < 1:
            raise SettingError(f"batch_terms={batch_terms} must be at least 1")
        self.wanted = replace(Wanted.of_terms(terms, id), max_document=max_document)
        self._batch_terms = batch_terms
        how = Expansion(Choice.of(read_as, suffix), only_data=True)
        super().__init__(inputs, self._check, how, again=again)

    def __iter__(self) -> Iterator[TermBatch]:
        like = _Alike()

        def read(run: Run) -> Iterator[TermRows]:
            for rows in self._rows(run):
                like.require(rows, run.names[0])
                yield rows

        for rows, ids, places, made, file in self.settled(read, _left_out):
            yield TermBatch(ids, rows.terms, rows.weights, places, rows.rejected, made, file)

    def _check(self, source: Source) -> None:
        if source.format != SNIFF:
            _FORMATS.require(source.format, source.name)
        if source.is_local and source.format in ("parquet", "arrow", *FOREIGN):
            _FORMATS.check_table(source, self.wanted)

    def _rows(self, run: Run) -> Iterator[TermRows]:
        if run.is_whole_files:
            return iter([_set_aside(run)])
        return _FORMATS.read(run.sources[0], self.wanted, self._batch_terms)


class _Alike:
    """Refuses an input in which one file has weights and another has none."""

    def __init__(self) -> None:
        self._first: tuple[bool, str] | None = None

    def require(self, rows: TermRows, file: str) -> None:
        if not len(rows.terms.flatten()):
            return
        has = rows.weights is not None
        if self._first is None:
            self._first = (has, file)
        elif self._first[0] != has:
            with_weights, without = (
                (self._first[1], file) if self._first[0] else (file, self._first[1])
            )
            raise InputError(
                f"{with_weights} has weights and {without} has none; "
                "give every document weights, or none"
            )


def _set_aside(run: Run) -> TermRows:
    """One rejected row for each file of a folder that cannot be read."""
    rejected = tuple(Rejected(source.name, None, source.fault) for source in run.sources)
    return _no_rows(rejected, len(rejected), run.size or 0)


def _left_out(file: Rejected, seen: int) -> TermRows:
    """No documents, but one rejected row with the reason why the file ends here."""
    return _no_rows((file,), seen + 1, 0)


def _no_rows(rejected: tuple[Rejected, ...], seen: int, bytes_done: int) -> TermRows:
    none = np.array([], np.int64)
    return TermRows(no_terms(), None, None, none, rejected, seen, bytes_done)

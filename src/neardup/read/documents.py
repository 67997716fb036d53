"""Documents: the whole input as one run of bounded batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import pyarrow as pa

from neardup.errors import InputError, SettingError
from neardup.read.batch import Batch, Rows
from neardup.read.column_types import field_texts
from neardup.read.columns import Wanted, carried_names
from neardup.read.formats import TEXT_FORMATS, check_columns
from neardup.read.runs import InputRuns, Inputs, Run
from neardup.read.source import Source
from neardup.read.whole_files import read_whole_files

BATCH_BYTES = 4 << 20


class Documents(InputRuns[Rows]):
    """Every document of files, folders, globs, URLs and standard input, batch by batch.

    `inputs`, one or several, are read in the order given, the files of a folder or a glob in
    sorted order.
    `text` and `id` name columns (by default `text`, and `id` where there is one); `id="row"`
    numbers the rows instead. `columns` are carried along, "all" carries every other one.
    `fields`, in place of `text`, names the columns of records: each batch has them as texts.
    Iterating again reads again, except from standard input.

    Raises `InputError` for whatever is missing or unreadable: at once where the names and the
    headers tell, else when it is met. Single bad rows are set aside in each batch's `rejected`.
    """

    def __init__(
        self,
        inputs: Inputs,
        *,
        text: str | None = None,
        id: str | None = None,
        columns: Sequence[str] | Literal["all"] = (),
        fields: Sequence[str] = (),
        batch_bytes: int = BATCH_BYTES,
    ) -> None:
        if batch_bytes < 1:
            raise SettingError(f"batch_bytes={batch_bytes} must be at least 1")
        wanted = Wanted.of_fields(fields, id, columns) if fields else Wanted.of(text, id, columns)
        self._wanted = wanted
        self._batch_bytes = batch_bytes
        super().__init__(inputs, self._check)

    def __iter__(self) -> Iterator[Batch]:
        for rows, ids, places, made in self.settled(self._rows):
            columns = {"id": ids, "text": rows.text, **rows.carried}
            fields = self._fields(rows) if self._wanted.fields else ()
            names = (None if rows.id is None else self._wanted.id, self._wanted.text)
            batch = pa.RecordBatch.from_pydict(columns)
            yield Batch(batch, places, rows.rejected, fields, names, made)

    def _fields(self, rows: Rows) -> tuple[pa.Array, ...]:
        others = self._wanted.fields[1:]
        renamed = carried_names("the input", others)
        columns = [rows.text, *(field_texts(rows.carried[renamed[name]]) for name in others)]
        for name, column in zip(self._wanted.fields, columns, strict=True):
            if column is None:
                raise InputError(f"the field {name!r} holds lists or objects, which are no text")
        return tuple(columns)

    def _check(self, source: Source) -> None:
        if source.is_local:
            check_columns(source, self._wanted)

    def _rows(self, run: Run) -> Iterator[Rows]:
        if run.is_whole_files:
            return read_whole_files(run.sources, self._wanted, self._batch_bytes)
        return TEXT_FORMATS.read(run.sources[0], self._wanted, self._batch_bytes)

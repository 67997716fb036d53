"""Documents: the whole input as one run of bounded batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Literal

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, SettingError
from neardup.read.batch import Batch, Rejected, Rows
from neardup.read.column_types import field_texts
from neardup.read.columns import Wanted, carried_names
from neardup.read.formats import TEXT_FORMATS, check_columns
from neardup.read.ids import IdKind
from neardup.read.limits import MAX_DOCUMENT
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
    A document of more than `max_document` bytes is set aside. Iterating again reads again; standard
    input and pipes only with `again`, for which they are copied to a temporary file.

    Raises `InputError` for whatever is missing or unreadable: at once where the names and the
    headers tell, else when it is met. Single bad rows are set aside in each batch's `rejected`, and
    so are the files of a folder that cannot be read; if nothing else is there, that is an error.
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
        max_document: int = MAX_DOCUMENT,
        again: bool = False,
    ) -> None:
        if batch_bytes < 1:
            raise SettingError(f"batch_bytes={batch_bytes} must be at least 1")
        wanted = Wanted.of_fields(fields, id, columns) if fields else Wanted.of(text, id, columns)
        self._wanted = replace(wanted, max_document=max_document)
        self._batch_bytes = batch_bytes
        super().__init__(inputs, self._check, again=again)

    def with_all_columns(self) -> Documents:
        """The same documents of the same files, with every other column carried along.

        Refuses a file whose header tells that this cannot be.
        """
        other = copy(self)
        other._wanted = self._wanted.with_all_columns()
        for source in (source for run in self._runs for source in run.sources):
            if source.format in ("csv", "tsv", "parquet", "arrow") and not source.fault:
                other._check(source)
        return other

    def __iter__(self) -> Iterator[Batch]:
        for rows, ids, places, made in self.settled(self._rows, _left_out):
            columns = {"id": ids, "text": rows.text, **rows.carried}
            fields = self._fields(rows) if self._wanted.fields else ()
            own_id = self._wanted.id if rows.id is not None or self._mixed_ids else None
            names = (own_id, self._wanted.text)
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

    def _check(self, source: Source) -> IdKind | None:
        return check_columns(source, self._wanted) if source.is_local else None

    def _rows(self, run: Run) -> Iterator[Rows]:
        if run.is_whole_files:
            return read_whole_files(run.sources, self._wanted, self._batch_bytes, self._why_unread)
        return TEXT_FORMATS.read(run.sources[0], self._wanted, self._batch_bytes)


def _left_out(file: Rejected, seen: int) -> Rows:
    """No rows, but the reason why a file ends here; it counts as one."""
    none = pa.nulls(0, pa.large_string())
    return Rows(none, None, {}, np.zeros(0, np.int64), (file,), seen + 1, 0)

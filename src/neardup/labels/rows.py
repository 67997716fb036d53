"""Rows of pairs: the columns of a file or table with `a` and `b`, as texts, some rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import MatchSubstringOptions, call_function

from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.read.columns import Wanted, field_texts
from neardup.read.documents import BATCH_BYTES
from neardup.read.expand import expand
from neardup.read.file_kinds import TEXT_FORMATS as UNSTRUCTURED
from neardup.read.formats import TEXT_FORMATS
from neardup.read.memory import table_of
from neardup.report.spreadsheet import as_written

A, B = "a", "b"
# A row has two texts, and each may be as long as the longest document.
_LONGEST_ROW = 1 << 31
_WANTED = replace(Wanted.of_fields((A,), "row", "all"), holds="pairs", max_document=_LONGEST_ROW)
TABLE = "the table"
_EXPECTED = "give the name of a file, or an Arrow, pandas, Polars or DuckDB table"


@dataclass(frozen=True, eq=False)
class PairRows:
    """Consecutive rows: the columns as texts, where a missing value is empty.

    `numbers` are those of the rows in the file, from 0.
    """

    source: str
    columns: dict[str, pa.Array]
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def where(self, row: int) -> str:
        """The name of a row in messages; people count rows from 1."""
        return f"{self.source}, row {int(self.numbers[row]) + 1:,}"


def is_path(given: Any) -> bool:
    """Whether labels were given as the name of a file or folder."""
    return isinstance(given, str | os.PathLike)


def pair_rows(given: Any) -> Iterator[PairRows]:
    """Read the pairs of a file, or of a table in memory."""
    return _file_rows(given) if is_path(given) else _table_rows(given)


def _file_rows(path: str | os.PathLike[str]) -> Iterator[PairRows]:
    for source in expand([path]):
        if source.format in UNSTRUCTURED or source.fault:
            raise InputError(
                f"{source.name} cannot hold labelled pairs; give a .parquet, .csv or .jsonl file "
                "with the columns 'a', 'b' and 'same'"
            )
        is_delimited = source.format in ("csv", "tsv")
        for rows in TEXT_FORMATS.read(source, _WANTED, BATCH_BYTES):
            for one in rows.rejected:
                place = "" if one.row is None else f", row {one.row + 1:,}"
                raise InputError(f"{one.file}{place}: {one.reason}; mend the row, or delete it")
            _require(source.name, (A, *rows.carried))
            columns = {A: rows.text, **rows.carried}
            yield _as_texts(source.name, columns, rows.numbers, is_delimited)


def _table_rows(held: Any) -> Iterator[PairRows]:
    table = table_of(held)
    if table is None:
        raise InputError(f"{type(held).__name__} is no table of labels; {_EXPECTED}")
    _require(TABLE, table.column_names)
    begins = 0
    for batch in table.to_batches():
        numbers = np.arange(begins, begins + len(batch))
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        yield _as_texts(TABLE, columns, numbers, False)
        begins += len(batch)


def _require(source: str, names: Sequence[str]) -> None:
    replace(_WANTED, columns=(B,)).require(source, names)


def _as_texts(
    source: str, columns: dict[str, pa.Array], numbers: NDArray[np.int64], is_delimited: bool
) -> PairRows:
    found: dict[str, pa.Array] = {}
    for name, column in columns.items():
        texts = field_texts(column)
        if texts is not None:  # nested values are nothing that labels need
            found[name] = _unescaped(texts) if is_delimited else texts
    for name in (A, B):
        if name not in found:
            raise InputError(f"{source}: the column {name!r} holds lists or objects, and no ids")
    return PairRows(source, found, numbers)


def _unescaped(texts: pa.Array) -> pa.Array:
    """Cells without the apostrophe that keeps spreadsheets from taking them for formulas."""
    quoted = call_function("starts_with", [texts], MatchSubstringOptions("'"))
    if not quoted.true_count:
        return texts
    return pa.array([as_written(text) for text in texts.to_pylist()], texts.type)

"""Rows and texts of the documents, read from Parquet one row group at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.comparison.records import fields_of_text
from neardup.deduplication.document_files import part_files
from neardup.errors import InputError
from neardup.kernels.columns import column_of, taken
from neardup.read.columns import field_texts
from neardup.runs.folder import RunFolder, open_parquet

_MOST_BYTES = 32 << 20

Places = NDArray[np.int64]


class RowGroups:
    """A Parquet file, or its parts, whose rows are read by number; some row groups are kept.

    Safe to use from many threads.
    """

    def __init__(self, path: Path, most_bytes: int = _MOST_BYTES) -> None:
        self._path = path
        self._files: list[pq.ParquetFile] = [open_parquet(part) for part in part_files(path)]
        self._groups = [
            (file, group) for file in self._files for group in range(file.metadata.num_row_groups)
        ]
        sizes = [file.metadata.row_group(group).num_rows for file, group in self._groups]
        self._begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
        self._most_bytes = most_bytes
        self._held: OrderedDict[tuple[int, tuple[str, ...]], pa.Table] = OrderedDict()
        self._bytes = 0
        self._mutex = threading.Lock()

    def __len__(self) -> int:
        return int(self._begins[-1])

    def close(self) -> None:
        with self._mutex:
            self._held.clear()
            for file in self._files:
                file.close(force=True)

    @property
    def schema(self) -> pa.Schema:
        """That of the first part with columns; parts with rows have the same."""
        return max((file.schema_arrow for file in self._files), key=lambda one: len(one) > 0)

    def rows(self, numbers: Places, columns: tuple[str, ...]) -> pa.Table:
        """The rows of these numbers, which ascend."""
        groups = np.searchsorted(self._begins, numbers, "right") - 1
        parts = []
        for group in np.unique(groups).tolist():
            some = numbers[groups == group] - self._begins[group]
            parts.append(taken(self._group(group, columns), column_of(some)))
        if not parts:
            return self.schema.empty_table().select(list(columns))
        return pa.concat_tables(parts)

    def batches(self, columns: tuple[str, ...]) -> Iterator[tuple[int, pa.Table]]:
        """All rows, a row group at a time, each with the number of its first row."""
        for group, begins in enumerate(self._begins[:-1].tolist()):
            yield begins, self._decoded(group, columns)

    def _group(self, group: int, columns: tuple[str, ...]) -> pa.Table:
        key = group, columns
        with self._mutex:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
                return found
            # Decoding goes on under the lock: a ParquetFile is for one thread at a time.
            found = self._decoded(group, columns)
            self._held[key] = found
            self._bytes += found.nbytes
            while self._bytes > self._most_bytes and len(self._held) > 1:
                _, dropped = self._held.popitem(last=False)
                self._bytes -= dropped.nbytes
            return found

    def _decoded(self, group: int, columns: tuple[str, ...]) -> pa.Table:
        file, number = self._groups[group]
        try:
            found: pa.Table = file.read_row_group(number, list(columns), use_threads=False)
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(
                f"{self._path} is damaged: {str(error).partition(chr(10))[0]}; restore it, or run "
                "neardup dedup again"
            ) from None
        return found


class StoredTexts:
    """The rows of kept, removed and other documents, and the texts that were compared.

    A document is named by its file ("kept", "removed" or "others") and its row in there.
    """

    def __init__(self, folder: RunFolder, files: dict[str, Path]) -> None:
        self._files = {kind: RowGroups(path) for kind, path in files.items()}
        self._text_columns = folder.text_columns
        self.fields = folder.text_columns if folder.has_fields else ()
        self.has_terms = folder.has_terms
        added = set(folder.summary.get("columns", {}).get("added", {}).values())
        self.columns = tuple(name for name in self._schema_names() if name not in added)

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _schema_names(self) -> list[str]:
        kept, removed = self._files["kept"].schema.names, self._files["removed"].schema.names
        # A file without rows may have no columns.
        return list(kept if len(self._files["kept"]) or not removed else removed)

    def file(self, kind: str) -> RowGroups:
        return self._files[kind]

    def rows_of(self, kind: str, number: int) -> dict[str, Any]:
        """All columns of a row."""
        file = self._files[kind]
        names = tuple(file.schema.names)
        found: dict[str, Any] = file.rows(np.array([number], np.int64), names).to_pylist()[0]
        return found

    def texts_of(self, kind: str, numbers: Iterable[int]) -> dict[int, str]:
        """The texts of rows, by their numbers."""
        wanted = np.array(sorted(set(numbers)), np.int64)
        if not len(wanted):
            return {}
        rows = self._files[kind].rows(wanted, self.compared(kind))
        return dict(zip(wanted.tolist(), self.texts_in(kind, rows), strict=True))

    def records_of(self, kind: str, numbers: Iterable[int]) -> dict[int, dict[str, str]]:
        """The fields of records as they were compared, by the numbers of their rows."""
        if kind == "others":
            texts = self.texts_of(kind, numbers)
            return {row: fields_of_text(text, self.fields) for row, text in texts.items()}
        wanted = np.array(sorted(set(numbers)), np.int64)
        rows = self._files[kind].rows(wanted, self.compared(kind))
        parts = [_column_texts(rows, name) for name in self.fields]
        return {
            row: dict(zip(self.fields, values, strict=True))
            for row, values in zip(wanted.tolist(), zip(*parts, strict=True), strict=True)
        }

    def compared(self, kind: str) -> tuple[str, ...]:
        """The columns of a file that make the text."""
        if kind == "others":
            return ("text",)
        names = self._files[kind].schema.names
        return tuple(name for name in self._text_columns if name in names)

    def column_batches(self, kind: str) -> Iterator[list[pa.Array]]:
        """The compared columns of all rows of a file as texts, a row group at a time."""
        names = self.compared(kind)
        for _, rows in self._files[kind].batches(names):
            if len(rows):
                yield [_text_array(rows, name) for name in self._text_columns]

    def texts_in(self, kind: str, rows: pa.Table) -> list[str]:
        """The texts of some rows of a file."""
        if kind == "others":
            return [text or "" for text in rows["text"].to_pylist()]
        return texts_of_rows(rows, self._text_columns, self.fields, self.has_terms)


def texts_of_rows(
    rows: pa.Table, text_columns: tuple[str, ...], fields: tuple[str, ...], has_terms: bool
) -> list[str]:
    """The texts as they were compared: a record has a line for each field, terms have commas."""
    if has_terms:
        lists = rows[text_columns[0]].to_pylist()
        return [", ".join(terms or ()) if not isinstance(terms, str) else terms for terms in lists]
    if not fields:
        return _column_texts(rows, text_columns[0])
    parts = [_column_texts(rows, name) for name in fields]
    return [
        "\n".join(f"{name}: {text}" for name, text in zip(fields, row, strict=True))
        for row in zip(*parts, strict=True)
    ]


def _text_array(rows: pa.Table, name: str) -> pa.Array:
    """A column as texts, without a Python object for each."""
    chunks = rows[name].chunks if name in rows.schema.names else []
    found = [field_texts(chunk) for chunk in chunks]
    texts = [one.cast(pa.large_string()) for one in found if one is not None]
    if not texts or len(texts) < len(chunks):
        return pa.array(_column_texts(rows, name), pa.large_string())
    return pa.concat_arrays(texts)


def _column_texts(rows: pa.Table, name: str) -> list[str]:
    if name not in rows.schema.names:
        return [""] * len(rows)
    column = rows[name]
    parts: list[str] = []
    for chunk in column.chunks:
        texts = field_texts(chunk)
        if texts is None:
            parts += [str(value) for value in chunk.to_pylist()]
        else:
            parts += _decoded(texts)
    return parts


def _decoded(texts: pa.Array) -> list[str]:
    try:
        return list(texts.to_pylist())
    except UnicodeDecodeError:  # text that came from bytes
        kind = pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary()
        return [value.decode("utf-8", "replace") for value in texts.view(kind).to_pylist()]

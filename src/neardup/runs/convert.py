"""Rows in JSON lines or CSV as Parquet, so that any of them can be read by its number.

All values are texts then: texts as they are, others as JSON has them.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InputError
from neardup.read.delimited import read_records
from neardup.report.spreadsheet import as_written
from neardup.runs.folder import RunFolder

_GROUP_BYTES = 1 << 21
_LONGEST = 1 << 31


def converted_rows(folder: RunFolder, kind: str, path: Path) -> None:
    """Write the rows of `kept` or `removed` into a Parquet file."""
    source = f"{kind}.{folder.format}"
    try:
        names = list(dict.fromkeys(name for row in _rows(folder, source) for name in row))
        lists = set(folder.text_columns[:1]) if folder.has_terms else set()
        schema = pa.schema(
            [(name, _LIST if name in lists else pa.large_string()) for name in names]
        )
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for some in _groups(_rows(folder, source)):
                columns = [
                    pa.array([_value(row.get(name), name in lists) for row in some], kind_of.type)
                    for name, kind_of in zip(names, schema, strict=True)
                ]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    except (OSError, ValueError) as error:
        raise folder.damaged(source, str(error).partition("\n")[0]) from None


_LIST = pa.large_list(pa.large_string())


def _rows(folder: RunFolder, name: str) -> Iterator[dict[str, Any]]:
    rows = _json_rows if folder.format == "jsonl" else _csv_rows
    for part in folder.parts(name):
        yield from rows(part)


def _groups(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Rows until they have about the size of a row group."""
    some: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        some.append(row)
        size += sum(len(value) if isinstance(value, str) else 16 for value in row.values())
        if size >= _GROUP_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _value(value: Any, is_list: bool) -> Any:
    if is_list:
        terms = ast.literal_eval(value) if isinstance(value, str) else value
        return [str(term) for term in terms or ()]
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            yield orjson.loads(line)


def _csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        records = read_records(io.TextIOWrapper(file, "utf-8", newline=""), ",", _LONGEST)
        header = next(records, None)
        if header is None:
            return
        names = [as_written(name) for name in header.fields]
        for record in records:
            if record.fault is not None:
                raise InputError(f"{path}, line {record.line}: {record.fault}")
            yield dict(zip(names, map(as_written, record.fields), strict=False))

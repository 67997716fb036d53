"""CSV and TSV: a header, then records whose fields are all strings."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from neardup.read.batch import Rows
from neardup.read.columns import Wanted, carried_names
from neardup.read.gather import Gatherer
from neardup.read.stream import ByteStream
from neardup.read.utf8 import invalid_utf8

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_LARGEST_FIELD = 2**31 - 1


def check_header(stream: ByteStream, format: str, file: str, wanted: Wanted) -> None:
    """Refuse a file whose first record lacks a column; an empty file has no rows to lack any."""
    header = next(_records(stream, _DELIMITERS[format], file), None)
    if header is not None:
        wanted.require_once(file, header.fields)


def read_csv(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read fields between commas."""
    return _read(stream, _DELIMITERS["csv"], file, wanted, batch_bytes)


def read_tsv(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read fields between tabs, quoted like those of CSV."""
    return _read(stream, _DELIMITERS["tsv"], file, wanted, batch_bytes)


def _read(
    stream: ByteStream, delimiter: str, file: str, wanted: Wanted, batch_bytes: int
) -> Iterator[Rows]:
    records = _records(stream, delimiter, file)
    header = next(records, None)
    if header is None:
        return
    wanted.require_once(file, header.fields)
    fields = _Fields.of(file, header.fields, wanted)
    gathered = Gatherer(file, batch_bytes)
    for record in records:
        fault = record.fault or fields.fault(record.fields)
        if fault:
            gathered.reject(f"line {record.line}: {fault}")
            continue
        text = record.fields[fields.text]
        size = len(text) if text.isascii() else len(text.encode())
        if gathered.full(size):
            yield gathered.take(fields.carried_columns, stream.consumed)
        gathered.add(text, size)
        if fields.id is not None:
            gathered.ids.append(record.fields[fields.id])
        if fields.carried:
            gathered.extras.append(record.fields)
    if gathered:
        yield gathered.take(fields.carried_columns, stream.consumed)


@dataclass(frozen=True)
class _Record:
    line: int
    fields: list[str]
    fault: str | None = None


def _records(stream: ByteStream, delimiter: str, file: str) -> Iterator[_Record]:
    stream.begin_text(file)
    # Bytes that are no UTF-8 pass as lone surrogates, so that only their row is lost.
    text = io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline="")
    reader = csv.reader(text, delimiter=delimiter)
    while True:
        line = reader.line_num + 1
        # The limit is one for the whole process: raised only while a record of ours is read.
        limit = csv.field_size_limit(_LARGEST_FIELD)
        try:
            fields = next(reader, None)
        except csv.Error as error:
            yield _Record(line, [], f"broken record, {error}")
            continue
        finally:
            csv.field_size_limit(limit)
        if fields is None:
            return
        if fields:
            yield _Record(line, fields)


@dataclass(frozen=True)
class _Fields:
    """Where in a record the wanted columns stand."""

    header: list[str]
    text: int
    id: int | None
    carried: dict[str, int]

    @classmethod
    def of(cls, file: str, header: list[str], wanted: Wanted) -> _Fields:
        renamed = carried_names(file, wanted.carried(header))
        return cls(
            header,
            header.index(wanted.text),
            header.index(wanted.id) if wanted.id in header else None,
            {new: header.index(name) for name, new in renamed.items()},
        )

    def fault(self, fields: list[str]) -> str | None:
        if len(fields) != len(self.header):
            return f"fields: {len(fields)}, where the header has {len(self.header)}"
        if self.id is not None and not fields[self.id]:
            return f"{self.header[self.id]!r} is empty"
        for place in (self.text, *(() if self.id is None else (self.id,)), *self.carried.values()):
            if not fields[place].isascii():
                fault = invalid_utf8(fields[place].encode("utf-8", "surrogateescape"))
                if fault:
                    return f"{self.header[place]!r}: {fault}"
        return None

    def carried_columns(self, records: list[list[str]]) -> dict[str, pa.Array]:
        return {
            name: pa.array([fields[place] for fields in records], pa.large_string())
            for name, place in self.carried.items()
        }

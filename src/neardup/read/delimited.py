"""CSV and TSV: a header, then records whose fields are all strings."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from neardup.errors import UnreadableError
from neardup.read.batch import Rows
from neardup.read.columns import Wanted, carried_names
from neardup.read.delimited_records import Record, read_records
from neardup.read.gather import Gatherer
from neardup.read.ids import IdKind
from neardup.read.limits import quoted, too_long
from neardup.read.stream import ByteStream
from neardup.read.utf8 import invalid_utf8

_DELIMITERS = {"csv": ",", "tsv": "\t"}


def check_header(stream: ByteStream, format: str, file: str, wanted: Wanted) -> IdKind | None:
    """Refuse a file whose first record lacks a column; else say whether it has ids.

    An empty file has no rows to lack any.
    """
    header = next(_records(stream, _DELIMITERS[format], wanted.max_document), None)
    if header is None:
        return None
    _require_header(file, header)
    wanted.require_once(file, header.fields)
    return "string" if wanted.id in header.fields else "none"


def read_csv(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read fields between commas."""
    return _read(stream, _DELIMITERS["csv"], file, wanted, batch_bytes)


def read_tsv(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read fields between tabs, quoted like those of CSV."""
    return _read(stream, _DELIMITERS["tsv"], file, wanted, batch_bytes)


def _read(
    stream: ByteStream, delimiter: str, file: str, wanted: Wanted, batch_bytes: int
) -> Iterator[Rows]:
    stream.begin_text(file)
    records = _records(stream, delimiter, wanted.max_document)
    header = next(records, None)
    if header is None:
        return
    _require_header(file, header)
    wanted.require_once(file, header.fields)
    fields = _Fields.of(file, header.fields, wanted)
    gathered = Gatherer(file, batch_bytes)
    for record in records:
        fault = record.fault or fields.fault(record.fields)
        text = "" if fault else record.fields[fields.text]
        size = len(text) if text.isascii() else len(text.encode())
        if size > wanted.max_document:
            fault = too_long(size, wanted.max_document)
        if gathered.full(size):
            yield gathered.take(fields.carried_columns, stream.consumed)
        if fault:
            gathered.reject(f"line {record.line}: {fault}")
            continue
        gathered.add(text, size)
        if fields.id is not None:
            gathered.ids.append(record.fields[fields.id])
        if fields.carried:
            gathered.extras.append(record.fields)
    if gathered:
        yield gathered.take(fields.carried_columns, stream.consumed)


def _require_header(file: str, header: Record) -> None:
    if header.fault:
        raise UnreadableError(f"{file} has no header that can be read: {header.fault}")


def _records(stream: ByteStream, delimiter: str, longest: int) -> Iterator[Record]:
    # Bytes that are no UTF-8 pass as lone surrogates, so that only their row is lost.
    text = io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline="")
    return read_records(text, delimiter, longest)


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
        places = {name: place for place, name in enumerate(header)}
        return cls(
            header,
            places[wanted.text],
            None if wanted.id is None else places.get(wanted.id),
            {new: places[name] for name, new in renamed.items()},
        )

    def fault(self, fields: list[str]) -> str | None:
        if len(fields) != len(self.header):
            return f"fields: {len(fields)}, where the header has {len(self.header)}"
        if self.id is not None and not fields[self.id]:
            return f"{quoted(self.header[self.id])} is empty"
        # All fields are judged, wanted or not, so that every reading rejects the same rows.
        for place, value in enumerate(fields):
            if not value.isascii():
                fault = invalid_utf8(value.encode("utf-8", "surrogateescape"))
                if fault:
                    return f"{quoted(self.header[place])}: {fault}"
        return None

    def carried_columns(self, records: list[list[str]]) -> dict[str, pa.Array]:
        return {
            name: pa.array([fields[place] for fields in records], pa.large_string())
            for name, place in self.carried.items()
        }

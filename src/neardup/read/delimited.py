"""CSV and TSV: a header, records of any length, and fields that are strings."""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

import pyarrow as pa

from neardup.errors import UnreadableError
from neardup.read.batch import Gatherer, Rows
from neardup.read.columns import Wanted, carried_names
from neardup.read.ids import IdKind
from neardup.read.limits import invalid_utf8, quoted, too_long
from neardup.read.source import ByteStream

# Longer records are parsed here, because the csv module needs several times their size, and would
# read the rest of a file into memory if a quote is not closed.
_LONG = 1 << 20
_MOST_FIELDS = 1 << 20
_LINE_ENDS = ("\n", "\r")


_DELIMITERS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True)
class Record:
    """The fields of a record or its fault, and the number of its first line, from 1."""

    line: int
    fields: list[str]
    fault: str | None = None


def read_records(text: TextIO, delimiter: str, longest: int, long: int = _LONG) -> Iterator[Record]:
    """Read records, quoted as in the csv module's default dialect; blank lines are skipped.

    A record of more than `longest` characters is reported by its fault. Records from `long`
    characters up are parsed by `LongRecord` instead of the csv module.
    """
    lines = _RecordLines(text, long)
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        line = lines.begin()
        # The limit is global to the process, so it is raised only while a record is read.
        limit = csv.field_size_limit(2 * long)
        try:
            fields = next(reader, None)
        except csv.Error as error:
            yield Record(line, [], f"broken record, {error}")
            continue
        except _LongRecordError:
            fields = None
        finally:
            csv.field_size_limit(limit)
        if lines.is_long:
            found = LongRecord(delimiter, longest)
            for piece in lines.rest():
                if found.feed(piece):
                    break
            record = found.record(line)
            if record.fault or record.fields:
                yield record
        elif fields is None:
            return
        elif fields:
            yield Record(line, fields)


class _LongRecordError(Exception):
    """A record is too long for the csv module."""


class _RecordLines:
    """Iterates over lines, and keeps those of the current record until it is a long one."""

    def __init__(self, text: TextIO, long: int) -> None:
        self._text, self._long = text, long
        self._lines = 0
        self.begin()

    def begin(self) -> int:
        """Start a record, and return the number of its first line."""
        self._pieces: list[str] = []
        self._size = 0
        self.is_long = False
        return self._lines + 1

    def __iter__(self) -> _RecordLines:
        return self

    def __next__(self) -> str:
        piece = self._read()
        if not piece:
            raise StopIteration
        self._pieces.append(piece)
        self._size += len(piece)
        # A piece of this size may be part of a line.
        if self._size >= self._long:
            self.is_long = True
            raise _LongRecordError
        return piece

    def rest(self) -> Iterator[str]:
        """All pieces of the record so far, then the pieces that follow."""
        pieces, self._pieces = deque(self._pieces), []
        while pieces:
            yield pieces.popleft()
        while piece := self._read():
            yield piece

    def _read(self) -> str:
        piece = self._text.readline(self._long)
        self._lines += piece.endswith(_LINE_ENDS)
        return piece


class LongRecord:
    """Parses a record from pieces, each a line or part of one."""

    def __init__(self, delimiter: str, longest: int) -> None:
        self._delimiter, self._longest = delimiter, longest
        self._fields: list[str] = []
        self._parts: list[str] = []
        self._size = 0
        self._state = "start"
        self._is_blank = True

    def feed(self, piece: str) -> bool:
        """Parse the next piece; returns whether the record is complete."""
        self._size += len(piece)
        if self._size > self._longest:
            self._fields, self._parts = [], []
        body = piece.rstrip("\r\n") if piece.endswith(_LINE_ENDS) else piece
        self._is_blank = self._is_blank and not body
        self._take(body)
        if len(body) == len(piece):
            return False
        if self._state != "quoted":
            return True
        self._add(piece[len(body) :])
        return False

    def record(self, line: int) -> Record:
        """The parsed record, which starts on this line."""
        if self._is_blank:
            return Record(line, [])
        self._end_field()
        if self._size > self._longest:
            fault = too_long(None, self._longest)
            hint = "; is a quote missing?" if self._state == "quoted" else ""
            return Record(line, [], f"{fault}{hint}")
        if len(self._fields) > _MOST_FIELDS:
            return Record(line, [], f"more than {_MOST_FIELDS:,} fields")
        return Record(line, self._fields)

    def _take(self, body: str) -> None:
        place = 0
        while place < len(body):
            if self._state == "quoted":
                end = body.find('"', place)
                self._add(body[place:] if end < 0 else body[place:end])
                if end < 0:
                    return
                self._state, place = "closing", end + 1
            elif self._state == "plain":
                end = body.find(self._delimiter, place)
                self._add(body[place:] if end < 0 else body[place:end])
                if end < 0:
                    return
                self._end_field()
                place = end + 1
            elif body[place] == self._delimiter:
                self._end_field()
                place += 1
            elif body[place] == '"':
                # A quote at the start opens the field; two inside a quoted field are one quote.
                if self._state == "closing":
                    self._add('"')
                self._state = "quoted"
                place += 1
            else:
                self._state = "plain"

    def _add(self, part: str) -> None:
        if part and self._size <= self._longest:
            self._parts.append(part)

    def _end_field(self) -> None:
        if self._size <= self._longest and len(self._fields) <= _MOST_FIELDS:
            self._fields.append("".join(self._parts))
        self._parts = []
        if self._state != "quoted":
            self._state = "start"


def check_header(stream: ByteStream, format: str, file: str, wanted: Wanted) -> IdKind | None:
    """Refuse a file whose header lacks a column; returns the kind of its ids.

    An empty file is accepted.
    """
    header = next(_records(stream, _DELIMITERS[format], wanted.max_document), None)
    if header is None:
        return None
    _require_header(file, header)
    wanted.require_once(file, header.fields)
    return "string" if wanted.id in header.fields else "none"


def read_csv(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read comma-separated fields."""
    return _read(stream, _DELIMITERS["csv"], file, wanted, batch_bytes)


def read_tsv(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read tab-separated fields, quoted as in CSV."""
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
        raise UnreadableError(f"{file} has an unreadable header: {header.fault}")


def _records(stream: ByteStream, delimiter: str, longest: int) -> Iterator[Record]:
    # Invalid UTF-8 becomes lone surrogates, so that only its row is rejected.
    text = io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline="")
    return read_records(text, delimiter, longest)


@dataclass(frozen=True)
class _Fields:
    """The positions of the needed columns in a record."""

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
        # All fields are checked, needed or not, so that every pass rejects the same rows.
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

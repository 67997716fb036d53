"""Delimited records: lines of CSV and TSV become fields, however long a record is."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from neardup.read.limits import too_long

# A longer record is taken apart here. The csv module takes several times its size, and would take
# the rest of a file into memory where a quote is not closed.
_LONG = 1 << 20
_MOST_FIELDS = 1 << 20
_LINE_ENDS = ("\n", "\r")


@dataclass(frozen=True)
class Record:
    """The fields of a record, or what is wrong with it, and the line where it begins, from 1."""

    line: int
    fields: list[str]
    fault: str | None = None


def read_records(text: TextIO, delimiter: str, longest: int, long: int = _LONG) -> Iterator[Record]:
    """Read records, quoted as the csv module does by default; blank lines are none.

    One of more than `longest` characters is skipped and told by its fault. `long` is from where on
    records are taken apart by ourselves.
    """
    lines = _RecordLines(text, long)
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        line = lines.begin()
        # The limit is one for the whole process: raised only while a record of ours is read.
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
    """Hands over lines, and remembers those of the current record until it is a long one."""

    def __init__(self, text: TextIO, long: int) -> None:
        self._text, self._long = text, long
        self._lines = 0
        self.begin()

    def begin(self) -> int:
        """Begin a record, and give the number of its first line."""
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
        # A piece of this size need not be a whole line.
        if self._size >= self._long:
            self.is_long = True
            raise _LongRecordError
        return piece

    def rest(self) -> Iterator[str]:
        """All pieces of the record so far, then what follows."""
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
    """A record that comes in pieces, each a line or part of one."""

    def __init__(self, delimiter: str, longest: int) -> None:
        self._delimiter, self._longest = delimiter, longest
        self._fields: list[str] = []
        self._parts: list[str] = []
        self._size = 0
        self._state = "start"
        self._is_blank = True

    def feed(self, piece: str) -> bool:
        """Take the next piece, and say whether the record is over."""
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
        """What was taken, as a record that begins on this line."""
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
                # The first of a field opens it; one behind another stands for itself.
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

"""JSON objects: parsed, checked and turned into rows, one by one or in blocks of lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import orjson

from neardup.errors import InputError
from neardup.kernels.json_lines import MustBe
from neardup.read.batch import Rows
from neardup.read.columns import Wanted
from neardup.read.json.columns import ObjectGatherer, field_fault, field_text
from neardup.read.limits import (
    MOST_DEPTH,
    TOO_DEEP,
    TooLong,
    invalid_utf8,
    quoted,
    too_deep,
    too_long,
)
from neardup.read.source import ByteStream, Part

# A key that none of the first objects has is a misspelt column, not a rare one.
OBJECTS_BEFORE_MISSING = 1000
_ORJSON_DEPTH = "depth limit"
_LARGEST_ID = 2**63 - 1
_LINE_FEED = ord("\n")
JSON_TYPES = {
    bool: "a boolean",
    int: "a number",
    float: "a number with a fraction",
    str: "a string",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def parsed(value: bytes) -> tuple[Any, str | None]:
    """Parse a piece of JSON; returns the value and None, or None and the fault."""
    try:
        item = orjson.loads(value)
        # Counting brackets is much faster than walking the value, and usually sufficient.
        if value.count(b"[") + value.count(b"{") > MOST_DEPTH and too_deep(item):
            return None, TOO_DEEP
        return item, None
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(_ORJSON_DEPTH):
            return None, TOO_DEEP
        broken = f"broken JSON at character {error.pos + 1}, {error.msg}"
        return None, invalid_utf8(value) or broken


class ObjectJudge:
    """Finds faults of objects, and refuses a file in which a column is missing everywhere.

    `content_fault` returns the fault of an object's content (text or terms). `has_id` says whether
    good objects have ids.
    """

    def __init__(
        self,
        file: str,
        wanted: Wanted,
        content_fault: Callable[[dict[str, Any]], str | None],
        part: Part | None = None,
    ) -> None:
        self._file = file
        self._content_fault = content_fault
        self._wanted = wanted
        # Whether a file has all columns is judged by its first part.
        self._unseen = set(wanted.required) if part is None or not part.begin else set()
        self._keys: dict[str, None] = {}
        self._objects = 0
        self._first_id: tuple[type, str] | None = None
        # Without --id, the first object decides whether the file has ids.
        known = None if part is None else part.has_ids
        self.has_id: bool | None = True if wanted.id_required else known

    def fault(self, item: Any, where: str) -> str | None:
        """The fault of an item: not an object, or the content or id is unusable; None if good."""
        if type(item) is not dict:
            return f"{JSON_TYPES[type(item)]}, not an object"
        if self._unseen:
            self._look_for_columns(item)
        if self.has_id is None:
            self.has_id = self._wanted.id is not None and self._wanted.id in item
        fault = self._content_fault(item)
        if fault or self._wanted.id is None:
            return fault
        if self.has_id:
            return self._id_fault(item, self._wanted.id, where)
        if self._wanted.id in item:
            raise InputError(
                f"{self._file} has no {self._wanted.id!r} in its first row but one on {where}; "
                f"reject rows without one with --id {self._wanted.id}, "
                "or number the rows with --id row"
            )
        return None

    def expected_id(self) -> dict[str, MustBe] | None:
        """The kind of id with which an object needs no further check.

        None until the first objects of the file have determined it.
        """
        if self._unseen or self.has_id is None:
            return None
        if self._wanted.id is None:
            return {}
        if not self.has_id:
            return {self._wanted.id: "missing"}
        if self._first_id is None:
            return None
        return {self._wanted.id: "string" if self._first_id[0] is str else "whole"}

    def finish(self) -> None:
        """Refuse the file if no object has had some required column."""
        if self._unseen and self._objects:
            self._wanted.require(self._file, self._keys)

    def _look_for_columns(self, item: dict[str, Any]) -> None:
        self._unseen.difference_update(item)
        self._keys.update(dict.fromkeys(item))
        self._objects += 1
        if self._objects == OBJECTS_BEFORE_MISSING:
            self.finish()

    def _id_fault(self, item: dict[str, Any], name: str, where: str) -> str | None:
        value = item.get(name)
        kind = type(value)
        if kind is not str and kind is not int:
            return unlike(item, name, "a string or a whole number")
        if self._first_id is None:
            self._first_id = (kind, where)
        elif self._first_id[0] is not kind:
            raise InputError(
                f"{self._file} has {JSON_TYPES[self._first_id[0]]} as id on {self._first_id[1]} "
                f"and {JSON_TYPES[kind]} on {where}; make all ids strings or all whole numbers, "
                "or number the rows with --id row"
            )
        if isinstance(value, int) and value > _LARGEST_ID:
            raise InputError(
                f"{self._file} has the id {quoted(value)} on {where}, too large for a "
                "signed 64-bit number; write such ids as strings, or number the rows with --id row"
            )
        return None


def _line_feeds(block: bytes) -> int:
    # Three times as fast as bytes.count, which stops at each.
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == _LINE_FEED))


def unlike(item: dict[str, Any], name: str, right: str) -> str:
    """The message for a value that is missing, null or of another type than `right`."""
    if name not in item:
        return f"no {name!r}"
    if item[name] is None:
        return f"{name!r} is null"
    return f"{name!r} is {JSON_TYPES[type(item[name])]}, not {right}"


def read_objects(
    values: Iterable[tuple[str, bytes | TooLong]],
    stream: ByteStream,
    file: str,
    wanted: Wanted,
    batch_bytes: int,
) -> Iterator[Rows]:
    """Read pieces of JSON as rows; each comes with its location for messages."""
    reader = _ObjectReader(stream, file, wanted, batch_bytes)
    for where, value in values:
        yield from reader.take(where, value)
    yield from reader.finish()


def read_line_objects(
    blocks: Iterable[bytes | TooLong],
    stream: ByteStream,
    file: str,
    wanted: Wanted,
    batch_bytes: int,
) -> Iterator[Rows]:
    """Read blocks of whole JSON lines as rows; blank lines are skipped."""
    reader = _ObjectReader(stream, file, wanted, batch_bytes)
    for block in blocks:
        yield from reader.take_block(block)
    yield from reader.finish()


class _ObjectReader:
    """Collects the rows of one file."""

    def __init__(self, stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> None:
        self._stream, self._wanted = stream, wanted
        self._batch_bytes = batch_bytes
        self._gathered = ObjectGatherer(file, batch_bytes, wanted)
        self._gathered.begin_at(stream.part.first_row)
        self._judge = ObjectJudge(file, wanted, self._text_fault, stream.part)
        self._lines_seen = stream.part.first_line

    def take(self, where: str, value: bytes | TooLong) -> Iterator[Rows]:
        """Add one object, or reject it with the reason."""
        if isinstance(value, TooLong):
            long = too_long(value.size, self._wanted.max_document)
            self._gathered.reject(f"{where}: {long}")
            return
        if self._gathered.full(len(value)):
            yield self._rows()
        item, fault = parsed(value)
        fault = fault or self._judge.fault(item, where)
        if fault:
            self._gathered.reject(f"{where}: {fault}")
            return
        if self._gathered.too_wide(item):
            yield self._rows()
        name, id_name = self._wanted.text, self._wanted.id
        text = field_text(item, name) if self._wanted.fields else item[name]
        id = item[id_name] if self._judge.has_id else None
        self._gathered.add(text, id, item, len(value))

    def take_block(self, block: bytes | TooLong) -> Iterator[Rows]:
        """Add the next lines: as a block if they are like the first objects, else one by one."""
        if isinstance(block, TooLong):
            self._lines_seen += 1
            yield from self.take(f"line {self._lines_seen}", block)
            return
        start = 0
        while start <= len(block) and not self._takes_blocks():
            end = block.find(b"\n", start)
            end = len(block) if end < 0 else end
            yield from self._take_line(block[start:end])
            start = end + 1
        if start > len(block):
            return
        rest = block[start:]
        # Line feeds do not count toward the size; they are counted only if that could matter.
        size = len(rest)
        if size > self._batch_bytes or self._gathered.full(size):
            size -= _line_feeds(rest)
        # A large document is a batch by itself.
        if size <= self._batch_bytes:
            if self._gathered.full(size):
                yield self._rows()
            if lines := self._gathered.add_block(rest):
                self._lines_seen += lines
                return
        for line in rest.split(b"\n"):
            yield from self._take_line(line)

    def finish(self) -> Iterator[Rows]:
        """Yield the last rows; refuse the file if a required column is missing everywhere."""
        self._judge.finish()
        if self._gathered:
            yield self._rows()

    def _take_line(self, line: bytes) -> Iterator[Rows]:
        self._lines_seen += 1
        if line and not line.isspace():
            yield from self.take(f"line {self._lines_seen}", line)

    def _takes_blocks(self) -> bool:
        """Whether the first objects have determined the expected kinds; never for records."""
        if not self._gathered.takes_blocks and not self._wanted.fields:
            ids = self._judge.expected_id()
            if ids is not None:
                self._gathered.expect({self._wanted.text: "string", **ids})
        return self._gathered.takes_blocks

    def _rows(self) -> Rows:
        return self._gathered.take(self._stream.consumed)

    def _text_fault(self, item: dict[str, Any]) -> str | None:
        wanted = self._wanted
        if wanted.fields:
            return field_fault(item, wanted.fields)
        return None if type(item.get(wanted.text)) is str else unlike(item, wanted.text, "a string")

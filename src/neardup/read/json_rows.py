"""JSON objects become rows: one by one, or a block of lines at once where all are alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from neardup.read.batch import Rows
from neardup.read.columns import Wanted
from neardup.read.json_columns import field_fault, field_text
from neardup.read.json_gather import ObjectGatherer
from neardup.read.json_objects import ObjectJudge, parsed, unlike
from neardup.read.limits import TooLong, too_long
from neardup.read.stream import ByteStream


def read_objects(
    values: Iterable[tuple[str, bytes | TooLong]],
    stream: ByteStream,
    file: str,
    wanted: Wanted,
    batch_bytes: int,
) -> Iterator[Rows]:
    """Read pieces of JSON, each with the words that say where it stands, as rows."""
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
    """Read blocks of whole JSON lines; blank lines do not count."""
    reader = _ObjectReader(stream, file, wanted, batch_bytes)
    for block in blocks:
        yield from reader.take_block(block)
    yield from reader.finish()


class _ObjectReader:
    """Gathers the rows of one file."""

    def __init__(self, stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> None:
        self._stream, self._wanted = stream, wanted
        self._batch_bytes = batch_bytes
        self._gathered = ObjectGatherer(file, batch_bytes, wanted)
        self._judge = ObjectJudge(file, wanted, self._text_fault)
        self._lines_seen = 0

    def take(self, where: str, value: bytes | TooLong) -> Iterator[Rows]:
        """Add one object, or set it aside with the reason."""
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
        """Add the next lines of the file: at once if they are like the first, else one by one."""
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
        # Line feeds do not count. Where they cannot matter, they need not be counted beforehand.
        size = len(rest)
        if size > self._batch_bytes or self._gathered.full(size):
            size -= rest.count(b"\n")
        # A large document goes alone.
        if size <= self._batch_bytes:
            if self._gathered.full(size):
                yield self._rows()
            if lines := self._gathered.add_block(rest):
                self._lines_seen += lines
                return
        for line in rest.split(b"\n"):
            yield from self._take_line(line)

    def finish(self) -> Iterator[Rows]:
        """Hand over the last rows; refuse the file if a column was nowhere."""
        self._judge.finish()
        if self._gathered:
            yield self._rows()

    def _take_line(self, line: bytes) -> Iterator[Rows]:
        self._lines_seen += 1
        if line and not line.isspace():
            yield from self.take(f"line {self._lines_seen}", line)

    def _takes_blocks(self) -> bool:
        """Whether the objects so far tell what the others must be like. Records never do."""
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

"""JSON files: lines, one array, or objects after one another, cut into pieces for parsing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import orjson

from neardup.errors import InputError
from neardup.read.batch import Rows
from neardup.read.columns import Wanted
from neardup.read.json_rows import read_line_objects, read_objects
from neardup.read.lines import BLOCK_BYTES, line_blocks, whole_lines
from neardup.read.stream import ByteStream

_STRUCTURE = re.compile(rb'["\[\]{},]')
_BACKSLASH = ord("\\")


def read_json_lines(
    stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int
) -> Iterator[Rows]:
    """Read one object per line; blank lines do not count."""
    stream.begin_text(file)
    return _line_rows(stream, file, wanted, batch_bytes)


def read_json(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read an array of objects, objects printed over several lines, or else JSON lines."""
    stream.begin_text(file)
    values = _other_values(stream, file, batch_bytes)
    if values is None:
        return _line_rows(stream, file, wanted, batch_bytes)
    return read_objects(values, stream, file, wanted, batch_bytes)


def _line_rows(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    blocks = whole_lines(stream, min(BLOCK_BYTES, batch_bytes))
    return read_line_objects(blocks, stream, file, wanted, batch_bytes)


def line_values(stream: ByteStream, file: str, most: int) -> Iterator[tuple[str, bytes]]:
    """Cut a file of JSON lines, each with the words that say where it stands."""
    stream.begin_text(file)
    return _lines(stream, most)


def json_values(stream: ByteStream, file: str, most: int) -> Iterator[tuple[str, bytes]]:
    """Cut a JSON file likewise, whichever of the three ways its first lines show."""
    stream.begin_text(file)
    return _other_values(stream, file, most) or _lines(stream, most)


def _other_values(stream: ByteStream, file: str, most: int) -> Iterator[tuple[str, bytes]] | None:
    """Cut a JSON file whose first lines show that it is not one of JSON lines."""
    start = stream.peek(BLOCK_BYTES).lstrip()
    size = min(BLOCK_BYTES, most)
    if start.startswith(b"["):
        return array_elements(stream, file, size)
    return printed_objects(stream, size) if _is_printed(start) else None


def _is_printed(start: bytes) -> bool:
    """Whether an object goes on after its first line, rather than that the line is broken."""
    first, _, rest = start.partition(b"\n")
    if not first.startswith(b"{") or rest.lstrip()[:1] in (b"", b"{"):
        return False
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError:
        return True
    return False


def _lines(stream: BinaryIO, batch_bytes: int) -> Iterator[tuple[str, bytes]]:
    number = 0
    for lines in line_blocks(stream, min(BLOCK_BYTES, batch_bytes)):
        for line in lines:
            number += 1
            if line and not line.isspace():
                yield f"line {number}", line


def array_elements(stream: BinaryIO, file: str, size: int) -> Iterator[tuple[str, bytes]]:
    """Cut the elements out of one JSON array, reading at least `size` bytes at a time."""
    scanner = _Scanner(stream, size)
    depth = number = 0
    for char in scanner.structure():
        if depth == 0:
            scanner.cut()
        if depth == 1 and char in b",]}":
            piece = scanner.cut(before=len(char))
            if char == b"," or number or piece.strip():
                number += 1
                yield f"element {number}", piece
        depth += (char in b"[{") - (char in b"]}")
        if depth == 0:
            _require_end(scanner.cut_rest(), stream, file)
            return
    raise InputError(
        f"{file} ends within its JSON array, after {number} elements; "
        "it was cut short, so fetch or write it again"
    )


def printed_objects(stream: BinaryIO, size: int) -> Iterator[tuple[str, bytes]]:
    """Cut out JSON objects that follow one another, each over any number of lines."""
    scanner = _Scanner(stream, size)
    depth = number = 0
    for char in scanner.structure():
        depth += (char in b"[{") - (char in b"]}")
        if depth <= 0 and char in b"]}":
            depth = 0
            number += 1
            yield f"object {number}", scanner.cut()
    rest = scanner.cut_rest()
    if rest.strip():
        yield f"object {number + 1}", rest


class _Scanner:
    """Walks over the brackets and commas outside strings, reading on as it needs to."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self._buffer = b""
        self._cut = 0
        self._passed = 0

    def structure(self) -> Iterator[bytes]:
        # Reading as much again as is waiting keeps the scan of a huge string linear.
        while more := self._stream.read(max(self._size, len(self._buffer) - self._cut)):
            self._buffer = self.cut_rest() + more
            position = self._passed
            while found := _STRUCTURE.search(self._buffer, position):
                position = found.end()
                if found[0] != b'"':
                    self._passed = position
                    yield found[0]
                    continue
                position = _after_string(self._buffer, found.start())
                if position == 0:
                    self._passed = found.start()
                    break
            else:
                self._passed = len(self._buffer)

    def cut(self, before: int = 0) -> bytes:
        """Take what lies between the last cut and the current character."""
        piece = self._buffer[self._cut : self._passed - before]
        self._cut = self._passed
        return piece

    def cut_rest(self) -> bytes:
        """Take all that was read and not yet cut."""
        rest = self._buffer[self._cut :]
        self._passed -= self._cut
        self._cut = 0
        return rest


def _after_string(buffer: bytes, quote: int) -> int:
    """Find where the string that this quote opens is over, 0 if the buffer ends before."""
    end = quote
    while (end := buffer.find(b'"', end + 1)) > 0:
        before = end - 1
        while buffer[before] == _BACKSLASH:
            before -= 1
        if (end - before) % 2:
            return end + 1
    return 0


def _require_end(rest: bytes, stream: BinaryIO, file: str) -> None:
    while not rest.strip():
        rest = stream.read(BLOCK_BYTES)
        if not rest:
            return
    raise InputError(
        f"{file} goes on after the end of its JSON array; write one array, or one object per line"
    )

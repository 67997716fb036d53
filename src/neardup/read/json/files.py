"""JSON files: lines, one array, or consecutive objects, cut into pieces for parsing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import BinaryIO

import orjson

from neardup.errors import UnreadableError
from neardup.read.batch import Rows
from neardup.read.columns import Wanted
from neardup.read.ids import IdKind
from neardup.read.json.objects import read_line_objects, read_objects
from neardup.read.limits import TooLong
from neardup.read.lines import BLOCK_BYTES, whole_lines
from neardup.read.source import ByteStream

_STRUCTURE = re.compile(rb'["\[\]{},]')
_BETWEEN = re.compile(r"[\s,\[]*")
_LOOKED_AT = 20
_BACKSLASH = ord("\\")
# The location of a piece of JSON, for messages, and its bytes, or its size if it is too long.
Piece = tuple[str, bytes | TooLong]


def read_json_lines(
    stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int
) -> Iterator[Rows]:
    """Read one object per line; blank lines are skipped."""
    stream.begin_text(file)
    return _line_rows(stream, file, wanted, batch_bytes)


def read_json(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read an array of objects, pretty-printed objects, or JSON lines."""
    stream.begin_text(file)
    values = _other_values(stream, file, wanted, batch_bytes)
    if values is None:
        return _line_rows(stream, file, wanted, batch_bytes)
    return read_objects(values, stream, file, wanted, batch_bytes)


def _line_rows(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    blocks = whole_lines(stream, min(BLOCK_BYTES, batch_bytes), wanted.max_document)
    return read_line_objects(blocks, stream, file, wanted, batch_bytes)


def line_values(stream: ByteStream, file: str, wanted: Wanted, most: int) -> Iterator[Piece]:
    """Cut a file of JSON lines into pieces."""
    stream.begin_text(file)
    return _lines(stream, wanted, most)


def json_values(stream: ByteStream, file: str, wanted: Wanted, most: int) -> Iterator[Piece]:
    """Cut a JSON file into pieces; the first lines show which of the three layouts it has."""
    stream.begin_text(file)
    return _other_values(stream, file, wanted, most) or _lines(stream, wanted, most)


def column_occurs(stream: ByteStream, column: str) -> bool:
    """Whether one of the first objects of a file of any layout has this key."""
    start = stream.peek(BLOCK_BYTES)
    if orjson.dumps(column)[1:-1] not in start:  # most files; parsing takes longer
        return False
    return any(column in found for found in _first_objects(start.decode("utf-8", "replace")))


def _first_objects(start: str) -> Iterator[dict[str, object]]:
    decoder, place = json.JSONDecoder(), 0
    for _ in range(_LOOKED_AT):
        place = _BETWEEN.match(start, place).end()  # type: ignore[union-attr]  # it may be empty
        try:
            found, place = decoder.raw_decode(start, place)
        except (ValueError, RecursionError):
            return
        if type(found) is dict:
            yield found


def first_id(stream: ByteStream, id: str | None) -> IdKind | None:
    """The kind of ids by the first object of a file; None if it is not conclusive."""
    if id is None:
        return "none"
    start = stream.peek(BLOCK_BYTES).lstrip(b" \t\r\n[").decode("utf-8", "replace")
    try:
        # Unlike orjson, this stops at the end of the first value.
        first = json.JSONDecoder().raw_decode(start)[0]
    except (ValueError, RecursionError):
        return None
    if type(first) is not dict:
        return None
    kinds: dict[type, IdKind] = {str: "string", int: "int64"}
    return kinds.get(type(first[id])) if id in first else "none"


def _other_values(
    stream: ByteStream, file: str, wanted: Wanted, most: int
) -> Iterator[Piece] | None:
    """Cut an array or pretty-printed objects; None if the first lines look like JSON lines."""
    start = stream.peek(BLOCK_BYTES).lstrip()
    size = min(BLOCK_BYTES, most)
    if start.startswith(b"["):
        return array_elements(stream, file, size, wanted.max_document)
    if _is_printed(start):
        return printed_objects(stream, size, wanted.max_document)
    return None


def _is_printed(start: bytes) -> bool:
    """Whether an object continues after its first line; else the line is broken."""
    first, _, rest = start.partition(b"\n")
    if not first.startswith(b"{") or rest.lstrip()[:1] in (b"", b"{"):
        return False
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError:
        return True
    return False


def _lines(stream: BinaryIO, wanted: Wanted, batch_bytes: int) -> Iterator[Piece]:
    number = 0
    for block in whole_lines(stream, min(BLOCK_BYTES, batch_bytes), wanted.max_document):
        for line in [block] if isinstance(block, TooLong) else block.split(b"\n"):
            number += 1
            if isinstance(line, TooLong) or (line and not line.isspace()):
                yield f"line {number}", line


def array_elements(stream: BinaryIO, file: str, size: int, longest: int) -> Iterator[Piece]:
    """Cut a JSON array into its elements, reading `size` bytes at a time."""
    scanner = _Scanner(stream, size, longest)
    depth = number = 0
    for char in scanner.structure():
        if depth == 0:
            scanner.cut()
        if depth == 1 and char in b",]}":
            piece = scanner.cut(before=len(char))
            if char == b"," or number or isinstance(piece, TooLong) or piece.strip():
                number += 1
                yield f"element {number}", piece
        depth += (char in b"[{") - (char in b"]}")
        if depth == 0:
            _require_end(scanner, stream, file)
            return
    raise UnreadableError(
        f"{file} ends within its JSON array, after {number} elements; "
        "it was cut short, so fetch or write it again"
    )


def printed_objects(stream: BinaryIO, size: int, longest: int) -> Iterator[Piece]:
    """Cut consecutive JSON objects, each of any number of lines."""
    scanner = _Scanner(stream, size, longest)
    depth = number = 0
    for char in scanner.structure():
        depth += (char in b"[{") - (char in b"]}")
        if depth <= 0 and char in b"]}":
            depth = 0
            number += 1
            yield f"object {number}", scanner.cut()
    rest = scanner.cut_rest()
    if isinstance(rest, TooLong) or rest.strip():
        yield f"object {number + 1}", rest


class _Scanner:
    """Iterates over the brackets and commas outside strings, reading more as needed.

    It holds the bytes since the last cut, unless they are more than `longest`.
    """

    def __init__(self, stream: BinaryIO, size: int, longest: int) -> None:
        self._stream = stream
        self._size = size
        self._longest = longest
        self._chunk = b""
        self._cut = self._passed = 0
        # The bytes between the last cut and the chunk.
        self._pieces: list[bytes] = []
        self._waiting = 0

    def structure(self) -> Iterator[bytes]:
        in_string, backslashes = False, 0
        while more := self._stream.read(self._size):
            self._passed = len(self._chunk)
            self._set_aside(self._chunk[self._cut :])
            self._chunk, self._cut, position = more, 0, 0
            while True:
                if in_string:
                    position, backslashes = _after_string(more, position, backslashes)
                    in_string = position == 0
                    if in_string:
                        break
                found = _STRUCTURE.search(more, position)
                if not found:
                    break
                position = self._passed = found.end()
                in_string = found[0] == b'"'
                if not in_string:
                    yield found[0]
        self._passed = len(self._chunk)

    def cut(self, before: int = 0) -> bytes | TooLong:
        """Return the bytes between the last cut and the current character."""
        self._set_aside(self._chunk[self._cut : self._passed - before])
        self._cut = self._passed
        size, pieces = self._waiting, self._pieces
        self._waiting, self._pieces = 0, []
        return TooLong(size) if size > self._longest else b"".join(pieces)

    def cut_rest(self) -> bytes | TooLong:
        """Return the bytes read since the last cut."""
        self._passed = len(self._chunk)
        return self.cut()

    def _set_aside(self, piece: bytes) -> None:
        self._waiting += len(piece)
        if self._waiting > self._longest:
            self._pieces = []
        else:
            self._pieces.append(piece)


def _after_string(chunk: bytes, start: int, backslashes: int) -> tuple[int, int]:
    """The end of a string that continues at `start`; 0 if it does not end in this chunk.

    `backslashes` is the number of backslashes directly before `start`. Also returns the number
    directly before the end, or at the end of the chunk.
    """
    end = start - 1
    while (end := chunk.find(b'"', end + 1)) >= 0:
        if _backslashes_before(chunk, start, end, backslashes) % 2 == 0:
            return end + 1, 0
    return 0, _backslashes_before(chunk, start, len(chunk), backslashes)


def _backslashes_before(chunk: bytes, start: int, end: int, more: int) -> int:
    place = end
    while place > start and chunk[place - 1] == _BACKSLASH:
        place -= 1
    return end - place + (more if place == start else 0)


def _require_end(scanner: _Scanner, stream: BinaryIO, file: str) -> None:
    rest = scanner.cut_rest()
    while not isinstance(rest, TooLong) and not rest.strip():
        rest = stream.read(BLOCK_BYTES)
        if not rest:
            return
    raise UnreadableError(
        f"{file} continues after the end of its JSON array; write one array, or one object per line"
    )

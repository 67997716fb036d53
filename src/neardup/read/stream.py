"""A byte stream: compressed or not, read from front to back, with its progress."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import sys
import zlib
from typing import Any, BinaryIO

import pyarrow as pa

from neardup.errors import InputError

_BUFFER = 1 << 20
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
}
_MAGIC_BYTES = 10
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def standard_input() -> BinaryIO:
    """Standard input as bytes; whoever closed it (`<&-`) is told so."""
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed; give a file, or send something to it")
    return sys.stdin.buffer


class ByteStream(io.BufferedReader):
    """The decompressed bytes of a file; `consumed` counts what was taken from the file itself.

    A `compression` of "sniff" goes by the first bytes; several compressed members after one
    another are read as one. `peek` shows all that the buffer has room for, or all there is.
    """

    def __init__(self, file: BinaryIO, compression: str | None = None) -> None:
        self._counted = _Counted(file)
        super().__init__(_Filling(_decompressed(self._counted, compression)), _BUFFER)

    @property
    def consumed(self) -> int:
        """Bytes of the file itself that were read so far."""
        return self._counted.consumed

    def begin_text(self, name: str) -> None:
        """Step over a byte order mark; refuse UTF-16, of which no row would be readable."""
        start = self.peek(3)
        if start.startswith(_UTF16_MARKS):
            raise InputError(f"{name} is UTF-16; convert it to UTF-8 first, for example with iconv")
        if start.startswith(_UTF8_MARK):
            self.read(len(_UTF8_MARK))


def without_mark(content: bytes) -> bytes:
    """Drop the byte order mark of a whole file."""
    return content.removeprefix(_UTF8_MARK)


class _Counted(io.RawIOBase):
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.consumed = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self.consumed += count
        return count


class _Filling(io.RawIOBase):
    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view, filled = memoryview(buffer), 0
        try:
            while filled < len(view) and (count := self._file.readinto(view[filled:])):
                filled += count
        except zlib.error as error:
            raise OSError(str(error)) from error
        return filled


def _decompressed(counted: _Counted, compression: str | None) -> Any:
    if compression is None:
        return counted
    buffered = io.BufferedReader(_Filling(counted), _BUFFER)
    start = buffered.peek(_MAGIC_BYTES)
    if compression == "sniff":
        compression = next((name for name, magic in _MAGIC.items() if magic.match(start)), None)
    if compression is None or not start:
        return buffered
    # pyarrow's own streams are slower for gzip, and its bz2 fails on an empty member.
    if compression == "gzip":
        return gzip.GzipFile(fileobj=buffered)
    if compression == "bz2":
        return bz2.BZ2File(buffered)
    return pa.CompressedInputStream(pa.PythonFile(buffered, mode="r"), compression)

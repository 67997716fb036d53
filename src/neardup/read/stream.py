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

from neardup.errors import InputError, UnreadableError
from neardup.read.signatures import (
    COMPRESSIONS,
    SIGNATURE_BYTES,
    UTF8_MARK,
    misnamed,
    not_compressed,
)

_BUFFER = 1 << 20
_LONGEST_MAGIC = 10
SNIFF = "sniff"
_FORMATS = (("parquet", rb"PAR1"), ("arrow", rb"ARROW1"), ("json", rb"(\xef\xbb\xbf)?\s*\{"))


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

    def __init__(self, file: BinaryIO, compression: str | None = None, name: str = "") -> None:
        self._counted = _Counted(file)
        super().__init__(_Filling(_decompressed(self._counted, compression, name)), _BUFFER)

    @property
    def consumed(self) -> int:
        """Bytes of the file itself that were read so far."""
        return self._counted.consumed

    def begin_text(self, name: str) -> None:
        """Step over a byte order mark; refuse what is no text."""
        start = self.peek(SIGNATURE_BYTES)
        fault = misnamed(name, start[:SIGNATURE_BYTES])
        if fault:
            raise UnreadableError(f"{name} {fault}")
        if start.startswith(UTF8_MARK):
            self.read(len(UTF8_MARK))


def sniffed(stream: ByteStream) -> str:
    """Tell the format of a stream by how it begins."""
    start = stream.peek(1)
    found = (format for format, pattern in _FORMATS if re.match(pattern, start))
    return next(found, "lines")


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


def _decompressed(counted: _Counted, compression: str | None, name: str) -> Any:
    if compression is None:
        return counted
    buffered = io.BufferedReader(_Filling(counted), _BUFFER)
    start = buffered.peek(SIGNATURE_BYTES)
    if compression == SNIFF:
        found = (known for known, magic in COMPRESSIONS.items() if magic.match(start))
        compression = next(found, None)
    elif len(start) >= _LONGEST_MAGIC and not COMPRESSIONS[compression].match(start):
        raise UnreadableError(f"{name} {not_compressed(name, compression)}")
    if compression is None or not start:
        return buffered
    # pyarrow's own streams are slower for gzip, and its bz2 fails on an empty member.
    if compression == "gzip":
        return gzip.GzipFile(fileobj=buffered)
    if compression == "bz2":
        return bz2.BZ2File(buffered)
    return pa.CompressedInputStream(pa.PythonFile(buffered, mode="r"), compression)

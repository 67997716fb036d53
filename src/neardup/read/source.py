"""Sources: opening and decompressing a file or standard input, and copying what has no rewind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import pyarrow as pa

from neardup.atomic import TemporaryFolder
from neardup.errors import InputError, UnreadableError
from neardup.frozen import dataclass
from neardup.read.file_kinds import (
    COMPRESSION_SIGNATURES,
    SIGNATURE_BYTES,
    UTF8_MARK,
    misnamed,
    not_compressed,
)
from neardup.read.limits import printable
from neardup.system.files import is_null

_BUFFER = 1 << 20
_LINE_BLOCK = 1 << 16
_LONGEST_MAGIC = 10
SNIFF = "sniff"
_FORMATS = (
    ("parquet", rb"PAR1"),
    ("arrow", rb"ARROW1|\xff\xff\xff\xff"),
    ("warc", rb"WARC/\d\.\d+\r?\n"),
    ("json", rb"(\xef\xbb\xbf)?\s*\{"),
)


_BLOCK = 1 << 20
_LOOK_EVERY = 64 << 20
# Disk space to leave free: this much, or a twentieth of a small disk.
_LEFT_FREE = 1 << 30
STANDARD_INPUT = "standard input"


def standard_input() -> BinaryIO:
    """Standard input as bytes; `InputError` if it is closed (`<&-`)."""
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed; give a file, or pipe something into it")
    return sys.stdin.buffer


@dataclass(frozen=True)
class Part:
    """A part of a file, to be read by itself: row groups of Parquet, or bytes of a file of lines.

    A line belongs to the part in which it begins. `first_row` and `first_line` are the numbers of
    rows and lines before the part; for lines they are known only after the parts before were read.
    `has_ids` says whether the first object of a JSON file has an id, which decides for all parts.
    """

    begin: int
    end: int
    first_row: int = 0
    first_line: int = 0
    has_ids: bool | None = None


class ByteStream(io.BufferedReader):
    """The decompressed bytes of a file; `consumed` counts the bytes read from the file itself.

    A `compression` of "sniff" is detected by the first bytes; concatenated compressed members are
    read as one stream. `peek` returns as much as fits the buffer, or the whole rest. `part` is the
    part of a file that the stream is; by default it is all of it.
    """

    part = Part(0, sys.maxsize)

    def __init__(self, file: BinaryIO, compression: str | None = None, name: str = "") -> None:
        self._counted = _Counted(file)
        super().__init__(_Filling(_decompressed(self._counted, compression, name)), _BUFFER)

    @property
    def consumed(self) -> int:
        """Bytes read from the file itself so far."""
        return self._counted.consumed

    def begin_text(self, name: str) -> None:
        """Skip a byte order mark; refuse a file that is not text."""
        start = self.peek(SIGNATURE_BYTES)
        fault = misnamed(name, start[:SIGNATURE_BYTES])
        if fault:
            raise UnreadableError(f"{name} {fault}")
        if start.startswith(UTF8_MARK):
            self.read(len(UTF8_MARK))


def sniffed(stream: ByteStream) -> str:
    """Detect the format of a stream by its first bytes."""
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
        except (zlib.error, lzma.LZMAError) as error:
            raise OSError(str(error)) from error
        return filled


def _decompressed(counted: _Counted, compression: str | None, name: str) -> Any:
    if compression is None:
        return counted
    buffered = io.BufferedReader(_Filling(counted), _BUFFER)
    start = buffered.peek(SIGNATURE_BYTES)
    if compression == SNIFF:
        found = (known for known, magic in COMPRESSION_SIGNATURES.items() if magic.match(start))
        compression = next(found, None)
    elif len(start) >= _LONGEST_MAGIC and not COMPRESSION_SIGNATURES[compression].match(start):
        raise UnreadableError(f"{name} {not_compressed(name, compression)}")
    if compression is None or not start:
        return buffered
    # pyarrow's own streams are slower for gzip, and its bz2 fails on an empty member.
    if compression == "gzip":
        return gzip.GzipFile(fileobj=buffered)
    if compression == "bz2":
        return bz2.BZ2File(buffered)
    if compression == "xz":
        return lzma.LZMAFile(buffered)
    return pa.CompressedInputStream(pa.PythonFile(buffered, mode="r"), compression)


class Spool:
    """Temporary copies of streams, removed with this object."""

    def __init__(self) -> None:
        self._folder = TemporaryFolder()
        self._copies = 0

    def store(self, stream: BinaryIO, name: str) -> str:
        """Copy a stream unchanged, and return the path of the copy."""
        with self.new_file() as copy:
            copy_stream(stream, copy, name)
        return copy.name

    def new_file(self) -> BinaryIO:
        """A new file to write to, which has a path as its name."""
        path = self._folder.path / str(self._copies)
        self._copies += 1
        return open(path, "wb")


class RoomLeft(io.RawIOBase):
    """A temporary file to write to; `InputError` before the disk is full.

    `name` is the input that is copied.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self._copied = self._looked = 0

    def writable(self) -> bool:
        return True

    def write(self, block: Any) -> int:
        folder = tempfile.gettempdir()
        size = memoryview(block).nbytes
        try:
            self._file.write(block)
        except OSError as error:
            why = error.strerror or str(error)
            raise _no_room(self._name, self._copied, folder, why) from error
        self._copied += size
        if self._copied - self._looked >= _LOOK_EVERY:
            self._looked = self._copied
            disk = shutil.disk_usage(folder)
            if disk.free < min(_LEFT_FREE, disk.total // 20):
                left = f"{disk.free / 1e6:,.0f} MB are left"
                raise _no_room(self._name, self._copied, folder, left)
        return size


def copy_stream(stream: BinaryIO, copy: BinaryIO, name: str) -> None:
    """Copy a stream; `InputError` before the disk for temporary files is full."""
    checked = RoomLeft(copy, name)
    while block := stream.read(_BLOCK):
        checked.write(block)


def _no_room(name: str, copied: int, folder: str, why: str) -> InputError:
    return InputError(
        f"{name} has to be copied to {folder}, since it can be read only once, and after "
        f"{copied / 1e6:,.0f} MB there is no room ({why}); point TMPDIR to a larger disk, or store "
        "the input in a file"
    )


def refuse_endless(name: str, status: os.stat_result, *, is_terminal: bool) -> None:
    """Refuse devices and sockets, which are endless or cannot be opened."""
    if stat.S_ISSOCK(status.st_mode):
        what = "a socket"
    elif stat.S_ISBLK(status.st_mode):
        what = "a disk"
    elif stat.S_ISCHR(status.st_mode) and not is_terminal and not is_null(status):
        what = "a device"
    else:
        return
    raise InputError(f"{name} is {what}, not a file or a pipe; name a file with documents")


class _LinesOfPart(io.RawIOBase):
    """The lines of a file that begin in a part of it."""

    def __init__(self, file: BinaryIO, part: Part) -> None:
        self._file = file
        begin = _line_start(file, part.begin)
        self._left = max(0, _line_start(file, part.end) - begin)
        file.seek(begin)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: self._left]
        count: int = self._file.readinto(view) if len(view) else 0  # type: ignore[attr-defined]
        self._left -= count
        return count


def _line_start(file: BinaryIO, at: int) -> int:
    """Where the first line begins that begins at this byte or later."""
    if at == 0:
        return 0
    file.seek(at - 1)
    place = at - 1
    while block := file.read(_LINE_BLOCK):
        end = block.find(b"\n")
        if end >= 0:
            return place + end + 1
        place += len(block)
    return place


@dataclass(frozen=True)
class Source:
    """One file: its displayed name, its path, its format and compression.

    `filesystem` is None for a local file. `once` marks inputs that can be read only once: standard
    input, pipes and terminals. A format of "sniff" is detected by the first bytes. `found` marks
    files found in a folder or by a glob, which are skipped if they cannot be read. `fault` is the
    reason why a file is skipped without reading it. With a `part`, only that is read. `sheet` is
    the sheet of a workbook; empty for the first. `copied` marks a temporary copy on this machine.
    """

    name: str
    path: str
    format: str
    compression: str | None = None
    size: int | None = None
    filesystem: Any = None
    document_id: str = ""
    once: bool = False
    found: bool = False
    fault: str = ""
    part: Part | None = None
    sheet: str = ""
    copied: bool = False

    @property
    def is_local(self) -> bool:
        """Whether opening is cheap: a local file that can be read again."""
        return self.filesystem is None and not self.once

    @contextmanager
    def stream(self) -> Iterator[ByteStream]:
        """Open for sequential reading, decompressed."""
        if self.path == "-":
            yield ByteStream(standard_input(), SNIFF)
            return
        with self._open() as file:
            part = file if self.part is None else cast(BinaryIO, _LinesOfPart(file, self.part))
            with ByteStream(part, self.compression, self.name) as stream:
                if self.part is not None:
                    stream.part = self.part
                yield stream

    @contextmanager
    def raw(self) -> Iterator[BinaryIO]:
        """Open without decompressing."""
        if self.path == "-":
            yield standard_input()
            return
        with self._open() as file:
            yield file

    @contextmanager
    def random_access(self) -> Iterator[Any]:
        """Open as an Arrow file with random access."""
        if self.compression or self.once:
            with self.stream() as stream, spooled(stream, self.name) as file:
                yield file
        elif self.filesystem is None:
            # Arrow files are made for mapping; a mapped Parquet file would only add to the memory.
            with (pa.memory_map if self.format == "arrow" else pa.OSFile)(self.path) as file:
                yield file
        else:
            with self._open() as remote, pa.PythonFile(remote, mode="r") as file:
                yield file

    def _open(self) -> BinaryIO:
        if self.filesystem is None:
            return open(self.path, "rb", buffering=0)
        return cast(BinaryIO, self.filesystem.open(self.path, "rb"))


@contextmanager
def spooled(stream: BinaryIO, name: str) -> Iterator[Any]:
    """Copy a stream to a temporary file, for formats that need random access."""
    with tempfile.TemporaryFile(prefix="neardup-") as copy:
        copy_stream(stream, cast(BinaryIO, copy), name)
        copy.seek(0)
        with pa.PythonFile(copy, mode="r") as file:
            yield file


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn errors while reading a file into an `UnreadableError` that names the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise UnreadableError(f"{name} does not exist; check the path") from error
    except PermissionError as error:
        raise UnreadableError(
            f"{name} cannot be read, permission denied; change its permissions or leave it out"
        ) from error
    except (OSError, EOFError, pa.ArrowException) as error:
        detail = printable(str(error)).rstrip(". ") or type(error).__name__
        raise UnreadableError(
            f"{name} cannot be read to its end ({detail}); it may be damaged, cut short or of "
            "another format than its name says, so fetch or write it again"
        ) from error

"""A source: one file to be read, or standard input, and how to open it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import pyarrow as pa

from neardup.errors import UnreadableError
from neardup.read.limits import printable
from neardup.read.spool import copy_stream
from neardup.read.stream import SNIFF, ByteStream, standard_input

STANDARD_INPUT = "standard input"


@dataclass(frozen=True)
class Source:
    """One file: the name that people see, where it is, and what it holds.

    `filesystem` is None for a local file. `once` marks what can be read only once: standard input,
    pipes and terminals; a format of "sniff" is told by the first bytes. `found` marks files that
    nobody named: those of a folder, which are left out if they cannot be read. A `fault` says why
    a file is set aside unread.
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

    @property
    def is_local(self) -> bool:
        """Whether opening this costs next to nothing."""
        return self.filesystem is None and not self.once

    @contextmanager
    def stream(self) -> Iterator[ByteStream]:
        """Open for reading from front to back, decompressed."""
        if self.path == "-":
            yield ByteStream(standard_input(), SNIFF)
            return
        with self._open() as file, ByteStream(file, self.compression, self.name) as stream:
            yield stream

    @contextmanager
    def raw(self) -> Iterator[BinaryIO]:
        """Open as it is, compressed or not."""
        if self.path == "-":
            yield standard_input()
            return
        with self._open() as file:
            yield file

    @contextmanager
    def random_access(self) -> Iterator[Any]:
        """Open as an Arrow file that can be read anywhere."""
        if self.compression or self.once:
            with self.stream() as stream, spooled(stream, self.name) as file:
                yield file
        elif self.filesystem is None:
            # Arrow files are made to be mapped; a mapped Parquet file would only count as memory.
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
    """Copy a stream to a temporary file, for formats that are not read from front to back."""
    with tempfile.TemporaryFile(prefix="neardup-") as copy:
        copy_stream(stream, copy, name)
        copy.seek(0)
        with pa.PythonFile(copy, mode="r") as file:
            yield file


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn what can go wrong while reading a file into a sentence that names it."""
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

"""Files that are one document each, as text, page or PDF; several per batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from neardup.errors import UnreadableError
from neardup.read.batch import Rejected, Rows
from neardup.read.columns import Wanted
from neardup.read.file_kinds import SIGNATURE_BYTES, is_utf16
from neardup.read.limits import invalid_utf8, too_long
from neardup.read.source import Source, explained

FILE_COLUMNS = ("id", "text")
# Returns the reason for skipping a file, or raises the error if it must not be skipped.
Unread = Callable[[Source, UnreadableError], str]


def read_whole_files(
    sources: Sequence[Source], wanted: Wanted, batch_bytes: int, unread: Unread
) -> Iterator[Rows]:
    """Read each file as a document; its id is its path.

    A file that cannot be read is passed to `unread`, which skips it or raises.
    """
    wanted.require(sources[0].name, FILE_COLUMNS)
    batch = _FileBatch(wanted)
    for number, source in enumerate(sources):
        content = b""
        fault: str | None = source.fault
        if not fault:
            try:
                content = _content(source, wanted.max_document)
                if len(content) <= wanted.max_document:
                    content = _text(source, content)
            except UnreadableError as error:
                fault = unread(source, error)
        if batch.size and batch.size + len(content) > batch_bytes:
            yield batch.take(number)
        batch.bytes_done += source.size or 0
        if fault:
            batch.rejected.append(Rejected(source.name, None, fault))
            continue
        fault = _fault(content, wanted.max_document)
        if fault:
            batch.rejected.append(Rejected(source.name, 0, fault))
        else:
            batch.add(number, source, content)
    yield batch.take(len(sources))


def _content(source: Source, longest: int) -> bytes:
    """The bytes of a file; of one that is too long, the first `longest` + 1."""
    with explained(source.name), source.stream() as stream:
        if source.format == "document" or (
            source.format == "html" and not is_utf16(stream.peek(SIGNATURE_BYTES))
        ):
            stream.begin_text(source.name)
        return stream.read(longest + 1)


def _text(source: Source, content: bytes) -> bytes:
    """The text of a page or of a PDF; that of any other file as it is."""
    if source.format == "html":
        from neardup.read.pages import page_text

        if b"\0" in content[:SIGNATURE_BYTES] and not is_utf16(content):
            raise UnreadableError(f"{source.name} is not text; rename it, or leave it out")
        try:
            return page_text(content).encode()
        except ValueError as error:
            raise UnreadableError(f"{source.name} is {error}; convert it to UTF-8") from error
    if source.format == "pdf":
        from neardup.read.pdf import pdf_text

        return pdf_text(content, source.name).encode()
    return content


def _fault(content: bytes, longest: int) -> str | None:
    if len(content) > longest:
        return too_long(None, longest)
    return invalid_utf8(content)


class _FileBatch:
    def __init__(self, wanted: Wanted) -> None:
        self._has_ids = wanted.id == "id"
        self.bytes_done = 0
        self._clear()

    def _clear(self) -> None:
        self.size = 0
        self.rejected: list[Rejected] = []
        self._numbers: list[int] = []
        self._ids: list[str] = []
        self._texts: list[bytes] = []

    def add(self, number: int, source: Source, content: bytes) -> None:
        self._numbers.append(number)
        self._ids.append(source.document_id)
        self._texts.append(content)
        self.size += len(content)

    def take(self, seen: int) -> Rows:
        rows = Rows(
            text=pa.array(self._texts, pa.large_binary()).view(pa.large_string()),
            id=pa.array(self._ids, pa.string()) if self._has_ids else None,
            carried={},
            numbers=np.array(self._numbers, np.int64),
            rejected=tuple(self.rejected),
            seen=seen,
            bytes_done=self.bytes_done,
        )
        self._clear()
        return rows

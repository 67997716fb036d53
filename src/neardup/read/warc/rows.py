"""Documents in WARC files: pages and texts that were fetched, and the texts of WET files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from neardup.errors import UnreadableError
from neardup.kernels.columns import text_column
from neardup.read.batch import Gatherer, Rows
from neardup.read.columns import Wanted, carried_names
from neardup.read.ids import IdKind
from neardup.read.limits import TooLong, invalid_utf8, too_long
from neardup.read.pages import decoded, page_text
from neardup.read.source import ByteStream
from neardup.read.warc.http import Response, media_type
from neardup.read.warc.records import Damage, Record, records

WARC_COLUMNS = ("id", "text", "url", "date", "content_type")
_WITH_DOCUMENTS = frozenset(("response", "resource", "conversion"))
_PAGES = ("text/html", "application/xhtml+xml")
_SUCCESS = range(200, 300)
_BEGIN = b"WARC/"


def check_warc(stream: ByteStream, file: str, wanted: Wanted) -> IdKind:
    """Refuse a file that is no WARC file, and columns that it does not have."""
    start = stream.peek(len(_BEGIN))[: len(_BEGIN)]
    if start and start != _BEGIN:
        raise UnreadableError(f"{file} is not a WARC file; rename it, or leave it out")
    wanted.require(file, WARC_COLUMNS)
    return "none" if wanted.id is None else "string"


def read_warc(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read the pages and plain texts of a WARC file.

    Documents are responses with a status of success and a type of HTML or plain text, resources of
    such a type, and conversions. Their id is that of the record. Other records are no documents.
    """
    check_warc(stream, file, wanted)
    names = wanted.carried(WARC_COLUMNS)
    renamed = carried_names(file, names)
    gathered = Gatherer(file, batch_bytes)

    def carry(extras: list[Any]) -> dict[str, pa.Array]:
        columns: Sequence[Sequence[str]] = list(zip(*extras, strict=True)) or [()] * len(names)
        return {
            renamed[name]: text_column(list(column))
            for name, column in zip(names, columns, strict=True)
        }

    def take() -> Rows:
        return gathered.take(carry, stream.consumed)

    for record in records(stream, _WITH_DOCUMENTS, wanted.max_document):
        row = _row(record, wanted)
        if row is None:
            continue
        if gathered.full(len(row.get("text", ""))):
            yield take()
        fault = row.get("fault")
        if fault is not None:
            gathered.reject(f"record at byte {record.offset}: {fault}")
            continue
        if wanted.id is not None:
            gathered.ids.append(row[wanted.id])
        gathered.add(row[wanted.text], len(row[wanted.text]))
        gathered.extras.append([row[name] for name in names])
    yield take()


def _row(record: Record | Damage, wanted: Wanted) -> dict[str, str] | None:
    """The columns of a document, or its `fault`; None if the record is no document."""
    if isinstance(record, Damage):
        return {"fault": record.reason}
    if record.block is None:
        return None
    header = record.header
    row = {
        "id": header.get("warc-record-id", "").strip("<>"),
        "url": header.get("warc-target-uri", "").strip("<>"),
        "date": header.get("warc-date", ""),
    }
    if isinstance(record.block, TooLong):
        return {"fault": too_long(record.block.size, wanted.max_document)}
    try:
        found = _text(header, record.block, wanted.max_document)
    except ValueError as error:
        return {"fault": str(error)}
    if found is None:
        return None
    row["content_type"], row["text"] = found
    if wanted.id is not None and not row[wanted.id]:
        return {"fault": f"no {wanted.id!r}"}
    return row


def _text(header: dict[str, str], block: bytes, longest: int) -> tuple[str, str] | None:
    """The media type and the text of a block; None if it is no page or text.

    `ValueError` says why a text cannot be read.
    """
    kind, charset = media_type(header.get("content-type", ""))
    content: bytes = block
    if header.get("warc-type", "").lower() == "response":
        response = Response.of(block)
        if response is None or response.status not in _SUCCESS:
            return None
        kind, charset = response.media_type, response.charset
        if kind not in (*_PAGES, "text/plain"):
            return None
        content = response.content(longest)
    if len(content) > longest:
        raise ValueError(too_long(None, longest))
    if kind in _PAGES:
        return kind, page_text(content, charset)
    if kind != "text/plain":
        return None
    if charset is not None:
        return kind, decoded(content, charset)
    fault = invalid_utf8(content)
    if fault:
        raise ValueError(fault)
    return kind, content.decode("utf-8-sig")

"""HTTP: the body of a response that a WARC record holds, decoded."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator

import pyarrow as pa

from neardup.frozen import dataclass

_END_OF_HEADER = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/[\d.]+ +(\d{3})\b")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[^\n]*\n")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s;\"']+)", re.IGNORECASE)
_GZIP, _ZLIB_OR_GZIP = b"\x1f\x8b", 32 + zlib.MAX_WBITS
_BY_ARROW = {"br": "brotli", "zstd": "zstd"}


@dataclass(frozen=True)
class Response:
    """A response: its status, the type of its content, and its encoding as text; the raw body."""

    status: int
    media_type: str
    charset: str | None
    fields: dict[str, str]
    body: bytes

    @classmethod
    def of(cls, block: bytes) -> Response | None:
        """The response in a block; None if it is none."""
        status = _STATUS.match(block)
        if status is None:
            return None
        end = _END_OF_HEADER.search(block)
        header, body = (block, b"") if end is None else (block[: end.start()], block[end.end() :])
        fields: dict[str, str] = {}
        for line in header.decode("latin-1").splitlines()[1:]:
            name, _, value = line.partition(":")
            fields.setdefault(name.strip().lower(), value.strip())
        kind, charset = media_type(fields.get("content-type", ""))
        return cls(int(status[1]), kind, charset, fields, body)

    def content(self, longest: int) -> bytes:
        """The body without transfer and content encodings; up to `longest` + 1 bytes of it.

        Archives may hold a body decoded with the header as it was sent, so a body that is not
        encoded as the header says is taken as it is. `ValueError` if an encoding breaks off.
        """
        body = self.body
        if "chunked" in self.fields.get("transfer-encoding", "").lower():
            body = b"".join(_chunks(body))
        codings = self.fields.get("content-encoding", "").lower().replace(",", " ").split()
        for coding in reversed(codings):
            body = _decoded(body, coding, longest)
        return body[: longest + 1]


def media_type(value: str) -> tuple[str, str | None]:
    """The media type and the charset in a field such as `text/html; charset=utf-8`."""
    charset = _CHARSET.search(value)
    return value.partition(";")[0].strip().lower(), None if charset is None else charset[1]


def _chunks(body: bytes) -> Iterator[bytes]:
    """The chunks of a chunked body; the rest as it is where they end."""
    place = 0
    while size := _CHUNK_SIZE.match(body, place):
        length = int(size[1], 16)
        if not length:
            return
        yield body[size.end() : size.end() + length]
        place = size.end() + length
        place += 2 if body[place : place + 2] == b"\r\n" else body[place : place + 1] == b"\n"
    yield body[place:]


def _decoded(body: bytes, coding: str, longest: int) -> bytes:
    if coding in ("gzip", "x-gzip"):
        return _inflated(body, _ZLIB_OR_GZIP, longest) if body[:2] == _GZIP else body
    if coding == "deflate":
        try:
            return _inflated(body, zlib.MAX_WBITS, longest)
        except ValueError:  # many servers send it without the header of zlib
            try:
                return _inflated(body, -zlib.MAX_WBITS, longest)
            except ValueError:
                return body
    if coding in _BY_ARROW:
        try:
            with pa.CompressedInputStream(io.BytesIO(body), _BY_ARROW[coding]) as stream:
                return bytes(stream.read(longest + 1))
        except OSError:
            return body
    return body


def _inflated(body: bytes, window: int, longest: int) -> bytes:
    try:
        return zlib.decompressobj(window).decompress(body, longest + 1)
    except zlib.error as error:
        raise ValueError(f"its body cannot be decompressed ({error})") from None

"""Records: the blocks of a WARC file (ISO 28500), cut from a stream in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from neardup.frozen import dataclass
from neardup.read.limits import TooLong

_VERSION = b"WARC/"
_LONGEST_HEADER = 1 << 20
_LONGEST_LINE = 1 << 16
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Record:
    """A record: where it begins, its header with names in lower case, its block.

    Offsets count the bytes of the decompressed file. A block that nobody wants is None.
    """

    offset: int
    header: dict[str, str]
    block: bytes | TooLong | None


@dataclass(frozen=True)
class Damage:
    """Bytes that are no record."""

    offset: int
    reason: str


def records(stream: BinaryIO, wanted: frozenset[str], longest: int) -> Iterator[Record | Damage]:
    """Cut a stream into records, with the blocks of those of the `wanted` types.

    A block longer than `longest` is skipped. After damage, the next record begins where a line
    says so.
    """
    place = _Place(stream)
    lost: int | None = None  # where damage began
    while True:
        offset = place.offset
        line = place.line()
        if not line:
            break
        if not line.startswith(_VERSION):
            if line.strip() and lost is None:
                lost = offset
            continue
        if lost is not None:
            yield Damage(lost, f"{offset - lost:,} bytes that are no record")
            lost = None
        header = place.header()
        if isinstance(header, str):
            yield Damage(offset, header)
            continue
        size = header.get("content-length", "")
        if not size.isdecimal() or len(size) > 18:
            yield Damage(offset, f"no length: its Content-Length is {size[:20]!r}")
            continue
        is_wanted = header.get("warc-type", "").lower() in wanted
        yield from _block(place, offset, header, int(size), longest if is_wanted else -1)
    if lost is not None:
        yield Damage(lost, f"{place.offset - lost:,} bytes that are no record")


def _block(
    place: _Place, offset: int, header: dict[str, str], size: int, longest: int
) -> Iterator[Record | Damage]:
    if 0 <= longest < size:
        block: bytes | TooLong | None = TooLong(size)
    else:
        block = place.read(size) if longest >= 0 else None
    held = len(block) if isinstance(block, bytes) else place.skip(size)
    if held < size:
        yield Damage(offset, f"cut short: {held:,} of {size:,} bytes")
    else:
        yield Record(offset, header, block)


class _Place:
    """A stream, and the offset in it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.offset = 0

    def line(self) -> bytes:
        line = self._stream.readline(_LONGEST_LINE)
        self.offset += len(line)
        return line

    def read(self, size: int) -> bytes:
        block = self._stream.read(size)
        self.offset += len(block)
        return block

    def skip(self, size: int) -> int:
        """Skip bytes; returns how many there were."""
        begin = self.offset
        while (left := size - (self.offset - begin)) and self.read(min(left, _AT_ONCE)):
            pass
        return self.offset - begin

    def header(self) -> dict[str, str] | str:
        """The fields up to the blank line, or why there are none; the first of a name counts."""
        found: dict[str, str] = {}
        begin, last = self.offset, ""
        while self.offset - begin < _LONGEST_HEADER:
            line = self.line()
            if not line.endswith(b"\n"):
                return "a header that is cut short, or has a line that is too long"
            text = line.decode("utf-8", "replace").strip()
            if not text:
                return found
            if line[:1] in b" \t" and last:
                found[last] += f" {text}"
                continue
            name, colon, value = text.partition(":")
            if not colon:
                return f"a header with the line {text[:40]!r}, which is no field"
            last = name.strip().lower()
            found.setdefault(last, value.strip())
        return "a header of more than 1 MB"

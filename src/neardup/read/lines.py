"""Text lines: cutting a stream at line feeds, and files with one document per line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from neardup.read.batch import Rejected, Rows, bounded
from neardup.read.columns import Wanted
from neardup.read.limits import TooLong, invalid_texts, too_long
from neardup.read.source import ByteStream

BLOCK_BYTES = 1 << 20
LINE_COLUMNS = ("text",)


def whole_lines(stream: BinaryIO, size: int, longest: int) -> Iterator[bytes | TooLong]:
    """Cut a stream into blocks of whole lines, each without its last line feed.

    A line longer than `longest` is never held in memory; it is yielded as `TooLong`.
    """
    pieces: list[bytes | memoryview] = []
    waiting = 0
    while block := stream.read(size):
        if waiting > longest:
            end = block.find(b"\n")
            if end < 0:
                waiting += len(block)
                continue
            yield TooLong(waiting + end)
            block, pieces, waiting = block[end + 1 :], [], 0
        cut = block.rfind(b"\n")
        if cut < 0:
            pieces.append(block)
            waiting += len(block)
            if waiting > longest:
                pieces = []
            continue
        pieces.append(memoryview(block)[:cut])
        lines = b"".join(pieces)
        pieces, waiting = [block[cut + 1 :]], len(block) - cut - 1
        yield from _within(lines, longest)
    if waiting > longest:
        yield TooLong(waiting)
    elif waiting:
        yield from _within(b"".join(pieces), longest)


def _within(block: bytes, longest: int) -> Iterator[bytes | TooLong]:
    """Replace the lines of a block that are too long by `TooLong`."""
    if len(block) <= longest:
        yield block
        return
    good: list[bytes] = []
    for line in block.split(b"\n"):
        if len(line) <= longest:
            good.append(line)
            continue
        if good:
            yield b"\n".join(good)
            good = []
        yield TooLong(len(line))
    if good:
        yield b"\n".join(good)


def read_lines(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read every line as a document; a blank line is an empty document."""
    wanted.require(file, LINE_COLUMNS)
    stream.begin_text(file)
    seen = stream.part.first_row
    for block in whole_lines(stream, min(BLOCK_BYTES, batch_bytes), wanted.max_document):
        if isinstance(block, TooLong):
            fault = too_long(block.size, wanted.max_document)
            long = Rejected(file, seen, f"line {seen + 1}: {fault}")
            seen += 1
            none = pa.nulls(0, pa.large_string())
            yield Rows(none, None, {}, np.zeros(0, np.int64), (long,), seen, stream.consumed)
            continue
        stripped = [line.removesuffix(b"\r") for line in block.split(b"\n")]
        texts = pa.array(stripped, pa.large_binary()).view(pa.large_string())
        del block, stripped
        for start, stop in bounded(texts, batch_bytes):
            part = texts.slice(start, stop - start)
            numbers = np.arange(seen, seen + len(part), dtype=np.int64)
            faults = invalid_texts(part)
            if faults:
                good = np.ones(len(part), bool)
                good[list(faults)] = False
                part, numbers = part.filter(pa.array(good)), numbers[good]
            rejected = tuple(
                Rejected(file, seen + i, f"line {seen + i + 1}: {fault}")
                for i, fault in faults.items()
            )
            seen += stop - start
            yield Rows(part, None, {}, numbers, rejected, seen, stream.consumed)

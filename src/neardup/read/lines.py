"""Text lines: cutting a stream at line feeds, and lines that are documents themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from neardup.read.batch import Rejected, Rows
from neardup.read.columns import Wanted
from neardup.read.slices import bounded
from neardup.read.stream import ByteStream
from neardup.read.utf8 import invalid_texts

BLOCK_BYTES = 1 << 20
LINE_COLUMNS = ("text",)


def line_blocks(stream: BinaryIO, size: int = BLOCK_BYTES) -> Iterator[list[bytes]]:
    """Cut a stream into lines, those of each block together, without their line feeds."""
    for block in whole_lines(stream, size):
        yield block.split(b"\n")


def whole_lines(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Cut a stream into blocks of whole lines, without the line feed of the last line of each."""
    pieces: list[bytes | memoryview] = []
    while block := stream.read(size):
        cut = block.rfind(b"\n")
        if cut < 0:
            pieces.append(block)
            continue
        pieces.append(memoryview(block)[:cut])
        yield b"".join(pieces)
        pieces = [block[cut + 1 :]]
    last = b"".join(pieces)
    if last:
        yield last


def read_lines(stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read every line as a document; a blank one is an empty document."""
    wanted.require(file, LINE_COLUMNS)
    stream.begin_text(file)
    seen = 0
    for lines in line_blocks(stream, min(BLOCK_BYTES, batch_bytes)):
        stripped = [line.removesuffix(b"\r") for line in lines]
        texts = pa.array(stripped, pa.large_binary()).view(pa.large_string())
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

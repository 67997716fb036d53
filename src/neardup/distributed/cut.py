"""Parquet files whose row groups are too large for a task are cut into pieces first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.distributed.splits import Footer
from neardup.distributed.work import Work, filesystem_of, is_url
from neardup.engines.exchange import Engine, Message, Tasks, packed, unpacked
from neardup.frozen import dataclass
from neardup.read.source import Part, Source, explained

_ROWS_AT_ONCE = 1 << 12
# Row groups up to so many times the size of a split are left as they are.
_LARGE = 3


@dataclass(frozen=True)
class Coarse:
    """A row group that is to be cut: its file, its number there, and the rows before it."""

    file: Source
    group: int
    first_row: int


def coarse_groups(file: Source, footer: Footer, most: int) -> list[Coarse]:
    """All row groups of a Parquet file if one is too large; else none."""
    if all(size <= _LARGE * most for size in footer.sizes):
        return []
    before = 0
    found = []
    for place, rows in enumerate(footer.rows):
        found.append(Coarse(file, place, before))
        before += rows
    return found


def cut(groups: Sequence[Coarse], engine: Engine, work: Work, most: int) -> dict[str, list[Source]]:
    """Write the pieces of row groups to the work folder; the pieces of each file, by its name."""
    if not groups:
        return {}
    sent = engine.run("cut", [Tasks(partial(_cut, tuple(groups), work, most), len(groups))])
    pieces: dict[str, list[Source]] = {}
    for message in sorted(sent, key=lambda one: one.tag):
        found, coarse = unpacked(message.blob), groups[message.tag]
        first = coarse.first_row
        for name, rows, size in found["pieces"]:
            path = f"{work.url}/{name}"
            filesystem = None
            if is_url(work.url):
                filesystem, path = filesystem_of(path)
            part = Part(0, 1, first)
            piece = replace(coarse.file, path=path, size=size, filesystem=filesystem, part=part)
            pieces.setdefault(coarse.file.name, []).append(piece)
            first += rows
    return pieces


def _cut(
    groups: Sequence[Coarse], work: Work, most: int, task: int, _: Iterator[Message]
) -> Iterator[Message]:
    coarse = groups[task]
    pieces: list[tuple[str, int, int]] = []
    waiting: list[pa.RecordBatch] = []
    size = 0

    def write() -> None:
        name = f"cut/{task}-{len(pieces)}.parquet"
        table = pa.Table.from_batches(waiting)
        with work.file(name) as path:
            pq.write_table(
                table, path, compression="lz4", use_dictionary=False, row_group_size=len(table)
            )
            pieces.append((name, len(table), os.stat(path).st_size))

    with explained(coarse.file.name), coarse.file.random_access() as opened:
        file = pq.ParquetFile(opened, pre_buffer=False)
        about = file.metadata.row_group(coarse.group)
        row_bytes = about.total_byte_size // max(1, about.num_rows)
        rows = max(1, min(_ROWS_AT_ONCE, most // 4 // max(1, row_bytes)))
        for batch in file.iter_batches(rows, row_groups=[coarse.group], use_threads=False):
            if waiting and size + batch.nbytes > most:
                write()
                waiting, size = [], 0
            waiting.append(batch)
            size += batch.nbytes
        if waiting:
            write()
    yield Message(0, task, packed(pieces=pieces))

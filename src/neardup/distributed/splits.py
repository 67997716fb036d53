"""Splits: the parts of the input that tasks read, and the places of their documents.

A document's place is the number of its split and its number in there. Places grow in the order of
the input, so they stand for it without anybody having counted all documents.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.collection.settings import DedupSettings
from neardup.collection.source import FileSource, fingerprinter_of
from neardup.distributed.work import Work
from neardup.errors import InputError
from neardup.features.idf import IdfTable
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.read.formats import check_columns
from neardup.read.source import Part, Source, explained

Places = NDArray[np.int64]
Numbers = NDArray[np.uint32]

_INDEX_BITS = 32
_LINES = ("jsonl", "lines")
_COMPRESSED = 4  # times smaller than the text
_FOOTERS_AT_ONCE = 32  # in an object store, each takes some round trips


def place_of(split: int, index: NDArray[np.integer]) -> Places:
    """The places of documents of a split."""
    return index.astype(np.int64) | (split << _INDEX_BITS)


def split_of(places: Places) -> Places:
    """The splits of documents."""
    return places >> _INDEX_BITS


def index_of(places: Places) -> Numbers:
    """The numbers of documents in their splits."""
    return (places & ((1 << _INDEX_BITS) - 1)).astype(np.uint32)


@dataclass(frozen=True)
class Split:
    """Files, or a part of one, that one task reads.

    `first_place` is the number of rows before its first file, or before the file it is a part of.
    `other` says that it belongs to the collection that the input is compared with.
    """

    sources: tuple[Source, ...]
    first_place: int = 0
    other: bool = False

    @property
    def part(self) -> Part | None:
        """The part of a file that the split is."""
        return self.sources[0].part

    @property
    def names(self) -> list[str]:
        """The files it is read from."""
        return [source.name for source in self.sources]


@dataclass(frozen=True, eq=False)
class Layout:
    """What every task has to know: the splits, the settings, the folder for what is found.

    `source` and `old` open splits of the collection and of the other one. `left` is the number of
    splits of the collection, `shards` (a power of two) that of the tasks that compare what all
    splits have found. `idf` is the number of files that the table of rarity is in.
    """

    settings: DedupSettings
    work: Work
    source: FileSource
    old: FileSource | None
    splits: tuple[Split, ...]
    left: int
    shards: int
    within: bool
    id_types: tuple[pa.DataType, pa.DataType] = (pa.int64(), pa.int64())  # of both collections
    keep_type: pa.DataType | None = None  # of the keep column
    features: int = 0  # of all documents
    documents: int = 0  # that weights by rarity were counted in
    idf: int = 0
    token: str = ""  # of the run, by which a process knows its table again

    def opened(self, number: int) -> FileSource:
        """The documents of a split."""
        split = self.splits[number]
        whole = self.old if split.other else self.source
        assert whole is not None
        return whole.part(split.sources, split.first_place)

    def fingerprinter(self) -> Fingerprinter:
        """The fingerprinter of a task."""
        made = fingerprinter_of(self.settings.scheme, 1)
        if self.idf:
            counted = self.settings.scheme.counted
            table = _rarity(self.work, counted, self.documents, self.idf, self.token)
            made = made.weighted_by(table)
        return made

    @property
    def threshold(self) -> float:
        """The lowest similarity that pairs are looked for at."""
        floor = self.settings.floor
        return self.settings.threshold if floor is None else floor


_TABLES: dict[tuple[str, str], IdfTable] = {}


def _rarity(work: Work, features: str, documents: int, files: int, token: str) -> IdfTable:
    """The table of rarity, which a process reads once."""
    from neardup.engines.exchange import unpacked

    key = (work.url, token)
    if key not in _TABLES:
        parts = [unpacked(work.read(f"idf/{number}")) for number in range(files)]
        hashes = np.concatenate([part["hashes"] for part in parts])
        counts = np.concatenate([part["counts"] for part in parts])
        _TABLES.clear()
        _TABLES[key] = IdfTable(features, documents, hashes, counts)
    return _TABLES[key]


def spread(numbers: NDArray[np.integer], tasks: int) -> NDArray[np.uint64]:
    """The task that looks after each place of a document, or feature, by a hash of it."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(40)) % np.uint64(tasks)


def by_target(targets: NDArray[np.integer]) -> Iterator[tuple[int, Places]]:
    """The rows that go to each target, in order."""
    if not len(targets):
        return
    order = np.argsort(targets, kind="stable")
    found, begins = np.unique(targets[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, begins[1:]), strict=True)


@dataclass(frozen=True)
class Footer:
    """The bytes, decompressed, and the rows of each row group of a Parquet file."""

    sizes: tuple[int, ...]
    rows: tuple[int, ...]

    @classmethod
    def read(cls, file: Source) -> Footer:
        """The footer of a file."""
        with explained(file.name), file.random_access() as opened:
            about = pq.ParquetFile(opened).metadata
            groups = [about.row_group(place) for place in range(about.num_row_groups)]
            return cls(
                tuple(group.total_byte_size for group in groups),
                tuple(group.num_rows for group in groups),
            )


Footers = Mapping[str, Footer]


def read_footers(files: Iterable[Source]) -> Footers:
    """The footers of the Parquet files among these, by name: each is read once, many at a time."""
    wanted = {
        file.name: file
        for file in files
        if file.format == "parquet" and file.size != 0 and not (file.fault or file.compression)
    }
    with ThreadPoolExecutor(_FOOTERS_AT_ONCE) as pool:
        return dict(zip(wanted, pool.map(Footer.read, wanted.values()), strict=True))


def splits_of(
    source: FileSource,
    settings: DedupSettings,
    most: int,
    footers: Footers,
    pieces: Mapping[str, Sequence[Source]],
    *,
    other: bool,
) -> list[Split]:
    """The splits of an input, each of about `most` bytes of text or fewer.

    Of files that were cut, the `pieces` are read instead.
    """
    splits: list[Split] = []
    waiting: list[Source] = []
    size = 0
    for file in source.files:
        parts = pieces.get(file.name) or _parts(file, source, settings, most, footers)
        if len(parts) > 1 or size + (file.size or 0) > most:
            splits += [Split(tuple(waiting), other=other)] if waiting else []
            waiting, size = [], 0
        if len(parts) > 1:
            splits += [Split((part,), other=other) for part in parts]
        else:
            waiting.append(file)
            size += file.size or 0
    if waiting or not splits:
        splits.append(Split(tuple(waiting), other=other))
    return splits


def text_bytes(file: Source, footers: Footers) -> int:
    """About how many bytes a file holds, decompressed."""
    if file.name in footers:
        return sum(footers[file.name].sizes)
    if file.fault or not file.size:
        return 0
    return _COMPRESSED * file.size if file.compression else file.size


def shared_by_all(file: Source) -> Source:
    """A file as executors find it, which have other current folders."""
    if file.once or file.copied:
        raise InputError(
            f"{file.name} cannot be read by executors; store it in a file first, such as Parquet"
        )
    return file if file.filesystem is not None else replace(file, path=os.path.abspath(file.path))


def _parts(
    file: Source, source: FileSource, settings: DedupSettings, most: int, footers: Footers
) -> list[Source]:
    """The parts of a file that is large and can be divided; else none."""
    if file.fault or file.compression:
        return []
    if file.name in footers:
        return [replace(file, part=part) for part in _row_groups(footers[file.name], most)]
    if settings.scheme.features.are_given or file.format not in _LINES or not file.size:
        return []
    kind = check_columns(file, source.documents.wanted)
    has_ids = None if kind is None else kind != "none"
    count = -(-file.size // most)
    cuts = np.linspace(0, file.size, count + 1).astype(np.int64).tolist()
    return [replace(file, part=Part(begin, end, has_ids=has_ids)) for begin, end in pairwise(cuts)]


def _row_groups(footer: Footer, most: int) -> list[Part]:
    parts: list[Part] = []
    begin = held = first_row = 0
    for place, size in enumerate(footer.sizes):
        if held and held + size > most:
            parts.append(Part(begin, place, first_row))
            first_row += sum(footer.rows[begin:place])
            begin, held = place, 0
        held += size
    parts.append(Part(begin, len(footer.sizes), first_row))
    return parts


def placed(splits: Sequence[Split], rows: Sequence[int]) -> list[Split]:
    """The splits with the numbers of rows before them, by the rows that each has."""
    found = []
    starts: dict[bool, int] = {}
    file, file_start, before = "", 0, 0
    for split, count in zip(splits, rows, strict=True):
        start = starts.get(split.other, 0)
        part = split.part
        if part is None:
            found.append(replace(split, first_place=start))
        else:
            if split.names[0] != file or (not part.begin and not part.first_row):
                file, file_start, before = split.names[0], start, 0
            known = replace(part, first_row=before)
            source = replace(split.sources[0], part=known)
            found.append(replace(split, sources=(source,), first_place=file_start))
            before += count
        starts[split.other] = start + count
    return found

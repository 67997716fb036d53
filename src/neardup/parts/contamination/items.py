"""The items of benchmarks: which columns are their text, and the index that finds them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.rejected import RejectedRows
from neardup.collection.settings import DedupSettings
from neardup.collection.source import RowBatch, Source
from neardup.deduplication.sources import source_of
from neardup.errors import InputError, NoColumnError
from neardup.features.spec import Field
from neardup.features.words import find_words
from neardup.frozen import dataclass
from neardup.kernels.columns import chosen, column_of, taken, text_column
from neardup.kernels.contamination import BenchmarkIndex
from neardup.kernels.machine import release_memory
from neardup.parts.contamination.settings import SHORT_WORDS, ContaminationSettings
from neardup.read.columns import is_text, plain_text, undictionaried
from neardup.read.expand import expand
from neardup.read.file_kinds import COMPRESSION_SUFFIXES, WHOLE_FILES

Rows = NDArray[np.int64]
# Of each item so many characters are kept, to be shown.
_SHOWN = 300
_EXAMPLES = 5


@dataclass(frozen=True)
class BenchmarkSource:
    """One benchmark: its name, and its rows. `columns` are those of its text, as read."""

    name: str
    source: Source
    columns: tuple[str, ...] | None


@dataclass(frozen=True, eq=False)
class Items:
    """The items of all benchmarks, by their numbers.

    `names` and `columns` are those of the benchmarks, `benchmark` the number of each item's, `ids`
    their ids in it, and `beginnings` the first characters of what is looked for.
    """

    index: BenchmarkIndex
    names: list[str]
    columns: list[tuple[str, ...]]
    benchmark: NDArray[np.int32]
    ids: list[str]
    beginnings: pa.ChunkedArray
    words: Rows
    same_as: Rows
    rejected: RejectedRows

    def __len__(self) -> int:
        return len(self.ids)

    def beginning(self, item: int) -> str:
        """The first characters of an item."""
        return str(self.beginnings[item].as_py())

    def common(self, min_words: int) -> list[dict[str, Any]]:
        """Some of the runs of words that are in too many items, the most frequent first."""
        found: list[dict[str, Any]] = []
        used: list[tuple[int, int]] = []
        for item, start, items in zip(*map(np.ndarray.tolist, self.index.common()), strict=True):
            # Neighbouring windows of one long run are told once.
            if any(item == other and abs(start - at) < min_words for other, at in used):
                continue
            used.append((item, start))
            words = find_words(self.beginning(item))
            if start + min_words <= len(words):
                text = words.stretch(start, start + min_words)
                found.append({"words": " ".join(text.split()), "items": items})
            if len(found) == _EXAMPLES:
                break
        return found


def read_items(benchmarks: Sequence[BenchmarkSource], settings: ContaminationSettings) -> Items:
    """Read all benchmarks, one after the other."""
    short = min(SHORT_WORDS, settings.min_words)
    index = BenchmarkIndex(
        min_words=settings.min_words, short_words=short, max_items=settings.max_items
    )
    columns: list[tuple[str, ...]] = []
    ids: list[str] = []
    owners: list[NDArray[np.int32]] = []
    beginnings: list[pa.Array] = []
    rejected = RejectedRows()
    for number, benchmark in enumerate(benchmarks):
        index.begin_next()
        used: dict[str, None] = {}
        seen = 0
        for batch in benchmark.source.rows():
            rejected.add(batch.rejected)
            names = _text_columns(benchmark, batch)
            used |= dict.fromkeys(names)
            fields, rows = _fields(batch.rows, names)
            count = len(batch.rows)
            looked_for = index.add(fields, rows.astype(np.uint32), count)
            beginnings.append(_beginnings(fields, rows, looked_for, count))
            ids += map(str, ids_of(batch, seen).to_pylist())
            owners.append(np.full(count, number, np.int32))
            seen += count
        if not seen:
            raise InputError(f"the benchmark {benchmark.name} has no items")
        if not used:
            raise InputError(
                f"the benchmark {benchmark.name} has no column of texts; name its columns with "
                "--benchmark-text"
            )
        columns.append(tuple(used))
    release_memory()  # what reading has taken, before the tables take as much
    index.finish()
    return Items(
        index,
        [benchmark.name for benchmark in benchmarks],
        columns,
        np.concatenate([np.zeros(0, np.int32), *owners]),
        ids,
        pa.chunked_array(beginnings, pa.large_string()),
        index.words,
        index.same_as,
        rejected,
    )


def ids_of(batch: RowBatch, first: int) -> pa.Array:
    """The ids of the rows of a batch; rows without ids are numbered from `first` on."""
    if batch.ids is not None:
        return batch.ids
    name = batch.names[0]
    if name is not None and name in batch.rows.schema.names:
        return batch.rows[name]
    return column_of(np.arange(first, first + len(batch.rows)))


def open_benchmarks(given: Any, settings: ContaminationSettings) -> list[BenchmarkSource]:
    """What a caller gives as benchmarks: a mapping from names, or a source as for documents."""
    if isinstance(given, Mapping):
        return [
            benchmark
            for name, one in given.items()
            for benchmark in _opened(one, settings, str(name))
        ]
    return _distinct(list(_opened(given, settings, None)))


def open_files(names: Sequence[str], settings: ContaminationSettings) -> list[BenchmarkSource]:
    """Files, folders, globs and URLs by their names, each file a benchmark."""
    return _distinct([one for name in names for one in _opened(name, settings, None)])


def _opened(
    given: Any, settings: ContaminationSettings, name: str | None
) -> Iterator[BenchmarkSource]:
    if isinstance(given, str | os.PathLike):
        given = os.fspath(given)
        files = [source for source in expand([given]) if not source.fault]
        if files and not any(file.format in WHOLE_FILES or file.once for file in files):
            # Every file may have columns of its own, and its rows are numbered from 0.
            for file in files:
                only = given if len(files) == 1 else file.name
                yield _one(file.name, settings, name or only)
            return
        yield _one(given, settings, name or given)
    elif isinstance(given, Sequence) and given and isinstance(given[0], os.PathLike):
        for path in given:
            yield from _opened(path, settings, name)
    else:
        yield _one(given, settings, name or "benchmark")


def _one(given: Any, settings: ContaminationSettings, name: str) -> BenchmarkSource:
    """Open one benchmark, by its column `text` or by another one that there is."""
    named = settings.benchmark_text
    limit = settings.reader.max_document
    if named is None:
        try:
            source = source_of(given, DedupSettings.of(max_document=limit))
            _first_batch(source)
        except NoColumnError as missing:
            if not missing.found:
                raise
            if _is_read_once(given):
                raise InputError(
                    f"the benchmark {name} can be read only once, and has no column 'text'; its "
                    f"columns are {', '.join(map(repr, missing.found))}; name them with "
                    "--benchmark-text"
                ) from None
            return BenchmarkSource(name, _by_any(given, missing.found, limit, name), None)
        return BenchmarkSource(name, source, ("text",))
    return BenchmarkSource(name, _by_any(given, named, limit, name), named)


def _by_any(given: Any, columns: Sequence[str], limit: int, name: str) -> Source:
    """Open a table by any plain column, preferably not by the ids; others are read along."""
    for column in sorted(columns, key=lambda column: column == "id"):
        try:
            # Written as a field, so that rows without a value are read, too.
            source = source_of(
                given, DedupSettings.of(text=f"{Field(column)}*1", max_document=limit)
            )
            _first_batch(source)
        except NoColumnError as missing:
            raise InputError(
                f"the benchmark {name} has no column {column!r}; its columns are "
                f"{', '.join(map(repr, missing.found))}; name others with --benchmark-text"
            ) from None
        except InputError as error:
            failed = error
            continue
        return source
    raise failed


def _is_read_once(given: Any) -> bool:
    """Whether it is standard input or a pipe."""
    return isinstance(given, str) and any(file.once for file in expand([given]))


def _first_batch(source: Source) -> None:
    """Read the first rows, which shows whether the columns are there."""
    for _ in source.rows():
        return


def _text_columns(benchmark: BenchmarkSource, batch: RowBatch) -> list[str]:
    """The columns that are the text of an item."""
    schema = batch.rows.schema
    if benchmark.columns is not None and benchmark.columns != ("text",):
        for name in benchmark.columns:
            # A column that is empty in all rows of a batch of JSON may be missing.
            if name in schema.names and not _has_texts(schema.field(name).type):
                kind = schema.field(name).type
                if not pa.types.is_null(kind):
                    raise InputError(
                        f"the column {name!r} of the benchmark {benchmark.name} holds {kind}, not "
                        "texts; name others with --benchmark-text"
                    )
        return [name for name in benchmark.columns if name in schema.names]
    if benchmark.columns is not None:
        return [name for name in batch.names[1] if name in schema.names]
    return [
        field.name
        for field in schema
        if field.name != batch.names[0] and field.name != "id" and _has_texts(field.type)
    ]


def _has_texts(kind: pa.DataType) -> bool:
    kind = undictionaried(kind)
    if _is_list(kind):
        return _has_texts(kind.value_type)
    if pa.types.is_struct(kind):
        return any(_has_texts(kind.field(place).type) for place in range(kind.num_fields))
    return is_text(kind)


def _is_list(kind: pa.DataType) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests)


def _fields(rows: pa.RecordBatch, columns: Sequence[str]) -> tuple[pa.Array, Rows]:
    """All texts in these columns, each a field, in the order of the rows; and their rows."""
    texts, places = [pa.nulls(0, pa.large_string())], [np.zeros(0, np.int64)]
    for name in columns:
        for column, row in _flat(rows[name], np.arange(len(rows))):
            texts.append(plain_text(column).cast(pa.large_string()))
            places.append(row)
    every, of = pa.concat_arrays(texts), np.concatenate(places)
    order = np.argsort(of, kind="stable")
    return taken(every, column_of(order)), of[order]


def _flat(column: pa.Array, rows: Rows) -> Iterator[tuple[pa.Array, Rows]]:
    """The texts of a column, of its lists and of its structs, without nulls."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if column.null_count:
        valid = column.is_valid()
        column, rows = column.filter(valid), rows[valid.to_numpy(zero_copy_only=False)]
    if _is_list(kind):
        lengths = column.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        yield from _flat(column.flatten(), np.repeat(rows, lengths))
    elif pa.types.is_struct(kind):
        for child in column.flatten():
            yield from _flat(child, rows)
    elif is_text(kind):
        yield column, rows


def _beginnings(
    fields: pa.Array, rows: Rows, looked_for: NDArray[np.bool_], count: int
) -> pa.Array:
    """The first characters of each item: of the fields that are looked for, one per line."""
    shown = looked_for | ~np.isin(rows, rows[looked_for])
    parts: list[list[str]] = [[] for _ in range(count)]
    some = chosen(fields, shown).to_pylist()
    for row, text in zip(rows[shown].tolist(), some, strict=True):
        parts[row].append(text[:_SHOWN])
    return text_column(["\n".join(part)[:_SHOWN] for part in parts])


def _distinct(benchmarks: list[BenchmarkSource]) -> list[BenchmarkSource]:
    """File names without suffixes, with as much of their folders as it takes to tell them apart."""
    paths = [PurePath(benchmark.name) for benchmark in benchmarks]
    stems = [_stem(path) for path in paths]
    deep = 0
    while len(set(stems)) < len(set(paths)) and deep < max(len(path.parts) for path in paths):
        deep += 1
        stems = [
            stem
            if [_stem(other) for other in paths].count(_stem(path)) == 1
            else str(PurePath(*path.parent.parts[-deep:], _stem(path)))
            for path, stem in zip(paths, stems, strict=True)
        ]
    return [
        BenchmarkSource(stem, benchmark.source, benchmark.columns)
        for stem, benchmark in zip(stems, benchmarks, strict=True)
    ]


def _stem(path: PurePath) -> str:
    """A file's name without the suffixes that say its format and compression."""
    name = path.with_suffix("") if path.suffix in COMPRESSION_SUFFIXES else path
    return name.stem or path.name


def places_of(benchmarks: Sequence[BenchmarkSource]) -> list[str]:
    """The files that the benchmarks are read from, which no output may replace."""
    return [place for benchmark in benchmarks for place in benchmark.source.places]

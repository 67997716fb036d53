"""The index of a run, `explore.sqlite`: everything that pages ask for, computed once.

Texts are not copied into it: they are read from the kept and removed rows. Whole columns, such as
the sizes of all clusters, are stored as arrays, which are compared and sorted in memory.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.source import Progress
from neardup.decisions import content_of
from neardup.errors import InputError
from neardup.kernels.columns import chosen, column_of
from neardup.read.columns import is_text, undictionaried
from neardup.runs.cluster_table import ClusterTable, clusters_of
from neardup.runs.folder import RunFolder
from neardup.runs.histograms import histograms_of, source_matrix
from neardup.runs.links import PairFile, stored_links
from neardup.runs.places import Removals, pair_batches, read_removals, some_ids
from neardup.runs.queue import doubtful_pairs
from neardup.runs.search import MOST_COLUMNS
from neardup.runs.texts import StoredTexts, texts_of_rows
from neardup.runs.thresholds import threshold_table
from neardup.runs.words import indexed

FORMAT = 2
_AT_ONCE = 50_000
_TITLE = 160
_TITLE_READ, _MARKUP_READ = 4 * _TITLE, 1 << 14
_MARKUP = re.compile(r"(?is)<(script|style)\b.*?(</\1>|\Z)|<!--.*?(-->|\Z)|<[^>]*(>|\Z)")
_HASH_BYTES = 32 << 20

_SCHEMA = """
CREATE TABLE about(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE arrays(name TEXT PRIMARY KEY, type TEXT, data BLOB);
CREATE TABLE documents(
    place INTEGER PRIMARY KEY, id, kept INTEGER, row INTEGER, cluster INTEGER,
    duplicate_of INTEGER, similarity REAL, via INTEGER, words INTEGER, source INTEGER,
    copy_of INTEGER, decided_by TEXT);
CREATE TABLE contents(place INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE clusters(number INTEGER PRIMARY KEY, around INTEGER, title TEXT);
CREATE TABLE links(place INTEGER PRIMARY KEY, ends BLOB);
"""
_INDEXES = """
CREATE INDEX ids ON documents(id);
CREATE INDEX members ON documents(cluster, kept DESC, similarity DESC, place)
    WHERE cluster IS NOT NULL;
"""


def build(
    folder: RunFolder, path: Path, rows: dict[str, Path], scratch: Path, progress: Progress | None
) -> None:
    """Write the index of a run into a new file; `rows` are its Parquet files of rows."""
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-32768"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("BEGIN")
            _Builder(folder, connection, rows, scratch, progress).run()
            connection.execute("COMMIT")
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        if "fts5" in str(error):
            raise InputError(
                "the SQLite of this Python has no full-text search (FTS5), which a stored run is "
                "opened with; use a Python whose SQLite has it"
            ) from None
        raise InputError(f"cannot write the index of {folder.path}: {error}") from None


class _Builder:
    def __init__(
        self,
        folder: RunFolder,
        connection: sqlite3.Connection,
        rows: dict[str, Path],
        scratch: Path,
        progress: Progress | None,
    ) -> None:
        self._folder, self._connection, self._scratch = folder, connection, scratch
        self._rows, self._progress = rows, progress

    def run(self) -> None:
        folder = self._folder
        self._execute(_SCHEMA)
        removals, places = read_removals(folder)
        texts = StoredTexts(folder, self._rows)
        self._require_rows(texts, removals)
        pairs = PairFile(self._scratch / "pairs", pair_batches(folder, places))
        clusters = clusters_of(
            removals, pairs, folder.threshold, folder.has_all_pairs and folder.within
        )
        self._documents(removals, clusters)
        self._arrays(removals, clusters, pairs)
        degrees = pairs.degrees(removals.count)
        self._many(
            "INSERT INTO links VALUES(?, ?)",
            stored_links(pairs, removals.count, self._scratch / "ends"),
        )
        wanted = degrees > 0
        wanted[: removals.documents] |= removals.cluster >= 0
        wanted[clusters.around[clusters.around >= removals.documents]] = True
        columns = self._texts(removals, clusters, texts, wanted)
        histograms = histograms_of(folder, removals, clusters, pairs)
        about = {
            "format": FORMAT,
            "identity": folder.identity,
            "documents": removals.documents,
            "others": removals.others,
            "clusters": len(clusters),
            "sources": _source_counts(removals),
            "ids_are_numbers": [
                pa.types.is_integer(ids.type) for ids in (removals.ids, removals.other_ids)
            ],
            "search_columns": columns,
            "histograms": {name: asdict(one) for name, one in histograms.items()},
            "matrix": asdict(source_matrix(removals)),
            "thresholds": asdict(threshold_table(folder, removals, clusters, pairs)),
        }
        self._many(
            "INSERT INTO about VALUES(?, ?)",
            ((name, json.dumps(value)) for name, value in about.items()),
        )

    def _require_rows(self, texts: StoredTexts, removals: Removals) -> None:
        """Refuse files of rows that do not have a row for each document."""
        kept = int(removals.kept.sum())
        for kind, count in (("kept", kept), ("removed", removals.documents - kept)):
            if len(texts.file(kind)) != count:
                raise self._folder.damaged(
                    f"{kind}.{self._folder.format}",
                    f"it has {len(texts.file(kind)):,} rows instead of {count:,}",
                )

    def _execute(self, statements: str) -> None:
        for statement in statements.split(";"):
            self._connection.execute(statement)

    def _many(self, statement: str, rows: Iterator[tuple[Any, ...]]) -> None:
        self._connection.executemany(statement, rows)

    def _documents(self, removals: Removals, clusters: ClusterTable) -> None:
        n = removals.documents
        row = np.where(removals.kept, np.cumsum(removals.kept), np.cumsum(~removals.kept)) - 1
        own = np.arange(n)
        copy_of = np.where(removals.copy_of == own, -1, removals.copy_of)
        kept_for, via = removals.kept_for, removals.via
        for begin in range(0, n, _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            places = own[part].tolist()
            similarity = removals.similarity[part]
            columns = [
                places,
                some_ids(removals, begin, begin + len(places)),
                removals.kept[part].astype(np.int8).tolist(),
                row[part].tolist(),
                _or_none(removals.cluster[part]),
                _or_none(kept_for[part]),
                column_of(similarity, np.isnan(similarity)).to_pylist(),
                [None] * len(places) if via is None else _or_none(via[part]),
                removals.words[part].tolist(),
                _or_none(removals.sources[part]),
                _or_none(copy_of[part]),
                [removals.decided_by.get(place) for place in places],
            ]
            self._insert_documents(columns)
            self._tell(len(places) // 2)
        around = np.full(removals.others, -1, np.int64)
        of_other = np.flatnonzero(clusters.around >= n)
        around[clusters.around[of_other] - n] = of_other
        count = removals.others
        nothing: list[Any] = [None] * count
        self._insert_documents(
            [
                list(range(n, n + count)),
                some_ids(removals, n, n + count),
                [1] * count,
                list(range(count)),
                _or_none(around),
                *(nothing, nothing, nothing, [0] * count, nothing, nothing, nothing),
            ]
        )
        self._execute(_INDEXES)

    def _insert_documents(self, columns: list[list[Any]]) -> None:
        places = ", ".join("?" * len(columns))
        self._many(f"INSERT INTO documents VALUES({places})", zip(*columns, strict=True))

    def _arrays(self, removals: Removals, clusters: ClusterTable, pairs: PairFile) -> None:
        queue = doubtful_pairs(self._folder, removals, clusters, pairs)
        arrays: dict[str, NDArray[Any]] = {
            "cluster": np.concatenate(
                (removals.cluster, np.full(removals.others, -1, np.int64))
            ).astype(np.int32),
            **vars(clusters),
            **{f"queue_{name}": value for name, value in vars(queue).items()},
            "removed": removals.removed,
            "removed_for": removals.kept_for[removals.removed],
            "removed_similarity": removals.similarity[removals.removed],
        }
        others = clusters.around >= removals.documents
        arrays["cluster"][clusters.around[others]] = np.flatnonzero(others)
        self._many(
            "INSERT INTO arrays VALUES(?, ?, ?)",
            (
                (name, value.dtype.newbyteorder("<").str, np.ascontiguousarray(value).tobytes())
                for name, value in arrays.items()
            ),
        )

    def _texts(
        self,
        removals: Removals,
        clusters: ClusterTable,
        texts: StoredTexts,
        wanted: NDArray[np.bool_],
    ) -> list[str]:
        """Index the texts of the wanted documents; the columns that can be searched."""
        columns = _search_columns(self._folder, texts)
        names = ", ".join(f"c{number}" for number in range(len(columns)))
        self._connection.execute(
            f"CREATE VIRTUAL TABLE words USING fts5({names}, content='', columnsize=0, "
            "detail=full, tokenize=\"ascii tokenchars '_'\")"
        )
        # Larger portions make fewer parts to merge; measured, 40 % faster.
        for name, value in (("hashsize", _HASH_BYTES), ("automerge", 0)):
            self._connection.execute(f"INSERT INTO words(words, rank) VALUES('{name}', {value})")
        around = np.full(removals.count, -1, np.int64)
        around[clusters.around] = np.arange(len(clusters))
        places = {
            "kept": np.flatnonzero(removals.kept),
            "removed": removals.removed,
            "others": np.arange(removals.documents, removals.count),
        }
        fill = ", ".join("?" * (len(columns) + 1))
        for kind in self._rows:
            file = texts.file(kind)
            known = [name for name in columns if name in file.schema.names]
            read = tuple(dict.fromkeys((*texts.compared(kind), *known)))
            for begin, group in file.batches(read):
                at = places[kind][begin : begin + len(group)]
                some = wanted[at]
                at = at[some]
                rows = chosen(group, some)
                compared = texts.texts_in(kind, rows)
                self._many(
                    "INSERT INTO contents VALUES(?, ?)",
                    zip(at.tolist(), map(content_of, compared), strict=True),
                )
                searched = _searched(kind, rows, columns, compared, texts)
                self._many(
                    f"INSERT INTO words(rowid, {names}) VALUES({fill})",
                    zip(at.tolist(), *searched, strict=True),
                )
                centres = np.flatnonzero(around[at] >= 0)
                self._many(
                    "INSERT INTO clusters VALUES(?, ?, ?)",
                    (
                        (int(around[at[row]]), int(at[row]), title_of(compared[row]))
                        for row in centres.tolist()
                    ),
                )
                self._tell(len(group) - len(group) // 2)
        self._connection.execute("INSERT INTO words(words) VALUES('optimize')")
        return columns

    _done = 0

    def _tell(self, documents: int) -> None:
        self._done += documents
        total = int(self._folder.summary["documents"])
        if self._progress is not None:
            self._progress(min(self._done, total), total, min(self._done, total))


def title_of(text: str) -> str:
    """The beginning of a text, in one line; of a page in HTML or XML, what its tags enclose.

    >>> title_of("<!DOCTYPE html><html><title>A page</title><script>x</script><p>and its text")
    'A page and its text'
    """
    folded = " ".join(text[:_TITLE_READ].split())
    if folded.startswith("<"):
        bare = _MARKUP.sub(" ", text[:_MARKUP_READ])
        folded = " ".join(bare.split()) or folded
    return folded if len(folded) <= _TITLE else f"{folded[: _TITLE - 1]}…"


def _or_none(values: NDArray[Any]) -> list[Any]:
    found: list[Any] = column_of(values.astype(np.int64), values < 0).to_pylist()
    return found


def _search_columns(folder: RunFolder, texts: StoredTexts) -> list[str]:
    """The columns that can be searched: those compared, then other columns of texts."""
    schemas = [texts.file(kind).schema for kind in ("kept", "removed")]
    names = list(folder.text_columns)
    for schema in schemas:
        for field in schema:
            is_compared = field.name in names or field.name == folder.id_column
            is_shown = field.name in texts.columns and is_text(undictionaried(field.type))
            if is_shown and not is_compared:
                names.append(field.name)
    # A run without documents has no columns, and a table of words needs one.
    return names[:MOST_COLUMNS] or ["text"]


def _searched(
    kind: str, rows: pa.Table, columns: list[str], compared: list[str], texts: StoredTexts
) -> list[list[str]]:
    """The texts of each column that can be searched, for the index."""
    found: list[list[str]] = []
    for number, name in enumerate(columns):
        if number == 0 and (kind == "others" or not texts.fields):
            found.append([indexed(text) for text in compared])
        elif kind == "others" or name not in rows.schema.names:
            found.append([""] * len(rows))
        else:
            found.append([indexed(text) for text in texts_of_rows(rows, (name,), (), False)])
    return found


def _source_counts(removals: Removals) -> list[list[Any]]:
    known = removals.sources >= 0
    count = len(removals.source_names)
    every = np.bincount(removals.sources[known], minlength=count)
    removed = np.bincount(removals.sources[known & ~removals.kept], minlength=count)
    rows = zip(removals.source_names, every.tolist(), removed.tolist(), strict=True)
    return [list(row) for row in rows]

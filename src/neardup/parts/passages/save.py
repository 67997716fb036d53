"""The output folder of a search for passages: written completely, or not at all."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.atomic import FolderKind, replacing_folder, require_apart
from neardup.collection.source import Progress, RowBatch
from neardup.deduplication.row_files import FORMATS
from neardup.deduplication.save import require_format
from neardup.frozen import dataclass
from neardup.kernels import thread_count
from neardup.parts.clean_rows import CleanRows, write_clean_rows
from neardup.parts.passages.output import OutputPass

if TYPE_CHECKING:
    from neardup.parts.passages.result import PassagesResult

FOLDER = FolderKind(
    marker="summary.json",
    keys=frozenset({"documents", "families", "settings", "versions"}),
    files=(
        *(rf"kept\.{format}" for format in FORMATS),
        *(r"passages\.parquet", r"families\.parquet", r"rejected\.jsonl"),
        *(r"summary\.json", r"report\.html"),
    ),
)
_SHOWN_FAMILIES = 100


@dataclass(frozen=True, eq=False)
class Saved:
    """The summary as it was written, and the largest families."""

    summary: dict[str, Any]
    largest: list[dict[str, Any]]


def save(
    result: PassagesResult,
    path: str | os.PathLike[str],
    *,
    overwrite: bool,
    format: str,
    command: str | None = None,
    progress: Progress | None = None,
) -> Saved:
    """Write passages, families, the summary and the page; the texts, if passages are removed."""
    from neardup.parts.passages.page import passages_page
    from neardup.parts.passages.result import removed_numbers

    require_format(format)
    require_apart(path, result.found.source.places)
    began = time.perf_counter()
    with replacing_folder(path, FOLDER, overwrite=overwrite) as folder:
        walk = result.output(progress)
        if result.settings.remove is None:
            _write_passages(walk, folder / "passages.parquet")
        else:
            _write_both(walk, result, folder, format)
        largest = _write_families(folder / "families.parquet", walk)
        with (folder / "rejected.jsonl").open("w", encoding="utf-8") as lines:
            lines.writelines(result.found.read.rejected.lines())
        removed = {} if result.settings.remove is None else removed_numbers(walk)
        summary = {**result.summary_with(removed), "format": format, "command": command}
        summary["seconds"]["output"] = round(time.perf_counter() - began, 3)
        spread = result.found.families.documents
        page = passages_page(summary, largest, spread, os.fspath(path))
        (folder / "report.html").write_text(page, encoding="utf-8")
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
    return Saved(summary, largest)


class _PassagesFile:
    """passages.parquet, written batch by batch."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: pq.ParquetWriter | None = None

    def write(self, table: pa.RecordBatch) -> None:
        if self._writer is None:
            # Through a Python file, because Arrow does not accept names that are not UTF-8.
            self._file = self._path.open("wb")
            self._writer = pq.ParquetWriter(self._file, table.schema, compression="zstd")
        if len(table):
            self._writer.write_batch(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._file.close()
            self._writer = None


def _write_passages(walk: OutputPass, path: Path) -> None:
    with closing(_PassagesFile(path)) as file:
        for one in walk:
            file.write(one.table)


def _write_both(walk: OutputPass, result: PassagesResult, folder: Path, format: str) -> None:
    """Write passages.parquet and the kept texts, in one pass."""

    def cleaned() -> Iterator[tuple[RowBatch, CleanRows]]:
        with closing(_PassagesFile(folder / "passages.parquet")) as file:
            for one in walk:
                file.write(one.table)
                yield one.batch, CleanRows(one.texts)

    threads = thread_count(result.settings.reading.threads)
    write_clean_rows(cleaned, folder, format, threads=threads)


def _write_families(path: Path, walk: OutputPass) -> list[dict[str, Any]]:
    """Write families.parquet; returns the first rows."""
    largest: list[dict[str, Any]] = []
    with path.open("wb") as file:
        writer = None
        for batch in walk.family_batches():
            if writer is None:
                writer = pq.ParquetWriter(file, batch.schema, compression="zstd")
                largest = batch.slice(0, _SHOWN_FAMILIES).to_pylist()
            writer.write_batch(batch)
        if writer is not None:
            writer.close()
    return largest

"""The output folder of a search for passages: written completely, or not at all."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.atomic import FolderKind, replacing_folder, require_apart
from neardup.collection.source import Progress, RowBatch
from neardup.deduplication.row_files import FORMATS
from neardup.deduplication.save import require_format
from neardup.frozen import dataclass
from neardup.kernels import thread_count
from neardup.parts.clean_rows import CleanRows, write_clean_rows
from neardup.parts.growing_table import GrowingTable
from neardup.parts.passages.output import OutputPass, passages_schema

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
            _write_passages(walk, result, folder)
        else:
            _write_both(walk, result, folder, format)
        largest = _write_families(folder / "families.parquet", walk)
        with (folder / "rejected.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
            lines.writelines(result.found.read.rejected.lines())
        removed = {} if result.settings.remove is None else removed_numbers(walk)
        summary = {**result.summary_with(removed), "format": format, "command": command}
        summary["seconds"]["output"] = round(time.perf_counter() - began, 3)
        spread = result.found.families.documents
        page = passages_page(summary, largest, spread, os.fspath(path))
        (folder / "report.html").write_text(page, encoding="utf-8", newline="\n")
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    return Saved(summary, largest)


def _passages_file(folder: Path, result: PassagesResult) -> GrowingTable:
    ids = result.found.read.ids.type
    return GrowingTable(folder / "passages.parquet", lambda: passages_schema(ids))


def _write_passages(walk: OutputPass, result: PassagesResult, folder: Path) -> None:
    with _passages_file(folder, result) as file:
        for one in walk:
            file.add(pa.Table.from_batches([one.table]))


def _write_both(walk: OutputPass, result: PassagesResult, folder: Path, format: str) -> None:
    """Write passages.parquet and the kept texts, in one pass."""

    def cleaned() -> Iterator[tuple[RowBatch, CleanRows]]:
        with _passages_file(folder, result) as file:
            for one in walk:
                file.add(pa.Table.from_batches([one.table]))
                yield one.batch, CleanRows(one.texts)

    threads = thread_count(result.settings.reading.threads)
    write_clean_rows(cleaned, folder, format, threads=threads)


def _write_families(path: Path, walk: OutputPass) -> list[dict[str, Any]]:
    """Write families.parquet; returns the first rows."""
    largest: list[dict[str, Any]] = []
    with GrowingTable(path, lambda: batch.schema) as file:
        for batch in walk.family_batches():
            largest = largest or batch.slice(0, _SHOWN_FAMILIES).to_pylist()
            file.add(pa.Table.from_batches([batch]))
    return largest

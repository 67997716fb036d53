"""The folder that a deduplication leaves behind: complete, or not there at all."""

from __future__ import annotations

import csv
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import NeardupError, SettingError
from neardup.pipeline.dedup.duplicates import write_levels
from neardup.pipeline.dedup.page import page_of
from neardup.pipeline.dedup.rows import kept_rows

if TYPE_CHECKING:
    from neardup.pipeline.dedup.result import Result

FORMATS = ("parquet", "jsonl", "csv")


def save(result: Result, path: str | os.PathLike[str], *, overwrite: bool, format: str) -> None:
    """Write kept rows, pairs, clusters, rejected rows, the summary and the page."""
    if format not in FORMATS:
        raise SettingError(f"format={format!r} is unknown; choose {', '.join(FORMATS)}")
    with whole_folder(path, overwrite=overwrite) as folder:
        _write_kept(result, folder / f"kept.{format}", format)
        pq.write_table(result.pairs, folder / "pairs.parquet", compression="zstd")
        pq.write_table(result.clusters, folder / "clusters.parquet", compression="zstd")
        with (folder / "rejected.jsonl").open("w", encoding="utf-8") as file:
            for row in result.collected.rejected:
                file.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
        summary = json.dumps(result.summary, indent=2, ensure_ascii=False)
        (folder / "summary.json").write_text(summary + "\n", encoding="utf-8")
        write_levels(result, folder)
        (folder / "report.html").write_text(page_of(result), encoding="utf-8")


def require_free(path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse a folder that is there already, before any work is done."""
    target = Path(path)
    if target.exists() and not overwrite:
        raise NeardupError(f"{target} is there already; name another folder or give --overwrite")
    if target.exists() and not target.is_dir():
        raise NeardupError(f"{target} is a file; name a folder for the output")


@contextmanager
def whole_folder(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[Path]:
    """Give a folder beside `path` to write to; on success it takes that name, else it goes."""
    require_free(path, overwrite=overwrite)
    target = Path(path).absolute()
    try:
        unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise NeardupError(
            f"cannot write {target}: {error.strerror}; choose another place for the output"
        ) from None
    try:
        content = unfinished / "new"
        content.mkdir()
        yield content
        if target.exists():
            target.rename(unfinished / "old")
        content.rename(target)
    except OSError as error:
        raise NeardupError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write_kept(result: Result, path: Path, format: str) -> None:
    schema, batches = kept_rows(result.source, result.keeps)
    if format == "parquet":
        with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as writer:
            for batch in batches:
                writer.write_batch(batch)
    elif format == "jsonl":
        _write_json_lines(batches, path)
    else:
        _write_csv(schema, batches, path)


def _write_json_lines(batches: Iterator[pa.RecordBatch], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for batch in batches:
            for row in batch.to_pylist():
                file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


def _write_csv(schema: pa.Schema, batches: Iterator[pa.RecordBatch], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(schema.names)
        for batch in batches:
            writer.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))

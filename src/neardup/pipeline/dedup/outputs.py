"""The folder that a deduplication leaves behind: complete, or not there at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import NeardupError, SettingError
from neardup.pipeline.dedup.duplicates import write_levels
from neardup.pipeline.dedup.page import page_of
from neardup.pipeline.dedup.rows import SchemaGrewError, kept_rows, under_one_schema
from neardup.pipeline.dedup.shown import shown_places
from neardup.pipeline.dedup.texts import TextPicker
from neardup.report.spreadsheet import SpreadsheetWriter

if TYPE_CHECKING:
    from neardup.pipeline.dedup.result import Result

_SHORT_BYTES = 64
FORMATS = ("parquet", "jsonl", "csv")


def save(result: Result, path: str | os.PathLike[str], *, overwrite: bool, format: str) -> None:
    """Write kept rows, pairs, clusters, rejected rows, the summary and the page."""
    require_format(format)
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


def require_format(format: str) -> None:
    """Refuse a format that kept rows cannot be written in."""
    if format not in FORMATS:
        raise SettingError(f"format={format!r} is unknown; choose {', '.join(FORMATS)}")


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
        _take_place(content, target, unfinished / "old")
    except OSError as error:
        raise NeardupError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _take_place(content: Path, target: Path, aside: Path) -> None:
    """Give a folder the name of another, which comes back if that fails."""
    replaces = target.exists()
    if replaces:
        target.rename(aside)
    try:
        content.rename(target)
    except OSError:
        if replaces:
            aside.rename(target)
        raise


def _write_kept(result: Result, path: Path, format: str) -> None:
    """One pass over the input, which also picks up the texts that are shown later."""
    write = {"parquet": _write_parquet, "jsonl": _write_json_lines, "csv": _write_csv}[format]
    schema: pa.Schema | None = None
    while True:
        picker = TextPicker(shown_places(result))
        try:
            write(kept_rows(result.source, result.keeps, picker), schema, path)
        except SchemaGrewError as grew:
            schema = grew.schema
            continue
        result.__dict__["texts"] = picker.texts
        return


def _write_parquet(batches: Iterator[pa.RecordBatch], schema: pa.Schema | None, path: Path) -> None:
    fitting = under_one_schema(batches, schema)
    first = next(fitting, None)
    known = first.schema if first is not None else schema or pa.schema([])
    short = [] if first is None else _short_columns(first)
    with pq.ParquetWriter(
        path, known, compression="zstd", use_dictionary=short, write_page_checksum=True
    ) as writer:
        for batch in () if first is None else chain((first,), fitting):
            writer.write_batch(batch)


def _short_columns(batch: pa.RecordBatch) -> list[str]:
    """The columns that may say the same again and again.

    To look for that in texts would cost an eighth of the writing, in vain.
    """
    most = _SHORT_BYTES * max(1, len(batch))
    return [name for name in batch.schema.names if batch[name].nbytes <= most]


def _write_json_lines(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema | None, path: Path
) -> None:
    with path.open("wb") as file:
        for batch in batches:
            for row in batch.to_pylist():
                file.write(orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE))


def _write_csv(batches: Iterator[pa.RecordBatch], schema: pa.Schema | None, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = SpreadsheetWriter(file)
        for number, batch in enumerate(under_one_schema(batches, schema)):
            if number == 0:
                writer.rows([batch.schema.names])
            writer.rows(zip(*(column.to_pylist() for column in batch.columns), strict=True))

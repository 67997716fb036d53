"""The output folder of a deduplication: written completely, or not at all."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.atomic import FolderKind, replacing_folder, require_apart
from neardup.deduplication.page import page_of, shown_places
from neardup.deduplication.rows import SchemaGrewError, TextPicker, kept_rows, under_one_schema
from neardup.errors import SettingError
from neardup.figures import INSTALL, can_draw, new_figure, write_figure
from neardup.report.spreadsheet import SpreadsheetWriter

if TYPE_CHECKING:
    from neardup.deduplication.result import Result


_SHORT_BYTES = 64
FORMATS = ("parquet", "jsonl", "csv")
# All that is ever written; a folder with anything else in it is never overwritten.
FOLDER = FolderKind(
    marker="summary.json",
    keys=frozenset({"documents", "scheme", "settings", "versions"}),
    files=(
        *(rf"kept\.{format}" for format in FORMATS),
        *(r"pairs\.parquet", r"clusters\.parquet", r"rejected\.jsonl", r"summary\.json"),
        *(r"report\.html", r"duplicates-[0-9.e+-]+\.txt", r"cluster-sizes\.png"),
    ),
)


def write_levels(result: Result, folder: Path) -> None:
    """At each level a text file of duplicates, and the cluster sizes of all as one picture.

    Without matplotlib there is no picture, and a warning says so.
    """
    levels = result.settings.levels
    if not levels:
        return
    stricter = {level: result.rethreshold(level) for level in levels}
    for level, one in stricter.items():
        with (folder / f"duplicates-{level:g}.txt").open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in duplicate_lines(one))
    if can_draw():
        _draw({level: one.clustering.sizes for level, one in stricter.items()}, folder)
    else:
        warnings.warn(
            f"cluster-sizes.png is left out: it needs matplotlib; install it with {INSTALL}",
            stacklevel=2,
        )


def duplicate_lines(result: Result) -> Iterator[str]:
    """A document, then all that it was paired with, with tabs between.

    Exact copies have no lines of their own: they stand in that of the first of their kind, and
    beside it wherever that is a duplicate of another.
    """
    found, ids = result.found, result.collected.ids
    members, firsts = result.collected.repeats()
    copies: dict[int, list[int]] = {}
    for member, first in zip(members.tolist(), firsts.tolist(), strict=True):
        copies.setdefault(first, []).append(member)
    others: dict[int, list[int]] = {first: list(same) for first, same in copies.items()}
    for a, b in zip(found.a.tolist(), found.b.tolist(), strict=True):
        others.setdefault(a, []).extend((b, *copies.get(b, ())))
        others.setdefault(b, []).extend((a, *copies.get(a, ())))
    order = sorted(others, key=lambda place: (-len(others[place]), place))
    for place in order:
        yield "\t".join(str(ids[one]) for one in (place, *sorted(others[place])))


def _draw(sizes: dict[float, np.ndarray], folder: Path) -> None:
    figure = new_figure(4 * len(sizes), 3.2)
    many = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for axes, (level, found) in zip(many, sizes.items(), strict=True):
        values, counts = np.unique(found, return_counts=True)
        axes.bar(np.arange(len(values)), counts, color="0.6", edgecolor="black")
        shown = np.arange(0, len(values), max(1, len(values) // 8))
        axes.set_xticks(shown, [str(values[place]) for place in shown])
        axes.set(title=f"threshold {level:g}", xlabel="documents in a cluster", yscale="log")
        if not len(values):
            axes.text(0.5, 0.5, "no duplicates", ha="center", transform=axes.transAxes)
    many[0].set_ylabel("clusters")
    write_figure(figure, folder / "cluster-sizes.png", "png")


def save(
    result: Result, path: str | os.PathLike[str], *, overwrite: bool, format: str
) -> dict[int, str]:
    """Write kept rows, pairs, clusters, rejected rows, the summary and the page.

    Returns the texts that the page shows, by their places.
    """
    require_format(format)
    require_apart(path, [*result.source.places, *result.other_source.places])
    with replacing_folder(path, FOLDER, overwrite=overwrite) as folder:
        texts = _write_kept(result, folder / f"kept.{format}", format)
        _write_pairs(result, folder / "pairs.parquet")
        with (folder / "clusters.parquet").open("wb") as file:
            pq.write_table(result.clusters, file, compression="zstd")
        with (folder / "rejected.jsonl").open("w", encoding="utf-8") as lines:
            lines.writelines(result.collected.rejected.lines())
        summary = json.dumps(result.summary, indent=2, ensure_ascii=False)
        (folder / "summary.json").write_text(summary + "\n", encoding="utf-8")
        write_levels(result, folder)
        (folder / "report.html").write_text(page_of(result, texts), encoding="utf-8")
    return texts


def require_format(format: str) -> None:
    """Refuse a format that kept rows cannot be written in."""
    if format not in FORMATS:
        raise SettingError(f"format={format!r} is unknown; choose {', '.join(FORMATS)}")


def _write_pairs(result: Result, path: Path) -> None:
    batches = result.pair_batches()
    first = next(batches)
    # By a file of Python's, here as below: Arrow takes no name that is not UTF-8.
    with (
        path.open("wb") as file,
        pq.ParquetWriter(file, first.schema, compression="zstd") as writer,
    ):
        for batch in chain((first,), batches):
            writer.write_batch(batch)


def _write_kept(result: Result, path: Path, format: str) -> dict[int, str]:
    """One pass over the input, which also picks up the texts that the page shows."""
    write = {"parquet": _write_parquet, "jsonl": _write_json_lines, "csv": _write_csv}[format]
    schema: pa.Schema | None = None
    while True:
        picker = TextPicker(shown_places(result))
        try:
            write(kept_rows(result.source, result.keeps, picker), schema, path)
        except SchemaGrewError as grew:
            schema = grew.schema
            continue
        return picker.texts


def _write_parquet(batches: Iterator[pa.RecordBatch], schema: pa.Schema | None, path: Path) -> None:
    fitting = under_one_schema(batches, schema)
    first = next(fitting, None)
    known = first.schema if first is not None else schema or pa.schema([])
    short = [] if first is None else _short_columns(first)
    with (
        path.open("wb") as file,
        pq.ParquetWriter(
            file, known, compression="zstd", use_dictionary=short, write_page_checksum=True
        ) as writer,
    ):
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

"""The output folder of a deduplication: written completely, or not at all."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.atomic import FolderKind, replacing_folder, require_apart
from neardup.collection.model import MODEL_FILE
from neardup.collection.source import FileSource, Progress
from neardup.deduplication.document_files import write_documents, write_others
from neardup.deduplication.obeyed import OBEYED
from neardup.deduplication.page import page_of, shown_places
from neardup.deduplication.row_files import FORMATS, KINDS, write_rows
from neardup.errors import SettingError
from neardup.figures import INSTALL, can_draw, new_figure, write_figure
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of
from neardup.read.file_kinds import WHOLE_FILES

if TYPE_CHECKING:
    from neardup.deduplication.result import Result


# All that is ever written; a folder with anything else in it is never overwritten.
FOLDER = FolderKind(
    marker="summary.json",
    keys=frozenset({"documents", "scheme", "settings", "versions"}),
    files=(
        *(rf"(kept|removed)\.{format}" for format in FORMATS),
        *(r"pairs\.parquet", r"clusters\.parquet", r"rejected\.jsonl", r"summary\.json"),
        *(r"report\.html", r"duplicates-[0-9.e+-]+\.txt", r"cluster-sizes\.png"),
        *(r"documents\.parquet", r"others\.parquet", r"obeyed\.json", r"explore\..+"),
        *(r"model\.json", r"removed\.txt"),
    ),
    carried=("decisions.jsonl",),
    parts=r"part-\d{5,}\.\w+",
)


@dataclass(frozen=True)
class Saved:
    """The summary as it was written, and the texts that the page shows, by their places."""

    summary: dict[str, Any]
    texts: dict[int, str]


def write_levels(result: Result, folder: Path) -> None:
    """At each level a text file of duplicates, and the cluster sizes of all as one picture.

    Without matplotlib there is no picture, and a warning says so.
    """
    levels = result.settings.levels
    if not levels:
        return
    stricter = {level: result.rethreshold(level) for level in levels}
    for level, one in stricter.items():
        with (folder / f"duplicates-{level:g}.txt").open(
            "w", encoding="utf-8", newline="\n"
        ) as file:
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
    ids = result.collected.ids
    members, firsts = result.collected.repeats()
    copies: dict[int, list[int]] = {}
    for member, first in zip(members.tolist(), firsts.tolist(), strict=True):
        copies.setdefault(first, []).append(member)
    others: dict[int, list[int]] = {first: list(same) for first, same in copies.items()}
    for batch in () if result.all_pairs is None else result.all_pairs.batches():
        for a, b in zip(batch.a.tolist(), batch.b.tolist(), strict=True):
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
    result: Result,
    path: str | os.PathLike[str],
    *,
    overwrite: bool,
    format: str,
    copies: bool = False,
    command: str | None = None,
    progress: Progress | None = None,
) -> Saved:
    """Write kept and removed rows, pairs, clusters, rejected rows, the summary and the page.

    `command` is the command line that asked for it, `progress` follows the rows.
    """
    require_format(format)
    others = () if result.other_source is None else result.other_source.places
    require_apart(path, [*result.source.places, *others])
    began = time.perf_counter()
    with replacing_folder(path, FOLDER, overwrite=overwrite) as folder:
        shown = shown_places(result)
        rows = [folder / f"{name}.{format}" for name in ("kept", "removed")]
        seen = write_rows(result, rows, KINDS[format], shown, copies, progress)
        write_documents(result, seen.sources(), folder)
        texts = seen.texts | write_others(result, shown, folder)
        if result.settings.pairs != "none":
            _write_pairs(result, folder / "pairs.parquet")
        with (folder / "clusters.parquet").open("wb") as file:
            pq.write_table(result.clusters, file, compression="zstd")
        if (paths := removed_files(result)) is not None:
            with (folder / "removed.txt").open("w", encoding="utf-8", newline="\n") as lines:
                lines.writelines(f"{path}\n" for path in paths)
        with (folder / "rejected.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
            lines.writelines(result.collected.rejected.lines())
        write_levels(result, folder)
        if result.obeyed is not None:
            held = result.obeyed.stored(len(result.collected), result.other_id)
            (folder / OBEYED).write_text(
                json.dumps(held, ensure_ascii=False), encoding="utf-8", newline="\n"
            )
        if result.settings.fitted is not None:
            result.settings.fitted.save(folder / MODEL_FILE)
        about = {"command": command, "format": format, "columns": seen.columns}
        so_far = with_output(result, time.perf_counter() - began, about)
        page = page_of(result, texts, so_far, os.fspath(path))
        (folder / "report.html").write_text(page, encoding="utf-8", newline="\n")
        summary = with_output(result, time.perf_counter() - began, about)
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    return Saved(summary, texts)


def removed_files(result: Result) -> list[str] | None:
    """The paths of the removed documents; None unless every document is a file of its own.

    A line break in a name is escaped, so that no line is the name of another file.
    """
    source = result.source
    if not isinstance(source, FileSource) or not pa.types.is_string(result.collected.ids.type):
        return None
    read = [file for file in source.files if not file.fault]
    if not read or any(file.format not in WHOLE_FILES for file in read):
        return None
    removed = result.collected.ids.filter(column_of(~result.keeps)).to_pylist()
    return [path.replace("\n", "\\n").replace("\r", "\\r") for path in removed]


def require_format(format: str) -> None:
    """Refuse a format that rows cannot be written in."""
    if format not in FORMATS:
        raise SettingError(f"format={format!r} is unknown; choose {', '.join(FORMATS)}")


def with_output(result: Result, spent: float, about: dict[str, Any]) -> dict[str, Any]:
    """The summary, with what is known of the files, and the time that they have taken so far."""
    summary = {**result.summary, **about}
    summary["seconds"] = {**summary["seconds"], "output": round(spent, 3)}
    summary["wall_seconds"] = round(result.wall_seconds + spent, 3)
    return summary


def _write_pairs(result: Result, path: Path) -> None:
    batches = result.pair_batches()
    first = next(batches)
    # Through a Python file, because Arrow does not accept names that are not UTF-8.
    with (
        path.open("wb") as file,
        pq.ParquetWriter(file, first.schema, compression="zstd") as writer,
    ):
        for batch in chain((first,), batches):
            writer.write_batch(batch)

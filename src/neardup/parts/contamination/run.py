"""`contamination`: the whole run, top to bottom."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup import kernels
from neardup.atomic import FolderKind, TemporaryFolder, replacing_folder, require_apart
from neardup.collection.source import Progress, Source
from neardup.collection.timing import Timer
from neardup.deduplication.row_files import FORMATS
from neardup.deduplication.save import require_format
from neardup.deduplication.sources import texts_in
from neardup.deduplication.summary import peak_megabytes, versions
from neardup.errors import SettingError
from neardup.parts.contamination.items import (
    BenchmarkSource,
    open_benchmarks,
    places_of,
    read_items,
)
from neardup.parts.contamination.page import contamination_page
from neardup.parts.contamination.removal import MarkedRanges, write_without
from neardup.parts.contamination.result import (
    ContaminationResult,
    WorstItem,
    benchmark_rows,
    worst_items,
)
from neardup.parts.contamination.scan import CorpusScan
from neardup.parts.contamination.settings import MAX_ITEMS, MIN_WORDS, ContaminationSettings
from neardup.parts.contamination.tables import ITEMS, ItemNames, items_table
from neardup.settings import suggests_settings

FOLDER = FolderKind(
    marker="summary.json",
    keys=frozenset({"benchmarks", "hits", "settings", "versions"}),
    files=(
        *(r"hits\.parquet", r"items\.parquet", r"documents\.parquet", r"summary\.json"),
        *(r"report\.html", r"rejected\.jsonl", r"removed_passages\.parquet"),
        *(rf"(kept|removed)\.{format}" for format in FORMATS),
    ),
)
StageProgress = Callable[[str], Progress | None]


@suggests_settings
def contamination(
    corpus: Any,
    benchmark: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    min_words: int = MIN_WORDS,
    max_items: int = MAX_ITEMS,
    benchmark_text: str | None = None,
    remove: str | None = None,
    remove_share: float | None = None,
    format: str = "parquet",
    text: str | None = None,
    id: str | None = None,
    read_as: str | None = None,
    suffix: str | None = None,
    max_document: str | int = "64MB",
    threads: int | None = None,
) -> ContaminationResult:
    r"""Find the items of benchmarks that occur, wholly or in part, in the documents of a corpus.

    An item hits a document if both have the same `min_words` words in a row; case, punctuation and
    line breaks do not matter. The corpus is read once, batch by batch, and once more to `remove`;
    only the benchmark is held in memory.

    Args:
        corpus: The documents. Files: a path, folder, glob or URL as a string, or a list of
            `pathlib.Path`. In memory: a list of texts or of dicts, a column, or a table.
        benchmark: The items, in one of the same forms, or a dict from names to them.
        output: Folder to write hits, items, documents, a summary and a page to. Default: none; the
            tables are then in temporary files that go with the result.
        overwrite: Replace the output folder of an earlier run.
        min_words: Words of a hit, at least. Items with fewer words, but at least 5, hit only as a
            whole. A character of Chinese or Japanese is a word.
        max_items: Words that more items than this have in common are no hit by themselves.
        benchmark_text: Columns of the benchmark with the text, such as `question+choices`. Default:
            text, or all columns of texts and lists of texts.
        remove: Also write the corpus without contaminated `documents`, or without `passages`:
            the sentences that hits are in. Needs `output`.
        remove_share: Remove for items of which a document has at least this share. Default: 0.5.
        format: Format of the rows that `remove` writes: parquet, jsonl or csv.
        text: Column with the text of the corpus. Default: text.
        id: Column with the ids of the corpus. Default: id if present, else the row number.
        read_as: Read all files in this format, whatever their suffix: text, lines, html, pdf, warc,
            json, jsonl, csv, tsv, parquet or arrow. Default: by suffix.
        suffix: Of folders and globs, read the files with one of these suffixes, for example
            ".py,.html,.md". Default: all that can be read.
        max_document: Reject longer documents and items.
        threads: Number of threads. Default: all cores.

    >>> import neardup as nd
    >>> page = "He wrote:\n\nTO BE, or not to be: that is the question. And so on."
    >>> items = ["To be, or not to be, that is the question", "I think, therefore I am, he said"]
    >>> found = nd.contamination([page, "another page"], items)
    >>> found.items.select(["item", "documents", "share"]).to_pylist()[0]
    {'item': '0', 'documents': 1, 'share': 1.0}
    """
    settings = ContaminationSettings.of(
        min_words=min_words,
        max_items=max_items,
        remove=remove,
        remove_share=remove_share,
        benchmark_text=benchmark_text,
        text=text,
        id=id,
        read_as=read_as,
        suffix=suffix,
        max_document=max_document,
        threads=threads,
    )
    require_format(format)
    source = texts_in(corpus, settings.reader)
    benchmarks = open_benchmarks(benchmark, settings)
    return find_contamination(
        source, benchmarks, settings, output=output, overwrite=overwrite, format=format
    )


def find_contamination(
    source: Source,
    benchmarks: list[BenchmarkSource],
    settings: ContaminationSettings,
    *,
    output: str | os.PathLike[str] | None,
    overwrite: bool = False,
    format: str = "parquet",
    stage: StageProgress = lambda _: None,
) -> ContaminationResult:
    """The run, on sources that are open; `stage` is told what begins."""
    if output is None:
        if settings.remove is not None:
            raise SettingError("remove writes rows to a folder; name it with output")
        temporary = TemporaryFolder()
        made = _run(source, benchmarks, settings, temporary.path, format, stage)
        return ContaminationResult(*made, temporary.path, temporary)
    require_apart(output, [*source.places, *places_of(benchmarks)])
    with replacing_folder(output, FOLDER, overwrite=overwrite) as folder:
        made = _run(source, benchmarks, settings, folder, format, stage)
    return ContaminationResult(*made, Path(output))


def _run(
    source: Source,
    benchmarks: list[BenchmarkSource],
    settings: ContaminationSettings,
    folder: Path,
    format: str,
    stage: StageProgress,
) -> tuple[dict[str, Any], pa.Table, list[WorstItem]]:
    """Read, scan, remove and write; returns the summary, the table of items and the worst ones."""
    timer = Timer()
    with timer.stage("benchmark"):
        stage("benchmark")
        items = read_items(benchmarks, settings)
    with ExitStack() as stack:
        marks = stack.enter_context(TemporaryFolder()) / "marked.parquet"
        with timer.stage("corpus"):
            scan = CorpusScan(items, settings, folder, marks)
            scan.run(source, stage("corpus"))
        removed: dict[str, int] = {}
        if settings.remove is not None:
            with timer.stage("output"):
                removed = write_without(
                    source,
                    folder,
                    format,
                    settings.remove,
                    MarkedRanges(marks, scan.documents),
                    ItemNames(items),
                    threads=kernels.thread_count(settings.reader.threads),
                    progress=stage("output"),
                )
    table = items_table(items, scan.totals, scan.id_type)
    pq.write_table(table, folder / ITEMS, compression="zstd")
    with (folder / "rejected.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(items.rejected.lines())
        lines.writelines(scan.rejected.lines())
    summary = {
        "documents": scan.documents,
        "words": scan.words,
        "hits": scan.hits,
        "documents_with_hits": scan.documents_with_hits,
        **removed,
        "benchmarks": benchmark_rows(items, table),
        "common": {
            "runs": items.index.common_count,
            "examples": items.common(settings.min_words),
        },
        "rejected": len(items.rejected) + len(scan.rejected),
        "left_out": items.rejected.left_out + scan.rejected.left_out,
        "settings": settings.as_dict() | {"format": format if settings.remove else None},
        "corpus": list(source.places),
        "seconds": {name: round(spent, 3) for name, spent in timer.seconds.items()},
        "peak_megabytes": round(peak_megabytes(), 1),
        "versions": versions(),
    }
    worst = worst_items(items, scan.totals)
    (folder / "report.html").write_text(
        contamination_page(summary, table, worst), encoding="utf-8", newline="\n"
    )
    (folder / "summary.json").write_text(
        json.dumps(summary, indent=2), encoding="utf-8", newline="\n"
    )
    return summary, table, worst

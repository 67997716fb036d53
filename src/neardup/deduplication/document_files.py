"""What the folder of a run tells of every document, so that the run can be opened again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.deduplication.rows import TextPicker
from neardup.kernels.columns import column_of, taken, text_column

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

Places = NDArray[np.int64]

DOCUMENTS, OTHERS = "documents.parquet", "others.parquet"
_ROW_GROUP = 1 << 17


def part_files(path: Path) -> list[Path]:
    """The files of a table: the one of its name, or those in the folder of its name."""
    return sorted(path.iterdir()) if path.is_dir() else [path]


def write_documents(result: Result, sources: pa.Array, folder: Path) -> None:
    """One row for each document, in the order of the input: what it is, and whether it is kept.

    `rank` is its place in the keep order, where that is not the order of the input.
    """
    collected, kinds = result.collected, result.both.kinds[: len(result.collected)]
    columns = {
        "id": collected.ids,
        "kept": column_of(result.keeps),
        "words": column_of(collected.words),
        "copy_of": column_of(kinds, kinds < 0),
        "source": sources,
    }
    places = np.arange(len(collected))
    if not np.array_equal(result.order, places):
        rank = np.empty_like(places)
        rank[result.order] = places
        columns["rank"] = column_of(rank)
    # Through a Python file, because Arrow does not accept names that are not UTF-8.
    with (folder / DOCUMENTS).open("wb") as file:
        pq.write_table(pa.table(columns), file, compression="zstd", row_group_size=_ROW_GROUP)


def write_others(result: Result, shown: Places, folder: Path) -> dict[int, str]:
    """The documents of the other collection that clusters, pairs or decisions name, with texts.

    Returns the texts of those `shown`, by their places.
    """
    source, right, n = result.other_source, result.both.right, len(result.collected)
    if source is None or right is None:
        return {}
    named = named_others(result)
    wanted = shown[shown >= n] - n
    picker, first = TextPicker(wanted), 0
    end = max(np.flatnonzero(named).max(initial=-1), wanted.max(initial=-1)) + 1
    schema = _schema(result)
    with (
        (folder / OTHERS).open("wb") as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        for batch in source.batches() if end else ():
            count = len(batch.ids)
            some = np.flatnonzero(named[first : first + count])
            if len(some):
                every = TextPicker(first + some)
                every.see(first, count, batch.columns)
                texts = text_column([every.texts[place] for place in (first + some).tolist()])
                columns = {"id": taken(right.ids, column_of(first + some)), "text": texts}
                columns |= _origins(result, first + some)
                writer.write_batch(pa.RecordBatch.from_pydict(columns, schema))
            picker.see(first, count, batch.columns)
            first += count
            if first >= end:  # the rest of a large collection need not be read
                break
    return {n + place: text for place, text in picker.texts.items()}


def named_others(result: Result) -> NDArray[np.bool_]:
    """Which documents of the other collection occur in clusters, pairs or decisions."""
    assert result.both.right is not None
    n, clustering = len(result.collected), result.clustering
    named = np.zeros(len(result.both.right), np.bool_)
    parts = [clustering.kept_for, clustering.around, result.evidence.b]
    if result.obeyed is not None:  # decisions about them are obeyed at other thresholds, too
        parts.append(result.obeyed.told.special)
    if clustering.via is not None:
        parts.append(clustering.via)
    for places in parts:
        named[places[places >= n] - n] = True
    if result.all_pairs is not None and result.settings.pairs == "all":
        for batch in result.all_pairs.batches():
            named[batch.b[batch.b >= n] - n] = True
    return named


def _schema(result: Result) -> pa.Schema:
    assert result.both.right is not None
    fields = {"id": result.both.right.ids.type, "text": pa.large_string()}
    if result.origins is not None:
        fields |= {"source": pa.string(), "added": pa.timestamp("ms", "UTC")}
    return pa.schema(fields)


def _origins(result: Result, places: Places) -> dict[str, pa.Array]:
    """From which delivery documents of an index came, and when."""
    if result.origins is None:
        return {}
    added = result.origins.added[places]
    sources = [result.origins.sources[place] for place in places.tolist()]
    when = column_of(added, added == 0).view(pa.timestamp("ms", "UTC"))
    return {"source": pa.array(sources, pa.string()), "added": when}

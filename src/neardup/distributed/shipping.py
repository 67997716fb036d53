"""Documents on their way: splits send them to bins and blocks, with all that is needed there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.source import FileSource
from neardup.distributed.splits import Layout, Places, by_target
from neardup.engines.exchange import Message, packed, unpacked
from neardup.features.weighted import WeightedFeatures
from neardup.kernels.columns import column_of, taken
from neardup.pairs.choose import collects
from neardup.read.json.columns import as_type

CHUNKS = 1 << 20  # of a split; a tag is the number of the split times this, and of the chunk


def ship(layout: Layout, giant: bool, number: int, _: Iterator[Message]) -> Iterator[Message]:
    """Send documents of a split to their bins, or their blocks, with ids, words and features."""
    stored = unpacked(layout.work.read(f"bins/{number}"))
    wanted = {name: column[stored["giant"] == giant] for name, column in stored.items()}
    if not len(wanted["index"]):
        return
    source, fingerprinter = layout.opened(number), layout.fingerprinter()
    values = _keep_values(layout, source, wanted["index"])
    needs_rows = collects(layout.settings).rows
    first = 0
    for chunk, batch in enumerate(source.batches()):
        count = len(batch.ids)
        begin, end = np.searchsorted(wanted["index"], [first, first + count])
        if begin < end:
            some = slice(begin, end)
            rows = wanted["index"][some].astype(np.int64) - first
            made = fingerprinter.features(batch.columns)
            prints = fingerprinter.rows(batch.columns)[0] if needs_rows else None
            for target, which in by_target(wanted["bin"][some]):
                chosen = rows[which]
                blob = packed(
                    index=wanted["index"][some][which],
                    of=wanted["of"][some][which],
                    ids=taken(batch.ids, column_of(chosen)),
                    keep=None if values is None else taken(values, column_of(begin + which)),
                    rows=None if prints is None else prints[chosen],
                    **_features(made, chosen, wanted["features"][some][which]),
                )
                yield Message(target, number * CHUNKS + chunk, blob)
        first += count


def _features(made: WeightedFeatures, rows: Places, needed: NDArray[np.bool_]) -> dict[str, Any]:
    """The features of the documents that need them; the others get none."""
    some = made.take(rows[needed])
    sizes = np.zeros(len(rows), np.uint32)
    sizes[needed] = np.diff(some.offsets)
    return {
        "words": made.words[rows],
        "sizes": sizes,
        "hashes": some.hashes,
        "weights": some.weights,
    }


def _keep_values(layout: Layout, source: FileSource, index: NDArray[np.uint32]) -> pa.Array | None:
    """The values of the keep column of some documents; as one type in all splits."""
    name = layout.settings.keep.column
    if name is None or layout.keep_type is None:
        return None
    parts, first = [], 0
    for batch in source.rows():
        begin, end = np.searchsorted(index, [first, first + len(batch.rows)])
        rows = column_of(index[begin:end].astype(np.int64) - first)
        has_it = name in batch.rows.schema.names
        values = taken(batch.rows[name], rows) if has_it else pa.nulls(len(rows))
        parts.append(as_type(values, layout.keep_type))
        first += len(batch.rows)
    return pa.concat_arrays(parts) if parts else pa.nulls(0, layout.keep_type)


def values_of(layout: Layout, parts: Sequence[Mapping[str, Any]]) -> pa.Array | None:
    """The values of the keep column, of documents that were sent."""
    if layout.keep_type is None:
        return None
    return pa.concat_arrays([pa.nulls(0, layout.keep_type), *(part["keep"] for part in parts)])


def features_of(part: Mapping[str, Any]) -> WeightedFeatures:
    """The features of documents that were sent; those of copies are empty."""
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(part["sizes"], dtype=np.int64)))
    return WeightedFeatures(offsets, part["hashes"], part["weights"], part["words"])

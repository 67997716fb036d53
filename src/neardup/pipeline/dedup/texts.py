"""The texts of a few documents, read again to be shown."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.fingerprints.maker import DocumentColumns, GivenTerms
from neardup.pipeline.dedup.source import Source


def texts_at(source: Source, places: NDArray[np.int64]) -> dict[int, str]:
    """The text of each document at these places, in any order."""
    wanted = np.unique(places)
    found: dict[int, str] = {}
    first = 0
    for batch in source.batches():
        begin, end = np.searchsorted(wanted, [first, first + len(batch.ids)])
        if begin < end:
            some = wanted[begin:end]
            texts = _texts(batch.columns, pa.array(some - first))
            found.update(zip(some.tolist(), texts, strict=True))
        first += len(batch.ids)
        if end == len(wanted):
            break
    return found


def _texts(columns: DocumentColumns, rows: pa.Array) -> list[str]:
    """Texts as they are; the fields of a record line by line, terms with commas."""
    if isinstance(columns, GivenTerms):
        return [", ".join(terms) for terms in columns.terms.take(rows).to_pylist()]
    parts = [column.texts.take(rows).fill_null("").to_pylist() for column in columns]
    if len(columns) == 1 and columns[0].field is None:
        return list(parts[0])
    names = [column.field.name if column.field else "" for column in columns]
    return [
        "\n".join(f"{name}: {text}" for name, text in zip(names, row, strict=True))
        for row in zip(*parts, strict=True)
    ]

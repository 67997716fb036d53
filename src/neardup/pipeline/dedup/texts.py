"""The texts of a few documents, read again to be shown."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.fingerprints.maker import DocumentColumns, GivenTerms
from neardup.kernels.columns import column_of
from neardup.pipeline.dedup.source import Source


class TextPicker:
    """Picks the texts at some places out of batches that go by."""

    def __init__(self, places: NDArray[np.int64]) -> None:
        self._wanted = np.unique(places)
        self.texts: dict[int, str] = {}

    @property
    def has_all(self) -> bool:
        """Whether every text was there."""
        return len(self.texts) == len(self._wanted)

    def see(self, first: int, count: int, columns: DocumentColumns) -> None:
        """Look at a batch of `count` documents, the first at the place `first`."""
        begin, end = np.searchsorted(self._wanted, [first, first + count])
        if begin < end:
            some = self._wanted[begin:end]
            texts = _texts(columns, column_of(some - first))
            self.texts.update(zip(some.tolist(), texts, strict=True))


def texts_at(source: Source, places: NDArray[np.int64]) -> dict[int, str]:
    """The text of each document at these places, in any order."""
    picker, first = TextPicker(places), 0
    if picker.has_all:
        return {}
    for batch in source.batches():
        picker.see(first, len(batch.ids), batch.columns)
        first += len(batch.ids)
        if picker.has_all:
            break
    return picker.texts


def _texts(columns: DocumentColumns, rows: pa.Array) -> list[str]:
    """Texts as they are; the fields of a record line by line, terms with commas."""
    if isinstance(columns, GivenTerms):
        return [", ".join(terms) for terms in columns.terms.take(rows).to_pylist()]
    parts = [[text or "" for text in column.texts.take(rows).to_pylist()] for column in columns]
    if len(columns) == 1 and columns[0].field is None:
        return list(parts[0])
    names = [column.field.name if column.field else "" for column in columns]
    return [
        "\n".join(f"{name}: {text}" for name, text in zip(names, row, strict=True))
        for row in zip(*parts, strict=True)
    ]

"""Which value of a column repeats which, read from the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InputError
from neardup.read.columns import field_texts
from neardup.runs.histograms import matrix_of
from neardup.runs.texts import StoredTexts
from neardup.runs.views import Matrix

if TYPE_CHECKING:
    from neardup.runs.index_file import IndexFile


def column_matrix(index: IndexFile, texts: StoredTexts, column: str) -> Matrix:
    """The matrix of a column; a missing or empty value is none."""
    documents: int = index.about["documents"]
    removed = index.array("removed")
    is_kept = np.ones(documents, np.bool_)
    is_kept[removed] = False
    places = {"kept": np.flatnonzero(is_kept), "removed": removed}
    numbers = np.full(documents, -1, np.int32)
    names: dict[str, int] = {}
    for kind, at in places.items():
        file = texts.file(kind)
        if column not in file.schema.names:
            continue
        for begin, rows in file.batches((column,)):
            first = begin
            for chunk in rows[column].chunks:
                values = field_texts(chunk)
                if values is None:
                    raise InputError(
                        f"the column {column!r} has nested values; choose one of texts or numbers"
                    )
                coded = values.dictionary_encode()
                known = [
                    names.setdefault(name, len(names)) if name else -1
                    for name in coded.dictionary.to_pylist()
                ]
                found = np.array(known, np.int32)[coded.indices.to_numpy()]
                numbers[at[first : first + len(chunk)]] = found
                first += len(chunk)
    return matrix_of(column, numbers, list(names), removed, index.array("removed_for"), documents)

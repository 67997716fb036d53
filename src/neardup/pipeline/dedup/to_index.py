"""An index of what a deduplication keeps, for the next one to be held against."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.features.columns import TextColumn
from neardup.fingerprints.maker import DocumentColumns, GivenTerms
from neardup.index import Index
from neardup.index.entries import int_array
from neardup.index.ids import id_column
from neardup.index.shapes import Documents
from neardup.pipeline.dedup.result import Result


def leave_index(result: Result, path: str | os.PathLike[str]) -> int:
    """Add the documents that are kept to an index, which is made if need be; how many are new.

    Where similarity is more than a distance of bits it stores what that takes: texts, or features
    of records and terms.
    """
    with opened_index(result, path) as index:
        return index.add_many(_kept(result))


def opened_index(result: Result, path: str | os.PathLike[str]) -> Index:
    """The index to add to, with the scheme of the result."""
    scheme = result.scheme
    if scheme.needs_idf:
        raise SettingError(
            f"an index of {scheme} needs a table to weigh by: make one with neardup idf, and an "
            "index with neardup index create --idf"
        )
    plain = not scheme.features.are_given and scheme.fields is None
    by_bits = result.settings.similarity == "hamming"
    settings: dict[str, Any] = {
        "features": str(scheme.features),
        "weights": scheme.weights,
        "bits": scheme.bits,
        "hash": scheme.hash,
        "tie": scheme.tie,
        "projection": None if scheme.projection is None else str(scheme.projection),
        "text": None if scheme.fields is None else result.settings.text,
    }
    if not os.path.exists(path):
        settings["store_text"] = plain and not by_bits
        settings["store_features"] = not plain and not by_bits
        if by_bits:
            settings["max_distance"] = int(min(result.settings.threshold, scheme.bits - 1))
    return Index(path, **settings)


def _kept(result: Result) -> Iterator[Documents]:
    first = 0
    keeps: NDArray[np.bool_] = result.keeps
    for batch in result.source.batches():
        chosen = np.flatnonzero(keeps[first : first + len(batch.ids)])
        first += len(batch.ids)
        places = int_array(chosen)
        if len(chosen):
            made = batch.made_ids
            ids = (batch.ids if made is None else made()).take(places)
            yield Documents(id_column(ids), _taken(batch.columns, places), made=made is not None)


def _taken(columns: DocumentColumns, places: pa.Array) -> DocumentColumns:
    if isinstance(columns, GivenTerms):
        weights = None if columns.weights is None else columns.weights.take(places)
        return GivenTerms(columns.terms.take(places), weights)
    return [TextColumn(column.texts.take(places), column.field) for column in columns]

"""An index of what a deduplication keeps, for the next one to be held against."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.atomic import require_folder_of
from neardup.collection.settings import DedupSettings
from neardup.deduplication.result import Result
from neardup.errors import SettingError
from neardup.features.columns import taken
from neardup.fingerprints import Scheme
from neardup.index import Index
from neardup.index.entries import id_column, int_array
from neardup.index.intake import Documents


def leave_index(
    result: Result,
    path: str | os.PathLike[str],
    committed: Callable[[int], None] | None = None,
) -> int:
    """Add the documents that are kept to an index, which is made if need be; how many are new.

    `committed` is told how many are stored for good, whenever some more are.
    Where similarity is more than a distance of bits it stores what that takes: texts, or features
    of records and terms.
    """
    with opened_index(result, path) as index:
        return index.add_many(_kept(result), progress=committed)


def require_fitting_index(settings: DedupSettings, path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, an index that the kept documents cannot be added to."""
    wanted = _index_settings(settings.scheme, settings)
    if os.path.exists(path):
        Index(path, readonly=True, create=False, **wanted).close()
    else:
        require_folder_of(path)


def opened_index(result: Result, path: str | os.PathLike[str]) -> Index:
    """The index to add to, with the scheme of the result."""
    wanted = _index_settings(result.scheme, result.settings)
    if not os.path.exists(path):
        wanted |= _stored_content(result.scheme, result.settings)
    return Index(path, **wanted)


def _index_settings(scheme: Scheme, settings: DedupSettings) -> dict[str, Any]:
    if scheme.needs_idf:
        raise SettingError(
            f"an index of {scheme} needs a table to weigh by: make one with neardup idf, and an "
            "index with neardup index create --idf"
        )
    return {**scheme.recipe, "text": None if scheme.fields is None else settings.text}


def _stored_content(scheme: Scheme, settings: DedupSettings) -> dict[str, Any]:
    """What a new index keeps of documents, to tell the similarity that the settings name."""
    if settings.similarity == "hamming":
        return {"max_distance": int(min(settings.threshold, scheme.bits - 1))}
    plain = not scheme.features.are_given and scheme.fields is None
    return {"store_text": plain, "store_features": not plain}


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
            yield Documents(id_column(ids), taken(batch.columns, places), made=made is not None)

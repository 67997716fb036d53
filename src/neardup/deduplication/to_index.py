"""An index of what a deduplication keeps, for the next one to be held against."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.atomic import require_folder_of
from neardup.collection.settings import DedupSettings
from neardup.deduplication.result import Result
from neardup.errors import InputError, SettingError
from neardup.features.columns import taken
from neardup.fingerprints import Fingerprints, Scheme
from neardup.index import Index
from neardup.index.disk.opening import is_index
from neardup.index.entries import Id, id_array, id_column, int_array
from neardup.index.intake import Documents
from neardup.index.settings import IndexSettings
from neardup.index.source import source_in
from neardup.index.store import Put
from neardup.kernels.columns import column_of


def leave_index(
    result: Result,
    path: str | os.PathLike[str],
    committed: Callable[[int], None] | None = None,
    *,
    replace: bool = False,
) -> Put:
    """Add the documents that are kept to an index, which is created if need be; count them.

    `committed` is told how many are stored for good, whenever some more are. Unless `replace` is
    set, a document that would replace one of another delivery is an error.
    """
    wanted = _recipe(result.scheme, result.settings)
    if not os.path.exists(path):
        wanted |= _new_index(result.scheme, result.settings)
    with Index(path, **wanted) as index:
        kept = (_as_stored(index, documents)[0] for documents in _kept(result))
        return index.add_counted(kept, refuse=not replace, progress=committed)


def require_fitting_index(settings: DedupSettings, path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, an index that the kept documents cannot be added to."""
    wanted = _recipe(settings.scheme, settings)
    if os.path.exists(path):
        Index(path, readonly=True, create=False, **wanted).close()
        if not os.access(path, os.W_OK):
            raise InputError(f"{path} cannot be written: permission denied")
    else:
        require_folder_of(path)
        _new_index(settings.scheme, settings)


def require_update(settings: DedupSettings, path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, an update of an index that cannot continue it."""
    if os.path.exists(path) and not is_index(path):
        raise InputError(f"{path} is not an index; update needs one, or a name for a new one")
    if settings.cluster != "star":
        raise SettingError(
            f"cluster={settings.cluster} cannot be updated delivery by delivery: a later document "
            "may connect earlier ones; use cluster=star"
        )
    if settings.keep.most != 1:
        raise SettingError(
            f"keep={settings.keep} cannot be updated delivery by delivery: the index has one "
            "document of each cluster; use keep=first"
        )
    require_fitting_index(settings, path)


def require_no_replacing(result: Result, path: str | os.PathLike[str]) -> None:
    """Refuse to replace documents of other deliveries, before anything is written."""
    if not os.path.exists(path) or result.delivery is None:
        return
    own, replaced, source = result.delivery.metadata, list[Id](), None
    with Index(path, readonly=True, create=False) as index:
        kept = id_column(result.collected.ids.filter(column_of(result.keeps)))
        if all(metadata == own for metadata in index.metadata_by_id(kept).values()):
            return
        for documents in _kept(result):
            found = _as_stored(index, documents)[1]
            if found and not replaced:
                source = source_in(index.metadata_by_id(id_array(found[:1]))[found[0]])
            replaced += found
    if replaced:
        ids = f"the id {replaced[0]!r}"
        if len(replaced) > 1:
            ids = f"{len(replaced):,} ids, the first {replaced[0]!r}"
        of = "" if source is None else f" from {source}"
        raise InputError(
            f"{path} has other documents{of} under {ids}, which this run would replace; nothing "
            "was written: give the documents other ids, or use --replace"
        )


def _as_stored(index: Index, documents: Documents) -> tuple[Documents, list[Id]]:
    """Documents, and the ids of those that would replace one with another content.

    What the index has from another delivery with the same content stays as it is.
    """
    metadata = documents.metadata
    if documents.made or metadata is None:  # ids made of file and row replace nothing
        return documents, []
    ids, own = documents.ids.to_pylist(), metadata[0].as_py()
    stored = index.metadata_by_id(documents.ids)
    others = np.array([stored.get(id, own) != own for id in ids], np.bool_)
    if not others.any():
        return documents, []
    places = int_array(np.flatnonzero(others))
    held = documents.held
    assert not isinstance(held, Fingerprints)
    some = documents.ids.take(places)
    as_stored = pa.array([stored[id] for id in some.to_pylist()], pa.large_binary())
    replaced = index.would_replace(Documents(some, taken(held, places), as_stored))
    changed = set(replaced)
    json = [own if id in changed else stored.get(id, own) for id in ids]
    return Documents(documents.ids, held, pa.array(json, pa.large_binary())), replaced


def _recipe(scheme: Scheme, settings: DedupSettings) -> dict[str, Any]:
    if scheme.needs_idf:
        raise SettingError(
            f"an index of {scheme} needs a table to weigh by: make one with neardup idf, and an "
            "index with neardup index create --idf"
        )
    return {**scheme.recipe, "text": None if scheme.fields is None else settings.text}


def _new_index(scheme: Scheme, settings: DedupSettings) -> dict[str, Any]:
    """The settings of a new index that answers as this run does: the same measure, complete."""
    if settings.similarity == "hamming":
        return {"max_distance": int(min(settings.threshold, scheme.bits - 1))}
    chosen: dict[str, Any] = {"threshold": settings.threshold, "complete": True}
    if settings.is_containment:
        chosen["similarity"] = settings.similarity
    found = IndexSettings.of({**_recipe(scheme, settings), **chosen})
    if found.similarity != settings.similarity:
        raise SettingError(
            f"an index of {scheme} finds documents by {found.similarity}, but similarity is "
            f"{settings.similarity}; use {found.similarity}"
        )
    return chosen


def _kept(result: Result) -> Iterator[Documents]:
    first = 0
    keeps: NDArray[np.bool_] = result.keeps
    json = None if result.delivery is None else result.delivery.metadata
    for batch in result.source.batches():
        chosen = np.flatnonzero(keeps[first : first + len(batch.ids)])
        first += len(batch.ids)
        places = int_array(chosen)
        if len(chosen):
            made = batch.made_ids
            ids = (batch.ids if made is None else made()).take(places)
            about = None if json is None else pa.array([json] * len(chosen), pa.large_binary())
            columns = taken(batch.columns, places)
            yield Documents(id_column(ids), columns, about, made is not None)

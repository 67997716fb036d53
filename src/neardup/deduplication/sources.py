"""What a caller gives as a collection: files by their names, documents in memory, or an index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neardup.collection.settings import DedupSettings
from neardup.collection.source import FileSource, MemorySource, ReadSource, Source
from neardup.errors import InputError
from neardup.read.memory import require_no_paths


def source_of(source: Any, settings: DedupSettings) -> Source:
    """Files by their names, or documents that are held in memory."""
    if isinstance(source, str | os.PathLike):
        return stored_source([source], settings)
    if isinstance(source, Sequence) and source and isinstance(source[0], os.PathLike):
        for place, item in enumerate(source):
            if not isinstance(item, os.PathLike):
                raise InputError(
                    f"item 0 is a path, but item {place} is of type {type(item).__name__}; give "
                    "all paths as pathlib.Path objects"
                )
        return FileSource(source, settings)
    require_no_paths(source, "give paths as pathlib.Path objects, or one string with a glob")
    return MemorySource(source, settings)


def texts_in(source: Any, settings: DedupSettings) -> ReadSource:
    """Files by their names, or documents in memory; an index is refused."""
    found = source_of(source, settings)
    if not isinstance(found, ReadSource):
        raise InputError(
            f"{found.places[0]} is an index, which does not keep documents as they were; name the "
            "files instead"
        )
    return found


def stored_source(names: Sequence[str | os.PathLike[str]], settings: DedupSettings) -> Source:
    """An index by its folder, or files."""
    folders = [name for name in names if os.path.isdir(name)]
    if folders:
        from neardup.index.disk.opening import is_index

        found = [name for name in folders if is_index(name)]
        if found and len(names) > 1:
            raise InputError(
                f"{os.fspath(found[0])} is an index, which cannot be combined with other "
                "collections; compare with it in a run of its own"
            )
        if found:
            from neardup.index.source import opened

            return opened(Path(found[0]), settings)
    return FileSource(names, settings)

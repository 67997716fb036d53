"""What was read: the named inputs, with their sizes and dates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timezone
from glob import glob
from typing import Any

from neardup.collection.source import Source
from neardup.read.expand import local_files


def inputs_of(source: Source | None) -> list[dict[str, Any]]:
    """Name, number of files, bytes and latest modification of each named input.

    What is unknown is None: everything of a URL and of standard input. Documents in memory have no
    names, so the list is empty.
    """
    return [] if source is None else [_described(name) for name in source.places]


def _described(name: str) -> dict[str, Any]:
    files = size = 0
    latest = 0.0
    for path in _paths(name):
        try:
            status = os.stat(path)
        except OSError:  # removed since it was read
            continue
        files += 1
        size += status.st_size
        latest = max(latest, status.st_mtime)
    if not files:
        return {"name": name, "files": None, "bytes": None, "modified": None}
    modified = datetime.fromtimestamp(latest, timezone.utc).isoformat(timespec="seconds")
    return {"name": name, "files": files, "bytes": size, "modified": modified}


def _paths(name: str) -> Iterator[str]:
    if os.path.isdir(name):
        yield from (file.path for file in local_files(name) if file.regular)
    elif os.path.exists(name):
        yield name
    else:
        yield from glob(name, recursive=True)

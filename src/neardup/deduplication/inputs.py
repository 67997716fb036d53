"""What is read: the named inputs, with their sizes and dates."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from glob import glob
from typing import Any, Protocol, runtime_checkable

from xxhash import xxh3_128

from neardup.collection.source import FileSource, Source
from neardup.errors import SettingError
from neardup.read.counted import most_common
from neardup.read.foreign.named import is_foreign
from neardup.read.listing import local_files


@runtime_checkable
class KnowsInputs(Protocol):
    """A source that is a copy, and knows what `inputs_of` the original were."""

    inputs: list[dict[str, Any]]


def inputs_of(source: Source | None) -> list[dict[str, Any]]:
    """Name, number of files, bytes and latest modification of each named input.

    What is unknown is None: everything of a URL and of standard input. Documents in memory have no
    names, so the list is empty.
    """
    if source is None:
        return []
    if isinstance(source, KnowsInputs):
        return source.inputs
    return [_described(name) for name in source.places]


def files_of(source: Source | None, why: Mapping[str, int]) -> dict[str, Any]:
    """How many files were read as what, and why others were left out; nothing without files."""
    if not isinstance(source, FileSource):
        return {}
    return {"files": {**source.documents.counted, "left_out": most_common(why)}}


def require_checkable(names: Sequence[str]) -> None:
    """Refuse inputs of which nobody can tell whether they are those of an earlier run."""
    for name in names:
        kind = _uncheckable(name)
        if kind is not None:
            raise SettingError(
                f"--resume cannot tell whether {name} is unchanged: it is {kind}; store the "
                "documents in a file first, or run without --resume"
            )


def states_of(names: Sequence[str]) -> list[dict[str, Any]]:
    """Each named input with a hash of the names, sizes and modification times of its files."""
    return [{"name": _printable(name), "state": _state(name)} for name in names]


def _uncheckable(name: str) -> str | None:
    """What an input is that cannot be checked; None for files and folders."""
    from neardup.index.disk.opening import is_index

    if name == "-":
        return "standard input"
    if "://" in name:
        return "a URL"
    if is_foreign(name):
        return "a table of another program"
    if os.path.isdir(name):
        return "an index" if is_index(name) else None
    try:
        status = os.stat(name)
    except OSError:  # a glob, or an input that the reader refuses
        return None
    is_file = stat.S_ISREG(status.st_mode) and not name.startswith(("/dev/", "/proc/"))
    return None if is_file else "a pipe or a device"


def _state(name: str) -> str:
    digest = xxh3_128()
    paths = [file.path for file in local_files(name)] if os.path.isdir(name) else _paths(name)
    for path in sorted(paths):
        try:
            status = os.stat(path)
            known = f"{status.st_size} {status.st_mtime_ns}"
        except OSError:
            known = "unreadable"
        digest.update(os.fsencode(os.path.abspath(path)) + f"\0{known}\0".encode())
    return digest.hexdigest()


def _printable(name: str) -> str:
    return os.fsencode(name).decode(errors="backslashreplace")


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

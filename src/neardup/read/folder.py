"""Folders: every file below one, hidden ones left out, in sorted order."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FoundFile:
    """A file below a folder; `relative` is its path from there, with forward slashes.

    A `fault` says why a folder below it cannot be listed.
    """

    path: str
    relative: str
    size: int | None
    regular: bool = True
    fault: str = ""


def local_files(folder: str) -> list[FoundFile]:
    """List a local folder; links are followed, but never round in a circle."""
    found: list[FoundFile] = []
    _collect(folder, found)
    return _sorted(found)


def remote_files(filesystem: Any, folder: str) -> list[FoundFile]:
    """List a folder of an fsspec filesystem."""
    base = folder.rstrip("/") + "/"
    found = []
    for _, _, files in filesystem.walk(folder, detail=True, on_error="raise"):
        for info in files.values():
            path = info["name"]
            relative = path.removeprefix(base).lstrip("/")
            if not any(part.startswith(".") for part in relative.split("/")):
                found.append(FoundFile(path, relative, info.get("size")))
    return _sorted(found)


def in_order(path: str) -> list[str]:
    """Give the sort key of a path: folder by folder, then by name."""
    return path.split("/")


def _sorted(found: list[FoundFile]) -> list[FoundFile]:
    return sorted(found, key=lambda file: in_order(file.relative))


def _collect(folder: str, found: list[FoundFile]) -> None:
    """Gather all files below a folder, whatever its depth."""
    folders = [(folder, "", frozenset[tuple[int, int]]())]
    while folders:
        folder, prefix, above = folders.pop()
        try:
            status = os.stat(folder)
            here = (status.st_dev, status.st_ino)
            entries = [] if here in above else list(os.scandir(folder))
        except OSError as error:
            if not prefix:
                raise
            fault = f"a folder that cannot be listed ({error.strerror})"
            found.append(FoundFile(folder, prefix.rstrip("/"), 0, regular=False, fault=fault))
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            relative = prefix + entry.name
            if _is_folder(entry):
                folders.append((entry.path, relative + "/", above | {here}))
            else:
                found.append(found_file(entry.path, relative))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    if entry.is_symlink():
        return os.path.isdir(entry.path)
    return entry.is_dir(follow_symlinks=False)


def found_file(path: str, relative: str) -> FoundFile:
    """Look at what stands under a name; a link to nothing is not regular."""
    try:
        status = os.stat(path)
    except OSError:
        return FoundFile(path, relative, 0, regular=False)
    regular = stat.S_ISREG(status.st_mode)
    return FoundFile(path, relative, status.st_size if regular else 0, regular)

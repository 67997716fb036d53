"""Listing: all files below a folder, in order, with those that cannot be read."""

from __future__ import annotations

import os
import stat
from typing import Any

from neardup.frozen import dataclass


@dataclass(frozen=True)
class FoundFile:
    """A file in a folder; `relative` is its path from there, with forward slashes.

    `fault` is set for a subfolder that cannot be listed.
    """

    path: str
    relative: str
    size: int | None
    regular: bool = True
    fault: str = ""


def local_files(folder: str) -> list[FoundFile]:
    """List a local folder recursively; links are followed, but not in cycles."""
    found: list[FoundFile] = []
    _collect(folder, found)
    return _sorted(found)


def remote_files(filesystem: Any, folder: str) -> list[FoundFile]:
    """List a folder of an fsspec filesystem recursively."""
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
    """The sort key of a path: folder by folder, then by name."""
    return path.split("/")


def _sorted(found: list[FoundFile]) -> list[FoundFile]:
    return sorted(found, key=lambda file: in_order(file.relative))


def _collect(folder: str, found: list[FoundFile]) -> None:
    """Collect all files below a folder, without recursion: depth is unlimited."""
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
    """The size and kind of a file; a broken link is not regular."""
    try:
        status = os.stat(path)
    except OSError:
        return FoundFile(path, relative, 0, regular=False)
    regular = stat.S_ISREG(status.st_mode)
    return FoundFile(path, relative, status.st_size if regular else 0, regular)

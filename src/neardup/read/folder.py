"""Folders: every file below one, hidden ones left out, in sorted order."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FoundFile:
    """A file below a folder; `relative` is its path from there, with forward slashes."""

    path: str
    relative: str
    size: int | None
    regular: bool = True


def local_files(folder: str) -> list[FoundFile]:
    """List a local folder; links are followed, but never round in a circle."""
    found: list[FoundFile] = []
    _collect(folder, "", frozenset(), found)
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


def _collect(
    folder: str, prefix: str, above: frozenset[tuple[int, int]], found: list[FoundFile]
) -> None:
    status = os.stat(folder)
    here = (status.st_dev, status.st_ino)
    if here in above:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            relative = prefix + entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                _collect(entry.path, relative + "/", above | {here}, found)
            elif entry.is_file():
                found.append(FoundFile(entry.path, relative, entry.stat().st_size))
            else:
                found.append(FoundFile(entry.path, relative, 0, regular=False))

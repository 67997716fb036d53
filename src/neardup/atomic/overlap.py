"""An output must not be an input, contain one, or lie inside one."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from neardup.errors import NeardupError
from neardup.system.paths import of_file_url

Identity = tuple[int, int]
_OTHER = "choose another place for it"


def require_apart(output: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse an output that is, contains or lies inside an input: a file, folder, glob or URL.

    Files are compared by identity, so links, `..` and letter case make no difference.
    """
    around = _chain(output)
    own = _identity(output)
    apart: set[str] = set()  # folders known to be outside the output
    for name in inputs:
        for path in _local_paths(os.fspath(name)):
            if _is_same(path, output, own):
                raise NeardupError(
                    f"the output {output} is also an input; choose another name for it"
                )
            if own is not None and _is_inside(path, own, apart):
                raise NeardupError(f"the output {output} contains the input {path}; {_OTHER}")
            if os.path.isdir(path):
                _require_outside(output, own, around, path)


def _is_same(path: str, output: str | os.PathLike[str], own: Identity | None) -> bool:
    found = _identity(path)
    if found is None or own is None:
        return found == own and os.path.realpath(path) == os.path.realpath(output)
    return found == own


def _is_inside(path: str, folder: Identity, apart: set[str]) -> bool:
    """Whether a path leads into a folder; `apart` caches the folders that do not."""
    if os.path.islink(path):
        return folder in _chain(path)
    place = os.path.dirname(path)
    if place not in apart:
        if folder in _chain(place or "."):
            return True
        apart.add(place)
    return False


def _require_outside(
    output: str | os.PathLike[str], own: Identity | None, around: set[Identity], folder: str
) -> None:
    """Walk through an input folder as the reader does, following links."""
    inside = f"the output {output} lies inside the input {folder}, where the next run would read it"
    for here, link in _walked(folder, set()):
        if link is None and here in around:
            raise NeardupError(f"{inside}; {_OTHER}")
        if link is not None and own is not None and own in _chain(link):
            raise NeardupError(f"the output {output} contains {link}, an input; {_OTHER}")


def _walked(folder: str, seen: set[Identity]) -> Iterator[tuple[Identity | None, str | None]]:
    """Every folder below and including `folder`, and every file that is a link."""
    here = _identity(folder)
    if here is None or here in seen:
        return
    seen.add(here)
    yield here, None
    try:
        entries = list(os.scandir(folder))
    except OSError:  # the reader reports it
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walked(entry.path, seen)
        elif entry.is_symlink():
            yield None, entry.path


def _local_paths(name: str) -> list[str]:
    """The local files and folders that an input names."""
    if name == "-":
        return []
    if "://" in name:
        parts = urlsplit(name)
        if parts.scheme not in ("file", "local"):
            return []
        name = of_file_url(parts.path)
    if os.path.lexists(name) or not glob.has_magic(name):
        return [name]
    return glob.glob(name, recursive=True)


def _identity(path: str | os.PathLike[str]) -> Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _chain(path: str | os.PathLike[str]) -> set[Identity]:
    """The identities of the target of a path and of all folders above it that exist."""
    real = os.path.realpath(path)
    found = set()
    while True:
        identity = _identity(real)
        if identity is not None:
            found.add(identity)
        above = os.path.dirname(real)
        if above == real:
            return found
        real = above

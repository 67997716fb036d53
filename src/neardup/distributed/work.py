"""The folder in which tasks leave what later stages need, on any file system that all can reach.

Files are written as a whole, under names that depend on stage and task alone, and a task that is
done twice writes the same bytes: so it does not matter which of two wrote last.
"""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xxhash import xxh3_128_digest

from neardup.errors import InputError, NeardupError
from neardup.frozen import dataclass

_CHECKSUM = 16


def is_url(path: str) -> bool:
    """Whether a path is for fsspec, and not one of this machine."""
    return "://" in path and not path.startswith("file://")


@dataclass(frozen=True)
class Work:
    """A folder by its path or URL."""

    url: str

    def write(self, name: str, blob: bytes) -> None:
        """Write a file with a checksum before it."""
        self.write_plain(name, xxh3_128_digest(blob) + blob)

    def read(self, name: str) -> memoryview:
        """The bytes of a file; `NeardupError` if they are not what was written."""
        blob = memoryview(self.read_plain(name))
        if xxh3_128_digest(blob[_CHECKSUM:]) != blob[:_CHECKSUM]:
            raise NeardupError(
                f"{self.url}/{name} is damaged; delete the work folder, and run again"
            )
        return blob[_CHECKSUM:]

    def write_plain(self, name: str, blob: bytes) -> None:
        """Write a file, which appears whole: object stores do so, other systems rename."""
        path = f"{self.url}/{name}"
        try:
            if is_url(self.url):
                filesystem, inner = filesystem_of(path)
                filesystem.makedirs(inner.rpartition("/")[0], exist_ok=True)
                filesystem.pipe_file(inner, blob)
                return
            os.makedirs(os.path.dirname(path), exist_ok=True)
            new = f"{path}.{uuid.uuid4().hex}.new"
            with open(new, "wb") as file:
                file.write(blob)
            os.replace(new, path)
        except OSError as error:
            raise NeardupError(
                f"cannot write {path}: {error.strerror or error}; choose a folder that the driver "
                "and all executors can write"
            ) from error

    def read_plain(self, name: str) -> bytes:
        """The bytes of a file."""
        path = f"{self.url}/{name}"
        try:
            if is_url(self.url):
                filesystem, inner = filesystem_of(path)
                return bytes(filesystem.cat_file(inner))
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            raise InputError(
                f"cannot read {path}: {error.strerror or error}; is the folder one that the driver "
                "and all executors share?"
            ) from error

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """A temporary file to write to, which then takes its place as a whole."""
        path = f"{self.url}/{name}"
        if is_url(self.url):
            with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
                local = Path(folder) / "part"
                yield local
                filesystem, inner = filesystem_of(path)
                filesystem.makedirs(inner.rpartition("/")[0], exist_ok=True)
                filesystem.put_file(os.fspath(local), inner)
            return
        new = Path(f"{path}.{uuid.uuid4().hex}.new")
        try:
            new.parent.mkdir(parents=True, exist_ok=True)
            yield new
            os.replace(new, path)
        except OSError as error:
            raise NeardupError(
                f"cannot write {path}: {error.strerror or error}; make room, or choose another "
                "folder for the output"
            ) from error
        finally:
            new.unlink(missing_ok=True)

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        path = f"{self.url}/{name}"
        if is_url(self.url):
            filesystem, inner = filesystem_of(path)
            return bool(filesystem.exists(inner))
        return os.path.exists(path)

    def names(self) -> list[str]:
        """The files and folders directly in it; none if it does not exist."""
        if is_url(self.url):
            filesystem, inner = filesystem_of(self.url)
            if not filesystem.exists(inner):
                return []
            return [
                one.rstrip("/").rpartition("/")[2] for one in filesystem.ls(inner, detail=False)
            ]
        return os.listdir(self.url) if os.path.isdir(self.url) else []

    def remove(self, name: str = "") -> None:
        """Remove a file or folder in it, or all of it."""
        path = f"{self.url}/{name}".rstrip("/")
        if is_url(self.url):
            filesystem, inner = filesystem_of(path)
            if filesystem.exists(inner):
                filesystem.rm(inner, recursive=True)
            return
        import shutil

        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.unlink(path)


def filesystem_of(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    import fsspec

    try:
        filesystem, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise InputError(f"{url} cannot be opened ({error}); check the URL") from None
    return filesystem, path

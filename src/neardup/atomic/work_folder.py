"""A work folder: the finished passes of a run, stored beside its output until the run succeeds.

Unlike unfinished outputs, it survives Ctrl-C and `kill -9`. A pass is finished when its marker, a
small JSON file, is renamed into place after all files of the pass are on disk. The marker holds the
size and the checksum of each file and one of its own, so that damage is found before it is used.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from xxhash import xxh3_128

from neardup.atomic.files import synchronize
from neardup.atomic.unfinished import shortened
from neardup.errors import NeardupError
from neardup.system.folders import FolderLock

FORMAT = "neardup work 1"
_SUFFIX = ".neardup-work"
_MARKER, _NEW = ".json", ".new"
_AT_ONCE = 1 << 22


class DamagedError(Exception):
    """A stored pass, or a file of it, is not what was written."""


def work_folder_of(output: str | os.PathLike[str]) -> Path:
    """The work folder of an output, whether it exists or not."""
    target = Path(os.path.realpath(output))
    return target.with_name(f".{shortened(target.name)}{_SUFFIX}")


class WorkFolder:
    """The work folder of an output, made if it is missing, and locked while this object is open.

    The names of the files of a pass begin with the name of the pass and a dot.
    """

    def __init__(self, output: str | os.PathLike[str]) -> None:
        self.path = work_folder_of(output)
        try:
            self._lock: FolderLock | None = _locked(self.path)
        except BlockingIOError:
            raise NeardupError(
                f"another run with --resume is writing {output}; wait until it has ended, or "
                "choose another output"
            ) from None
        except OSError as error:
            raise NeardupError(
                f"cannot use {self.path} to store finished passes: {error.strerror}; choose "
                "another place for the output, or run without --resume"
            ) from None

    def unstored(self, error: OSError) -> NeardupError:
        """The error to raise when the system refuses to write to the folder."""
        return NeardupError(
            f"cannot store finished passes in {self.path}: {error.strerror or error}; make room "
            "on the disk, or run without --resume"
        )

    def finish(self, name: str, about: Mapping[str, Any], files: Mapping[str, str | None]) -> None:
        """Mark a pass as finished: `about` says what it is of, `files` are its checksums.

        A checksum of None is computed from the file.
        """
        try:
            stored = {}
            for file, known in files.items():
                path = self.path / file
                checksum = _checksum_of(path) if known is None else known
                stored[file] = {"bytes": path.stat().st_size, "xxh3": checksum}
                synchronize(path)
            content = {"format": FORMAT, "stored": time.time(), "files": stored, **about}
            text = json.dumps({"xxh3": _checksum_of_content(content), "content": content})
            new = self.path / (name + _NEW)
            new.write_text(text, encoding="utf-8", newline="\n")
            synchronize(new)
            synchronize(self.path)
            new.rename(self.path / (name + _MARKER))
            synchronize(self.path)
        except OSError as error:
            raise self.unstored(error) from error

    def finished(self, name: str) -> dict[str, Any] | None:
        """The marker of a pass; None if the pass is not finished."""
        try:
            found = json.loads((self.path / (name + _MARKER)).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise DamagedError(f"{name}{_MARKER} cannot be read") from error
        content = found.get("content") if isinstance(found, dict) else None
        if not isinstance(content, dict) or found.get("xxh3") != _checksum_of_content(content):
            raise DamagedError(f"{name}{_MARKER} is damaged")
        if content.get("format") != FORMAT:
            raise DamagedError(f"{name}{_MARKER} is not {FORMAT}")
        return content

    def require_whole(self, marker: Mapping[str, Any], file: str) -> Path:
        """The path of a file of a pass, after its size and checksum are checked."""
        path, known = self.path / file, marker["files"][file]
        try:
            whole = path.stat().st_size == known["bytes"] and _checksum_of(path) == known["xxh3"]
        except OSError as error:
            raise DamagedError(f"{file} cannot be read: {error.strerror}") from error
        if not whole:
            raise DamagedError(f"{file} is damaged")
        return path

    def forget(self, name: str) -> None:
        """Remove a pass, its marker first."""
        try:
            (self.path / (name + _MARKER)).unlink(missing_ok=True)
            for path in self._files_of(name):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise self.unstored(error) from error

    def remove(self, *names: str) -> None:
        """Remove these passes and the folder, unless it has files that are not of any pass."""
        for name in names:
            self.forget(name)
        if not any(self.path.iterdir()):
            self.path.rmdir()
        self.close()

    def close(self) -> None:
        """Unlock the folder; what is stored in it stays."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _files_of(self, name: str) -> list[Path]:
        return [path for path in self.path.iterdir() if path.name.startswith(name + ".")]


def _locked(path: Path) -> FolderLock:
    """Make and lock the folder."""
    while True:
        with suppress(FileExistsError):  # of an earlier run
            os.mkdir(path, 0o700)
        try:
            lock = FolderLock(path)
        except FileNotFoundError:
            continue  # removed by a run that has just succeeded
        try:
            if not _is_taken(lock):
                raise BlockingIOError
            if lock.is_in_place():
                return lock
        except BaseException:
            lock.release()
            raise
        lock.release()


def _is_taken(lock: FolderLock) -> bool:
    try:
        return lock.take()
    except OSError:
        return True  # no locks on this file system


def _checksum_of(path: Path) -> str:
    digest = xxh3_128()
    with path.open("rb", buffering=0) as file:
        while block := file.read(_AT_ONCE):
            digest.update(block)
    return digest.hexdigest()


def _checksum_of_content(content: Mapping[str, Any]) -> str:
    return xxh3_128(json.dumps(content, sort_keys=True).encode()).hexdigest()

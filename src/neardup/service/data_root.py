"""The data folder of the service: where things lie in it, and which paths a request may name.

Everything that a request names lies inside. A link that leads out of the folder is refused, also
if it is found in a folder or by a pattern, and before anything behind it is listed or read.
"""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from neardup.errors import InputError, SettingError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_RESULT = "result"
_EVERY_DEPTH = "**"
_MOST_PATTERNS, _MOST_BYTES = 1_000, 500_000  # a command line has room for these
_DEEPEST = 100  # names in a path
_SHOWN = 200

Identity = tuple[int, int]


class DataRoot:
    """A data folder. Names and paths come from requests and are checked here; nothing is created.

    `path` is absolute, with all links followed: the data folder itself may be a link.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.realpath(path))

    @property
    def indexes(self) -> Path:
        """The folder with a folder for each index."""
        return self.path / "indexes"

    @property
    def backups(self) -> Path:
        """The folder with a folder for each backup of an index."""
        return self.path / "backups"

    @property
    def jobs(self) -> Path:
        """The folder with a folder for each job."""
        return self.path / "jobs"

    def index(self, name: str) -> Path:
        """The folder of an index, whether it exists or not; `SettingError` for a bad name."""
        return self._named(self.indexes, name, "an index")

    def backup(self, name: str) -> Path:
        """The folder of a backup, whether it exists or not; `SettingError` for a bad name."""
        return self._named(self.backups, name, "a backup")

    def inside(self, relative: str) -> Path:
        """An existing file or folder by its path from the data folder, with all links followed.

        `InputError` if it does not exist, lies outside, is hidden, or is a pipe or device.
        """
        parts = _parts(relative)
        if not parts:
            raise InputError(
                "the data folder itself cannot be named, because it holds indexes and jobs; name a "
                "folder or files in it"
            )
        resolved = self._resolved(self.path.joinpath(*parts))
        try:
            kind = os.stat(resolved).st_mode
        except OSError as error:
            raise _unreachable(relative, error) from None
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise InputError(f"{shown(relative)} is neither a file nor a folder; name a file")
        return resolved

    def expand(self, patterns: Sequence[str], *, indexes: bool = False) -> list[Path]:
        """The files and folders that paths and globs name, with all links followed.

        Like the readers: a folder stands for all files in it, a glob for the files that it matches.
        With `indexes`, `indexes/NAME` and `backups/NAME` may be named, too; what else the service
        keeps cannot, except the results of jobs. `InputError` says what is wrong with which path.
        """
        _require_few(patterns)
        found: list[Path] = []
        for pattern in patterns:
            parts = _parts(pattern)
            self._require_of_users(pattern, parts, indexes)
            if glob.has_magic(pattern) and not os.path.lexists(self.path.joinpath(*parts)):
                found += self._matches(pattern, parts)
                continue
            path = self.inside(pattern)
            if os.path.isdir(path):
                for _ in self._walked(self.path.joinpath(*parts)):
                    pass
            found.append(path)
        return found

    def shown(self, path: str | os.PathLike[str]) -> str:
        """A path inside the data folder, as a request would name it."""
        return shown(os.path.relpath(path, self.path))

    def _named(self, folder: Path, name: str, what: str) -> Path:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name.endswith("."):
            raise SettingError(
                f"{shown(name)} cannot be the name of {what}: it must have 1 to 100 letters, "
                "digits, dots, hyphens and underscores of ASCII, begin with a letter or digit and "
                "not end with a dot"
            )
        path = folder / name
        # Every request comes here: looking for links takes 10 µs, following them 55 µs.
        linked = os.path.islink(folder) or os.path.islink(path)
        if linked and not self._holds(os.path.realpath(path)):
            raise SettingError(
                f"{self.shown(path)} is a link that leaves the data folder, which the service does "
                "not follow; move the folder into the data folder, or mount it there"
            )
        return path

    def _holds(self, resolved: str | os.PathLike[str]) -> bool:
        return self.path in Path(resolved).parents

    def _resolved(self, path: Path) -> Path:
        resolved = Path(os.path.realpath(path))
        if not self._holds(resolved):
            link = next((one for one in (*reversed(path.parents), path) if self._leaves(one)), path)
            raise InputError(
                f"{self.shown(link)} is a link that leaves the data folder, which the service does "
                "not follow; copy the files into the data folder, or mount them there"
            )
        return resolved

    def _leaves(self, path: Path) -> bool:
        return self.path in path.parents and not self._holds(os.path.realpath(path))

    def _require_of_users(self, pattern: str, parts: list[str], indexes: bool) -> None:
        """Refuse what belongs to the service."""
        first = parts[0] if parts else ""
        if first in (self.indexes.name, self.backups.name):
            if indexes and len(parts) == 2 and not glob.has_magic(parts[1]):
                return
            where = "as against, by indexes/NAME" if not indexes else "by indexes/NAME"
            raise InputError(
                f"{shown(pattern)} belongs to an index, which can only be read {where}; name files "
                "or folders with documents"
            )
        if first == self.jobs.name and (len(parts) < 3 or parts[2] != _RESULT):
            raise InputError(
                f"{shown(pattern)} belongs to the service; of a job, name jobs/ID/{_RESULT} or "
                "files in it"
            )

    def _matches(self, pattern: str, parts: list[str]) -> list[Path]:
        """The files that a glob matches, every step of which stays inside."""
        found = []
        for path in dict.fromkeys(self._matching(self.path, parts)):
            if os.path.isdir(path):
                continue
            top = path.relative_to(self.path).parts[0]
            owned = (self.indexes.name, self.backups.name, self.jobs.name)
            if top in owned and glob.has_magic(parts[0]):
                raise InputError(
                    f"{shown(pattern)} also matches {self.shown(path)}, which belongs to the "
                    "service; begin the pattern with the name of a folder"
                )
            found.append(self._resolved(path))
        if not found:
            raise InputError(f"{shown(pattern)} matches no file; check the pattern")
        return sorted(found)

    def _matching(self, folder: Path, parts: list[str]) -> Iterator[Path]:
        """What `glob.glob(recursive=True)` finds, but it enters no link before that is checked."""
        if not parts:
            yield folder
            return
        part, rest = parts[0], parts[1:]
        if part == _EVERY_DEPTH:
            for path in self._walked(folder):
                if os.path.isdir(path):
                    yield from self._matching(path, rest)
                elif not rest:
                    yield path
            return
        if glob.has_magic(part):
            paths = [path for path in _entries(folder) if fnmatch(path.name, part)]
        else:
            paths = [folder / part]
        for path in paths:
            if not os.path.lexists(path):
                continue
            self._resolved(path)
            if not rest or os.path.isdir(path):
                yield from self._matching(path, rest)

    def _walked(self, folder: Path) -> Iterator[Path]:
        """A folder, and everything below it that is not hidden; links in it must stay inside."""
        folders: list[tuple[Path, frozenset[Identity]]] = [(folder, frozenset())]
        while folders:
            folder, above = folders.pop()
            here = _identity(folder)
            if here is None:  # removed just now
                continue
            if here in above:
                raise InputError(
                    f"{self.shown(folder)} leads back to a folder that contains it; remove the link"
                )
            yield folder
            for path in _entries(folder):
                if os.path.islink(path):
                    self._resolved(path)
                if os.path.isdir(path):
                    folders.append((path, above | {here}))
                else:
                    yield path


def shown(value: object) -> str:
    """A value from a request in a message: short, and as Python writes it if it is unusual."""
    text = value if isinstance(value, str) else repr(value)
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return short if short.isprintable() and short else repr(short)


def _parts(relative: object) -> list[str]:
    """The names in a relative path; `InputError` if it could lead anywhere else."""
    if not isinstance(relative, str) or not relative:
        raise InputError(f"{shown(relative)} is no path; name a file or folder in the data folder")
    said = shown(relative)
    if "\0" in relative:
        raise InputError(f"{said} has a null character, which no path has; name another file")
    try:
        relative.encode()
    except UnicodeEncodeError:
        raise InputError(f"{said} is not valid Unicode; name another file") from None
    if "://" in relative:
        raise InputError(f"{said} is a URL; the service reads only files in its data folder")
    if relative.startswith("/"):
        raise InputError(f"{said} is an absolute path; give it relative to the data folder")
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise InputError(f"{said} has '..' in it; give the path from the data folder without it")
    if len(parts) > _DEEPEST:
        raise InputError(f"{said} has more than {_DEEPEST} folders in it; name a folder above")
    if parts.count(_EVERY_DEPTH) > 1:
        raise InputError(f"{said} has '**' more than once; write it once")
    for part in parts:
        if part.startswith("."):
            raise InputError(f"{said} is hidden by a dot, and hidden files are not read; rename it")
    return parts


def _require_few(patterns: Sequence[str]) -> None:
    if isinstance(patterns, str) or not isinstance(patterns, Sequence) or not patterns:
        raise InputError("there is no input; give a list of files, folders or globs")
    length = sum(len(os.fsencode(one)) for one in patterns if _is_encodable(one))
    if len(patterns) > _MOST_PATTERNS or length > _MOST_BYTES:
        raise InputError(
            f"there are {len(patterns):,} inputs with {length:,} bytes of names; give at most "
            f"{_MOST_PATTERNS:,} with {_MOST_BYTES:,} bytes, or name folders or globs instead"
        )


def _is_encodable(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _entries(folder: Path) -> list[Path]:
    """What is in a folder, without hidden files; nothing if it cannot be listed, as for readers."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [folder / name for name in sorted(names) if not name.startswith(".")]


def _identity(path: Path) -> Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _unreachable(relative: str, error: OSError) -> InputError:
    said = shown(relative)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return InputError(f"{said} does not exist in the data folder; check the path")
    return InputError(f"{said} cannot be read: {error.strerror}; check the path")

"""Expansion: files, folders, globs and URLs → a list of sources."""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.read.file_kinds import (
    SIGNATURE_BYTES,
    TEXT_FORMATS,
    Kind,
    kind_of,
    known_suffixes,
    looks_like_text,
)
from neardup.read.foreign.dataset_folder import dataset_files
from neardup.read.foreign.named import foreign_source
from neardup.read.source import SNIFF, STANDARD_INPUT, Source, explained, refuse_endless
from neardup.system.files import same_device
from neardup.system.paths import with_slashes

_TEXTS_TO_A_DATA_FILE = 10
_NOT_REGULAR = "not a regular file: a broken link, a pipe or a device"


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


def expand(inputs: Sequence[str | os.PathLike[str]]) -> list[Source]:
    """List every file to be read, in reading order; `InputError` for an input that names none."""
    if not inputs:
        raise InputError("there is no input; name files, folders, globs, URLs or - for stdin")
    names = [os.fspath(name) for name in inputs]
    if names.count("-") > 1:
        raise InputError("standard input (-) can be read only once; name it once")
    sources = [source for name in names for source in _sources(name, alone=len(names) == 1)]
    once = [source.path for source in sources if source.once]
    if len(set(once)) < len(once):
        twice = next(path for path in once if once.count(path) > 1)
        raise InputError(f"{twice} can be read only once; name it once")
    texts = [source for source in sources if source.format in TEXT_FORMATS and not source.fault]
    # The only text file of a run is a corpus of lines; several are documents.
    if len(texts) > 1:
        return [_whole(source) for source in sources]
    return sources


def _sources(name: str, *, alone: bool) -> list[Source]:
    if name == "-":
        return [_standard_input()]
    if (table := foreign_source(name)) is not None:
        return [table]
    if "://" not in name:
        return _local(with_slashes(name), alone)
    import fsspec  # imports asyncio, and few inputs are URLs
    from fsspec.implementations.local import LocalFileSystem

    try:
        filesystem, path = fsspec.core.url_to_fs(name)
    except (ImportError, ValueError) as error:
        raise InputError(f"{name} cannot be opened ({error}); check the URL") from error
    if isinstance(filesystem, LocalFileSystem):
        return _local(with_slashes(path), alone)
    try:
        return _remote(name, filesystem, path, alone)
    except InputError:
        raise
    # Each filesystem raises errors of its own library.
    except Exception as error:
        raise InputError(
            f"{name} cannot be reached ({error}); check the URL and your access to it"
        ) from error


def _local(name: str, alone: bool) -> list[Source]:
    with explained(name):
        if os.path.isdir(name):
            if (saved := dataset_files(name)) is not None:
                return [_named(path, path, os.stat(path).st_size, None) for path in saved]
            return _folder(name, name, local_files(name), None, alone)
        try:
            status = os.stat(name)
        except (FileNotFoundError, NotADirectoryError):
            if not glob.has_magic(name):
                raise FileNotFoundError(name) from None
        else:
            if _is_stream(name, status):
                return [_streamed(name, status)]
            return [_named(name, name, status.st_size, None)]
        found = map(with_slashes, glob.glob(name, recursive=True))
        paths = [path for path in found if not os.path.isdir(path)]
        files = [found_file(path, path) for path in paths]
        matches = [(file.path, file.path, file.size) for file in files if file.regular]
        others = [_left_out(file.path, file, _NOT_REGULAR) for file in files if not file.regular]
        return [*_matches(name, name, matches, None, alone), *others]


def _standard_input() -> Source:
    number = _descriptor()
    if number is not None:
        refuse_endless(STANDARD_INPUT, os.fstat(number), is_terminal=os.isatty(number))
    return Source(STANDARD_INPUT, "-", SNIFF, SNIFF, once=True)


def _descriptor() -> int | None:
    """The descriptor of standard input; None if it is closed or replaced."""
    try:
        return sys.stdin.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def _is_stream(name: str, status: os.stat_result) -> bool:
    """Whether this is a pipe, a device, or a name that a shell gives to an open file."""
    return not stat.S_ISREG(status.st_mode) or (
        name.startswith(("/dev/", "/proc/")) and kind_of(name) is None
    )


def _streamed(name: str, status: os.stat_result) -> Source:
    """An input that can be read only once; its format is known by its name or its first bytes."""
    refuse_endless(_printable(name), status, is_terminal=_is_terminal(status))
    kind = kind_of(name) or Kind(SNIFF, SNIFF)
    shown = _printable(name)
    return Source(shown, name, kind.format, kind.compression, None, document_id=shown, once=True)


def _is_terminal(status: os.stat_result) -> bool:
    if not stat.S_ISCHR(status.st_mode):
        return False
    terminals = (number for number in range(3) if os.isatty(number))
    return any(same_device(os.fstat(number), status) for number in terminals)


def _remote(name: str, filesystem: Any, path: str, alone: bool) -> list[Source]:
    web = name.startswith(("http://", "https://"))
    if "*" in path or (not web and glob.has_magic(path) and not filesystem.exists(path)):
        found = filesystem.glob(path, detail=True)
        hidden_too = "/." in path
        files = [
            (filesystem.unstrip_protocol(match), match, info.get("size"))
            for match, info in found.items()
            if info["type"] != "directory" and (hidden_too or "/." not in f"/{_below(path, match)}")
        ]
        return _matches(name, path, files, filesystem, alone)
    try:
        info = filesystem.info(path)
    except FileNotFoundError:
        raise InputError(f"{name} does not exist; check the URL") from None
    if info["type"] == "directory":
        return _folder(name, path, remote_files(filesystem, path), filesystem, alone)
    return [_named(name, path, info.get("size"), filesystem)]


def _named(name: str, path: str, size: int | None, filesystem: Any) -> Source:
    kind = kind_of(urlsplit(path).path if "://" in path else path)
    if kind is None:
        raise InputError(
            f"{name} has no suffix that says what it holds; neardup reads {known_suffixes()}"
        )
    shown = _printable(name)
    return Source(shown, path, kind.format, kind.compression, size, filesystem, shown)


def _matches(
    name: str,
    pattern: str,
    files: Sequence[tuple[str, str, int | None]],
    filesystem: Any,
    alone: bool,
) -> list[Source]:
    if not files:
        raise InputError(f"{name} matches no file; check the pattern")
    sources = []
    for shown, path, size in sorted(files, key=lambda file: in_order(file[1])):
        source = replace(_whole(_named(shown, path, size, filesystem)), found=True)
        below = _printable(_below(pattern, path))
        sources.append(replace(source, document_id=below) if alone else source)
    return sources


def _folder(
    name: str, path: str, files: list[FoundFile], filesystem: Any, alone: bool
) -> list[Source]:
    kinds = {file: kind_of(file.relative) for file in files}
    if filesystem is None:
        kinds = _judged_together(kinds)
    has_data = any(kind and kind.format not in TEXT_FORMATS for kind in kinds.values())
    sources = []
    for file, kind in kinds.items():
        relative = _printable(file.relative)
        shown = f"{_printable(name).rstrip('/')}/{relative}"
        if file.fault:
            fault = file.fault
        elif kind is None:
            # Bookkeeping such as _SUCCESS, which table writers leave beside their files.
            if relative.rpartition("/")[2].startswith("_"):
                continue
            fault = f"unknown suffix; neardup reads {known_suffixes()}"
        elif not file.regular:
            fault = _NOT_REGULAR
        elif has_data and kind.format in TEXT_FORMATS:
            fault = "a text file among data files; name it to read it"
        else:
            source = Source(
                shown, file.path, kind.format, kind.compression, file.size, filesystem, found=True
            )
            sources.append(_whole(replace(source, document_id=relative if alone else shown)))
            continue
        sources.append(_left_out(shown, file, fault))
    if all(source.fault for source in sources):
        raise InputError(f"{name} holds no file that can be read; neardup reads {known_suffixes()}")
    return sources


def _judged_together(kinds: dict[FoundFile, Kind | None]) -> dict[FoundFile, Kind | None]:
    """Decide whether a folder is a collection of documents or of data files.

    Among many text files (source code, pages, logs, with any suffix), a data file such as
    package.json is a document like the others.
    """
    data = [file for file, kind in kinds.items() if kind and kind.format not in TEXT_FORMATS]
    others = {file: kind or _kind_by_content(file) for file, kind in kinds.items()}
    texts = sum(kind is not None for kind in others.values()) - len(data)
    if not data:
        return others
    if texts <= _TEXTS_TO_A_DATA_FILE * len(data):
        return kinds
    return others | {file: _kind_by_content(file) for file in data}


def _kind_by_content(file: FoundFile) -> Kind | None:
    """A file that begins like text is a document."""
    if file.fault or not file.regular or file.relative.rpartition("/")[2].startswith("_"):
        return None
    try:
        with open(file.path, "rb") as opened:
            start = opened.read(SIGNATURE_BYTES)
    except OSError:
        return None  # skipped like any file of unknown content
    return Kind("document", None) if looks_like_text(start) else None


def _left_out(shown: str, file: FoundFile, fault: str) -> Source:
    return Source(_printable(shown), file.path, "document", size=0, found=True, fault=fault)


def _whole(source: Source) -> Source:
    return replace(source, format="document") if source.format == "lines" else source


def _below(pattern: str, path: str) -> str:
    """The part of a matching path after the fixed folders of the pattern."""
    fixed = next(i for i, char in enumerate(pattern) if char in "*?[")
    return path.removeprefix(pattern[: pattern.rfind("/", 0, fixed) + 1])


def _printable(path: str) -> str:
    # File names may be any bytes; ids and reports must be text.
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

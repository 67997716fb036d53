"""Expansion: files, folders, globs and URLs → a list of sources."""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.read.choice import Choice
from neardup.read.file_kinds import (
    COMPRESSION_SIGNATURES,
    SIGNATURE_BYTES,
    TEXT_FORMATS,
    WHOLE_FILES,
    Kind,
    compression_of,
    kind_by_content,
    kind_of,
    known_suffixes,
)
from neardup.read.folder_kinds import NOT_REGULAR, FolderReader
from neardup.read.foreign.dataset_folder import dataset_files
from neardup.read.foreign.named import foreign_source
from neardup.read.listing import FoundFile, found_file, in_order, local_files, remote_files
from neardup.read.source import SNIFF, STANDARD_INPUT, Source, explained, refuse_endless
from neardup.system.files import same_device
from neardup.system.paths import with_slashes

_ANY = Choice()


@dataclass(frozen=True)
class Files:
    """Files to be read, in reading order; `passed_over` counts those that --suffix leaves out."""

    sources: list[Source]
    passed_over: int = 0


def _always(_: Source) -> bool:
    return True


@dataclass(frozen=True)
class Expansion:
    """How inputs become files: by what the caller chooses, and by what data files hold.

    `holds` says whether a data file has the text; it is asked about local files of folders. With
    `only_data`, the text is in a column that text files do not have.
    """

    choice: Choice = _ANY
    holds: Callable[[Source], bool] = _always
    only_data: bool = False

    def expand(self, inputs: Sequence[str | os.PathLike[str]]) -> Files:
        """List every file to be read, in reading order; `InputError` for inputs that name none."""
        if not inputs:
            raise InputError("there is no input; name files, folders, globs, URLs or - for stdin")
        names = [os.fspath(name) for name in inputs]
        if names.count("-") > 1:
            raise InputError("standard input (-) can be read only once; name it once")
        parts = [self._of(name, alone=len(names) == 1) for name in names]
        sources = [source for part in parts for source in part.sources]
        once = [source.path for source in sources if source.once]
        if len(set(once)) < len(once):
            twice = next(path for path in once if once.count(path) > 1)
            raise InputError(f"{twice} can be read only once; name it once")
        texts = [source for source in sources if source.format in TEXT_FORMATS and not source.fault]
        # The only text file of a run is a corpus of lines; several are documents.
        if self.choice.format is None and len(texts) > 1:
            sources = [_whole(source) for source in sources]
        return Files(sources, sum(part.passed_over for part in parts))

    def _of(self, name: str, *, alone: bool) -> Files:
        """The files of one input."""
        if name == "-":
            return Files([self._standard_input()])
        if self.choice.format is None or "://" in name:
            table = foreign_source(name)
            if table is not None:
                return Files([table])
        if "://" not in name:
            return self._local(with_slashes(name), alone)
        import fsspec  # imports asyncio, and few inputs are URLs
        from fsspec.implementations.local import LocalFileSystem

        try:
            filesystem, path = fsspec.core.url_to_fs(name)
        except (ImportError, ValueError) as error:
            raise InputError(f"{name} cannot be opened ({error}); check the URL") from error
        if isinstance(filesystem, LocalFileSystem):
            return self._local(with_slashes(path), alone)
        try:
            return self._remote(name, filesystem, path, alone)
        except InputError:
            raise
        # Each filesystem raises errors of its own library.
        except Exception as error:
            raise InputError(
                f"{name} cannot be reached ({error}); check the URL and your access to it"
            ) from error

    def _local(self, name: str, alone: bool) -> Files:
        with explained(name):
            if os.path.isdir(name):
                if (saved := dataset_files(name)) is not None:
                    sizes = [os.stat(path).st_size for path in saved]
                    pairs = zip(saved, sizes, strict=True)
                    return Files([self._named(path, path, size, None) for path, size in pairs])
                return self._folder(name, local_files(name), None, alone)
            try:
                status = os.stat(name)
            except (FileNotFoundError, NotADirectoryError):
                if not glob.has_magic(name):
                    raise FileNotFoundError(name) from None
            else:
                if _is_stream(name, status):
                    return Files([self._streamed(name, status)])
                return Files([self._named(name, name, status.st_size, None)])
            matched = map(with_slashes, glob.glob(name, recursive=True))
            paths = [path for path in matched if not os.path.isdir(path)]
            files = [found_file(path, path) for path in paths]
            matches = [(file.path, file.path, file.size) for file in files if file.regular]
            others = [file for file in files if not file.regular and self.choice.takes(file.path)]
            found = self._matches(name, name, matches, None, alone)
            left_out = [_left_out(file.path, file.path, NOT_REGULAR) for file in others]
            return replace(found, sources=[*found.sources, *left_out])

    def _standard_input(self) -> Source:
        number = _descriptor()
        if number is not None:
            refuse_endless(STANDARD_INPUT, os.fstat(number), is_terminal=os.isatty(number))
        format = self.choice.format or SNIFF
        shown = STANDARD_INPUT if format in WHOLE_FILES else ""
        return Source(STANDARD_INPUT, "-", format, SNIFF, document_id=shown, once=True)

    def _streamed(self, name: str, status: os.stat_result) -> Source:
        """An input that can be read only once; its name or its first bytes tell the format."""
        refuse_endless(_printable(name), status, is_terminal=_is_terminal(status))
        kind = kind_of(name) or Kind(SNIFF, SNIFF)
        if self.choice.format is not None:
            kind = Kind(self.choice.format, SNIFF)
        shown = _printable(name)
        return Source(
            shown, name, kind.format, kind.compression, None, document_id=shown, once=True
        )

    def _remote(self, name: str, filesystem: Any, path: str, alone: bool) -> Files:
        web = name.startswith(("http://", "https://"))
        if "*" in path or (not web and glob.has_magic(path) and not filesystem.exists(path)):
            found = filesystem.glob(path, detail=True)
            hidden_too = "/." in path
            files = [
                (filesystem.unstrip_protocol(match), match, info.get("size"))
                for match, info in found.items()
                if info["type"] != "directory"
                and (hidden_too or "/." not in f"/{_below(path, match)}")
            ]
            return self._matches(name, path, files, filesystem, alone)
        try:
            info = filesystem.info(path)
        except FileNotFoundError:
            raise InputError(f"{name} does not exist; check the URL") from None
        if info["type"] == "directory":
            return self._folder(name, remote_files(filesystem, path), filesystem, alone)
        return Files([self._named(name, path, info.get("size"), filesystem)])

    def _named(self, name: str, path: str, size: int | None, filesystem: Any) -> Source:
        shown = _printable(name)
        kind = self._kind(urlsplit(path).path if "://" in path else path, path, filesystem)
        if isinstance(kind, str):
            raise InputError(f"{shown} {kind}")
        return Source(shown, path, kind.format, kind.compression, size, filesystem, shown)

    def _kind(self, name: str, path: str, filesystem: Any) -> Kind | str:
        """The kind of a file that is no longer in doubt, or why it cannot be read."""
        kind = kind_of(name)
        if kind is not None and self.choice.format is None:
            return kind
        with explained(_printable(path)):
            start, compression = first_bytes(path, filesystem)
        if self.choice.format is not None:
            return Kind(self.choice.format, compression_of(name) or compression)
        return kind_by_content(name, start, compression)

    def _matches(
        self,
        name: str,
        pattern: str,
        files: Sequence[tuple[str, str, int | None]],
        filesystem: Any,
        alone: bool,
    ) -> Files:
        if not files:
            raise InputError(f"{name} matches no file; check the pattern")
        taken = [file for file in files if self.choice.takes(file[1])]
        if not taken:
            raise InputError(f"{name} matches no file with {self._asked}; check both")
        sources = []
        for shown, path, size in sorted(taken, key=lambda file: in_order(file[1])):
            kind = self._kind(path, path, filesystem)
            if isinstance(kind, str):
                sources.append(_left_out(shown, path, kind))
                continue
            named = _printable(shown)
            source = Source(named, path, kind.format, kind.compression, size, filesystem, named)
            source = replace(self._one_document(source), found=True)
            below = _printable(_below(pattern, path))
            sources.append(replace(source, document_id=below) if alone else source)
        _require_some(name, sources)
        return Files(sources, len(files) - len(taken))

    def _folder(self, name: str, files: list[FoundFile], filesystem: Any, alone: bool) -> Files:
        taken = [file for file in files if file.fault or self.choice.takes(file.relative)]
        if files and not taken:
            raise InputError(f"{name} holds no file with {self._asked}")
        start, holds = None, self._holds
        if filesystem is None:
            start = _first_bytes_of
        reader = FolderReader(self.choice, start, partial(holds, filesystem), self.only_data)
        sources = []
        for file, kind in reader.kinds(taken).items():
            relative = _printable(file.relative)
            shown = f"{_printable(name).rstrip('/')}/{relative}"
            if isinstance(kind, str):
                sources.append(_left_out(shown, file.path, kind))
            elif kind is not None:
                source = Source(
                    shown, file.path, kind.format, kind.compression, file.size, filesystem
                )
                known = replace(source, document_id=relative if alone else shown, found=True)
                sources.append(self._one_document(known))
        _require_some(name, sources)
        return Files(sources, len(files) - len(taken))

    def _holds(self, filesystem: Any, file: FoundFile, kind: Kind) -> bool:
        """Whether a data file has the text; those elsewhere are taken to."""
        if filesystem is not None:
            return True
        source = Source(file.path, file.path, kind.format, kind.compression, file.size)
        return self.holds(source)

    def _one_document(self, source: Source) -> Source:
        return source if self.choice.format == "lines" else _whole(source)

    @property
    def _asked(self) -> str:
        return f"the suffix {' or '.join(self.choice.suffixes)}"


def expand(inputs: Sequence[str | os.PathLike[str]]) -> list[Source]:
    """The files of inputs by their names and contents alone, in reading order."""
    return Expansion().expand(inputs).sources


def first_bytes(path: str, filesystem: Any = None) -> tuple[bytes, str | None]:
    """The first bytes of a file, decompressed, and its compression."""
    source = Source(path, path, SNIFF, filesystem=filesystem)
    with source.raw() as file:
        start = file.read(SIGNATURE_BYTES)
    found = (name for name, magic in COMPRESSION_SIGNATURES.items() if magic.match(start))
    compression = next(found, None)
    if compression is None:
        return start, None
    with replace(source, compression=compression).stream() as stream:
        return stream.peek(SIGNATURE_BYTES)[:SIGNATURE_BYTES], compression


def _first_bytes_of(file: FoundFile) -> tuple[bytes, str | None]:
    return first_bytes(file.path)


def _require_some(name: str, sources: Sequence[Source]) -> None:
    if all(source.fault for source in sources):
        first = next((source for source in sources if source.fault), None)
        why = "" if first is None else f"; the first, {first.name}, {first.fault}"
        raise InputError(
            f"{name} holds no file that can be read{why or f'; neardup reads {known_suffixes()}'}"
        )


def _left_out(shown: str, path: str, fault: str) -> Source:
    return Source(_printable(shown), path, "document", size=0, found=True, fault=fault)


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


def _is_terminal(status: os.stat_result) -> bool:
    if not stat.S_ISCHR(status.st_mode):
        return False
    terminals = (number for number in range(3) if os.isatty(number))
    return any(same_device(os.fstat(number), status) for number in terminals)


def _whole(source: Source) -> Source:
    return replace(source, format="document") if source.format == "lines" else source


def _below(pattern: str, path: str) -> str:
    """The part of a matching path after the fixed folders of the pattern."""
    fixed = next(i for i, char in enumerate(pattern) if char in "*?[")
    return path.removeprefix(pattern[: pattern.rfind("/", 0, fixed) + 1])


def _printable(path: str) -> str:
    # File names may be any bytes; ids and reports must be text.
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

"""The kept rows alone, in one file, instead of a folder with everything."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from neardup.atomic import replacing, require_apart, require_writable
from neardup.collection.source import Progress
from neardup.deduplication.page import shown_places
from neardup.deduplication.row_files import KINDS, write_rows
from neardup.deduplication.save import Saved, with_output
from neardup.errors import NeardupError, SettingError
from neardup.frozen import dataclass
from neardup.read.file_kinds import kind_of

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

_SUFFIXES = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}


def _gzip(data: bytes) -> bytes:
    import gzip

    return gzip.compress(data, 6, mtime=0)  # without the time, the same rows are the same bytes


def _zstd(data: bytes) -> bytes:
    import pyarrow as pa

    return bytes(pa.compress(data, "zstd", asbytes=True))


def _bz2(data: bytes) -> bytes:
    import bz2

    return bz2.compress(data)


# Each call makes a member of its own; a file of several members is read as one.
_COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {".gz": _gzip, ".zst": _zstd, ".bz2": _bz2}


@dataclass(frozen=True)
class KeptFile:
    """How the kept rows are written to a file."""

    format: str
    compressed: Callable[[bytes], bytes] = bytes


def kept_file(output: str | os.PathLike[str], format: str | None) -> KeptFile | None:
    """The file that an output names by its suffix; None if it names a folder.

    `format` is the format that was asked for, if any. A folder that exists stays one, whatever its
    name is.

    >>> kept_file("clean.jsonl.zst", None).format
    'jsonl'
    >>> kept_file("out", None)
    """
    name = os.fspath(output)
    if os.path.isdir(name):
        return None
    stem, packed = os.path.splitext(name.lower())
    if packed in _COMPRESSORS:
        suffix = os.path.splitext(stem)[1]
    else:
        suffix, packed = packed, ""
    if suffix not in _SUFFIXES or (packed and suffix == ".parquet"):
        if kind_of(name) is not None:
            raise SettingError(
                f"{name}: kept rows are written to files that end with {', '.join(_SUFFIXES)}, the "
                f"latter three also with {', '.join(_COMPRESSORS)}; choose such a name, or a "
                "folder without a suffix for everything"
            )
        return None
    named = _SUFFIXES[suffix]
    if format is not None and format != named:
        raise SettingError(
            f"--format {format} contradicts the name {name}; leave out --format, or name a folder"
        )
    return KeptFile(named, _COMPRESSORS.get(packed, bytes))


def require_free(path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse a file that cannot be written, or exists without `overwrite`."""
    require_writable(path)
    if os.path.isfile(path) and not overwrite:
        raise NeardupError(f"{path} is there already; name another file or give --overwrite")


def save_kept(
    result: Result,
    file: KeptFile,
    path: str | os.PathLike[str],
    *,
    overwrite: bool,
    copies: bool = False,
    command: str | None = None,
    progress: Progress | None = None,
) -> Saved:
    """Write the kept rows to a file, which appears complete or not at all."""
    others = () if result.other_source is None else result.other_source.places
    require_apart(path, [*result.source.places, *others])
    require_free(path, overwrite=overwrite)
    began = time.perf_counter()
    with replacing(path) as new:
        shown = shown_places(result)
        seen = write_rows(
            result, [new], KINDS[file.format], shown, copies, progress, file.compressed
        )
    about: dict[str, Any] = {"command": command, "format": file.format, "columns": seen.columns}
    summary = with_output(result, time.perf_counter() - began, about)
    return Saved(summary, seen.texts)

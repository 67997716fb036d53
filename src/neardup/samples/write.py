"""Samples as files and folders. Nothing that is there already is replaced."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from neardup.atomic import FolderKind, replacing, replacing_folder, require_writable
from neardup.errors import NeardupError, SettingError
from neardup.samples.kinds import kind_of

SUFFIXES = (".jsonl", ".csv", ".parquet")
# It is never replaced, and so needs no marker.
_FOLDER = FolderKind("", frozenset(), (r".*",))


def write_sample(name: str, path: Path) -> int:
    """Write a sample to a file, or to a folder if it can be one; return the number of rows.

    A file or folder that has the same content already is left as it is; any other is an error.
    """
    kind = kind_of(name)
    if kind.folder is not None and not path.suffix:
        rows = kind.rows()
        _write_folder({part: text.encode() for part, text in kind.folder(rows).items()}, path)
        return len(rows)
    if path.suffix.lower() not in SUFFIXES:
        folder = ", or of a folder" if kind.folder is not None else ""
        raise SettingError(f"{path}: give the name of a .jsonl, .csv or .parquet file{folder}")
    require_writable(path)
    rows = kind.rows()
    content = _content(rows, path.suffix.lower())
    if path.is_file() and path.stat().st_size:
        if path.read_bytes() != content:
            raise NeardupError(f"{path} exists with other content; choose another name")
        return len(rows)
    with replacing(path) as unfinished:
        unfinished.write_bytes(content)
    return len(rows)


def json_lines(rows: Sequence[Any]) -> str:
    """The rows as JSON lines."""
    return "".join(json.dumps(_values(row), ensure_ascii=False) + "\n" for row in rows)


def _content(rows: Sequence[Any], suffix: str) -> bytes:
    if suffix == ".jsonl":
        return json_lines(rows).encode()
    if suffix == ".csv":
        return csv_lines(rows).encode()
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([_values(row) for row in rows]), file)
    return file.getvalue()


def csv_lines(rows: Sequence[Any]) -> str:
    """The rows as CSV, with a line of names; `true` and `false` as other programs write them."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(field.name for field in fields(rows[0]))
    for row in rows:
        writer.writerow(
            str(value).lower() if isinstance(value, bool) else value for value in astuple(row)
        )
    return file.getvalue()


def _write_folder(parts: dict[str, bytes], path: Path) -> None:
    if path.is_dir() and any(path.iterdir()):
        found = {
            file.relative_to(path).as_posix(): file.read_bytes()
            for file in path.rglob("*")
            if file.is_file()
        }
        if found != parts:
            raise NeardupError(f"{path} exists with other content; choose another name")
        return
    with replacing_folder(path, _FOLDER, overwrite=False) as folder:
        for name, content in parts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


def _values(row: Any) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in fields(row)}

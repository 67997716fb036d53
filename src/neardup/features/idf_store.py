"""Idf tables as Parquet files, and refusing what is none."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.atomic import replacing
from neardup.errors import InputError
from neardup.features.idf import IdfTable

FORMAT = "neardup idf 1"
_SCHEMA = pa.schema([pa.field("feature", pa.uint64()), pa.field("documents", pa.uint32())])
_ADVICE = "make one with `neardup idf`"


def save(table: IdfTable, path: str | os.PathLike[str]) -> None:
    """Write feature and documents as columns, the rest as metadata."""
    about = {
        "neardup.format": FORMAT,
        "neardup.features": table.features,
        "neardup.documents": str(table.documents),
        "neardup.forgotten": str(table.forgotten),
        "neardup.content": table.content,
    }
    columns = [pa.array(table.hashes, pa.uint64()), pa.array(table.counts, pa.uint32())]
    rows = pa.table(columns, schema=_SCHEMA.with_metadata(about))
    # By a file of Python's: Arrow takes no name that is not UTF-8.
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        pq.write_table(rows, file, compression="zstd", write_page_checksum=True)


def load(path: str | os.PathLike[str]) -> IdfTable:
    """Read an idf table, or say why it is none."""
    try:
        rows = pq.read_table(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; {_ADVICE}") from None
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} cannot be read as an idf table ({error}); {_ADVICE}") from None
    about = {
        key.decode(errors="replace"): value.decode(errors="replace")
        for key, value in (rows.schema.metadata or {}).items()
    }
    found = about.get("neardup.format", "no idf table")
    if found != FORMAT:
        raise InputError(f"{path} is {found}, wanted {FORMAT}; {_ADVICE}")
    numbers = [about.get(f"neardup.{name}", "") for name in ("documents", "forgotten")]
    sound = rows.schema.equals(_SCHEMA) and all(number.isdecimal() for number in numbers)
    if sound:
        table = IdfTable(
            about.get("neardup.features", ""),
            int(numbers[0]),
            rows["feature"].to_numpy().astype(np.uint64),
            rows["documents"].to_numpy().astype(np.uint32),
            int(numbers[1]),
        )
    if not sound or table.content != about.get("neardup.content"):
        raise InputError(f"{path} is a damaged idf table; {_ADVICE} again")
    return table

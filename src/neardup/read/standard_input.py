"""Standard input stored in a file, for runs that read their input several times."""

from __future__ import annotations

import shutil
from pathlib import Path

from neardup.read.formats import sniffed
from neardup.read.stream import ByteStream, standard_input

_SUFFIXES = {"parquet": ".parquet", "arrow": ".arrow", "json": ".json", "lines": ".txt"}


def store_standard_input(folder: Path) -> Path:
    """Copy standard input, decompressed, to a file whose suffix says what it holds."""
    stream = ByteStream(standard_input(), "sniff")
    path = folder / f"standard input{_SUFFIXES[sniffed(stream)]}"
    with path.open("wb") as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
    return path

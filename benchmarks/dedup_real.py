"""Real collections as JSON Lines: rendered documentation, and the source files of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson
import pyarrow.parquet as pq

from benchmarks.corpora import ARXIV
from benchmarks.dedup_corpora import Collection

RUSTDOC = ARXIV.parent / "rustdoc" / "docs.parquet"
SUFFIXES = (".py", ".pyi", ".c", ".h", ".rst", ".txt", ".md", ".json", ".js", ".css", ".html")
SMALLER_THAN = 10**6


def rustdoc(path: Path) -> Collection | None:
    """The rendered pages of Rust's documentation, if they lie beside the repository."""
    if not RUSTDOC.exists():
        print(f"{RUSTDOC} is absent: its contests are left out", file=sys.stderr)
        return None
    batches = pq.ParquetFile(RUSTDOC).iter_batches(1000, columns=["text"])
    documents = _write((text for batch in batches for text in batch["text"].to_pylist()), path)
    return Collection(path, documents, "Pages of Rust's nightly documentation, HTML as it is.")


def source_files(path: Path) -> Collection:
    """The source files of all Python installations beside the one that runs, and its own."""
    found = installations()
    documents = _write(source_texts(), path)
    versions = sorted({_version(lib) for folder in found for lib in folder.glob("lib/python*")})
    listed = ", ".join(".".join(map(str, version)) for version in versions)
    about = (
        f"The files of {len(found)} Python installations (Python {listed}) with their standard "
        f"libraries, headers and packages: {', '.join(SUFFIXES)}, valid UTF-8, smaller than "
        f"{SMALLER_THAN // 10**6} MB."
    )
    return Collection(path, documents, about)


def source_texts() -> Iterator[str]:
    """The texts of the source files of all Python installations of this machine."""
    return (text for folder in installations() for text in _texts(folder))


def installations() -> list[Path]:
    """The folders of the Python that runs, of those beside it, and of the environment."""
    base = Path(sys.base_prefix).resolve()
    beside = sorted(folder for folder in base.parent.iterdir() if any(folder.glob("lib/python*")))
    return list(dict.fromkeys((*beside, base, Path(sys.prefix).resolve())))


def _version(lib: Path) -> tuple[int, ...]:
    return tuple(
        int(part) for part in lib.name.removeprefix("python").split(".") if part.isdecimal()
    )


def _texts(installation: Path) -> Iterator[str]:
    for top in (*sorted(installation.glob("lib/python*")), installation / "include"):
        for folder, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                text = _text(Path(folder, name)) if name.endswith(SUFFIXES) else None
                if text:
                    yield text


def _text(path: Path) -> str | None:
    """The text of a file; None for links, large files, and what is not UTF-8."""
    if path.is_symlink() or path.stat().st_size >= SMALLER_THAN:
        return None
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        return None


def _write(texts: Iterable[str], path: Path) -> int:
    """A line for each document; returns their number."""
    row = -1
    with path.open("wb") as file:
        for row, text in enumerate(texts):
            file.write(orjson.dumps({"id": str(row), "text": text}) + b"\n")
    return row + 1

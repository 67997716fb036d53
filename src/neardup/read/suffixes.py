"""File suffixes: which format and which compression a name announces."""

from __future__ import annotations

from dataclasses import dataclass

FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".txt": "lines",
    ".text": "lines",
    ".md": "document",
    ".markdown": "document",
    ".rst": "document",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
# Formats without columns: whether their lines or the whole are documents depends on how
# the file was named.
TEXT_FORMATS = ("lines", "document")


@dataclass(frozen=True)
class Kind:
    """The format of a file's content and the compression around it."""

    format: str
    compression: str | None


def kind_of(name: str) -> Kind | None:
    """Judge a file by its name, None if the suffix is unknown.

    >>> kind_of("corpus.jsonl.zst")
    Kind(format='jsonl', compression='zstd')
    """
    stem, outer = _split(name.lower())
    compression = COMPRESSIONS.get(outer)
    suffix = _split(stem)[1] if compression else outer
    return Kind(FORMATS[suffix], compression) if suffix in FORMATS else None


def known_suffixes() -> str:
    """Name what can be read, for messages."""
    return f"{' '.join(FORMATS)}, each also with {' '.join(COMPRESSIONS)}"


def _split(name: str) -> tuple[str, str]:
    stem, dot, suffix = name.rpartition(".")
    return stem, dot + suffix

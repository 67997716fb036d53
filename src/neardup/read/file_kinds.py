"""File kinds: format and compression, by file name and by first bytes."""

from __future__ import annotations

import re

from neardup.frozen import dataclass
from neardup.read.limits import invalid_utf8

FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".arrows": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".txt": "lines",
    ".text": "lines",
    ".md": "document",
    ".markdown": "document",
    ".rst": "document",
}
COMPRESSION_SUFFIXES = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
# Formats without columns. Whether each line or the whole file is a document depends on how the
# file was named.
TEXT_FORMATS = ("lines", "document")


SIGNATURE_BYTES = 512
UTF8_MARK = b"\xef\xbb\xbf"
GZIP, ZSTD, BZ2 = (
    re.compile(rb"\x1f\x8b\x08"),
    re.compile(rb"\x28\xb5\x2f\xfd"),
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
)
COMPRESSION_SIGNATURES = {"gzip": GZIP, "zstd": ZSTD, "bz2": BZ2}
# Readable formats, with the suffix the file should have.
_READABLE = (
    (re.compile(rb"PAR1[\x00-\x1f]"), "a Parquet file", ".parquet"),
    (re.compile(rb"ARROW1\x00"), "an Arrow file", ".arrow"),
    (re.compile(rb"\xff\xff\xff\xff[^\xff]"), "an Arrow stream", ".arrows"),
)
_COMPRESSED = ((GZIP, "gzip", ".gz"), (ZSTD, "zstd", ".zst"), (BZ2, "bzip2", ".bz2"))
_FOREIGN = (
    (re.compile(rb"\xff\xfe\x00\x00|\x00\x00\xfe\xff"), "UTF-32 text"),
    (re.compile(rb"\xff\xfe|\xfe\xff"), "UTF-16 text"),
    (re.compile(rb"FEA1\x00"), "a Feather version 1 file"),
    (re.compile(rb"PK\x03\x04|PK\x05\x06"), "a ZIP archive"),
    (re.compile(rb"\xfd7zXZ\x00"), "compressed with xz"),
    (re.compile(rb"\x04\x22\x4d\x18"), "compressed with lz4"),
    (re.compile(rb"7z\xbc\xaf\x27\x1c"), "a 7-Zip archive"),
    (re.compile(rb"Rar!\x1a\x07"), "a RAR archive"),
    (re.compile(rb"\x7fELF"), "a program (ELF)"),
    (re.compile(rb"MZ[\x00-\x1f\x80-\xff]"), "a Windows program"),
    (re.compile(rb"%PDF-\d"), "a PDF document"),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "an old Office document"),
    (re.compile(rb"\x89PNG\r\n"), "a PNG image"),
    (re.compile(rb"\xff\xd8\xff"), "a JPEG image"),
    (re.compile(rb"GIF8[79]a"), "a GIF image"),
    (re.compile(rb"RIFF....(WEBP|WAVE|AVI )", re.DOTALL), "a RIFF image, sound or film"),
    (re.compile(rb"\x89HDF\r\n"), "an HDF5 file"),
    (re.compile(rb"\x93NUMPY"), "a NumPy array"),
    (re.compile(rb"Obj\x01"), "an Avro file"),
    (re.compile(rb".{257}ustar", re.DOTALL), "a tar archive"),
)
_SQLITE = re.compile(rb"SQLite format 3\x00")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


@dataclass(frozen=True)
class Kind:
    """The format and the compression of a file."""

    format: str
    compression: str | None


def kind_of(name: str) -> Kind | None:
    """The kind of a file by its suffix; None if it is unknown.

    >>> kind_of("corpus.jsonl.zst")
    Kind(format='jsonl', compression='zstd')
    """
    stem, outer = _split(name.lower())
    compression = COMPRESSION_SUFFIXES.get(outer)
    suffix = _split(stem)[1] if compression else outer
    return Kind(FORMATS[suffix], compression) if suffix in FORMATS else None


def known_suffixes() -> str:
    """The suffixes that can be read, for messages."""
    return f"{' '.join(FORMATS)}, each also with {' '.join(COMPRESSION_SUFFIXES)}"


def _split(name: str) -> tuple[str, str]:
    stem, dot, suffix = name.rpartition(".")
    return stem, dot + suffix


def misnamed(name: str, start: bytes) -> str | None:
    r"""The message for a file that is not the text its name promises; None if it may be text.

    >>> misnamed("a.jsonl", b"PAR1\x15\x04")
    'is a Parquet file; rename it to a.parquet'
    """
    for pattern, what, suffix in _READABLE:
        if pattern.match(start):
            return f"is {what}; rename it to {_renamed(name, suffix)}"
    for pattern, what, suffix in _COMPRESSED:
        if pattern.match(start):
            return f"is compressed with {what}; rename it to {name}{suffix}"
    if _SQLITE.match(start):
        return "is a SQLite database; name its path as sqlite:///PATH"
    for pattern, what in _FOREIGN:
        if pattern.match(start):
            if what.startswith("UTF"):
                mark = what.removesuffix(" text")
                return f"is {mark}; convert it to UTF-8 first, for example with iconv"
            return f"is {what}, which neardup does not read; convert it to text, or leave it out"
    return None


def looks_like_text(start: bytes) -> bool:
    r"""Whether a file with these first bytes is text: not empty, UTF-8, no control characters.

    >>> looks_like_text("<h1>Größe</h1>".encode()), looks_like_text(b"\x00\x01")
    (True, False)
    """
    if misnamed("", start) or _CONTROL.search(start):
        return False
    # The last character may be cut off.
    whole = start[: len(start) - _cut_off(start)]
    return bool(start) and invalid_utf8(whole) is None


def _cut_off(start: bytes) -> int:
    """The number of bytes at the end that may be an incomplete character."""
    for size in range(1, min(4, len(start) + 1)):
        if start[-size] >= 0xC0:
            return size
    return 0


def not_compressed(name: str, compression: str) -> str:
    """The message for a file that is not compressed as its suffix says."""
    plain = name.rpartition(".")[0]
    return f"is not compressed with {compression}, as its suffix says; rename it to {plain}"


def _renamed(name: str, suffix: str) -> str:
    stem, dot, last = name.rpartition(".")
    return f"{stem if dot and '/' not in last else name}{suffix}"

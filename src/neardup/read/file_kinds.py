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
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".warc": "warc",
    ".wet": "warc",
}
COMPRESSION_SUFFIXES = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".lz4": "lz4"}
# A file is one document: its text as it is, or the text of the page.
WHOLE_FILES = ("document", "html", "pdf")
# Formats without columns. Whether each line or the whole file is a document depends on how the
# file was named.
TEXT_FORMATS = ("lines", *WHOLE_FILES)
# The names of formats for people, who call a file that is one document a text.
TEXT = "text"


SIGNATURE_BYTES = 512
UTF8_MARK = b"\xef\xbb\xbf"
COMPRESSION_SIGNATURES = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "lz4": re.compile(rb"\x04\x22\x4d\x18"),
}
# Readable formats, with the suffix the file should have.
_READABLE = (
    (re.compile(rb"PAR1[\x00-\x1f]"), "a Parquet file", ".parquet"),
    (re.compile(rb"ARROW1\x00"), "an Arrow file", ".arrow"),
    (re.compile(rb"\xff\xff\xff\xff[^\xff]"), "an Arrow stream", ".arrows"),
    (re.compile(rb"%PDF-\d"), "a PDF document", ".pdf"),
    (re.compile(rb"WARC/\d\.\d+\r?\n"), "a WARC file", ".warc"),
)
_COMPRESSED = tuple(
    (COMPRESSION_SIGNATURES[name], "bzip2" if name == "bz2" else name, suffix)
    for suffix, name in COMPRESSION_SUFFIXES.items()
)
_ARCHIVES = (
    (re.compile(rb"PK\x03\x04|PK\x05\x06"), "a ZIP archive", "unzip {name} -d FOLDER"),
    (re.compile(rb".{257}ustar", re.DOTALL), "a tar archive", "tar -xf {name} -C FOLDER"),
    (re.compile(rb"7z\xbc\xaf\x27\x1c"), "a 7-Zip archive", "7z x {name} -oFOLDER"),
    (re.compile(rb"Rar!\x1a\x07"), "a RAR archive", "unrar x {name} FOLDER/"),
)
_FOREIGN = (
    (re.compile(rb"\xff\xfe\x00\x00|\x00\x00\xfe\xff"), "UTF-32 text"),
    (re.compile(rb"\xff\xfe|\xfe\xff"), "UTF-16 text"),
    (re.compile(rb"FEA1\x00"), "a Feather version 1 file"),
    (re.compile(rb"\x7fELF"), "a program (ELF)"),
    (re.compile(rb"MZ[\x00-\x1f\x80-\xff]"), "a Windows program"),
    (re.compile(rb"..\r\n[\x00-\x03]\x00\x00\x00", re.DOTALL), "compiled Python"),
    (re.compile(rb"\xca\xfe\xba\xbe"), "a Java class"),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "an old Office document"),
    (re.compile(rb"\x89PNG\r\n"), "a PNG image"),
    (re.compile(rb"\xff\xd8\xff"), "a JPEG image"),
    (re.compile(rb"GIF8[79]a"), "a GIF image"),
    (re.compile(rb"RIFF....(WEBP|WAVE|AVI )", re.DOTALL), "a RIFF image, sound or film"),
    (re.compile(rb"\x89HDF\r\n"), "an HDF5 file"),
    (re.compile(rb"\x93NUMPY"), "a NumPy array"),
    (re.compile(rb"Obj\x01"), "an Avro file"),
)
_SQLITE = re.compile(rb"SQLite format 3\x00")
# Documents that are ZIP archives of XML.
_IN_ZIP = {
    ".docx": "a Word document",
    ".xlsx": "an Excel workbook",
    ".pptx": "a PowerPoint presentation",
    ".odt": "an OpenDocument text",
    ".ods": "an OpenDocument spreadsheet",
    ".odp": "an OpenDocument presentation",
    ".epub": "an EPUB book",
}
_NOT_TEXT = "is not text, nor of a format that neardup reads; convert it to text, or leave it out"
_PAGE = re.compile(rb"\s*(<\?xml[^>]*>\s*)?<(!doctype\s+html|html[\s>])", re.IGNORECASE)
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


def compression_of(name: str) -> str | None:
    """The compression of a file by its last suffix."""
    return COMPRESSION_SUFFIXES.get(_split(name.lower())[1])


def without_compression(name: str) -> str:
    """The name without the suffix of its compression."""
    return name.rpartition(".")[0] if compression_of(name) else name


def suffix_of(name: str) -> str:
    """The suffix of a file, in lower case and without that of its compression.

    >>> suffix_of("docs/Notes.MD.gz"), suffix_of("src/Makefile")
    ('.md', '')
    """
    stem, dot, suffix = without_compression(name.lower()).rpartition("/")[2].rpartition(".")
    return dot + suffix if stem else ""


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
    for pattern, what, unpack in _ARCHIVES:
        if pattern.match(start):
            return _archive(name, what, unpack)
    if _SQLITE.match(start):
        return "is a SQLite database; name its path as sqlite:///PATH"
    for pattern, what in _FOREIGN:
        if pattern.match(start):
            if what.startswith("UTF"):
                mark = what.removesuffix(" text")
                return f"is {mark}; convert it to UTF-8 first, for example with iconv"
            return f"is {what}, which neardup does not read; convert it to text, or leave it out"
    return None


def is_utf16(start: bytes) -> bool:
    """Whether a file begins with the byte order mark of UTF-16."""
    return start.startswith((b"\xff\xfe", b"\xfe\xff"))


def _archive(name: str, what: str, unpack: str) -> str:
    document = _IN_ZIP.get(_split(name.lower())[1]) if what == "a ZIP archive" else None
    if document:
        return f"is {document}, which neardup does not read; save it as text or PDF"
    return f"is {what}; unpack it and name the folder: {unpack.format(name=name)}"


def kind_by_content(name: str, start: bytes, compression: str | None = None) -> Kind | str:
    r"""The kind of a file of unknown suffix by its first bytes, or why it cannot be read.

    `start` is decompressed. Anything that begins like text is a document; without a suffix, as in
    a mirror of a site, it may be a page. An empty file is an empty document.

    >>> kind_by_content("main.rs", b"fn main() {}")
    Kind(format='document', compression=None)
    >>> kind_by_content("a.pyc", b"\xa7\r\r\n\x00\x00\x00\x00")
    'is compiled Python, which neardup does not read; convert it to text, or leave it out'
    """
    for pattern, _, suffix in _READABLE:
        if pattern.match(start):
            return Kind(FORMATS[suffix], compression)
    fault = misnamed(name, start)
    if fault:
        return fault
    if not _is_text(start):
        return _NOT_TEXT
    last = name.rpartition("/")[2]
    is_page = ("." not in last or "?" in last) and _PAGE.match(start)
    return Kind("html" if is_page else "document", compression)


def looks_like_text(start: bytes) -> bool:
    """Whether a file with these first bytes is text, and not empty."""
    return bool(start) and misnamed("", start) is None and _is_text(start)


def _is_text(start: bytes) -> bool:
    # The last character may be cut off.
    whole = start[: len(start) - _cut_off(start)]
    return not _CONTROL.search(start) and invalid_utf8(whole) is None


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

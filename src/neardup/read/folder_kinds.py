"""Folder kinds: whether a folder holds data files or documents, and how each file is read.

A data file (JSON, CSV, Parquet, ...) counts as one if it has the column that is asked for. Most
JSON and CSV files of source code or notes have not: there, they are documents like the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from neardup.frozen import dataclass
from neardup.read.choice import Choice
from neardup.read.file_kinds import (
    TEXT_FORMATS,
    Kind,
    compression_of,
    kind_by_content,
    kind_of,
    suffix_of,
)
from neardup.read.listing import FoundFile

# So many texts for each data file with documents make a folder of texts, such as source code with
# a fixture. Files of JSON without the column are configuration more often than data.
_TEXTS_TO_A_DATA_FILE = 10
_JSON_TO_A_TEXT = 10
_READ_AS_TEXT = ("json", "jsonl", "csv", "tsv")  # data files that texts may be found among
NOT_REGULAR = "not a regular file: a broken link, a pipe or a device"
_AMONG_DATA = "a text file among data files; name it, or take it with --suffix {suffix}"
_AMONG_TEXTS = "a data file among text files; name it, or take it with --suffix {suffix}"
# Texts that come with data, and say nothing about what a folder is for.
_COMPANION = re.compile(
    r"(readme|licen[cs]e|copying|notice|authors|citation|changelog|changes|dataset_?card|manifest"
    r"|requirements|codeowners|contributing|todo)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class FolderReader:
    """What is asked of a folder, and how its files are opened.

    `start` returns the first bytes of a file, decompressed, and its compression; None where that
    would be slow, so that names decide. `holds` says whether a data file has the text that is asked
    for. With `only_data`, columns are asked for that text files do not have.
    """

    choice: Choice
    start: Callable[[FoundFile], tuple[bytes, str | None]] | None
    holds: Callable[[FoundFile, Kind], bool]
    only_data: bool

    def kinds(self, files: Iterable[FoundFile]) -> dict[FoundFile, Kind | str | None]:
        """How to read each file, or why it is left out; None for bookkeeping of table writers."""
        readable: dict[FoundFile, Kind] = {}
        found: dict[FoundFile, Kind | str | None] = {}
        for file in files:
            kind = self._kind(file)
            found[file] = kind
            if isinstance(kind, Kind):
                readable[file] = kind
        if self.choice.format is None:
            found |= self._settled(readable)
        return found

    def _kind(self, file: FoundFile) -> Kind | str | None:
        if file.fault or not file.regular:
            return file.fault or NOT_REGULAR
        name = file.relative
        if self.choice.format is not None:
            return Kind(self.choice.format, self._compression(file))
        known = kind_of(name)
        if known is not None:
            return known
        last = name.rpartition("/")[2]
        if last.startswith("_") and "." not in last:  # such as _SUCCESS
            return None
        if self.start is None:
            if self.choice.suffixes:
                return Kind("document", compression_of(name))
            return "of an unknown kind by its suffix; take such files with --suffix or --as"
        return self._by_content(file)

    def _by_content(self, file: FoundFile) -> Kind | str:
        assert self.start is not None
        try:
            start, compression = self.start(file)
        except Exception as error:  # of any library that decompresses; it is reported
            return f"cannot be opened ({error})"
        return kind_by_content(file.relative, start, compression)

    def _compression(self, file: FoundFile) -> str | None:
        known = compression_of(file.relative)
        if known is not None or self.start is None:
            return known
        kind = self._by_content(file)
        return kind.compression if isinstance(kind, Kind) else None

    def _settled(self, kinds: dict[FoundFile, Kind]) -> dict[FoundFile, Kind | str]:
        """Decide on texts and data files together."""
        data = {file: kind for file, kind in kinds.items() if kind.format not in TEXT_FORMATS}
        texts = [file for file in kinds if file not in data]
        if not data or not texts:
            return dict(kinds)
        if self.only_data or not self._are_texts(texts, data):
            if self.choice.suffixes:  # these texts were asked for
                return dict(kinds)
            return kinds | {file: _AMONG_DATA.format(suffix=_suffix(file)) for file in texts}
        return kinds | {file: self._as_text(file, kind) for file, kind in data.items()}

    def _are_texts(self, texts: list[FoundFile], data: dict[FoundFile, Kind]) -> bool:
        told = sum(_COMPANION.match(file.relative.rpartition("/")[2]) is None for file in texts)
        if told > _TEXTS_TO_A_DATA_FILE * len(data):
            return True  # whatever they hold
        holding = [file for file, kind in data.items() if self.holds(file, kind)]
        if holding:
            return told > _TEXTS_TO_A_DATA_FILE * len(holding)
        json = sum(kind.format == "json" for kind in data.values())
        return told > len(data) - json + json / _JSON_TO_A_TEXT

    def _as_text(self, file: FoundFile, kind: Kind) -> Kind | str:
        if kind.format not in _READ_AS_TEXT:
            return _AMONG_TEXTS.format(suffix=_suffix(file))
        if self.start is None:
            return Kind("document", kind.compression)
        return self._by_content(file)


def _suffix(file: FoundFile) -> str:
    return suffix_of(file.relative) or "SUFFIX"

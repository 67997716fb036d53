"""The last pass over a collection: where families occur, and the texts without what is removed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import call_function

from neardup.collection.source import Progress, RowBatch, Source
from neardup.deduplication.rows import changed
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of, distinct, string_buffers, taken
from neardup.kernels.passages import word_keys
from neardup.parts.cutting import cut_out
from neardup.parts.passages.copies import Places
from neardup.parts.passages.domains import DomainCounts
from neardup.parts.passages.families import Families, Members
from neardup.parts.passages.reading import CutBatch, Read, cut_batches
from neardup.parts.passages.settings import ALL_BUT_FIRST, BOILERPLATE, PassageSettings, Removal

_FAMILIES_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found, for the passes that follow."""

    source: Source
    settings: PassageSettings
    read: Read
    families: Families
    members: Members


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The passages of a batch that are in families, as columns; and the texts without some."""

    batch: RowBatch
    first_document: int
    table: pa.RecordBatch
    texts: pa.Array | None  # None if nothing was removed


class Sources:
    """Where the source of each family is, in characters, and its text, in a temporary file."""

    def __init__(self, families: Families) -> None:
        self.start = np.full(len(families), -1, np.int64)
        self.end = np.full(len(families), -1, np.int64)
        self.words = np.zeros(len(families), np.int64)
        self._noted: list[Places] = []
        self._sizes: list[Places] = []
        # Closed and deleted with this object.
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115

    def note(self, family: Places, start: Places, end: Places, texts: pa.Array) -> None:
        """Note sources that were met."""
        if not len(family):
            return
        self.start[family], self.end[family] = start, end
        self.words[family] = word_keys(texts)[0]
        data, offsets = string_buffers(texts)
        self._noted.append(family)
        self._sizes.append(np.diff(offsets))
        self._file.write(data[offsets[0] : offsets[-1]].data)

    def texts(self) -> _SourceTexts:
        """The texts of all families, after all were met."""
        families = np.concatenate([np.zeros(0, np.int64), *self._noted])
        sizes = np.concatenate([np.zeros(0, np.int64), *self._sizes])
        bounds = np.append(0, np.cumsum(sizes))
        self._file.flush()
        held = mmap(self._file.fileno(), 0, access=ACCESS_READ) if bounds[-1] else b""
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(held)]
        return _SourceTexts(
            pa.Array.from_buffers(pa.large_string(), len(sizes), buffers), np.argsort(families)
        )


class _SourceTexts:
    """Texts in a file, by family."""

    def __init__(self, texts: pa.Array, places: Places) -> None:
        self._texts, self._places = texts, places

    def of(self, families: Places) -> pa.Array:
        """The texts of some families, without white space around them."""
        some = taken(self._texts, column_of(self._places[families]))
        return call_function("utf8_trim_whitespace", [some])


class OutputPass:
    """One pass over the collection, with what it notes of the families on the way."""

    def __init__(self, found: Found, progress: Progress | None = None) -> None:
        self._found, self._progress = found, progress
        self._begin()

    def _begin(self) -> None:
        """Forget what an earlier pass has noted."""
        self.sources = Sources(self._found.families)
        self.domains = DomainCounts()
        self.removed_passages = self.removed_bytes = self.emptied = self.changed = 0

    def __iter__(self) -> Iterator[Occurrences]:
        """The batches of the collection, in order, with what is in families."""
        self._begin()
        if str(self._found.settings.reading.keep) != "first":
            for _ in self._batches():  # the source of a family may come after its copies
                pass
            start, end = self.sources.start, self.sources.end
            self._begin()
            self.sources.start, self.sources.end = start, end
        yield from self._batches()

    def _batches(self) -> Iterator[Occurrences]:
        read, done = self._found.read, 0
        first_passages = np.append(read.first_passages, read.passages)
        for cut in cut_batches(self._found.source.rows(), self._found.settings, with_keys=False):
            documents = len(cut.passages.documents) - 1
            done = cut.first_document + documents
            ended = cut.first_passage + len(cut.passages)
            if done > len(read) or first_passages[done] != ended:
                raise changed(len(read))
            yield self._of_batch(cut)
            if self._progress is not None:
                self._progress(done, len(read), done)
        if done != len(read):
            raise changed(len(read))

    def _of_batch(self, cut: CutBatch) -> Occurrences:
        found, batch = self._found, cut.batch
        assert isinstance(batch, RowBatch)
        numbers, family = found.members.between(
            cut.first_passage, cut.first_passage + len(cut.passages)
        )
        places = numbers - cut.first_passage
        own = cut.passages.documents
        document = cut.documents[places] if len(places) else places
        # Where passages begin and end in their documents, in bytes and in characters.
        offsets = cut.passages.bounds
        characters = np.append(0, np.cumsum(_lengths(cut.passages.texts)))
        first = own[document - cut.first_document]
        start_byte, end_byte = (offsets[places + one] - offsets[first] for one in (0, 1))
        start, end = (characters[places + one] - characters[first] for one in (0, 1))
        is_source = found.families.source[family] == numbers
        self.sources.note(
            family[is_source],
            start[is_source],
            end[is_source],
            taken(cut.passages.texts, column_of(places[is_source])),
        )
        self.domains.see(batch, family, document - cut.first_document)
        removed = _is_removed(found.settings.remove, found.families, family, document)
        texts = None
        if removed.any():
            rows = document[removed] - cut.first_document
            whole = _whole_texts(cut)
            texts = cut_out(whole, rows, start_byte[removed], end_byte[removed])
            self._count(rows, whole, texts, end_byte[removed] - start_byte[removed])
        ids = found.read.ids
        source_document = found.families.source_document[family]
        table = pa.RecordBatch.from_pydict(
            {
                "document": taken(ids, column_of(document)),
                "start": column_of(start),
                "end": column_of(end),
                "start_byte": column_of(start_byte),
                "end_byte": column_of(end_byte),
                "family": column_of(family + 1),
                "kept": column_of(~removed),
                "source": taken(ids, column_of(source_document)),
                "source_start": column_of(self.sources.start[family]),
                "source_end": column_of(self.sources.end[family]),
                "text": taken(cut.passages.texts, column_of(places, ~removed)),
            }
        )
        return Occurrences(batch, cut.first_document, table, texts)

    def _count(self, rows: Places, before: pa.Array, after: pa.Array, sizes: Places) -> None:
        self.removed_passages += len(rows)
        self.removed_bytes += int(sizes.sum())
        self.changed += len(distinct(rows))
        had, has = _lengths(before) > 0, _lengths(after) > 0
        self.emptied += int((had & ~has).sum())

    def family_batches(self) -> Iterator[pa.RecordBatch]:
        """The families as rows, the largest first; after all batches were seen."""
        families, ids = self._found.families, self._found.read.ids
        texts, domains = self.sources.texts(), self.domains.of_families(len(families))
        for begin in range(0, max(1, len(families)), _FAMILIES_AT_ONCE):
            some = np.arange(begin, min(len(families), begin + _FAMILIES_AT_ONCE))
            yield pa.RecordBatch.from_pydict(
                {
                    "family": column_of(some + 1),
                    "text": texts.of(some),
                    "words": column_of(self.sources.words[some]),
                    "documents": column_of(families.documents[some]),
                    "passages": column_of(families.passages[some]),
                    "repeated_bytes": column_of(families.repeated_bytes[some]),
                    "domains": column_of(domains.counts[some]),
                    "top_domains": domains.names.slice(begin, len(some)),
                    "document": taken(ids, column_of(families.source_document[some])),
                    "start": column_of(self.sources.start[some]),
                    "end": column_of(self.sources.end[some]),
                }
            )


def passages_schema(ids: pa.DataType) -> pa.Schema:
    """The columns of passages.parquet."""
    numbers = [(name, pa.int64()) for name in ("start", "end", "start_byte", "end_byte", "family")]
    source = [("source", ids), ("source_start", pa.int64()), ("source_end", pa.int64())]
    kept = ("kept", pa.bool_())
    return pa.schema([("document", ids), *numbers, kept, *source, ("text", pa.large_string())])


def _lengths(texts: pa.Array) -> NDArray[Any]:
    """The characters of each text."""
    return np.asarray(call_function("utf8_length", [texts]).to_numpy(zero_copy_only=False))


def _whole_texts(cut: CutBatch) -> pa.Array:
    """The texts of the documents, of which the passages are all parts."""
    data, offsets = string_buffers(cut.passages.texts)
    bounds = np.ascontiguousarray(offsets[cut.passages.documents])
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(bounds) - 1, buffers)


def _is_removed(
    remove: Removal | None, families: Families, family: Places, document: Places
) -> NDArray[np.bool_]:
    if remove is None:
        return np.zeros(len(family), np.bool_)
    if remove.kind == ALL_BUT_FIRST:
        return np.asarray(families.source_document[family] != document)
    if remove.kind == BOILERPLATE:
        return np.asarray(families.documents[family] >= remove.least)
    return np.ones(len(family), np.bool_)

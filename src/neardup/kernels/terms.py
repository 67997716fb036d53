"""Term kernels: texts → terms as strings, terms → MD5 digests and nd1 hashes.

The twins are `reference.terms` and hashlib.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import _native
from neardup.kernels.columns import string_buffers
from neardup.kernels.hash_key import NO_KEY, HashKey

__all__ = [
    "ONE_UNIT",
    "Source",
    "TermCounts",
    "Vocabulary",
    "counted",
    "find_terms",
    "hash_terms",
    "md5",
]

ONE_UNIT = np.zeros(0, np.uint8)
_EVERY_TEXT = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Vocabulary(Sequence[str]):
    """Distinct terms in native memory: term i is `lengths[i]` bytes of UTF-8 from `begins[i]`.

    A term becomes a Python string only when it is asked for.

    >>> list(Vocabulary.of([b"to", "\u4e0d".encode()]))
    ['to', '不']
    """

    data: NDArray[np.uint8]
    begins: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, terms: Sequence[bytes]) -> Vocabulary:
        lengths = np.fromiter(map(len, terms), np.int64, len(terms))
        data = np.frombuffer(b"".join(terms), np.uint8)
        return cls(data, np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def of_strings(cls, strings: pa.Array) -> Vocabulary:
        """The terms of an Arrow array without nulls, not copied."""
        data, offsets = string_buffers(strings)
        return cls(data, np.ascontiguousarray(offsets[:-1]), np.diff(offsets))

    def __len__(self) -> int:
        return len(self.begins)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Vocabulary: ...
    def __getitem__(self, place: int | slice) -> str | Vocabulary:
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        begin = self.begins[place]
        return self.data[begin : begin + self.lengths[place]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return map(bytes.decode, self.encoded())

    def encoded(self) -> Iterator[bytes]:
        """The UTF-8 bytes of each term."""
        every = self.data.tobytes()
        ends = (self.begins + self.lengths).tolist()
        for begin, end in zip(self.begins.tolist(), ends, strict=True):
            yield every[begin:end]

    def joined(self, other: Vocabulary) -> Vocabulary:
        """These terms, then the others."""
        return Vocabulary(
            np.concatenate((self.data, other.data)),
            np.concatenate((self.begins, other.begins + len(self.data))),
            np.concatenate((self.lengths, other.lengths)),
        )

    def take(self, places: NDArray[np.integer]) -> Vocabulary:
        """The terms at these places, in this order."""
        return Vocabulary(self.data, self.begins[places], self.lengths[places])


@dataclass(frozen=True)
class Source:
    """Strings whose shingles (`unit`, `size`) are terms, of the field with this number.

    Document i has the strings `documents[i]` to `documents[i + 1]`, or string i if `documents` is
    None. A document without `words` has no terms.
    """

    strings: pa.Array
    words: NDArray[np.uint32]
    unit: str
    size: int
    field: int = 0
    documents: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class TermCounts:
    """Document i has the terms `places[offsets[i]:offsets[i + 1]]`, each a place in `vocabulary`.

    `counts` is how often each occurs. `units` says of each term of the vocabulary what it is made
    of, as `hash_terms` takes it, and `fields` the number of its field.
    """

    offsets: NDArray[np.int64]
    places: NDArray[np.int32]
    counts: NDArray[np.float64]
    vocabulary: Vocabulary
    units: NDArray[np.uint8]
    fields: NDArray[np.uint32]


def find_terms(
    sources: Sequence[Source], prefixes: Sequence[bytes], documents: int, *, isa: str = "auto"
) -> TermCounts:
    """Find the terms of documents: the prefix of a field and a shingle, words joined by spaces.

    Terms are in the order in which they first occur; sources of the same field, which must stand
    in a row, count equal shingles together. All of it takes about 60 bytes for each distinct term
    and 12 for each term of a document, besides two to three times the bytes of the strings.
    """
    views = [
        (
            *string_buffers(source.strings),
            _EVERY_TEXT if source.documents is None else source.documents,
            source.words,
            source.unit == "word",
            source.size,
            source.field,
        )
        for source in sources
    ]
    return counted(_native.text_terms(views, list(prefixes), documents, isa=isa))


def counted(found: _native.TermArrays) -> TermCounts:
    """The counts that a kernel found."""
    offsets, places, counts, data, begins, lengths, units, fields = found
    return TermCounts(offsets, places, counts, Vocabulary(data, begins, lengths), units, fields)


def md5(
    terms: Vocabulary, limbs: int, *, threads: int = 1, isa: str = "auto"
) -> NDArray[np.uint64]:
    """The first `limbs` (1 or 2) 64-bit words of the MD5 digest of each term, big-endian."""
    return _native.md5(
        terms.data, terms.begins, terms.lengths, limbs=limbs, threads=threads, isa=isa
    )


def hash_terms(
    terms: Vocabulary,
    units: NDArray[np.uint8],
    limbs: int = 1,
    *,
    key: HashKey | None = None,
    threads: int = 1,
) -> NDArray[np.uint64]:
    """The nd1 feature of each term, plain or keyed, as rows of `limbs` 64-bit words.

    `units` says what each term is made of: 0 for one unit, 1 for words between spaces, 2 for
    characters. With `ONE_UNIT`, each is one unit.
    """
    words = NO_KEY if key is None else key.words
    return _native.hash_terms(
        terms.data, terms.begins, terms.lengths, units, limbs=limbs, key=words, threads=threads
    )

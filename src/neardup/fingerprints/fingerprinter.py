"""Computes features and fingerprints of documents, for one scheme."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.errors import InputError, SettingError
from neardup.features.columns import DocumentColumns, GivenTerms, record_columns
from neardup.features.hashed import Features, text_features, text_sets
from neardup.features.idf import IdfCounter, IdfTable
from neardup.features.spec import TextColumn, record_fields
from neardup.features.weighted import WeightedFeatures, in_order, weights_of
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.scheme import HashChoice, Scheme
from neardup.frozen import dataclass
from neardup.hashes import HashFamily, hash_family
from neardup.read.batch import bounded
from neardup.read.memory import column_texts, require_no_paths, string_chunks
from neardup.settings import suggests_settings

if TYPE_CHECKING:
    from neardup.features.terms import Terms

LARGEST_TEXT = 2**30

Rows = tuple[NDArray[np.uint64], NDArray[np.uint32]]


_TEXT_AT_ONCE = 1 << 20
_TEXTS_ONLY = "this function takes texts; read the files first, or run `neardup fingerprint`"


@dataclass(frozen=True)
class Fingerprinter:
    """Computes the features, fingerprints (rows of 64-bit words) and word counts of documents.

    Schemes that need an idf table take two passes: pass every batch to `count`, then the counter's
    table to `weighted_by`, which returns the fingerprinter for the second pass.
    """

    scheme: Scheme
    family: HashFamily
    threads: int
    idf: IdfTable | None = None

    def counter(self) -> IdfCounter:
        """An empty counter for the first pass."""
        return IdfCounter(self.scheme.counted)

    def count(self, documents: DocumentColumns, counter: IdfCounter) -> None:
        """Count the features of documents; of the scheme's hash, only a key matters."""
        found: Features | Terms
        if isinstance(documents, GivenTerms):
            from neardup.features.given import given_terms

            found = given_terms(documents.terms, documents.weights, "tfidf", self.family.key)
        elif self.scheme.features.keywords:
            from neardup.features.keywords import candidate_words  # imports a segmenter

            found = candidate_words(_checked(documents)[0].texts, self.family.key)
        else:
            found = self._text_features(_checked(documents))
        counter.add(found.offsets, found.hashes)

    def weighted_by(self, table: IdfTable) -> Fingerprinter:
        """The fingerprinter with weights from this table, which its scheme then names."""
        table.require(self.scheme.counted)
        return replace(self, scheme=self.scheme.with_idf(table.content), idf=table)

    def with_threads(self, threads: int) -> Fingerprinter:
        """The same fingerprinter with another number of threads."""
        return replace(self, threads=threads)

    def rows(self, documents: DocumentColumns) -> Rows:
        """The fingerprints and word counts of documents; a missing text counts as empty."""
        scheme = self.scheme
        if isinstance(documents, GivenTerms):
            terms = self._given_terms(documents)
            return self._of_terms(terms), terms.words
        columns = _checked(documents)
        shingle = scheme.features.shingle
        if scheme.is_native and shingle is not None:
            return kernels.fingerprint(
                columns[0].texts,
                unit=shingle.unit,
                size=shingle.size,
                distinct=scheme.weights == "set",
                bits=scheme.bits,
                ties_up=scheme.tie == ">=0",
                key=self.family.key,
                threads=self.threads,
            )
        if scheme.is_hashed:
            features = self._text_features(columns)
            return self._of_features(features), features.words
        terms = self._text_terms(columns)
        return self._of_terms(terms), terms.words

    def features(self, documents: DocumentColumns) -> WeightedFeatures:
        """The features of documents with their weights.

        They are hashed by `nd1`, with the key of a keyed scheme, whatever the scheme's hash is.
        """
        found: Features | Terms
        if isinstance(documents, GivenTerms):
            found = self._given_terms(documents)
        elif self.scheme.features.keywords:
            found = self._text_terms(_checked(documents))
        elif self.scheme.are_sets:
            return text_sets(
                _checked(documents), self.scheme.features, self.threads, self.family.key
            )
        else:
            found = self._text_features(_checked(documents))
        ordered = in_order(
            found.offsets, found.hashes, self._weights(found), found.words, threads=self.threads
        )
        return replace(ordered, weights=None) if self.scheme.are_sets else ordered

    def no_rows(self) -> NDArray[np.uint64]:
        return np.zeros((0, self.scheme.row_words), np.uint64)

    def rows_of_features(self, features: WeightedFeatures) -> NDArray[np.uint64]:
        """The fingerprints of documents from their features; the scheme must be `is_hashed`."""
        return self._summed(features.offsets, features.hashes, features.weights)

    def weighted_terms(self, columns: Sequence[TextColumn]) -> list[dict[str, float]]:
        """The features of texts as readable strings, with their weights."""
        terms = self._text_terms(_checked(columns))
        names, weights = [terms.vocabulary[i] for i in terms.places], self._weights(terms).tolist()
        return [
            dict(zip(names[begin:end], weights[begin:end], strict=True))
            for begin, end in pairwise(terms.offsets.tolist())
        ]

    def _text_features(self, columns: Sequence[TextColumn]) -> Features:
        return text_features(columns, self.scheme.features, self.threads, self.family.key)

    def _given_terms(self, documents: GivenTerms) -> Terms:
        from neardup.features.given import given_terms

        weights = self.scheme.weights
        return given_terms(documents.terms, documents.weights, weights, self.family.key)

    def _text_terms(self, columns: Sequence[TextColumn]) -> Terms:
        if self.scheme.features.keywords:
            from neardup.features.keywords import keyword_terms

            count = self.scheme.features.keywords
            return keyword_terms(columns[0].texts, count, self._table, self.family.key)
        from neardup.features.terms import text_terms

        return text_terms(columns, self.scheme.features, self.family.key)

    @property
    def _table(self) -> IdfTable:
        if self.idf is None:
            raise ValueError(f"{self.scheme} needs an idf table: count the documents first")
        return self.idf

    def _weights(self, documents: Features | Terms) -> NDArray[np.float64]:
        how = self.scheme.weights
        if not self.scheme.by_rarity:
            return weights_of(documents, how)
        if self.scheme.features.keywords:  # they carry the tf-idf they were chosen by
            return weights_of(documents, "given")
        return weights_of(documents, how, lambda hashes: self._table.idf(hashes, how))

    def _of_features(self, features: Features) -> NDArray[np.uint64]:
        return self._summed(features.offsets, features.hashes, self._weights(features))

    def _summed(
        self,
        offsets: NDArray[np.int64],
        hashes: NDArray[np.uint64],
        weights: NDArray[np.float64] | None,
    ) -> NDArray[np.uint64]:
        rows, sums = kernels.weigh_features(
            offsets,
            hashes,
            weights,
            bits=self._summed_bits,
            ties_up=self.scheme.tie == ">=0",
            key=self.family.key,
            with_sums=self.scheme.projection is not None,
            threads=self.threads,
        )
        return self._projected(rows, sums, offsets)

    def _of_terms(self, terms: Terms) -> NDArray[np.uint64]:
        """Each distinct term is hashed once."""
        rows, sums = kernels.weigh(
            terms.offsets,
            terms.places,
            self._weights(terms),
            self.family.digest(terms.vocabulary, self._summed_bits),
            bits=self._summed_bits,
            ties_up=self.scheme.tie == ">=0",
            with_sums=self.scheme.projection is not None,
            threads=self.threads,
        )
        return self._projected(rows, sums, terms.offsets)

    @property
    def _summed_bits(self) -> int:
        projection = self.scheme.projection
        return self.scheme.bits if projection is None else projection.dimension

    def _projected(
        self, rows: NDArray[np.uint64], sums: NDArray[np.float64], offsets: NDArray[np.int64]
    ) -> NDArray[np.uint64]:
        projection = self.scheme.projection
        if projection is not None:
            rows = projection.bits(sums, ties_up=self.scheme.tie == ">=0")
            rows[np.diff(offsets) == 0] = 0
        return rows


def _checked(columns: Sequence[TextColumn]) -> list[TextColumn]:
    """The columns without nulls; texts that are too large for the kernels are refused."""
    filled = []
    for column in columns:
        texts = column.texts.fill_null("") if column.texts.null_count else column.texts
        if texts.nbytes > LARGEST_TEXT:
            _refuse_giants(texts)
        filled.append(TextColumn(texts, column.field))
    return filled


def _refuse_giants(texts: pa.Array) -> None:
    import pyarrow.compute as pc

    largest = pc.max(pc.binary_length(texts)).as_py()
    if largest > LARGEST_TEXT:
        raise InputError(f"a text of {largest} bytes exceeds the limit of 1 GiB; split it")


@suggests_settings
def fingerprint(
    texts: Any,
    features: str = "word:3",
    weights: str | None = None,
    bits: int = 64,
    hash: HashChoice = "nd1",
    tie: str = ">0",
    threads: int | None = None,
    projection: str | None = None,
    text: str | None = None,
    idf: IdfTable | str | os.PathLike[str] | None = None,
) -> Fingerprints:
    """Compute the fingerprint of each text.

    A missing text, and one without any word, is *empty*: its fingerprint is all zero, `.empty`
    marks it, and it matches nothing, not even another empty one.

    Args:
        texts: A list, an iterator, or a NumPy, pandas, Polars or Arrow column; with `text`, a
            table. With `features="terms"`, documents that bring their own terms: {term: weight}
            mappings, lists of terms, or a table with the columns `terms` and `weights`.
        features: What a document consists of: `word:N` (runs of N words), `char:N`, `sentences:N`
            (the longest), `edges` (of paragraphs), a union such as `word:1+word:3`, `keywords:N`,
            or `terms`.
        weights: Weight of a feature: `set` (present or not), `count`, `idf` (its rarity), `tfidf`
            or `tfidf:lab` (both times its count), or `given`. Default: set; given for terms; tfidf
            for keywords.
        bits: Bits of a fingerprint, 1 to 4096.
        hash: Hash family by name, one with a secret key (`nd.keyed`), or a function from bytes to
            int. Families other than `nd1`, plain or keyed, are slower: they hash strings.
        tie: Whether a sum of zero leaves a bit clear (`>0`) or sets it (`>=0`).
        threads: Number of threads, which does not change the result. Default: one per core.
        projection: Take the signs of dot products with vectors on a sphere instead of the signs of
            the sums, for example `sphere:42x64`. Default: none.
        text: Column of a table with the text. Several columns are fields, each with features of
            its own and an optional weight: `name*2+street+city`.
        idf: Table for weights by rarity, from `nd.idf` or a saved file. Default: counted from
            these texts.

    >>> import neardup as nd
    >>> fps = nd.fingerprint(["the quick brown fox", "The quick, brown fox!"])
    >>> fps.hex()[0] == fps.hex()[1]
    True
    >>> str(fps.scheme)
    'nd1/word:3/set/64'
    """
    family = hash_family(hash)
    fields = record_fields(text)
    scheme = Scheme.of(features, weights, bits, family, tie, projection, fields)
    fingerprinter = Fingerprinter(scheme, family, kernels.thread_count(threads))
    batches = _batches(texts, scheme, text)
    if scheme.needs_idf and idf is None:
        batches = list(batches)  # two passes
    fingerprinter = fitted(fingerprinter, batches, idf)
    parts = [fingerprinter.rows(batch) for batch in batches]
    rows = [bits for bits, _ in parts] or [np.zeros((0, scheme.row_words), np.uint64)]
    words = [words for _, words in parts] or [np.zeros(0, np.uint32)]
    return Fingerprints(_joined(rows), fingerprinter.scheme, _joined(words))


@suggests_settings
def idf(
    texts: Any,
    features: str = "word:1",
    threads: int | None = None,
    text: str | None = None,
    hash: HashChoice = "nd1",
) -> IdfTable:
    """Count in how many texts each feature occurs, to weigh these and later texts by rarity.

    Args:
        texts: The documents, as `fingerprint` takes them.
        features: What a document consists of, as in `fingerprint`.
        threads: Number of threads, which does not change the result. Default: one per core.
        text: Column of a table with the text; several columns are fields.
        hash: Hash family. One table serves all of them except keyed ones, which count features by
            their own hashes and need a table made with the same key.

    >>> import neardup as nd
    >>> table = nd.idf(["the cat", "the dog"])
    >>> str(nd.fingerprint(["the bird"], "word:1", "tfidf", idf=table).scheme)
    'nd1/word:1/tfidf/64/idf:bf6f4eb4182b'
    """
    family = hash_family(hash)
    scheme = Scheme.of(features, "tfidf", hash=family, fields=record_fields(text))
    fingerprinter = Fingerprinter(scheme, family, kernels.thread_count(threads))
    counter = fingerprinter.counter()
    for batch in _batches(texts, scheme, text):
        fingerprinter.count(batch, counter)
    return counter.table()


def fitted(
    fingerprinter: Fingerprinter,
    batches: Iterable[DocumentColumns],
    idf: IdfTable | str | os.PathLike[str] | None,
) -> Fingerprinter:
    """The fingerprinter with the idf table it needs: the given one, or counted from `batches`."""
    if idf is not None:
        return fingerprinter.weighted_by(required_table(idf, fingerprinter.scheme))
    if not fingerprinter.scheme.needs_idf:
        return fingerprinter
    counter = fingerprinter.counter()
    for batch in batches:
        fingerprinter.count(batch, counter)
    return fingerprinter.weighted_by(counter.table())


def required_table(idf: IdfTable | str | os.PathLike[str], scheme: Scheme) -> IdfTable:
    """The given table, loaded if it is a file; refused if the scheme does not use one."""
    if not scheme.needs_idf:
        raise SettingError(
            f"an idf table was given, but {scheme} does not use one; choose weights=tfidf or idf"
        )
    return idf if isinstance(idf, IdfTable) else IdfTable.load(idf)


def _batches(texts: Any, scheme: Scheme, column: str | None) -> Iterable[DocumentColumns]:
    if scheme.features.are_given:
        from neardup.features.given import term_columns

        return (GivenTerms(*columns) for columns in term_columns(texts))
    if scheme.fields is not None:
        return record_columns(texts, scheme.fields)
    require_no_paths(texts, _TEXTS_ONLY)
    chunks = string_chunks(texts if column is None else column_texts(texts, column))
    if scheme.is_native:
        return ([TextColumn(chunk)] for chunk in chunks)
    # Features take several times the memory of the text; small batches stay in cache.
    return (
        [TextColumn(chunk.slice(begin, end - begin))]
        for chunk in chunks
        for begin, end in bounded(chunk, _TEXT_AT_ONCE)
    )


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)

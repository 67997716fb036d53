"""Texts → fingerprints."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from neardup import kernels
from neardup.errors import SettingError
from neardup.features.columns import TextColumn, record_fields
from neardup.features.given import term_columns
from neardup.features.idf import IdfTable
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.maker import DocumentColumns, GivenTerms, Maker
from neardup.fingerprints.records import column_texts, record_columns
from neardup.fingerprints.scheme import HashChoice, Scheme
from neardup.fingerprints.texts import string_chunks
from neardup.hashes import hash_family
from neardup.read.slices import bounded

_TEXT_AT_ONCE = 1 << 20


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
    """Fingerprint texts: a list, an iterator, a NumPy, pandas or Polars column, an Arrow array.

    A missing text, and one without any word, is *empty*: its fingerprint is all zero, `.empty`
    marks it, and it is near nothing, not even another empty one. `threads` (default: every
    core) changes the time it takes and nothing else.

    `features` are shingles (`word:3`, `char:4`), the longest `sentences:5`, the `edges` of
    paragraphs, a union of these (`word:1+word:3`), or `keywords:50`. Each feature counts once
    (`weights="set"`, the default), as often as it occurs (`"count"`) or by `"tfidf"`, over these
    texts or by a saved `idf` table. With `features="terms"` the documents bring their own:
    {term: weight} mappings, lists of terms, or a table with the columns `terms` and `weights`,
    weighted as `"given"`. Of a table, `text` names the column, or several as a record's fields,
    each with features of its own: `text="name*2+street+city"`.

    `hash` is a family by name, one with a secret key (`nd.keyed`), or a function from bytes to
    int; `projection="sphere:42x64"` takes the signs of dot products with 64 vectors in place of
    the sums' own. Other families than `nd1`, plain or keyed, are slower: they go through strings.

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
    maker = Maker(scheme, family, kernels.thread_count(threads))
    batches = _batches(texts, scheme, text)
    if scheme.needs_idf and idf is None:
        batches = list(batches)  # which are gone through twice
    maker = fitted_maker(maker, batches, idf)
    parts = [maker.rows(batch) for batch in batches]
    rows = [bits for bits, _ in parts] or [np.zeros((0, scheme.row_words), np.uint64)]
    words = [words for _, words in parts] or [np.zeros(0, np.uint32)]
    return Fingerprints(_joined(rows), maker.scheme, _joined(words))


def idf(
    texts: Any,
    features: str = "word:1",
    threads: int | None = None,
    text: str | None = None,
    hash: HashChoice = "nd1",
) -> IdfTable:
    """Count in how many texts each feature occurs, to weigh these and later texts alike.

    Takes what `fingerprint` takes. A table serves every hash, but for keyed ones: those count
    features by their own hashes, and need a table made with the same key.

    >>> import neardup as nd
    >>> table = nd.idf(["the cat", "the dog"])
    >>> str(nd.fingerprint(["the bird"], "word:1", "tfidf", idf=table).scheme)
    'nd1/word:1/tfidf/64/idf:bf6f4eb4182b'
    """
    family = hash_family(hash)
    scheme = Scheme.of(features, "tfidf", hash=family, fields=record_fields(text))
    maker = Maker(scheme, family, kernels.thread_count(threads))
    counter = maker.counter()
    for batch in _batches(texts, scheme, text):
        maker.count(batch, counter)
    return counter.table()


def fitted_maker(
    maker: Maker,
    batches: Iterable[DocumentColumns],
    idf: IdfTable | str | os.PathLike[str] | None,
) -> Maker:
    """The maker with the weights it needs: from a table, else from a pass over the documents."""
    if idf is not None:
        return maker.weighted_by(required_table(idf, maker.scheme))
    if not maker.scheme.needs_idf:
        return maker
    counter = maker.counter()
    for batch in batches:
        maker.count(batch, counter)
    return maker.weighted_by(counter.table())


def required_table(idf: IdfTable | str | os.PathLike[str], scheme: Scheme) -> IdfTable:
    """A table as it was given or saved, which must be one that the scheme has a use for."""
    if not scheme.needs_idf:
        raise SettingError(
            f"an idf table was given, but {scheme} has no use for it; take weights=tfidf"
        )
    return idf if isinstance(idf, IdfTable) else IdfTable.load(idf)


def _batches(texts: Any, scheme: Scheme, column: str | None) -> Iterable[DocumentColumns]:
    if scheme.features.are_given:
        return (GivenTerms(*columns) for columns in term_columns(texts))
    if scheme.fields is not None:
        return record_columns(texts, scheme.fields)
    chunks = string_chunks(texts if column is None else column_texts(texts, column))
    if scheme.is_native:
        return ([TextColumn(chunk)] for chunk in chunks)
    # Features take several times the room of the text; few documents at a time stay in cache.
    return (
        [TextColumn(chunk.slice(begin, end - begin))]
        for chunk in chunks
        for begin, end in bounded(chunk, _TEXT_AT_ONCE)
    )


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)

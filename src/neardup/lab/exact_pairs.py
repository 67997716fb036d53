"""All similar pairs of a collection, without comparing all documents with each other."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.collection.collected import collect
from neardup.collection.feature_store import FeatureStore
from neardup.collection.records import Records
from neardup.collection.settings import DedupSettings
from neardup.collection.source import fitted_to
from neardup.deduplication.sources import source_of
from neardup.errors import SettingError
from neardup.fingerprints.scheme import HashChoice
from neardup.kernels.set_join import SimilarPairs, join_similar
from neardup.pairs.by_score import ScoredPairs, find_by_score
from neardup.scoring.parts import Among
from neardup.settings import DEFAULT_THRESHOLD, Similarity, suggests_settings


@suggests_settings
def exact_pairs(
    documents: Any,
    threshold: float = DEFAULT_THRESHOLD,
    similarity: Similarity | None = None,
    *,
    features: str = "word:3",
    weights: str | None = None,
    hash: HashChoice = "nd1",
    text: str | None = None,
    id: str | None = None,
    threads: int | None = None,
) -> pa.Table:
    """Find every pair of documents whose similarity reaches the threshold, guaranteed.

    Unlike `dedup`, it pairs all copies with each other: a thousand copies of one text are half a
    million pairs. All features are held in memory, about 1.5 times the size of the text.

    Args:
        documents: The documents, as `dedup` takes them. With `features="terms"` documents bring
            their own terms, as {term: weight}, a list or a set.
        threshold: Minimum similarity of a pair.
        similarity: Similarity measure, not hamming: `containment` is the shared part of the smaller
            document, `inclusion` that of a. Default: jaccard for sets, cosine for given
            terms, fields for fields that are compared each in its own way, else weighted-jaccard.
        features: What a document consists of, for example `word:3` or `char:4`.
        weights: Weight of a feature: `set`, `count`, `tfidf`, `idf`, `tfidf:lab` or `given`.
            Default: set; given for terms; tfidf for keywords.
        hash: Hash family. A keyed one (`nd.keyed`) protects against texts that were made to
            collide; the others do not change the result.
        text: Column with the text or terms; several columns are fields. Default: text, or terms.
        id: Column with the ids. Default: id if present, else the row number.
        threads: Number of threads. Default: one per core.

    Returns:
        A table with the columns `a`, `b` and `similarity`; a comes before b. Both are ids if
        the documents have them, else row numbers. By inclusion, a row says how much of a is in b,
        and a may come after b: two documents that include each other are two rows.

    >>> import neardup as nd
    >>> nd.exact_pairs([{"x": 3, "y": 4}, {"x": 3}, {"z": 1}], 0.5, features="terms").to_pydict()
    {'a': [0], 'b': [1], 'similarity': [0.6]}
    """
    settings = DedupSettings.of(
        features=features,
        weights=weights,
        hash=hash,
        similarity=similarity,
        threshold=threshold,
        text=text,
        id=id,
        threads=threads,
    )
    if settings.similarity == "hamming":
        raise SettingError(
            "similarity='hamming' compares fingerprints, not features; find_pairs with a "
            "max_distance finds every such pair"
        )
    source = source_of(documents, settings)
    fingerprinter = fitted_to(source, settings.scheme, settings.threads)
    records = Records(settings.columns, sys.maxsize) if settings.is_scored else None
    collected = collect(
        source,
        fingerprinter,
        features=FeatureStore(sys.maxsize),
        records=records,
        rows_by=() if records is None else (fingerprinter,),
    )
    found: SimilarPairs | ScoredPairs
    if settings.is_scored:
        found = find_by_score(
            collected, None, fingerprinter, settings, among=Among(collected.filled)
        )
    else:
        found = join_similar(
            *collected.store.take(np.arange(len(collected))).arrays,
            measure=settings.similarity,
            threshold=settings.threshold,
            threads=fingerprinter.threads,
        )
    return pa.table(
        {
            "a": collected.ids.take(pa.array(found.a)),
            "b": collected.ids.take(pa.array(found.b)),
            "similarity": pa.array(found.similarity),
        }
    )

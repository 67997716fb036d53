"""Every similar pair of a collection, without comparing all with all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from neardup.collection.inputs import fingerprinter_of
from neardup.collection.settings import DedupSettings
from neardup.collection.source import Source
from neardup.deduplication.run import source_of
from neardup.errors import SettingError
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints import fingerprinter as engine
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.fingerprints.scheme import HashChoice
from neardup.kernels.set_join import join_similar


@dataclass(frozen=True, eq=False)
class CollectionFeatures:
    """Documents by their places: ids, and features with their weights."""

    ids: pa.Array
    features: WeightedFeatures


def fitted_fingerprinter(source: Source, settings: DedupSettings) -> Fingerprinter:
    """The maker of a scheme; one that weighs by tf-idf counts the collection first."""
    fingerprinter = fingerprinter_of(settings.scheme, settings.threads)
    return engine.fitted(fingerprinter, (batch.columns for batch in source.batches()), None)


def collection_features(source: Source, fingerprinter: Fingerprinter) -> CollectionFeatures:
    """Read every document once; rows that cannot be read are left out."""
    ids, parts = [], []
    for batch in source.batches():
        ids.append(batch.ids)
        parts.append(fingerprinter.features(batch.columns))
    return CollectionFeatures(
        pa.concat_arrays(ids) if ids else pa.array([], pa.int64()), joined(parts)
    )


def exact_pairs(
    documents: Any,
    threshold: float = 0.8,
    similarity: str | None = None,
    *,
    features: str = "word:3",
    weights: str | None = None,
    hash: HashChoice = "nd1",
    text: str | None = None,
    id: str | None = None,
    threads: int | None = None,
) -> pa.Table:
    """Every pair of documents whose similarity reaches the threshold, guaranteed: a, b, similarity.

    `documents` is what `dedup` takes: a path (a file, a folder, a glob, a URL) or several, a list
    of texts, a column, or a table; with `features="terms"` documents bring their own terms, as
    {term: weight}, a list or a set. `similarity` is `jaccard`, `weighted-jaccard` or `cosine`;
    without, the one that fits the weights. A keyed `hash` (`nd.keyed`) guards against texts that
    were made to collide; others change nothing.

    a comes before b; both are ids where documents have any, else places. Unlike `dedup`, copies
    are paired each with each, so a thousand copies of one text are half a million pairs. All
    features are held in memory, about one and a half times the text.

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
    fingerprinter = fitted_fingerprinter(source, settings)
    collection = collection_features(source, fingerprinter)
    found = join_similar(
        collection.features.offsets,
        collection.features.hashes,
        collection.features.weights,
        measure=settings.similarity,
        threshold=settings.threshold,
        threads=fingerprinter.threads,
    )
    return pa.table(
        {
            "a": collection.ids.take(pa.array(found.a)),
            "b": collection.ids.take(pa.array(found.b)),
            "similarity": pa.array(found.similarity),
        }
    )

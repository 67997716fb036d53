"""The exact truth: every similar pair of a collection, without comparing all with all."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from neardup.errors import SettingError
from neardup.fingerprints.scheme import HashChoice
from neardup.kernels.similar import join_similar
from neardup.lab.exact_features import collection_features, fitted_maker
from neardup.pipeline.dedup.run import source_of
from neardup.pipeline.dedup.settings import DedupSettings


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
    maker = fitted_maker(source, settings)
    collection = collection_features(source, maker)
    found = join_similar(
        collection.features.offsets,
        collection.features.hashes,
        collection.features.weights,
        measure=settings.similarity,
        threshold=settings.threshold,
        threads=maker.threads,
    )
    return pa.table(
        {
            "a": collection.ids.take(pa.array(found.a)),
            "b": collection.ids.take(pa.array(found.b)),
            "similarity": pa.array(found.similarity),
        }
    )

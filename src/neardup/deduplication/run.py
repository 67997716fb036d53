"""`dedup`: the whole run, top to bottom."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from neardup.collection.budget import Budget
from neardup.collection.collected import Collected, collect
from neardup.collection.feature_store import FeatureStore
from neardup.collection.settings import DedupSettings
from neardup.collection.source import Progress, Source, fingerprinter_of
from neardup.deduplication.against import AgainstResult, Matches
from neardup.deduplication.result import Result, clusters_of
from neardup.deduplication.rows import require_keep_column
from neardup.deduplication.sources import source_of
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.fingerprints.scheme import HashChoice
from neardup.pairs.choose import joins_features, require_plan
from neardup.pairs.search import search
from neardup.settings import Clustering, Similarity, suggests_settings

StageProgress = Callable[[str], Progress | None]


@suggests_settings
def dedup(
    source: Any,
    *,
    against: Any = None,
    preset: str | None = None,
    text: str | None = None,
    id: str | None = None,
    features: str | None = None,
    weights: str | None = None,
    bits: int | None = None,
    hash: HashChoice | None = None,
    tie: str | None = None,
    projection: str | None = None,
    similarity: Similarity | None = None,
    threshold: float | None = None,
    candidates: str | None = None,
    recall: float = 0.99,
    keep: str = "first",
    cluster: Clustering = "components",
    memory: str | int = "2GB",
    max_document: str | int = "64MB",
    threads: int | None = None,
) -> Result:
    """Find the near-duplicates of a collection, and choose which documents to keep.

    Arguments override the preset, which overrides the defaults. None means "not given".

    Args:
        source: The documents. Files: a path, folder, glob or URL as a string, or a list of
            `pathlib.Path`. In memory: a list of texts or of dicts, a column, or a table (Arrow,
            pandas, Polars, DuckDB, or any other with the Arrow stream interface).
        against: A second collection of the same kind, or the folder of an index. Documents of
            `source` that are near-duplicates of this collection are removed; duplicates within
            `source` are kept.
        preset: Settings of a known system: caim, irrs, blog, slides, sphere or google2007.
        text: Column with the text or terms. Several columns are fields, with optional weights:
            `name*2+street+city`. Default: text, or terms.
        id: Column with the ids. Default: id if present, else the row number.
        features: What a document consists of: `word:N` (runs of N words), `char:N`, `sentences:N`,
            `edges`, `keywords:N`, a union such as `word:1+word:3`, or `terms` (documents bring
            their own terms). Default: word:3.
        weights: Weight of a feature: `set` (present or not), `count`, `tfidf`, `tfidf:lab`, or
            `given` (weights come with the terms). Default: set; given for terms; tfidf for
            keywords.
        bits: Bits of a fingerprint, 1 to 4096. Default: 64.
        hash: Hash family by name, or one with a secret key (`nd.keyed`). Default: nd1.
        tie: Whether a sum of zero leaves a bit clear (`>0`) or sets it (`>=0`). Default: >0.
        projection: Project the sums onto a sphere before taking signs, for example
            `sphere:42x64`. Default: none.
        similarity: Similarity measure. Default: jaccard for sets, cosine for given terms,
            else weighted-jaccard.
        threshold: Minimum similarity of near-duplicates; for hamming, the maximum number of
            differing bits. Default: 0.8; hamming has none.
        candidates: How to search: `auto`, `exact`, or a plan such as `bands:40x16`. Default: auto.
        recall: Minimum expected recall of a plan, for pairs at the threshold.
        keep: Which document of a cluster to keep: `first`, `longest`, `shortest`, `max:COL` or
            `min:COL`.
        cluster: `components` (connected components) or `star` (only documents directly similar to
            the kept one).
        memory: Memory to use, for example "8GB". Features that do not fit go to a temporary file.
        max_document: Reject documents larger than this, for example "200MB".
        threads: Number of threads. Default: one per core.

    Returns:
        A `Result` with the tables `pairs`, `clusters` and `kept`, the numbers in `summary`, and
        `save`.

    >>> import neardup as nd
    >>> texts = ["one two three four five", "One, two, three, four, five!", "something else"]
    >>> result = nd.dedup(texts)
    >>> result
    <Result of 3 documents: 1 removed, 1 cluster>
    >>> result.kept["text"].to_pylist()
    ['one two three four five', 'something else']
    """
    checked = DedupSettings.of(
        preset=preset,
        text=text,
        id=id,
        features=features,
        weights=weights,
        bits=bits,
        hash=hash,
        tie=tie,
        projection=projection,
        similarity=similarity,
        threshold=threshold,
        candidates=candidates,
        recall=recall,
        keep=keep,
        cluster=cluster,
        memory=memory,
        max_document=max_document,
        threads=threads,
    )
    old = None if against is None else source_of(against, checked)
    return deduplicate(source_of(source, checked), checked, old)


def deduplicate(
    source: Source,
    settings: DedupSettings,
    old: Source | None = None,
    stage: StageProgress = lambda _: None,
) -> Result:
    """Read, find pairs, cluster; `stage` is told each, and may follow its progress."""
    require_plan(settings)
    require_keep_column(source, settings.keep)
    timer = _Timer()
    sources = [source] if old is None else [source, old]
    fingerprinter = fingerprinter_of(settings.scheme, settings.threads)
    if settings.scheme.needs_idf:
        with timer.stage("idf"):
            batches = (batch for one in sources for batch in one.batches(stage("idf")))
            fingerprinter = fitted(fingerprinter, (batch.columns for batch in batches), None)
    with timer.stage("features"):
        budget = Budget(settings.memory)
        collections = [
            _read(one, fingerprinter, budget, len(sources), settings, stage) for one in sources
        ]
    with timer.stage("pairs"):
        stage("pairs")
        found = search(collections, fingerprinter, settings)
    for one in collections:
        one.release_features()
    with timer.stage("clusters"):
        stage("clusters")
        parts = (source, settings, fingerprinter.scheme, collections[0], found)
        if old is None:
            clusters = clusters_of(source, settings, collections[0], found)
            return Result(*parts, clusters, timer.seconds)
        matches = Matches.of(collections[0], collections[1], found)
        return AgainstResult(*parts, matches, timer.seconds, old, collections[1])


def _read(
    source: Source,
    fingerprinter: Fingerprinter,
    budget: Budget,
    sources: int,
    settings: DedupSettings,
    stage: StageProgress,
) -> Collected:
    """The first pass over one of the collections."""
    by_features = settings.similarity != "hamming"
    known = None if by_features else source.fingerprinted()
    if known is not None:
        return known
    # The exact join needs no fingerprints, and those of the pairs can be made of features.
    in_features = joins_features(settings) and fingerprinter.scheme.is_hashed
    return collect(
        source,
        fingerprinter,
        features=FeatureStore(budget.features(sources)) if by_features else None,
        rows_by=() if in_features else (fingerprinter,),
        watch=budget.require_bookkeeping,
        progress=stage("features"),
    )


class _Timer:
    """Seconds of each stage, in the order they ran."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started

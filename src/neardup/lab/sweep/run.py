"""`sweep`: tries many plans on one collection and reports what each finds and costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, product
from typing import Any

import numpy as np

from neardup.collection.source import Progress, Source
from neardup.deduplication.sources import source_of
from neardup.fingerprints.scheme import HashChoice
from neardup.lab.sweep.counts import LookUp, PlanCounts, TruePairs, Verification, count_plan
from neardup.lab.sweep.documents import SweptDocuments, swept_documents
from neardup.lab.sweep.prediction import KnownSimilarities, Prediction
from neardup.lab.sweep.request import SweepRequest, shape_of
from neardup.lab.sweep.result import SimilarPair, Sweep, SweepRow
from neardup.pairs.by_fingerprints import Plan
from neardup.settings import Similarity, suggests_settings

StageProgress = Callable[[str], Progress | None]


def top_pairs(documents: SweptDocuments, true: TruePairs, most: int) -> tuple[SimilarPair, ...]:
    """The `most` most similar pairs; ties are in input order.

    Copies are pairs of similarity 1, which every plan finds.
    """
    if most < 1:
        return ()
    pairs = [*_of_one_kind(documents, most), *_of_two_kinds(documents, true, most)]
    pairs.sort(key=lambda pair: (-pair[2], pair[0], pair[1]))
    ids = documents.collected.ids
    return tuple(
        SimilarPair(ids[a].as_py(), ids[b].as_py(), similarity) for a, b, similarity in pairs[:most]
    )


def _of_one_kind(documents: SweptDocuments, most: int) -> Iterator[tuple[int, int, float]]:
    for kind in np.flatnonzero(documents.sizes > 1)[:most].tolist():
        # `most` + 1 copies make at least `most` pairs.
        for a, b in combinations(documents.members(kind, most + 1).tolist(), 2):
            yield a, b, 1.0


def _of_two_kinds(
    documents: SweptDocuments, true: TruePairs, most: int
) -> Iterator[tuple[int, int, float]]:
    for place in np.lexsort((true.b, true.a, -true.similarity))[:most].tolist():
        sides = (documents.members(int(side[place]), most).tolist() for side in (true.a, true.b))
        for x, y in product(*sides):
            yield min(x, y), max(x, y), float(true.similarity[place])


@suggests_settings
def sweep(
    source: Any,
    *,
    bands: int | Iterable[int] | None = None,
    band_bits: int | Iterable[int] | None = None,
    plans: Iterable[str | Plan] | None = None,
    exact: bool = False,
    top: int = 0,
    preset: str | None = None,
    text: str | None = None,
    id: str | None = None,
    features: str | None = None,
    weights: str | None = None,
    bits: int | None = None,
    hash: HashChoice | None = None,
    tie: str | None = None,
    similarity: Similarity | None = None,
    threshold: float | Iterable[float] | None = None,
    memory: str | int = "2GB",
    read_as: str | None = None,
    suffix: str | None = None,
    max_document: str | int = "64MB",
    threads: int | None = None,
) -> Sweep:
    """Try many plans on one collection: what each finds, what it misses, and what it costs.

    Every number of `bands` is tried with every number of `band_bits`, then each of the `plans`.

    Args:
        source: The documents, as `dedup` takes them.
        bands: Numbers of tables, for example [2, 3, 4].
        band_bits: Bits of a table, for example [10, 12, 18].
        plans: Further plans by name, for example ["rotate:16:4"].
        exact: Find every true pair first, so that recall is measured rather than predicted.
        top: List this many of the most similar pairs of each row.
        preset: Settings of a known system; without `bands`, `band_bits` and `plans`, its plan is
            tried.
        text: Column with the text or terms; several columns are fields. Default: text, or terms.
        id: Column with the ids. Default: id if present, else the row number.
        features: What a document consists of, for example `word:3`. Default: word:3.
        weights: Weight of a feature, as in `dedup`. Default: set; given for terms; tfidf for
            keywords.
        bits: Bits of a fingerprint for plans other than bands. Default: 64.
        hash: Hash family by name, or one with a secret key (`nd.keyed`). Default: nd1.
        tie: Whether a sum of zero leaves a bit clear (`>0`) or sets it (`>=0`). Default: >0.
        similarity: Similarity measure, not hamming. Default: jaccard for sets, cosine for given
            terms, else weighted-jaccard.
        threshold: Minimum similarity of a true pair, or several to report each. Default: 0.8.
        memory: Memory for features, fingerprints and pairs, for example "8GB".
        read_as: Read all files in this format, whatever their suffix: text, lines, html, pdf, warc,
            json, jsonl, csv, tsv, parquet or arrow. Default: by suffix.
        suffix: Of folders and globs, read the files with one of these suffixes, for example
            ".py,.html,.md". Default: all that can be read.
        max_document: Reject documents larger than this, for example "200MB".
        threads: Number of threads. Default: one per core.

    Returns:
        A `Sweep` with one row for each plan and threshold; `save` writes table and plots.

    >>> import neardup as nd
    >>> texts = ["one two three four five", "one two three four six", "something else"]
    >>> table = nd.sweep(texts, bands=[1, 2], band_bits=4, threshold=0.5, exact=True)
    >>> [(row.plan, row.true, row.recall) for row in table.rows]
    [('bands:1x4', 0, 0.0), ('bands:2x4', 1, 1.0)]
    """
    request = SweepRequest.of(
        bands=bands,
        band_bits=band_bits,
        plans=plans,
        bits=bits,
        threshold=threshold,
        preset=preset,
        text=text,
        id=id,
        features=features,
        weights=weights,
        hash=hash,
        tie=tie,
        similarity=similarity,
        memory=memory,
        read_as=read_as,
        suffix=suffix,
        max_document=max_document,
        threads=threads,
    )
    return sweep_documents(source_of(source, request.settings), request, exact=exact, top=top)


def sweep_documents(
    source: Source,
    request: SweepRequest,
    *,
    exact: bool,
    top: int = 0,
    stage: StageProgress = lambda _: None,
) -> Sweep:
    """Read, find all true pairs if `exact`, try every plan; `stage` is called as each begins."""
    settings, plans = request.settings, request.plans
    documents = swept_documents(
        source,
        settings.scheme,
        [plan.bits for plan in plans],
        memory=settings.memory,
        by_words=any(plan.needs_words for plan in plans),
        threads=settings.threads,
        progress=stage("documents"),
    )
    seconds = dict(documents.seconds)
    measure, least = settings.similarity, settings.threshold
    judge: LookUp | Verification
    began = time.perf_counter()
    if exact:
        stage("exact truth")
        judge = LookUp(documents, measure, least, settings.memory)
        seconds["exact"] = time.perf_counter() - began
    else:
        judge = Verification(documents, measure, least, settings.memory)
    stage("plans")
    counts = [count_plan(plan, documents, judge, settings.memory) for plan in plans]
    stage("prediction")
    began = time.perf_counter()
    similar = (
        KnownSimilarities.of(documents, judge.truth)
        if isinstance(judge, LookUp)
        else KnownSimilarities.estimated(documents, counts)
    )
    prediction = Prediction.of(documents, similar, measure, least)
    truth = judge.truth if isinstance(judge, LookUp) else None
    rows = tuple(
        _row(one, level, documents, prediction, truth, top)
        for level in request.thresholds
        for one in counts
    )
    seconds["prediction"] = time.perf_counter() - began
    return Sweep(
        len(documents),
        len(documents) - len(documents.collected.filled),
        len(documents.collected.rejected),
        str(documents.scheme),
        measure,
        request.thresholds,
        None if truth is None else tuple(_pairs(documents, truth, t) for t in request.thresholds),
        seconds,
        rows,
    )


def _row(
    counts: PlanCounts,
    threshold: float,
    documents: SweptDocuments,
    prediction: Prediction,
    truth: TruePairs | None,
    top: int,
) -> SweepRow:
    plan, candidates = counts.plan, counts.candidates
    bands, band_bits = shape_of(plan)
    true = _pairs(documents, counts.true, threshold)
    every = None if truth is None else _pairs(documents, truth, threshold)
    fingerprint = documents.seconds["fingerprint"]
    alone = fingerprint + counts.seconds["candidates"] + counts.compared * prediction.verifying
    return SweepRow(
        plan.name,
        bands,
        band_bits,
        plan.bits,
        threshold,
        candidates,
        true,
        candidates - true,
        true / candidates if candidates else None,
        true / every if every else None,
        {"fingerprint": fingerprint, **counts.seconds, "alone": alone},
        prediction.candidates(plan),
        prediction.recall(plan, threshold),
        top_pairs(documents, counts.true.where(counts.true.similarity >= threshold), top),
    )


def _pairs(documents: SweptDocuments, true: TruePairs, threshold: float) -> int:
    """The number of pairs of documents that reach a threshold."""
    reached = true.where(true.similarity >= threshold)
    return int(documents.pairs(reached.a, reached.b).sum()) + documents.same_pairs

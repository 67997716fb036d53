"""`dedup`: the whole run, top to bottom."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from neardup.cluster import KeepPolicy
from neardup.collection.budget import Budget
from neardup.collection.collected import Collected, collect
from neardup.collection.deliveries import (
    AskedSource,
    Delivery,
    Ignored,
    NearDocuments,
    RememberingSource,
)
from neardup.collection.feature_store import FeatureStore
from neardup.collection.rarity import Rarity
from neardup.collection.records import Records
from neardup.collection.settings import DedupSettings
from neardup.collection.source import (
    Progress,
    Source,
    by_documents,
    fingerprinter_of,
    read_ahead,
)
from neardup.collection.timing import Timer
from neardup.decisions import DecisionFile
from neardup.deduplication.delivery import delivery_of, given_ids, origins_of
from neardup.deduplication.listed_pairs import HeldPairs, PairList, PairsBeside
from neardup.deduplication.obeyed import GivenDecisions, given_decisions, obeyed_of
from neardup.deduplication.removals import (
    Both,
    Places,
    beside_evidence,
    evidence_of,
    find_removals,
    removals_after,
)
from neardup.deduplication.result import Result
from neardup.deduplication.resume import FEATURES, IDF, PAIRS, Decided, Resume, Taken
from neardup.deduplication.rows import keep_order, require_keep_column
from neardup.deduplication.sources import source_of
from neardup.errors import SettingError
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.fingerprints.scheme import HashChoice
from neardup.pairs.all_pairs import (
    MANY_PAIRS,
    PAIR_BYTES,
    PAIRS_A_SECOND,
    PairBatch,
    estimated_pairs,
    find_all_pairs,
    turns_of,
)
from neardup.pairs.choose import collects, joins_features, require_plan
from neardup.pairs.told import Told
from neardup.settings import INCLUSION, Clustering, PairListing, Similarity, suggests_settings

StageProgress = Callable[[str], Progress | None]


@suggests_settings
def dedup(
    source: Any,
    *,
    against: Any = None,
    within: bool = False,
    update: bool = False,
    replace: bool = False,
    decisions: str | os.PathLike[str] | DecisionFile | None = None,
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
    model: str | os.PathLike[str] | None = None,
    threshold: float | None = None,
    candidates: str | None = None,
    recall: float = 0.99,
    keep: str = "first",
    cluster: Clustering = "star",
    pairs: PairListing | None = None,
    floor: float | None = None,
    memory: str | int = "2GB",
    read_as: str | None = None,
    suffix: str | None = None,
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
            `source` are kept, unless `within` is set.
        within: With `against`, also remove near-duplicates within `source`.
        update: With an index as `against`: remove near-duplicates within `source`, too, and add
            the kept documents to the index. It is created if it does not exist. A run that is
            repeated gives the same result.
        replace: With `update`, let kept documents replace those of the index that have the same
            ids and came with another delivery. Without it, such documents are an error.
        decisions: A file of decisions to obey, or the folder of a run that has one: documents that
            are the same are removed for one of them, those that are different never for each
            other, and documents to keep are kept.
        preset: Settings of a known system: caim, irrs, blog, slides, sphere or google2007.
        text: Column with the text or terms. Several columns are fields, with optional weights:
            `name*2+street+city`; or each compared in its own way:
            `name:char:3*2 + dob:exact + price:number:0.05`. Default: text, or terms.
        id: Column with the ids. Default: id if present, else the row number.
        features: What a document consists of: `word:N` (runs of N words), `char:N`, `sentences:N`,
            `edges`, `keywords:N`, a union such as `word:1+word:3`, or `terms` (documents bring
            their own terms). Default: word:3.
        weights: Weight of a feature: `set` (present or not), `count`, `tfidf`, `idf` (rarity
            alone), `tfidf:lab`, or `given` (weights come with the terms). Default: set; given for
            terms; tfidf for keywords.
        bits: Bits of a fingerprint, 1 to 4096. Default: 64.
        hash: Hash family by name, or one with a secret key (`nd.keyed`). Default: nd1.
        tie: Whether a sum of zero leaves a bit clear (`>0`) or sets it (`>=0`). Default: >0.
        projection: Project the sums onto a sphere before taking signs, for example
            `sphere:42x64`. Default: none.
        similarity: Similarity measure. Default: jaccard for sets, cosine for given terms, fields if
            a field has its own way to be compared, else weighted-jaccard; model with a model.
        model: File of a fitted model, as `neardup tune --fit` writes it. The similarity is the
            probability that two documents are the same. Default: none.
        threshold: Minimum similarity of near-duplicates; for hamming, the maximum number of
            differing bits. Default: 0.8, or that of the model; hamming has none.
        candidates: How to search: `auto`, `exact`, or a plan such as `bands:40x16`. Default: auto.
        recall: Share of the pairs at the threshold that a plan is expected to find, at least.
        keep: Which document of a cluster to keep: `first`, `longest`, `shortest`, `max:COL` or
            `min:COL`; `none` keeps no document of a cluster, `each:N` the first N.
        cluster: `star` (every removed document is similar to the kept one), `components`
            (connected components, in which chains of pairs may remove documents that are not) or
            `dense:SHARE` (two clusters are joined only if this share of their cross pairs reach the
            threshold; `dense` means 0.25).
        pairs: Pairs to list: `evidence` (one for each removed document), `all`, or `none`.
            Default: evidence; all with a floor and for presets with several distances.
        floor: List all pairs from this similarity on, which is below the threshold, for near
            misses and `rethreshold`. Default: the threshold.
        memory: Memory to use, for example "8GB". Features that do not fit go to a temporary file.
        read_as: Read all files in this format, whatever their suffix: text, lines, html, pdf, warc,
            json, jsonl, csv, tsv, parquet or arrow. Default: by suffix.
        suffix: Of folders and globs, read the files with one of these suffixes, for example
            ".py,.html,.md". Default: all that can be read.
        max_document: Reject documents larger than this, for example "200MB".
        threads: Number of threads. Default: one per core.

    Returns:
        A `Result` with the tables `kept`, `removed`, `clusters` and `pairs`, the numbers in
        `summary`, and `save`.

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
        model=model,
        threshold=threshold,
        candidates=candidates,
        recall=recall,
        keep=keep,
        cluster=cluster,
        pairs=pairs,
        floor=floor,
        memory=memory,
        read_as=read_as,
        suffix=suffix,
        max_document=max_document,
        threads=threads,
    )
    if within and against is None:
        raise SettingError("within=True needs another collection; give it as against")
    if replace and not update:
        raise SettingError("replace=True is for update=True, which adds documents to an index")
    if update:
        if not isinstance(against, str | os.PathLike):
            raise SettingError("update=True needs an index; give its folder as against")
        from neardup.deduplication.to_index import require_update

        require_update(checked, against)
    old = None
    if against is not None and not (update and not os.path.exists(against)):
        old = source_of(against, checked)
    result = deduplicate(
        source_of(source, checked),
        checked,
        old,
        within=within or update,
        updates=update,
        delivers=update,
        replaces=replace,
        decisions=None if decisions is None else given_decisions(decisions),
    )
    if update:
        from neardup.deduplication.to_index import leave_index, require_no_replacing

        if not replace:
            require_no_replacing(result, against)
        leave_index(result, against, replace=replace)
    return result


def deduplicate(
    source: Source,
    settings: DedupSettings,
    old: Source | None = None,
    stage: StageProgress = lambda _: None,
    *,
    within: bool = False,
    updates: bool = False,
    delivers: bool = False,
    replaces: bool = False,
    resume: Resume | None = None,
    decisions: GivenDecisions | None = None,
) -> Result:
    """Read, find what to remove, cluster; `stage` is told each, and may follow its progress.

    Without an `old` collection, documents are compared within `source`; with one, they are only if
    `within` is set. With `delivers`, the kept documents will be added to an index, with `updates`
    to the index that they are compared with (or that does not exist yet): documents that the same
    delivery has already added to it do not count, nor, with `replaces`, those of the same ids.
    Passes that `resume` has stored are not repeated, the others are stored there. What people have
    decided (`decisions`) is obeyed.
    """
    within = within or old is None
    require_plan(settings)
    asked = old if isinstance(old, AskedSource) else None
    if decisions is not None and (updates or isinstance(old, AskedSource | RememberingSource)):
        raise SettingError(
            "decisions cannot be obeyed against an index, which does not keep the texts that they "
            "are about; compare with the files instead"
        )
    if asked is not None and within and settings.cluster != "star":
        raise SettingError(
            f"cluster={settings.cluster} needs all features of the other collection, and an index "
            "by similarity is only asked what is near; use cluster=star, or compare with files"
        )
    _require_meaning(settings.keep, within)
    require_keep_column(source, settings.keep)
    timer = Timer()
    taken = Taken() if resume is None else resume.taken(features=delivers)
    timer.seconds.update(taken.seconds)
    sources = [source] if old is None or asked is not None else [source, old]
    fingerprinter = fingerprinter_of(settings.scheme, settings.threads)
    if taken.idf is not None:
        fingerprinter = fingerprinter.weighted_by(taken.idf)
    elif settings.scheme.needs_idf:
        with timer.stage(IDF):
            batches = (
                batch
                for one in sources
                for batch in read_ahead(one.batches(stage(IDF)), settings.threads)
            )
            fingerprinter = fitted(fingerprinter, (batch.columns for batch in batches), None)
        if resume is not None and fingerprinter.idf is not None:
            resume.store_idf(fingerprinter.idf, timer.of(IDF))
    collections, delivery = taken.collections, None
    if collections is None:
        with timer.stage(FEATURES):
            held = Budget(settings.memory).features(len(sources))
            collections = []
            rarity = None if settings.fitted is None else Rarity(fingerprinter.threads)
            for number in range(len(sources)):
                store = None
                if collects(settings).features:
                    path = None if resume is None else resume.features_path(number)
                    store = FeatureStore(held, path)
                if number and updates and isinstance(old, RememberingSource):
                    delivery = delivery_of(source, collections[0])
                    old = sources[number] = old.without(_ignored(delivery, source, replaces))
                records = None
                if collects(settings).records:
                    records = Records(settings.columns, held // 2)
                read = _read(
                    sources[number], fingerprinter, store, records, rarity, settings, stage
                )
                collections.append(read)
        if resume is not None:
            resume.store_features(collections, timer.of(FEATURES))
    if delivers and delivery is None:
        delivery = delivery_of(source, collections[0])
    near, origins = None, None
    if updates:
        origins = origins_of(source, [], np.zeros(0, np.int64))
    if asked is not None:
        with timer.stage("against"):
            near = asked.near_documents(
                collections[0],
                fingerprinter,
                threshold=settings.threshold if settings.floor is None else settings.floor,
                every=settings.pairs == "all",
                ignored=_ignored(delivery, source, replaces) if updates else Ignored(),
                progress=by_documents(stage("against")),
            )
        old = asked.only(near)
        collections.append(near.collected)
        origins = origins_of(source, near.sources, near.added)
    elif isinstance(old, RememberingSource):
        origins = origins_of(source, *old.origins())
    both = Both(collections[0], None if old is None else collections[1], within)
    obeyed = None
    if decisions is not None:
        with timer.stage("decisions"):
            stage("decisions")
            obeyed = obeyed_of(decisions, both, source, old)
    told = None if obeyed is None else obeyed.told
    decided = taken.decided
    if decided is None:
        how = None if near is None or asked is None else (near, asked.reason)
        decided = _decided(source, both, how, fingerprinter, settings, stage, timer, told)
        if resume is not None:
            resume.store_pairs(decided, timer.of("keep order", PAIRS, "clusters"))
    elif told is not None:
        decided = replace(decided, clusters=decided.removals.clusters(settings.keep, told))
    all_pairs = decided.all_pairs
    if decided.lacks_pairs(settings):
        with timer.stage("all pairs"):
            floor = settings.threshold if settings.floor is None else settings.floor
            if near is None:
                all_pairs = _all_pairs(both, decided.order, fingerprinter, settings, floor, stage)
            else:
                all_pairs = _all_pairs_beside(
                    near, both, decided.order, fingerprinter, settings, floor, stage
                )
    if told is not None and all_pairs is not None and settings.pairs == "all":
        all_pairs = beside_evidence(all_pairs, decided.evidence, both, told)
    for one in collections:
        one.release_features()
    return Result(
        source,
        settings,
        fingerprinter,
        both,
        old,
        decided.order,
        decided.found,
        decided.clusters,
        decided.evidence,
        all_pairs,
        timer.seconds,
        timer.wall,
        taken.passes,
        delivery,
        origins,
        timer.started,
        None if obeyed is None else obeyed.after(decided.removals.clashes),
    )


def _ignored(delivery: Delivery | None, source: Source, replaces: bool) -> Ignored:
    """The documents of the index to be updated that do not count."""
    return Ignored(delivery, given_ids(source) if replaces else frozenset())


def _all_pairs(
    both: Both,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    floor: float,
    stage: StageProgress,
) -> PairList:
    _warn_of_many_pairs(both, fingerprinter, settings, floor)
    return find_all_pairs(
        both.left,
        both.right,
        fingerprinter,
        settings,
        floor=floor,
        order=order,
        within=both.within,
        progress=by_documents(stage("all pairs")),
    )


def _all_pairs_beside(
    near: NearDocuments,
    both: Both,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    floor: float,
    stage: StageProgress,
) -> PairList:
    """All pairs within the collection, and those with documents of an index, which are known."""
    a, b = near.a, len(both.left) + near.b
    known = PairBatch(a, b, both.distances(a, b, fingerprinter), near.similarity)
    if not both.within:
        return HeldPairs(known)
    alone = Both(both.left, None)
    return PairsBeside(_all_pairs(alone, order, fingerprinter, settings, floor, stage), known)


def _warn_of_many_pairs(
    both: Both, fingerprinter: Fingerprinter, settings: DedupSettings, floor: float
) -> None:
    """Say beforehand that listing all pairs will take long; a sample tells how many there are."""
    if not joins_features(settings):
        return
    about = estimated_pairs(
        both.left, both.right, fingerprinter, settings, floor=floor, within=both.within
    )
    if about > MANY_PAIRS:
        warnings.warn(
            f"about {float(f'{about:.2g}'):,.0f} pairs are of {settings.similarity} ≥ {floor:g}; "
            f"listing them takes about {about / PAIRS_A_SECOND / 60:,.0f} minutes on one core and "
            f"{about * PAIR_BYTES / 1e9:,.0f} GB of disk (--pairs evidence lists one for each "
            "removed document)",
            stacklevel=2,
        )


def _decided(
    source: Source,
    both: Both,
    near: tuple[NearDocuments, str] | None,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    stage: StageProgress,
    timer: Timer,
    told: Told | None = None,
) -> Decided:
    """Find what to remove, and why; `near` is what an index has told, and how."""
    if settings.keep.column is not None:
        with timer.stage("keep order"):
            order = keep_order(source, settings.keep, both.left.words, stage("keep order"))
    else:
        order = keep_order(source, settings.keep, both.left.words)
    if settings.similarity == INCLUSION:
        order = _copies_together(both.left, order)
    all_pairs: PairList | None
    with timer.stage(PAIRS):
        progress = by_documents(stage(PAIRS))
        if near is not None:
            removals, found, all_pairs = removals_after(
                both, *near, order, fingerprinter, settings, progress
            )
        else:
            removals, found, all_pairs = find_removals(
                both, order, fingerprinter, settings, progress, told
            )
    with timer.stage("clusters"):
        stage("clusters")
        clusters = removals.clusters(settings.keep, told)
        evidence = evidence_of(
            both,
            clusters,
            None if settings.pairs == "none" else lambda a, b: both.distances(a, b, fingerprinter),
        )
    return Decided(order, removals, clusters, found, evidence, all_pairs)


def _copies_together(left: Collected, order: Places) -> Places:
    """The keep order, but with exact copies right after the first of their kind.

    Which one of two documents is the later one is then the same for all of their copies.
    """
    turns = turns_of(order)
    earliest, group_of = turns.copy(), left.copies.group_of
    firsts = np.full(len(left.firsts), len(order), np.int64)
    np.minimum.at(firsts, group_of, turns[left.filled])
    earliest[left.filled] = firsts[group_of]
    return np.lexsort((turns, earliest))


def _require_meaning(policy: KeepPolicy, within: bool) -> None:
    if policy.most != 1 and not within:
        raise SettingError(
            f"keep={policy} is about clusters of the input, and against alone compares with the "
            "other collection only; add within, or keep the first"
        )


def _read(
    source: Source,
    fingerprinter: Fingerprinter,
    features: FeatureStore | None,
    records: Records | None,
    rarity: Rarity | None,
    settings: DedupSettings,
    stage: StageProgress,
) -> Collected:
    """The first pass over one of the collections."""
    known = source.fingerprinted() if features is None else None
    if known is not None:
        return known
    return collect(
        source,
        fingerprinter,
        features=features,
        records=records,
        rarity=rarity,
        rows_by=(fingerprinter,) if collects(settings).rows else (),
        watch=Budget(settings.memory).require_bookkeeping,
        progress=stage(FEATURES),
    )

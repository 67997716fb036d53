"""`tune`: recommends settings that find the near-duplicates of a collection, with their cost."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from neardup.collection.settings import FIELDS, MODEL, DedupSettings
from neardup.collection.source import Progress, Source
from neardup.deduplication.sources import source_of
from neardup.errors import NoColumnError, SettingError
from neardup.features.spec import FeatureSpec
from neardup.fingerprints.scheme import HashChoice
from neardup.hashes import HashFamily
from neardup.lab.tune.columns import choose_columns
from neardup.lab.tune.decide import Asked
from neardup.lab.tune.plans import BANDS, planned
from neardup.lab.tune.result import Tuning
from neardup.lab.tune.sample import look_at
from neardup.labels import read_labels
from neardup.settings import (
    SETTINGS,
    Clustering,
    PairListing,
    Similarity,
    seconds_of,
    suggests_settings,
)

# By default bands must surely find this share of the similar pairs of the sample.
BANDS_RECALL = 0.95
DEFAULT_SAMPLE = 20_000

StageProgress = Callable[[str], Progress | None]


@suggests_settings
def tune(
    source: Any,
    *,
    labels: Any = None,
    fit: str | os.PathLike[str] | None = None,
    sample: int = DEFAULT_SAMPLE,
    budget: str | float = "60s",
    text: str | None = None,
    id: str | None = None,
    features: str | None = None,
    weights: str | None = None,
    bits: int = 64,
    hash: HashChoice = "nd1",
    tie: str = ">0",
    projection: str | None = None,
    similarity: Similarity | None = None,
    threshold: float | None = None,
    candidates: str = "auto",
    recall: float | None = None,
    keep: str = "first",
    cluster: Clustering | None = None,
    pairs: PairListing | None = None,
    floor: float | None = None,
    memory: str | int = "2GB",
    read_as: str | None = None,
    suffix: str | None = None,
    max_document: str | int = "64MB",
    threads: int | None = None,
) -> Tuning:
    """Recommend settings for a collection: by labels, or by what the collection looks like.

    The arguments that are given become part of the recommendation, and the rest is chosen. With
    `labels`, features, weights, similarity, threshold and clusters are those that separate the
    labelled pairs best, and the `labels` of the result say what to expect of them. Without, they
    are those that were best on measured collections of documents as long as these, and the
    threshold is a guess, which `problems` says; `propose_pairs` finds the pairs to label.

    Args:
        source: The documents, as `dedup` takes them. A table without a column `text` is compared by
            its main text, or by all columns that say something.
        labels: Labelled pairs: a file or table with the columns a, b and same, decisions, or a file
            of pairs to label. Default: none.
        fit: File to write a fitted model to, which the recommended settings then name; needs
            labels. Default: none.
        sample: Number of documents to examine closely.
        budget: Approximate time to spend, for example "60s" or "2m".
        text: Column with the text or terms; several columns are fields. Default: text, or terms.
        id: Column with the ids. Default: id if present, else the row number.
        features: What a document consists of, for example `word:3`. Default: chosen.
        weights: Weight of a feature, as in `dedup`. Default: chosen with the features; else set,
            given for terms, tfidf for keywords.
        bits: Bits of a fingerprint, if the exact join is recommended.
        hash: Hash family by name, or one with a secret key (`nd.keyed`).
        tie: Whether a sum of zero leaves a bit clear (`>0`) or sets it (`>=0`).
        projection: Project the sums onto a sphere before taking signs. Default: none.
        similarity: Similarity measure; hamming needs no tuning. Default: chosen with the features;
            else jaccard for sets, cosine for given terms, else weighted-jaccard.
        threshold: Minimum similarity of near-duplicates. Default: chosen by the labels, or guessed;
            0.8 if features are given and their pairs leave no gap.
        candidates: Ways to search to consider: `auto` for all of them, `bands` for bands of
            fingerprints only.
        recall: Minimum share of the pairs at or above the threshold that the search must find.
            Default: 0.99, as in `dedup`; 0.95 if only bands are considered, measured on the sample.
        keep: Which document of a cluster to keep, as in `dedup`.
        cluster: How to make clusters, as in `dedup`. Default: chosen; star if features are given.
        pairs: Which pairs to list, as in `dedup`.
        floor: Similarity from which on `dedup` lists pairs. Default: the threshold.
        memory: Memory to use, now and in `dedup`, for example "8GB". Features that
            do not fit go to a temporary file.
        read_as: Read all files in this format, whatever their suffix: text, lines, html, pdf, warc,
            json, jsonl, csv, tsv, parquet or arrow. Default: by suffix.
        suffix: Of folders and globs, read the files with one of these suffixes, for example
            ".py,.html,.md". Default: all that can be read.
        max_document: Reject documents larger than this, for example "200MB".
        threads: Number of threads. Default: one per core.

    Returns:
        A `Tuning` with the recommended `settings`, what they should cost, and the reasons.

    >>> import neardup as nd
    >>> texts = [f"{word} and so on, it goes on and on like this" for word in ("one", "two")]
    >>> tuning = nd.tune(texts, threshold=0.7)
    >>> tuning.settings["features"], tuning.settings["weights"], tuning.settings["candidates"]
    ('word:1', 'tfidf', 'exact')
    """
    values = {
        "text": text,
        "id": id,
        "weights": weights,
        "bits": bits,
        "hash": hash,
        "tie": tie,
        "projection": projection,
        "similarity": similarity,
        "candidates": candidates,
        "keep": keep,
        "pairs": pairs,
        "floor": floor,
        "memory": memory,
        "read_as": read_as,
        "suffix": suffix,
        "max_document": max_document,
        "threads": threads,
    }
    # A recommendation names what differs from the defaults.
    given = {name: value for name, value in values.items() if value != SETTINGS[name].default}
    chosen: dict[str, Any] = {
        "threshold": threshold,
        "recall": recall,
        "cluster": cluster,
        **given,
    }
    return tuned(
        lambda settings: source_of(source, settings),
        features,
        chosen,
        labels=labels,
        fit=fit,
        sample=sample,
        budget=budget,
    )


def tuned(
    opened: Callable[[DedupSettings], Source],
    features: str | None,
    chosen: dict[str, Any],
    *,
    labels: Any = None,
    fit: str | os.PathLike[str] | None = None,
    propose: int | None = None,
    sample: int = DEFAULT_SAMPLE,
    budget: str | float = "60s",
    stage: StageProgress = lambda _: None,
) -> Tuning:
    """Decide what to compare and how, then how to search; `stage` is told as each stage begins.

    `opened` opens the collection with settings. With `propose`, so many pairs to label are found.
    """
    seconds = seconds_of(budget, "budget")
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 2:
        raise SettingError(f"sample={sample!r} must be a number of documents, 2 or more")
    if fit is not None and labels is None:
        raise SettingError("fit needs labels: a model is fitted to labelled pairs")
    if fit is not None and FeatureSpec.parse(features or "word:1").are_given:
        raise SettingError("fit needs texts or fields: a model does not compare given terms")
    if chosen.get("recall") is None and chosen.get("candidates") == BANDS:
        chosen = {**chosen, "recall": BANDS_RECALL}
    settings = DedupSettings.of(features=features, **chosen)
    if settings.similarity == "hamming":
        raise SettingError(
            "similarity='hamming' needs no tuning: candidates='auto' finds every pair within a "
            "distance, and `neardup plan` shows what each plan costs"
        )
    if settings.is_containment:
        raise SettingError(
            f"similarity={settings.similarity!r} cannot be tuned: tune weighs ways to find "
            "documents of about the same size; give dedup the features and a threshold"
        )
    if settings.candidates not in ("auto", BANDS):
        raise SettingError(
            f"candidates={settings.candidates!r} cannot be tuned; choose auto or {BANDS}"
        )
    given = None if labels is None else read_labels(labels, need_different=True)
    source, chosen, reasons = _opened(opened, features, chosen)
    settings = DedupSettings.of(features=features, **chosen)
    look = look_at(source, settings.memory, settings.threads, stage("look"))
    stage("sample")
    asked = Asked(source, look, settings, features, chosen, sample)
    decided = asked.by_labels(given, fit) if given is not None else asked.by_shape()
    features, chosen = decided.features, decided.chosen
    settings = DedupSettings.of(features=features, **chosen)
    proposed = None if propose is None else asked.proposed(decided.measure, propose, given)
    named = {**_given(chosen), **_of_scheme(settings)}
    plan = None
    if settings.similarity in (FIELDS, MODEL):
        named = _without_features(named)
    else:
        stage("plans")
        fitted = asked.fitted(settings)
        plan = planned(source, look, settings, fitted, sample=sample, budget=seconds)
        named |= {"candidates": plan.best.candidates, "bits": plan.best.bits}
    seen = () if plan is None else plan.reasons
    return Tuning(
        settings=named,
        choice=None if plan is None else plan.best,
        alternatives=() if plan is None else plan.others,
        reasons=(*reasons, *decided.reasons, *seen),
        problems=(*decided.problems, *(() if plan is None else plan.problems)),
        documents=look.documents,
        sampled=asked.examined if plan is None else plan.sampled,
        similar_in_sample=0 if plan is None else plan.similar_in_sample,
        similar_pairs=0.0 if plan is None else plan.similar_pairs,
        labels=decided.report,
        model=decided.model,
        proposed=proposed,
        shown=asked.shown(decided) if given is None and proposed is None else (),
        guessed=decided.guessed,
    )


def _opened(
    opened: Callable[[DedupSettings], Source], features: str | None, chosen: dict[str, Any]
) -> tuple[Source, dict[str, Any], list[str]]:
    """The collection; where it has no column `text`, by other columns, and which."""

    def by(text: str | None) -> Source:
        source = opened(DedupSettings.of(features=features, **{**chosen, "text": text}))
        next(iter(source.batches()), None)  # tables in memory are looked into when read
        return source

    if chosen.get("text") is not None or chosen.get("similarity") == FIELDS:
        return by(chosen.get("text")), chosen, []
    try:
        return by(None), chosen, []
    except NoColumnError as missing:
        choice = choose_columns(missing, by, chosen.get("id"))
        return by(choice.text), {**chosen, "text": choice.text}, [choice.reason]


def _given(chosen: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given, except the defaults and those for one machine only."""
    return {
        name: value.name if isinstance(value, HashFamily) else value
        for name, value in chosen.items()
        if value is not None and name != "threads" and value != SETTINGS[name].default
    }


def _of_scheme(settings: DedupSettings) -> dict[str, Any]:
    """The settings of features and similarity, with their defaults filled in."""
    chosen = settings.as_dict()
    return {name: chosen[name] for name in ("features", "weights", "similarity", "threshold")}


def _without_features(named: dict[str, Any]) -> dict[str, Any]:
    """The settings of a run by fields or a model, which have features of their own."""
    own = ("features", "weights", *(("similarity", "threshold") if MODEL in named else ()))
    return {name: value for name, value in named.items() if name not in own}

"""`tune`: recommends settings that find the near-duplicates of a collection, with their cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from neardup.collection.settings import DedupSettings
from neardup.collection.source import Progress, Source, fitted_to
from neardup.deduplication.sources import source_of
from neardup.errors import InputError, SettingError
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.fingerprints.scheme import HashChoice
from neardup.hashes import HashFamily
from neardup.kernels.set_join import TooManyPairsError
from neardup.lab.tune.features import check_features, choose_features, feature_counts
from neardup.lab.tune.options import (
    FEWEST_PAIRS,
    ExactWork,
    RandomPairs,
    band_options,
    exact_option,
    option_of,
    preferred_bands,
    random_pairs,
)
from neardup.lab.tune.pairs import SamplePairs, similar_pairs, widest
from neardup.lab.tune.result import Tuning, reason_for
from neardup.lab.tune.sample import Look, Sample, draw_sample, frequent_features, look_at
from neardup.pairs.by_fingerprints.plan import pairs_of
from neardup.settings import (
    EXACT,
    SETTINGS,
    Clustering,
    PairListing,
    Similarity,
    seconds_of,
    suggests_settings,
)

BANDS = "bands"
# By default bands must surely find this share of the similar pairs of the sample.
BANDS_RECALL = 0.95
DEFAULT_SAMPLE = 20_000
_ENOUGH_PAIRS = 200
_LARGER, _LARGEST_SAMPLE = 4, 400_000
# Bytes of text per second of the budget: constants, not timings, so that the same input gives the
# same recommendation. Features that are strings (keywords, other hashes) are slower.
_BYTES_A_SECOND = 20_000_000
_BYTES_A_SECOND_BY_STRINGS = 2_000_000
# Documents with this few features are similar by chance; a larger share of pairs is too many.
_FEW_FEATURES, _TOO_MANY = 8, 1e-3

StageProgress = Callable[[str], Progress | None]


@suggests_settings
def tune(
    source: Any,
    *,
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
    cluster: Clustering = "star",
    pairs: PairListing | None = None,
    floor: float | None = None,
    memory: str | int = "2GB",
    max_document: str | int = "64MB",
    threads: int | None = None,
) -> Tuning:
    """Recommend settings for a collection, from a sample of it.

    The arguments that are given become part of the recommendation, and the rest is chosen:
    features that suit the length of the documents, then bits and a way to search.

    Args:
        source: The documents, as `dedup` takes them.
        sample: Number of documents to examine closely.
        budget: Approximate time to spend, for example "60s" or "2m".
        text: Column with the text or terms; several columns are fields. Default: text, or terms.
        id: Column with the ids. Default: id if present, else the row number.
        features: What a document consists of, for example `word:3`. Default: chosen by the length
            of the documents.
        weights: Weight of a feature, as in `dedup`. Default: set; given for terms; tfidf for
            keywords.
        bits: Bits of a fingerprint, if the exact join is recommended.
        hash: Hash family by name, or one with a secret key (`nd.keyed`).
        tie: Whether a sum of zero leaves a bit clear (`>0`) or sets it (`>=0`).
        projection: Project the sums onto a sphere before taking signs. Default: none.
        similarity: Similarity measure; hamming needs no tuning. Default: jaccard for sets, cosine
            for given terms, else weighted-jaccard.
        threshold: Minimum similarity of near-duplicates. Default: 0.8.
        candidates: Ways to search to consider: `auto` for all of them, `bands` for bands of
            fingerprints only.
        recall: Minimum share of the similar pairs of distinct documents to find. Default: 0.99, as
            in `dedup`; 0.95 if only bands are considered, measured on the sample.
        keep: Which document of a cluster to keep, as in `dedup`.
        cluster: How to make clusters, as in `dedup`.
        pairs: Which pairs to list, as in `dedup`.
        floor: Similarity from which on `dedup` lists pairs. Default: the threshold.
        memory: Memory to use, now and in `dedup`, for example "8GB". Features that
            do not fit go to a temporary file.
        max_document: Reject documents larger than this, for example "200MB".
        threads: Number of threads. Default: one per core.

    Returns:
        A `Tuning` with the recommended `settings`, what they should cost, and the reasons.

    >>> import neardup as nd
    >>> texts = [f"{word} and so on, it goes on and on like this" for word in ("one", "two")]
    >>> tuning = nd.tune(texts, threshold=0.7)
    >>> tuning.settings["features"], tuning.settings["candidates"]
    ('word:1', 'exact')
    >>> nd.dedup(texts, **tuning.settings)
    <Result of 2 documents: 1 removed, 1 cluster>
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
        "cluster": cluster,
        "pairs": pairs,
        "floor": floor,
        "memory": memory,
        "max_document": max_document,
        "threads": threads,
    }
    # A recommendation names what differs from the defaults.
    given = {name: value for name, value in values.items() if value != SETTINGS[name].default}
    chosen: dict[str, Any] = {"threshold": threshold, "recall": recall, **given}
    first = DedupSettings.of(features=features, **chosen)
    return tuned(source_of(source, first), features, chosen, sample=sample, budget=budget)


def tuned(
    source: Source,
    features: str | None,
    chosen: dict[str, Any],
    *,
    sample: int = DEFAULT_SAMPLE,
    budget: str | float = "60s",
    stage: StageProgress = lambda _: None,
) -> Tuning:
    """Choose features, draw a sample, compare options; `stage` is called as each stage begins."""
    seconds = seconds_of(budget, "budget")
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 2:
        raise SettingError(f"sample={sample!r} must be a number of documents, 2 or more")
    if chosen.get("recall") is None and chosen.get("candidates") == BANDS:
        chosen = {**chosen, "recall": BANDS_RECALL}
    settings = DedupSettings.of(features=features, **chosen)
    if settings.similarity == "hamming":
        raise SettingError(
            "similarity='hamming' needs no tuning: candidates='auto' finds every pair within a "
            "distance, and `neardup plan` shows what each plan costs"
        )
    if settings.candidates not in ("auto", BANDS):
        raise SettingError(
            f"candidates={settings.candidates!r} cannot be tuned; choose auto or {BANDS}"
        )
    look = look_at(source, settings.memory, settings.threads, stage("look"))
    reasons, problems = [], []
    if features is None:
        choice = choose_features(look, settings)
        settings = DedupSettings.of(features=choice.features, **chosen)
        reasons.append(choice.reason)
        problems += [choice.problem] if choice.problem else []
    elif problem := check_features(look, settings):
        problems.append(problem)
    stage("sample")
    fingerprinter = fitted_to(source, settings.scheme, settings.threads)
    drawn, pairs = _sampled(source, look, fingerprinter, settings, sample, seconds)
    stage("plans")
    at_random = random_pairs(drawn, widest(fingerprinter))
    options = band_options(drawn, pairs, at_random, fingerprinter, settings)
    if settings.candidates != BANDS:
        exact = ExactWork.of(drawn, fingerprinter, settings)
        options.append(exact_option(exact, drawn, fingerprinter, settings))
        best = options[-1]
        bands = preferred_bands(exact, settings)
        if bands is not None:
            by_bands = option_of(bands, drawn, pairs, at_random, fingerprinter, settings)
            best = best if by_bands is None else by_bands
    elif options:
        best = min(options, key=lambda option: option.seconds)
    else:
        raise SettingError(
            f"no bands of {fingerprinter.scheme} find {settings.recall:g} of the similar pairs; "
            "lower the recall, choose another hash, or use candidates=auto"
        )
    others = [option for option in options if option.candidates != best.candidates]
    others.sort(key=lambda option: (option.candidates != EXACT, option.seconds))
    reasons = [*_seen(drawn, pairs, at_random, settings), *reasons]
    reasons.append(reason_for(best, others))
    problems += _problems(drawn, pairs, settings)
    named = {**_given(chosen), **_of_scheme(settings), "candidates": best.candidates}
    named |= {"bits": best.bits}
    return Tuning(
        settings=named,
        choice=best,
        alternatives=tuple(others[:2]),
        reasons=tuple(reasons),
        problems=tuple(problems),
        documents=drawn.documents,
        sampled=len(drawn),
        similar_in_sample=pairs.in_sample,
        similar_pairs=pairs.total,
    )


def _sampled(
    source: Source,
    look: Look,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    most: int,
    budget: float,
) -> tuple[Sample, SamplePairs]:
    """A sample with its similar pairs; a larger one if these are few and the budget allows."""
    rate = _BYTES_A_SECOND if fingerprinter.scheme.is_hashed else _BYTES_A_SECOND_BY_STRINGS
    room = budget * rate
    looked = min(1.0, room / max(1, look.text_bytes))
    frequent = frequent_features(look.features(fingerprinter))
    while True:
        drawn = draw_sample(
            source, fingerprinter, frequent, most=most, memory=settings.memory, looked=looked
        )
        if not len(drawn):
            raise InputError(
                f"none of the {look.documents:,} documents has a word, so there is nothing to tune"
            )
        try:
            pairs = similar_pairs(drawn, fingerprinter, settings)
        except TooManyPairsError:
            most = len(drawn) // 2
            continue
        room -= looked * look.text_bytes
        most *= _LARGER
        enough = len(pairs) >= _ENOUGH_PAIRS or drawn.kept == 1 or most > _LARGEST_SAMPLE
        if enough or room < looked * look.text_bytes:
            return drawn, pairs


def _seen(
    drawn: Sample, pairs: SamplePairs, at_random: RandomPairs, settings: DedupSettings
) -> list[str]:
    """Sentences that describe the collection."""
    counts = feature_counts(drawn.features)
    few, half = (int(np.percentile(counts, share)) for share in (10, 50))
    whole = "all of them" if drawn.is_whole else f"{len(drawn):,} of them"
    skew = at_random.agreement(min(16, at_random.bits)) * 2.0 ** min(16, at_random.bits)
    found = "" if drawn.is_whole else f"; {pairs.in_sample:,} of them are in the sample"
    return [
        f"{drawn.documents:,} documents, about {drawn.contents:,.0f} different ones; {whole} were "
        f"examined closely. Half have {half:,} features or more, a tenth have {few:,} or fewer",
        f"about {pairs.total:,.0f} pairs of different documents reach a similarity "
        f"({settings.similarity}) of {settings.threshold:g}{found}",
        f"unrelated documents differ in {at_random.mean_distance:.3f} of their bits, and agree on "
        f"16 bits {skew:,.1f} times as often as fair coins",
    ]


def _problems(drawn: Sample, pairs: SamplePairs, settings: DedupSettings) -> list[str]:
    """What the settings cannot do for this collection."""
    found = []
    if len(pairs) < FEWEST_PAIRS:
        number = f"only {len(pairs)}" if len(pairs) else "no"
        found.append(
            f"{number} similar pairs were found in the sample, so the recall of bands is computed "
            "by a formula, for pairs at the threshold"
        )
    counts = feature_counts(drawn.features)
    share = pairs.total / max(1.0, pairs_of(round(drawn.contents)))
    if share > _TOO_MANY and np.median(counts) <= _FEW_FEATURES:
        found.append(
            f"1 in {1 / share:,.0f} of all pairs reaches {settings.threshold:g}, because half of "
            f"the documents have {int(np.median(counts))} features or fewer: at this threshold "
            "such short texts cannot be told apart; raise it, or join more columns into the text"
        )
    return found


def _given(chosen: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given, except those for one machine only."""
    return {
        name: value.name if isinstance(value, HashFamily) else value
        for name, value in chosen.items()
        if value is not None and name != "threads"
    }


def _of_scheme(settings: DedupSettings) -> dict[str, Any]:
    """The settings of features and similarity, with their defaults filled in."""
    chosen = settings.as_dict()
    return {name: chosen[name] for name in ("features", "weights", "similarity", "threshold")}

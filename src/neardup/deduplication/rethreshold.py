"""A result at another threshold, from the pairs that are already found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import Clusters
from neardup.collection.records import Records
from neardup.collection.settings import DedupSettings
from neardup.collection.source import Source
from neardup.deduplication.listed_pairs import HeldPairs, PairList, StricterPairs
from neardup.deduplication.removals import (
    Places,
    Removals,
    Similarities,
    SimilarityOf,
    beside_evidence,
    components_of,
    evidence_of,
    with_similarities,
)
from neardup.errors import SettingError
from neardup.features.columns import GivenTerms
from neardup.features.weighted import WeightedFeatures, joined as joined_features
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.kernels.columns import column_of
from neardup.kernels.set_join import similarities
from neardup.pairs.all_pairs import PairBatch, joined
from neardup.pairs.search import FoundPairs, distances
from neardup.pairs.stars import stars_of_pairs
from neardup.pairs.told import Told
from neardup.settings import INCLUSION

if TYPE_CHECKING:
    from neardup.deduplication.result import Result


def rethresholded(result: Result, threshold: float) -> Result:
    """The result at another threshold; `SettingError` if the pairs it needs are not known."""
    all_pairs = _known_pairs(result, threshold)
    settings, both = result.settings, result.both
    by_distance = settings.similarity == "hamming"
    stricter = StricterPairs(all_pairs, threshold, by_distance)
    pairs = joined(list(stricter.batches()))
    if settings.floor is None:
        listed: PairList = HeldPairs(pairs)
    else:  # without pairs that only decisions had brought in
        listed = StricterPairs(all_pairs, settings.floor, by_distance)
    strict = replace(
        settings,
        threshold=float(threshold),
        floor=None if settings.floor is None or settings.floor >= threshold else settings.floor,
        levels=tuple(level for level in settings.levels if level <= threshold),
    )
    told = None if result.obeyed is None else result.obeyed.told
    removals = _removals(result, pairs, lambda a, b: true_similarities(result, a, b), told)
    clusters = removals.clusters(settings.keep, told)
    evidence = evidence_of(both, clusters, lambda a, b: _distances(result, pairs, a, b))
    if result.obeyed is not None and settings.pairs == "all":
        listed = beside_evidence(listed, evidence, both, result.obeyed.told)
    found = replace(
        result.found,
        false_by_distance=_false_by_distance(result, all_pairs, threshold),
        accepted=None if result.found.accepted is None else len(pairs.a),
    )
    return replace(
        result,
        settings=strict,
        found=found,
        clustering=clusters,
        evidence=evidence,
        all_pairs=listed,
        obeyed=None if result.obeyed is None else result.obeyed.after(removals.clashes),
    )


def clusters_at(result: Result, threshold: float) -> Clusters:
    """The clusters at another threshold, without reading the input again.

    Similarities of documents that are no listed pair are 0. `SettingError` as for `rethresholded`.
    """
    by_distance = result.settings.similarity == "hamming"
    stricter = StricterPairs(_known_pairs(result, threshold), threshold, by_distance)
    told = None if result.obeyed is None else result.obeyed.told
    removals = _removals(
        result, joined(list(stricter.batches())), lambda a, _b: np.zeros(len(a)), told
    )
    return removals.clusters(result.settings.keep, told)


def _known_pairs(result: Result, threshold: float) -> PairList:
    settings = result.settings
    if result.all_pairs is None:
        raise SettingError(
            f"threshold={threshold!r}: another threshold needs all pairs, and this result has one "
            f"for each removed document only; run dedup with pairs='all' (and with a floor, for a "
            f"threshold below {settings.threshold:g})"
        )
    if settings.similarity == INCLUSION and result.obeyed is not None:
        raise SettingError(
            f"threshold={threshold!r}: the run obeyed decisions, which change the direction in "
            "which documents are compared by inclusion; run dedup again with this threshold"
        )
    if settings.similarity == "hamming":
        if not float(threshold).is_integer():
            raise SettingError(
                f"threshold={threshold!r}: with similarity=hamming it is the maximum number of "
                "differing bits, a whole number"
            )
        is_known = 0 <= threshold <= settings.threshold
    else:
        least = settings.threshold if settings.floor is None else settings.floor
        is_known = least <= threshold <= 1
    if not is_known:
        raise SettingError(
            f"threshold={threshold!r} is not stricter than {settings.threshold:g}, which this "
            "result was made with"
            + (
                "; run dedup again for that"
                if settings.similarity == "hamming"
                else ", nor at least its floor; run dedup again for that, or with a lower floor"
            )
        )
    return result.all_pairs


def _removals(
    result: Result, pairs: PairBatch, similarity_of: SimilarityOf, told: Told | None
) -> Removals:
    both, settings = result.both, result.settings
    if settings.cluster != "star" and both.within:
        held = HeldPairs(pairs)
        return components_of(both, result.order, held, similarity_of, told, settings.share)
    return _stars(result, pairs, similarity_of, told)


def _stars(
    result: Result, pairs: PairBatch, similarity_of: SimilarityOf, told: Told | None
) -> Removals:
    both, found = result.both, result.found
    as_found = FoundPairs(
        pairs.a,
        pairs.b,
        pairs.distance,
        pairs.similarity,
        found.candidates,
        found.false_by_distance,
        found.plan,
        found.reason,
        found.curve,
    )
    kept_for, similarity, clashes = stars_of_pairs(
        both.left, both.right, as_found, result.order, within=both.within, told=told
    )
    removals = Removals(kept_for, similarity, clashes=clashes)
    return with_similarities(removals, similarity_of)


def _distances(result: Result, pairs: PairBatch, a: Places, b: Places) -> NDArray[np.uint16]:
    """The distances of accepted pairs, which are in order, and of those that people decided on."""
    count = result.both.count
    keys, wanted = pairs.a * count + pairs.b, np.minimum(a, b) * count + np.maximum(a, b)
    rows = np.searchsorted(keys, wanted)
    found = np.zeros(len(a), np.uint16)
    known = np.append(keys, -1)[rows] == wanted
    found[known] = pairs.distance[rows[known]]
    if not known.all():
        found[~known] = _read_distances(result, a[~known], b[~known])
    return found


def _read_distances(result: Result, a: Places, b: Places) -> NDArray[np.uint16]:
    """The differing bits of documents; fingerprints are made of the input, read again."""
    n, fingerprinter = len(result.both.left), _fitted(result)
    one = _rows_at(result.source, fingerprinter, a)
    other = np.empty_like(one)
    inside = b < n
    other[inside] = _rows_at(result.source, fingerprinter, b[inside])
    if result.other_source is not None and not inside.all():
        other[~inside] = _rows_at(result.other_source, fingerprinter, b[~inside] - n)
    return distances(one, other)


def _rows_at(source: Source, fingerprinter: Fingerprinter, places: Places) -> NDArray[np.uint64]:
    """The fingerprints of the documents at these places, in any order."""
    some, numbers = np.unique(places, return_inverse=True)
    parts, first = [fingerprinter.no_rows()], 0
    for batch in source.batches():
        begin, end = np.searchsorted(some, [first, first + len(batch.ids)])
        if begin < end:
            rows, _ = fingerprinter.rows(batch.columns)
            parts.append(rows[some[begin:end] - first])
        first += len(batch.ids)
    return np.asarray(np.concatenate(parts)[numbers])


def _false_by_distance(result: Result, pairs: PairList, threshold: float) -> NDArray[np.int64]:
    """The rejected candidates, with the pairs that a stricter threshold rejects too."""
    settings, counts = result.settings, result.found.false_by_distance.copy()
    if settings.floor is not None or result.found.accepted is None:
        return counts
    for batch in pairs.batches():
        if settings.similarity == "hamming":
            rejected = batch.distance > threshold
        else:
            rejected = batch.similarity < threshold
        counts += np.bincount(batch.distance[rejected], minlength=len(counts))
    return counts


def true_similarities(result: Result, a: Places, b: Places) -> Similarities:
    """The true similarity of documents; the features are made of the input, read again."""
    both, settings = result.both, result.settings
    if settings.similarity == "hamming":
        if both.left.rows:
            return both.similarities(a, b, result.fingerprinter, settings)
        return 1 - _read_distances(result, a, b) / settings.scheme.bits
    if settings.is_scored:
        return _read_scores(result, a, b)
    n, fingerprinter = len(both.left), _fitted(result)
    own = np.union1d(a, b[b < n])
    left = _features_at(result.source, fingerprinter, own)
    found = np.empty(len(a))
    inside = b < n
    found[inside] = similarities(
        *left.arrays,
        np.searchsorted(own, a[inside]),
        np.searchsorted(own, b[inside]),
        measure=settings.similarity,
        threads=result.fingerprinter.threads,
    )
    if result.other_source is not None and not inside.all():
        others = np.unique(b[~inside] - n)
        right = _features_at(result.other_source, fingerprinter, others)
        found[~inside] = similarities(
            *left.arrays,
            np.searchsorted(own, a[~inside]),
            np.searchsorted(others, b[~inside] - n),
            measure=settings.similarity,
            right=right.arrays,
            threads=result.fingerprinter.threads,
        )
    return found


def _fitted(result: Result) -> Fingerprinter:
    """The fingerprinter with its idf table, which a loaded result has to count again."""
    fingerprinter = result.fingerprinter
    if not fingerprinter.scheme.needs_idf or fingerprinter.idf is not None:
        return fingerprinter
    if result.both.right is not None:
        raise SettingError(
            "the weights of this result depend on the whole other collection, which its folder "
            "does not have; run dedup with the new threshold"
        )
    return fitted(fingerprinter, (batch.columns for batch in result.source.batches()), None)


def _features_at(source: Source, fingerprinter: Fingerprinter, places: Places) -> WeightedFeatures:
    """The features of the documents at these places, which ascend."""
    parts, first = [], 0
    for batch in source.batches():
        begin, end = np.searchsorted(places, [first, first + len(batch.ids)])
        if begin < end:
            parts.append(fingerprinter.features(batch.columns).take(places[begin:end] - first))
        first += len(batch.ids)
    return joined_features(parts)


def _read_scores(result: Result, a: Places, b: Places) -> Similarities:
    """The scores of documents; their columns are read again."""
    from neardup.deduplication.rarity import rarity_of  # few runs need it
    from neardup.pairs.by_score import scorer_of

    n, settings = len(result.both.left), result.settings
    scorer = scorer_of(settings, result.fingerprinter.threads, rarity_of(result))
    own = np.union1d(a, b[b < n])
    left = _records_at(result.source, own, settings)
    found, inside = np.empty(len(a)), b < n
    one = np.searchsorted(own, a)
    found[inside] = scorer.scores(left, None, one[inside], np.searchsorted(own, b[inside]))
    if result.other_source is not None and not inside.all():
        others = np.unique(b[~inside] - n)
        right = _records_at(result.other_source, others, settings)
        found[~inside] = scorer.scores(
            left, right, one[~inside], np.searchsorted(others, b[~inside] - n)
        )
    return found


def _records_at(source: Source, places: Places, settings: DedupSettings) -> Records:
    """The columns of the documents at these places, which ascend."""
    records, first = Records(settings.columns, settings.memory), 0
    for batch in source.batches():
        begin, end = np.searchsorted(places, [first, first + len(batch.ids)])
        if begin < end and not isinstance(batch.columns, GivenTerms):
            rows = column_of(places[begin:end] - first)
            records.add([column.texts.take(rows) for column in batch.columns])
        first += len(batch.ids)
    return records

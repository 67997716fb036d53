"""Run queries: find matches, and verify them if the index stores texts or features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.index.contents import features_of
from neardup.index.match import Answers
from neardup.index.settings import IndexSettings
from neardup.index.store import View
from neardup.kernels.index_tables import Matches
from neardup.kernels.set_join import similarities
from neardup.pairs.recall import cosine_of, likely_distance

_MORE = 4
_MOST_MATCHES, _MOST_BUCKETS = 10**9, 1000


@dataclass(frozen=True, eq=False)
class Question:
    """A query: rows of non-empty documents, maximum distance, minimum similarity, limit.

    `features` returns the features of the documents at given places; None if the query has
    fingerprints only.
    """

    rows: NDArray[np.uint64]
    max_distance: int
    threshold: float | None
    limit: int | None
    features: Callable[[NDArray[np.int64]], WeightedFeatures] | None


def distance_asked(settings: IndexSettings, max_distance: Any, threshold: float | None) -> int:
    """The maximum distance of a query: as given, from the index, or as the threshold requires."""
    assert settings.plan is not None
    assert settings.max_distance is not None
    if max_distance is None:
        if threshold is None or settings.plan.is_exact:
            return settings.max_distance
        return _likely_distance(settings, threshold)
    if isinstance(max_distance, bool) or not isinstance(max_distance, int) or max_distance < 0:
        raise SettingError(
            f"max_distance={max_distance!r} must be a whole number of differing bits, 0 or more"
        )
    settings.plan.require_distance(max_distance)
    return max_distance


def threshold_asked(settings: IndexSettings, threshold: Any, has_content: bool) -> float | None:
    """The checked threshold, or None; an error if the true similarity cannot be computed."""
    if threshold is None:
        return None
    if (
        isinstance(threshold, bool)
        or not isinstance(threshold, int | float)
        or not (0 < threshold <= 1)
    ):
        raise SettingError(f"threshold={threshold!r} must be a number above 0, at most 1")
    if not settings.verifies:
        raise SettingError(
            "threshold needs the true similarity of documents, but this index stores neither texts "
            "nor features; create one with store_text or store_features, or use max_distance"
        )
    if not has_content:
        raise SettingError(
            "threshold needs the document itself, but only its fingerprint was given; "
            "query with the text, or use max_distance"
        )
    return float(threshold)


def require_limit(limit: Any) -> None:
    """Raise a SettingError unless `limit` is a valid number of matches."""
    whole = isinstance(limit, int) and not isinstance(limit, bool)
    if limit is not None and (not whole or not 0 <= limit <= _MOST_MATCHES):
        raise SettingError(
            f"limit={limit!r} must be a whole number from 0 to {_MOST_MATCHES:,}, or None"
        )


def require_buckets(buckets: Any) -> None:
    """Raise a SettingError unless `buckets` is a valid number of buckets."""
    whole = isinstance(buckets, int) and not isinstance(buckets, bool)
    if not whole or not 0 <= buckets <= _MOST_BUCKETS:
        raise SettingError(
            f"buckets={buckets!r} must be a whole number from 0 to {_MOST_BUCKETS:,}"
        )


def answer(
    view: View,
    question: Question,
    settings: IndexSettings,
    fingerprinter: Fingerprinter,
    threads: int,
) -> Answers:
    """The matches of every row, verified if the index stores contents and the query has them."""
    if not settings.verifies or question.features is None:
        found = view.find(
            question.rows,
            max_distance=question.max_distance,
            limit=question.limit,
            threads=threads,
        )
        return _answers(view, found, None)
    found, values = _verified(view, question, settings, fingerprinter, threads)
    return _answers(view, found, values)


def _answers(view: View, found: Matches, values: NDArray[np.float64] | None) -> Answers:
    numbers = found.numbers.tolist()
    return Answers(
        found.offsets, view.ids_of(numbers), found.distances, values, view.metadata_of(numbers)
    )


def _verified(
    view: View,
    question: Question,
    settings: IndexSettings,
    fingerprinter: Fingerprinter,
    threads: int,
) -> tuple[Matches, NDArray[np.float64]]:
    """Matches with their true similarities, without those below the threshold.

    The nearest are verified first, and more only for rows that need more: a bucket of 100,000
    equal documents is not read whole to find ten.
    """
    limit, threshold = question.limit, question.threshold
    most = limit if threshold is None or limit is None else _MORE * limit
    pending = np.arange(len(question.rows))
    parts: list[tuple[NDArray[Any], ...]] = []
    while len(pending):
        found = view.find(
            np.ascontiguousarray(question.rows[pending]),
            max_distance=question.max_distance,
            limit=most,
            threads=threads,
        )
        counts = np.diff(found.offsets)
        owners = np.repeat(pending, counts)
        values = _similarities(view, question, owners, found, settings, fingerprinter, threads)
        kept = np.ones(len(owners), np.bool_) if threshold is None else values >= threshold
        passed = np.bincount(owners[kept], minlength=len(question.rows))[pending]
        short = np.zeros(len(pending), np.bool_)
        if threshold is not None and limit is not None and most is not None:
            short = (passed < limit) & (counts == most)
            most *= _MORE
        done = kept & ~np.repeat(short, counts)
        parts.append((owners[done], found.numbers[done], found.distances[done], values[done]))
        pending = pending[short]
    return _in_order(parts, len(question.rows), limit)


def _in_order(
    parts: list[tuple[Any, ...]], queries: int, limit: int | None
) -> tuple[Matches, NDArray[np.float64]]:
    if not parts:
        none = np.zeros(0, np.float64)
        return Matches(np.zeros(1, np.int64), none.astype(np.uint64), none.astype(np.uint16)), none
    owners, numbers, distances, values = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    order = np.argsort(owners, kind="stable")
    totals = np.bincount(owners, minlength=queries)
    offsets = np.concatenate(([0], np.cumsum(totals)))
    if limit is not None:
        rank = np.arange(len(order)) - np.repeat(offsets[:-1], totals)
        order = order[rank < limit]
        offsets = np.concatenate(([0], np.cumsum(np.minimum(totals, limit))))
    return Matches(offsets.astype(np.int64), numbers[order], distances[order]), values[order]


def _similarities(
    view: View,
    question: Question,
    owners: NDArray[np.int64],
    found: Matches,
    settings: IndexSettings,
    fingerprinter: Fingerprinter,
    threads: int,
) -> NDArray[np.float64]:
    if not len(owners) or question.features is None:
        return np.zeros(0)
    asked, a = np.unique(owners, return_inverse=True)
    numbers, b = np.unique(found.numbers, return_inverse=True)
    contents = [record.content for record in view.records(numbers.tolist())]
    left, right = question.features(asked), features_of(contents, settings, fingerprinter)
    return similarities(
        left.offsets,
        left.hashes,
        left.weights,
        a.astype(np.int64),
        b.astype(np.int64),
        measure=settings.similarity,
        right=(right.offsets, right.hashes, right.weights),
        threads=threads,
    )


def _likely_distance(settings: IndexSettings, threshold: float) -> int:
    return likely_distance(settings.scheme.bits, cosine_of(threshold, settings.similarity))

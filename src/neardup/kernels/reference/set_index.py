"""The twin of the index of sets: keeps every set whole, and compares a query with all of them.

`neardup.kernels.set_index` must store the same bytes, and find the same documents with similarities
equal to the last bit: without bands exactly those of `search`, with bands only such ones, and of
those at least the ones that share a key of `band_keys`.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup.kernels.reference import set_join
from neardup.kernels.set_index import NEVER, NO_NUMBER

__all__ = ["SetDocument", "band_keys", "read_set", "search", "short_features", "stored_set"]

Features = NDArray[np.uint64]
Weights = NDArray[np.float64]

_WORD = 2**64 - 1
_WEIGHTED = 3
# How sets of so many features, or more, are stored: the form, and the bits that are not in unary.
_FORMS = ((9001, 2, 16), (40, 1, 24), (0, 0, 32))


def short_features(hashes: Features) -> Features:
    """The leading halves of 64-bit features, which sets without weights are stored with."""
    return hashes >> np.uint64(32)


def stored_set(features: Features, weights: Weights | None = None) -> bytes:
    """The bytes of a set: of ascending short features, or of 64-bit features and their weights."""
    count = len(features)
    if weights is not None:
        head = struct.pack("<I", count | _WEIGHTED << 30)
        return head + features.astype("<u8").tobytes() + weights.astype("<f8").tobytes()
    form, rest = next((form, rest) for least, form, rest in _FORMS if count >= least)
    head = struct.pack("<I", count | form << 30)
    lower = features.astype("<u4").view(np.uint8).reshape(count, 4)[:, : rest // 8].tobytes()
    if rest == 32:
        return head + lower
    bits = np.zeros(_unary_bits(count, rest), np.uint8)
    bits[np.arange(count) + (features >> np.uint64(rest)).astype(np.int64)] = 1
    return head + np.packbits(bits, bitorder="little").tobytes() + lower


def read_set(data: bytes) -> tuple[Features, Weights | None]:
    """The features and weights in stored bytes; ValueError if no set can have these bytes."""
    if len(data) < 4:
        raise ValueError("the features of a document are cut off")
    (head,) = struct.unpack("<I", data[:4])
    form, count, body = head >> 30, head & (2**30 - 1), data[4:]
    if form == _WEIGHTED:
        if len(body) != 16 * count:
            raise ValueError("the features of a document are cut off")
        weights = np.frombuffer(body, "<f8")[count:].copy()
        if not np.all((weights == 0) | ((weights >= 1e-100) & (weights <= 1e100))):
            raise ValueError("the features of a document are not as they were written")
        return np.frombuffer(body, "<u8")[:count].copy(), weights
    rest = {form: rest for _, form, rest in _FORMS}[form]
    unary = 0 if rest == 32 else _unary_bits(count, rest) // 8
    if len(body) != unary + rest // 8 * count:
        raise ValueError("the features of a document are cut off")
    lower = np.zeros((count, 4), np.uint8)
    lower[:, : rest // 8] = np.frombuffer(body[unary:], np.uint8).reshape(count, rest // 8)
    features = lower.view("<u4").reshape(count).astype(np.uint64)
    if rest == 32:
        return features, None
    bits = np.unpackbits(np.frombuffer(body[:unary], np.uint8), bitorder="little")
    places = np.flatnonzero(bits)
    if len(places) != count:
        raise ValueError("the features of a document are not as they were written")
    leading = (places - np.arange(count)).astype(np.uint64)
    return (leading << np.uint64(rest) | features) & np.uint64(2**32 - 1), None


def band_keys(features: Iterable[int], bands: int, minima: int) -> list[int]:
    """The keys of the bands of a set, from its short features."""
    many = bands * minima
    mixed = [_mixed(feature) for feature in features]
    bins: list[list[int]] = [[] for _ in range(many)]
    for value in mixed if many else []:
        bins[(value >> 32) * many >> 32].append(value & 0xFFFFFFFF)
    values = [_WORD] * many
    if mixed:
        values = [
            min(held) if held else _own_minimum(mixed, place) for place, held in enumerate(bins)
        ]
    keys = []
    for band in range(bands):
        key = band
        for value in values[band * minima : (band + 1) * minima]:
            key = (key ^ value) * 0x9E3779B97F4A7C15 & _WORD
            key ^= key >> 29
        keys.append((key * 0xBF58476D1CE4E5B9 & _WORD) >> 32)
    return keys


@dataclass(frozen=True)
class SetDocument:
    """A document of an index: from revision `since` on, up to `until`, unless it has expired.

    Without weights its features are short ones, some of which may be equal.
    """

    number: int
    features: Features
    weights: Weights | None
    expires: int = NEVER
    since: int = 0
    until: int = NO_NUMBER

    @cached_property
    def counts(self) -> Counter[int]:
        """How often it has each feature."""
        return Counter(self.features.tolist())

    def is_there(self, revision: int, now: int) -> bool:
        """Whether a query of that revision and time can find it."""
        return self.since <= revision < self.until and self.expires > now

    def similarity(self, other: SetDocument, measure: str) -> float:
        """The true similarity; 0 if one of them is empty. This is the first document."""
        if self.weights is not None and other.weights is not None:
            return self._weighted_similarity(other, measure)
        shared = (self.counts & other.counts).total()
        if not shared:
            return 0.0
        a, b = len(self.features), len(other.features)
        if measure in ("containment", "inclusion"):
            return shared / (a if measure == "inclusion" else min(a, b))
        if measure == "cosine":
            return min(math.sqrt((shared / a) * (shared / b)), 1.0)
        return shared / (a + b - shared)

    def _weighted_similarity(self, other: SetDocument, measure: str) -> float:
        assert self.weights is not None
        assert other.weights is not None
        offsets = np.cumsum([0, len(self.features), len(other.features)])
        hashes = np.concatenate([self.features, other.features])
        weights = np.concatenate([self.weights, other.weights])
        first, second = np.array([0]), np.array([1])
        name = "weighted-jaccard" if measure == "jaccard" else measure
        found = set_join.similarities(offsets, hashes, weights, first, second, measure=name)
        return float(found[0])


def search(
    documents: Sequence[SetDocument],
    asked: SetDocument,
    *,
    measure: str,
    threshold: float,
    limit: int | None,
    now: int = 0,
    revision: int = 0,
    dead: frozenset[int] = frozenset(),
) -> list[tuple[int, float]]:
    """The numbers and similarities of the best matches, except that of the number of `asked`."""
    found = []
    for document in documents:
        if document.number in dead or document.number == asked.number:
            continue
        if document.is_there(revision, now):
            similarity = asked.similarity(document, measure)
            if similarity >= threshold:
                found.append((document.number, similarity))
    return sorted(found, key=lambda match: (-match[1], match[0]))[:limit]


def _unary_bits(count: int, rest: int) -> int:
    return -(-(count + (1 << (32 - rest))) // 8) * 8


def _mixed(feature: int) -> int:
    mixed = (feature + 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93 & _WORD
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93 & _WORD
    return mixed ^ mixed >> 32


def _own_minimum(mixed: Sequence[int], place: int) -> int:
    """What an empty bin takes: the smallest of all features by a hash of its own."""
    hashes = ((_mixed(place) ^ value) * 0x9E3779B97F4A7C15 & _WORD for value in mixed)
    return min(hashes) >> 32 | 1 << 32

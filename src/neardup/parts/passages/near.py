"""Passages that are nearly the same: the star search over one of each kind.

Most passages of a collection are like no other. A passage can be in a pair only if the features
that occur in several passages are nearly all it has; a sieve of fixed size (`Sightings`) tells, so
that only such passages are stored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.collected import Collected, grouped
from neardup.collection.feature_store import FeatureStore
from neardup.collection.rejected import RejectedRows
from neardup.collection.source import DocumentProgress
from neardup.features.spec import TextColumn
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.kernels.columns import chosen, column_of
from neardup.kernels.passages import Sightings
from neardup.pairs.stars import find_stars
from neardup.parts.passages.copies import Flags, Places
from neardup.parts.passages.reading import CutBatch, Scopes
from neardup.parts.passages.settings import PassageSettings

# English has a feature in about five bytes, and compressed files have four times as much text. With
# eight bits for each feature, few are mistaken.
_BITS_A_BYTE = 8 * 4 // 5
# Its number, size, words and key, and its places in the search.
_PASSAGE_BYTES = 64
_LEAST_BITS, _MOST_BITS = 1 << 20, 1 << 32


@dataclass(frozen=True, eq=False)
class NearPassages:
    """The passages of stars of two or more, which ascend, and the one that stands for each.

    The one in the middle of a star stands for itself.
    """

    passages: Places
    like: Places
    sizes: NDArray[np.uint32]


NONE_NEAR = NearPassages(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint32))


class NearSearch:
    """Two passes over passages: `see` all, then `take` one of each kind, and search them."""

    def __init__(
        self, settings: PassageSettings, fingerprinter: Fingerprinter, input_bytes: int | None
    ) -> None:
        self._settings = settings
        self._fingerprinter = fingerprinter
        memory = settings.reading.memory
        # A quarter of the memory is for the sieve, two bits for each of its places.
        most = max(_LEAST_BITS, min(_MOST_BITS, memory))
        wanted = most if input_bytes is None else _BITS_A_BYTE * input_bytes
        bits = max(_LEAST_BITS, min(most, wanted))
        self._sightings = Sightings(1 << (bits.bit_length() - 1))
        self._store = FeatureStore(Budget(memory).features(2))
        self._count = 0
        self._passages: list[Places] = []
        self._sizes: list[NDArray[np.uint32]] = []
        self._words: list[NDArray[np.uint32]] = []
        self._keys: list[NDArray[np.uint64]] = []

    def see(self, batch: CutBatch, wanted: NDArray[np.bool_], scopes: Scopes | None) -> None:
        """See the features of the wanted passages; for the sieve."""
        self._sightings.see(self._features(batch, wanted, scopes).hashes)

    def take(self, batch: CutBatch, wanted: NDArray[np.bool_], scopes: Scopes | None) -> None:
        """Store those of the wanted passages that can be in a pair."""
        features = self._features(batch, wanted, scopes)
        sizes = np.diff(features.offsets)
        shared = self._sightings.count(features.offsets, features.hashes)
        # A pair shares at least `threshold` of the features of each.
        possible = np.flatnonzero(shared >= self._settings.reading.threshold * sizes - 1e-6)
        if not len(possible):
            return
        some = features.take(possible)
        places = np.flatnonzero(wanted)[possible]
        self._passages.append(batch.first_passage + places)
        self._sizes.append(batch.passages.sizes[places].astype(np.uint32))
        self._words.append(some.words)
        self._keys.append(some.content_keys())
        self._store.add(some)
        self._count += len(places)
        Budget(self._settings.reading.memory).require_bookkeeping(
            self._count, self._count * _PASSAGE_BYTES
        )

    def _features(
        self, batch: CutBatch, wanted: NDArray[np.bool_], scopes: Scopes | None
    ) -> WeightedFeatures:
        texts = chosen(batch.passages.texts, wanted)
        features = self._fingerprinter.features([TextColumn(texts)])
        if scopes is None:
            return features
        return in_scope(features, scopes[wanted])

    def found(
        self,
        ranks: Places | None,
        document_of: NDArray[np.int64],
        progress: DocumentProgress | None,
    ) -> NearPassages:
        """The stars; `document_of` has the first passage of each document."""
        del self._sightings  # the search needs its memory
        settings = self._settings.reading
        passages = np.concatenate([np.zeros(0, np.int64), *self._passages])
        if not len(passages):
            return NONE_NEAR
        words = np.concatenate(self._words)
        collected = Collected(
            column_of(passages),
            words,
            *grouped(words, np.concatenate(self._keys), threads=self._fingerprinter.threads),
            (),
            self._store,
            RejectedRows(),
        )
        self._keys.clear()
        order = np.arange(len(passages))
        if ranks is not None:
            order = np.argsort(ranks[documents_at(passages, document_of)], kind="stable")
        stars = find_stars(collected, None, order, self._fingerprinter, settings, progress=progress)
        collected.release_features()
        kept_for = stars.kept_for
        inside = np.zeros(len(passages), np.bool_)
        away = kept_for != np.arange(len(passages))
        inside[away] = inside[kept_for[away]] = True
        return NearPassages(
            passages[inside],
            passages[kept_for[inside]],
            np.concatenate(self._sizes)[inside],
        )


def documents_at(passages: Places, first_passages: Places) -> Places:
    """The documents of passages; `first_passages` has where the passages of each begin."""
    return np.searchsorted(first_passages, passages, "right") - 1


def in_scope(features: WeightedFeatures, scopes: Scopes) -> WeightedFeatures:
    """The features mixed with a number for each passage: of other scopes, other features."""
    counts = np.diff(features.offsets)
    mixed = features.hashes ^ np.repeat(scopes, counts)
    order = np.lexsort((mixed, np.repeat(np.arange(len(counts)), counts)))
    return WeightedFeatures(features.offsets, mixed[order], None, features.words)


def distinct_of(batch: CutBatch, distinct: Flags) -> NDArray[np.bool_]:
    """One passage of each kind, of those that are looked at."""
    first = batch.first_passage
    return distinct.between(first, first + len(batch.passages))

"""The documents that settings are tried on: all of a collection, or a sample with its labels."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import SetLookupOptions, call_function

from neardup.cluster import pairs_in
from neardup.collection.records import Records
from neardup.collection.settings import FIELDS, DedupSettings
from neardup.collection.source import Source, fingerprinter_of, fitted_to, read_ahead
from neardup.errors import SettingError
from neardup.features.columns import DocumentColumns, GivenTerms, documents_in, taken
from neardup.features.idf import IdfTable
from neardup.features.spec import Fields
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.fingerprints.scheme import Scheme
from neardup.frozen import dataclass
from neardup.kernels.columns import converted
from neardup.kernels.hamming_join import group_rows
from neardup.kernels.set_join import TooManyPairsError, join_similar, similarities
from neardup.lab.tune.measures import Measure
from neardup.lab.tune.sample import Look, below, frequent_features, rare_features, tickets
from neardup.labels import Labels
from neardup.scoring.fields import FieldScorer
from neardup.scoring.parts import Among

Places = NDArray[np.int64]
Values = NDArray[np.float64]

# A threshold that pairs up more documents than this, each on average, is no use to anyone.
PAIRS_PER_DOCUMENT, _FEWEST_PAIRS = 60, 100_000
_HIGHER = 0.1
_MOST_SCORED = 20_000_000  # candidates to score; with ten fields about 20 CPU seconds
# A letter may become a feature of 16 bytes, and its index as much again.
_SHARE_OF_TEXT, _LEAST_ROOM = 32, 16 << 20


@dataclass(frozen=True, eq=False)
class PoolPairs:
    """The pairs of a pool from a similarity on; of exact copies, the first stands for all.

    `kinds` is the place of the first copy of each document, -1 for empty ones. `stands_for` is the
    number of pairs of the collection that each pair stands for, 1 if the pool is all of it, and
    `copies` the number of pairs of exact copies in the collection.
    """

    a: Places
    b: Places
    similarity: Values
    kinds: Places
    least: float
    stands_for: Values
    copies: float = 0.0

    def counts(self, thresholds: Values) -> Values:
        """How many pairs of the collection reach each threshold."""
        order = np.argsort(self.similarity, kind="stable")
        below = np.searchsorted(self.similarity[order], thresholds - 1e-12)
        reach = np.append(np.cumsum(self.stands_for[order][::-1])[::-1], 0.0)
        return np.asarray(reach[below])

    def above(self, least: float) -> PoolPairs:
        """Those from a higher similarity on."""
        rows = np.flatnonzero(self.similarity >= least)
        return PoolPairs(
            self.a[rows],
            self.b[rows],
            self.similarity[rows],
            self.kinds,
            least,
            self.stands_for[rows],
            self.copies,
        )


@dataclass(frozen=True, eq=False)
class Drawn:
    """Which documents of a pool were drawn, not named by a label, by which features and share."""

    flags: NDArray[np.bool_]
    rare: WeightedFeatures
    share: float

    def stands_for(self, a: Places, b: Places, threads: int) -> Values:
        """The number of pairs of the collection that each pair stands for, as `sample` explains."""
        rare = self.rare
        alike = similarities(
            rare.offsets, rare.hashes, None, a, b, measure="jaccard", threads=threads
        )
        together = alike * self.share + (1 - alike) * self.share**2
        return np.where(self.flags[a] & self.flags[b], 1 / together, 0.0)


class Pool:
    """Documents by their places in the pool, with ids; `drawn` is None if none were left out."""

    def __init__(
        self,
        source: Source,
        settings: DedupSettings,
        ids: pa.Array,
        columns: tuple[DocumentColumns, ...],
        *,
        documents: int,
        drawn: Drawn | None,
    ) -> None:
        self.ids, self.columns = ids, columns
        self.documents, self._drawn = documents, drawn
        self._source, self._settings = source, settings
        self._idf: dict[str, IdfTable] = {}
        # Features of the latest measure alone: those of all measures together would not fit.
        self._features: tuple[tuple[str, str, str | None], WeightedFeatures] | None = None
        self._pairs: tuple[Measure, float, PoolPairs] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the collection."""
        return self._drawn is None

    @property
    def threads(self) -> int:
        return fingerprinter_of(self._settings.scheme, self._settings.threads).threads

    @cached_property
    def records(self) -> Records:
        """The text columns of all documents."""
        records = Records(self._settings.columns, self._settings.memory // 4)
        for columns in self.columns:
            if isinstance(columns, GivenTerms):
                raise SettingError("only texts can be shown or scored, not terms")
            records.add([column.texts for column in columns])
        return records

    @property
    def _field_names(self) -> list[str]:
        fields = self._settings.scheme.fields
        return [] if fields is None else list(fields.names)

    def features(self, measure: Measure) -> WeightedFeatures:
        """The features of all documents, weighted as in a run over the whole collection."""
        key = measure.features, measure.weights, measure.text
        if self._features is None or self._features[0] != key:
            self._features = None
            fingerprinter = self.fitted(self._scheme(measure))
            self._features = key, joined([fingerprinter.features(part) for part in self.columns])
        return self._features[1]

    def _features_of(self, measure: Measure, places: Places) -> WeightedFeatures:
        """The features of some documents; the places ascend."""
        fingerprinter, first, parts = self.fitted(self._scheme(measure)), 0, []
        for columns in self.columns:
            size = documents_in(columns)
            begin, end = np.searchsorted(places, [first, first + size])
            if begin < end:
                some = taken(columns, pa.array(places[begin:end] - first))
                parts.append(fingerprinter.features(some))
            first += size
        return joined(parts)

    def _scheme(self, measure: Measure) -> Scheme:
        chosen: dict[str, Any] = {"hash": self._settings.scheme.hash, "text": self._settings.text}
        return DedupSettings.of(**{**chosen, **measure.settings}).scheme

    def fitted(self, scheme: Scheme) -> Fingerprinter:
        """The fingerprinter of a scheme; documents are counted once for each kind of features."""
        fingerprinter = fingerprinter_of(scheme, self._settings.threads)
        if not scheme.needs_idf:
            return fingerprinter
        if scheme.counted not in self._idf:
            if self.is_whole:
                counted = fitted(fingerprinter, self.columns, None)
            else:
                counted = fitted_to(self._source, scheme, self._settings.threads)
            assert counted.idf is not None
            self._idf[scheme.counted] = counted.idf
        return fingerprinter.weighted_by(self._idf[scheme.counted])

    def similarities(self, measure: Measure, a: Places, b: Places) -> Values:
        """How similar given pairs are."""
        if measure.similarity == FIELDS:
            return self._fields(measure).scores(self.records, None, a, b)
        places, numbers = np.unique(np.concatenate((a, b)), return_inverse=True)
        features = self._features_of(measure, places)
        return similarities(
            *features.arrays,
            numbers[: len(a)],
            numbers[len(a) :],
            measure=measure.similarity,
            threads=self.threads,
        )

    def _fields(self, measure: Measure) -> FieldScorer:
        fields = self._settings.scheme.fields
        if measure.text is not None:
            fields = Fields.parse(measure.text)
        assert fields is not None
        return FieldScorer(fields, self._settings.scheme.features, self.threads)

    def pairs(self, measure: Measure, least: float) -> PoolPairs:
        """All pairs from a similarity on; from a higher one where they would be too many."""
        if self._pairs is not None and self._pairs[0] == measure and self._pairs[1] <= least:
            found = self._pairs[2]
            return found if least <= found.least else found.above(least)
        self._pairs = measure, least, self._joined(measure, least)
        return self._pairs[2]

    def _joined(self, measure: Measure, least: float) -> PoolPairs:
        most = max(_FEWEST_PAIRS, PAIRS_PER_DOCUMENT * len(self))
        kinds, firsts = _kinds(self.features(measure))
        while True:
            try:
                a, b, similarity = self._join(measure, least, most, kinds, firsts)
            except TooManyPairsError:
                if least >= 1:
                    raise SettingError(
                        f"{measure}: nearly all documents are alike, so it tells nothing apart"
                    ) from None
                least = min(1.0, round(least + _HIGHER, 2))
                continue
            drawn = self._drawn
            return PoolPairs(
                a,
                b,
                similarity,
                kinds,
                least,
                np.ones(len(a)) if drawn is None else drawn.stands_for(a, b, self.threads),
                _pairs_of_copies(kinds if drawn is None else kinds[drawn.flags])
                / (1.0 if drawn is None else drawn.share),
            )

    def _join(
        self, measure: Measure, least: float, most: int, kinds: Places, firsts: Places
    ) -> tuple[Places, Places, Values]:
        if measure.similarity != FIELDS:
            pairs = join_similar(
                *self.features(measure).take(firsts).arrays,
                measure=measure.similarity,
                threshold=least,
                most_pairs=most,
                threads=self.threads,
            )
            return firsts[pairs.a], firsts[pairs.b], pairs.similarity
        return self._join_fields(measure, least, most, firsts)

    def _join_fields(
        self, measure: Measure, least: float, most: int, firsts: Places
    ) -> tuple[Places, Places, Values]:
        scorer, scored = self._fields(measure), 0
        parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for a, b in scorer.candidates(
            self.records, None, least, among=Among(firsts), memory=self._settings.memory // 4
        ):
            scored += len(a)
            scores = scorer.scores(self.records, None, a, b, at_least=least)
            enough = scores >= least
            parts.append((a[enough], b[enough], scores[enough]))
            if scored > _MOST_SCORED or sum(len(part[0]) for part in parts) > most:
                raise TooManyPairsError(f"more than {most} pairs")
        a, b, scores = (np.concatenate([part[side] for part in parts]) for side in range(3))
        once = np.unique(a * len(self) + b, return_index=True)[1]  # a candidate may come twice
        return a[once], b[once], scores[once]

    def around(
        self, measure: Measure, threshold: float | None
    ) -> tuple[tuple[str, str, float], ...]:
        """Three pairs near a threshold with their texts: just above, at, and just below it."""
        if threshold is None:
            return ()
        pairs = self.pairs(measure, max(0.05, threshold - 0.1))
        found = []
        for wanted in (threshold + 0.08, threshold, threshold - 0.05):
            if len(pairs.a):
                row = int(np.lexsort((pairs.b, pairs.a, np.abs(pairs.similarity - wanted)))[0])
                a, b = self.texts(np.array([pairs.a[row], pairs.b[row]])).to_pylist()
                found.append((a, b, float(pairs.similarity[row])))
        return tuple(dict.fromkeys(found))

    def texts(self, places: Places) -> pa.Array:
        """Texts for people to read; the fields of a record are lines."""
        import pyarrow.compute as pc

        table = self.records.table().take(pa.array(places))
        if not self._field_names:
            return table.column(0).combine_chunks()
        newline = pa.scalar("\n", pa.large_string())
        lines = [
            pc.binary_join_element_wise(
                pa.scalar(f"{name}: ", pa.large_string()),
                table[name].combine_chunks(),
                pa.scalar("", pa.large_string()),
            )
            for name in self._field_names
        ]
        return pc.binary_join_element_wise(*lines, newline)


def _kinds(features: WeightedFeatures) -> tuple[Places, Places]:
    """For each document the first one with the same features, -1 if empty; and all first ones."""
    filled = np.flatnonzero(np.diff(features.offsets))
    groups = group_rows(np.ascontiguousarray(features.content_keys()[filled]))
    kinds = np.full(len(features), -1, np.int64)
    firsts = filled[groups.firsts]
    kinds[filled] = firsts[groups.group_of]
    return kinds, firsts


def _pairs_of_copies(kinds: Places) -> int:
    return pairs_in(np.unique(kinds[kinds >= 0], return_counts=True)[1])


def pool_of(
    source: Source, settings: DedupSettings, look: Look, most: int, labels: Labels | None = None
) -> Pool:
    """All documents if there are at most `most`; else a sample of so many, and the labelled ones.

    Near-duplicates stay together in the sample, as `sample` explains.
    """
    room = max(_LEAST_ROOM, settings.memory // _SHARE_OF_TEXT)
    share = min(1.0, most / max(1, look.documents), room / max(1, look.text_bytes))
    wanted = None if labels is None else pa.concat_arrays([labels.a, labels.b])
    scheme = DedupSettings.of(features="word:1", text=settings.text).scheme
    if settings.scheme.features.are_given:
        scheme = settings.scheme
    fingerprinter = fingerprinter_of(scheme, settings.threads)
    frequent = np.zeros(0, np.uint64)
    if share < 1:
        frequent = frequent_features(look.features(fingerprinter))
    ids: list[pa.Array] = []
    columns: list[DocumentColumns] = []
    flags: list[NDArray[np.bool_]] = []
    rares: list[WeightedFeatures] = []
    for batch in read_ahead(source.batches(), settings.threads):
        if not len(batch.ids):
            continue
        names, content = batch.ids, batch.columns
        if share < 1:
            features = fingerprinter.features(content)
            rare = rare_features(features, frequent)
            drawn = below(tickets(rare, features.content_keys()), share)
            rows = drawn if wanted is None else drawn | _named(names, wanted)
            chosen = np.flatnonzero(rows)
            if not len(chosen):
                continue
            names, content = names.take(pa.array(chosen)), taken(content, pa.array(chosen))
            flags.append(drawn[chosen])
            rares.append(rare.take(chosen))
        ids.append(names)
        columns.append(content)
    return Pool(
        source,
        settings,
        pa.concat_arrays(ids) if ids else pa.nulls(0, pa.int64()),
        tuple(columns),
        documents=look.documents,
        drawn=None if share >= 1 else Drawn(_flat(flags), joined(rares), share),
    )


def _flat(parts: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    return np.concatenate([np.zeros(0, np.bool_), *parts])


def _named(ids: pa.Array, wanted: pa.Array) -> NDArray[np.bool_]:
    """Which of the ids are wanted, as strings."""
    names = converted(ids, pa.large_string())
    found = call_function("is_in", [names], SetLookupOptions(value_set=wanted, skip_nulls=True))
    return np.asarray(found.to_numpy(zero_copy_only=False))

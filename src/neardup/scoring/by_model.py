"""`similarity=model`: the probability that two documents are the same, by a fitted model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from neardup.collection.model import TEXT_INPUTS, CandidateRule, Model, field_of
from neardup.collection.rarity import Rarity
from neardup.collection.records import Records
from neardup.errors import NeardupError
from neardup.features.spec import Fields
from neardup.features.weighted import WeightedFeatures
from neardup.frozen import dataclass
from neardup.kernels.set_join import TooManyPairsError, join_similar
from neardup.scoring.fit import log_odds, probability
from neardup.scoring.inputs import (
    Documents,
    Values,
    encoded_fields,
    field_values,
    joined_features,
    texts_at,
)
from neardup.scoring.parts import Agreement, Among, Places, Scores
from neardup.scoring.records import Encoded

_SCORED_AT_ONCE = 1 << 17
# The features of a collection with less text than this are made once, of others for the documents
# of each portion of pairs. They take about 60 times the bytes of the text.
_HELD_TEXT = 8 << 20
_JOIN_BYTES, _PAIR_BYTES = 64, 48
_LEAST_GROUP = 1 << 18
_LEAST_DOCUMENTS = 64


class ModelScorer:
    """Scores documents by a model; `rarity` is that of all documents of the run."""

    name = "model"

    def __init__(self, model: Model, rarity: Rarity, threads: int = 1) -> None:
        self.model, self.rarity, self.threads = model, rarity, threads
        self._inputs = InputTable(model.text, rarity, threads)

    def candidates(
        self,
        left: Records,
        right: Records | None,
        threshold: float,
        *,
        among: Among,
        memory: int,
    ) -> Iterator[tuple[Places, Places]]:
        """Every pair that reaches one of the model's rules; some pairs come twice."""
        for rule in self.model.candidates:
            yield from candidates_by(
                rule, self.rarity, left, right, among, memory=memory, threads=self.threads
            )

    def promise(self, threshold: float) -> str:
        """Which pairs are scored at all."""
        rules = " or ".join(map(str, self.model.candidates))
        return f"model: scores every pair of {rules}; pairs below that are not scored"

    def scores(
        self,
        left: Records,
        right: Records | None,
        a: Places,
        b: Places,
        *,
        at_least: float = 0.0,
    ) -> Scores:
        """The probability that documents a[i] and b[i] are the same."""
        found = np.empty(len(a))
        for begin in range(0, len(a), _SCORED_AT_ONCE):
            some = slice(begin, begin + _SCORED_AT_ONCE)
            found[some] = self._scored(self._inputs.values(left, right, a[some], b[some]))
        return found

    def explain(
        self, a: Mapping[str, str | None], b: Mapping[str, str | None]
    ) -> tuple[float, tuple[Agreement, ...]]:
        """The probability, and the parts of its log-odds; the first one is the intercept."""
        fields = self.model.fields
        names = tuple(a) if fields is None else fields.names
        records = Records(names, 1 << 30)
        records.add([pa.array([a.get(name), b.get(name)], pa.large_string()) for name in names])
        inputs = InputTable(self.model.text, self.rarity, 1)
        values = inputs.values(records, None, np.array([0]), np.array([1]))
        hows = dict(TEXT_INPUTS)
        if fields is not None:
            known = encoded_fields(fields, records, None)
            hows |= {one.field.name: one.how for one in known.fields}
        intercept = self.model.intercept
        parts = [
            Agreement("intercept", "where every pair begins", None, None, None, 1.0, intercept)
        ]
        for one, value in zip(self.model.inputs, values[0].tolist(), strict=True):
            field = field_of(one.name)
            missing = np.isnan(value)
            parts.append(
                Agreement(
                    one.name if field is None else field,
                    hows[one.name if field is None else field],
                    None if field is None else a.get(field) or "",
                    None if field is None else b.get(field) or "",
                    None if missing else value,
                    one.coefficient,
                    one.if_missing if missing else one.coefficient * value,
                )
            )
        return float(self._scored(values)[0]), tuple(parts)

    def _scored(self, values: Values) -> Scores:
        inputs = self.model.inputs
        return probability(
            log_odds(
                values,
                self.model.intercept,
                [one.coefficient for one in inputs],
                [one.if_missing for one in inputs],
            )
        )


class InputTable:
    """The inputs of pairs of documents as a matrix; features are kept where they are small."""

    def __init__(self, text: str | None, rarity: Rarity, threads: int) -> None:
        self._fields = None if text is None else Fields.parse(text)
        self._rarity, self._threads = rarity, threads
        self._documents: dict[int, tuple[Records, Documents]] = {}
        self._encoded: tuple[Records, Records | None, Encoded] | None = None

    def values(self, left: Records, right: Records | None, a: Places, b: Places) -> Values:
        """A row for each pair, a column for each input, NaN where one is missing."""
        ours, x = self._some(left, a)
        theirs, y = self._some(left if right is None else right, b)
        columns = ours.text_values(theirs, x, y)
        if self._fields is not None:
            known = self._known_fields(left, right)
            columns += field_values(known, a, b, self._threads)
        return np.column_stack(columns)

    def _some(self, records: Records, places: Places) -> tuple[Documents, Places]:
        """The documents at these places, and their numbers among them."""
        known = self._documents.get(id(records))
        if known is not None and known[0] is records:
            return known[1], places
        if records.table().nbytes <= _HELD_TEXT:
            made = Documents(texts_at(records), self._rarity, self._threads)
            self._documents[id(records)] = records, made
            return made, places
        some, numbers = np.unique(places, return_inverse=True)
        texts = texts_at(records, some)
        return Documents(texts, self._rarity, self._threads), numbers.reshape(-1)

    def _known_fields(self, left: Records, right: Records | None) -> Encoded:
        known = self._encoded
        if known is None or known[0] is not left or known[1] is not right:
            assert self._fields is not None
            made = encoded_fields(self._fields, left, right, self._threads)
            self._encoded = known = left, right, made
        return known[2]


@dataclass(frozen=True, eq=False)
class _Group:
    """Documents of one side whose features are joined at a time."""

    places: Places
    features: WeightedFeatures

    def halves(self) -> tuple[_Group, _Group]:
        middle = len(self.places) // 2
        return self.some(np.arange(middle)), self.some(np.arange(middle, len(self.places)))

    def some(self, numbers: Places) -> _Group:
        return _Group(self.places[numbers], self.features.take(numbers))


def candidates_by(
    rule: CandidateRule,
    rarity: Rarity,
    left: Records,
    right: Records | None,
    among: Among,
    *,
    memory: int,
    threads: int = 1,
    most_postings: int | None = None,
) -> Iterator[tuple[Places, Places]]:
    """Every pair that reaches the rule, by exact joins of groups that fit the memory."""
    size = max(_LEAST_GROUP, memory // _JOIN_BYTES // 2)
    most_pairs = max(1 << 20, memory // _PAIR_BYTES)
    ours = _groups(rule.name, rarity, left, among.left, size, threads)
    theirs = ours
    if right is not None and among.right is not None:
        theirs = _groups(rule.name, rarity, right, among.right, size, threads)

    def joined(one: _Group, other: _Group | None) -> Iterator[tuple[Places, Places]]:
        try:
            found = join_similar(
                *one.features.arrays,
                measure=rule.name.split()[-1],
                threshold=rule.at_least,
                right=None if other is None else other.features.arrays,
                most_postings=most_postings,
                most_pairs=most_pairs,
                threads=threads,
            )
        except TooManyPairsError:
            if len(one.places) < _LEAST_DOCUMENTS:
                raise NeardupError(
                    f"more than {most_pairs:,} candidates of {rule}: the memory has no room for "
                    "more; give more memory, or fit a model with more labels"
                ) from None
            first, second = one.halves()
            yield from joined(first, other)
            yield from joined(second, other)
            if other is None:
                yield from joined(first, second)
            return
        yield one.places[found.a], (one if other is None else other).places[found.b]

    for number, one in enumerate(ours):
        if right is not None:
            for other in theirs:
                yield from joined(one, other)
            continue
        yield from joined(one, None)
        for other in ours[number + 1 :]:
            yield from joined(one, other)


def _groups(
    name: str, rarity: Rarity, records: Records, places: Places, size: int, threads: int
) -> list[_Group]:
    """The documents in groups of about `size` features."""
    every = _Group(places, joined_features(name, rarity, records, places, threads))
    cuts = np.flatnonzero(np.diff((every.features.offsets[1:] - 1) // size)) + 1
    if not len(cuts):
        return [every]
    return [every.some(run) for run in np.split(np.arange(len(places)), cuts)]

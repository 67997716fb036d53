"""`similarity=fields`: records compared field by field.

The score is the sum of weight × similarity over the fields that are filled on both sides, divided
by the weight of these fields, or by half the weight of all fields where that is more: so an empty
field is no evidence, and little evidence is never enough. Records that are the same in every field
have the score 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.records import Records
from neardup.features.spec import FeatureSpec, Fields
from neardup.scoring.blocking import Blocking
from neardup.scoring.parts import Agreement, Among, Places, Scores
from neardup.scoring.records import Encoded, EncodedField, encoded

# Scores that rounding makes a little too small must not be given up early.
_ROUNDING = 1e-9
_SCORED_AT_ONCE = 1 << 18


class FieldScorer:
    """Scores records by their fields, and finds all pairs from a threshold on."""

    name = "fields"

    def __init__(self, fields: Fields, features: FeatureSpec, threads: int = 1) -> None:
        self.fields, self.features, self.threads = fields, features, threads
        self._known: tuple[Records, Records | None, Encoded] | None = None
        self._blocking: Blocking | None = None

    def candidates(
        self,
        left: Records,
        right: Records | None,
        threshold: float,
        *,
        among: Among,
        memory: int,
    ) -> Iterator[tuple[Places, Places]]:
        """Every pair that reaches the threshold is among them; see `Blocking`."""
        self._blocking = Blocking(
            self._encoded(left, right), threshold, among, memory=memory, threads=self.threads
        )
        yield from self._blocking.candidates()

    def promise(self, threshold: float) -> str:
        """Which fields were joined, and that no pair is missed."""
        if self._blocking is None or self._known is None:
            return f"fields: finds every pair from {threshold:g} on"
        return "; ".join([self._blocking.promise, *map(_unreadable, self._known[2].unreadable)])

    def scores(
        self,
        left: Records,
        right: Records | None,
        a: Places,
        b: Places,
        *,
        at_least: float = 0.0,
    ) -> Scores:
        """The score of documents a[i] and b[i]; one below `at_least` may be given as 0."""
        known = self._encoded(left, right)
        ours, theirs = known.codes(0), known.codes(0 if right is None else 1)
        found = np.zeros(len(a))
        for begin in range(0, len(a), _SCORED_AT_ONCE):
            some = slice(begin, begin + _SCORED_AT_ONCE)
            found[some] = self._scored(
                known,
                [codes[a[some]] for codes in ours],
                [codes[b[some]] for codes in theirs],
                at_least,
            )
        return found

    def explain(
        self, a: Mapping[str, str | None], b: Mapping[str, str | None]
    ) -> tuple[float, tuple[Agreement, ...]]:
        """The score of two records, and what each field adds to it.

        >>> fields = Fields.parse("name:char:3 + dob:exact")
        >>> scorer = FieldScorer(fields, FeatureSpec.parse("word:1"))
        >>> score, parts = scorer.explain({"name": "Ann Lee", "dob": "1981"}, {"name": "Ann Lee"})
        >>> score, [(part.name, part.similarity, part.adds) for part in parts]
        (1.0, [('name', 1.0, 1.0), ('dob', None, 0.0)])
        """
        records = Records(self.fields.names, 1 << 30)
        records.add(
            [
                pa.array([a.get(name) or "", b.get(name) or ""], pa.large_string())
                for name in self.fields.names
            ]
        )
        known = encoded(self.fields.fields, self.features, records, None, 1)
        codes = [(one.codes[0][:1], one.codes[0][1:]) for one in known.fields]
        ours, theirs = [one for one, _ in codes], [other for _, other in codes]
        score = float(self._scored(known, ours, theirs, 0.0)[0])
        found = [
            float(one.similarity(x, y)[0]) if x[0] >= 0 and y[0] >= 0 else None
            for one, x, y in zip(known.fields, ours, theirs, strict=True)
        ]
        total = sum(
            one.field.weight * (s or 0.0) for one, s in zip(known.fields, found, strict=True)
        )
        return score, tuple(
            Agreement(
                one.field.name,
                one.how,
                a.get(one.field.name) or "",
                b.get(one.field.name) or "",
                s,
                one.field.weight,
                score * one.field.weight * (s or 0.0) / total if total else 0.0,
            )
            for one, s in zip(known.fields, found, strict=True)
        )

    def _encoded(self, left: Records, right: Records | None) -> Encoded:
        known = self._known
        if known is None or known[0] is not left or known[1] is not right:
            made = encoded(self.fields.fields, self.features, left, right, self.threads)
            self._known = known = left, right, made
        return known[2]

    def _scored(
        self,
        known: Encoded,
        a: list[NDArray[np.int32]],
        b: list[NDArray[np.int32]],
        at_least: float,
    ) -> Scores:
        """The scores of pairs of records, by the codes of each field."""
        weights, count = known.weights, len(a[0])
        both, same = [], np.ones(count, np.bool_)
        for ours, theirs in zip(a, b, strict=True):
            both.append((ours >= 0) & (theirs >= 0))
            same &= ours == theirs
        filled = np.zeros(count)
        for weight, one in zip(weights, both, strict=True):
            filled += weight * one
        share = np.maximum(filled, weights.sum() / 2)
        parts: list[NDArray[np.float64] | None] = [None] * len(a)
        open_ = np.ones(count, np.bool_)
        most = filled.copy()
        # Values that agree or do not are compared first: they cost the least.
        order = sorted(range(len(a)), key=lambda place: not known.fields[place].is_binary)
        for place in order:
            rows = np.flatnonzero(both[place] & open_)
            part = np.zeros(count)
            part[rows] = known.fields[place].similarity(
                a[place][rows], b[place][rows], self.threads
            )
            parts[place] = part
            most -= weights[place] * (both[place] - part)
            open_ &= most >= at_least * share - _ROUNDING
        total = np.zeros(count)
        for weight, found in zip(weights, parts, strict=True):
            assert found is not None
            total += weight * found
        scores = np.minimum(total / share, 1.0)
        scores[~open_] = 0.0
        scores[same & (filled > 0)] = 1.0
        return np.asarray(scores)


def _unreadable(one: EncodedField) -> str:
    assert one.field.kind is not None
    count = "1 value" if one.unreadable == 1 else f"{one.unreadable:,} values"
    are = "is" if one.unreadable == 1 else "are"
    return f"{count} of {one.field.name} {are} no {one.field.kind.how} and compared as text"

"""Complete blocking: pairs of records that can reach a threshold, without comparing all of them.

Records are divided by which fields they have filled in. Two records that both have the fields E
have the score  S / max(F, W/2), where S is the sum of weight × similarity over E, F the weight of
E and W that of all fields. So a pair of at least t has

    sum over E of weight × (1 - similarity)  <=  D  =  F - t × max(F, W/2).      (*)

The plan joins some fields of E, each from a similarity t_f on, such that the weights × (1 - t_f),
and the whole weights of fields that agree or do not, sum up to more than D. A pair that none of
these joins finds has a similarity below t_f in each of those fields (0 where they agree or do
not), so the sum in (*) is more than D, and its score is below t. Hence every pair is found. Where
D is negative, no two such records can reach t, and nothing is joined.

Which fields and which t_f is a matter of cost: those that bring the fewest records together.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, groupby, product

import numpy as np
from numpy.typing import NDArray

from neardup.errors import NeardupError
from neardup.frozen import dataclass
from neardup.kernels.set_join import TooManyPairsError
from neardup.scoring.parts import Among, Places
from neardup.scoring.records import Encoded, EncodedField
from neardup.scoring.value_joins import SimilarValues, Spans, equal_values, ranged_values

# The most frequent ways to be filled in are planned for one by one, the others together.
_MOST_CLASSES = 12
# The sums of (*) are not exact.
_MARGIN = 1e-9
# Similarities from which a field may be joined, for the choice; then each is raised as far as
# the bound allows, in steps.
_LEVELS = tuple(step / 20 for step in range(20, 0, -1))
_STEPS = 40
# Finding two similar values costs about as much as so many candidates.
_VALUE_PAIR_COST = 5
# A million records with 340 million candidates took two minutes on two cores.
MANY_CANDIDATES, CANDIDATES_A_SECOND = 10**9, 3 * 10**6
MOST_CANDIDATES = 10**11
# Random pairs, to estimate how many are similar.
_SAMPLE = 200_000
# Bytes of a pair of similar values, with both directions.
_VALUE_PAIR_BYTES = 64
_LEAST_VALUE_PAIRS = 1 << 22


@dataclass(frozen=True)
class Join:
    """Records that agree in a field, from this similarity on."""

    field: int
    least: float


@dataclass(frozen=True, eq=False)
class _Class:
    """Records that have the same fields filled in, or one of several choices of fields."""

    patterns: NDArray[np.int64]
    sides: tuple[Places, Places]  # places of the left and of the right collection


def chosen_joins(
    bounds: Sequence[tuple[int, float]],
    weights: Sequence[float],
    binary: Sequence[bool],
    costs: Sequence[Sequence[float]],
) -> list[Join]:
    """The cheapest joins found that cover all bounds.

    A bound is a set of fields, as bits, and the D of (*). `costs` has what a join of each field
    costs, for each of `_LEVELS`; for a binary field one number.
    """
    count = len(weights)
    inside = np.array([[fields >> f & 1 for f in range(count)] for fields, _ in bounds], np.bool_)
    needed = np.array([most for _, most in bounds]) + _MARGIN
    losses = [
        np.array([weight]) if yes else weight * (1 - np.array(_LEVELS))
        for weight, yes in zip(weights, binary, strict=True)
    ]
    lost, paid = np.zeros(count), np.zeros(count)
    while True:
        lack = needed - inside @ lost
        still = np.flatnonzero(lack > 0)
        if not len(still):
            break
        best, worth = None, 0.0
        for f in range(count):
            mine = lack[still[inside[still, f]]]
            more = losses[f] - lost[f]
            for place in np.flatnonzero(more > 0).tolist() if len(mine) else ():
                gained = float(np.minimum(mine, more[place]).sum() / lack[still].max())
                found = gained / (max(0.0, costs[f][place] - paid[f]) + 1.0)
                if found > worth:
                    best, worth = (f, place), found
        if best is None:
            raise AssertionError("joins on all fields cover every bound")
        f, place = best
        lost[f], paid[f] = losses[f][place], costs[f][place]
    # What was chosen early may be too much now: each is reduced as far as possible, the dearest
    # first.
    for f in np.argsort(-paid, kind="stable").tolist():
        without = lost.copy()
        without[f] = 0
        needs = float((needed - inside @ without)[inside[:, f]].max(initial=0.0))
        if needs <= 0:
            lost[f] = 0
        elif not binary[f]:
            lost[f] = min(lost[f], needs)
    return [
        Join(f, 1.0 if binary[f] else _stepped(1 - lost[f] / weights[f]))
        for f in np.flatnonzero(lost > 0).tolist()
    ]


def _stepped(least: float) -> float:
    """A similarity of few different ones, so that values are not sifted again for each join."""
    return math.floor(least * _STEPS) / _STEPS


class Blocking:
    """The plan for two sets of records, and the candidates that it finds."""

    def __init__(
        self, known: Encoded, threshold: float, among: Among, *, memory: int, threads: int
    ) -> None:
        self._known, self._threshold, self._among = known, threshold, among
        self._memory, self._threads = memory, threads
        self._across = among.right is not None
        self._weights = known.weights
        self._sides = [(known.codes(0), among.left)]
        if among.right is not None:
            self._sides.append((known.codes(1), among.right))
        self._classes = self._classified()
        self._costs = [self._pair_shares(one, f) for f, one in enumerate(known.fields)]
        self._value_costs = [self._value_pairs(one) for one in known.fields]
        self._least: dict[int, float] = {}  # from where on values of a field are joined
        # The largest first: others prefer the values that are joined anyhow.
        counts = {pair: self._count(*pair) for pair in self._class_pairs()}
        self.joins = {
            pair: self._planned(*pair)
            for pair in sorted(counts, key=lambda pair: -counts[pair])
            if counts[pair]
        }
        self._require_few(self._predicted())

    def candidates(self) -> Iterator[tuple[Places, Places]]:
        """Every pair that can reach the threshold, some at a time; some pairs come twice."""
        tasks = [
            (join, number, pair)
            for pair, joins in self.joins.items()
            for number, join in enumerate(joins)
        ]
        # Field by field: the similar values of one field are held at a time.
        tasks.sort(key=lambda task: (task[0].field, task[0].least))
        for field, some in groupby(tasks, key=lambda task: task[0].field):
            near = self._similar_values(field)
            for join, number, pair in some:
                if near is not None:
                    near = near.at_least(join.least)
                for a, b in self._joined(join, near, *pair):
                    yield from self._fresh(a, b, self.joins[pair][:number])
        yield from self._same_and_thin()

    @property
    def promise(self) -> str:
        """The plan in one sentence."""
        least: dict[int, float] = {}
        for joins in self.joins.values():
            for join in joins:
                least[join.field] = min(least.get(join.field, 1.0), join.least)
        if not least:
            return "fields: no two records have enough fields in common to reach the threshold"
        names = []
        for f in sorted(least):
            field = self._known.fields[f]
            from_ = "" if field.is_binary else f" (≥ {least[f]:.2g})"
            names.append(field.field.name + from_)
        rest = [one.field.name for f, one in enumerate(self._known.fields) if f not in least]
        spared = f"; {_and(rest)} need not be joined" if len(rest) > 1 else ""
        if len(rest) == 1:
            distinct = len(self._known.fields[self._place(rest[0])].sets)
            values = f"{distinct:,} value{'' if distinct == 1 else 's'}"
            spared = f"; {rest[0]} has {values} and need not be joined"
        return f"fields: finds every pair, by joins on {_and(names)}{spared}"

    def _place(self, name: str) -> int:
        return [one.field.name for one in self._known.fields].index(name)

    def _classified(self) -> list[_Class]:
        """The records by the fields that they have filled in; those of no field are left out."""
        patterns = []
        for codes, places in self._sides:
            bits = np.zeros(len(places), np.int64)
            for f, own in enumerate(codes):
                bits |= (own[places] >= 0).astype(np.int64) << f
            patterns.append(bits)
        known, counts = np.unique(np.concatenate(patterns), return_counts=True)
        known, counts = known[known > 0], counts[known > 0]
        by_count = known[np.argsort(-counts, kind="stable")]
        cuts = [by_count[i : i + 1] for i in range(min(len(by_count), _MOST_CLASSES))]
        if len(by_count) > _MOST_CLASSES:
            cuts.append(by_count[_MOST_CLASSES:])
        none = np.zeros(0, np.int64)
        found = []
        for cut in cuts:
            sides = [
                places[np.isin(bits, cut)]
                for bits, (_, places) in zip(patterns, self._sides, strict=True)
            ]
            found.append(_Class(cut, (sides[0], sides[1] if self._across else none)))
        return found

    def _class_pairs(self) -> Iterator[tuple[int, int]]:
        numbers = range(len(self._classes))
        if self._across:
            return product(numbers, numbers)
        return combinations_with_replacement(numbers, 2)

    def _rows(self, p: int, q: int) -> tuple[Places, Places]:
        """The records of two classes that are compared with each other."""
        return self._classes[p].sides[0], self._classes[q].sides[1 if self._across else 0]

    def _count(self, p: int, q: int) -> float:
        """The number of pairs of records of two classes."""
        ours, theirs = self._rows(p, q)
        if p == q and not self._across:
            return len(ours) * (len(ours) - 1) / 2
        return float(len(ours)) * len(theirs)

    def _planned(self, p: int, q: int) -> list[Join]:
        known = self._known.fields
        sets = np.unique(self._classes[p].patterns[:, None] & self._classes[q].patterns)
        bounds = []
        for fields in sets.tolist():
            filled = sum(w for f, w in enumerate(self._weights) if fields >> f & 1)
            most = filled - self._threshold * max(filled, self._weights.sum() / 2)
            if most >= -_MARGIN:
                bounds.append((fields, float(most)))
        if not bounds:
            return []
        pairs = self._count(p, q)
        costs = []
        for f, shares in enumerate(self._costs):
            known_from = self._least.get(f, 1.0)
            one = known[f]
            costs.append(
                [
                    share * pairs + (0.0 if one.is_binary or level >= known_from else more)
                    for share, more, level in zip(
                        shares, self._value_costs[f], _LEVELS, strict=False
                    )
                ]
            )
        joins = chosen_joins(
            bounds, self._weights.tolist(), [one.is_binary for one in known], costs
        )
        for join in joins:
            self._least[join.field] = min(self._least.get(join.field, 1.0), join.least)
        # Those that are known at once first: later ones leave out their pairs.
        return sorted(joins, key=lambda join: (not known[join.field].is_binary, join.field))

    def _pair_shares(self, one: EncodedField, f: int) -> list[float]:
        """The share of all pairs that a join of the field brings together, for each level."""
        codes = [own[f][places] for own, places in self._sides]
        ours, theirs = (own[own >= 0] for own in (codes[0], codes[-1]))
        pairs = max(1.0, float(len(ours)) * len(theirs))
        count = len(one.sets)
        often = [np.bincount(own, minlength=count).astype(np.float64) for own in (ours, theirs)]
        equal = float(often[0] @ often[1])
        if one.is_ranged and one.values is not None:
            found = ranged_values(one, ours, theirs)
            return [max(equal, float((found.ends - found.begins).sum())) / pairs]
        if one.is_binary:
            return [equal / pairs]
        if not len(ours) or not len(theirs):
            return [0.0] * len(_LEVELS)
        return list(equal / pairs + self._similar_shares(one, ours, theirs))

    def _similar_shares(
        self, one: EncodedField, ours: NDArray[np.int32], theirs: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """The share of pairs that are different but similar, for each level, by a sample."""
        random, count = np.random.default_rng(0), min(_SAMPLE, 4 * len(ours) * len(theirs))
        a, b = (own[random.integers(0, len(own), count)] for own in (ours, theirs))
        differ = a != b
        similar = np.sort(one.similarity(a[differ], b[differ], self._threads))
        at = len(similar) - np.searchsorted(similar, _LEVELS)
        # Of what is rarer than the sample tells, one pair of it is expected.
        return np.asarray((at + 1) / count)

    def _value_pairs(self, one: EncodedField) -> list[float]:
        """What it costs to find the similar values of a field, for each level, in candidates."""
        count = len(one.sets)
        if one.is_binary or count < 2:
            return [0.0] * len(_LEVELS)
        every = np.arange(count, dtype=np.int32)
        shares = self._similar_shares(one, every, every)
        return list(_VALUE_PAIR_COST * count * count * shares)

    def _predicted(self) -> float:
        """About how many candidates there will be."""
        return sum(
            self._count(p, q) * self._share_at(join)
            for (p, q), joins in self.joins.items()
            for join in joins
        )

    def _share_at(self, join: Join) -> float:
        shares = self._costs[join.field]
        if len(shares) == 1:
            return shares[0]
        return shares[min(len(_LEVELS) - 1, int((1 - join.least) * 20 + 0.999))]

    def _require_few(self, about: float) -> None:
        """Say beforehand that the search will take long; refuse one that would take days."""
        if MANY_CANDIDATES < about <= MOST_CANDIDATES:
            warnings.warn(
                f"about {about:.1g} pairs of records will be compared to miss none of fields ≥ "
                f"{self._threshold:g}, which takes about "
                f"{about / CANDIDATES_A_SECOND / 60:,.0f} minutes; a higher threshold needs fewer",
                stacklevel=2,
            )
        if about > MOST_CANDIDATES:
            dearest = max(
                (
                    (join, self._count(p, q))
                    for (p, q), joins in self.joins.items()
                    for join in joins
                ),
                key=lambda one: self._share_at(one[0]) * one[1],
            )[0]
            name = self._known.fields[dearest.field].field.name
            raise NeardupError(
                f"about {about:.1g} pairs of records would have to be compared to miss none of "
                f"fields ≥ {self._threshold:g}, most of them because they agree in {name!r}; raise "
                "the threshold, give fields with many different values more weight, or leave out "
                f"{name!r}"
            )

    def _similar_values(self, f: int) -> SimilarValues | None:
        """The different values of a field that are similar enough for any of the joins."""
        one, least = self._known.fields[f], self._least[f]
        if one.is_binary or least > one.most_unequal:
            return None
        room = max(_LEAST_VALUE_PAIRS, self._memory // _VALUE_PAIR_BYTES)
        try:
            return SimilarValues.of(one, least, self._memory, room, self._threads)
        except TooManyPairsError:
            raise NeardupError(
                f"more than {room:,} pairs of values of {one.field.name!r} have a similarity of "
                f"{least:.2g} or more, which fields ≥ {self._threshold:g} needs; raise the "
                "threshold, use longer features for this field, or give more memory (--memory)"
            ) from None

    def _joined(
        self, join: Join, near: SimilarValues | None, p: int, q: int
    ) -> Iterator[tuple[Places, Places]]:
        """The pairs of two classes that one join finds, each once."""
        one = self._known.fields[join.field]
        ours, theirs = self._rows(p, q)
        mine = self._sides[0][0][join.field][ours]
        other = self._sides[-1][0][join.field][theirs]
        ours, mine = ours[mine >= 0], mine[mine >= 0]
        theirs, other = theirs[other >= 0], other[other >= 0]
        is_own = p == q and not self._across
        count = len(one.sets)
        spans = (
            ranged_values(one, mine, other) if one.is_ranged else equal_values(mine, other, count)
        )
        yield from self._found(spans, ours, theirs, is_own)
        if near is None:
            return
        if len(ours) <= len(theirs):
            for rows, some in near.spans(mine, other, count):
                yield from self._found(some, ours[rows], theirs, is_own)
        else:
            for rows, some in near.spans(other, mine, count):
                for b, a in some.pairs():
                    yield from self._ordered(ours[a], theirs[rows[b]], is_own)

    def _found(
        self, spans: Spans, ours: Places, theirs: Places, is_own: bool
    ) -> Iterator[tuple[Places, Places]]:
        for left, right in spans.pairs():
            yield from self._ordered(ours[left], theirs[right], is_own)

    def _ordered(self, a: Places, b: Places, is_own: bool) -> Iterator[tuple[Places, Places]]:
        """The pairs with a < b; within a class each was found in both directions."""
        if is_own:
            keep = a < b
            a, b = a[keep], b[keep]
        elif not self._across:
            a, b = np.minimum(a, b), np.maximum(a, b)
        if len(a):
            yield a, b

    def _fresh(self, a: Places, b: Places, done: Sequence[Join]) -> Iterator[tuple[Places, Places]]:
        """Leave out the pairs that an earlier join has found, as far as that is known at once."""
        keep = np.ones(len(a), np.bool_)
        for join in done:
            one = self._known.fields[join.field]
            x, y = self._sides[0][0][join.field][a], self._sides[-1][0][join.field][b]
            both = np.flatnonzero((x >= 0) & (y >= 0) & keep)
            x, y = x[both], y[both]
            keep[both] = one.similarity(x, y) < 1 if one.is_binary else x != y
        if keep.any():
            yield a[keep], b[keep]

    def _same_and_thin(self) -> Iterator[tuple[Places, Places]]:
        """Records that are the same in every field, too few of them filled in for the bound."""
        keys = []
        for fields, places in self._sides:
            every = np.column_stack([own[places] for own in fields])
            filled = (every >= 0) @ self._weights
            thin = (filled > 0) & (filled < self._threshold * self._weights.sum() / 2 + _MARGIN)
            keys.append((every[thin], places[thin]))
        (ours, left), (theirs, right) = keys[0], keys[-1]
        _, numbers = np.unique(np.concatenate((ours, theirs)), axis=0, return_inverse=True)
        codes: NDArray[np.int32] = numbers.reshape(-1).astype(np.int32)
        count = int(codes.max(initial=-1)) + 1
        spans = equal_values(codes[: len(left)], codes[len(left) :], count)
        yield from self._found(spans, left, right, is_own=not self._across)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

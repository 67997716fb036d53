"""Fits a model to labelled pairs of a collection: coefficients, candidates, threshold.

Labels are mostly drawn by similarity: as many of rare, similar pairs as of frequent, dissimilar
ones. What a similarity says about a pair is not changed by that, but the shares are: `weights` say
for how many pairs of the collection each label stands. The coefficients are fitted with the square
roots of the weights, half-way between the pairs as labelled and the pairs as they are (Shimodaira
2000); whole weights make a few labels decide everything. The threshold and the F1 use the weights.

The threshold is that of the largest F1, by two estimates that are added: the labels, out of fold,
and the probabilities of all candidates, which say how many of them are the same. The second has
little noise, the first no belief in the model. Measured with 200 labels: see docs/guides/model.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import neardup
from neardup.collection.model import (
    CHARACTERS,
    WORDS,
    CandidateRule,
    Input,
    Model,
    TrainedOn,
    input_names,
    rounded,
)
from neardup.collection.rarity import Rarity
from neardup.collection.records import Records
from neardup.errors import NeardupError
from neardup.features.spec import Fields
from neardup.frozen import dataclass
from neardup.kernels.set_join import TooManyPostingsError
from neardup.scoring.by_model import InputTable, ModelScorer, candidates_by
from neardup.scoring.fit import FOLDS, Fit, fit, probability, require_labels
from neardup.scoring.inputs import Values
from neardup.scoring.parts import Among, Places

Flags = NDArray[np.bool_]

# Candidates that are worth scoring, for each document and in all.
_CANDIDATES_PER_DOCUMENT, _LEAST_CANDIDATES = 50, 200_000
_POSTINGS_PER_DOCUMENT, _LEAST_POSTINGS = 20_000, 1 << 30
# Rules begin a little below the labelled pairs that they must not lose: others may lie lower.
_MARGIN = 0.8
_LOWEST, _STEP = 0.05, 1.3
# A rule is lowered further while it has less than this share of the candidates worth scoring.
_CHEAP = 0.1
_DRAWS = 10_000
_STEPS = 200


@dataclass(frozen=True, eq=False)
class FittedScorer:
    """A fitted model and its evidence, for each labelled pair.

    `probabilities` come from fits that have not seen the pair. `found` says whether such a fit,
    with a threshold that was chosen without the pair, takes it for the same, and whether it is a
    candidate at all; from it, F1 is cross-validated.
    """

    scorer: ModelScorer
    probabilities: Values
    found: Flags

    @property
    def model(self) -> Model:
        return self.scorer.model


def fit_scorer(
    records: Records,
    a: Places,
    b: Places,
    same: Flags,
    weights: Values | None = None,
    *,
    fields: Fields | None = None,
    threads: int = 1,
    memory: int = 1 << 30,
) -> FittedScorer:
    """Fit a model to the labelled pairs (a[i], b[i]) of a collection.

    Without `fields`, the records have one column, the text. Raises `SettingError` for fewer than
    10 pairs of either kind.
    """
    same = np.asarray(same, np.bool_)
    require_labels(int(same.sum()), int((~same).sum()))
    population = np.ones(len(same)) if weights is None else np.asarray(weights, np.float64)
    rarity = Rarity.of((batch.columns for batch in records.table().to_batches()), threads)
    text = None if fields is None else str(fields)
    table = InputTable(text, rarity, threads)
    values = table.values(records, None, a, b)
    fitted = fit(values, same, np.sqrt(population))
    certain = same & (probability(fitted.log_odds(values)) >= 0.5)
    names = input_names(fields)
    similarity = {name: values[:, names.index(name)] for name in (WORDS, CHARACTERS)}
    rules, pairs = _candidates(records, rarity, similarity, certain, threads, memory)
    reached = np.zeros(len(same), np.bool_)
    for rule in rules:
        reached |= similarity[rule.name] >= rule.at_least
    chances = _chances(table, fitted, records, *pairs)
    choice = _Choice(same, population, reached, fitted.out_of_fold, chances)
    threshold = rounded(choice.threshold(np.ones(len(same), np.bool_)))
    found = np.zeros(len(same), np.bool_)
    for number in range(FOLDS):
        others, own = fitted.fold != number, fitted.fold == number
        found[own] = fitted.out_of_fold[own] >= choice.threshold(others)
    found &= reached
    f1, low, high = map(rounded, f1_with_interval(same, found, population))
    learned = TrainedOn(
        documents=len(records),
        same=int(same.sum()),
        different=int((~same).sum()),
        strength=fitted.strength,
        f1=f1,
        low=low,
        high=high,
        unreachable=int((same & ~reached).sum()),
    )
    model = Model(
        text,
        threshold,
        rounded(fitted.intercept),
        tuple(
            Input(name, rounded(coefficient), rounded(missing))
            for name, coefficient, missing in zip(
                names, fitted.coefficients.tolist(), fitted.if_missing.tolist(), strict=True
            )
        ),
        rules,
        learned,
        neardup.__version__,
    )
    return FittedScorer(ModelScorer(model, rarity, threads), fitted.out_of_fold, found)


def f1_with_interval(same: Flags, found: Flags, weights: Values) -> tuple[float, float, float]:
    """The weighted F1, and the range in which it lies with 95 % probability.

    Precision and recall are drawn from what the labels leave open (beta distributions, with half a
    pair of each kind beforehand: without mistakes, too, they are not certain), where labels of
    unequal weights count as fewer.
    """
    random = np.random.default_rng(0)
    precision, recall = (
        random.beta(right + 0.5, wrong + 0.5, _DRAWS)
        for right, wrong in (_counted(same & found, kind, weights) for kind in (found, same))
    )
    low, high = np.percentile(2 * precision * recall / (precision + recall), (2.5, 97.5)).tolist()
    f1 = _f1(same, found, weights)
    return f1, min(low, f1), max(high, f1)


def _counted(right: Flags, kind: Flags, weights: Values) -> tuple[float, float]:
    """How many pairs of a kind are right and wrong, in pairs of equal weight (Kish 1965)."""
    own = weights[kind]
    if not len(own):
        return 0.0, 0.0
    share = float(own @ right[kind] / own.sum())
    count = float(own.sum() ** 2 / (own @ own))
    return count * share, count * (1 - share)


def _f1(same: Flags, found: Flags, weights: Values) -> float:
    total = float(weights @ same + weights @ found)
    return 2 * float(weights @ (same & found)) / total if total else 0.0


@dataclass(frozen=True, eq=False)
class _Choice:
    """Chooses the threshold, by the labels and by the probabilities of all candidates."""

    same: Flags
    weights: Values
    reached: Flags
    out_of_fold: Values
    chances: Values

    def threshold(self, rows: Flags) -> float:
        """The threshold of the largest F1, as far as the labels in `rows` tell."""
        levels = np.arange(1, _STEPS) / _STEPS
        f1 = self._by_labels(levels, rows) + self._by_chances(levels)
        # Of a range of equally good thresholds, the middle.
        best = np.flatnonzero(f1 >= f1.max() - 1e-9)
        run = best[: 1 + int(np.argmin(np.append(np.diff(best) == 1, False)))]
        return float(levels[run[len(run) // 2]])

    def _by_labels(self, levels: Values, rows: Flags) -> Values:
        same, weights = self.same[rows], self.weights[rows]
        found = np.where(self.reached[rows], self.out_of_fold[rows], 0.0)
        return np.array([_f1(same, found >= level, weights) for level in levels])

    def _by_chances(self, levels: Values) -> Values:
        """The F1 to expect if the probabilities are right."""
        chances = np.sort(self.chances)[::-1]
        if not len(chances):
            return np.zeros(len(levels))
        found = len(chances) - np.searchsorted(chances[::-1], levels)
        right = np.concatenate(([0.0], np.cumsum(chances)))
        return np.asarray(2 * right[found] / np.maximum(found + right[-1], 1e-12))


def _chances(table: InputTable, fitted: Fit, records: Records, a: Places, b: Places) -> Values:
    portion = 1 << 17
    found = [
        probability(
            fitted.log_odds(
                table.values(records, None, a[begin : begin + portion], b[begin : begin + portion])
            )
        )
        for begin in range(0, len(a), portion)
    ]
    return np.concatenate([np.zeros(0), *found])


def _candidates(
    records: Records,
    rarity: Rarity,
    similarity: dict[str, Values],
    certain: Flags,
    threads: int,
    memory: int,
) -> tuple[tuple[CandidateRule, ...], tuple[Places, Places]]:
    """The rule that loses no labelled pair at the least cost; both rules if neither is affordable.

    Also the candidates themselves.
    """
    tried = [
        _affordable(records, rarity, name, values[certain], threads, memory)
        for name, values in similarity.items()
    ]
    whole = [one for one in tried if (similarity[one[0].name][certain] >= one[0].at_least).all()]
    if whole:
        rule, pairs = min(whole, key=lambda one: len(one[1][0]))
        return (rule,), pairs
    a, b = (np.concatenate([pairs[side] for _, pairs in tried]) for side in (0, 1))
    keys = np.unique(a * len(records) + b)
    return tuple(rule for rule, _ in tried), (keys // len(records), keys % len(records))


def _affordable(
    records: Records,
    rarity: Rarity,
    name: str,
    needed: Values,
    threads: int,
    memory: int,
) -> tuple[CandidateRule, tuple[Places, Places]]:
    """The rule that is needed, lowered while it costs little, raised while it costs too much."""
    count = len(records)
    most = max(_LEAST_CANDIDATES, _CANDIDATES_PER_DOCUMENT * count)
    best: tuple[CandidateRule, tuple[Places, Places]] | None = None
    least = max(_LOWEST, _MARGIN * float(needed.min(initial=0.5)))
    while least < 1:
        rule = CandidateRule(name, float(f"{least:.2g}"))
        pairs = _joined(records, rarity, rule, most, threads, memory)
        if pairs is None:
            if best is not None:
                return best
            least *= _STEP
            continue
        best = rule, pairs
        if len(pairs[0]) > most * _CHEAP or rule.at_least <= _LOWEST:
            return best
        least = max(_LOWEST, rule.at_least / _STEP)
    raise NeardupError(
        f"a model needs candidates, and more than {most:,} pairs are all but the same by {name}; "
        "remove the exact copies first"
    )


def _joined(
    records: Records,
    rarity: Rarity,
    rule: CandidateRule,
    most: int,
    threads: int,
    memory: int,
) -> tuple[Places, Places] | None:
    """The candidates of a rule; None if there are more than `most`, or finding them takes long."""
    count, found, parts = len(records), 0, []
    try:
        for a, b in candidates_by(
            rule,
            rarity,
            records,
            None,
            Among(np.arange(count)),
            memory=memory,
            threads=threads,
            most_postings=max(_LEAST_POSTINGS, _POSTINGS_PER_DOCUMENT * count),
        ):
            parts.append((a, b))
            found += len(a)
            if found > most:
                return None
    except TooManyPostingsError:
        return None
    none = np.zeros(0, np.int64)
    a, b = (np.concatenate([none, *(part[side] for part in parts)]) for side in (0, 1))
    return a, b
